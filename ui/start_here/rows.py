"""Start here: what its figures show of the labs' own model, GPU and links, whatever the scenario is."""

from dataclasses import dataclass

from core.catalog import model as find_model
from core.comm_cost.bill import allreduce_payload_bytes
from core.course.start_here import Pass, forward_pass, gpus_to_hold, message, ridge_tokens
from core.models.weights import held_weight_bytes
from core.scenario import Scenario
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.units import GB, decimal_bytes, seconds

LABS_OWN = Scenario()
RANKS = 4
"""Ranks of the drawn collectives: enough for a ring, few enough to follow."""

NODE_GPUS = 2
LARGE = find_model("llama-3-70b")
GPUS_SHOWN = (1, 2, 4, 8)
CURVE_TOKENS = tuple(2.0 ** (step / 4) for step in range(49))


def model() -> ModelSpec:
    """The labs' model."""
    return LABS_OWN.model_spec


def gpu() -> GpuSpec:
    """The labs' GPU."""
    return LABS_OWN.gpu_spec


def links() -> tuple[LinkSpec, LinkSpec]:
    """The labs' two links: inside a node, between nodes."""
    return LABS_OWN.link_spec, LABS_OWN.network_spec


def short_name(link: LinkSpec) -> str:
    """A link's name without the remark that it is a rough one."""
    return link.name.split(",")[0]


def payload_bytes() -> float:
    """One token's row of activations: what the labs send."""
    return allreduce_payload_bytes(1, model().hidden_size)


@dataclass(frozen=True)
class Bar:
    """One bar of two parts, in one unit, and its sum in words. A bar of one part has 0 for the second."""

    name: str
    first: float
    second: float
    in_words: str


def message_bars() -> list[Bar]:
    """One row of activations over each link, in µs: latency, then bandwidth."""
    sent = [(link, message(payload_bytes(), link)) for link in links()]
    return [
        Bar(short_name(link), 1e6 * one.latency_s, 1e6 * one.bandwidth_s, seconds(one.total_s))
        for link, one in sent
    ]


def one_token() -> Pass:
    """A decode step of one sequence."""
    return forward_pass(model(), gpu(), 1)


def token_bars() -> list[Bar]:
    """The two times of one token, in ms."""
    token = one_token()
    return [
        Bar("Read every matrix", 1e3 * token.memory_s, 0.0, seconds(token.memory_s)),
        Bar("Multiply by every weight", 1e3 * token.arithmetic_s, 0.0, seconds(token.arithmetic_s)),
    ]


@dataclass(frozen=True)
class PassPoint:
    """One of a pass's two times, at one number of tokens."""

    engine: str
    tokens: float
    time_ms: float


@dataclass(frozen=True)
class PassMark:
    """A number of tokens worth pointing at."""

    tokens: float
    name: str


def pass_curve() -> list[PassPoint]:
    """Both times of a pass over 1 to 4096 tokens."""
    passes = [forward_pass(model(), gpu(), tokens) for tokens in CURVE_TOKENS]
    return [
        *(PassPoint("memory", one.tokens, 1e3 * one.memory_s) for one in passes),
        *(PassPoint("arithmetic", one.tokens, 1e3 * one.arithmetic_s) for one in passes),
    ]


def pass_marks() -> list[PassMark]:
    """Decode, the ridge, and the labs' prompt."""
    return [
        PassMark(1, "decode"),
        PassMark(ridge_tokens(gpu()), "equal"),
        PassMark(LABS_OWN.prompt_tokens, "prefill"),
    ]


def prompt() -> Pass:
    """A prefill of the labs' prompt."""
    return forward_pass(model(), gpu(), LABS_OWN.prompt_tokens)


def fewest_gpus() -> int:
    """GPUs that hold the large model's weights."""
    return gpus_to_hold(LARGE, gpu())


@dataclass(frozen=True)
class Share:
    """What each of `gpus` GPUs holds of the large model, and how long it reads it."""

    gpus: int
    weights_gb: float
    fits: bool
    name: str
    in_words: str


def shares() -> list[Share]:
    """The large model dealt evenly over 1, 2, 4 and 8 GPUs, talk left out."""
    rows = []
    for gpus in GPUS_SHOWN:
        held = held_weight_bytes(LARGE) / gpus
        fits = gpus >= fewest_gpus()
        reads = f"read in {seconds(held / gpu().memory_bytes_per_s)}"
        name = "1 GPU" if gpus == 1 else f"{gpus} GPUs"
        in_words = f"{decimal_bytes(held)} each, {reads if fits else 'does not fit'}"
        rows.append(Share(gpus, held / GB, fits, name, in_words))
    return rows
