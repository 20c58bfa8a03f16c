"""What core refuses is said in the language being spoken: its English message has its block."""

import ast
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.catalog import model
from core.errors import OutOfRangeError, ShardlabError, UnknownNameError, remark, require_divides
from core.links.fitted_tables import fitted_tables
from core.links.nccl_tests.tables import read_tables
from core.models.hf_config import model_from_config
from core.placement.topology import read_node, read_topology
from core.scenario import Scenario
from core.serving.bench_reader import read_bench_results
from core.serving.trace import read_trace
from core.startup_log.reader import read_log
from runtime import content, refusals
from runtime.prose import explained, worded
from runtime.run_failure import plain_failure
from runtime.torch_here import torch_here
from tests.each import each
from tests.said import fields_of

ROOT = Path(__file__).resolve().parents[2]
SENTENCE_AT = {
    "OutOfRangeError": 2,
    "UnreadableTextError": 0,
    "RunLogError": 0,
    "RunRefusedError": 0,
    "RunBusyError": 0,
}
TERMINAL = (
    *("core/evidence", "core/course/grading", "core/course/citations", "core/course/receipt"),
    "core/two_way_tp/spend.py",
    *(
        "core/two_way_tp/paid_run.py",
        "core/catalog/lookup.py",
        "core/comm_cost/choice.py",
        "core/comm_cost/wire.py",
        "core/sharding_math/held.py",
        "core/pipeline_bubble/submission.py",
        "runtime/budget.py",
        "runtime/citations.py",
    ),
    *("runtime/foretold.py", "runtime/grading.py", "runtime/published.py", "runtime/paid_run.py"),
    *("runtime/seed_file.py", "runtime/sent_files.py", "runtime/served.py", "runtime/students_text.py"),
    "runtime/submissions.py",
)
"""What no page shows: commands, graded labs and what an author adds alone raise it."""

_VALUE = re.compile(r"(?<!\w)\w*\d(?:[\w.:/^+-]*\w)?|\0")


def raised() -> Iterator[tuple[str, str]]:
    """Where a page's error is raised, and its sentence with \0 for what is put in."""
    for path in sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "runtime").rglob("*.py")]):
        where = path.relative_to(ROOT).as_posix()
        if where.startswith(TERMINAL):
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in SENTENCE_AT:
                continue
            sentence = (call.args[SENTENCE_AT[call.func.id] :] or [None])[0]
            if isinstance(sentence, ast.Constant):
                yield f"{where}:{call.lineno}", sentence.value
            elif isinstance(sentence, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "\0" for part in sentence.values)
                yield f"{where}:{call.lineno}", "".join(parts)


def bare(template: str) -> str:
    return _VALUE.sub("…", content.FIELD.sub("\0", template))


@pytest.fixture
def spanish():
    with content.speaking("es"):
        yield


def test_every_message_that_a_page_may_show_has_its_block():
    blocks = {bare(text) for text in content.blocks(refusals.STEM, content.ENGLISH).values()}
    assert {where: text for where, text in raised() if bare(text) not in blocks} == {}


@each("name", content.blocks(refusals.STEM, content.ENGLISH))
def test_a_message_is_found_by_its_words_and_by_no_others(name):
    """Filled with words that no block has, each block is taken for itself."""
    filled = content.FIELD.sub(lambda field: f"<{field[1]}>", content.blocks(refusals.STEM, content.ENGLISH)[name])
    found = refusals.template_of(filled, name.startswith("part."))
    assert found is not None
    assert found[0] == name
    assert {field: text for field, text in found[1].items() if not field.endswith("_")} == {
        field: f"<{field}>" for field in fields_of(content.blocks(refusals.STEM, content.ENGLISH)[name])
    }


def refusal(refused):
    with pytest.raises(ShardlabError) as error:
        refused()
    return error.value


def test_english_is_cores_own_message():
    error = OutOfRangeError("slowdown", 0.5, "must be 1 or more: a straggler is not faster")
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
        explained(OutOfRangeError("mfu", 1.5, "must lie in (0, 1]")) == "mfu=1,5 debe ser más de 0 y como mucho 1"
    )
    assert explained(OutOfRangeError("release", "0.2.1", "is not one such as 0.9.2")).startswith("release=0.2.1 ")


def test_the_name_of_a_setting_stays_what_it_is_where_it_is_a_word_too(spanish):
    """`model` is a kind of thing as well, which Spanish calls `un modelo`: that stood before the sign."""
    dense = OutOfRangeError("model", "llama-3-8b", "is dense: it has no experts to place; choose a mixture")
    assert explained(dense).startswith("model=llama-3-8b es denso: ")


def test_an_error_inside_of_another_is_said_with_it(spanish):
    inner = OutOfRangeError("requests", 0, "must be above 0")
    assert "requests=0 debe ser mayor que 0" in explained(ShardlabError(f"this trace is not a CSV: {inner}"))
    assert "debe ser mayor que 0" in worded(remark("startup_log.refusal", reason=inner))


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
    assert [refusals.template_of(one)[0] for one in told] == [
        *("run.failed", "run.rank_ended", "run.failed_silent", "run.off"),
    ]
    assert refusals.translated(told[0]).startswith("La ejecución falló: el disco está lleno;")


def test_a_number_of_any_length_in_a_message_is_said_as_it_stands():
    """Six thousand digits in groups: Python refuses to make a number of them."""
    long = "1" + ",111" * 2_000
    with content.speaking("es"):
        assert refusals._value("value", long) == long
        assert refusals._value("value", "1,111,111") != "1,111,111"


def test_no_message_takes_long_to_be_found():
    """Six fields between commas, in a text of commas: told apart by patterns, it took minutes."""
    listed = ", ".join(["a"] * 2_000)
    began_s = time.process_time()
    for text in (f"x=y is none of {listed} or so", listed, "=" * 4_000, "a=b must be " * 400):
        refusals.template_of(text)
    assert time.process_time() - began_s < 0.5


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
