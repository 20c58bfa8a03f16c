"""Plausible wrong answers to lab 03: its tests kill each of them, and one says which rule was broken."""

from tests.lab_runs import run_mutants, survivors

REFERENCE = """
from core.comm_cost.bill import (
    allreduce_payload_bytes, allreduce_time_s, comm_fraction, ring_allreduce_traffic_per_rank, tp_comm_time_per_step
)
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
    "communication over compute": "That is communication over compute",
}
"""What the learner is told of each."""


def test_each_plausible_bug_dies_by_the_test_of_its_rule_and_is_told_why(tmp_path):
    graded = run_mutants("lab-03-tp-comm-cost", REFERENCE, MUTANTS, tmp_path, whole=True)
    assert survivors(graded, MUTANTS) == set()
    for name, words in SAYS.items():
        assert words in " ".join(one.failure or "" for one in graded[name]), name
