"""Some twenty questions that users post, each found by the words it is asked with.

Matching is plain: a question of a kind has some cues that all have to be there, and others that make it likelier.
The likeliest kind is taken, and said; where none has its cues, none is, and the list is offered. The cues are those
of English and of Spanish, together: no language has to be named.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.ask.reading import MOST_CHARACTERS


@dataclass(frozen=True)
class Kind:
    """One question. Every pattern of `needs` has to be in it; each of `likes` counts one more."""

    key: str
    needs: Sequence[str]
    likes: Sequence[str] = ()

    def score(self, text: str) -> int:
        """How many cues a text has; 0 where one that is needed is missing."""
        if not all(re.search(pattern, text) for pattern in self.needs):
            return 0
        return 2 * len(self.needs) + sum(bool(re.search(pattern, text)) for pattern in self.likes)


_TP = r"\btp\b|\btp[ =]?\d|tensor[- ]parallel"
_PP = r"\bpp\b|\bpp[ =]?\d|pipeline"
_DP = r"\bdp\b|\bdp[ =]?\d|data[- ]parallel|\bep\b|expert[- ]parallel"
_NODES = r"\b(?:nodes|machines|servers|hosts|nodos|máquinas|servidores)\b|multi-?\s?nod[eo]"
_NOT_FASTER = (
    r"slow(?:er|s|down)?\b|not? (?:any )?faster|isn'?t (?:any )?faster|same speed|hardly (?:faster|scales)|barely"
    r"|(?:no|little|any) (?:speed-?up|gain|benefit)|doesn'?t (?:scale|help|get faster|speed)"
    r"|más lent[oa]s?|no (?:va|es|son|corre) (?:\w+ )?más rápid[oa]s?|no (?:mejora|acelera|gana|escala)|apenas"
)
_HANGS = (
    r"\bhangs?\b|hanging|hung\b|\bstuck\b|waits? forever|stands? still|fr(?:ee|o)zen?|deadlock"
    r"|never (?:starts|returns)|time[ds]? ?out|watchdog"
    r"|se (?:cuelgan?|bloquea|atasca|para\b)|colgad[oa]|parad[oa]|atascad[oa]|espera (?:para siempre|sin fin)"
    r"|nunca (?:arranca|termina)"
)
_FITS = (
    r"\bfits?\b|enough (?:v?ram|memory)|possible to run|how much (?:v?ram|memory)"
    r"|(?:can|could|will|would) (?:i|it|this|we|you)?.{0,40}\brun\b"
    r"|(?:^|[.,;:?!] ?|\band )(?:can|could|will|would) .{0,60}\b(?:serve|handle|host|hold|run)\b"
    r"|\bcab(?:e|ría)\b|cuánta (?:memoria|vram)|memoria suficiente|(?:puedo|se puede) (?:correr|ejecutar|servir)"
)
_OR = r"\bor\b|\bvs\.?\b|versus|better|instead of|\bthan\b|compared|\bo\b|mejor|en vez de|frente a"
_NARROW = r"fp8|int8|int4|awq|gptq|fp4|\b[48][- ]?bits?\b|(?:quanti|cuanti)[szf]"
_LENGTH = r"context|\bctx\b|\d ?k\b|max[-_ ]model[-_ ]len|long|larg[oa]"
_HOW_MANY = r"how many (?:\w+ ){0,3}(?:do|would|will|are|gpus?|cards?)|minimum (?:number of )?gpus|fewest"
_HOW_MANY += r"|cuántas (?:gpus?|tarjetas|\w+ (?:necesit|hacen falta))|mínimo de gpus?"
_AT_ONCE = (
    r"how many (?:concurrent |parallel )?(?:users?|requests?|sequences|people|sessions|chats)"
    r"|max(?:imum)? concurrency|max[-_]num[-_]seqs"
    r"|cuánt[oa]s (?:usuarios|peticiones|secuencias|personas|chats|sesiones)"
)
_SETUP = rf"{_TP}|how (?:should|do|to|can|would)|best (?:way|config|setup|layout)|(?:what|which) (?:config|setup)"
_SETUP += r"|cómo (?:debo|debería|puedo|repart\w+|sirv\w+)|mejor (?:manera|forma|reparto|configuración)"

KINDS: tuple[Kind, ...] = (
    Kind("hang_interface", (_HANGS, r"\blo\b|loopback|\binterfa(?:ce|z)\b|socket_ifname|docker0|ethernet")),
    Kind(
        "hang_p2p",
        (_HANGS, r"\bp2p\b|peer|\bacs\b|iommu|after init|tras el init|rtx|4090|5090|pcie|two gpus|dos gpus?"),
        (r"init\b", _TP),
    ),
    Kind("hang", (_HANGS,), (r"nccl", _TP)),
    Kind(
        "oom",
        (r"out of memory|\boom\b|no available memory for the cache|sin memoria|memoria agotada",),
        (r"start|load|init",),
    ),
    Kind(
        "tp_slower",
        (_NOT_FASTER, rf"{_TP}|\bgpus?\b|\badding\b|\b(?:another|second|segunda)\b"),
        (r"\bwhy\b|por qué", r"tp.{0,40}tp", _TP),
    ),
    Kind("width_speed", (_NARROW, r"fast|slow|speed|rápid|lent[oa]|veloc|aceler")),
    Kind("pp_over_nodes", (_PP, rf"{_NODES}|ethernet|infiniband"), (r"\bover\b|across|between|\bentre\b", _TP)),
    Kind(
        "tp_over_nodes",
        (_TP, rf"{_NODES}|ethernet|infiniband|network|\bred\b"),
        (r"\bover\b|across|between|\bentre\b|cruz", r"\d ?gbe"),
    ),
    Kind("pp_or_tp", (_PP, _TP), (_OR,)),
    Kind("tp_or_dp", (_DP, rf"{_TP}|{_OR}|should|worth|use|conviene|debo"), (_OR, _TP)),
    Kind(
        "replicas_or_tp",
        (
            r"r[eé]plicas?|instan(?:ces?|cias?)|cop(?:ies|ias)|engines?|motor(?:es)?\b|\b\d ?[x×] ?tp|two servers",
            _TP,
        ),
        (_OR,),
    ),
    Kind(
        "need_nvlink",
        (
            r"nvlink|nv-?bridge",
            r"need|without|worth|matter|help|have to|enough|pcie|necess?ar|necesit|falta|\bsin\b|basta|importa",
        ),
    ),
    Kind(
        "heads",
        (r"divisible|divid(?:es?|en)\b|\bheads\b|\bcabezas\b|\btp[ =]?(?:3|5|6|7|9|10|12)\b",),
        (r"why|por qué", _TP),
    ),
    Kind(
        "how_many_gpus",
        (_HOW_MANY, r"gpus?|cards?|need|require|necesit|tarjetas|falta"),
        (r"gpus?|cards?|tarjetas", r"\bneed\b|necesit"),
    ),
    Kind("users", (_AT_ONCE,), (r"concurren|at once|a la vez",)),
    Kind(
        "kv_tokens",
        (r"\bkv\b|cach[eé]", r"size|how (?:big|much|many|large)|per token|a token|tokens|cuánto|tamaño|por token"),
        (r"kv",),
    ),
    Kind(
        "first_token",
        (r"ttft|first token|prefill|prompt processing|reading the prompt|primer token|le(?:er|e) el prompt",),
        (r"slow|long|how|tarda|lent[oa]", r"\d ?k"),
    ),
    Kind(
        "fits_context",
        (rf"{_FITS}|max[-_ ]model[-_ ]len|max(?:imum)? context|longest|how (?:long|much)|contexto máximo", _LENGTH),
        (r"\d ?k\b", r"context"),
    ),
    Kind("which_tp", (_SETUP, r"which|what|best|how (?:should|do|to|can)|\bqué\b|cuál|mejor|cómo"), (r"gpus?",)),
    Kind("fits", (_FITS,)),
    Kind(
        "tokens_per_s",
        (
            r"tokens?(?: per |/| a )s(?:ec(?:ond)?)?\b|tok/s|t/s\b|\btps\b|how fast|throughput|expect"
            r"|tokens? (?:por|al) segundo|(?:qué tan|cómo de|cuán) rápid|rendimiento",
        ),
        (r"how|cuántos",),
    ),
)
"""In the order in which one is taken where several have as many cues."""

USUAL = "which_tp"
"""What a model and its GPUs ask, without a word beside them: `Six T4, a 32B model in 4 bits`."""


def recognised(text: str, named: bool = False) -> tuple[str, ...]:
    """The kinds that a text may be of, the likeliest first; empty where it has no kind's cues.

    With a model and GPUs `named` and no cue of any, it asks how to serve the one on the others.
    """
    lowered = " ".join(text[:MOST_CHARACTERS].lower().split())
    scores = {kind.key: kind.score(lowered) for kind in KINDS}
    likely = sorted((key for key, score in scores.items() if score), key=lambda key: -scores[key])
    return tuple(likely) or ((USUAL,) if named else ())
