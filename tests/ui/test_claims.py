"""Words that were wrong once: each claim is told with what it depends on."""

import re
from pathlib import Path

from runtime import content
from tests.each import each
from tests.said import stems
from tests.test_architecture import sources as in_room

ROOT = Path(__file__).resolve().parents[2]
FITTED = "core.evidence.calibration"
LABEL_WORDS = {"en": 6, "es": 8}
"""A label names where a link lies, and claims nothing of where tensor parallelism ends."""
NODE = {
    "en": re.compile(r"\b(?:inside|within|leaves?) (?:a|one|each|the|its) node\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:dentro de|salen de|salir de) (?:un|cada|el|su) nodo\b", re.IGNORECASE),
}


@each("language", NODE)
@each("stem", stems())
def test_the_boundary_of_a_fast_link_is_told_as_the_nvlink_domain(stem, language):
    """Since racks of 72 GPUs share NVLink, a node is the usual case and not the rule."""
    sentences = {
        n: text for n, text in content.load(stem, language).items() if len(text.split()) > LABEL_WORDS[language]
    }
    assert not {name for name, text in sentences.items() if NODE[language].search(text) and "NVLink" not in text}


CLAIMS = {
    ("strategy", "memory.paid"): {
        "en": "go around rings that cross nodes",
        "es": "dan la vuelta por anillos que cruzan nodos",
    },
    ("comm_cost", "see.reading_prefill"): {
        "en": "{{mfu|%0}} of the data sheet",
        "es": "al {{mfu|%0}} de la ficha técnica",
    },
    ("start_here", "prefill.reading"): {"en": "by the data sheet", "es": "según la ficha técnica"},
    ("two_way_tp", "limits.body"): {
        "en": "{{cores}} … contention … {{spread_tcp}} times",
        "es": "compiten entre sí por {{cores}} … {{spread_tcp}} veces",
    },
    ("reading_rooms", "megatron.seeds"): {"en": "hree", "es": "tres estados"},
    ("reading_rooms", "megatron.overlap"): {"en": "backward pass … NCCL", "es": "solo el backward … NCCL"},
    ("reading_rooms", "vllm.logits"): {"en": "every rank", "es": "todos los rangos"},
    ("strategy", "serving.interference"): {"en": "overlaps part", "es": "oculta detrás de él una parte"},
    # told of every model as of one whose layers are attention and an MLP, or of every release as of the one before
    ("sharding_math", "question.ask"): dict.fromkeys(("en", "es"), "{{layer_blocks}}"),
    ("sharding_math", "count.layer"): dict.fromkeys(("en", "es"), "{{layer_ends}}"),
    ("comm_cost", "question.ask"): dict.fromkeys(("en", "es"), "{{layer_sums}}"),
    ("sharding_math", "limits.body"): {
        "en": "vLLM does for GPT-J … the all-reduce stays",
        "es": "GPT-J … la suma se queda",
    },
    ("pipeline_bubble", "serve.crossing"): {"en": "after each block", "es": "tras cada bloque"},
    ("pipeline_bubble", "engines.body"): {"en": "one more if … residual", "es": "uno más si … residuo"},
    ("comm_cost", "bench.kernels_cap"): {"en": "FlashInfer … symmetric", "es": "FlashInfer … simétrica"},
    ("comm_cost", "bench.experts"): {"en": "keeps the all-reduce", "es": "conserva el all-reduce"},
    ("placement", "remark.assumed_widened"): {"en": "floats", "es": "coma flotante"},
    ("startup_log", "limits.body"): {"en": 'An engine that prints "GB"', "es": "Donde un motor imprime «GB»"},
    ("reading_rooms", "fsdp.reshard"): {"en": "gradients once", "es": "gradientes, una"},
    ("strategy", "block.reading_pp"): {"en": "for each token", "es": "por token"},
    ("strategy", "collectives.broadcast"): {"en": "buffers", "es": "buffers"},
    # nobody knows a sum over nodes better than its tables
    ("comm_cost", "bench.nodes_tested"): dict.fromkeys(("en", "es"), "{{node_tables.p90_error|%0}}"),
    ("placement", "remark.across_group"): dict.fromkeys(("en", "es"), "{{held.p90_error|%0}}"),
    # the ring and the engine's kernel differ by two thirds: no price of one stands without the other's
    ("comm_cost", "bench.nodes"): dict.fromkeys(("en", "es"), "{{inside_picked.comm_s|ms}}"),
    ("placement", "limits.body"): dict.fromkeys(("en", "es"), "{{kernel_saves|%0}}"),
}


@each(("stem", "block", "language"), [(*claim, language) for claim, words in CLAIMS.items() for language in words])
def test_a_claim_says_what_it_depends_on(stem, block, language):
    told = content.load(stem, language)[block]
    assert [said for said in CLAIMS[stem, block][language].split(" … ") if said not in told] == []


def _taken(path: Path) -> set[str]:
    """The modules of core that a file's import lines name."""
    lines = re.findall(r"^from (core[\w.]*) import (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {name for module, names in lines for name in (module, *(f"{module}.{one}" for one in names.split(", ")))}


def test_only_pages_that_say_their_error_reach_the_fitted_constants():
    """Whoever else would tell a time by them must say how far such times were off, and stand among these."""
    core = {".".join(path.relative_to(ROOT).with_suffix("").parts): _taken(path) for path in in_room("core")}
    reach, more = set[str](), {FITTED}
    while more:
        reach |= more
        more = {name for name, taken in core.items() if reach & taken} - reach
    told = {path.relative_to(ROOT / "ui").parts[0] for path in in_room("ui") if reach & _taken(path)}
    assert told == {"ask", "beside.py", "comm_cost", "placement", "strategy", "tested.py", "two_way_tp"}
    for name in told - {"beside.py", "tested.py"}:
        rooms = [*(ROOT / "ui" / name).glob("*.py"), *(ROOT / "pages").glob(f"*_{name}.py")]
        assert any("tested.beside" in path.read_text(encoding="utf-8") for path in rooms), name
