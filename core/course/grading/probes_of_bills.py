"""What lab 03 asks of a submission: numbers in, a number out; then a ring that runs, a fit, a choice."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from core.comm_cost import bill, choice
from core.comm_cost.wire import Hop, Wire, ring_all_reduce, time_of_hops
from core.course.grading.probe import Json, Probe
from core.course.grading.remarks import say
from core.specs import LinkSpec, ModelSpec
from core.text.question import Draw, pick

_SMALL = ModelSpec("own", "own", 64, 1, 1, 1, 64, 64, 64, 64)
_CLOSE = 1e-9


def of_the_bill(rng: Draw) -> Iterator[Probe]:
    yield from _of_the_formula(rng)
    yield from _of_the_ring(rng)
    yield from _of_links(rng)
    yield from _of_offers(rng)


def _link(rng: Draw) -> LinkSpec:
    return LinkSpec("own", "own", int(rng.integers(1, 90)) * 1e-6, int(rng.integers(2, 400)) * 1e9)


def _sent(one: LinkSpec) -> Json:
    return ["link", one.latency_s, one.bandwidth_bytes_per_s]


def _right(payload: float, ranks: int, one: LinkSpec) -> list[Json]:
    """What a right answer may ask of tasks 2 and 3."""
    return [
        ["ring_allreduce_traffic_per_rank", [payload, ranks], bill.ring_allreduce_traffic_per_rank(payload, ranks)],
        ["allreduce_time_s", [payload, ranks, _sent(one)], bill.allreduce_time_s(payload, ranks, one)],
    ]


def _of_the_formula(rng: Draw) -> Iterator[Probe]:
    tokens, hidden, ranks = int(rng.integers(2, 90)), 64 * int(rng.integers(8, 130)), pick(rng, 2, 4, 8)
    payload = 1024 * int(rng.integers(1, 9000))
    yield Probe(1, "a_row_of_activations_a_token", "allreduce_payload_bytes",
                {"tokens": tokens, "hidden_size": hidden}, {"value": 2 * tokens * hidden})  # fmt: skip
    yield Probe(1, "of_the_width_they_are_kept_in", "allreduce_payload_bytes",
                {"tokens": tokens, "hidden_size": hidden, "bytes_per_element": 4},
                {"value": 4 * tokens * hidden})  # fmt: skip
    for claim, over in (("share_of_the_payload", ranks), ("one_rank_sends_nothing", 1)):
        traffic = bill.ring_allreduce_traffic_per_rank(payload, over)
        yield Probe(2, claim, "ring_allreduce_traffic_per_rank",
                    {"payload_bytes": payload, "ranks": over}, {"value": traffic})  # fmt: skip
    cases = (
        ("every_hop_waits", 512, ranks),
        ("hops_alone", 0, ranks),
        ("bytes_take_their_time", 2**26, ranks),
        ("one_rank_waits_for_nobody", payload, 1),
    )
    for claim, size, over in cases:
        one = _link(rng)
        yield Probe(3, claim, "allreduce_time_s",
                    {"payload_bytes": size, "ranks": over, "link": _sent(one),
                     "right": _right(size, over, one)[:1]},
                    {"value": bill.allreduce_time_s(size, over, one)}, _CLOSE)  # fmt: skip
    for claim, over in (("two_all_reduces_a_layer", ranks), ("one_rank_pays_nothing", 1)):
        one, layers = _link(rng), int(rng.integers(10, 100))
        shape = replace(_SMALL, num_hidden_layers=layers, hidden_size=hidden)
        size = 2 * tokens * hidden
        right = [["allreduce_payload_bytes", [tokens, hidden, 2], size], *_right(size, over, one)]
        yield Probe(4, claim, "tp_comm_time_per_step",
                    {"model": ["model", layers, hidden], "tokens": tokens, "tp_size": over, "link": _sent(one),
                     "right": right},
                    {"value": bill.tp_comm_time_per_step(shape, tokens, over, one)}, _CLOSE)  # fmt: skip
    comm_s, step_s = (float(rng.integers(1, 100)) / 1e4 for _ in range(2))
    yield Probe(5, "of_the_whole_wall_clock", "comm_fraction", {"comm_s": comm_s, "step_s": step_s},
                {"value": comm_s / (comm_s + step_s)}, _CLOSE)  # fmt: skip


def _of_the_ring(rng: Draw) -> Iterator[Probe]:
    ranks, chunk = pick(rng, 3, 4, 5), int(rng.integers(2, 5))
    values = rng.integers(-9, 10, size=(ranks, ranks * chunk)).astype(float)
    given = {"values": ["held", values.tolist()], "send": ["send"]}
    wire = Wire(ranks)
    ring_all_reduce(wire.hold(list(values)), wire.send)
    hops = sorted([hop.source, hop.turn, hop.target, hop.payload_bytes] for hop in wire.hops)

    def ring(claim: str, expected: dict[str, Json], given: dict[str, Json] = given) -> Probe:
        return Probe(6, claim, "ring_all_reduce", given, expected)

    slips = {say("slip.began_with_all"): values.tolist()}
    yield replace(ring("every_rank_has_the_sum", {"value": ranks * [values.sum(axis=0).tolist()]}), slips=slips)
    yield ring("chunk_to_the_next", {"hops": hops})
    yield ring("comes_back_untouched", {"left": values.tolist()})
    alone = {"values": ["held", values[:1].tolist()], "send": ["send"]}
    yield ring("one_rank_sends_nothing", {"value": values[:1].tolist(), "hops": []}, alone)
    uneven = {"values": ["held", values[:, :-1].tolist()], "send": ["send"]}
    yield ring("uneven_chunks_refused", {"raised": ["IndivisibleError: "]}, uneven)
    one = _link(rng)
    mixed = [
        Hop(turn, source, (source + 1) % ranks, 1000 * int(rng.integers(0, 9000)))
        for turn in (0, 1, 4)
        for source in range(int(rng.integers(1, ranks + 1)))
    ]
    for claim, some in (
        ("the_hops_of_a_ring", wire.hops),
        ("the_slowest_of_a_turn", mixed),
        ("no_hop_no_time", []),
    ):
        rows = [[hop.turn, hop.source, hop.target, hop.payload_bytes] for hop in some]
        yield Probe(7, claim, "time_of_hops", {"hops": ["hops", rows], "link": _sent(one)},
                    {"value": time_of_hops(some, one)}, _CLOSE)  # fmt: skip


def _of_links(rng: Draw) -> Iterator[Probe]:
    one, ranks = _link(rng), pick(rng, 2, 4, 8)
    sizes = [float(1024 * 4**step) for step in range(9)]
    exact = [bill.allreduce_time_s(size, ranks, one) for size in sizes]
    noisy = [time_s * (1 + float(rng.integers(-20, 21)) / 100) for time_s in exact]
    for claim, times_s in (
        ("exact_table", exact),
        ("table_with_noise", noisy),
    ):
        found = choice.fit_link(sizes, times_s, ranks)
        yield Probe(8, claim, "fit_link", {"payloads_bytes": sizes, "times_s": times_s, "ranks": ranks},
                    {"value": list(found)}, 1e-4)  # fmt: skip
    quick = LinkSpec("own", "own", int(rng.integers(1, 9)) * 1e-6, int(rng.integers(1, 9)) * 1e9)
    wide = LinkSpec("own", "own", int(rng.integers(10, 90)) * 1e-6, int(rng.integers(20, 90)) * 1e9)
    worse = replace(wide, bandwidth_bytes_per_s=quick.bandwidth_bytes_per_s / 2)
    cases = (
        ("as_long_on_either", quick, wide, ranks),
        ("whichever_is_named_first", wide, quick, ranks),
        ("none_where_one_is_better", quick, worse, ranks),
        ("none_of_a_link_and_itself", wide, wide, ranks),
        ("none_for_one_rank", quick, wide, 1),
    )
    for claim, first, second, over in cases:
        yield Probe(9, claim, "crossing_payload_bytes",
                    {"one": _sent(first), "other": _sent(second), "ranks": over},
                    {"value": choice.crossing_payload_bytes(first, second, over)}, _CLOSE)  # fmt: skip


def _of_offers(rng: Draw) -> Iterator[Probe]:
    layers, hidden = int(rng.integers(20, 90)), 1024 * int(rng.integers(2, 9))
    model = replace(_SMALL, num_hidden_layers=layers, hidden_size=hidden)
    slow, fast = LinkSpec("own", "own", 60e-6, 1e9), LinkSpec("own", "own", 2e-6, 300e9)
    weights, step_s = 1e9 * int(rng.integers(12, 40)), float(rng.integers(60, 200)) / 1e4
    offers = [
        choice.Offer("one", 1, fast, 2 * weights, 3.0),
        choice.Offer("two, slow", 2, slow, 0.6 * weights, 1.0),
        choice.Offer("two, fast", 2, fast, 0.6 * weights, 2.0),
        choice.Offer("four, fast", 4, fast, 0.6 * weights, 3.0),
        choice.Offer("eight, too small", 8, fast, 0.1 * weights, 0.5),
    ]
    comm_s = {one.name: bill.tp_comm_time_per_step(model, 1, one.tp_size, one.link) for one in offers}
    rows = [
        [one.name, one.tp_size, [one.link.latency_s, one.link.bandwidth_bytes_per_s], one.gpu_memory_bytes,
         one.usd_per_hour] for one in offers
    ]  # fmt: skip
    shape = ["model", layers, hidden]
    right = [
        ["tp_comm_time_per_step", [shape, 1, one.tp_size, _sent(one.link)], comm_s[one.name]] for one in offers
    ]

    def probe(claim: str, budget_s: float, weights_bytes: float, expected: dict[str, Any]) -> Probe:
        given = {
            "offers": ["offers", rows],
            "model": shape,
            "weights_bytes": weights_bytes,
            "step_s": step_s,
            "budget_s": budget_s,
            "right": right,
        }
        return Probe(10, claim, "cheapest_offer", given, expected)

    slow_s, fast_s, most_s = (
        step_s / 2 + comm_s["two, slow"],
        step_s / 2 + comm_s["two, fast"],
        step_s / 4 + comm_s["four, fast"],
    )
    cases = (
        ("cheapest_that_holds", 2 * slow_s, weights),
        ("cheapest_fast_enough", (fast_s + min(slow_s, step_s)) / 2, weights),
        ("the_faster_of_two_at_a_price", 2 * slow_s, 1.5 * weights),
        ("none_where_all_are_too_slow", most_s / 2, weights),
        ("none_where_all_are_too_small", 2 * slow_s, 9 * weights),
    )
    for claim, budget_s, held in cases:
        found = choice.cheapest_offer(offers, model, held, step_s, budget_s)
        yield probe(claim, budget_s, held, {"value": found and found.name})
    yield probe("no_budget_refused", -float(rng.integers(2)), weights, {"raised": ["OutOfRangeError: "]})
