"""The bench of lab 04 in words: two schedules compared, and a pipe that serves."""

from collections.abc import Mapping

from core.errors import ShardlabError
from core.schedules.actions import Time
from core.schedules.families import FAMILIES
from core.schedules.serving import filling_microbatches, steady_decode
from core.units import percent, plain
from ui.rows.pipeline_schedules import Serve, Versus, schedule_row


def fields(versus: Versus, serve: Serve) -> Mapping[str, str]:
    """Every number of the bench's prose. A schedule that refuses the sizes leaves dashes; its figure says why."""
    return {
        **_schedule_fields("first", versus.first, versus),
        **_schedule_fields("second", versus.second, versus),
        **_serve_fields(serve),
    }


def _schedule_fields(role: str, key: str, versus: Versus) -> dict[str, str]:
    try:
        row = schedule_row(key, versus.run(key))
    except ShardlabError:
        names = ("chunks", "makespan", "bubble", "overhead", "own_bubble", "held")
        return {f"{role}_name": FAMILIES[key].name, **{f"{role}_{name}": "–" for name in names}}
    return {
        f"{role}_name": row.name,
        f"{role}_chunks": str(row.chunks),
        f"{role}_makespan": _ticks(row.makespan),
        f"{role}_bubble": percent(row.bubble_fraction),
        f"{role}_overhead": percent(row.overhead),
        f"{role}_own_bubble": percent(row.own_bubble_fraction),
        f"{role}_held": plain(row.most_activations),
    }


def _serve_fields(serve: Serve) -> dict[str, str]:
    steady = steady_decode(serve.pipe, serve.in_flight)
    full = filling_microbatches(serve.pipe)
    best = steady_decode(serve.pipe, full)
    alone = steady_decode(serve.pipe, 1)
    return {
        "serve_stages": str(serve.stages),
        "serve_in_flight": str(serve.in_flight),
        "serve_microbatches": f"{serve.in_flight} microbatch{'' if serve.in_flight == 1 else 'es'}",
        "serve_full": str(full),
        "serve_cycle": _ticks(steady.cycle),
        "serve_alone": _ticks(alone.cycle),
        "serve_best_cycle": _ticks(best.cycle),
        "serve_busy": percent(float(max(steady.utilisation))),
        "serve_idle": percent(1 - float(sum(steady.utilisation)) / serve.stages),
        "serve_throughput": plain(float(steady.items_per_time)),
        "serve_best": plain(float(best.items_per_time)),
        "serve_pace": _ticks(serve.pipe.pace),
        "serve_around": _ticks(serve.pipe.traverse + serve.pipe.return_delay),
    }


def _ticks(count: Time | float) -> str:
    return f"{plain(float(count), 4)} tick{'' if count == 1 else 's'}"
