"""An address names options by key; as it was spelt before it opens the same view; and it holds the language."""

from itertools import zip_longest
from types import SimpleNamespace

import pytest

from runtime import content
from tests.pages.test_every_scene import visit
from ui import address, language
from ui.course.pages import LABS, PAGES, entry
from ui.old_addresses import KEYS, key_of

SPELT = {
    "start_scene": ("Glossary",),
    "shard_scene": ("Question", "Break it", "Bench", "Limits"),
    "bill_scene": ("Question", "Break it", "Bench", "Limits"),
    "pipe_scene": ("Question", "Break it", "Bench", "Limits", "Serve"),
    "real_scene": ("Question", "Break it", "Bench", "Limits"),
    "place_scene": ("Plan", "Compare", "Limits"),
    "log_scene": ("Read", "Limits"),
    "strategy_scene": ("Memory", "Collectives", "Limits"),
    "clinic_scene": ("Cases", "Limits"),
    "read_scene": ("vLLM",),
    "quiz_scene": ("Limits",),
    "find_scene": ("Keys",),
    "shard_layer": ("Column", "Row", "MLP pair", "Attention", "Embedding", "Sequence"),
    "shard_count": ("one layer", "one step", "by hand"),
    "shard_level": ("last step",),
    "shard_mistake": (
        "No all-reduce",
        "Reduced twice",
        "Mean",
        "Activation first",
        "Bias on each",
        "KV uncut",
        "Row then column",
        "Column twice",
    ),
    "shard_figure": ("TP sizes",),
    "bill_figure": ("your link", "your table", "GPUs", "what to buy", "prefill apart"),
    "bill_view": ("the bill", "the wire"),
    "bill_slip": ("a hop's latency", "900 GB/s one way", "busbw for algbw", "averages over sizes"),
    "bill_over": ("the link", "the network"),
    "bill_numbers": ("as measured", "the lab's napkin"),
    "bill_wire_link": ("the link", "the network"),
    "pipe_wrong": ("nobody waits", "one stage a tick early", "a deadlock", "a wrong formula"),
    "pipe_figure": ("against m", "TP × PP", "the run", "two schedules"),
    "real_run": ("MiniGPT, TCP", "MiniGPT, shared memory"),
    "real_wire": ("TCP", "shared memory"),
    "real_figure": ("two arms", "the wires", "the width", "two replicas", "two hosts"),
    "real_wrong": ("one rank slow", "bias on every rank", "sum left out"),
    "real_build": ("four classes", "a paid run"),
    "place_wire": ("the GPU's usual", "the scenario's"),
    "place_source": ("every source",),
    "place_case": (
        "TP=8 or TP=4",
        "one node or two",
        "TP=8 or two TP=4",
        "over PCIe",
        "a pipeline",
        "a small model",
        "a mixture",
    ),
    "log_model": ("as the log says",),
    "strategy_view": ("saved and paid",),
    "strategy_op": ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "send/recv"),
    "strategy_over": ("the link", "the network"),
    "clinic_late": ("one slow rank", "every rank a little late"),
    "clinic_joined": ("NVLink, every pair", "PCIe only"),
    "clinic_test_count": ("not run",),
    "clinic_test_versions": ("not run",),
    "clinic_test_gloo": ("not run",),
    "clinic_test_one_node": ("not run",),
    "clinic_test_port": ("not run",),
    "clinic_test_interface": ("not run",),
    "clinic_test_p2p": ("not run",),
    "clinic_test_shm": ("not run",),
    "quiz_about": (
        "the whole course",
        "real ranks",
        "latency or bandwidth",
        "the bill",
        "the node boundary",
        "published slips",
    ),
}
"""What else options were called in the address before they had keys: the key in capitals and blanks."""

OLD = {
    name: {**KEYS.get(name, {}), **{old: content.slug(old) for old in SPELT.get(name, ())}}
    for name in {**KEYS, **SPELT}
}
PARTS = {page: [name for name in OLD if name.startswith(f"{page.prefix}_")] for page in PAGES}


def ignored(app) -> list[str]:
    return [element.value for element in app.markdown if "Ignored in the address" in element.value]


def rounds(left: dict[str, list[str]]) -> list[dict[str, str]]:
    """Old names in as few addresses as there are of one part."""
    columns = ([(name, old) for old in olds] for name, olds in left.items())
    return [dict(pair for pair in pairs if pair) for pairs in zip_longest(*columns)]


@pytest.fixture
def options(monkeypatch):
    """What each part of an address may be, as the page says when it is asked for it."""
    heard = {}

    def expect(name, keys, usual=address.expect):
        heard.setdefault(name, set()).update(keys)
        usual(name, keys)

    monkeypatch.setattr(address, "expect", expect)
    return heard


def opens(page, options, names, **query: str) -> None:
    """Each old name of these parts is an option's. A visit tells most options; the others get their own."""
    left = {name: list(OLD[name]) for name in names}
    while left:
        asked = rounds(left)[0]
        app = visit(page, **query, **asked)
        assert not app.exception
        assert not ignored(app)
        assert {name: app.session_state[name] for name in asked} == {
            name: OLD[name][old] for name, old in asked.items()
        }
        for name, old in asked.items():
            left[name].remove(old)
        told = {name: set(options.get(name, ())) for name in left}
        untold = ((name, [old for old in left[name] if OLD[name][old] not in told[name]]) for name in left)
        left = {name: olds for name, olds in untold if olds}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_an_old_address_opens_the_view_it_named(page, options):
    opens(page, options, [name for name in PARTS[page] if not name.endswith("_said")])


@pytest.mark.parametrize("name", [name for name in OLD if name.endswith("_said")])
def test_an_old_answer_is_still_the_answer(name, options):
    case = name.removeprefix("log_").removesuffix("_said")
    opens(entry("startup_log"), options, [name], log_scene="exercises", log_case=case)


def test_every_old_name_belongs_to_a_page():
    assert {name for names in PARTS.values() for name in names} == set(OLD)


def test_a_key_stands_for_itself():
    """No old name is another option's key: whatever the address says has one meaning."""
    for name, keys in OLD.items():
        clash = {old for old, key in keys.items() if old in keys.values() and old != key}
        assert not clash, name


@pytest.mark.parametrize("text", ["-2", "2,", "two", "2", "see it too"])
def test_what_was_never_an_options_name_stays_as_it_is_written(text):
    """`2` is an option of the page; what only looks like it is refused in the words of the address."""
    assert key_of("bill_tp", text) == text


@pytest.mark.parametrize(
    ("locale", "header", "spoken"),
    [
        ("es-MX", "", "es"),
        ("es", "en", "es"),
        ("en-GB", "en-GB,es;q=0.9", "en"),
        ("de-DE", "de-DE,es;q=0.7,en;q=0.3", "es"),
        ("fr", "fr,de", "en"),
        (None, "", "en"),
    ],
)
def test_a_first_visit_is_in_the_first_language_that_the_browser_asks_for(monkeypatch, locale, header, spoken):
    monkeypatch.setattr(language.st, "context", SimpleNamespace(locale=locale, headers={"Accept-Language": header}))
    assert language.preferred() == spoken


@pytest.mark.parametrize("name", [*content.languages(), "xx"])
def test_the_address_chooses_the_language(name):
    app = visit(LABS[1], lang=name)
    spoken = name if name in content.languages() else content.ENGLISH
    scenes = app.segmented_control(key=f"scenes_{LABS[1].prefix}")
    assert scenes.options == [content.load("shell", spoken)[f"tab.{scene}"] for scene in LABS[1].names]
    assert bool(ignored(app)) == (name not in content.languages())
    assert content.language() == content.ENGLISH, "a visit's language stays in its thread"


@pytest.mark.parametrize(
    ("name", "written", "read", "kept"),
    [
        ("bill_alpha", "2,5", 2.5, "2.5"),
        ("bill_alpha", "2,3", 2.3, "2.3"),
        ("bill_alpha", "1\u202f000", 1000.0, "1000"),
        ("bill_tokens", "1'024", 1024, "1024"),
        ("bill_alpha", "--5", 50.0, None),
        ("bill_alpha", "\u22123", 50.0, None),
        ("bill_tokens", "2,5", 1, None),
    ],
)
def test_a_number_in_the_address_is_read_as_its_users_write_it_or_told(name, written, read, kept):
    app = visit(entry("comm_cost"), bill_scene="bench", **{name: written})
    assert not app.exception
    assert app.number_input(name).value == read
    assert app.query_params.get(name) == kept
    assert bool(ignored(app)) == (kept is None)
