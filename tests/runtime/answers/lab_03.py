"""Lab 03 as a good student writes it."""

import numpy as np

from core.errors import OutOfRangeError, require_divides


def allreduce_payload_bytes(tokens, hidden_size, bytes_per_element=2):
    return tokens * hidden_size * bytes_per_element


def ring_allreduce_traffic_per_rank(payload_bytes, ranks):
    return 2 * (ranks - 1) / ranks * payload_bytes


def allreduce_time_s(payload_bytes, ranks, link):
    waits = 2 * (ranks - 1) * link.latency_s
    return waits + ring_allreduce_traffic_per_rank(payload_bytes, ranks) / link.bandwidth_bytes_per_s


def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    return 2 * model.num_hidden_layers * allreduce_time_s(payload, tp_size, link)


def comm_fraction(comm_s, step_s):
    return comm_s / (comm_s + step_s)


def ring_all_reduce(values, send):
    ranks = len(values)
    require_divides("values", len(values[0]), "ranks", ranks)
    parts = [np.split(np.array(value), ranks) for value in values]
    for turn in range(2 * (ranks - 1)):
        moving = [
            ((rank - turn) % ranks if turn < ranks - 1 else (rank - turn + ranks) % ranks) for rank in range(ranks)
        ]
        carried = [parts[rank][moving[rank]].copy() for rank in range(ranks)]
        for rank in range(ranks):
            after = (rank + 1) % ranks
            got = send(rank, after, carried[rank])
            parts[after][moving[rank]] = parts[after][moving[rank]] + got if turn < ranks - 1 else got
    return [np.concatenate(part) for part in parts]


def time_of_hops(hops, link):
    hops = list(hops)
    turns = {hop.turn for hop in hops}
    return sum(
        link.latency_s + max(hop.payload_bytes for hop in hops if hop.turn == turn) / link.bandwidth_bytes_per_s
        for turn in turns
    )


def fit_link(payloads_bytes, times_s, ranks):
    """The normal equations of two unknowns, by hand."""
    hops = 2 * (ranks - 1)
    a = [hops / t for t in times_s]
    b = [hops / ranks * n / t for n, t in zip(payloads_bytes, times_s, strict=True)]
    aa, ab, bb = (sum(p * q for p, q in zip(x, y, strict=True)) for x, y in ((a, a), (a, b), (b, b)))
    det = aa * bb - ab * ab
    return (sum(a) * bb - sum(b) * ab) / det, det / (aa * sum(b) - ab * sum(a))


def crossing_payload_bytes(one, other, ranks):
    if ranks == 1:
        return None
    wait = one.latency_s - other.latency_s
    byte = 1 / other.bandwidth_bytes_per_s - 1 / one.bandwidth_bytes_per_s
    return ranks * wait / byte if byte and wait / byte > 0 else None


def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    if budget_s <= 0:
        raise OutOfRangeError("budget_s", budget_s, "is no time")
    best = None
    for offer in offers:
        if weights_bytes / offer.tp_size > offer.gpu_memory_bytes:
            continue
        token_s = step_s / offer.tp_size + tp_comm_time_per_step(model, 1, offer.tp_size, offer.link)
        if token_s <= budget_s and (best is None or (offer.usd_per_hour, token_s) < best[0]):
            best = ((offer.usd_per_hour, token_s), offer)
    return best and best[1]
