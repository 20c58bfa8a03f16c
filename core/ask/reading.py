"""What a question says of its machine: plain words matched to rows of the catalog, counts and sizes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.catalog import GPUS, LINKS, MODELS
from core.catalog import gpu as find_gpu
from core.errors import three_nearest
from core.models.checkpoint import named_checkpoint
from core.models.parameters import total_parameters
from core.placement.asked import Machine, question_of, usual_cache, usual_width
from core.placement.demand import Demand
from core.placement.plan import Question
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.text.numbers import figure, whole

MOST_CHARACTERS = 2000
"""A question is a sentence or two."""
MOST_WORDS = 8
"""Of a name: `Qwen 3 30B A3B Instruct 2507`."""
USUAL_MODEL, USUAL_GPU, USUAL_GPUS, MOST_GPUS = "llama-3.1-70b", "h100-sxm", 8, 256
NEAR = 0.08
"""A size is stood for by a model that is called by it, or whose parameters come this close."""
_SPLIT = re.compile(r"[^\w.+]+|_")
_NUMBERS = (
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    ("un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce"),
)
_ONE = ("a", "single", "una", "uno")
_TWO = ("dual", "second", "segunda", "both", "ambas")
_WORDS = "|".join(word for words in (*_NUMBERS, _ONE, _TWO) for word in words)
_COUNT = rf"(\d{{1,4}}|(?<!per )(?<!por )(?<!/ )(?:{_WORDS}))"
_TP = re.compile(r"(?:\btp|tensor[- ]parallel(?:ism)?(?:[- ]size)?)[ =:(of-]{0,5}(\d{1,3})\b")
_PP = re.compile(r"(?:\bpp|pipeline[- ]parallel(?:ism)?(?:[- ]size)?)[ =:(of-]{0,5}(\d{1,3})\b")
_BESIDE = re.compile(rf"\b{_COUNT} gpus?\b.{{0,40}}\bthan\b.{{0,10}}?\b{_COUNT}(?: gpus?\b)?")
"""`2 GPUs are slower than one`."""
_MACHINES = r"(?:nodes?|machines?|servers?|hosts?|boxes|nodos?|máquinas?|servidor(?:es)?)"
_NODES = re.compile(rf"\b{_COUNT}[ -]{_MACHINES}\b")
_EACH = re.compile(
    rf"\b{_MACHINES},? (?:of|with|x|having|de|con|(?:with )?each(?: with| of| having)?|cada uno(?: con)?)"
    rf" {_COUNT}\b(?! ?g(?:be|b|bit|bps|ig)\b)"
    rf"|\b{_COUNT} (?!{_MACHINES}\b)(?:\w+ )?(?:each|per node|cada uno|por nodo)\b"
)
_GPU_COUNT = re.compile(rf"\b{_COUNT}[ -]?(?:x|×)?[ -]?(?:gpus?|cards?|tarjetas?)\b")
_AFTER = re.compile(r"(?: ?gb)? ?[x×*] ?(\d{1,3})\b(?! ?(?:gb|g\b|ti\b))")
"""`5090 x 2`."""
_CARD = re.compile(
    r"\b(?:rtx|gtx|geforce|quadro|tesla|radeon|instinct|arc|gaudi)(?: [a-z]{1,8}){0,2} ?[a-z]{0,2}\d{2,4}\w{0,6}"
)
"""What only a GPU is called, whether or not it is in the catalog."""
_BEFORE = re.compile(rf"\b{_COUNT} ?(?:x|×|\*)? ?(?:nvidia |amd |tesla |rtx |geforce |instinct )*$")
_TOKENS = re.compile(
    r"\b(\d{1,7}(?:[.,]\d{1,3})?) ?(k|m)?(?: de)?[ -]?(?:tokens?|contexto?|ctx|prompts?|sequence|in\b)"
    r"|(?:context|ctx|prompts?|max[-_ ]model[-_ ]len|length)[ =:ofde-]{0,6}(\d{1,7}(?:[.,]\d{1,3})?) ?(k|m)?\b"
)
_PROMPT = re.compile(r"prompts?|\bin$")
_AT_ONCE = re.compile(
    rf"\b{_COUNT} ?(?:concurrent )?(?:users?|requests?|sequences|streams|chats|clients|sessions|usuarios?"
    r"|peticiones|secuencias|sesiones)\b"
)
_GLUED = re.compile(r"\b(\d{1,4}) ?[x×*] ?(?=[a-z0-9])(?!\d{1,3}b\b)")
"""`8xH200`, but not `8x7B`."""
_SIZE = re.compile(r"\b(\d{1,4}(?:\.\d)?) ?b\b")
_WIDTHS: tuple[tuple[str, str], ...] = (
    (r"\bnvfp4\b", "nvfp4"),
    (r"\bmxfp4\b", "mxfp4"),
    (r"\bfp8\b", "fp8"),
    (r"\bint8\b|\bw8a8\b|\b8[- ]?bits?\b", "int8"),
    (r"\bint4\b|\bawq\b|\bgptq\b|\bq4\w*|\b4[- ]?bits?\b|\bfour bits?\b", "int4"),
    (r"\bbf16\b|\bbfloat16\b|\b16[- ]?bits?\b", "bf16"),
    (r"\bfp16\b|\bfloat16\b", "fp16"),
)
_NETWORKS: tuple[tuple[str, str], ...] = (
    (r"\b(?:400|4x100) ?g\w*ethernet|\broce\b", "roce-400g"),
    (r"\b(\d{1,3}) ?(?:gbe|g(?:b|bit|bps)?[ -]?ethernet)", "ethernet"),
    (r"\bhdr\b", "ib-hdr"),
    (r"\bndr\b|\binfiniband\b", "ib-ndr"),
    (r"\befa\b", "efa-p5"),
    (r"\bethernet\b", "ethernet-10g"),
)
Named = Literal["said", "near", "size", "usual"]
_SAID: Named = "said"


@dataclass(frozen=True)
class Asked:
    """What a question says; what it leaves out is as usual, and `usual` names that.

    `model_is` says whether the model was named, is the nearest to what was, stands for a size, or is the usual one.
    """

    text: str
    model: ModelSpec
    model_is: Named
    gpu: GpuSpec
    gpus_per_node: int
    nodes: int
    tp_sizes: tuple[int, ...] = ()
    pp_sizes: tuple[int, ...] = ()
    dtype: str | None = None
    context_tokens: int | None = None
    at_once: int | None = None
    network: LinkSpec | None = None
    usual: tuple[str, ...] = ()

    @property
    def gpus(self) -> int:
        return self.gpus_per_node * self.nodes

    @property
    def named(self) -> bool:
        """Whether a model and a GPU were said: together they ask how to serve the one on the other."""
        return self.model_is != "usual" and "gpu" not in self.usual

    @property
    def width(self) -> str:
        """The weights' width: as it was said, else the checkpoint's own."""
        return self.dtype or usual_width(self.model, self.gpu)

    def question(self, at_once: int | None = None, experts: bool = False, dtype: str | None = None) -> Question:
        """The same for the planner; at another number of sequences, or in another width, where one is given."""
        length = self.context_tokens
        output = Demand().output_tokens
        demand = Demand(
            concurrency=at_once or self.at_once or 1,
            prompt_tokens=max(1, length - output)
            if length and length > output
            else length or Demand().prompt_tokens,
            output_tokens=output,
            dtype=dtype or self.width,
            kv_dtype=usual_cache(self.model, self.gpu),
        )
        machine = Machine(self.gpu, self.gpus_per_node, self.nodes, network=self.network)
        return question_of(self.model, machine, demand, expert_parallel=experts)


def read_question(text: str, model: str | None = None, gpu: str | None = None, gpus: int | None = None) -> Asked:
    """What a text says of its machine. What is given besides counts before what the text says.

    Raises UnknownNameError for a model or GPU that is given and that the catalog has not, and for a card that the
    text names: another one's memory and speed would answer another question.
    """
    lowered = _GLUED.sub(r"\1 x ", " ".join(text[:MOST_CHARACTERS].lower().split()))
    usual = []
    row, place = _gpu_in(lowered)
    if not row and not gpu and (unknown := _CARD.search(lowered)):
        find_gpu(unknown[0])
    card = GPUS[row] if gpu is None and row else find_gpu(gpu or USUAL_GPU)
    found = (named_checkpoint(model), _SAID) if model else _model_in(_without(lowered, place))
    spec, how = found
    per_node, nodes, counted = _machine(lowered, place, card)
    if gpus is not None:
        per_node, counted = max(1, gpus // nodes), True
    usual += [] if how == "said" else ["model"]
    usual += [] if row or gpu else ["gpu"]
    usual += [] if counted else ["gpus"]
    return Asked(
        text=text,
        model=spec,
        model_is=how,
        gpu=card,
        gpus_per_node=per_node,
        nodes=nodes,
        tp_sizes=_sizes(_TP, lowered) or _gpus_beside(lowered),
        pp_sizes=_sizes(_PP, lowered),
        dtype=next((width for pattern, width in _WIDTHS if re.search(pattern, lowered)), None),
        context_tokens=_length(lowered),
        at_once=_count(_AT_ONCE, lowered),
        network=_network(lowered),
        usual=tuple(usual),
    )


def _squeezed(words: Iterable[str]) -> str:
    return "".join(words).replace("-", "").replace("_", "")


@lru_cache(maxsize=2)
def _squeezed_names(kind: Literal["model", "gpu"]) -> Mapping[str, str]:
    """Every name of a kind without its hyphens and blanks, and the row it means."""
    names: dict[str, str] = {}
    for row in (MODELS if kind == "model" else GPUS).values():
        printed = row.name.partition(",")[0]
        for name in (row.key, printed, *(alias.rpartition("/")[2] for alias in row.aliases)):
            names.setdefault(_squeezed(_SPLIT.split(name.lower())), row.key)
    return names


def _longest(text: str, kind: Literal["model", "gpu"]) -> tuple[str, tuple[int, int]]:
    """The row whose name is the longest run of a text's words, and where it stands; "" where none is."""
    names, best = _squeezed_names(kind), ("", (0, 0))
    words = [(match.start(), match.end()) for match in re.finditer(r"[\w.+]+", text.replace("_", "-"))]
    for first in range(len(words)):
        for last in range(first, min(first + MOST_WORDS, len(words))):
            start, end = words[first][0], words[last][1]
            squeezed = _squeezed(_SPLIT.split(text[start:end])).rstrip(".")
            for form in (squeezed, squeezed.rstrip("s"), f"{squeezed}gb"):
                if form in names and end - start > best[1][1] - best[1][0]:
                    best = names[form], (start, end)
    return best


def _gpu_in(text: str) -> tuple[str, tuple[int, int]]:
    return _longest(text, "gpu")


def _without(text: str, place: tuple[int, int]) -> str:
    """A text without the GPU's name, whose digits are no model's size."""
    return f"{text[: place[0]]} {text[place[1] :]}" if place[1] else text


def _model_in(text: str) -> tuple[ModelSpec, Named]:
    """The model that is named; else its maker's of the size or the name most like it, or the newest of a size."""
    key, _ = _longest(text, "model")
    if key:
        return MODELS[key], _SAID
    size, maker = _SIZE.search(text), next((one for one in _makers() if re.search(rf"\b{one}", text)), "")
    rows = [row for row in MODELS.values() if row.key.startswith(maker) and (maker or not row.vision_tower)]
    if size is not None:
        wanted = figure(size[1]) * 1e9
        called = [row for row in rows if re.search(rf"-{re.escape(size[1])}b\b", row.key)]
        near = called or [row for row in rows if abs(total_parameters(row) / wanted - 1) <= NEAR]
        if near:
            dense = [row for row in near if row.moe is None]
            return (dense or near)[-1], "near" if maker else "size"
    if maker:
        name = "-".join(_SPLIT.split(text[text.index(maker) :])[:4])
        return MODELS[three_nearest(name, {row.key: row.key for row in rows})[0]], "near"
    return MODELS[USUAL_MODEL], "usual"


@lru_cache(maxsize=1)
def _makers() -> tuple[str, ...]:
    """What the keys of the catalog begin with, the longest first."""
    found = {re.split(r"[-.\d]", key)[0] for key in MODELS}
    return tuple(sorted(found, key=len, reverse=True))


def _number(word: str) -> int:
    alone = 1 if word in _ONE else 2 if word in _TWO else None
    in_words = next((words.index(word) + 1 for words in _NUMBERS if word in words), alone)
    return whole(word) if in_words is None else in_words


def _count(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    word = next((one for one in found.groups() if one), None) if found else None
    return None if word is None else min(max(1, _number(word)), MOST_GPUS)


def _machine(text: str, place: tuple[int, int], card: GpuSpec) -> tuple[int, int, bool]:
    """GPUs of a node, nodes, and whether either was said: `two nodes of 8 H100`, `8 × B200`, `six T4`."""
    nodes = _count(_NODES, text) or 1
    each = _count(_EACH, text)
    before = _BEFORE.search(text[: place[0]]) if place[1] else None
    after = _AFTER.match(text[place[1] :]) if place[1] else None
    total = _number(before[1]) if before else whole(after[1]) if after else _count(_GPU_COUNT, text)
    if each is not None:
        return each, nodes, True
    usual, said = min(card.gpus_per_node, USUAL_GPUS), total is not None or nodes > 1
    if total is None:
        sizes = [*_sizes(_TP, text), *_sizes(_PP, text)]
        total = max([usual, *sizes]) if nodes == 1 else nodes * max([usual, *sizes])
    total = min(max(1, total), MOST_GPUS)
    if nodes == 1 and total > usual and card.nvlink_domain is None and total % usual == 0:
        nodes = total // usual
    return (max(1, total // nodes), nodes, said) if nodes > 1 and total >= nodes else (total, nodes, said)


def _sizes(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    found = (min(max(1, whole(one)), MOST_GPUS) for one in pattern.findall(text))
    return tuple(dict.fromkeys(found))


def _gpus_beside(text: str) -> tuple[int, ...]:
    """The two numbers of GPUs that are set beside each other, where no TP is named."""
    found = _BESIDE.search(text)
    return tuple(min(_number(word), MOST_GPUS) for word in found.groups()) if found else ()


def _length(text: str) -> int | None:
    """Tokens of a context: `32k context`, `--max-model-len 131072`; of `8192 in` with the usual answer's."""
    for match in _TOKENS.finditer(text):
        number, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
        value = figure(number.replace(",", "")) * {"k": 1024, "m": 1024**2}.get(unit or "", 1)
        if 64 <= value <= 2**24:
            return round(value) + (Demand().output_tokens if _PROMPT.search(match[0]) else 0)
    return None


def _network(text: str) -> LinkSpec | None:
    for pattern, key in _NETWORKS:
        if match := re.search(pattern, text):
            exact = f"{key}-{match[1]}g" if key == "ethernet" else key
            return LINKS.get(exact, LINKS["ethernet-10g"])
    return None
