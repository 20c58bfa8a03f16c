"""The bench of lab 04 in words: two schedules compared, and a pipe that serves."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np

from core.errors import ShardlabError
from core.pipeline_bubble.schedules.actions import Time
from core.pipeline_bubble.schedules.families import FAMILIES
from core.pipeline_bubble.schedules.serving import (
    Pipe,
    Traffic,
    chunked_prefill_time,
    filling_microbatches,
    random_traffic,
    steady_decode,
)
from core.scenario import Scenario
from core.units import grouped, percent, plain, seconds
from ui.pipeline_bubble.rows_schedules import (
    Compose,
    Serve,
    Versus,
    one_gpu,
    scenario_layouts,
    schedule_row,
)

CHUNKS_OF_A_PROMPT = 8
LOAD, SEQUENCES, TOKENS_EACH, SEED = Fraction(1, 2), 150, 12, 4
"""Random traffic: half of what one GPU could take, so many sequences of so many tokens, from this seed."""


@lru_cache(maxsize=64)
def low_traffic(stages: int) -> Traffic:
    """Random arrivals at half of what one GPU could take, met by the same model cut over `stages` GPUs.

    The unit of time is a token of one sequence on one GPU.
    """
    pipe = Pipe((Fraction(1, stages),) * stages)
    return random_traffic(pipe, float(LOAD / TOKENS_EACH), SEQUENCES, TOKENS_EACH, np.random.default_rng(SEED))


def fields(scenario: Scenario, versus: Versus, serve: Serve, compose: Compose) -> Mapping[str, str]:
    """Every number of the bench's prose. A schedule that refuses the sizes leaves dashes; its figure says why."""
    return {
        **_schedule_fields("first", versus.first, versus),
        **_schedule_fields("second", versus.second, versus),
        **_serve_fields(serve),
        **_prompt_and_traffic_fields(serve.stages),
        **_compose_fields(scenario, compose),
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


def _prompt_and_traffic_fields(stages: int) -> dict[str, str]:
    chunked = chunked_prefill_time(stages, CHUNKS_OF_A_PROMPT, 1)
    one, pipe = low_traffic(1), low_traffic(stages)
    return {
        "prompt_chunks": str(CHUNKS_OF_A_PROMPT),
        "prompt_whole": _ticks(CHUNKS_OF_A_PROMPT * stages),
        "prompt_chunked": _ticks(chunked),
        "prompt_gain": plain(float(CHUNKS_OF_A_PROMPT * stages / chunked)),
        "traffic_load": percent(float(LOAD), 0),
        "traffic_one": percent(one.utilisation),
        "traffic_pipe": percent(pipe.utilisation),
        "traffic_one_wait": plain(one.mean_token_time),
        "traffic_pipe_wait": plain(pipe.mean_token_time),
    }


def _compose_fields(scenario: Scenario, compose: Compose) -> dict[str, str]:
    try:
        found = scenario_layouts(scenario, compose)
    except ShardlabError:
        names = "soonest soonest_time most most_rate sequences prompt prompt_time"
        against = "one_time one_prompt deepest deepest_time deepest_prompt"
        return {f"compose_{name}": "–" for name in f"{names} {against}".split()}
    soonest = min(found, key=lambda layout: layout.itl_alone_s)
    most = max(found, key=lambda layout: layout.tokens_per_s)
    prompt = min(found, key=lambda layout: layout.ttft_s)
    one, deepest = one_gpu(scenario, compose), max(found, key=lambda layout: layout.pp_size)
    return {
        "compose_soonest": soonest.name,
        "compose_soonest_time": seconds(soonest.itl_alone_s),
        "compose_most": most.name,
        "compose_most_rate": grouped(round(most.tokens_per_s)),
        "compose_sequences": str(compose.sequences),
        "compose_prompt": prompt.name,
        "compose_prompt_time": seconds(prompt.ttft_s),
        "compose_one_time": seconds(one.itl_alone_s),
        "compose_one_prompt": seconds(one.ttft_s),
        "compose_deepest": deepest.name,
        "compose_deepest_time": seconds(deepest.itl_alone_s),
        "compose_deepest_prompt": seconds(deepest.ttft_s),
    }


def _ticks(count: Time | float) -> str:
    return f"{plain(float(count), 4)} tick{'' if count == 1 else 's'}"
