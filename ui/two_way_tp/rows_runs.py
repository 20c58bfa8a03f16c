"""Lab 02: the arms of its runs: one process on a thread or on all of them, and TP=N."""

from collections.abc import Sequence

from core.two_way_tp.result import Manifest, PerToken, RunResult
from runtime.prose import named, said
from runtime.quantities import significant
from runtime.rows import Row


def run_rows(name: str, result: RunResult, repeats: Sequence[RunResult] = ()) -> list[Row]:
    """The arms of a run, and of its replayed graphs; not every run has those, or one process on all threads.

    An arm's `kind` is "one" for one process on a thread, "all" for one on every core's, "ranks" for TP=N, whose
    `times` is what it takes of the first. `repeats` are all runs of its command, each with its median on the line
    of TP=N, as "again". A run's name is its model's and, after a comma, what is between the ranks.
    """
    eager = _arms(name, result, result.single_per_token, result.per_token, result.all_threads_per_token)
    eager += [_again(eager[-1], repeat) for repeat in repeats]
    if result.graph_per_token is None or result.single_graph_per_token is None:
        return eager
    graphed = _arms(
        said("two_way_tp", "says.cuda_graph", name=name),
        result,
        result.single_graph_per_token,
        result.graph_per_token,
        None,
    )
    return [*eager, *graphed]


def _again(shown: Row, repeat: RunResult) -> Row:
    median_ms = 1e3 * repeat.per_token.median_s
    times = _times(repeat.single_per_token, repeat.per_token)
    same = dict.fromkeys(("min_ms", "median_ms", "p95_ms"), median_ms)
    return Row(**vars(shown) | {"kind": "again", "times": times} | same)


def _times(one: PerToken, many: PerToken) -> str:
    return f"{significant(many.median_s / one.median_s, 2)} ×"


def hardware(manifest: Manifest) -> str:
    return ", ".join(manifest.gpus) or f"{manifest.cpu}, {said('two_way_tp', 'says.cores', cores=manifest.cores)}"


def recorded_model(name: str) -> str:
    """A recorded model by its name, or by its size where it has none: `a GPT of 30M`."""
    _, nameless, size = name.partition("a GPT of ")
    return said("two_way_tp", "says.a_gpt", size=size) if nameless else name


def _arms(name: str, result: RunResult, one: PerToken, many: PerToken, wide: PerToken | None) -> list[Row]:
    model, _, between = name.partition(", ")
    times = _times(one, many)
    arms = [
        ("TP=1", "one", one),
        (said("two_way_tp", "says.tp_all_threads"), "all", wide),
        (f"TP={result.world_size}", "ranks", many),
    ]
    return [
        Row(
            run=name.replace(model, recorded_model(model)).replace(between, named("two_way_tp", between)),
            model=recorded_model(model),
            between=named("two_way_tp", between),
            arm=arm,
            kind=kind,
            min_ms=1e3 * t.min_s,
            median_ms=1e3 * t.median_s,
            p95_ms=1e3 * t.p95_s,
            times=times,
        )
        for arm, kind, t in arms
        if t is not None
    ]
