"""What a lab's grade is made of: its tasks, the tests that speak for each, and the points they are worth.

The tests are the lab's contract, for whoever writes the code. A grade is given by probes instead: calls with hidden
inputs, over which a task's points are spread evenly. Beside the code, which is published, a student answers
questions with numbers of their own, which are worth more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from core.errors import UnknownNameError

QUESTION_POINTS = 60
"""Of a hundred: what a student's own questions are worth together."""


@dataclass(frozen=True)
class Task:
    """One task of a lab: what is to be written, its points, and its tests by name."""

    number: int
    name: str
    points: int
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Lab:
    """A lab as it is graded. `needs_torch`: its tests run real ranks, which take more memory and time."""

    key: str
    folder: str
    tasks: tuple[Task, ...]
    needs_torch: bool = False

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)


@dataclass(frozen=True)
class Outcome:
    """One probe by its claim; `problem` is empty when it was answered rightly."""

    name: str
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


@dataclass(frozen=True)
class TaskResult:
    """A task with what became of its probes."""

    task: Task
    outcomes: tuple[Outcome, ...]

    @property
    def points(self) -> Fraction:
        """The share of the task's points that its right answers are worth.

        points · passed / probes
        """
        return Fraction(self.task.points * sum(one.passed for one in self.outcomes), len(self.outcomes))


def tally(lab: Lab, outcomes: Sequence[tuple[int, Outcome]]) -> tuple[TaskResult, ...]:
    """A lab's results from each outcome and the number of its task."""
    return tuple(
        TaskResult(task, tuple(outcome for number, outcome in outcomes if number == task.number))
        for task in lab.tasks
    )


def earned(results: Sequence[TaskResult]) -> Fraction:
    return sum((result.points for result in results), Fraction(0))


def _lab(key: str, folder: str, *tasks: tuple[str, int, str], needs_torch: bool = False) -> Lab:
    rows = (
        Task(number, name, points, tuple(f"test_{test}" for test in tests.split()))
        for number, (name, points, tests) in enumerate(tasks, 1)
    )
    return Lab(key, f"{key}-{folder}", tuple(rows), needs_torch)


_ROWS = (
    _lab(
        "lab-01",
        "tp-sharding-math",
        (
            "column_parallel",
            8,
            "column_parallel_equals_the_dense_product column_parallel_sends_nothing"
            " column_parallel_gives_each_output_its_own_bias outputs_that_do_not_divide_are_refused"
            " what_column_parallel_is_given_comes_back_untouched",
        ),
        (
            "row_parallel",
            10,
            "row_parallel_equals_the_dense_product row_parallel_costs_one_all_reduce_of_y"
            " row_parallel_adds_the_bias_once row_parallel_of_fractions_is_within_rounding"
            " inputs_that_do_not_divide_are_refused what_row_parallel_is_given_comes_back_untouched"
            " each_rank_gives_the_sum_its_own_term one_rank_sends_nothing",
        ),
        (
            "mlp_tp",
            10,
            "an_mlp_on_one_rank_sends_nothing mlp_equals_the_dense_mlp mlp_applies_the_activation_it_is_given"
            " mlp_costs_exactly_one_all_reduce an_mlp_whose_width_does_not_divide_is_refused"
            " every_rank_keeps_its_own_slice_of_the_hidden_row",
        ),
        (
            "attention_tp",
            12,
            "attention_equals_the_dense_attention attention_costs_exactly_one_all_reduce"
            " every_rank_keeps_the_heads_it_made heads_that_do_not_divide_are_refused",
        ),
    ),
    _lab(
        "lab-02",
        "two-way-tp",
        (
            "ColumnParallelLinear",
            10,
            "column_parallel_matches_single_gpu one_rank_is_the_plain_layer"
            " a_layer_that_does_not_divide_is_refused",
        ),
        ("RowParallelLinear", 12, "row_parallel_matches_single_gpu row_parallel_adds_the_bias_once"),
        (
            "ShardedEmbedding",
            10,
            "sharded_embedding_lookup tied_head_scores_the_vocabulary_and_not_its_padding",
        ),
        ("ParallelMLP", 8, "mlp_pattern_minimal"),
        needs_torch=True,
    ),
    _lab(
        "lab-03",
        "tp-comm-cost",
        (
            "allreduce_payload_bytes",
            3,
            "payload_is_one_activation_row_per_token activations_are_two_bytes_unless_said_otherwise",
        ),
        ("ring_allreduce_traffic_per_rank", 4, "ring_traffic_formula"),
        (
            "allreduce_time_s",
            6,
            "every_hop_waits bytes_go_at_the_speed_of_one_direction latency_dominates_small_payloads"
            " prefill_payloads_shift_the_balance_to_bandwidth",
        ),
        (
            "tp_comm_time_per_step",
            5,
            "a_layer_talks_twice decode_step_comm_on_nvlink_is_noise decode_step_comm_on_ethernet_is_fatal"
            " more_ranks_more_overhead",
        ),
        ("comm_fraction", 2, "the_fraction_is_of_the_whole_wall_clock"),
        (
            "ring_all_reduce",
            7,
            "the_ring_gives_every_rank_the_sum a_hop_carries_one_chunk_to_the_next_rank"
            " what_the_ring_is_given_comes_back_untouched values_that_do_not_cut_into_chunks_are_refused",
        ),
        (
            "time_of_hops",
            3,
            "the_hops_of_a_ring_take_the_time_of_the_formula the_slowest_message_of_a_turn_is_waited_for",
        ),
        ("fit_link", 4, "an_exact_table_gives_its_link_back a_measured_table_is_met_as_closely_as_can_be"),
        ("crossing_payload_bytes", 2, "at_the_crossing_both_links_take_as_long links_that_do_not_cross_give_none"),
        (
            "cheapest_offer",
            4,
            "the_cheapest_offer_within_the_budget_is_chosen a_budget_of_nothing_is_refused",
        ),
    ),
    _lab(
        "lab-04",
        "pipeline-bubble",
        ("fill_drain", 5, "every_stage_runs_every_microbatch_once_and_in_order"),
        (
            "run_on_ticks",
            8,
            "a_stage_starts_a_microbatch_when_the_stage_before_has_ended_it"
            " the_order_of_the_stages_in_the_list_says_nothing"
            " the_order_of_the_microbatches_on_a_stage_is_kept the_parts_work_together",
        ),
        (
            "counted_bubble",
            5,
            "the_idle_cells_are_counted_on_the_grid counting_works_on_runs_that_no_formula_describes",
        ),
        ("bubble_fraction", 5, "counted_and_formula_are_the_same_fraction"),
        ("bubble_overhead", 2, "the_overhead_is_idle_over_working_time"),
        (
            "microbatches_for_budget",
            7,
            "ten_percent_takes_63_microbatches_on_eight_stages_and_64_to_be_under a_budget_of_nothing_is_refused"
            " the_budget_is_met_by_this_many_and_not_by_one_less"
            " one_stage_meets_any_budget_with_one_microbatch",
        ),
        (
            "is_valid",
            8,
            "a_real_run_is_valid a_run_with_pauses_is_valid what_cannot_happen_is_not_valid",
        ),
    ),
)
LABS: Mapping[str, Lab] = MappingProxyType({lab.key: lab for lab in _ROWS})
"""The graded labs by key."""


def lab_of(name: str) -> Lab:
    """A lab by `lab-03`, `03`, `3` or its folder's name.

    Raises UnknownNameError for another.
    """
    number = name.removeprefix("lab-")[:2]
    key = f"lab-{int(number):02d}" if number.isdecimal() else name
    for lab in LABS.values():
        if key == lab.key and name in (lab.folder, lab.key, lab.key[4:], lab.key[5:]):
            return lab
    raise UnknownNameError("lab", name, LABS)
