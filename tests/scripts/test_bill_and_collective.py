"""The bill and a collective from a terminal: JSON on stdout, or one line on stderr and exit status 2."""

import json

import pytest

from core.scenario import Scenario
from core.steps.view import View
from scripts import bill, collective
from tests.each import each

RING = ["--op", "all_reduce", "--algorithm", "ring", "--ranks", "8", "--bytes", "8192"]
LINK = ["--latency-us", "3", "--bandwidth-gb-s", "300"]
NVLINK = ["--model", "llama-3-8b", "--tp", "2", "--link", "nvlink-lab"]


def printed(capsys, command, arguments):
    assert command.main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_a_ring_of_eight_from_the_terminal(capsys):
    """14 hops of 3 µs; 1.75 x 8192 B over 300 GB/s."""
    result = printed(capsys, collective, RING + LINK)
    assert (result["steps"], result["traffic_bytes"]) == (14, 14336)
    assert result["latency_s"] == pytest.approx(42e-6)
    assert result["bandwidth_s"] == pytest.approx(14336 / 300e9)
    assert result["total_s"] == pytest.approx(42e-6 + 14336 / 300e9)


def test_a_launch_is_added_once(capsys):
    without = printed(capsys, collective, RING + LINK)["total_s"]
    assert printed(capsys, collective, [*RING, *LINK, "--base-us", "5"])["total_s"] == pytest.approx(without + 5e-6)


@pytest.mark.parametrize(("ranks", "warned"), [(8, False), (4, True)])
def test_an_own_link_at_another_number_of_ranks_carries_a_warning(capsys, ranks, warned):
    link = ["--model", "llama-3-8b", "--tp", str(ranks), "--link", "own_0.55_409_3.2_8"]
    assert ("extrapolation" in printed(capsys, bill, link).get("warning", "")) == warned


def test_the_ethernet_bill_from_the_terminal(capsys):
    result = printed(
        capsys, bill, ["--model", "meta-llama/Meta-Llama-3-8B", "--tp", "2", "--link", "ethernet-10g-lab"]
    )
    assert (result["payload_bytes"], result["all_reduces"]) == (8192, 64)
    assert result["comm_s"] == pytest.approx(6.819e-3, rel=1e-3)
    assert result["comm_fraction"] == pytest.approx(0.460, abs=5e-4)
    assert [extra["payload_bytes"] for extra in result["extra_collectives"]] == [8192, 256_512]
    assert result["comm_s"] == pytest.approx(result["latency_s"] + result["bandwidth_s"] + result["base_s"])


def test_a_step_may_be_given(capsys):
    result = printed(capsys, bill, [*NVLINK, "--step-ms", "3.35", "--tokens", "2048"])
    assert result["payload_bytes"] == 16_777_216
    assert result["comm_fraction"] == pytest.approx(result["comm_s"] / (3.35e-3 + result["comm_s"]))


def test_overlap_advice_and_nodes_are_answered_beside_the_bill(capsys):
    """Half of 6.82 ms hidden; 6.4 ms of it is hops; sixteen GPUs are two nodes of eight."""
    ethernet = ["--model", "llama-3-8b", "--tp", "2", "--link", "ethernet-10g-lab", "--overlap", "0.5", "--advice"]
    result = printed(capsys, bill, ethernet)
    assert result["exposed_s"] == pytest.approx(3.41e-3, rel=1e-3)
    assert result["advice"]["better"] == "halve_latency"
    assert result["advice"]["halve_latency_saves_s"] == pytest.approx(3.2e-3)
    across = ["--model", "llama-3-8b", "--tp", "16", "--link", "nvlink-4", "--network", "ib-ndr"]
    nodes = printed(capsys, bill, across)["across_nodes"]
    assert nodes["nodes"] == 2
    assert nodes["comm_s"] == pytest.approx(nodes["inside_s"] + nodes["network_s"])
    assert nodes["flat_ring_s"] > nodes["comm_s"]
    assert (nodes["published_tables"], nodes["median_error"]) == (19, 0.23)


def test_beside_a_price_stands_what_was_timed_on_such_a_link_or_that_nothing_was(capsys):
    """NCCL's 10.97 us among two A100, 6.77 among two H100; nobody timed 10 GbE among four, nor NVLink 5."""
    asked = ["--model", "llama-3-8b", "--tp", "2", "--link"]
    napkin = printed(capsys, bill, [*asked, "nvlink-lab"])["timed"]
    assert (napkin["a100-nccl_s"], napkin["h100-nccl_s"]) == (pytest.approx(10.97e-6), pytest.approx(6.77e-6))
    assert napkin["one_s"] == pytest.approx(6.03e-6, rel=1e-2)
    for untimed in (["--tp", "4", "--link", "ethernet-10g"], ["--tp", "2", "--link", "nvlink-5"]):
        assert printed(capsys, bill, ["--model", "llama-3-8b", *untimed])["timed"] == "never tested here"
    assert bill.main([*asked, "pcie-4"]) == 0
    assert "timed, l40s-nccl_s" in capsys.readouterr().out


def test_the_speed_up_is_of_the_step_divided_on_the_link_as_measured(capsys):
    """4 ms + 64 x 5.1 us = 4.33 ms of 8; over 10 GbE a token is slower than on one GPU. An A100's step."""
    asked = ["--model", "llama-3-8b", "--tp", "2", "--as-measured", "--link"]
    near = printed(capsys, bill, [*asked, "nvlink-3"])["as_measured"]
    far = printed(capsys, bill, [*asked, "ethernet-10g"])["as_measured"]
    assert (near["kernel"], far["kernel"]) == ("one stage", "NCCL")
    assert near["speedup"] == pytest.approx(8 / 4.33, rel=2e-3)
    assert far["speedup"] == pytest.approx(8e-3 / far["step_s"])
    assert far["speedup"] < 0.5


def test_a_mixtures_exchanges_are_answered_beside_the_bill(capsys):
    """DeepSeek-V3 over 8 ranks: 5.29 copies of 8, 58 layers, a third of tensor parallelism's bytes."""
    mixture = ["--model", "deepseek-v3", "--tp", "8", "--link", "nvlink-4", "--tokens", "256", "--expert-parallel"]
    experts = printed(capsys, bill, mixture)["expert_parallel"]
    assert (experts["layers"], experts["copies"]) == (58, pytest.approx(5.29, abs=0.01))
    assert experts["traffic_ratio"] == pytest.approx(5.29 / 16, abs=0.001)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [(bill, NVLINK), (bill, [*NVLINK, "--advice", "--overlap", "1"]), (collective, RING + LINK)],
)
def test_without_json_a_table_is_printed(capsys, command, arguments):
    assert command.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 5
    assert any(line.startswith("latency") for line in lines)


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        (collective, ["--op", "all_to_all", *RING[2:], *LINK], "no all_to_all algorithm named 'ring'"),
        (collective, [*RING[:3], "rabenseifner", "--ranks", "6", "--bytes", "8", *LINK], "power of two"),
        (collective, [*RING[:-1], "-8", *LINK], "traffic_bytes"),
        (collective, [*RING[:-1], "9" * 400, *LINK], "too large"),
        (collective, [*RING, "--latency-us", "nan", "--bandwidth-gb-s", "300"], "--latency-us"),
        (collective, [*RING, "--latency-us", "3", "--bandwidth-gb-s", "0"], "bandwidth"),
        (collective, [*RING[:4], "--ranks", "0", "--bytes", "8", *LINK], "ranks=0"),
        (collective, RING, "--latency-us"),
        (bill, [*NVLINK[:-1], "string"], "no link named 'string'"),
        (bill, ["--model", "nobody/nothing", *NVLINK[2:]], "no model named"),
        (bill, [*NVLINK, "--tokens", "0"], "tokens=0"),
        (bill, [*NVLINK, "--step-ms", "-1"], "step_ms"),
        (bill, [*NVLINK, "--overlap", "2"], "overlap_fraction"),
        (bill, [*NVLINK, "--expert-parallel"], "dense"),
        (bill, [*NVLINK, "--network", "string"], "no link named 'string'"),
        (bill, [*NVLINK, "--network", "ib-ndr", "--gpus-per-node", "0"], "gpus_per_node"),
        (bill, ["--model", "llama-3-8b", "--tp", "0", "--link", "nvlink-lab"], "tp_size=0"),
        (bill, ["--model", "llama-3-8b", "--tp", "3", "--link", "nvlink-4"], "32 = 10 × 3 + 2"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(capsys, command, arguments, says):
    with pytest.raises(SystemExit) as ended:
        command.main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    assert says in err


GRID = [
    (key, tp, batch, link_key, gpu_key)
    for key in ("llama-3-8b", "llama-3.1-70b", "mixtral-8x7b")
    for tp in (2, 8)
    for batch in (1, 64)
    for link_key, gpu_key in (
        ("nvlink-4", "h100-sxm"),
        ("nvlink-3", "a100-80gb-sxm"),
        ("nvlink-lab", "a100-80gb-sxm"),
        ("pcie-4", "l40s"),
    )
]


@each(("key", "tp", "batch", "link_key", "gpu_key"), GRID)
def test_the_command_answers_as_lab_03_does(capsys, key, tp, batch, link_key, gpu_key):
    """70B over eight H100 with 64 sequences: 7.6 ms and 5.5 times as fast, not a step of 8 ms for every model."""
    asked = ["--model", key, "--tp", str(tp), "--tokens", str(batch), "--link", link_key, "--gpu", gpu_key]
    told = printed(capsys, bill, [*asked, "--as-measured"])
    scenario = Scenario(model=key, gpu=gpu_key, link=link_key, tp=tp, batch=batch)
    page, napkin = View(scenario), View(scenario, napkin=True)
    shown = page.price(page.link)
    assert told["as_measured"]["step_s"] == pytest.approx(shown.total_s)
    assert told["as_measured"]["speedup"] == pytest.approx(shown.speedup)
    assert told["as_measured"]["kernel"] in (page.kernel(page.link), "NCCL")
    assert told["compute_s"] == pytest.approx(napkin.step.compute_s)
    if link_key == napkin.link.key:
        assert told["comm_fraction"] == pytest.approx(napkin.price(napkin.link).comm_fraction)


@pytest.mark.parametrize("prompt", [512, 2048])
def test_a_prefill_is_lab_03_s_too(capsys, prompt):
    asked = ["--model", "llama-3-70b", "--tp", "4", "--link", "nvlink-4", "--prompt", str(prompt), "--as-measured"]
    told = printed(capsys, bill, asked)
    page = View(Scenario("llama-3-70b", "h100-sxm", "nvlink-4", tp=4, prompt_tokens=prompt), "prefill")
    assert told["gpu"] == "h100-sxm"
    assert told["as_measured"]["speedup"] == pytest.approx(page.price(page.link).speedup)
