"""Where every time on screen is replayed on the referee's clock, or why it is not and which test holds it instead.

The keys are what shows a time: a block of prose (`stem.block`, or all that begin so), a scene with a figure or a
player (`stem/scene`), a figure of a bench (`stem:figure`). The list is complete by `test_every_time` for prose and
benches, by `test_every_scene` for scenes as they run, by `test_cases` for the figures of the clinic, and by
`test_questions` for the quiz.
"""

from typing import NamedTuple


class Held(NamedTuple):
    """The test that holds a time, as `file::test` under tests/; `why` is "" where the clock replays it."""

    test: str
    why: str = ""


def _on_the_clock(test: str) -> Held:
    return Held(f"core/referee/{test}")


BILL = _on_the_clock("test_pages.py::test_no_bill_beats_its_wire")
NODES = _on_the_clock("test_pages.py::test_no_all_reduce_over_nodes_beats_the_nodes_port")
HANDED = _on_the_clock("test_pages.py::test_no_hand_over_beats_a_port_that_its_ranks_share")
PLANS = _on_the_clock("test_pages.py::test_no_plan_beats_its_pipeline_on_the_clock_and_all_plans_serve_as_many")
LAYOUTS = _on_the_clock("test_pages.py::test_no_composition_of_lab_04_beats_its_roofline_and_all_serve_as_many")
STEP = _on_the_clock("test_pages.py::test_no_step_of_lab_03_beats_its_roofline")
CASES = _on_the_clock("test_cases.py::test_no_case_of_the_clinic_beats_its_wires_or_its_memory")
LOAD = _on_the_clock("test_searched.py::test_no_plan_at_a_rate_beats_its_roofline")
LITTLE = _on_the_clock("test_pages.py::test_an_engine_under_load_obeys_littles_law")
TRACE = _on_the_clock("test_searched.py::test_no_trace_beats_its_roofline_and_littles_law_holds")
RACE = _on_the_clock("test_searched.py::test_no_lane_of_a_race_beats_its_wire_or_its_arithmetic")
JOURNEY = _on_the_clock("test_searched.py::test_no_journey_and_no_draft_beats_its_roofline_or_its_wire")
CACHES = _on_the_clock("test_searched.py::test_no_way_to_share_a_cache_beats_reading_it_once_and_all_serve_as_many")
GRADIENT = _on_the_clock("test_pages.py::test_no_gradient_beats_the_ports_of_its_nodes")
CELLS = _on_the_clock("test_drawn.py::test_every_cell_of_a_schedule_runs_where_the_referee_runs_it")
PIPE = _on_the_clock("test_clock.py::test_decode_round_a_pipe_settles_as_the_pipeline_simulator_has_it")
ROUNDS = _on_the_clock("test_drawn.py::test_no_round_that_a_player_draws_beats_its_ports")
SCORE = _on_the_clock("test_drawn.py::test_a_puzzles_score_is_what_its_collectives_send_on_the_clock")
SLOW = _on_the_clock("test_drawn.py::test_a_slow_rank_holds_all_up_on_the_clock_too")
MESSAGE = _on_the_clock("test_drawn.py::test_a_message_of_start_here_takes_what_the_wire_takes")
PASS = _on_the_clock("test_drawn.py::test_a_pass_of_start_here_is_its_bytes_and_its_arithmetic_on_two_engines")
QUIZ = _on_the_clock("test_questions.py::test_every_question_that_tells_a_time_is_replayed")

PEOPLE = Held(
    "core/cluster/test_by_hand.py::test_times_are_from_the_end_of_a_round_to_the_end_of_the_next_and_of_a_rank_while"
    "_it_had_the_move",
    "people pressed: the server's own clock, and what a fit of it says",
)
TIMED = Held(
    "core/comm_cost/test_comm_measured.py::test_every_point_names_its_source_and_a_catalog_link",
    "somebody timed it; its wire's bound is in the catalog's tests",
)
PUBLISHED = Held(
    "core/evidence/test_calibration.py::test_no_roofline_lies_above_a_shipped_measurement",
    "published, each beside its prediction",
)
RECORDED = Held(
    "runtime/test_captures.py::test_no_sum_beats_the_wire_it_was_shaped_to",
    "recorded from real processes, and their own sums put together again",
)
CONSTANT = Held(
    "core/evidence/test_calibration.py::test_the_constants_are_what_a_class_s_sources_give", "a constant"
)
OWN = Held(
    "core/strategy/test_own_machine.py::test_a_machine_s_own_constants_are_found_again",
    "what a visitor brought, and constants found in it",
)
ASKED = Held(
    "core/placement/test_placement.py::test_every_plan_says_why_it_lost", "what the visitor set as a target"
)
HELD: dict[str, Held] = {
    # prose
    "cluster": PEOPLE,
    "comm_cost.question": BILL,
    "comm_cost.see.reading_napkin": BILL,
    "comm_cost.see.reading_wire": ROUNDS,
    "comm_cost.see.wire_slow": ROUNDS,
    "comm_cost.count": BILL,
    "comm_cost.break_it.reading": BILL,
    "comm_cost.break_it.reading_busbw": TIMED,
    "comm_cost.two_way.timed": TIMED,
    "comm_cost.bench.reading": STEP,
    "comm_cost.bench.ranks": BILL,
    "comm_cost.bench.kernels": BILL,
    "comm_cost.kernels.switch": BILL,
    "comm_cost.bench.attention": CACHES,
    "comm_cost.bench.drafts": JOURNEY,
    "comm_cost.bench.apart": HANDED,
    "comm_cost.bench.units": BILL,
    "comm_cost.bench.gpus_flips": STEP,
    "comm_cost.bench.buy": BILL,
    "comm_cost.bench.nodes": NODES,
    "comm_cost.bench.experts": BILL,
    "comm_cost.bench.ends": BILL,
    "comm_cost.bench.residuals": TIMED,
    "comm_cost.limits.body": BILL,
    "comm_cost.says": BILL,
    "pipeline_bubble.serve": LAYOUTS,
    "pipeline_bubble.bench.compositions": LAYOUTS,
    "pipeline_bubble.compose": LAYOUTS,
    "placement.plan": PLANS,
    "placement.cases": PLANS,
    "placement.limits.body": CONSTANT,
    "placement.race": RACE,
    "placement.load": LOAD,
    "placement.load.note_closed": LITTLE,
    "placement.load.trace_reading": TRACE,
    "placement.accuracy.note_constants": CONSTANT,
    "placement.accuracy.reading_beside": PUBLISHED,
    "placement.remark": PLANS,
    "placement.remark.target": ASKED,
    "placement.remark.lost_at_rate": LOAD,
    "placement.remark.refit": OWN,
    "start_here.decode": PASS,
    "start_here.prefill": PASS,
    "start_here.bottlenecks": PASS,
    "start_here.rank": MESSAGE,
    "strategy.collectives": ROUNDS,
    "strategy.serving": HANDED,
    "strategy.remark": PLANS,
    "strategy.remark.part": GRADIENT,
    "strategy.remark.step": GRADIENT,
    "two_way_tp.remark.token": RECORDED,
    # scenes with a figure or a player that has times
    "start_here/decode": PASS,
    "start_here/prefill": PASS,
    "start_here/rank": MESSAGE,
    "start_here/collectives": ROUNDS,
    "comm_cost/question": BILL,
    "comm_cost/see": BILL,
    "comm_cost/count": BILL,
    "comm_cost/break_it": BILL,
    "comm_cost/bench": STEP,
    "pipeline_bubble/serve": PIPE,
    "pipeline_bubble/question": CELLS,
    "pipeline_bubble/see": CELLS,
    "pipeline_bubble/count": CELLS,
    "pipeline_bubble/break_it": CELLS,
    "pipeline_bubble/bench": CELLS,
    "two_way_tp/question": RECORDED,
    "two_way_tp/see": RECORDED,
    "two_way_tp/count": RECORDED,
    "two_way_tp/break_it": RECORDED,
    "two_way_tp/bench": RECORDED,
    "placement/plan": PLANS,
    "placement/compare": PLANS,
    "placement/cases": PLANS,
    "placement/load": LOAD,
    "placement/race": RACE,
    "placement/accuracy": PUBLISHED,
    "strategy/picker": PLANS,
    "strategy/collectives": ROUNDS,
    "strategy/serving": HANDED,
    "clinic/cases": CASES,
    "clinic/straggler": SLOW,
    "puzzles/play": SCORE,
    "quiz/ask": QUIZ,
    "overview/journey": JOURNEY,
    # figures of the benches
    "comm_cost:your link": STEP,
    "comm_cost:kernels": BILL,
    "comm_cost:batch": STEP,
    "comm_cost:your table": Held(
        "core/links/test_link_fit.py::test_a_fit_becomes_a_link_that_prices_as_it_does", "a table that was measured"
    ),
    "comm_cost:constants": TIMED,
    "comm_cost:units": BILL,
    "comm_cost:GPUs": STEP,
    "comm_cost:what to buy": BILL,
    "comm_cost:nodes": NODES,
    "comm_cost:experts": BILL,
    "comm_cost:ends": BILL,
    "comm_cost:residuals": TIMED,
    "comm_cost:attention": CACHES,
    "comm_cost:drafts": JOURNEY,
    "comm_cost:prefill apart": HANDED,
}


def held(key: str) -> Held | None:
    """The row of the longest key that begins as this one does."""
    own = max((name for name in HELD if key.startswith(name)), key=len, default=None)
    return HELD[own] if own is not None else None
