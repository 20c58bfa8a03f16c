"""What a placement takes for granted, said before its answer: the model, its width, the requests, the links."""

from collections.abc import Mapping

from core.errors import Remark, remark
from core.evidence.accuracy import accuracy_of, first_band, widens
from core.evidence.calibration import COMPILED_ROWS, calibration_of, prompt_efficiency
from core.evidence.kinds import layer_kind
from core.evidence.measurements import Quantity
from core.models.compressed_cache import has_compressed_layers
from core.models.kv_cache import (
    held_bytes,
    kept_tokens,
    kv_bytes_per_token,
    sequence_bytes,
    state_bytes_per_sequence,
)
from core.models.parameters import total_parameters
from core.placement.plan import Question
from core.placement.preflight_checks import ENGINE_NAMES
from core.placement.trace import links_of, targets
from core.specs import GpuSpec, ModelSpec


def assumed(question: Question) -> list[Remark]:
    """What was asked and what was taken where nothing was said, in the order in which a reader doubts it."""
    model, demand, cluster = question.model, question.demand, question.cluster
    own = "own" if demand.dtype.partition("-")[0] == model.weight_dtype else "other"
    parts = [
        remark(
            "placement.assumed_model",
            name=model.aliases[0] if model.aliases and model.aliases[0] != model.name else model.name,
            parameters=total_parameters(model),
            dtype=demand.dtype,
            own=remark(f"placement.width_{own}", dtype=model.weight_dtype),
        ),
        remark(
            f"placement.assumed_cache{'' if model.cache_dtype == 'bf16' else '_asked'}",
            kv=kv_bytes_per_token(model, demand.kv_dtype),
            kv_dtype=demand.kv_dtype,
            own=remark(
                f"placement.width_{'own' if demand.kv_dtype == model.cache_dtype else 'other'}",
                dtype=model.cache_dtype,
            ),
        ),
    ]
    if model.vision_tower:
        code = "assumed_vision" if model.vision_parameters else "assumed_vision_uncounted"
        parts.append(remark(f"placement.{code}", parameters=model.vision_parameters))
    if states := state_bytes_per_sequence(model):
        parts.append(remark("placement.assumed_states", states=states))
    if has_compressed_layers(model):
        step_tokens = cluster.gpu.vllm_batched_tokens
        asked = model, 1, demand.sequence_tokens, demand.kv_dtype, step_tokens
        parts.append(
            remark(
                "placement.assumed_compressed",
                demand=demand,
                step_tokens=step_tokens,
                held=held_bytes(*asked),
                read=sequence_bytes(*asked),
            )
        )
    elif model.windowed_layers:
        kept = kept_tokens(model, demand.sequence_tokens, cluster.gpu.vllm_batched_tokens)
        parts.append(remark("placement.assumed_windows", model=model, fraction=kept / demand.sequence_tokens))
    prefix = remark("placement.prefix" if demand.cached_tokens else "placement.no_prefix", demand=demand)
    draft = remark("placement.draft" if demand.draft_tokens else "placement.no_draft", demand=demand)
    parts.append(remark("placement.assumed_requests", demand=demand, prefix=prefix, draft=draft))
    parts.append(remark("placement.assumed_memory", budget=question.budget))
    parts.append(links_of(cluster))
    parts.append(_loop(question))
    return [*parts, _judged(question), *held_to(question.cluster.gpu, question.model), *_band(question)]


def _loop(question: Question) -> Remark:
    """Which engine's steps the times are of, and what a loop that was compiled whole takes of a layer."""
    gpu, model, engine = question.cluster.gpu, question.model, question.engine
    served, compiled = (calibration_of(gpu, model, one).efficiency.layer_floor_s for one in (engine, "gpt-fast"))
    code = "compiled" if question.compiled else "served" if question.efficiency is None else "own"
    return remark(
        f"placement.loop_{code}",
        engine=ENGINE_NAMES[engine],
        served_s=served,
        compiled_s=compiled,
        rows=COMPILED_ROWS,
    )


def _judged(question: Question) -> Remark:
    """Which target was judged, and of what: the mean of a full house, or a percentile at a rate."""
    demand = question.demand
    if demand.slo_itl_s is None and demand.slo_ttft_s is None:
        return remark("placement.judged_nothing", demand=demand)
    code = "placement.judged_at_rate" if demand.requests_per_s else "placement.judged"
    return remark(code, demand=demand, targets=targets(question))


def held_to(gpu: GpuSpec, model: ModelSpec) -> list[Remark]:
    """How far predicted times were off where they could be held to published ones: between tokens, first token."""
    tested: tuple[tuple[Quantity, str], ...] = (("decode", "between"), ("first_token", "first"))
    reasons = []
    for quantity, name in tested:
        errors = accuracy_of(gpu, model, quantity)
        if errors is None:
            reasons.append(
                remark(
                    f"placement.untested_{name}",
                    gpu=gpu,
                    kind=remark(f"placement.kind_{layer_kind(model)}"),
                    band=first_band(gpu, model),
                )
            )
            continue
        code = f"placement.{'once' if errors.n == 1 else 'tested'}_{name}"
        reasons.append(remark(code, errors=errors, band=first_band(gpu, model)))
    return reasons


def _band(question: Question) -> list[Remark]:
    """The band that is read round a decode time, and why it is wider than a class's."""
    model, gpu, band, reasons = question.model, question.cluster.gpu, question.band, list[Remark]()
    code = "placement.assumed_band" if band.tested else "placement.assumed_band_untested"
    if question.refitted_band:
        code = "placement.assumed_band_own"
    elif widens(gpu, model):
        reasons.append(remark("placement.assumed_widened", gpu=gpu, dtype=model.weight_dtype))
    return [*reasons, remark(code, low=band.low, high=band.high)]


def assumptions(question: Question) -> Mapping[str, object]:
    """The same as numbers, in SI, for a program."""
    model, demand, cluster, budget = question.model, question.demand, question.cluster, question.budget
    band = question.band
    return {
        "parameters": total_parameters(model),
        "dtype": demand.dtype,
        "kv_dtype": demand.kv_dtype,
        "kv_bytes_per_token": kv_bytes_per_token(model, demand.kv_dtype),
        "state_bytes_per_sequence": state_bytes_per_sequence(model),
        "prompt_tokens": demand.prompt_tokens,
        "output_tokens": demand.output_tokens,
        "concurrency": demand.concurrency,
        "prefix_fraction": demand.prefix_fraction,
        "draft_tokens": demand.draft_tokens,
        "timed_engine": question.timed_engine,
        "link": cluster.link.name,
        "network": cluster.network.name if cluster.nodes > 1 else None,
        "usable_bytes": budget.usable_bytes,
        "utilisation": budget.utilisation,
        "overhead_bytes": budget.overhead.total_bytes,
        "efficiency": question.efficiency or calibration_of(cluster.gpu, model, question.timed_engine).efficiency,
        "prompt_efficiency": prompt_efficiency(cluster.gpu, model, question.efficiency),
        "errors": {name: accuracy_of(cluster.gpu, model, name) for name in ("decode", "first_token")},
        "band": band,
        "first_token_band": first_band(cluster.gpu, model),
    }
