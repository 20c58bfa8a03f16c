"""Where every time on screen is replayed on the referee's clock, or why it is not and which test holds it instead.

The keys are what shows a time: a block of prose (`stem.block`, or all that begin so), a figure or a player
(`stem#name`, `*` for a family), an option of lab 03's bench (`stem:figure`). The list is complete by
`test_every_time` for prose and for what the source names, by `test_every_scene` for what scenes draw, by
`test_cases` for the figures of the clinic, and by `test_questions` for the quiz.
"""

from fnmatch import fnmatchcase
from typing import NamedTuple


class Held(NamedTuple):
    """The test that holds a time, as `file::test` under tests/; `why` is "" where the clock replays it."""

    test: str
    why: str = ""


def _on_the_clock(test: str) -> Held:
    return Held(f"core/referee/{test}")


BILL = _on_the_clock("test_pages.py::test_no_bill_beats_its_link")
NODES = _on_the_clock("test_pages.py::test_no_all_reduce_over_nodes_beats_the_nodes_port")
HANDED = _on_the_clock("test_pages.py::test_no_hand_over_beats_a_port_that_its_ranks_share")
PLANS = _on_the_clock("test_pages.py::test_no_plan_beats_its_pipeline_on_the_clock_and_all_plans_serve_as_many")
LAYOUTS = _on_the_clock("test_pages.py::test_no_composition_of_lab_04_beats_its_roofline_and_all_serve_as_many")
STEP = _on_the_clock("test_pages.py::test_no_step_of_lab_03_beats_its_roofline")
CASES = _on_the_clock("test_cases.py::test_no_case_of_the_clinic_beats_its_links_or_its_memory")
LOAD = _on_the_clock("test_searched.py::test_no_plan_at_a_rate_beats_its_roofline")
LITTLE = _on_the_clock("test_pages.py::test_an_engine_under_load_obeys_littles_law")
TRACE = _on_the_clock("test_searched.py::test_no_trace_beats_its_roofline_and_littles_law_holds")
RACE = _on_the_clock("test_searched.py::test_no_lane_of_a_race_beats_its_link_or_its_arithmetic")
JOURNEY = _on_the_clock("test_searched.py::test_no_journey_and_no_draft_beats_its_roofline_or_its_link")
CACHES = _on_the_clock("test_searched.py::test_no_way_to_share_a_cache_beats_reading_it_once_and_all_serve_as_many")
GRADIENT = _on_the_clock("test_pages.py::test_no_gradient_beats_the_ports_of_its_nodes")
CELLS = _on_the_clock("test_drawn.py::test_every_cell_of_a_schedule_runs_where_the_referee_runs_it")
PIPE = _on_the_clock("test_clock.py::test_decode_round_a_pipe_settles_as_the_pipeline_simulator_has_it")
ROUNDS = _on_the_clock("test_drawn.py::test_no_round_that_a_player_draws_beats_its_ports")
SCORE = _on_the_clock("test_drawn.py::test_a_puzzles_score_is_what_its_collectives_send_on_the_clock")
SLOW = _on_the_clock("test_drawn.py::test_a_slow_rank_holds_all_up_on_the_clock_too")
MESSAGE = _on_the_clock("test_drawn.py::test_a_message_of_start_here_takes_what_the_link_takes")
PASS = _on_the_clock("test_drawn.py::test_a_pass_of_start_here_is_its_bytes_and_its_arithmetic_on_two_engines")

PEOPLE = Held(
    "core/course/test_cluster.py::test_times_are_from_the_end_of_a_round_to_the_end_of_the_next_and_of_a_rank_while"
    "_it_had_the_move",
    "people pressed: the server's own clock, and what a fit of it says",
)
TIMED = Held(
    "core/comm_cost/test_comm_measured.py::test_every_point_names_its_source_and_a_catalog_link",
    "somebody timed it; its link's bound is in the catalog's tests",
)
PUBLISHED = Held(
    "core/evidence/test_calibration.py::test_no_roofline_lies_above_a_shipped_measurement",
    "published, each beside its prediction",
)
RECORDED = Held(
    "runtime/test_captures.py::test_no_sum_beats_the_link_it_was_shaped_to",
    "recorded from real processes, and their own sums put together again",
)
CONSTANT = Held(
    "core/evidence/test_calibration.py::test_the_constants_are_what_a_class_s_sources_give", "a constant"
)
OWN = Held(
    "core/strategy/test_refit.py::test_a_machine_s_own_constants_are_found_again",
    "what a visitor brought, and constants found in it",
)
ASKED = Held(
    "core/placement/test_placement.py::test_every_plan_says_why_it_lost", "what the visitor set as a target"
)
TABLE = Held(
    "core/links/test_link_fit.py::test_a_fit_becomes_a_link_that_prices_as_it_does", "a table that was measured"
)
BROKEN = Held(
    "core/pipeline_bubble/test_schedules.py::test_the_predicate_names_the_broken_rule",
    "drawn because it breaks a rule of the clock, which is what the page says of it",
)
LINKS = Held(
    "core/two_way_tp/test_two_way_tp.py::test_a_machines_link_is_billed_as_a_link_of_lab_03",
    "a line through sums that were timed, billed as lab 03 does",
)
WIDTH = Held(
    "core/two_way_tp/test_two_way_tp_scaling.py::test_the_crossover_is_the_closed_form_where_only_sums_and_weights_count",
    "a curve through this machine's own sums and memory, with what was measured beside it",
)
LATEST = Held(
    "core/referee/test_questions.py::test_the_last_of_some_late_ranks_is_the_integral_of_its_chance_to_be_later",
    "times of one rank's mean, drawn at random beside",
)
DUELS = _on_the_clock("test_drawn.py::test_two_replicas_and_one_model_over_both_serve_what_the_clock_says")
HELD: dict[str, Held] = {
    # prose
    "ask": Held(
        "core/ask/test_answers.py::test_a_rate_stands_beside_its_band", "the planner's own, which the clock replays"
    ),
    "doctor": Held(
        "core/ask/test_answers.py::test_a_gpu_that_nobody_timed_inherits_no_published_times", "a link's own figures"
    ),
    "clinic.limits.body": CASES,
    "clinic.faults.source": RECORDED,
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
    "comm_cost.table.bill": TABLE,
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
    "placement.says": PLANS,
    "placement.remark": PLANS,
    "placement.remark.target": ASKED,
    "placement.remark.lost_at_rate": LOAD,
    "placement.remark.refit": OWN,
    "start_here.decode": PASS,
    "start_here.prefill": PASS,
    "start_here.bottlenecks": PASS,
    "start_here.rank": MESSAGE,
    "start_here.says.read": PASS,
    "strategy.collectives": ROUNDS,
    "strategy.serving": HANDED,
    "strategy.remark": PLANS,
    "strategy.remark.part": GRADIENT,
    "strategy.remark.step": GRADIENT,
    "two_way_tp.served": Held(
        "core/placement/test_reached.py::test_a_server_reaches_what_the_planner_tells_and_less_than_the_lab_derives",
        "the planner's own, which the clock replays",
    ),
    "two_way_tp.bench.hosts": RECORDED,
    "two_way_tp.bench.note_width": WIDTH,
    "two_way_tp.bench.replicas": DUELS,
    "two_way_tp.remark.token": RECORDED,
    "two_way_tp.says.compute": RECORDED,
    "two_way_tp.says.most_allowed": DUELS,
    "two_way_tp.says.predicted_sums_gather": RECORDED,
    "two_way_tp.says.sums": DUELS,
    **dict.fromkeys(
        (f"two_way_tp.{scene}." for scene in ("question", "see", "count", "break_it", "limits")), RECORDED
    ),
    # figures and players, by the page's stem and the name that their file or their key has
    "start_here#one_token": PASS,
    "start_here#one_pass": PASS,
    "start_here#message": MESSAGE,
    "start_here#running_ring": ROUNDS,
    "comm_cost#bill": BILL,
    "comm_cost#bill_*": BILL,
    "comm_cost#wire": ROUNDS,
    "comm_cost#all_reduce": BILL,
    "comm_cost#readings": BILL,
    "comm_cost#two_way": BILL,
    "comm_cost#busbw": TIMED,
    "comm_cost#average": TIMED,
    "comm_cost#bench": STEP,
    "comm_cost#bills_by_ranks": BILL,
    "comm_cost#kernels": BILL,
    "comm_cost#links": TIMED,
    "comm_cost#units": BILL,
    "comm_cost#gpus": STEP,
    "comm_cost#remedies": BILL,
    "comm_cost#batch": STEP,
    "comm_cost#nodes": NODES,
    "comm_cost#node_shares": NODES,
    "comm_cost#experts": BILL,
    "comm_cost#ends": BILL,
    "comm_cost#misses_*": TIMED,
    "comm_cost#own_*": TABLE,
    "pipeline_bubble#flow": PIPE,
    "pipeline_bubble#serving": PIPE,
    "pipeline_bubble#throughput": PIPE,
    "pipeline_bubble#token_time": PIPE,
    "pipeline_bubble#revealed_run": CELLS,
    "pipeline_bubble#run": CELLS,
    "pipeline_bubble#counted_run": CELLS,
    "pipeline_bubble#bench_run": CELLS,
    "pipeline_bubble#pair": CELLS,
    "pipeline_bubble#broken": BROKEN,
    "pipeline_bubble#deadlock": BROKEN,
    "pipeline_bubble#learner_run": BROKEN,
    "pipeline_bubble#compositions": LAYOUTS,
    "two_way_tp#one_token": RECORDED,
    "two_way_tp#one_letter": RECORDED,
    "two_way_tp#letters": RECORDED,
    "two_way_tp#slow_rank": RECORDED,
    "two_way_tp#two_arms": RECORDED,
    "two_way_tp#two_hosts": RECORDED,
    "two_way_tp#wires": LINKS,
    "two_way_tp#width": WIDTH,
    "two_way_tp#replicas": DUELS,
    "placement#front": PLANS,
    "placement#plans": PLANS,
    "placement#case_*": PLANS,
    "placement#load_*": LOAD,
    "placement#race": RACE,
    "placement#predicted_against_published": PUBLISHED,
    "placement#planners": PUBLISHED,
    "placement#served_off": PUBLISHED,
    "strategy#kinds": PLANS,
    "strategy#collectives_ring": ROUNDS,
    "strategy#handoff": HANDED,
    "clinic#straggler_*": SLOW,
    "clinic#responses": SLOW,
    "clinic#largest": LATEST,
    "clinic#*_symptom": CASES,
    "clinic#*_model": CASES,
    "clinic#*_fix": CASES,
    "cluster#rounds": PEOPLE,
    "puzzles#puzzles": SCORE,
    "overview#journey": JOURNEY,
    # figures of the benches
    "comm_cost:your link": STEP,
    "comm_cost:kernels": BILL,
    "comm_cost:batch": STEP,
    "comm_cost:your table": TABLE,
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


UNTIMED = {
    "start_here#over_gpus": "memory",
    "sharding_math#ledger": "a count",
    "sharding_math#ulps": "a distance of values",
    "sharding_math#tp_sizes": "sizes",
    "pipeline_bubble#slips": "shares of a whole",
    "pipeline_bubble#bubble_against_m": "shares of a whole",
    "pipeline_bubble#held": "memory",
    "startup_log#startup_log": "a distance from a prediction",
    "startup_log#weights_rules": "a distance from a prediction",
    "placement#memory": "memory",
    "strategy#memory": "memory",
    "strategy#saved_and_paid": "memory and bytes",
    "clinic#payloads": "sizes by release",
    "quiz#score": "a score",
}
"""Figures that draw no time, and what they draw."""


def held(key: str) -> Held | None:
    """The row of the longest key that begins as this one does; of a figure, its own row or its family's."""
    if "#" in key:
        return next((row for name, row in HELD.items() if "#" in name and fnmatchcase(key, name)), None)
    own = max((name for name in HELD if key.startswith(name)), key=len, default=None)
    return HELD[own] if own is not None else None
