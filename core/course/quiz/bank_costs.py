"""Questions on what collectives cost: rings, the two terms, the bill, the node boundary, waiting for one rank."""

from dataclasses import replace

from core.catalog import gpu, link, model
from core.collectives.cost import one_shot_all_reduce, ring_all_reduce
from core.collectives.custom_all_reduce import Machine, decide
from core.comm_cost.bill import Step, balance_payload_bytes, bill, comm_fraction, weight_streaming_s
from core.comm_cost.readings import altered
from core.comm_cost.remedies import exposed_s
from core.models.weights import held_weight_bytes, read_weight_bytes
from core.steps.jitter import expected_max_exponential, hit_fraction
from core.steps.straggler import Straggler, lockstep
from core.text.question import Bank, Choice, Draw, Number, Taught, choice, number, pick
from core.units import KIB, MIB, bandwidth, binary_bytes, decimal_bytes, grouped, percent, plain, seconds

SEE, COUNT, BREAK, BENCH = (Taught("comm_cost", scene) for scene in ("see", "count", "break_it", "bench"))
STRAGGLER, CASES, KERNEL = (Taught("clinic", scene) for scene in ("straggler", "cases", "all_reduce"))
START, DECODE = (Taught("start_here", scene) for scene in ("collectives", "decode"))
LAB = "llama-3-8b"
BANK = Bank()


@BANK.asks("collectives", START)
def ring_hops(rng: Draw) -> Number:
    ranks = pick(rng, 4, 8, 16)
    hops = ring_all_reduce(8 * KIB, ranks, link("nvlink-lab")).steps
    slips = {"half": ranks - 1, "all_round": 2 * ranks}
    return number(hops, "count", slips, ranks=ranks)


@BANK.asks("collectives", COUNT)
def ring_traffic(rng: Draw) -> Number:
    ranks, payload = pick(rng, 4, 8), pick(rng, 16 * MIB, 64 * MIB)
    answer = ring_all_reduce(payload, ranks, link("nvlink-lab")).traffic_bytes
    slips = {"twice": 2 * payload, "once": payload, "half": answer / 2}
    return number(answer, "bytes", slips, payload=binary_bytes(payload), ranks=ranks)


@BANK.asks("collectives", START)
def all_reduce_in_two(rng: Draw) -> Choice:
    return choice("memory", ("bytes", "hops", "nothing"), rng)


@BANK.asks("collectives", KERNEL)
def one_shot_or_ring(rng: Draw) -> Choice:
    nvlink, small, large = replace(link("nvlink-4"), base_s=0.0, latency_s=2e-6), 8 * KIB, 16 * MIB
    ratio = ring_all_reduce(small, 8, nvlink).total_s / one_shot_all_reduce(small, 8, nvlink).total_s
    more = one_shot_all_reduce(large, 8, nvlink).traffic_bytes / ring_all_reduce(large, 8, nvlink).traffic_bytes
    return choice(
        "small",
        ("large", "both", "neither"),
        rng,
        small=binary_bytes(small),
        large=binary_bytes(large),
        ratio=plain(ratio, 2),
        more=plain(more),
    )


@BANK.asks("collectives", KERNEL)
def kernel_rule(rng: Draw) -> Choice:
    decision = decide(Machine("0.9.2", 4, full_nvlink=False))
    rule = decision.stopped_by
    asks = rule.asks if rule else ""
    release = decision.machine.release
    wrong = ("p2p", "world_size", "payload")
    return choice("nvlink", wrong, rng, release=release, asks=asks)


@BANK.asks("latency or bandwidth", SEE)
def ten_times_as_wide(rng: Draw) -> Choice:
    ranks, network = pick(rng, 2, 4), link("ethernet-10g-lab")
    priced = bill(Step(model(LAB), ranks), network)
    return choice(
        "nothing",
        ("tenth", "half", "slower"),
        rng,
        model=LAB,
        ranks=ranks,
        bandwidth=bandwidth(network.bandwidth_bytes_per_s),
        comm=seconds(priced.comm_s),
        bytes=seconds(priced.bandwidth_s),
        count=priced.step.all_reduces,
    )


@BANK.asks("latency or bandwidth", COUNT)
def balance(rng: Draw) -> Number:
    ranks = pick(rng, 2, 4, 8)
    nvlink = replace(
        link("nvlink-lab"), latency_s=1e-6 * pick(rng, 2, 3, 5), bandwidth_bytes_per_s=1e9 * pick(rng, 25, 300)
    )
    answer = balance_payload_bytes(ranks, nvlink)
    return number(
        answer,
        "bytes",
        {"one_message": answer / ranks},
        ranks=ranks,
        hop=seconds(nvlink.latency_s),
        bandwidth=bandwidth(nvlink.bandwidth_bytes_per_s),
    )


@BANK.asks("latency or bandwidth", SEE)
def bytes_share(rng: Draw) -> Number:
    tokens, network = pick(rng, 1024, 2048, 4096), link("ethernet-10g-lab")
    share = bill(Step(model(LAB), 2, tokens), network).bandwidth_fraction
    return number(
        share,
        "share",
        {"decode": bill(Step(model(LAB), 2), network).bandwidth_fraction},
        0.005,
        model=LAB,
        tokens=grouped(tokens),
        hop=seconds(network.latency_s, 2),
        bandwidth=bandwidth(network.bandwidth_bytes_per_s),
        width=model(LAB).hidden_size,
    )


@BANK.asks("the bill", DECODE)
def streaming(rng: Draw) -> Number:
    row = model(pick(rng, LAB, "qwen2.5-7b"))
    gpu_spec = gpu(pick(rng, "h100-sxm", "h200-sxm", "rtx-4090", "l40s"))
    answer, every = (weight_streaming_s(row, gpu_spec, counted=counted) for counted in ("read", "step"))
    return number(
        answer,
        "time",
        {"all": every, "half": every / 2, "twice": 2 * every},
        model=row.key,
        weights=decimal_bytes(held_weight_bytes(row), 4),
        table=decimal_bytes(held_weight_bytes(row) - read_weight_bytes(row), 4),
        gpu=gpu_spec.name,
        memory=bandwidth(gpu_spec.memory_bytes_per_s, 4),
    )


@BANK.asks("the bill", COUNT)
def ethernet_bill(rng: Draw) -> Number:
    network = replace(link("ethernet-10g-lab"), latency_s=1e-6 * pick(rng, 30, 50, 80))
    priced = bill(Step(model(LAB), 2), network)
    slips = {
        "one_hop": priced.comm_s - priced.waiting_s / 2,
        "one": priced.comm_s / priced.step.all_reduces,
        "no_bytes": priced.waiting_s,
    }
    return number(
        priced.comm_s,
        "time",
        slips,
        count=priced.step.all_reduces,
        payload=binary_bytes(priced.step.payload_bytes),
        hop=seconds(network.latency_s, 2),
        bandwidth=bandwidth(network.bandwidth_bytes_per_s),
    )


@BANK.asks("the bill", COUNT)
def the_fraction(rng: Draw) -> Number:
    comm_s, step_s = 1e-3 * pick(rng, 2.0, 4.0, 6.8), 1e-3 * pick(rng, 8.0, 12.0)
    slips = {"over_compute": comm_s / step_s}
    answer = comm_fraction(comm_s, step_s)
    return number(answer, "share", slips, comm=seconds(comm_s), step=seconds(step_s))


@BANK.asks("the bill", BENCH)
def hidden_communication(rng: Draw) -> Number:
    share, comm_s, step_s = pick(rng, 0.25, 0.4, 0.75), 6e-3, 8e-3
    answer = exposed_s(comm_s, step_s, share)
    return number(
        answer,
        "time",
        {"hidden": comm_s * share},
        share=percent(share, 0),
        comm=seconds(comm_s),
        step=seconds(step_s),
    )


@BANK.asks("units", BREAK)
def hop_or_round_trip(rng: Draw) -> Choice:
    network, row = link("ethernet-10g-lab"), model(LAB)
    whole = bill(Step(row, 2), network).comm_fraction
    half = bill(Step(row, 2), altered(network, latency_factor=0.5)).comm_fraction
    return choice(
        "halves",
        ("nothing", "doubles", "bandwidth"),
        rng,
        hop=seconds(network.latency_s, 2),
        whole=percent(whole),
        half=percent(half),
    )


@BANK.asks("the node boundary", CASES)
def over_the_boundary(rng: Draw) -> Number:
    gpus = pick(rng, 4, 8)
    payload = ring_all_reduce(1.0 / gpus, 2, link("ethernet-200g")).traffic_bytes
    flat = ring_all_reduce(1.0, 2 * gpus, link("ethernet-200g")).traffic_bytes
    slips = {"flat": flat, "whole": 1.0}
    return number(payload, "share", slips, gpus=gpus, ranks=2 * gpus)


@BANK.asks("the node boundary", CASES)
def where_tp_stops(rng: Draw) -> Choice:
    return choice("inside", ("wide", "across", "deep"), rng)


@BANK.asks("waiting", CASES)
def rare_stall(rng: Draw) -> Number:
    messages, one_in = pick(rng, 1000, 5000, 20_000), pick(rng, 1_000_000, 200_000)
    answer = hit_fraction(1 / one_in, messages)
    return number(
        answer, "share", {"one_message": 1 / one_in}, 0.06, messages=grouped(messages), one_in=grouped(one_in)
    )


@BANK.asks("waiting", STRAGGLER)
def slow_rank(rng: Draw) -> Number:
    ranks, slow, compute_s, comm_s = pick(rng, 4, 8), pick(rng, 0.2, 0.25, 0.5), 5e-3, 3e-3
    step_s = float(lockstep(Straggler(0, 1 + slow).slow([compute_s] * ranks), comm_s).step)
    slips = {"average": compute_s * (1 + slow / ranks) + comm_s, "all_of_it": (compute_s + comm_s) * (1 + slow)}
    return number(
        step_s,
        "time",
        slips,
        0.01,
        ranks=ranks,
        slow=percent(slow, 0),
        compute=seconds(compute_s),
        comm=seconds(comm_s),
    )


@BANK.asks("waiting", STRAGGLER)
def late_at_random(rng: Draw) -> Number:
    ranks, mean_s = pick(rng, 2, 4, 8), 1e-3
    slips = {"one_rank": mean_s, "in_turn": ranks * mean_s}
    answer = expected_max_exponential(mean_s, ranks)
    return number(answer, "time", slips, ranks=ranks, mean=seconds(mean_s))


@BANK.asks("the bill", BENCH)
def larger_model(rng: Draw) -> Choice:
    """Nine times the weights, twice the payload, two and a half times the all-reduces: the share falls."""
    rows, ranks = (model(LAB), model("llama-3-70b")), 8
    over = link(pick(rng, "nvlink-4", "ib-ndr"))
    steps = [weight_streaming_s(row, gpu("h100-sxm")) for row in rows]
    bills = [bill(Step(row, ranks, compute_s=s, divided=True), over) for row, s in zip(rows, steps, strict=True)]
    return choice(
        "falls",
        ("rises", "same"),
        rng,
        small=rows[0].name,
        large=rows[1].name,
        link=over.name,
        ranks=ranks,
        payload=plain(rows[1].hidden_size / rows[0].hidden_size),
        sums=plain(bills[1].step.all_reduces / bills[0].step.all_reduces),
        compute=plain(steps[1] / steps[0], 2),
        small_share=percent(bills[0].comm_fraction),
        large_share=percent(bills[1].comm_fraction),
    )
