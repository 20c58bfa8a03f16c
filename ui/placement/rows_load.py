"""The planner under load: its tails by arrival rate, and a benchmark's result beside what the plan should show."""

from collections.abc import Sequence

from core.errors import ShardlabError
from core.placement.measured_load import BenchPrediction, is_another, predict_bench
from core.placement.plan import Plan, Question
from core.placement.under_load import Loaded
from core.serving.arrivals import seeded
from core.serving.bench_results import BenchResult
from runtime.prose import explained, worded
from runtime.prose import said as phrase
from runtime.quantities import plain
from runtime.rows import Row, table

SHOWN_RESULTS = 12
"""Results of one paste that are predicted: each is a run of its own."""


def tails(loaded: Loaded) -> list[Row]:
    shares = loaded.engines
    return [
        Row(
            requests_per_s=shares * run.arrivals_per_s,
            ttft_p50_ms=1e3 * run.ttft_p50_s,
            ttft_p99_ms=1e3 * run.ttft_p99_s,
            itl_p50_ms=1e3 * run.itl_p50_s,
            itl_p99_ms=1e3 * run.itl_p99_s,
            tokens_per_s=shares * run.tokens_per_s,
            running=shares * run.mean_running,
            waiting=shares * run.mean_waiting,
            kept=loaded.ask.promise.kept(run),
        )
        for run in loaded.curve
    ]


def bench_lines(question: Question, plan: Plan, results: Sequence[BenchResult], seed: int) -> list[Row]:
    """Each result's figures beside those of the same requests on the plan's engine; a refusal where it has none."""
    lines: list[tuple[str, ...]] = []
    for number, result in enumerate(results[:SHOWN_RESULTS], start=1):
        try:
            predicted = predict_bench(question, plan, result, seeded(seed))
        except ShardlabError as refusal:
            lines.append((f"{number}", phrase("placement", "says.not_predicted"), "", explained(refusal), ""))
        else:
            lines += _compared(number, predicted, plan.layout.replicas)
    return table("result figure measured predicted ratio", lines)


def _compared(number: int, prediction: BenchPrediction, engines: int) -> list[tuple[str, ...]]:
    result, load = prediction.result, prediction.load
    name = phrase(
        "placement", "says.requests", number=number, completed=result.completed, worded=worded(prediction.sent)
    )
    pairs = (
        ("first_token_mean_ms", result.ttft.mean_s, load.ttft_mean_s, 1e3),
        ("first_token_p_ms", result.ttft.at(99), load.ttft_p99_s, 1e3),
        ("between_tokens_mean_ms", result.between_s, load.itl_mean_s, 1e3),
        ("between_tokens_p_ms", result.itl.at(99), load.itl_p99_s, 1e3),
        ("output_tokens_s", result.output_tokens_per_s, engines * load.tokens_per_s, 1.0),
    )
    return [
        (name, phrase("placement", f"says.{block}"), *map(plain, (scale * measured, scale * told, told / measured)))
        for block, measured, told, scale in pairs
        if measured
    ]


def bench_warnings(question: Question, results: Sequence[BenchResult]) -> list[str]:
    """What each result lacks or contradicts, and where it is of another model than the plan's."""
    plans = question.model.name
    names = dict.fromkeys(result.model for result in results if result.model)
    return [
        *(
            phrase("placement", "says.result_line", n=n, line=each.line, worded=worded(warning))
            for n, each in enumerate(results, 1)
            for warning in each.warnings
        ),
        *(
            phrase("placement", "says.not_plan_s_model", name=name, plans=plans)
            for name in names
            if is_another(name, question.model)
        ),
        *(
            [phrase("placement", "says.only_first_results_are", shown_results=SHOWN_RESULTS)]
            if len(results) > SHOWN_RESULTS
            else []
        ),
    ]
