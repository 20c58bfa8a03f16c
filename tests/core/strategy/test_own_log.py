"""What a startup log or a refusal says of a rank's memory is taken, and what it leaves out is worked out."""

import pytest

from core.catalog import gpu, model
from core.errors import UnreadableTextError
from core.placement.asked import Machine, question_of
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.strategy.own_log import overhead_of, read_own_log, stated_layout
from core.strategy.refit import refit, said_of
from core.units import GIB
from runtime.prose import worded

QWEN = question_of(model("qwen3-8b"), Machine(gpu("rtx-4090"), 1), Demand())
LEFT = "(EngineCore pid=9) INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 2.0 GiB\n"
WEIGHTS = "INFO 10-01 10:00:20 [gpu_model_runner.py:5089] Model loading took 15.27 GiB memory and 9.5 seconds\n"
REFUSED = (
    "ValueError: To serve at least one request with the models's max seq len (16384), ({} GiB KV cache is needed,"
    " which is larger than the available KV cache memory ({} GiB). Based on the available memory, the estimated"
    " maximum model length is 13528.\n"
)


def test_with_the_memory_left_alone_the_weights_are_the_plans():
    """Qwen3-8B holds 15.27 GiB, of 0.9 · 23.64 GiB; what is left beside 2.0 is neither."""
    found = refit(QWEN, LEFT)
    budget = found.after.question.budget
    beside = budget.overhead.peak_activation_bytes + budget.overhead.non_torch_bytes
    assert beside == pytest.approx(budget.granted_bytes - (15.27 + 2.0) * GIB, rel=1e-3)
    assert not found.refused
    assert any("does not print its weights" in worded(one) for one in said_of(found))


def test_printed_weights_and_predicted_ones_come_to_the_same():
    ours, theirs = (refit(QWEN, log).after.question.budget.overhead.total_bytes for log in (LEFT, LEFT + WEIGHTS))
    assert ours == pytest.approx(theirs, rel=2e-3)


@pytest.mark.parametrize("given", ["non_torch_memory takes 0.5GiB", "PyTorch activation peak memory takes 1.5GiB"])
def test_of_two_parts_one_may_be_printed(given):
    """Beside 15.27 GiB of weights and 2.0 left, 21.27 granted leave 4.0: the other part is what is left of them."""
    found = overhead_of(LEFT + WEIGHTS + given, 21.27 * GIB)
    assert found.peak_activation_bytes + found.non_torch_bytes == pytest.approx(4.0 * GIB)


def test_a_part_alone_is_taken_beside_the_usual_other():
    assert overhead_of("non_torch_memory takes 0.5GiB", 21 * GIB).non_torch_bytes == 0.5 * GIB


def test_a_log_without_weights_or_plan_says_which_is_missing():
    with pytest.raises(UnreadableTextError, match="and not its weights"):
        overhead_of(LEFT, 21 * GIB)


def test_a_refusals_figures_are_used():
    """16,384 tokens of Qwen3-8B are 2.25 GiB as predicted; with 1.44 GiB for them no plan fits at that length."""
    asked = question_of(
        model("qwen3-8b"), Machine(gpu("rtx-4090"), 1), Demand(prompt_tokens=16_000, output_tokens=384)
    )
    found = refit(asked, REFUSED.format("2.25", "1.44"))
    assert found.before.taken is not None
    assert found.after.taken is None
    assert any("needs 2.25 GiB" in worded(one) and "had 1.44 GiB" in worded(one) for one in said_of(found))
    assert read_own_log(REFUSED.format("2.25", "1.44")).left == 1.44 * GIB


def test_room_is_counted_as_the_engine_counts_it():
    """An engine that needs twice the bytes for a request has half of the room that its bytes would give."""
    ranks = [
        refit(QWEN, REFUSED.format(needed, "3.0")).after.question.budget.overhead.total_bytes
        for needed in ("2.25", "4.50")
    ]
    assert ranks[1] - ranks[0] == pytest.approx(1.5 * GIB, rel=0.01)


def test_no_more_is_planned_with_than_was_free():
    """11.07 of 23.99 GiB free: Qwen3-4B's 7.6 GiB of weights and its overhead no longer fit."""
    asked = question_of(model("qwen3-4b"), Machine(gpu("rtx-4090"), 1), Demand())
    refusal = (
        "ValueError: Free memory on device cuda:0 (11.07/23.99 GiB) on startup is less than desired GPU memory"
        " utilization (0.9, 21.59 GiB)."
    )
    found = refit(asked, refusal)
    assert found.after.question.budget.granted_bytes == pytest.approx(11.07 * GIB)
    assert (found.before.taken is None, found.after.taken is None) == (False, True)


def test_the_share_that_the_log_was_started_with_is_the_logs():
    """Started with 0.95 of it, and not with the plan's 0.9."""
    args = "non-default args: {'model': 'Qwen/Qwen3-8B', 'gpu_memory_utilization': 0.95}\n"
    more, less = (refit(QWEN, log + LEFT + WEIGHTS).after.question.budget.overhead for log in (args, ""))
    usable = QWEN.budget.usable_bytes
    assert more.total_bytes - less.total_bytes == pytest.approx(0.05 * usable, rel=1e-6)


def test_a_log_is_of_the_layout_that_its_arguments_name():
    line = "non-default args: {'model': 'Qwen/Qwen3-8B', 'tensor_parallel_size': 4, 'pipeline_parallel_size': 2}\n"
    assert stated_layout(line) == Layout(4, 2)
    assert stated_layout(LEFT) is None


def test_sglangs_weights_are_read_too():
    line = "[2026-07-09 00:00:00 TP0] Load weight end. type=X, mem usage=7.55 GB."
    assert read_own_log(line).weights == 7.55 * GIB
