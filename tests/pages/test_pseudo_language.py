"""Every page and scene in a language that is English with accents: what has none is said outside of content/."""

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

import pyarrow as pa
import pytest
import streamlit as st

from core.clinic import CASES
from core.course.quiz import Sheet, paper
from core.serving.bench_results import example_bench
from core.startup_log.exercises import exercises
from runtime import content, torch_here
from runtime.content import slug
from runtime.rooms import code_of
from scripts import slides
from tests import pseudo, said
from tests.pages.test_comm_cost import example_paste
from tests.pages.test_every_scene import SCENARIOS, visit
from tests.pages.test_live_run import ENDED, EndedRun
from tests.pages.test_room import opened
from ui.comm_cost.bench import FIGURES as BENCH
from ui.comm_cost.rows_slips import CHOICES as SLIPS
from ui.course.pages import LABS, OVERVIEW, PAGES, START, entry
from ui.paths import PATHS
from ui.placement.rows import CASE_NAMES
from ui.sharding_math.rows import KINDS, MISTAKES
from ui.two_way_tp import live_run
from ui.two_way_tp.bench import MORE as RUNS

PARTS = {
    *("name", "param", "container", "shared", "lang", "first", "wall", "streamlit"),  # the page's, for the browser
    *("key", "kind", "op", "moment", "start", "row", "result", "figure"),  # which of a player's kinds a thing is
    *("held", "link", "absent"),  # a stepper's tensors: where they lie, what joins them, what was left out
    *("begins", "ends", "after", "goal", "options", "refusal"),  # a puzzle's states and moves
}
"""Parts of what a player is sent that it compares and nobody reads: its words have names of their own."""

LETTERS = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
"""A text within an expression of a chart."""

COLUMNS = re.compile(r"data\('rows'\)(?:, '\w+'\))?")
"""What an expression calls the rows."""

COMPARED = re.compile(r"datum\.\w+ [=!]==? '\w+'")
"""A code that an expression asks a row for, and does not write."""

WRITTEN = ("text", "tooltip", "x", "y", "row", "column")
"""The channels of a chart whose fields are written: words, and what stands along an axis."""

NAMES = re.compile(
    # what a program printed
    r"your platform lacks GPU P2P capability or P2P test failed"
    # engines, libraries, projects, models and chips, and what chips are joined by
    r"|\b(?:PyTorch|Shardlab|shardlab|Megatron(?:-LM)?|DeepSpeed|FasterTransformer|TensorRT-LLM|SGLang|aiconfigurator"
    r"|LLM-Inference-Bench|gpt-fast|LLaMA|Llama|Mixtral|DeepSeek|Qwen2?|Falcon|MiniGPT|minigpt|gpipe|NVIDIA|Instinct|Hopper"
    r"|Blackwell|Ampere|Ascend|hopper|blackwell|PCIe|NVLink|Slingshot|InfiniBand|Ethernet|ZeRO|RoCE|[Gg]loo|TFLOPS|README(?:\.md)?)\b"
    # the languages of the switch by their own names
    r"|\b(?:English|Español)\b"
    # algorithms, collectives and ways of starting a kernel as the libraries call them; matrices of an MLP
    r"|\b(?:busbw|loopback|ring|tree|send)\b"
    r"|\b(?:all-(?:reduce|gather|to-all)|reduce-scatter|one-shot|H100 (?:graph|eager)|Wgate|Wdown)\b"
    r"|reduce-\s+scatter|all-\s+gather"  # over two lines
    # formats, paths, files, names in code, fields that a player fills
    r"|\b(?:bfloat|float|int)\d+\b|[\w.-]+/[\w./-]+|\b\w+\.(?:py|json|md|safetensors)\b|\b\w+_\w+\b|\{\{.*?\}\}"
    # what a source is called there, what a model wrote
    r"|(?:issue|pull) #?\d+|main @ \w+|\w*-overview\b|NIM benchmarking|-instruct\b|\+cpu\b"
    r"|he go(?:ed|es) to school(?:\*\* → he \w+)?"
)
"""What every language calls so."""


def strings(value: object) -> Iterator[str]:
    """Every text that a player is sent, but for what it compares; what was written out before is read again."""
    if isinstance(value, str) and value.startswith('{"'):
        yield from strings(json.loads(value))
    elif isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in PARTS:
                yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def drawn(spec: object, rows: list[dict]) -> Iterator[str]:
    """Every text of a chart: titles, texts in its expressions, and the cells that it writes."""
    if isinstance(spec, list):
        for part in spec:
            yield from drawn(part, rows)
    if not isinstance(spec, dict):
        return
    for name, part in spec.items():
        if name in ("title", "text") and isinstance(part, str):
            yield part
        elif isinstance(part, str) and name in ("calculate", "labelExpr", "expr"):
            if spec.get("as", "").startswith("told_"):  # a code and its words
                yield from json.loads(part[: part.index("[")]).values()
                continue
            part = COMPARED.sub("", COLUMNS.sub("", part))
            yield from ("".join(found) for found in LETTERS.findall(part))
            for field in re.findall(r"datum\.(\w+)", part):
                yield from (row[field] for row in rows if isinstance(row.get(field), str))
        elif name in ("align", "baseline", "dx", "dy", "fontWeight", "strokeDash", "test"):  # how, not what
            continue
        elif name == "encoding":
            for channel in WRITTEN:
                for one in part.get(channel, []) if channel == "tooltip" else [part.get(channel) or {}]:
                    yield from (row[one["field"]] for row in rows if isinstance(row.get(one.get("field")), str))
                    if channel == "tooltip":
                        yield one.get("title", one["field"])
            yield from drawn(list(part.values()), rows)
        else:
            yield from drawn(part, rows)


def shown(node) -> Iterator[str]:
    """Every text of a page: labels, options, helps, prose, tables, and what charts and players say."""
    for child in getattr(node, "children", {}).values():
        yield from shown(child)
    proto, kind = getattr(node, "proto", None), getattr(node, "type", "")
    if proto is None or ((label := getattr(proto, "label", "")) and label == getattr(node, "key", "")):
        return  # nothing, or what is mounted and not seen
    if kind == "html" and "<style" in proto.body:
        return
    yield from (
        text for name in ("label", "help", "body", "placeholder", "alt") if (text := getattr(proto, name, ""))
    )
    yield from re.findall(r'(?:aria-label|title|alt)="([^"]*)"', getattr(proto, "body", ""))
    yield from (one if isinstance(one, str) else one.content for one in getattr(proto, "options", ()))
    for part in ("expandable", "popover"):
        if hasattr(proto, part):
            yield getattr(getattr(proto, part), "label", "")
    if kind == "arrow_data_frame":
        yield from map(str, node.value.columns)
        yield from (cell for name in node.value.columns for cell in node.value[name])
    if kind == "bidi_component" and proto.json:
        yield from strings(json.loads(proto.json))
    if hasattr(proto, "spec"):
        tables = [pa.ipc.open_stream(sent.data.data).read_all() for sent in proto.datasets]
        yield from drawn(json.loads(proto.spec), [row for table in tables for row in table.to_pylist()])


def committed(page) -> dict[str, str]:
    """A prediction that is a little off, and its truth: of each scene where each asks."""
    asking = [f"{page.prefix}_{scene}" for scene in page.names] if page is START else [page.prefix]
    return {f"{one}_{name}": value for one in asking for name, value in (("guess", "20"), ("revealed", "true"))}


@pytest.fixture(scope="module")
def accented(tmp_path_factory):
    """English and Spanish beside a language made from English."""
    there, root = content.CONTENT, tmp_path_factory.mktemp("languages") / "content"
    for name in (content.ENGLISH, "es"):
        shutil.copytree(there / name, root / name)
    pseudo.write(root)
    content.CONTENT = root
    content.forget()
    yield
    content.CONTENT = there
    content.forget()


COMPUTED = (*LABS, entry("placement"), entry("strategy"))
"""Pages that a scenario can be refused on."""


SEED = 5
CHOSEN = paper(SEED)[0]
COUNTED = next(question for question in paper(SEED) if getattr(question, "dimension", "") == "count")


def each(scene: str, key: str, options: Iterable[str]) -> list[dict[str, str]]:
    """A scene of a page with every option of a control, which begins as the page's others do."""
    return [{f"{key.partition('_')[0]}_scene": scene, key: slug(one)} for one in options]


MORE: dict[str, list[dict[str, str]]] = {
    "comm_cost": [
        *each("bench", "bill_figure", BENCH),
        *each("break_it", "bill_slip", SLIPS),
    ],
    "two_way_tp": [
        *each("bench", "real_figure", ("the wires", "the width", *RUNS)),
        *each("break_it", "real_wrong", ("bias on every rank", "sum left out")),
        {"real_scene": "build", "real_build": "a_paid_run"},
    ],
    "clinic": [
        *({"clinic_case": case, "clinic_answers": len(CASES) * "A"} for case in CASES),
        {"clinic_scene": "straggler", "clinic_late": "every_rank_a_little_late"},
    ],
    "placement": [
        {"place_wire": "the_scenario_s", "link": "nvlink-lab"},
        *each("cases", "place_case", CASE_NAMES),
    ],
    "sharding_math": [
        {"shard_scene": "bench", "shard_figure": "tp_sizes"},
        *each("see", "shard_layer", KINDS),
        *each("break_it", "shard_mistake", MISTAKES),
    ],
    "pipeline_bubble": [
        *each("bench", "pipe_figure", ("against m", "TP × PP", "the run", "two schedules")),
        *each("break_it", "pipe_wrong", ("one stage a tick early", "a deadlock", "a wrong formula")),
    ],
    "strategy": [
        {"strategy_scene": "picker", "strategy_gpus": "1"},
        *({"strategy_scene": "block", "strategy_block": one} for one in ("DDP", "FSDP", "PP", "EP")),
        *each("collectives", "strategy_op", ("broadcast", "all_to_all", "send_recv")),
        {"strategy_scene": "picker", "strategy_purpose": "serving"},
        {"strategy_scene": "memory", "strategy_memory_revealed": "true"},
    ],
    "quiz": [
        {"quiz_sheet": Sheet(SEED).with_answer(question.key, answer).text(), "quiz_at": question.key}
        for question, answer in (
            (CHOSEN, CHOSEN.key_answer),
            (COUNTED, COUNTED.key_answer),
            (COUNTED, f"{next(iter(COUNTED.slips.values())):g}"),
            (COUNTED, "7 kg"),
        )
    ],
    "startup_log": [
        {"log_scene": "exercises", "log_case": one.key, f"log_{one.key}_said": "a", f"log_{one.key}_shown": "true"}
        for one in exercises()
    ],
}
"""What a scene shows besides, of pages whose cases are told apart by their words."""


def plain_on(app) -> set[tuple[str, ...]]:
    """What a page says without an accent, each with the words around it."""
    texts = {text for text in shown(app._tree) if isinstance(text, str)}
    return {(*found, text[:120]) for text in texts if (found := pseudo.plain_in(text, NAMES))}


@pytest.fixture
def tabs(monkeypatch):
    """What the browser's tab was called in English with accents."""
    titles, configure = [], st.set_page_config

    def named(**how):
        if content.language() == pseudo.NAME:
            titles.append(how["page_title"])
        configure(**how)

    monkeypatch.setattr(st, "set_page_config", named)
    return titles


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_nothing_in_english_where_english_is_not_spoken(page, accented, tabs):
    """Visits in Spanish go before: what is kept in its words would show. They agree in number and gender.

    A scenario that is refused is told, too.
    """
    left = {}
    for scene in page.names if page is not OVERVIEW else [""]:
        query = (page.scene(scene) if scene else {}) | (committed(page) if page in (START, *LABS) else {})
        for scenario in (SCENARIOS["one of each"], {})[page not in COMPUTED :]:
            before = visit(page, lang="es", **query, **scenario)
            assert not before.exception
            assert not [one for text in said.shown(before) for one in said.disagreements(text, "es")]
        texts = set()
        for scenario in ({}, SCENARIOS["refused"])[: 1 + (page in COMPUTED)]:
            app = visit(page, lang=pseudo.NAME, **query, **scenario)
            assert not app.exception, scene
            texts |= {text for text in shown(app._tree) if isinstance(text, str)}
        left[scene] = {(*found, text[:120]) for text in texts if (found := pseudo.plain_in(text, NAMES))}
    for query in MORE.get(page.stem, []):
        app = visit(page, lang=pseudo.NAME, **query)
        assert not app.exception, query
        left[str(query)] = plain_on(app)
    assert {scene: found for scene, found in left.items() if found} == {}
    assert tabs
    assert [title for title in tabs if pseudo.plain_in(title, NAMES)] == []


@pytest.mark.slow
@pytest.mark.parametrize("here", ["off", "no torch", *ENDED, "broke"])
def test_the_run_page_is_in_the_visits_language_with_torch_and_without(here, accented, monkeypatch):
    """Why there is no run, what is said while one goes, and how it ended."""
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "0" if here == "off" else "1")
    monkeypatch.setattr(torch_here, "has_torch", lambda: here != "no torch")
    monkeypatch.setattr(live_run, "start", lambda request: EndedRun(here))
    said_while, told = [], live_run.said
    monkeypatch.setattr(
        live_run, "said", lambda *name, **how: said_while.append(told(*name, **how)) or said_while[-1]
    )
    # a click in a test runs the page's file alone, without the entry that says which language is spoken
    monkeypatch.setattr(content, "_speaking", ContextVar("language", default=pseudo.NAME))
    app = visit(entry("two_way_tp"), lang=pseudo.NAME, real_scene="bench")
    assert bool([one for one in app.button if one.key == "live_start"]) == (here not in ("off", "no torch"))
    if here not in ("off", "no torch"):
        app.button(key="live_start").click().run()
        assert len(app.error) == 1
        assert len(said_while) > 1
    assert not app.exception
    assert plain_on(app) == set()
    assert [text for text in said_while if pseudo.plain_in(text, NAMES)] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_notes_on_a_screen_and_in_a_printed_handout_are_in_the_visits_language(path, accented, tabs):
    """Every note of a path, and the language that a reader of the printed file is told."""
    app = visit(OVERVIEW, lang=pseudo.NAME, notes="true", path=path)
    assert not app.exception
    assert plain_on(app) == set()
    with content.speaking(pseudo.NAME):
        notes = [slides.note(*scene) for scene in slides.scenes(path, None)]
        printed = slides.document([slides.Slide(b"", note) for note in notes], slides.HANDOUT)
    assert f'<html lang="{pseudo.NAME}">' in printed
    assert [note for note in notes if pseudo.plain_in(note, NAMES)] == []


BROUGHT = {
    "table": ("comm_cost", {"bill_scene": "bench", "bill_figure": "your_table"}, "own_table", example_paste()),
    "no_table": ("comm_cost", {"bill_scene": "bench", "bill_figure": "your_table"}, "own_table", "1 2 3"),
    "no_log": ("startup_log", {}, "log_text", "Dear Ada, 12 runs."),
    "no_config": ("placement", {}, "place_config", '{"model_type": "mamba"}'),
    "result": ("placement", {"place_scene": "load"}, "bench_result", example_bench()),
    "hang": ("clinic", {"clinic_scene": "hangs"}, "clinic_hang_log", "a:1:1 [0] NCCL INFO Bootstrap : Using eth0"),
}
"""What a visitor pastes, read or refused: the page, its scene, the field and the text."""


@pytest.mark.slow
@pytest.mark.parametrize("brought", BROUGHT)
def test_what_a_visitor_brings_is_answered_in_their_language(brought, accented):
    """What they brought is quoted as it is, so its own words are no English of ours."""
    stem, query, field, text = BROUGHT[brought]
    app = visit(entry(stem), {field: text}, lang=pseudo.NAME, **query)
    assert not app.exception
    assert app.text_area(key=field).value == text
    own = set(re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", text))
    assert {found for found in plain_on(app) if not {*found[:-1]} <= own} == set()


@pytest.mark.slow
def test_a_room_is_asked_joined_and_missed_in_the_visits_language(accented):
    question = {"pipe_scene": "question"}
    wall, ring = opened("pipeline_bubble", present="true", **question), opened("cluster", present="true")
    wall.button(key="ask_room").click().run()
    ring.button(key="open_ring").click().run()
    keys = (app.query_params["chair"] for app in (wall, ring))
    room, chair = ({"room": code_of(key), "chair": key} for key in keys)
    for stem, query in (
        ("pipeline_bubble", {**question, **room, "present": "true"}),
        ("pipeline_bubble", {**question, "room": room["room"], "pipe_guess": "15"}),
        ("comm_cost", {"room": "ZZZZ"}),
        ("cluster", {**chair, "present": "true"}),
        ("cluster", {"room": chair["room"]}),
    ):
        assert plain_on(opened(stem, lang=pseudo.NAME, **query)) == set(), query
