"""Answers to lab 03: what they are, the code, and the tasks that are wrong."""

from tests.lab_runs import ROOT

BEFORE = (ROOT / "tests" / "runtime" / "answers" / "lab_03.py").read_text(encoding="utf-8")

ANSWERS = {
    "as it stands": ("", ()),
    "elements for bytes, which later tasks ask too": (
        """
def allreduce_payload_bytes(tokens, hidden_size, bytes_per_element=2):
    return tokens * hidden_size
""",
        (1,),
    ),
    "half of the traffic, which later tasks ask too": (
        """
def ring_allreduce_traffic_per_rank(payload_bytes, ranks):
    return (ranks - 1) / ranks * payload_bytes
""",
        (2,),
    ),
    "one latency, which later tasks ask too": (
        """
def allreduce_time_s(payload_bytes, ranks, link):
    return link.latency_s + ring_allreduce_traffic_per_rank(payload_bytes, ranks) / link.bandwidth_bytes_per_s
""",
        (3,),
    ),
    "one all-reduce a layer, which a later task asks too": (
        """
def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    return model.num_hidden_layers * allreduce_time_s(payload, tp_size, link)
""",
        (4,),
    ),
    "three that are not written": (
        """
def allreduce_payload_bytes(tokens, hidden_size, bytes_per_element=2):
    raise NotImplementedError
def allreduce_time_s(payload_bytes, ranks, link):
    raise NotImplementedError
def tp_comm_time_per_step(model, tokens, tp_size, link):
    raise NotImplementedError
""",
        (1, 3, 4),
    ),
    "all by keywords": (
        """
def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload = allreduce_payload_bytes(tokens=tokens, hidden_size=model.hidden_size, bytes_per_element=2)
    each = allreduce_time_s(payload_bytes=payload, ranks=tp_size, link=link)
    return 2 * model.num_hidden_layers * each
""",
        (),
    ),
    "of compute alone": (
        """
def comm_fraction(comm_s, step_s):
    return comm_s / step_s if step_s else 1
""",
        (5,),
    ),
    "a ring that adds in place": (
        """
def ring_all_reduce(values, send):
    n = len(values)
    require_divides("n", len(values[0]), "ranks", n)
    own = [np.copy(value).reshape(n, -1) for value in values]
    for turn in range(n - 1):
        for r, part in [(r, own[r][(r - turn) % n].copy()) for r in range(n)]:
            own[(r + 1) % n][(r - turn) % n] += send(r, (r + 1) % n, part)
    for turn in range(n - 1):
        for r, part in [(r, own[r][(r + 1 - turn) % n].copy()) for r in range(n)]:
            own[(r + 1) % n][(r + 1 - turn) % n] = send(r, (r + 1) % n, part)
    return [one.reshape(-1) for one in own]
""",
        (),
    ),
    "a ring that keeps all ranks in one array": (
        """
def ring_all_reduce(values, send):
    n = len(values)
    require_divides("n", len(values[0]), "ranks", n)
    own = np.array([np.split(value, n) for value in values], dtype=float)
    for turn in range(2 * (n - 1)):
        before = own.copy()
        for r in range(n):
            c = (r - turn) % n if turn < n - 1 else (r + n - turn) % n
            got = send(r, (r + 1) % n, before[r, c])
            own[(r + 1) % n, c] = before[(r + 1) % n, c] + got if turn < n - 1 else got
    return list(own.reshape(n, -1))
""",
        (),
    ),
    "whole payloads round the ring": (
        """
def ring_all_reduce(values, send):
    n, own = len(values), [value.copy() for value in values]
    require_divides("n", len(values[0]), "ranks", n)
    moving = list(values)
    for _ in range(n - 1):
        moving = [send((r - 1) % n, r, moving[r - 1]) for r in range(n)]
        own = [a + b for a, b in zip(own, moving)]
    return own
""",
        (6,),
    ),
    "a sum that was never sent": (
        """
def ring_all_reduce(values, send):
    return [sum(values)] * len(values)
""",
        (6,),
    ),
    "the turns at once": (
        """
def time_of_hops(hops, link):
    return max((link.latency_s + hop.payload_bytes / link.bandwidth_bytes_per_s for hop in hops), default=0)
""",
        (7,),
    ),
    "the turns grouped by a dict": (
        """
def time_of_hops(hops, link):
    turns = {}
    for hop in hops:
        turns.setdefault(hop.turn, []).append(hop.payload_bytes)
    return sum(link.latency_s + max(sizes) / link.bandwidth_bytes_per_s for sizes in turns.values())
""",
        (),
    ),
    "a fit through two points": (
        """
def fit_link(payloads_bytes, times_s, ranks):
    hops = 2 * (ranks - 1)
    slope = (times_s[-1] - times_s[0]) / (payloads_bytes[-1] - payloads_bytes[0])
    return (times_s[0] - slope * payloads_bytes[0]) / hops, hops / ranks / slope
""",
        (8,),
    ),
    "a fit by weights": (
        """
def fit_link(payloads_bytes, times_s, ranks):
    hops, weights = 2 * (ranks - 1), 1 / np.asarray(times_s)
    slope, start = np.polyfit(payloads_bytes, times_s, 1, w=weights)
    return start / hops, hops / ranks / slope
""",
        (),
    ),
    "a crossing that may be negative": (
        """
def crossing_payload_bytes(one, other, ranks):
    bytes_s = 1 / one.bandwidth_bytes_per_s - 1 / other.bandwidth_bytes_per_s
    return ranks * (other.latency_s - one.latency_s) / bytes_s if bytes_s and ranks > 1 else None
""",
        (9,),
    ),
    "memory left out": (
        """
def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    if budget_s <= 0:
        raise OutOfRangeError("budget_s", budget_s, "is nothing")
    times = [(o.usd_per_hour, step_s / o.tp_size + tp_comm_time_per_step(model, 1, o.tp_size, o.link), k)
             for k, o in enumerate(offers)]
    good = [row for row in times if row[1] <= budget_s]
    return offers[min(good)[2]] if good else None
""",
        (10,),
    ),
    "the first of two at a price": (
        """
def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    if budget_s <= 0:
        raise OutOfRangeError("budget_s", budget_s, "is nothing")
    good = [o for o in offers if weights_bytes / o.tp_size <= o.gpu_memory_bytes
            and step_s / o.tp_size + tp_comm_time_per_step(model, 1, o.tp_size, o.link) <= budget_s]
    return min(good, key=lambda o: o.usd_per_hour, default=None)
""",
        (10,),
    ),
    "a budget of nothing that is met by none": (
        """
right_choice = cheapest_offer
def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    return None if budget_s <= 0 else right_choice(offers, model, weights_bytes, step_s, budget_s)
""",
        (10,),
    ),
}  # fmt: skip
