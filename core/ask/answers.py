"""A question read, recognised and answered: the sum that decides it, and a link that opens it filled in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.ask import compared, sums
from core.ask.kinds import recognised
from core.ask.reading import Asked
from core.errors import Remark, ShardlabError, UnknownNameError, remark
from core.scenario import Scenario
from core.specs import DTYPE_BYTES

ANSWERS: Mapping[str, Callable[[Asked], list[Remark]]] = {
    "which_tp": sums.which_tp,
    "tp_slower": compared.tp_slower,
    "fits": sums.fits,
    "fits_context": sums.fits_context,
    "oom": sums.oom,
    "how_many_gpus": sums.how_many_gpus,
    "users": sums.users,
    "kv_tokens": sums.kv_tokens,
    "heads": sums.heads,
    "pp_over_nodes": compared.pp_over_nodes,
    "tp_over_nodes": compared.tp_over_nodes,
    "pp_or_tp": compared.pp_or_tp,
    "tp_or_dp": compared.tp_or_dp,
    "replicas_or_tp": compared.replicas_or_tp,
    "need_nvlink": compared.need_nvlink,
    "tokens_per_s": sums.tokens_per_s,
    "first_token": sums.first_token,
    "width_speed": compared.width_speed,
    "hang_interface": sums.hang_interface,
    "hang_p2p": sums.hang_p2p,
    "hang": sums.hang,
}
"""Every question, in the order in which they are listed."""

_PLACES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "tp_slower": ("comm_cost", {"bill_scene": "bench"}),
    "heads": ("sharding_math", {"shard_scene": "bench"}),
    "need_nvlink": ("comm_cost", {"bill_scene": "bench"}),
    "pp_or_tp": ("placement", {"place_scene": "compare"}),
    "replicas_or_tp": ("placement", {"place_scene": "compare"}),
    "tp_or_dp": ("placement", {"place_scene": "compare", "place_experts": "true"}),
    "hang_interface": ("clinic", {"clinic_scene": "hangs"}),
    "hang_p2p": ("clinic", {"clinic_scene": "hangs"}),
    "hang": ("clinic", {"clinic_scene": "hangs"}),
}
"""The page that a question's answer can be tried on, and what opens its scene; the planner for the others."""


@dataclass(frozen=True)
class Link:
    """A page by its stem and the query that opens it with the asker's own model and GPUs."""

    stem: str
    query: Mapping[str, str]


@dataclass(frozen=True)
class Answered:
    """What was understood, the sum that decides it, and where to go on.

    `kind` is "" where no question was recognised; `others` are kinds that it may have been as well.
    """

    kind: str
    asked: Asked
    understood: Remark | None
    lines: tuple[Remark, ...] = ()
    links: tuple[Link, ...] = ()
    command: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def answered(asked: Asked, kind: str = "") -> Answered:
    """The answer to a question as it was read; of another kind than its words say, where one is given.

    Raises UnknownNameError for a kind that there is not.
    """
    if kind and kind not in ANSWERS:
        raise UnknownNameError("kind of question", kind, ANSWERS)
    kinds = (kind,) if kind else recognised(asked.text, asked.named)
    if not kinds:
        return Answered("", asked, None)
    try:
        lines = tuple(ANSWERS[kinds[0]](asked))
    except ShardlabError as refusal:
        lines = (remark("ask.refused", error=str(refusal)),)
    understood = remark(
        f"ask.understood{'_nodes' if asked.nodes > 1 else ''}",
        asked=asked,
        model=asked.model,
        width=asked.width,
        usual=_usual(asked),
    )
    hangs = kinds[0].startswith("hang")
    command = () if hangs else plan_command(asked)
    return Answered(kinds[0], asked, understood, lines, links(asked, kinds[0]), command, kinds[1:])


def _usual(asked: Asked) -> Remark | None:
    """What was not said, and is taken as usual."""
    models = {"size": "ask.usual_size", "near": "ask.usual_near"}
    taken = models.get(asked.model_is, "ask.usual_model")
    codes = {"model": taken, "gpu": "ask.usual_gpu", "gpus": "ask.usual_gpus"}
    names = tuple(remark(codes[name]) for name in asked.usual)
    return remark("ask.usual", names=names) if names else None


def links(asked: Asked, kind: str) -> tuple[Link, ...]:
    """The page that belongs to a kind, and the planner; each with the asker's model and GPUs."""
    stem, query = _PLACES.get(kind, ("placement", {"place_scene": "plan"}))
    own = Link(stem, {**_scenario(asked), **(_planner(asked) if stem == "placement" else {}), **query})
    planner = Link("placement", {**_scenario(asked), **_planner(asked), "place_scene": "plan"})
    return (own,) if stem in ("placement", "clinic") else (own, planner)


def _scenario(asked: Asked) -> dict[str, str]:
    """What of it every page shares, as the address writes it."""
    demand = asked.question().demand
    width = asked.dtype if asked.dtype in DTYPE_BYTES else None
    size = max(asked.tp_sizes) if asked.tp_sizes else 2 ** (min(asked.gpus_per_node, 8).bit_length() - 1)
    scenario = Scenario(
        model=asked.model.key,
        gpu=asked.gpu.key,
        tp=min(64, size),
        link=asked.gpu.link_key,
        network=asked.network.key if asked.network else Scenario().network,
        prompt_tokens=min(demand.prompt_tokens, 1_048_576),
        weight_dtype=width or Scenario().weight_dtype,
    )
    return scenario.to_query()


def _planner(asked: Asked) -> dict[str, str]:
    sizes = {"place_gpus": asked.gpus_per_node, "place_nodes": asked.nodes, "place_concurrency": asked.at_once or 1}
    return {name: str(value) for name, value in sizes.items()}


def plan_command(asked: Asked) -> tuple[str, ...]:
    """The same asked of `shardlab plan`, word by word."""
    served = asked.model.aliases[0] if asked.model_is == "said" and asked.model.aliases else asked.model.key
    words = ["plan", "--model", served, "--gpu", asked.gpu.key, "--gpus-per-node", str(asked.gpus_per_node)]
    words += ["--nodes", str(asked.nodes)] if asked.nodes > 1 else []
    words += ["--network", asked.network.key] if asked.network and asked.nodes > 1 else []
    words += ["--dtype", asked.dtype] if asked.dtype else []
    words += ["--prompt", str(asked.question().demand.prompt_tokens)] if asked.context_tokens else []
    words += ["--concurrency", str(asked.at_once)] if asked.at_once else []
    return tuple(words)
