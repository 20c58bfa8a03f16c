"""What a published measurement should have taken: its terms at data-sheet speed, and its roofline.

The terms are a step's (core.steps.model), added up over what was run, so a prediction stays linear in a GPU's two
constants. B sequences asked for, C of them resident, S prompt tokens, O output tokens, p stages.
"""

from dataclasses import dataclass

from core.evidence.kinds import prompt_launch_s
from core.evidence.measurements import Measurement
from core.models.kv_cache import sequence_bytes
from core.models.weights import read_weight_bytes
from core.steps.launches import prompt_layers
from core.steps.mixed import added_terms
from core.steps.model import Efficiency, StepTerms, decode_terms, prefill_terms
from core.units import GIB

RUNTIME_BYTES = 1.5 * GIB
"""Activations, CUDA context and graphs on a rank. An assumption: startup logs print 1 to 3 GiB."""

MOST_RUNNING = 2048
"""Sequences that run at once where memory would hold more. Source: TensorRT-LLM's default maximum batch.

vLLM's is its GPU's (GpuSpec.vllm_sequences)."""

BURST_SHARE = 0.5
"""Of a burst that all run at once, the prompts that are still read while an average sequence already decodes. Those
of a burst that waits for room are read as others end, as in a closed loop."""


@dataclass(frozen=True)
class Prediction:
    """A measurement beside what it should have taken; a prompt alone launches so many plain layers."""

    measurement: Measurement
    terms: StepTerms
    roofline_s: float
    launches: float = 0.0

    @property
    def launch_s(self) -> float:
        """The least that its engine takes to launch a prompt; an engine that was compiled has none of it."""
        return self.launches * prompt_launch_s(
            self.measurement.engine, self.measurement.gpu, self.measurement.model
        )

    def predicted_s(self, efficiency: Efficiency, layer_launch_s: float | None = None) -> float:
        """The calibrated time, never under the roofline; a plain layer's launches may take another time."""
        launch_s = self.launch_s if layer_launch_s is None else self.launches * layer_launch_s
        return max(self.terms.step_s(efficiency), self.roofline_s, launch_s)


def prediction(measurement: Measurement) -> Prediction:
    """The terms of a measurement's quantity, and the least it can be.

        decode       D(C) + others' prompts a step, A·(C - 1)/O in a closed loop, half of it in a burst
        first token  P(1)
        run          P(B) + (O - 1)·D(C)·B/C
        saturated    D(C)/C + P(1)/O

    A prompt that is read in a step of others adds A to it: core.steps.mixed. Stages of a pipeline work on a
    microbatch each, so D and P are taken at B/p; a saturated pipeline has all of them busy. The roofline has
    data-sheet speed, free communication and no other prompts; where sequences share the cost of the weights, it
    has all the memory there is.
    """
    match measurement.quantity:
        case "decode":
            resident = _resident(measurement)
            prompts = _prompts_a_step(measurement, resident)
            step = _decode(measurement, resident)
            if prompts:
                step = step.plus(_added(measurement, resident).times(prompts))
            return Prediction(measurement, step, _decode(measurement, resident).roofline_s)
        case "first_token":
            prompt = _prefill(measurement, 1)
            launches = prompt_layers(measurement.model, measurement.dtype, measurement.group.tp_size)
            return Prediction(measurement, prompt, prompt.roofline_s / measurement.pp_size, launches)
        case "run":
            return _of_run(measurement)
        case "saturated":
            return _of_saturated(measurement)


def fits(measurement: Measurement) -> bool:
    """Whether a rank holds its weights and all sequences that were asked for; one, where none were counted."""
    return _room(measurement) >= (measurement.batch or 1)


def holds_weights(measurement: Measurement) -> bool:
    """Whether the ranks that a row names hold the weights, with nothing else in their memory."""
    return _free_bytes(measurement, 1.0) >= 0


def _of_run(measurement: Measurement) -> Prediction:
    asked = measurement.batch or 1
    resident, most = _resident(measurement), _most_resident(measurement)
    steps = measurement.output_tokens - 1
    decode = _decode(measurement, resident).times(steps * asked / resident)
    prompts = _prefill(measurement, asked)
    least = prompts.roofline_s / measurement.pp_size + steps * asked / most * _decode(measurement, most).roofline_s
    microbatches = min(asked, measurement.pp_size)
    return Prediction(
        measurement,
        prompts.times((microbatches + measurement.pp_size - 1) / measurement.pp_size).plus(decode),
        least,
    )


def _of_saturated(measurement: Measurement) -> Prediction:
    resident, most = _resident(measurement), _most_resident(measurement)
    share, outputs = 1 / measurement.pp_size, measurement.output_tokens
    token = (
        _decode(measurement, resident).times(share / resident).plus(_prefill(measurement, 1).times(share / outputs))
    )
    work = _decode(measurement, most).times(1 / most).plus(_prefill(measurement, most).times(1 / most / outputs))
    return Prediction(measurement, token, share * work.roofline_s)


def _decode(measurement: Measurement, resident: float) -> StepTerms:
    """One step of the resident sequences at their average context; a microbatch of them in a pipeline."""
    batch = max(1.0, resident / measurement.pp_size)
    context = measurement.prompt_tokens + measurement.output_tokens / 2
    return decode_terms(
        measurement.model,
        measurement.gpu,
        measurement.group,
        batch,
        context,
        measurement.dtype,
        measurement.kv_dtype,
    )


def _prefill(measurement: Measurement, prompts: float) -> StepTerms:
    batch = max(1.0, prompts / measurement.pp_size)
    return prefill_terms(
        measurement.model, measurement.gpu, measurement.group, measurement.prompt_tokens, batch, measurement.dtype
    )


def _added(measurement: Measurement, resident: float) -> StepTerms:
    """What one prompt adds to a step of the resident sequences."""
    batch = max(1.0, resident / measurement.pp_size)
    return added_terms(
        measurement.model, measurement.gpu, measurement.group, measurement.prompt_tokens, batch, measurement.dtype
    )


def _prompts_a_step(measurement: Measurement, resident: float) -> float:
    """How many other prompts are read for each step of a sequence: one each time another begins."""
    if measurement.arrival == "static":
        return 0.0
    held = min(1.0, resident / (measurement.batch or resident)) if measurement.arrival == "burst" else 0.0
    return (resident - 1) / measurement.output_tokens * (1 - (1 - BURST_SHARE) * held)


def _room(measurement: Measurement) -> float:
    """Whole sequences that a rank has room for; below 0 where its weights alone are too many."""
    free = _free_bytes(measurement, measurement.utilisation) - RUNTIME_BYTES
    return free / _sequence_bytes(measurement, measurement.prompt_tokens + measurement.output_tokens)


def _free_bytes(measurement: Measurement, utilisation: float) -> float:
    ranks = measurement.group.tp_size * measurement.pp_size
    weights = read_weight_bytes(measurement.model, measurement.dtype, 1e9) / ranks
    return utilisation * measurement.gpu.usable_memory_bytes - weights


def _sequence_bytes(measurement: Measurement, tokens: float) -> float:
    """Cache of a sequence on a rank: a layer with a window keeps that much of it, and a state is one."""
    return (
        sequence_bytes(measurement.model, measurement.group.tp_size, tokens, measurement.kv_dtype)
        / measurement.pp_size
    )


def _resident(measurement: Measurement) -> float:
    """Sequences that run at once: those asked for, as far as memory and the engine's limit allow; at least one."""
    served = measurement.engine == "vllm" and measurement.quantity != "run"
    limit = measurement.gpu.vllm_sequences if served else MOST_RUNNING
    return float(max(1.0, min(measurement.batch or limit, limit, _room(measurement))))


def _most_resident(measurement: Measurement) -> float:
    """The same with nothing held back, and sequences of average length."""
    average = measurement.prompt_tokens + measurement.output_tokens / 2
    whole = _free_bytes(measurement, 1.0) / _sequence_bytes(measurement, average)
    return float(max(1.0, min(measurement.batch or whole, whole)))
