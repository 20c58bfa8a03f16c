"""Lab 03's prose over the scenario grid: every field is filled, and nouns agree with their numbers."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog import GPUS, LINKS, MODELS
from core.collectives.clock import AllReduce
from core.comm_cost.asked import AskedBill
from core.scenario import Scenario
from core.steps.view import View, rule
from runtime import content
from runtime.catalog_words import short_name
from runtime.measurements import measured_all_reduces
from runtime.prose import Prose
from tests.each import each
from ui.comm_cost import words, words_bench
from ui.comm_cost.rows_bench import share_dots

POINTS = measured_all_reduces()
BLOCKS = content.load("comm_cost")
OWN = AskedBill(50.0, 1.25, 1, 8.0, 2, "llama-3-8b")
OF_THE_PAGE = re.compile(
    r"(fits|question|verdict|see|count|limits)\.|refused$|bench\.(reading|ranks|constants|gpus|kernels)"
)
WRONG = re.compile(
    r"(?<![\d.,])1[\s\u00a0](GPUs|ranks|hops|rows|verdicts|times|layers)\b"
    r"|\b[02-9]\d*[\s\u00a0](GPU|rank|hop|row) |One GPU (share|divide) |\bnan\b|\bNone\b"
)

scenarios = st.builds(
    Scenario,
    model=st.sampled_from(sorted(MODELS)),
    gpu=st.sampled_from(sorted(GPUS)),
    link=st.sampled_from(sorted(LINKS)),
    network=st.sampled_from(sorted(LINKS)),
    tp=st.sampled_from((1, 2, 3, 8, 64)),
    batch=st.sampled_from((1, 7, 4096)),
    prompt_tokens=st.sampled_from((1, 2048)),
)


@settings(max_examples=25, deadline=None)
@given(scenarios, st.sampled_from(("decode", "prefill")), st.booleans())
def test_every_sentence_of_the_page_is_filled_and_agrees(scenario, phase, napkin):
    view = View(scenario, phase, napkin)
    all_reduce = AllReduce(4, view.step.payload_bytes, view.link, 1.5)
    fields = {
        **words.fields(view, OWN, POINTS),
        **words_bench.rounds(all_reduce),
        **words_bench.gpus(view, share_dots(view)),
        **words_bench.kernels(view),
    }
    prose = Prose(BLOCKS, fields)
    for name in filter(OF_THE_PAGE.match, BLOCKS):
        said = prose.text(name)
        assert not WRONG.search(said), (name, said)


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        (Scenario(), "Of the embedding table a step reads only one row"),
        (Scenario(model="mixtral-8x7b"), "only the experts that some token is routed to: 25% of them"),
        (Scenario(batch=512), "8.223 TFLOP of arithmetic ÷ 312 TFLOP/s = 26.4 ms"),
    ],
)
def test_the_step_is_told_as_it_is_computed(scenario, told):
    """Of 93.4 GB Mixtral's step reads 25.8; with 512 sequences arithmetic takes longer than any reading."""
    shown = words.fields(View(scenario), OWN, POINTS)
    assert told in str(shown["step_formula"]).replace("\u202f", " ").replace("\xa0", " ")


def test_nothing_above_the_prediction_answers_it():
    """What the question is filled with is no bill: the page computes it only for the reading."""
    asked = BLOCKS["question.ask"] + BLOCKS["question.title"] + BLOCKS["question.label"]
    assert not re.search(r"speedup|total_s|comm_s|fraction", asked)


def test_a_larger_model_is_told_to_pay_a_smaller_share_on_a_slow_link():
    """70B beside 8B: twice the payload, 2.5 times the sums, 8.65 times the lab's 8 ms of compute."""
    view = View(Scenario(link="ethernet-10g"))
    told = words_bench.gpus(view, share_dots(view))
    assert (told["pair_payload"], told["pair_sums"]) == (2, 2.5)
    assert told["pair_compute"] == pytest.approx(8.65, abs=0.01)
    assert told["large_bill"].comm_fraction < told["small_bill"].comm_fraction


@each("key", GPUS)
def test_the_rule_is_told_with_the_pcie_that_the_card_has(key):
    """Every GPU was told PCIe 4 with peer access: an H100 has PCIe 5, and a 4090's copies go through the host."""
    view = View(Scenario(gpu=key, link="nvlink-4"), "decode")
    told = rule(view)
    assert view.asked == view.compared[1] == view.bus, "the rule said PCIe 5, the question and the bars PCIe 4"
    seen = short_name(told.pcie.link).replace("\u00a0", " ")
    assert seen == {"h100-sxm": "PCIe 5 x16", "v100-sxm2": "PCIe 3 x16"}.get(key, seen)
    assert key != "rtx-4090" or told.pcie.prefill < 1
    assert told.fabric.prefill > told.pcie.prefill
    assert told.fabric.decode > told.pcie.decode, "MI355X: 0.61 over xGMI under RCCL, 1.12 over PCIe under NCCL"
