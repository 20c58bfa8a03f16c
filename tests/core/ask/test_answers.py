"""Twenty questions as users post them, with the right answers worked by hand."""

import re

import pytest

from core.ask.answers import ANSWERS, answered
from core.ask.kinds import KINDS
from core.ask.reading import read_question
from core.catalog import gpu, model
from core.errors import UnknownNameError
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question
from core.placement.rank_memory import measured_budget
from core.scenario import Scenario
from runtime.prose import worded
from tests.core.ask.test_reading import QUESTIONS
from tests.each import each


def told(text: str, kind: str = "") -> tuple[str, list[str]]:
    """The kind that was understood, and the lines of the answer."""
    found = answered(read_question(text), kind)
    return found.kind, [worded(line).replace("\u202f", "") for line in found.lines]


def number_in(line: str, pattern: str) -> float:
    return float(re.search(pattern, line)[1])


def test_six_a6000_take_four_and_two_stand_idle():
    """64 query heads divide by 4, not by 6 or 3; 70.6 GB of weights on each of two would be over 0.9 · 51 GB.

    141.1/4 = 35.3 GB + 3.5 fit. Six in all are TP=2 × PP=3.
    """
    kind, lines = told("Six A6000, Llama 3.1 70B: which TP?")
    assert kind == "which_tp"
    assert lines[0].startswith("Take TP=4:")
    assert lines[1].startswith("2 GPUs of 6 stand idle. The best plan that uses them all is TP=2 PP=3")
    assert "64 query heads and 8 KV heads: 1, 2, 4, 8" in lines[2]


def test_six_t4_hold_a_32b_model_in_4_bits_on_four_of_them():
    """32.8 B · 0.53 B = 17.4 GB over four is 4.4 GB a rank, under 0.9 · 15.8 - 3.5 = 10.7 GB."""
    kind, lines = told("Six T4, a 32B model in 4 bits")
    assert kind == "which_tp"
    assert lines[0].startswith("Take TP=4:")
    assert "2 GPUs of 6" in lines[1]


def test_tp_4_saves_half_of_what_tp_2_saved():
    """26 GB of weights over 3.35 TB/s at 0.7 of it: from 2 ranks to 4 saves a quarter of them, 2.8 ms.

    80 all-reduces are paid. So it is 1.4 times as fast and not twice: the rest is no rank's to divide.
    """
    kind, lines = told("CodeLlama 13B, TP=4: why no faster than TP=2?")
    assert kind == "tp_slower"
    assert number_in(lines[2], r"([\d.]+) times as fast") == pytest.approx(1.4, abs=0.1)
    assert "80 all-reduces" in lines[3]


def test_five_billion_active_parameters_leave_little_to_save():
    """gpt-oss-120b on A100: told 1.25 times as fast at TP=2, which lies between two releases of vLLM.

    A token reads 5.7 of 117 B parameters. Of the first month's image 90 tokens/s were published at TP=1, 77 at TP=2
    (vLLM issue 22331); vLLM 0.11's two ranks are met within 2 %, so the first's cannot be a floor of every release.
    """
    kind, lines = told("gpt-oss-120b on A100: why is TP=2 slower than TP=1?")
    assert kind == "tp_slower"
    assert lines[0].startswith(
        "This was measured: on A100 SXM 80 GB, gpt-oss 120B took 11.1 ms between tokens at TP=1"
    )
    assert 1 < number_in(lines[3], r"([\d.]+) times as fast") < 1.3
    assert any("reads only 5 711 982 912" in line or "reads only 5711982912" in line for line in lines)
    assert "72 all-reduces" in lines[4]


def test_copies_of_attention_keep_what_tp_would_hold_eight_times():
    """DeepSeek-V4's compressed keys are whole on every rank of TP=8; eight copies keep eight caches.

    Their weights are larger, attention being whole: so a little less than eight times.
    """
    kind, lines = told("8 × B200, DeepSeek-V4-Flash: TP=8 or DP=8?")
    assert kind == "tp_or_dp"
    held = next(line for line in lines if "times as many" in line)
    assert 7 < number_in(held, r": ([\d.]+) times as many") < 8


def test_thirteen_billion_on_four_a100_take_tp_for_one_sequence():
    """A token passes all stages in turn: 26 GB at 1,555 GB/s each time, or a quarter at a time with TP=4."""
    kind, lines = told("Llama 13B on 4 × A100 40: PP or TP?")
    assert kind == "pp_or_tp"
    tp, pp = (number_in(line, r": ([\d.]+) ms between") for line in lines[1:3])
    assert 2 < pp / tp < 4


def test_loopback_is_answered_by_the_interface():
    kind, lines = told("TP=2 waits forever, NCCL says it uses `lo`")
    assert kind == "hang_interface"
    assert "NCCL_SOCKET_IFNAME" in lines[0]


def test_two_gpus_that_stand_still_after_init_are_told_of_acs():
    kind, lines = told("TP=2 on two RTX PRO 6000 stands still after init (ACS/IOMMU)")
    assert kind == "hang_p2p"
    assert all(word in lines[0] for word in ("ACS", "IOMMU", "NCCL_P2P_DISABLE=1", "RTX PRO 6000"))
    assert answered(read_question("TP=2 hangs on 4090s with pcie")).links[0].stem == "clinic"


def test_thirty_two_thousand_tokens_take_ten_gigabytes_of_a_70b():
    """80 layers · 2 · 8 heads · 128 · 2 B = 327,680 B a token; 32,768 of them 10.7 GB, an eighth of it on each."""
    _, lines = told("does Llama 3.1 70B fit on 8 H100 with 32k context?")
    assert lines[0].startswith("Yes")
    assert number_in(lines[1], r"takes ([\d.]+) GB") == pytest.approx(32768 * 327680 / 8 / 1e9, abs=0.01)


def test_seventy_billion_do_not_fit_two_24_gb_gpus():
    """141 GB over two are 70.6 GB a rank, and 22.8 may be filled."""
    kind, lines = told("Does Llama 3.1 70B fit on two 4090s?")
    assert kind == "fits"
    assert lines[0].startswith("No")
    assert "No plan fits" in lines[1]


def test_405b_in_fp8_needs_six_of_eighty():
    """405.9 GB / 6 = 67.6 + 3.5 GB is under 0.9 · 85; / 5 = 81 is not."""
    kind, lines = told("how many H100s do I need for Llama 3.1 405B in fp8")
    assert kind == "how_many_gpus"
    assert number_in(lines[0], r"take ([\d.]+) GB") == pytest.approx(406, abs=8)
    assert lines[1].startswith("At least 6 ×")


def test_memory_is_added_up_where_it_ran_out():
    """141.1 / 2 = 70.6 + 3.5 = 74.1 of 76.5 GB: 2.4 GB are left."""
    kind, lines = told("CUDA out of memory when loading Llama 3 70B on 2 A100 with tp=2")
    assert kind == "oom"
    assert re.search(r"− 7[01](\.\d)? GB weights − [34](\.\d)? GB overhead = 2(\.\d)? GB", lines[0])


def test_a_token_of_qwen3_32b_is_256_kib():
    """64 layers · 2 · 8 heads · 128 · 2 B = 262,144 B."""
    _, lines = told("How large is the KV cache per token of Qwen3-32B on 2 H100?")
    assert "256 KiB" in lines[0]


def test_three_do_not_divide_32_heads():
    kind, lines = told("Why can't I use TP=3 with Llama 3 8B on 6 L40S?")
    assert kind == "heads"
    assert "TP=3 does not divide it" in lines[1]
    assert "32 = 10 × 3 + 2" in lines[1]


def test_a_pipeline_crosses_nodes_and_tp_does_not():
    """TP=16 over 10 GbE sends 160 all-reduces a token over it; a pipeline one row."""
    kind, lines = told("Llama 3.1 70B on two nodes of 8 H100 with 10 GbE: PP over two nodes or TP?")
    assert kind == "pp_over_nodes"
    stages, across = (number_in(line, r": ([\d.]+) ms between") for line in lines[1:3])
    assert across > 2 * stages
    assert any("NCCL over TCP" in line for line in lines)


def test_an_engine_twice_as_large_has_more_room():
    """8 · 76.5 - 8 · 3.5 - 141 = 443 GB of cache, against 8 · 73 - 2 · 141 = 302: 0.68 times."""
    _, lines = told("2 x TP=4 or one TP=8 for Llama 3.1 70B on 8 H100?")
    assert number_in(lines[-2], r": ([\d.]+) times") == pytest.approx(302 / 443, abs=0.02)


def test_pcie_costs_a_prompt_and_not_a_token():
    """A row of 10 KiB a token waits for latency; a prompt of 2,048 rows sends 2,048 times as much."""
    kind, lines = told("Do I need NVLink for TP=2 on two 3090s with Qwen3 14B?")
    assert kind == "need_nvlink"
    assert lines[0].startswith("Over NVLink")
    assert "PCIe" in lines[1]
    tokens = [number_in(line, r": ([\d.]+) ms between") for line in lines[:2]]
    assert tokens[1] < 1.1 * tokens[0]


def test_eight_bits_halve_what_one_sequence_waits_for_and_not_a_prompt_on_an_a100():
    """An A100 multiplies in 16 bits alone."""
    kind, lines = told("Is FP8 faster than BF16 for Llama 3.1 70B on 4 A100?")
    assert kind == "width_speed"
    whole, half = (number_in(line, r": ([\d.]+) ms between") for line in lines[:2])
    assert 1.5 < whole / half < 2
    assert "multiplies in sixteen bits" in lines[-1]


def test_a_rate_stands_beside_its_band():
    _, lines = told("How many tokens per second will Llama 3.1 70B give on 4 H100?")
    assert "tokens/s" in lines[0]
    assert any("Eight in ten published times" in line for line in lines)


def test_a_gpu_that_nobody_timed_inherits_no_published_times():
    """An H100 NVL shares an H100's constants; ten published times of the H100 are none of it."""
    _, lines = told("How many tokens per second will Llama 3.1 8B give on 2 H100 NVL?")
    assert not any(re.search(r"\d+ published times from", line) for line in lines)
    assert any("never tested here on H100 NVL" in line for line in lines)


@each("text", QUESTIONS)
def test_every_question_has_an_answer_and_a_link_with_the_asker_s_own(text):
    """The address reads back as the model and the GPU that were said; a command plans the same."""
    asked = read_question(text)
    found = answered(asked)
    assert found.kind == QUESTIONS[text]
    assert found.lines
    assert all(worded(line) for line in found.lines)
    for link in found.links:
        scenario, ignored = Scenario.from_query(link.query)
        assert not ignored
        assert (scenario.model, scenario.gpu) == (asked.model.key, asked.gpu.key)
    assert bool(found.command) != found.kind.startswith("hang")


def test_a_kind_may_be_named_and_every_kind_has_an_answer():
    assert set(ANSWERS) == {kind.key for kind in KINDS}
    assert told("Llama 3 8B on 4 A100", "fits")[0] == "fits"
    assert answered(read_question("What is the weather?")).kind == ""
    with pytest.raises(UnknownNameError):
        answered(read_question("anything"), "nobody")


@each(
    "text",
    [
        "Llama 3 70B on 2 nodes of 8 H100: why is TP=16 slower than TP=8?",
        "Llama 3 70B on 2 nodes of 8 H100: TP=16 over the nodes or PP=2?",
        "Llama 3 70B on H100: why is TP=16 no faster than TP=8?",
        "Llama 3 70B on 16 H100: PP or TP=16?",
    ],
)
def test_one_layout_has_one_price_whatever_is_asked_of_it(text):
    """TP=16 of H100 crosses two nodes, and costs what the planner says that it costs there."""
    cluster = usual_cluster(gpu("h100-sxm"), 8, 2)
    question = Question(model("llama-3-70b"), cluster, measured_budget(cluster.gpu), Demand(concurrency=1))
    price_ms = question.timing(Layout(16), 1).itl_s * 1e3
    _, lines = told(text)
    said = next(line for line in lines if line.startswith("TP=16:"))
    assert number_in(said, r"TP=16: ([\d.]+) ms") == pytest.approx(price_ms, rel=0.01)
