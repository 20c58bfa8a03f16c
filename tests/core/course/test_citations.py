"""Citations: predicates over text that was never executed, and a row for every claim, each checked and worded."""

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import gpu, model
from core.course.citations import CITATIONS, SOURCES, Defined, Is, Never, Says, citations, source
from core.course.citations.claim import version
from core.course.citations.predicates import Has, UnparsedError
from core.errors import UnknownNameError
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.planner import place
from core.placement.rank_memory import measured_budget
from core.placement.serve_flags import arguments
from runtime import content
from runtime.citations import recorded
from tests.each import each
from tests.said import stems

TEXT = '''
KIB = 1024
CAPS = {2: 64 * KIB, "name": [1, 2]}

class Kernel:
    """Says: the docstring is no evidence for `spans nodes`."""
    SIZES = [2, 4]
    def __init__(self, cap=8 * KIB, *, quick: bool = False):
        # not evidence: spans nodes
        if self.size not in Kernel.SIZES:
            log("cut over "
                "two lines: %d", self.size)
        elif self.far:
            log(f"far {self.size} away")
'''
START = "Kernel.__init__"


@each(
    ("predicate", "symbol", "holds"),
    [
        (Defined(), START, True),
        (Defined(), "Kernel.start", False),
        (Says("self.size not in Kernel.SIZES", "self.far"), START, True),
        (Has("self.far", "self.size not in Kernel.SIZES"), START, True),
        (Has("self.far", "spans nodes"), START, False),
        (Says("self.far", "self.size not in Kernel.SIZES"), START, False),
        (Says("cut over two lines: %d"), START, True),
        (Says("spans nodes"), START, False),
        (Says("spans nodes"), "", False),
        (Never("spans nodes"), "Kernel", True),
        (Never("self.far"), START, False),
        (Never("anything"), "Other", False),
        (Is([2, 4]), "Kernel.SIZES", True),
        (Is([4, 2]), "Kernel.SIZES", False),
        (Is(8192), f"{START}(cap)", True),
        (Is(False), f"{START}(quick)", True),
        (Is(8192), f"{START}(other)", False),
        (Is({2: 65536, "name": [1, 2]}), "CAPS", True),
    ],
)
def test_a_predicate_reads_code_and_neither_comments_nor_docstrings(predicate, symbol, holds):
    assert predicate.holds(TEXT, symbol) is holds


@pytest.mark.parametrize("text", ["(" * 5000, "def", "x = 1\0", "a = 1\n" * 400_000], ids=len)
def test_a_file_that_is_no_python_is_refused_and_nothing_else_happens(text):
    with pytest.raises(UnparsedError):
        Defined().holds(text, "a")


@given(st.text(max_size=60))
def test_a_predicate_answers_or_refuses_whatever_it_reads(text):
    for predicate in (Defined(), Says("a"), Never("a"), Is(1)):
        try:
            assert predicate.holds(text, "a") in (True, False)
        except UnparsedError:
            with pytest.raises((SyntaxError, ValueError)):
                ast.parse(text)


def test_every_claim_has_its_words_and_no_two_share_a_key():
    notes = content.load("reading_rooms")
    keys = [f"{row.engine}.{row.key}" for row in CITATIONS]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= set(notes)


def named_on_pages() -> list[tuple[str, str]]:
    """Every `Symbol` that a cell of a table says to be in a `file` of an engine that is cited."""
    roots = tuple(f"{each.root.partition('/')[0]}/" for each in SOURCES)
    found = []
    for stem in stems():
        for cell in "\n".join(content.load(stem).values()).replace("\n", "|").split("|"):
            files = [word for word in re.findall(r"`([\w/.]+\.py)`", cell) if word.startswith(roots)]
            if len(files) == 1:
                found += [(files[0], word) for word in re.findall(r"`([A-Za-z_][\w.]*)`", cell) if "/" not in word]
    return found


def test_every_name_in_an_engine_that_a_page_tells_is_a_citation():
    cited = {(f"{source(row.engine).root}/{row.file}", row.symbol.partition("(")[0]) for row in CITATIONS}
    told = named_on_pages()
    assert len(told) > 20
    for file, symbol in told:
        assert any(file == at and (name == symbol or name.startswith(f"{symbol}.")) for at, name in cited), (
            f"{symbol} in {file} is told on a page and was never looked up"
        )


@pytest.mark.parametrize("engine", [each.engine for each in SOURCES])
def test_every_claim_was_checked_against_the_newest_release_at_hand_and_holds(engine):
    """The record is what `python -m scripts.citations --record` wrote: a row added since is not in it."""
    newest = next(check for check in recorded() if check.engine == engine)
    assert list(newest.rows) == [row.key for row in citations(engine)]
    assert newest.moved == ()
    for row in citations(engine):
        assert (newest.rows[row.key] == "not asked") is not row.asked_of(newest.release)


def test_the_three_newest_releases_of_vllm_were_checked():
    """Of those on the day of the check; older ones follow, in which some claims are not made yet."""
    releases = [check.release for check in recorded() if check.engine == "vllm"]
    assert releases[:3] == ["0.33.0", "0.32.0", "0.31.0"]
    assert releases == sorted(releases, key=version, reverse=True)


def test_every_flag_of_a_plans_command_is_a_citation():
    """Of vLLM and SGLang, over clusters and demands that need all of them; TensorRT-LLM has no sources at hand."""
    taken = {
        engine: {
            word
            for row in citations(engine)
            if row.key.startswith("claim.flag")
            for word in row.predicate.fragments
        }
        for engine in ("vllm", "sglang")
    }
    asked = (
        ("mixtral-8x7b", 1, Demand(concurrency=8)),
        ("llama-3-70b", 2, Demand(concurrency=64, kv_dtype="fp8", dtype="fp8", requests_per_s=1.0)),
        ("deepseek-v3", 2, Demand(concurrency=64)),
        ("llama-3-70b", 1, Demand(concurrency=4, prompt_tokens=100_000)),
    )
    told = set()
    for key, nodes, demand in asked:
        cluster = usual_cluster(gpu("h100-sxm"), 8, nodes)
        question = Question(model(key), cluster, measured_budget(gpu("h100-sxm")), demand, context_parallel=True)
        for plan in place(question).plans:
            told |= {(engine, flag) for engine in taken for flag, _ in arguments(question, plan, engine)}
    assert len(told) > 24
    for engine, flag in sorted(told):
        names = {f"'--{flag}'", f"{flag.replace('-', '_')}: A["}
        assert names & taken[engine], f"--{flag} of {engine} was never looked up"


def test_an_engine_that_is_not_cited_is_named():
    with pytest.raises(UnknownNameError, match="engine"):
        source("triton")
