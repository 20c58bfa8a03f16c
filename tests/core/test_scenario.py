"""The scenario survives any query and comes back from its own."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import GPUS, LINKS, MODELS
from core.errors import OutOfRangeError, UnknownNameError
from core.scenario import FIELD_NAMES, LIMITS, Scenario, query_name
from core.specs import DTYPE_BYTES
from runtime.prose import worded
from tests.each import each

NAMES = [query_name(name) for name in FIELD_NAMES]

scenarios = st.builds(
    Scenario,
    model=st.sampled_from(list(MODELS)),
    gpu=st.sampled_from(list(GPUS)),
    link=st.sampled_from(list(LINKS)),
    network=st.sampled_from(list(LINKS)),
    weight_dtype=st.sampled_from(list(DTYPE_BYTES)),
    kv_dtype=st.sampled_from(list(DTYPE_BYTES)),
    **{name: st.integers(*limits) for name, limits in LIMITS.items()},
)


def test_the_names_in_the_address_are_short():
    assert " ".join(NAMES) == "model gpu link network tp pp replicas batch prompt output weights kv slow"


def test_the_default_is_the_labs_case_and_needs_no_query():
    scenario, ignored = Scenario.from_query({})
    assert (scenario, ignored, scenario.to_query()) == (Scenario(), [], {})
    assert (scenario.model, scenario.gpu) == ("llama-3-8b", "a100-80gb-sxm")
    assert (scenario.link, scenario.network) == ("nvlink-lab", "ethernet-10g-lab")
    assert (scenario.tp, scenario.pp, scenario.replicas, scenario.batch) == (2, 1, 1, 1)
    assert scenario.prompt_tokens == 2048
    assert (scenario.slow_percent, scenario.slowdown) == (0, 1)


@given(scenarios)
def test_a_scenario_comes_back_from_its_own_query(scenario):
    assert Scenario.from_query(scenario.to_query()) == (scenario, [])


@given(st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text()), st.text()))
def test_any_text_gives_a_valid_scenario_and_never_raises(params):
    scenario, ignored = Scenario.from_query(params)
    assert scenario == Scenario.from_query(scenario.to_query())[0]
    assert len(ignored) <= sum(name in NAMES for name in params)
    assert all(worded(one).isprintable() and worded(one).endswith("is used.") for one in ignored)


@each("text", ["", "0", "-1", "65", "2.0", "1e1", "²", "٣", "1_0", "9" * 5000, "nan", "2;3"])
def test_a_tp_that_is_no_whole_number_in_range_is_ignored_in_a_sentence(text):
    scenario, (ignored,) = Scenario.from_query({"tp": text, "pp": "4"})
    sentence = worded(ignored)
    assert (scenario.tp, scenario.pp) == (2, 4)
    assert sentence.startswith("tp=")
    assert sentence.endswith("is not a whole number from 1 to 64; 2 is used.")
    assert len(sentence) < 120


@pytest.mark.parametrize(("length", "kept"), [(40, "x" * 40), (41, "x" * 39 + "…"), (5000, "x" * 39 + "…")])
def test_what_was_typed_is_said_again_up_to_forty_characters(length, kept):
    _, (ignored,) = Scenario.from_query({"tp": "x" * length})
    assert dict(ignored.values)["text"] == kept


@pytest.mark.parametrize("text", ["-1", "901", "50%", "1.5", "", "nan", "9" * 5000])
def test_a_slow_rank_out_of_range_is_ignored_in_a_sentence(text):
    scenario, (ignored,) = Scenario.from_query({"slow": text, "tp": "8"})
    sentence = worded(ignored)
    assert (scenario.slow_percent, scenario.tp) == (0, 8)
    assert sentence.endswith("is not a whole number from 0 to 900; 0 is used.")


@pytest.mark.parametrize(("text", "slowdown"), [("0", 1), ("50", Fraction(3, 2)), ("100", 2), ("900", 10)])
def test_a_rank_slower_by_a_hundred_per_cent_takes_twice_the_time(text, slowdown):
    assert Scenario.from_query({"slow": text})[0].slowdown == slowdown


def test_each_ignored_value_has_its_own_sentence_and_others_hold():
    scenario, ignored = Scenario.from_query({"model": "gpt-5", "gpu": "H100", "kv": "fp7", "page": "3"})
    assert (scenario.model, scenario.gpu, scenario.kv_dtype) == ("llama-3-8b", "h100-sxm", "bf16")
    assert [worded(one) for one in ignored] == [
        "model=gpt-5 is not in the catalog; llama-3-8b is used.",
        "kv=fp7 is not one of fp32, bf16, fp16, fp8, int8, mxfp4, int4; bf16 is used.",
    ]


def test_an_alias_becomes_its_key():
    scenario, _ = Scenario.from_query({"model": "meta-llama/Meta-Llama-3-70B-Instruct"})
    assert scenario.to_query() == {"model": "llama-3-70b"}


def test_properties_resolve_to_the_specs():
    scenario = Scenario(tp=4, pp=2, replicas=3, batch=8, prompt_tokens=512)
    assert scenario.model_spec is MODELS["llama-3-8b"]
    assert scenario.gpu_spec is GPUS["a100-80gb-sxm"]
    assert scenario.link_spec is LINKS["nvlink-lab"]
    assert scenario.network_spec is LINKS["ethernet-10g-lab"]


def test_a_scenario_built_by_hand_is_validated():
    with pytest.raises(OutOfRangeError, match="tp=65"):
        Scenario(tp=65)
    with pytest.raises(OutOfRangeError, match=r"batch=1\.5"):
        Scenario(batch=1.5)
    with pytest.raises(OutOfRangeError, match="slow_percent=-1"):
        Scenario(slow_percent=-1)
    with pytest.raises(UnknownNameError, match="gpt-5"):
        Scenario(model="gpt-5")


def test_a_link_of_ones_own_travels_in_the_query():
    scenario, ignored = Scenario.from_query({"link": "own_3.12_409_7.26_8"})
    assert ignored == []
    assert scenario.link_spec.base_s == pytest.approx(7.26e-6)
    assert Scenario.from_query(scenario.to_query())[0] == scenario


@each("gpu", GPUS)
def test_the_napkins_links_stand_for_what_joins_such_gpus(gpu):
    """A GPU without NVLink is joined by PCIe, whatever the labs' napkin says; the network is the timed 10 GbE."""
    timed = Scenario(gpu=gpu).timed
    assert (timed.link, timed.network) == (GPUS[gpu].link_key, "ethernet-10g")
    assert timed.link_spec.is_fabric or not timed.gpu_spec.nvlink
    assert timed.timed == timed


def test_a_link_that_was_chosen_stays_as_it_is():
    chosen = Scenario(link="pcie-5", network="ib-ndr")
    assert chosen.timed == chosen
