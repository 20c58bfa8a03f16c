"""The log reader's prose, in numbers."""

from collections.abc import Mapping

from core.models.kv_cache import BLOCK_TOKENS, kv_bytes_per_token_per_rank
from core.models.loaded_weights import OWN_SEGMENT, SEGMENT_ROUND, UNSPLIT, loaded_weight_bytes, stages
from core.models.parameters import VOCAB_PADDING
from core.scenario import Scenario
from core.startup_log.basis import TOLERANCE
from core.startup_log.exercises import Exercise, exercises, widths_gib
from core.startup_log.records import Report
from core.startup_log.weight_rules import LOGGED_WEIGHTS, RULES, steps
from core.units import GIB
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import binary_bytes, local, significant

_ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}


def exercise(name: str, one: Exercise) -> str:
    """A block of an exercise: its title, what is noted beside its log, or an answer by its letter."""
    return said("startup_log", f"exercise.{one.key}{name}", one, **one.values)


def answers(one: Exercise) -> dict[str, str]:
    """What may be answered, by the letter that an address holds."""
    return {letter: exercise(f"_{letter}", one) for letter in "abc"}


def log(one: Exercise) -> str:
    """Its lines, after what was noted beside them."""
    return f"# {exercise('_noted', one)}\n{one.log}" if one.key == "heavier" else one.log


@kept
def fields(scenario: Scenario, limit_characters: int) -> Mapping[str, object]:
    """What every scene may say."""
    first, last = (max(step.residual_percent for step in steps() if step.number == n) for n in (1, len(RULES)))
    return {
        "tolerance": TOLERANCE,
        "limit_characters": limit_characters,
        "logs": len(LOGGED_WEIGHTS),
        "residual_first": local(f"{significant(first, 2)} %"),
        "residual_last": local(f"{significant(last, 2)} %"),
        "own_segment": OWN_SEGMENT,
        "segment_step": SEGMENT_ROUND,
        "unsplit": UNSPLIT,
        "padding": VOCAB_PADDING,
        "block": BLOCK_TOKENS,
        "example_gpus": said("startup_log", "says.example_gpus"),
        "sources": "; ".join(
            said("startup_log", "says.tp", key=key, tp=tp, source=source) for key, tp, _, source in LOGGED_WEIGHTS
        ),
        "bf16": "bf16",
        **dict(zip(("bf16_gib", "one_byte_gib", "fp8_gib"), widths_gib(), strict=True)),
        **{one.key: one for one in exercises()},
        **{f"{one.key}_solution": answers(one)[one.answer] for one in exercises()},
        **_scenario(scenario),
    }


def _scenario(scenario: Scenario) -> Mapping[str, str]:
    """The scenario's model on one rank of the first stage; a refusal of core's is raised where it is shown."""
    spec, tp_size = scenario.model_spec, scenario.tp
    rank_gib = block_bytes = "–"
    try:
        stage = stages(spec, min(scenario.pp, spec.num_hidden_layers))[0]
        rank_gib = local(f"{loaded_weight_bytes(spec, tp_size, stage) / GIB:.4f} GiB")
        token_bytes = kv_bytes_per_token_per_rank(spec, tp_size, first_layer=stage.first_layer, layers=stage.layers)
        block_bytes = binary_bytes(BLOCK_TOKENS * token_bytes)
    except ValueError:
        rank_gib = "–"
    return {"model": spec.name, "tp": str(tp_size), "rank_gib": rank_gib, "block_bytes": block_bytes}


def report(report: Report) -> Mapping[str, object]:
    """What a log is about and how it came out."""
    pp_size = f", PP={report.pp_size}" if (report.pp_size or 1) > 1 else ""
    return {
        "engine": f"{_ENGINES.get(report.engine or '', '?')} {report.version or ''}".strip(),
        "log_model": report.model.name if report.model else said("startup_log", "says.model_catalog_does_not"),
        "sizes": f"TP={report.tp_size}{pp_size}",
        **{verdict: report.count(verdict) for verdict in ("ok", "off", "unexplained")},
    }
