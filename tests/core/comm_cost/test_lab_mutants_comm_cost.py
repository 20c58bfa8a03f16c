"""Plausible wrong answers to lab 03: its tests kill each of them, and one says which rule was broken."""

import pytest

from tests.lab_runs import run_mutants, survivors

REFERENCE = """
from core.comm_cost.bill import (
    allreduce_payload_bytes, allreduce_time_s, comm_fraction, ring_allreduce_traffic_per_rank, tp_comm_time_per_step
)
from core.comm_cost.choice import cheapest_offer, crossing_payload_bytes, fit_link
from core.comm_cost.wire import ring_all_reduce, time_of_hops
import numpy as np
"""

MUTANTS = {
    "elements counted for bytes": (
        """
def allreduce_payload_bytes(tokens, hidden_size, bytes_per_element=2):
    return tokens * hidden_size
""",
        "test_payload_is_one_activation_row_per_token",
    ),
    "the width forgotten when it is not two bytes": (
        """
def allreduce_payload_bytes(tokens, hidden_size, bytes_per_element=2):
    return tokens * hidden_size * 2
""",
        "test_payload_is_one_activation_row_per_token",
    ),
    "only the reduce-scatter's half of the traffic": (
        """
def ring_allreduce_traffic_per_rank(payload_bytes, ranks):
    return (ranks - 1) * payload_bytes / ranks
""",
        "test_ring_traffic_formula",
    ),
    "the limit of many ranks taken for every number of them": (
        """
def ring_allreduce_traffic_per_rank(payload_bytes, ranks):
    return 2 * payload_bytes
""",
        "test_ring_traffic_formula",
    ),
    "one latency a collective instead of one a hop": (
        """
def allreduce_time_s(payload_bytes, ranks, link):
    traffic = ring_allreduce_traffic_per_rank(payload_bytes, ranks)
    return link.latency_s + traffic / link.bandwidth_bytes_per_s
""",
        "test_every_hop_waits",
    ),
    "two latencies whatever the ranks, which is right at two": (
        """
def allreduce_time_s(payload_bytes, ranks, link):
    traffic = ring_allreduce_traffic_per_rank(payload_bytes, ranks)
    return 2 * link.latency_s + traffic / link.bandwidth_bytes_per_s
""",
        "test_every_hop_waits",
    ),
    "both directions of the wire added up": (
        """
def allreduce_time_s(payload_bytes, ranks, link):
    traffic = ring_allreduce_traffic_per_rank(payload_bytes, ranks)
    return 2 * (ranks - 1) * link.latency_s + traffic / (2 * link.bandwidth_bytes_per_s)
""",
        "test_bytes_go_at_the_speed_of_one_direction",
    ),
    "one all-reduce a layer": (
        """
def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    return model.num_hidden_layers * allreduce_time_s(payload, tp_size, link)
""",
        "test_a_layer_talks_twice",
    ),
    "the all-reduces divided over the ranks": (
        """
def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    return 2 * model.num_hidden_layers * allreduce_time_s(payload, tp_size, link) / tp_size
""",
        "test_decode_step_comm_on_ethernet_is_fatal",
    ),
    "communication over compute": (
        """
def comm_fraction(comm_s, step_s):
    return comm_s / step_s if step_s else 1.0
""",
        "test_the_fraction_is_of_the_whole_wall_clock",
    ),
    "the reduce-scatter without the all-gather": (
        """
def ring_all_reduce(values, send):
    n = len(values)
    chunks = [list(np.split(value, n)) for value in values]
    for turn in range(n - 1):
        sent = [(r, (r - turn) % n, chunks[r][(r - turn) % n]) for r in range(n)]
        for r, c, part in sent:
            chunks[(r + 1) % n][c] = chunks[(r + 1) % n][c] + send(r, (r + 1) % n, part)
    return [np.concatenate(own) for own in chunks]
""",
        "test_a_hop_carries_one_chunk_to_the_next_rank",
    ),
    "all values to rank 0, and back": (
        """
def ring_all_reduce(values, send):
    y = values[0]
    for r in range(1, len(values)):
        y = y + send(r, 0, values[r])
    return [y] + [send(0, r, y) for r in range(1, len(values))]
""",
        "test_a_hop_carries_one_chunk_to_the_next_rank",
    ),
    "the sum taken where nothing was sent": (
        """
def ring_all_reduce(values, send):
    return [sum(values)] * len(values)
""",
        "test_the_ring_gives_every_rank_the_sum",
    ),
    "added into what was given": (
        """
given_ring = ring_all_reduce
def ring_all_reduce(values, send):
    y = given_ring(values, send)
    values[0] += 1
    return y
""",
        "test_what_the_ring_is_given_comes_back_untouched",
    ),
    "every message waited for in turn": (
        """
def time_of_hops(hops, link):
    return sum(link.latency_s + hop.payload_bytes / link.bandwidth_bytes_per_s for hop in hops)
""",
        "test_the_hops_of_a_ring_take_the_time_of_the_formula",
    ),
    "absolute errors": (
        """
def fit_link(payloads_bytes, times_s, ranks):
    slope, start = np.polyfit(payloads_bytes, times_s, 1)
    hops = 2 * (ranks - 1)
    return start / hops, hops / ranks / slope
""",
        "test_a_measured_table_is_met_as_closely_as_can_be",
    ),
    "a bandwidth of the payload, not of what is sent": (
        """
given_fit = fit_link
def fit_link(payloads_bytes, times_s, ranks):
    latency_s, bandwidth = given_fit(payloads_bytes, times_s, ranks)
    return latency_s, bandwidth * ranks / (2 * (ranks - 1))
""",
        "test_an_exact_table_gives_its_link_back",
    ),
    "the crossing of one message": (
        """
def crossing_payload_bytes(one, other, ranks):
    bytes_s = 1 / one.bandwidth_bytes_per_s - 1 / other.bandwidth_bytes_per_s
    found = (other.latency_s - one.latency_s) / bytes_s if bytes_s else 0
    return found if ranks > 1 and found > 0 else None
""",
        "test_at_the_crossing_both_links_take_as_long",
    ),
    "a crossing below nothing": (
        """
def crossing_payload_bytes(one, other, ranks):
    bytes_s = 1 / one.bandwidth_bytes_per_s - 1 / other.bandwidth_bytes_per_s
    return ranks * (other.latency_s - one.latency_s) / bytes_s if bytes_s and ranks > 1 else None
""",
        "test_links_that_do_not_cross_give_none",
    ),
    "the fastest offer for the cheapest": (
        """
def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    def token_s(offer):
        return step_s / offer.tp_size + tp_comm_time_per_step(model, 1, offer.tp_size, offer.link)
    good = [o for o in offers if weights_bytes / o.tp_size <= o.gpu_memory_bytes and token_s(o) <= budget_s]
    return min(good, key=token_s, default=None)
""",
        "test_the_cheapest_offer_within_the_budget_is_chosen",
    ),
    "all of the weights on every rank": (
        """
given_choice = cheapest_offer
def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    large = [o for o in offers if weights_bytes <= o.gpu_memory_bytes]
    return given_choice(large, model, weights_bytes, step_s, budget_s)
""",
        "test_the_cheapest_offer_within_the_budget_is_chosen",
    ),
    "a budget of nothing taken for one that nothing meets": (
        """
given_choice = cheapest_offer
def cheapest_offer(offers, model, weights_bytes, step_s, budget_s):
    return given_choice(offers, model, weights_bytes, step_s, budget_s) if budget_s > 0 else None
""",
        "test_a_budget_of_nothing_is_refused",
    ),
}


SAYS = {
    "elements counted for bytes": "That is the number of entries, and each takes bytes_per_element",
    "the width forgotten when it is not two bytes": "The bytes of an element were taken for two",
    "only the reduce-scatter's half of the traffic": "Only one half was counted",
    "the limit of many ranks taken for every number of them": "Twice the payload is what many ranks come close to",
    "one latency a collective instead of one a hop": "One latency was counted",
    "two latencies whatever the ranks, which is right at two": "Two hops were counted whatever N",
    "both directions of the wire added up": "Both directions of the link were added up",
    "one all-reduce a layer": "One all-reduce a layer was counted",
    "the all-reduces divided over the ranks": "The all-reduces were divided over the ranks",
    "the reduce-scatter without the all-gather": "That is the reduce-scatter alone",
    "all values to rank 0, and back": "in a ring it is the next",
    "the sum taken where nothing was sent": "only a collective or a message brings them together",
    "added into what was given": "ring_all_reduce changed what rank 0 began with",
    "every message waited for in turn": "The messages of one turn travel at once",
    "absolute errors": "the largest payloads alone count",
    "a bandwidth of the payload, not of what is sent": "That is n over its time",
    "the crossing of one message": "That is the crossing of one message",
    "a crossing below nothing": "no payload above 0 takes as long, None is due",
    "the fastest offer for the cheapest": "and eight tiny ones on Ethernet is due",
    "a budget of nothing taken for one that nothing meets": "has to be refused with OutOfRangeError",
    "communication over compute": "That is communication over compute",
}
"""What the learner is told of each."""


@pytest.mark.slow
def test_each_plausible_bug_dies_by_the_test_of_its_rule_and_is_told_why(tmp_path):
    graded = run_mutants("lab-03-tp-comm-cost", REFERENCE, MUTANTS, tmp_path, whole=True)
    assert survivors(graded, MUTANTS) == set()
    for name, words in SAYS.items():
        assert words in " ".join(one.failure or "" for one in graded[name]), name
