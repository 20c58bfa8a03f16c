"""What a catalog row says of itself is said in the language being spoken, phrase by phrase."""

import re

import pytest

from core.catalog import GPUS, LINKS, MODELS
from core.catalog.measured_link import measured_link
from core.placement.steps import LinkBill
from core.strategy.picker import RECOMPUTED
from core.strategy.training.layout import Strategy
from runtime import catalog_words, content
from runtime.prose import Prose
from tests import pseudo
from tests.pages.test_pseudo_language import NAMES

OWN = [measured_link(1e-6, 1e9, 1e-6, 4), measured_link(1e-6, 1e9, 1e-6, 2, "gloo")]
SAID = {
    f"{row.key}.{field}": getattr(row, field, "")
    for row in (*LINKS.values(), *GPUS.values(), *OWN)
    for field in ("name", "source", "measured_note")
} | {f"{row.key}.name": row.name for row in MODELS.values()}
"""A model's source is on no page."""

FIGURES = re.compile(r"\b(?:TFLOPS|PFLOPS|Edition|hardware_spec|tuner|busbw|yaml|py|md)\b")
OF_OTHERS = re.compile(r"NVLink|ConnectX|GeForce|Slingshot|InfiniBand|xGMI|RoCE")
"""Names and units that every language has so."""


@pytest.fixture
def spanish():
    with content.speaking("es"):
        yield


def test_every_word_of_a_row_is_in_a_phrase():
    """Who adds a row in words of its own adds them to content/, too; names, titles and numbers are no words."""
    left = {}
    for where, text in SAID.items():
        if not where.endswith(".name") or where.partition(".")[0] in LINKS:
            bare = catalog_words.phrases(content.CONTENT.as_posix()).sub(" ", text)
            bare = OF_OTHERS.sub(" ", FIGURES.sub(" ", bare))
            left[where] = [word for word in pseudo.plain_in(bare, NAMES) if word not in ("hahnyuan", "gloo")]
    assert {where: words for where, words in left.items() if words} == {}


def test_no_phrase_is_idle():
    text = "; ".join([*SAID.values(), Strategy().name, RECOMPUTED])
    found = {match[0] for match in catalog_words.phrases(content.CONTENT.as_posix()).finditer(text)}
    assert set(content.blocks("catalog", "en").values()) - found == set()


def test_english_is_the_rows_own():
    assert {where: catalog_words.told(text) for where, text in SAID.items()} == SAID


def test_a_row_is_told_in_spanish_with_its_numbers(spanish):
    link, network = LINKS["nvlink-5"], LINKS["pcie-4-no-p2p"]
    assert catalog_words.told(link.measured_note) == (
        "busbw en anillo 673 a 682 GB/s; las reducciones en el switch imprimen 838 a 845"
    )
    assert catalog_words.told(link.source).startswith("1\u202f800 GB/s en los dos sentidos, la mitad")
    assert Prose({"said": "{{link.name}}"}, {"link": network}).text("said") == "PCIe 4 x16, sin P2P"
    assert catalog_words.told(LINKS["ethernet-10g-lab"].name) == "10 GbE, aproximado"


def test_a_release_keeps_its_point(spanish):
    assert "8 KiB con NCCL 2.27 y N = 2, 4, 8 (10,97, 14,68" in catalog_words.told(LINKS["nvlink-3"].source)
    assert Prose({"said": "{{model.name}}"}, {"model": MODELS["llama-3.1-8b"]}).text("said") == "Llama 3.1 8B"
    assert catalog_words.told("vLLM 0.33.0; 2.5 GB/s, GLM-4.7-Flash") == "vLLM 0.33.0; 2,5 GB/s, GLM-4.7-Flash"
    assert not [row.name for row in MODELS.values() if re.search(r"\d,\d", catalog_words.told(row.name))]


def test_a_strategy_and_what_a_plan_pays_its_links_are_told(spanish):
    paid = LinkBill("all-reduces", "NVLink, rough", 64, 8192, 1e-3, 1e-3)
    fields = {"plan": Strategy(), "bill": paid}
    assert Prose({"said": "{{plan.name}}; {{bill.link}}"}, fields).text("said") == "una GPU; NVLink, aproximado"


def test_a_short_name_leaves_out_a_remark_and_no_half_of_a_bracket(spanish):
    assert catalog_words.short_name(LINKS["nvlink-4"]) == "NVLink 4 (H100, H200)".replace(" ", "\u00a0")
    assert catalog_words.short_name(LINKS["ethernet-10g-lab"]) == "10\u00a0GbE"
