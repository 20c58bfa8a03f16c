"""A machine from what its tools printed: what was read, what is planned, and whose each figure is."""

import pytest

from core.catalog import gpu, link, model
from core.placement.demand import Demand
from core.strategy.doctor import SHOWN_MODELS, Diagnosis, Wanted, examine
from core.strategy.machine_read import Source
from core.units import GIB
from runtime.prose import worded
from tests.core.links.printed_tables import table
from tests.core.strategy.recorded import MACHINES, printed

LOG = (
    "(APIServer pid=1) INFO 07-07 19:59:04 [api_utils.py:273] non-default args: {'model': 'Qwen/Qwen3-32B',"
    " 'tensor_parallel_size': 4}\n"
    "(EngineCore pid=9) INFO 10-01 10:00:20 [gpu_model_runner.py:5089] Model loading took 15.39 GiB memory\n"
    "(EngineCore pid=9) INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 20.0 GiB\n"
)
PLANNED = {
    "h100-8": ("h100-sxm", 8, "nvlink"),
    "a100-40-8": ("a100-40gb-sxm", 8, "nvlink"),
    "l40s-4": ("l40s", 4, "pcie"),
    "rtx4090-2": ("rtx-4090", 2, "pcie"),
    "mixed-3": ("rtx-3090", 2, "nvlink"),
    "gh200-1": ("gh200", 1, None),
    "mi300x-8": ("mi300x", 8, "xgmi"),
    "mi325x-8": ("mi325x", 8, "xgmi"),
    "mi355x-8": ("mi355x", 8, "xgmi"),
    "a100-mig": ("a100-80gb-sxm", 1, None),
    "b200-8": ("b200-sxm", 8, "nvlink"),
    "wsl-1": ("rtx-4090", 1, None),
}


def seen(*names: str, wanted: Wanted | None = None, **texts: str) -> Diagnosis:
    sources = [
        *(Source(name, printed(name)) for name in names),
        *(Source(name, text) for name, text in texts.items()),
    ]
    return examine(sources, wanted or Wanted())


def said(found: Diagnosis) -> list[str]:
    return [worded(one) for one in (*found.remarks, *found.reasons)]


@pytest.mark.parametrize("machine", PLANNED)
def test_a_machine_is_planned_for_as_it_is(machine):
    key, gpus, family = PLANNED[machine]
    found = seen(machine)
    assert (found.gpu.key, found.gpus, found.reasons) == (key, gpus, ())
    assert [one.after.question.model.key for one in found.plans] == list(SHOWN_MODELS)
    for one in found.plans:
        question, chosen = one.after.question, one.after.taken
        assert question.cluster.gpus_per_node == gpus
        assert chosen is None or chosen.layout.gpus <= gpus
        if family:
            assert question.cluster.link.family == family
    assert found.plans[0].after.taken is not None


def test_every_recorded_machine_ends_in_a_plan_or_in_a_reason():
    for machine in MACHINES:
        found = seen(machine)
        assert bool(found.plans) != bool(found.reasons), machine


@pytest.mark.parametrize("machine", ["no-driver", "no-devices"])
def test_without_a_gpu_the_tools_own_words_say_so(machine):
    found = seen(machine)
    assert not found.plans
    (reason,) = said(found)
    assert reason.startswith("no GPU is seen: ")
    assert "shardlab doctor FILE..." in reason


def test_without_any_text_files_are_asked_for():
    (reason,) = said(examine([], Wanted()))
    assert "shardlab doctor FILE..." in reason


def test_a_gpu_of_no_row_is_named_and_may_be_taken_for_another():
    """A DGX Spark prints no memory; whoever knows a row that is like it names it."""
    found = seen("gb10-1")
    if found.gpu is None:
        assert "NVIDIA GB10" in said(found)[0]
        assert "--gpu" in said(found)[0]
    assert seen("gb10-1", wanted=Wanted(gpu=gpu("l40s"))).plans


def test_the_model_of_the_log_is_planned_with_the_logs_figures():
    """15.39 of weights and 20.0 GiB of cache on an L40S: what is left of 0.9 · 44.39 GiB is neither."""
    found = seen("l40s-4", log=LOG)
    (one,) = found.plans
    assert one.after.question.model.key == "qwen3-32b"
    overhead = one.after.question.budget.overhead
    beside = overhead.peak_activation_bytes + overhead.non_torch_bytes
    assert beside == pytest.approx((0.9 * 44.39 - 15.39 - 20.0) * GIB, rel=1e-3)
    origins = {figure.name: (figure.origin, figure.source) for figure in found.figures}
    assert origins["overhead"] == ("yours", "log")
    assert origins["model"] == ("yours", "log")
    assert origins["rates"] == ("assumed", "")


def test_a_table_s_link_is_the_machines_own():
    found = seen("h100-8", nccl=table(), wanted=Wanted(model("llama-3.1-8b")))
    origins = {figure.name: (figure.origin, figure.source) for figure in found.figures}
    assert origins["link"] == ("yours", "nccl")
    assert origins["overhead"] == ("assumed", "")
    assert found.plans[0].after.question.cluster.link.measured_ranks == 8


def test_each_figure_says_whose_it_is():
    found = seen("a100-40-8", wanted=Wanted(nodes=2, network=link("ib-hdr"), demand=Demand(concurrency=64)))
    origins = {figure.name: figure.origin for figure in found.figures}
    assert origins == {
        "gpus": "yours",
        "memory": "yours",
        "rates": "assumed",
        "way": "yours",
        "link": "assumed",
        "network": "assumed",
        "overhead": "assumed",
        "requests": "yours",
        "efficiency": "assumed",
    }
    assert all(figure.source == "a100-40-8" for figure in found.figures if figure.name in ("gpus", "memory", "way"))


def test_gpus_of_two_kinds_are_planned_for_the_larger_part():
    found = seen("mixed-3")
    assert "CUDA_VISIBLE_DEVICES=0,1" in said(found)[0]
    assert "GTX 1650" in said(found)[0]


def test_what_others_hold_is_not_given_to_a_plan():
    """3,821 of 24,564 MiB are a desktop's."""
    budget = seen("rtx4090-2").plans[0].after.question.budget
    assert budget.utilisation == pytest.approx(1 - 3821 / 24564)
    assert any("other processes" in one for one in said(seen("rtx4090-2")))


def test_an_engine_that_fills_the_gpus_is_no_reason_to_plan_with_the_rest():
    text = printed("rtx4090-2").replace("   3821MiB", "  22000MiB")
    found = seen(smi=text)
    assert found.plans[0].after.question.budget.utilisation == 0.9
    assert any("perhaps by an engine" in one for one in said(found))


def test_instances_and_counts_that_differ_are_said():
    assert any("MIG" in one for one in said(seen("a100-mig")))
    both = seen("wsl-1", topo=printed("l40s-4")[printed("l40s-4").index("\tGPU0") :])
    assert any("another machine's" in one for one in said(both))


def test_a_text_that_is_nothing_is_said_to_be():
    found = seen("h100-8", notes="dear diary")
    assert [one.kinds for one in found.heard] == [("devices", "topology"), ()]
    assert worded(found.heard[1].said[0]) == "nothing in it is known here"


def test_a_log_that_ends_in_a_crash_is_read_beside_the_machine():
    crash = (
        "(EngineCore pid=9) ERROR 10-01 10:00:03 [core.py:1165] RuntimeError: NCCL error: unhandled system error\n"
    )
    found = seen("l40s-4", log=LOG + crash)
    assert found.report.crash is not None
    assert found.plans
