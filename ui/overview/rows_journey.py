"""The overview's journey in words: a trip's times and bytes, and the links by their names."""

import re

from core.course.trips import Choice, Shown
from runtime.catalog_words import short_name
from runtime.quantities import binary_bytes, grouped, seconds, significant


def in_words(choice: Choice) -> dict[str, str]:
    """A trip's times and bytes as they are written in the figure."""
    trip = choice.trip
    rate = trip.tokens_per_s
    return {
        "rate": grouped(round(rate)) if rate >= 100 else significant(rate),
        "total": seconds(trip.total_s),
        "compute": seconds(trip.bill.step.rank_compute_s),
        "waiting": seconds(trip.bill.waiting_s),
        "pouring": seconds(trip.bill.bandwidth_s),
        "layer": seconds(trip.layer_s),
        "sum": seconds(trip.sum_s),
        "hop": seconds(trip.hop_latency_s + trip.hop_bandwidth_s),
        "latency": seconds(trip.hop_latency_s),
        "bandwidth": seconds(trip.hop_bandwidth_s),
        "bytes": binary_bytes(trip.hop_bytes),
    }


def link_names(shown: Shown) -> list[tuple[str, str]]:
    """The links by key and by a short name."""
    return [(link.key, re.sub(r"\s*\(.*\)", "", short_name(link))) for link in shown.links]
