"""Tensor parallelism over nodes: inside it is the plain bill, across it the two levels of the counted program."""

import numpy as np
import pytest

from core.catalog import link, model
from core.collectives.programs import hierarchical_all_reduce, run
from core.comm_cost.bill import Step, bill
from core.comm_cost.node_boundary import node_bill
from core.errors import IndivisibleError
from core.specs import LinkSpec

LLAMA = model("llama-3-8b")
INSIDE, NETWORK = link("nvlink-4"), link("ib-ndr")
UNIT = LinkSpec(key="unit", name="unit", latency_s=1.0, bandwidth_bytes_per_s=1.0)


@pytest.mark.parametrize("tp_size", [1, 2, 4, 8])
def test_inside_one_node_it_is_the_plain_bill(tp_size):
    step = Step(LLAMA, tp_size)
    found = node_bill(step, 8, INSIDE, NETWORK)
    assert found.nodes == 1
    assert found.whole.comm_s == pytest.approx(bill(step, INSIDE).comm_s)
    assert found.network_fraction == 0
    assert found.flat.comm_s == pytest.approx(found.whole.comm_s)


def test_two_nodes_of_four_take_the_steps_that_the_program_counts():
    """2·3 rounds inside and 2·1 across, run message by message on real arrays."""
    program = hierarchical_all_reduce(4, 2)
    rounds = len(run(program, [np.ones((8, 1)) for _ in range(8)]).round_bytes)
    found = node_bill(Step(LLAMA, 8), 4, UNIT, UNIT)
    assert found.whole.cost.steps == 64 * rounds
    assert (found.inside.cost.steps, found.network.cost.steps) == (64 * 6, 64 * 2)


def test_the_bill_jumps_at_the_node():
    """Eight GPUs on NVLink pay 1.0 ms; sixteen on two nodes 2.1; a flat ring over them 6.2."""
    eight, sixteen = (node_bill(Step(LLAMA, size), 8, INSIDE, NETWORK) for size in (8, 16))
    assert eight.whole.comm_s == pytest.approx(1.02e-3, rel=5e-3)
    assert sixteen.whole.comm_s == pytest.approx(2.11e-3, rel=5e-3)
    assert sixteen.flat.comm_s == pytest.approx(6.2e-3, rel=5e-3)
    assert sixteen.network.comm_s > 0
    assert sixteen.whole.comm_s < sixteen.flat.comm_s


def test_slow_networks_are_fatal_at_the_first_step_across():
    across = node_bill(Step(LLAMA, 16), 8, link("nvlink-lab"), link("ethernet-10g-lab"))
    assert across.whole.verdict == "fatal"
    assert across.network_fraction > 0.5


def test_a_nodes_own_nic_is_shared_by_its_gpus():
    """One NIC a node: 8 GPUs with n/8 each take as long as one GPU with all of n."""
    shared_nic, own_nic = (LinkSpec("k", "n", 0.0, 1e9, scope=scope) for scope in ("node", "gpu"))
    shared, alone = (
        node_bill(Step(LLAMA, 16, 2048), 8, INSIDE, network).network for network in (shared_nic, own_nic)
    )
    assert shared.bandwidth_s == pytest.approx(8 * alone.bandwidth_s)


def test_a_node_that_would_not_be_full_is_refused():
    with pytest.raises(IndivisibleError, match="tp_size=12"):
        node_bill(Step(LLAMA, 12), 8, INSIDE, NETWORK)
