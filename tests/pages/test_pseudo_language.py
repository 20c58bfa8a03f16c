"""Every page and scene in a language that is English with accents: what has none is said outside of content/."""

import json
import re
import shutil
from collections.abc import Iterator

import pyarrow as pa
import pytest

from runtime import content
from tests import pseudo
from tests.pages.test_every_scene import visit
from ui.course.pages import LABS, OVERVIEW, PAGES

NO_WORDS = {
    *("filter", "calculate", "expr", "test", "labelExpr", "type", "field", "font", "as", "name", "align", "sort"),
    *("baseline", "fontWeight", "op", "titleFont", "labelFont", "autosize", "background", "interpolate", "shape"),
    *("key", "kind", "$schema", "color", "stroke", "fill"),
}
"""Parts of a chart or of a player's data that nobody reads."""

NAMES = re.compile(
    r"Megatron(?:-LM)?|Hopper|Blackwell|Ampere|English|README(?:\.md)?|MiniGPT(?:, shared memory)?|config\.json"
    r"|issue #?\d+|[\w.-]+/[\w./-]+|\{\{.*?\}\}|main @ \w+|H100 (?:graph|eager)|custom all-reduce|Wdown"
    r"|NCCL [\d.]+ over TCP|your platform lacks GPU P2P capability or P2P test failed|TFLOPS dense|SHARDLAB\w*"
    r"|\b(?:ring|tree|torchrun|shared memory \d|tables \d|pip|download|run)\b|term-[\w-]+|\b[a-z]+(?:_[a-z]+)+\b"
    r"|\bequals\b|, 1 token,|collective \d|aiconfigurator|distributed\.\w+|result\.json"
    r"|partial y|^KV cache$|\d tokens$|requests$|\d cores\b"
    r"|GiB total in publ.*? messages"
)
"""Proper names, what a program printed, algorithms, and fields that a player fills."""

KEYS = re.compile(r"[a-z]+(?:[._]\w+)*(?<!measured)(?<!predicted)(?<!heads)")
"""One lower-case word is a key that a player or a chart compares, but for those that a legend once showed."""


def strings(value: object) -> Iterator[str]:
    """Every text in what a chart or a player is sent."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in NO_WORDS:
                yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def shown(node) -> Iterator[str]:
    """Every text of a page: labels, options, helps, prose, and what stands in charts and players."""
    for child in getattr(node, "children", {}).values():
        yield from shown(child)
    proto = getattr(node, "proto", None)
    if proto is None or ((label := getattr(proto, "label", "")) and label == getattr(node, "key", "")):
        return  # nothing, or what is mounted and not seen
    if getattr(node, "type", "") == "html" and "<style" in proto.body:
        return
    yield from (text for name in ("label", "help", "body", "placeholder") if (text := getattr(proto, name, "")))
    yield from (one if isinstance(one, str) else one.content for one in getattr(proto, "options", ()))
    if getattr(node, "type", "") == "bidi_component" and proto.json:
        yield from strings(json.loads(proto.json))
    if hasattr(proto, "spec"):
        yield from strings(json.loads(proto.spec))
        for sent in proto.datasets:
            table = pa.ipc.open_stream(sent.data.data).read_all()
            yield from (cell for name in table.column_names for cell in table[name].to_pylist() if cell)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """English beside a language made from it, and English's own words."""
    there, root = content.CONTENT, tmp_path_factory.mktemp("languages") / "content"
    shutil.copytree(there / content.ENGLISH, root / content.ENGLISH)
    pseudo.write(root)
    english = pseudo.vocabulary()
    content.CONTENT = root
    content.forget()
    yield english
    content.CONTENT = there
    content.forget()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_nothing_in_english_where_english_is_not_spoken(page, words):
    """A visit in English goes before, so that what is kept in its words would show."""
    left = {}
    for scene in page.names if page is not OVERVIEW else [""]:
        query = (page.scene(scene) if scene else {}) | ({f"{page.prefix}_revealed": "true"} if page in LABS else {})
        assert not visit(page, **query).exception
        app = visit(page, lang=pseudo.NAME, **query)
        assert not app.exception, scene
        texts = {text for text in shown(app._tree) if isinstance(text, str) and not KEYS.fullmatch(text)}
        left[scene] = {text[:120] for text in texts if pseudo.english_in(NAMES.sub(" ", text), words)}
    assert {scene: found for scene, found in left.items() if found} == {}
