"""The log reader's prose, in numbers."""

from collections.abc import Mapping

from core.models.kv_cache import BLOCK_TOKENS
from core.models.loaded_weights import loaded_weight_bytes, stages
from core.models.parameters import VOCAB_PADDING
from core.scenario import Scenario
from core.startup_log.basis import TOLERANCE
from core.startup_log.records import Report
from core.units import GIB, binary_bytes, grouped, percent, significant
from ui.startup_log import rows

_ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}


def fields(scenario: Scenario) -> Mapping[str, str]:
    """What every scene may say."""
    found = rows.steps()
    last = max(step.residual_percent for step in found if step.number == len(rows.RULES))
    first = max(step.residual_percent for step in found if step.number == 1)
    return {
        "tolerance": percent(TOLERANCE),
        "limit_characters": grouped(1_000_000),
        "logs": str(len(rows.LOGGED_WEIGHTS)),
        "residual_first": f"{significant(first, 2)} %",
        "residual_last": f"{significant(last, 2)} %",
        "small": "10 MiB",
        "segment": "2 MiB",
        "unsplit": "1 MiB",
        "padding": str(VOCAB_PADDING),
        "block": str(BLOCK_TOKENS),
        "example_gpus": "two A100",
        "sources": "; ".join(f"{key} at TP={tp}: {source}" for key, tp, _, source in rows.LOGGED_WEIGHTS),
        **_scenario(scenario),
        **_exercises(),
    }


def _scenario(scenario: Scenario) -> Mapping[str, str]:
    """The scenario's model on one rank; a refusal of core's is raised where it is shown."""
    spec, tp_size = scenario.model_spec, scenario.tp
    refused = {"rank_gib": "–", "block_bytes": "–"}
    try:
        stage = stages(spec, min(scenario.pp, spec.num_hidden_layers))[0]
        size = loaded_weight_bytes(spec, tp_size, stage) / GIB
        values = {"rank_gib": f"{size:.4f} GiB", "block_bytes": binary_bytes(rows.block_bytes(spec, tp_size))}
    except ValueError:
        values = refused
    return {"model": spec.name, "tp": str(tp_size), **values}


def _exercises() -> Mapping[str, str]:
    """Each exercise's right answer and source."""
    bf16, bytes_alone, fp8 = rows.widths_gib()
    widths = {
        "bf16": "bf16",
        "bf16_gib": f"{bf16:.2f} GiB",
        "one_byte_gib": f"{bytes_alone:.2f} GiB",
        "fp8_gib": f"{fp8:.2f} GiB",
    }
    return widths | {
        name: value
        for exercise in rows.exercises()
        for name, value in (
            (f"answer_{exercise.key}", exercise.answer),
            (f"source_{exercise.key}", exercise.source),
        )
    }


def report(found: Report) -> Mapping[str, str]:
    """What a log is about and how it came out."""
    counts = {verdict: found.count(verdict) for verdict in ("ok", "off", "unexplained")}
    sizes = [f"TP={found.tp_size}"] + ([f"PP={found.pp_size}"] if (found.pp_size or 1) > 1 else [])
    return {
        "engine": f"{_ENGINES[found.engine]} {found.version or ''}".strip(),
        "log_model": found.model.name if found.model else "a model the catalog does not know",
        "sizes": ", ".join(sizes),
        "ok": str(counts["ok"]),
        "off": str(counts["off"]),
        "unexplained": str(counts["unexplained"]),
    }
