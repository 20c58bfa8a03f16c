"""The overview's first figure: one token through its layers, sums and links."""

import json
import re
from functools import lru_cache

import streamlit as st

from core.course import trips
from core.scenario import Scenario
from runtime import content
from runtime.catalog_words import short_name
from runtime.quantities import binary_bytes, grouped, seconds, significant
from ui import address, progress, tested
from ui.course import pages as course
from ui.players import journey_player as player
from ui.prose import Prose
from ui.theme import Look

PARAM = "home_trip"
Row = dict[str, object]


_shown = lru_cache(maxsize=256)(trips.shown)


def shown(scenario: Scenario) -> trips.Shown:
    """What the journey is of: it gives no answer away that lab 03 has still to ask for."""
    return _shown(scenario, progress.answered(course.entry("comm_cost")) > 0)


def draw(shown: trips.Shown, prose: Prose, look: Look) -> None:
    """Every trip that may be chosen, at rest at the start."""
    address.let_browser_write(PARAM)
    player.journey_player(
        *_played(shown, content.language()),
        layers=shown.scenario.model_spec.num_hidden_layers,
        key="journey",
        alt=prose.plain("journey.alt"),
        param=PARAM,
        present=look.present,
    )
    with st.container(key="note_journey"):
        st.markdown(prose.text("journey.note"))
    tested.data_sheet("compute")


@lru_cache(maxsize=16)
def _played(shown: trips.Shown, language: str) -> tuple[Row, str]:
    """What is chosen of and what is played, as the player has them, by the language that their words are in."""
    choices = trips.choices(shown)
    asked = {
        "tp": list(shown.ranks),
        "links": [(link.key, re.sub(r"\s*\(.*\)", "", short_name(link))) for link in shown.links],
        "batch": trips.batches_of(shown.scenario),
        "first": trips.first(shown),
    }
    programs: Row = {way: _program(drawn) for way, drawn in trips.programs(choices).items()}
    return asked, json.dumps({"trips": [_trip(choice) for choice in choices], "programs": programs})


def _trip(choice: trips.Choice) -> Row:
    trip = choice.trip
    return {
        "total": trip.total_s,
        "attention": trip.attention_s,
        "mlp": trip.mlp_s,
        "sum": trip.sum_s,
        "launch": trip.one_sum.base_s,
        "rounds": trip.rounds,
        "latency": trip.hop_latency_s,
        "bandwidth": trip.hop_bandwidth_s,
        "rate": trip.tokens_per_s,
        "ideal": trip.free_tokens_per_s,
        "program": choice.way,
        "fits": choice.fits,
        "told": in_words(choice),
        "stops": [
            {"moment": one.moment, "number": one.number, "time": one.time_s, "text": seconds(one.time_s)}
            for one in trip.stops
        ],
    }


def _program(drawn: trips.Drawn) -> Row:
    steps = drawn.program
    return {
        "ranks": steps.ranks,
        "chunks": steps.chunks,
        "rounds": [
            [{"source": one.source, "target": one.target, "chunks": len(one.chunks)} for one in messages]
            for messages in steps.rounds
        ],
        "held": [[[sorted(part) for part in rank] for rank in state] for state in drawn.held],
    }


def in_words(choice: trips.Choice) -> dict[str, str]:
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
