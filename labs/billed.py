"""Lab 03's known slips, by what is to be said of each, and its ring and its fit as they are asked."""

import numpy as np
import pytest

from core.comm_cost.wire import Wire
from core.sharding_math.whole import kept_whole
from labs.diagnosis import given, is_due


def payload_slips(tokens, hidden_size, width):
    """Known wrong payloads, by what is to be said of each."""
    entries = tokens * hidden_size
    return {
        "that is the number of entries, and each takes bytes_per_element": entries,
        "the bytes of an element were taken for two": 2 * entries,
        "that is in bits": 8 * entries * width,
        "that is in KiB: bytes are expected": entries * width / 1024,
        "the width counts once: what is sent is a row of activations, not a matrix": entries * hidden_size * width,
    }


def time_slips(payload_bytes, ranks, over):
    """Known wrong times of a ring, by what is to be said of each."""
    hop, sent = over.latency_s, 2 * (ranks - 1) / ranks * payload_bytes / over.bandwidth_bytes_per_s
    hops = 2 * (ranks - 1)
    return {
        "the latency is missing: each of the 2(N-1) hops waits for it": sent,
        "one latency was counted, and each of the 2(N-1) hops waits for it": hop + sent,
        "N-1 hops were counted: the ring goes round twice, so they are 2(N-1)": hops / 2 * hop + sent,
        "two hops were counted whatever N: they are 2(N-1)": 2 * hop + sent,
        "both directions of the link were added up: in a ring every byte travels one way": hops * hop + sent / 2,
        "every hop was charged for the whole payload: a message is one chunk, n/N": hops * hop + sent * ranks,
        "the bandwidth is in bytes a second here, not in bits": hops * hop + 8 * sent,
        "that is in microseconds: seconds are expected": 1e6 * (hops * hop + sent),
        "that is in milliseconds: seconds are expected": 1e3 * (hops * hop + sent),
        "a rank sends 2(N-1)/N of the payload, not all of it": hops * hop
        + payload_bytes / over.bandwidth_bytes_per_s,
    }


def bill_is_due(lab, row, tp_size, over, due_s):
    """The bill of a decode step; what is known of wrong ones is told with the lab's own all-reduce."""
    __tracebackhide__ = True

    def all_reduces(count, width=row.hidden_size, share=1):
        return count * lab.allreduce_time_s(width * 2 / share, tp_size, over)

    sums = 2 * row.num_hidden_layers
    slips = {
        "one all-reduce a layer was counted: attention ends in one, and so does the MLP": all_reduces(sums / 2),
        "that is one all-reduce; every layer has two": all_reduces(1),
        "three all-reduces a layer were counted; there are two": all_reduces(1.5 * sums),
        "that is in all ranks together: they take part in the same all-reduces": all_reduces(sums * tp_size),
        "the all-reduces were divided over the ranks: all ranks take part in each": all_reduces(sums / tp_size),
        "the payload was divided by the ranks: each holds a whole row, one term of it": all_reduces(
            sums, share=tp_size
        ),
        "the width is the MLP's hidden row: what is summed is hidden_size wide": all_reduces(
            sums, row.intermediate_size
        ),
    }
    case = f"Seconds of {row.key}'s decode step at TP={tp_size} over {over.name}"
    is_due(lab.tp_comm_time_per_step(row, 1, tp_size, over), due_s, case, slips, rel=1e-3)


def share_is_due(lab, comm_s, step_s, share, rel=0.0):
    slips = {
        "that is in per cent: a fraction from 0 to 1 is expected": 100 * share,
        "that is the share of the compute": 1 - share,
    }
    if step_s:
        slips["that is communication over compute: the share is of both together"] = comm_s / step_s
    case = f"{comm_s:.6g} s of communication beside {step_s:g} s of compute"
    is_due(lab.comm_fraction(comm_s, step_s), share, case, slips, rel=rel)


def ring(lab, ranks, chunk=3):
    """The lab's ring over whole numbers: what each rank has of it, what each began with, and the wire."""
    wire = Wire(ranks)
    values = list(np.random.default_rng(ranks).integers(-9, 10, size=(ranks, ranks * chunk)).astype(float))
    held = wire.hold(values)
    with kept_whole():
        found = lab.ring_all_reduce(held, wire.send)
    if not isinstance(found, list | tuple | np.ndarray) or len(found) != ranks:
        pytest.fail(f"{given(found)}, and a list of {ranks} arrays is due, one a rank.", pytrace=False)
    return found, values, held, wire


def turn_slips(hops, over):
    """Known wrong times of messages, by what is to be said of each."""
    each = [over.latency_s + hop.payload_bytes / over.bandwidth_bytes_per_s for hop in hops]
    turns = {hop.turn: 0.0 for hop in hops}
    return {
        "the messages of one turn travel at once: the slowest of them counts, not their sum": sum(each),
        "the turns follow one another: their times add up": max(each, default=0.0),
        "the latency is missing: every turn waits for it": sum(each) - len(turns) * over.latency_s,
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
        pytest.fail(f"{given(found)}, and two numbers are due, latency_s and bandwidth_bytes_per_s.", pytrace=False)
    return found
