"""What core refuses is said in the language being spoken: an error carries a code and values, no sentence."""

import ast
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from core.catalog import model
from core.english import express
from core.errors import OutOfRangeError, ShardlabError, UnknownNameError, remark, require_divides
from core.links.fitted_tables import fitted_tables
from core.links.nccl_tests.tables import read_tables
from core.models.hf_config import model_from_config
from core.placement.topology import read_node, read_topology
from core.scenario import Scenario
from core.serving.bench_reader import read_bench_results
from core.serving.trace import read_trace
from core.startup_log.reader import read_log
from runtime import content
from runtime.prose import explained, worded
from runtime.run_failure import plain_failure
from runtime.torch_here import torch_here
from tests.each import each
from tests.said import fields_of

ROOT = Path(__file__).resolve().parents[2]
HOUSES = ("core", "runtime", "ui", "pages", "scripts", "distributed", "static_site", "labs")
CODE = re.compile(r"[a-z][a-z0-9_.]*")


@cache
def trees() -> list[tuple[str, ast.Module]]:
    """Every file of ours that may refuse, by its path."""
    paths = [path for house in HOUSES for path in sorted((ROOT / house).rglob("*.py"))]
    return [(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def kinds() -> dict[str, str]:
    """Every error that carries a code, and which of core's own it is."""
    kinds = {"ShardlabError": "ShardlabError"}
    classes = [
        (node.name, node) for _, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    ]
    for _ in classes:
        for name, node in classes:
            for base in (ast.unparse(base) for base in node.bases):
                if base in kinds:
                    own = name in ("OutOfRangeError", "UnknownNameError", "IndivisibleError")
                    kinds[name] = name if own else kinds[base]
    return kinds


def written(node: ast.expr) -> str | None:
    """A text that stands in the code, with a star for what is put in; None where there is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
    return None


def raised() -> Iterator[tuple[str, str | None, set[str]]]:
    """Where an error, or a remark of errors.md, is made: the place, the block it names, the fields it fills."""
    places = {"OutOfRangeError": (2, "rule."), "UnknownNameError": (0, "kind."), "ShardlabError": (0, "")}
    known = kinds()
    for where, tree in trees():
        for call in ast.walk(tree):
            name = getattr(getattr(call, "func", None), "id", "")
            fields = {keyword.arg or "*" for keyword in getattr(call, "keywords", ())} - {"reason"}
            if name == "remark" and call.args and (written(call.args[0]) or "").startswith("errors."):
                yield f"{where}:{call.lineno}", written(call.args[0]).removeprefix("errors."), fields
            elif known.get(name) in places and where != "core/errors.py":
                at, group = places[known[name]]
                code = written(call.args[at]) if len(call.args) > at else None
                yield f"{where}:{call.lineno}", code and f"{group}{code}", fields


BLOCKS = content.blocks("errors", content.ENGLISH)
PASSED_ON = "core/catalog/lookup.py"
"""The kind of a row is its table's: `gpu`, `link` or `model`."""

OF_THE_CLASSES = {
    *("own_words", "out_of_range", "indivisible", "rule.above", "rule.or_more"),
    *("kind.model", "kind.link"),
    *(f"unknown_name{near}{like}" for near in ("", "_near") for like in ("", "_like")),
}
"""What core/errors.py names itself, and core/catalog."""


def named(code: str) -> list[str]:
    """The blocks of errors.md that a code may mean: several where something is put in."""
    return [block for block in BLOCKS if fnmatchcase(block, f"remark.{code}")]


def test_no_error_is_written_as_a_sentence():
    """`str(error)` was parsed back to be said in Spanish; a code needs no parsing."""
    codes = {where: code or "" for where, code, _ in raised() if not where.startswith(PASSED_ON)}
    assert {where: code for where, code in codes.items() if not CODE.fullmatch(code.replace("*", "x"))} == {}


def test_every_code_is_worded_with_the_fields_that_its_errors_fill():
    wrong = {}
    for where, code, fields in raised():
        blocks = named(code or "")
        if where.startswith(PASSED_ON):
            continue
        if not blocks or ("*" not in fields and any(fields_of(BLOCKS[one]) != fields for one in blocks)):
            wrong[where] = code, fields
    assert wrong == {}


def test_no_code_is_left_over():
    used = {block for _, code, _ in raised() for block in named(code or "")}
    assert set(BLOCKS) - used - {f"remark.{name}" for name in OF_THE_CLASSES} == set()


@each("name", BLOCKS)
def test_core_can_write_every_block_by_itself(name):
    """Its units are those that `core.english` knows."""
    values = dict.fromkeys(fields_of(BLOCKS[name]), 7)
    assert "{{" not in express(f"errors.{name.removeprefix('remark.')}", values)


@pytest.fixture
def spanish():
    with content.speaking("es"):
        yield


def refusal(refused):
    with pytest.raises(ShardlabError) as error:
        refused()
    return error.value


def test_english_is_cores_own_message():
    error = OutOfRangeError("slowdown", 0.5, "straggler", least=1)
    assert explained(error) == str(error)


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: Scenario(tp=0), "tp=0 debe ser un número entero de 1 a 64"),
        (
            lambda: require_divides("heads", 32, "ranks", 5),
            "heads=32 no se divide entre ranks=5; usa 1, 2, 4, 8, 16, 32",
        ),
        (
            lambda: model("lama-3-8b"),
            "no se conoce un modelo con el nombre 'lama-3-8b'; ¿querías decir llama-3-8b? Lo más parecido: ",
        ),
    ],
)
def test_an_error_is_said_in_spanish(spanish, refused, words):
    assert explained(refusal(refused)).startswith(words)


def test_a_value_has_the_marks_of_its_language_and_what_somebody_typed_keeps_its_own(spanish):
    assert (
        explained(OutOfRangeError("mfu", 1.5, "lies_above", least=0, most=1))
        == "mfu=1,5 debe ser más de 0 y como mucho 1"
    )
    assert explained(OutOfRangeError("release", "0.2.1", "such_as", example="0.9.2")).startswith("release=0.2.1 ")


def test_the_name_of_a_setting_stays_what_it_is_where_it_is_a_word_too(spanish):
    """`model` is a kind of thing as well, which Spanish calls `un modelo`: that stood before the sign."""
    dense = OutOfRangeError("model", "llama-3-8b", "dense")
    assert explained(dense).startswith("model=llama-3-8b es denso: ")


def test_an_error_inside_of_another_is_said_with_it(spanish):
    inner = OutOfRangeError("requests", 0, "above", least=0)
    assert "requests=0 debe ser mayor que 0" in explained(ShardlabError("no_csv", error=inner))
    assert "debe ser mayor que 0" in worded(remark("startup_log.refusal", reason=inner.remark))


def test_an_unknown_message_stays_as_it_is(spanish):
    assert explained(ShardlabError("something that nobody foresaw")) == "something that nobody foresaw"
    assert (
        explained(UnknownNameError("case", "x", ("a", "b"))) == "no se conoce un caso con el nombre 'x'; hay: a, b"
    )


def test_how_a_run_ended_is_said_too(spanish):
    told = [
        plain_failure([], "OSError: No space left on device"),
        plain_failure([], "exitcode : -9"),
        plain_failure([], ""),
        torch_here({}).why_not,
    ]
    assert [one.code for one in told] == [
        *("errors.run.failed", "errors.run.rank_ended", "errors.run.failed_silent", "errors.run.off"),
    ]
    assert worded(told[0]).startswith("La ejecución falló: el disco está lleno;")


READERS = (
    model_from_config,
    read_log,
    read_node,
    read_topology,
    read_trace,
    read_bench_results,
    read_tables,
    fitted_tables,
)
CONFIG = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
CONFIG |= {"intermediate_size": 14336, "vocab_size": 128256}
PASTED = (
    *("", "{", "[]", "{}", "hello", "1,2,3", "\x00", "vllm serve", "a" * 2_000_000, '{"model_type": "no-such"}'),
    *(json.dumps({**CONFIG, name: value}) for name in CONFIG for value in (-1, 0, 7, "x", None, 1e30, [1])),
    *(json.dumps({name: value for name, value in CONFIG.items() if name != left}) for left in CONFIG),
    *(json.dumps({**CONFIG, "quantization_config": value}) for value in ("x", {}, {"quant_method": "no-such"})),
    *("GPU0 GPU1\nGPU0 X NV1\n", "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV2\tX\n", "\tGPU0\tGPU1\nGPU0\tX\n"),
    *("\tGPU0\tGPU1\nGPU0\tNV1\tX\nGPU1\tX\tNV1\n", "Link type: XGMI\nGPU0 GPU1\n"),
    *("arrival,prompt\n1,2", "arrival,prompt,output\n1,2,-3", "arrival,prompt,output\n", '{"arrival": 1}'),
    *("============ Serving Benchmark Result ============\n", '{"mean_itl_ms": 1}', "# nThread 1\n  8 2 float sum"),
)
"""What no reader, or only one of them, can make sense of."""

ENGLISH = re.compile(r"\b(?:the|is|are|must|not|of|and|or|with|have|be|in this|needs?|which|paste|use)\b")


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_what_a_reader_refuses_is_said_in_spanish(spanish, reader):
    """Nonsense, halves and contradictions, pasted into every box: names of a text's own parts stay as they are."""
    left, refusals_of = {}, 0
    for text in PASTED:
        try:
            reader(text)
        except ShardlabError as error:
            refusals_of += 1
            own = re.sub(r"'[^']*'|\"[^\"]*\"|«[^»]*»|\w+_\w+|\w+=\S*", " ", explained(error))
            if found := ENGLISH.findall(own):
                left[text[:80]] = (found, explained(error)[:200])
    assert refusals_of
    assert left == {}
