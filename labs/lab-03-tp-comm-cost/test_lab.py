"""Lab 03: a payload, its traffic, its time, the step's bill, and the two verdicts."""

import pytest

from core.catalog import link, model
from labs.diagnosis import is_due

LLAMA = model("llama-3-8b")
NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")
DECODE_BYTES, PREFILL_BYTES = 8192, 16_777_216
STEP_S = 8e-3


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


@pytest.mark.parametrize(
    ("tokens", "hidden_size", "bytes_per_element", "payload_bytes"),
    [(1, 4096, 2, 8192), (2048, 4096, 2, 16_777_216), (1, 8192, 2, 16_384), (3, 5, 4, 60), (2, 4096, 1, 8192)],
)
def test_payload_is_one_activation_row_per_token(lab, tokens, hidden_size, bytes_per_element, payload_bytes):
    """1 x 4096 x 2 B = 8 KiB in a decode step; 2048 tokens of prefill make 16 MiB."""
    is_due(
        lab.allreduce_payload_bytes(tokens, hidden_size, bytes_per_element),
        payload_bytes,
        f"{tokens} x {hidden_size} entries of {bytes_per_element} bytes",
        payload_slips(tokens, hidden_size, bytes_per_element),
    )


def test_activations_are_two_bytes_unless_said_otherwise(lab):
    is_due(lab.allreduce_payload_bytes(1, 4096), 8192, "1 x 4096 entries", payload_slips(1, 4096, 2))


@pytest.mark.parametrize(("ranks", "chunks_sent"), [(1, 0), (2, 2), (3, 4), (4, 6), (8, 14), (64, 126)])
def test_ring_traffic_formula(lab, ranks, chunks_sent):
    """A chunk is n/N; N-1 are sent in the reduce-scatter and N-1 in the all-gather."""
    payload, most = 192 * ranks, 2 * (ranks - 1)
    found = lab.ring_allreduce_traffic_per_rank(payload, ranks)
    slips = {
        "only one half was counted: a rank sends N-1 chunks in the reduce-scatter and N-1 in the all-gather": most
        * 96,
        "every message was taken for the whole payload: it carries one chunk, n/N": most * payload,
        "twice the payload is what many ranks come close to; N of them send (N-1)/N of that": 2 * payload,
        "that is the payload: a rank sends almost two of them": payload,
    }
    alone = {"one rank has nobody to send to": found}
    is_due(found, 192 * chunks_sent, f"{payload} B over N={ranks}", slips if ranks > 1 else alone)


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


@pytest.mark.parametrize(("ranks", "hops"), [(1, 0), (2, 2), (3, 4), (8, 14)])
def test_every_hop_waits(lab, ranks, hops):
    """With next to nothing to send, only the hops are left: 3 µs each."""
    slips = time_slips(0, ranks, NVLINK) if ranks > 1 else {"one rank waits for nobody": 3e-6}
    is_due(lab.allreduce_time_s(0, ranks, NVLINK), hops * 3e-6, f"Seconds for 0 B over N={ranks}", slips, rel=1e-6)


@pytest.mark.parametrize(("ranks", "time_s"), [(2, 61.92e-6), (4, 101.9e-6)])
def test_bytes_go_at_the_speed_of_one_direction(lab, ranks, time_s):
    """At N=2 a rank sends n: 16 MiB / 300 GB/s = 55.9 µs beside two hops of 3 µs. At N=4, 1.5 n and six hops."""
    case, slips = f"Seconds for 16 MiB over N={ranks}", time_slips(PREFILL_BYTES, ranks, NVLINK)
    is_due(lab.allreduce_time_s(PREFILL_BYTES, ranks, NVLINK), time_s, case, slips, rel=1e-3)


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


@pytest.mark.parametrize(("key", "all_reduces"), [("llama-3-8b", 64), ("llama-3-70b", 160)])
def test_a_layer_talks_twice(lab, key, all_reduces):
    row = model(key)
    bill_is_due(lab, row, 4, ETHERNET, all_reduces * lab.allreduce_time_s(row.hidden_size * 2, 4, ETHERNET))


def share_is_due(lab, comm_s, step_s, share, rel=0.0):
    slips = {
        "that is in per cent: a fraction from 0 to 1 is expected": 100 * share,
        "that is the share of the compute": 1 - share,
    }
    if step_s:
        slips["that is communication over compute: the share is of both together"] = comm_s / step_s
    case = f"{comm_s:.6g} s of communication beside {step_s:g} s of compute"
    is_due(lab.comm_fraction(comm_s, step_s), share, case, slips, rel=rel)


def test_decode_step_comm_on_nvlink_is_noise(lab):
    """64 x (2 x 3 µs + 8192 B / 300 GB/s) = 0.386 ms: 4.6 % of 8.386 ms, and below 10 % is noise."""
    bill_is_due(lab, LLAMA, 2, NVLINK, 0.3857e-3)
    share_is_due(lab, lab.tp_comm_time_per_step(LLAMA, 1, 2, NVLINK), STEP_S, 0.0460, rel=2e-3)


def test_decode_step_comm_on_ethernet_is_fatal(lab):
    """64 x (2 x 50 µs + 8192 B / 1.25 GB/s) = 6.82 ms: 46.0 % of 14.82 ms, and above 40 % is fatal."""
    bill_is_due(lab, LLAMA, 2, ETHERNET, 6.819e-3)
    share_is_due(lab, lab.tp_comm_time_per_step(LLAMA, 1, 2, ETHERNET), STEP_S, 0.460, rel=1e-3)


@pytest.mark.parametrize(
    ("comm_s", "step_s", "fraction"), [(1, 3, 0.25), (1, 1, 0.5), (0, 8e-3, 0), (3, 1, 0.75), (1, 0, 1)]
)
def test_the_fraction_is_of_the_whole_wall_clock(lab, comm_s, step_s, fraction):
    """comm / (step + comm): it cannot pass 1, however slow the link."""
    share_is_due(lab, comm_s, step_s, fraction)


@pytest.mark.parametrize("over", [NVLINK, ETHERNET], ids=lambda over: over.key)
def test_latency_dominates_small_payloads(lab, over):
    """At 8 KiB and N=2 the two hops are over nine tenths of the time."""
    hops_s, whole_s = (lab.allreduce_time_s(size, 2, over) for size in (0, DECODE_BYTES))
    assert hops_s > 0.9 * whole_s


@pytest.mark.parametrize(("over", "share"), [(NVLINK, 0.90), (ETHERNET, 0.99)], ids=["nvlink", "ethernet"])
def test_prefill_payloads_shift_the_balance_to_bandwidth(lab, over, share):
    """At 16 MiB and N=2 the bytes are 90 % of the time on NVLink, 99 % on 10 GbE."""
    hops_s, whole_s = (lab.allreduce_time_s(size, 2, over) for size in (0, PREFILL_BYTES))
    assert whole_s - hops_s == pytest.approx(share * whole_s, rel=0.006)


@pytest.mark.parametrize(("over", "most_s"), [(NVLINK, 2.691e-3), (ETHERNET, 45.53e-3)], ids=["nvlink", "ethernet"])
def test_more_ranks_more_overhead(lab, over, most_s):
    """TP=1 is free; then the hops grow as 2(N-1): 2.69 ms on NVLink and 45.5 ms on 10 GbE at TP=8."""
    is_due(lab.tp_comm_time_per_step(LLAMA, 1, 1, over), 0, "Seconds at TP=1, where nothing is sent")
    bills_s = [lab.tp_comm_time_per_step(LLAMA, 1, tp_size, over) for tp_size in (1, 2, 4, 8)]
    assert bills_s == sorted(set(bills_s))
    bill_is_due(lab, LLAMA, 8, over, most_s)
