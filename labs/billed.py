"""Lab 03's known slips, by what is to be said of each, and its ring and its fit as they are asked."""

import numpy as np

from core.catalog import link
from core.comm_cost.choice import Offer
from core.comm_cost.wire import Wire
from core.sharding_math.whole import kept_whole
from labs.diagnosis import fail_type, is_due
from labs.spoken import link_named, say

NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")


def payload_slips(tokens, hidden_size, width):
    """Known wrong payloads, by what is to be said of each."""
    entries = tokens * hidden_size
    return {
        say("slip.entries"): entries,
        say("slip.two_bytes"): 2 * entries,
        say("slip.bits"): 8 * entries * width,
        say("slip.kib"): entries * width / 1024,
        say("slip.matrix"): entries * hidden_size * width,
    }


def time_slips(payload_bytes, ranks, over):
    """Known wrong times of a ring, by what is to be said of each."""
    hop, sent = over.latency_s, 2 * (ranks - 1) / ranks * payload_bytes / over.bandwidth_bytes_per_s
    hops = 2 * (ranks - 1)
    return {
        say("slip.no_latency", hops="2(N-1)"): sent,
        say("slip.one_latency", hops="2(N-1)"): hop + sent,
        say("slip.half_hops", found="N-1", hops="2(N-1)"): hops / 2 * hop + sent,
        say("slip.two_hops", hops="2(N-1)"): 2 * hop + sent,
        say("slip.both_directions"): hops * hop + sent / 2,
        say("slip.whole_payload"): hops * hop + sent * ranks,
        say("slip.bits_a_second"): hops * hop + 8 * sent,
        say("slip.microseconds"): 1e6 * (hops * hop + sent),
        say("slip.milliseconds"): 1e3 * (hops * hop + sent),
        say("slip.not_all", share="2(N-1)/N"): hops * hop + payload_bytes / over.bandwidth_bytes_per_s,
    }


def bill_is_due(lab, row, tp_size, over, due_s):
    """The bill of a decode step; what is known of wrong ones is told with the lab's own all-reduce."""
    __tracebackhide__ = True

    def all_reduces(count, width=row.hidden_size, share=1):
        return count * lab.allreduce_time_s(width * 2 / share, tp_size, over)

    sums = 2 * row.num_hidden_layers
    slips = {
        say("slip.one_a_layer"): all_reduces(sums / 2),
        say("slip.one_in_all"): all_reduces(1),
        say("slip.three_a_layer"): all_reduces(1.5 * sums),
        say("slip.all_ranks"): all_reduces(sums * tp_size),
        say("slip.sums_divided"): all_reduces(sums / tp_size),
        say("slip.payload_divided"): all_reduces(sums, share=tp_size),
        say("slip.hidden_row"): all_reduces(sums, row.intermediate_size),
    }
    case = say("part.decode_step", model=row.key, tp=tp_size, link=link_named(over))
    is_due(lab.tp_comm_time_per_step(row, 1, tp_size, over), due_s, case, slips, rel=1e-3)


def share_is_due(lab, comm_s, step_s, share, rel=0.0):
    slips = {
        say("slip.per_cent", least="0", most="1"): 100 * share,
        say("slip.share_of_compute"): 1 - share,
    }
    if step_s:
        slips[say("slip.over_compute")] = comm_s / step_s
    case = say("part.beside", comm=f"{comm_s:.6g}", step=f"{step_s:g}")
    is_due(lab.comm_fraction(comm_s, step_s), share, case, slips, rel=rel)


def ring(lab, ranks, chunk=3):
    """The lab's ring over whole numbers: what each rank has of it, what each began with, and the wire."""
    wire = Wire(ranks)
    values = list(np.random.default_rng(ranks).integers(-9, 10, size=(ranks, ranks * chunk)).astype(float))
    held = wire.hold(values)
    with kept_whole():
        found = lab.ring_all_reduce(held, wire.send)
    if not isinstance(found, list | tuple | np.ndarray) or len(found) != ranks:
        fail_type("result.{}_arrays", found, count=ranks)
    return found, values, held, wire


def turn_slips(hops, over):
    """Known wrong times of messages, by what is to be said of each."""
    each = [over.latency_s + hop.payload_bytes / over.bandwidth_bytes_per_s for hop in hops]
    turns = {hop.turn: 0.0 for hop in hops}
    return {
        say("slip.turn_sum"): sum(each),
        say("slip.turns_follow"): max(each, default=0.0),
        say("slip.turn_latency"): sum(each) - len(turns) * over.latency_s,
    }


A100_PAIR = {
    512: 9.98, 1024: 10.05, 2048: 10.0, 4096: 10.22, 8192: 10.97, 16384: 12.75, 32768: 12.78, 65536: 12.97,
    131072: 13.45, 262144: 15.26, 524288: 19.37, 1048576: 40.84, 2097152: 47.58, 4194304: 55.78, 8388608: 87.13,
    16777216: 128.2, 33554432: 224.2, 67108864: 391.5,
}  # fmt: skip
"""Microseconds of an all-reduce over two A100 by payload: NCCL 2.27.3, ai-dynamo/aiconfigurator (Apache-2.0)."""


def fitted(lab, sizes, times_s, ranks):
    """What a fit gave, as two numbers."""
    found = lab.fit_link(sizes, times_s, ranks)
    if not isinstance(found, tuple | list | np.ndarray) or len(found) != 2:
        fail_type("result.{}_two", found)
    return found


GB = 1e9
OFFERS = [
    Offer("one large GPU", 1, NVLINK, 80 * GB, 3.0),
    Offer("two small ones on Ethernet", 2, ETHERNET, 24 * GB, 1.0),
    Offer("two small ones on NVLink", 2, NVLINK, 24 * GB, 1.5),
    Offer("four small ones on NVLink", 4, NVLINK, 24 * GB, 3.0),
    Offer("eight tiny ones on Ethernet", 8, ETHERNET, 4 * GB, 0.8),
]
"""A token of Llama-3-8B, 8 ms on one GPU, takes 8, 10.82, 4.39, 3.15 and 46.5 ms on them."""
_PARTS = ("one_large", "two_ethernet", "two_nvlink", "four_nvlink", "eight_ethernet")
OFFER_WORDS = {offer.name: say(f"part.{part}") for offer, part in zip(OFFERS, _PARTS, strict=True)}
"""How each is called in the language of a lab."""
