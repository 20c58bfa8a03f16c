"""`python -m scripts.plan`: what it prints, and what it refuses in one line."""

import json

import pytest

from core.collectives.across import FAR, HELD
from core.errors import remark
from runtime.prose import worded
from scripts.plan import main
from scripts.terminal import NOTHING_FITS
from tests.yaml_here import read

TOPO = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-63\nGPU1\tPHB\t X \t0-63\n"
CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def plan(capsys, *arguments: str, status: int = 0) -> dict:
    """The one JSON object on stdout."""
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_seventy_billion_on_a_node_of_eighties(capsys):
    """141.1/2 + 0.38 + 3.5 = 74.4 GB is over 0.9 · 80: four."""
    printed = plan(
        capsys,
        "--model",
        "llama-3-70b",
        "--gpu",
        "h100",
        "--gpus-per-node",
        "8",
        "--nodes",
        "1",
        "--memory-gb",
        "80",
    )
    assert printed["min_tp_for_fit"] == 4
    chosen = printed["plans"][printed["recommended"]]
    assert chosen["fits"]
    by_size = {(one["tp"], one["pp"], one["replicas"]): one for one in printed["plans"]}
    four = by_size[4, 1, 2]
    assert four["weights_gib_per_rank"] == pytest.approx(141.107 / 4 * 1e9 / 2**30, rel=1e-3)
    assert four["kv_tokens"] == pytest.approx((72e9 - 3.5e9 - 141.107e9 / 4) / (327_680 / 4), rel=2e-3)
    assert not by_size[1, 1, 8]["fits"]
    assert by_size[1, 1, 8]["itl_s"] is None
    for one in printed["plans"]:
        if one["fits"]:
            assert one["ttft_s"] > 0
            assert one["tokens_per_s"] * one["itl_s"] == pytest.approx(1)


def test_the_measured_memory_flips_the_answer(capsys):
    """An "80 GB" H100 reports 79.19 GiB, 85.03 · 10⁹ bytes: two hold what four did."""
    printed = plan(capsys, "--model", "llama-3-70b", "--gpu", "h100", "--gpus-per-node", "8")
    assert printed["min_tp_for_fit"] == 2
    assert "79.19 GiB" in printed["usable_source"]


def test_none_fits_is_null(capsys):
    printed = plan(
        capsys,
        *("--model", "llama-3-70b", "--gpu", "rtx-4090", "--gpus-per-node", "2", "--overhead-gb", "30"),
        status=NOTHING_FITS,
    )
    assert printed["min_tp_for_fit"] is None
    assert printed["recommended"] is None
    assert printed["command"] is None


def test_a_plan_that_crosses_a_node_says_so(capsys):
    printed = plan(capsys, "--model", "llama-3.1-405b", "--gpu", "h100", "--gpus-per-node", "8", "--nodes", "2")
    assert printed["min_tp_for_fit"] == 16
    crossing = [one for one in printed["plans"] if one["tp"] == 16]
    assert crossing
    assert all("crosses the node" in one["reason"] for one in crossing)
    assert printed["plans"][printed["recommended"]]["tp"] <= 8


def test_a_config_and_a_topology_in_place_of_names(capsys, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "topo.txt").write_text(TOPO)
    printed = plan(
        capsys, "--config", f"{tmp_path}/config.json", "--gpu", "rtx-4090", "--topo", f"{tmp_path}/topo.txt"
    )
    assert printed["min_tp_for_fit"] == 1
    assert {one["gpus"] for one in printed["plans"]} == {2}


def test_a_checkpoint_s_own_width_is_the_default(capsys):
    printed = plan(capsys, "--model", "deepseek-v3", "--gpu", "h200", "--gpus-per-node", "8")
    assert printed["min_tp_for_fit"] == 8


def test_experts_are_distributed_where_that_is_asked(capsys):
    common = ("--model", "deepseek-v3", "--gpu", "h200", "--gpus-per-node", "8")
    cut, distributed = plan(capsys, *common), plan(capsys, *common, "--expert-parallel")
    assert all(one["tp"] * one["pp"] * one["replicas"] == 8 for one in cut["plans"])
    assert any("--expert-parallel" in line for line in cut["trace"])
    assert any(one["ep"] == 8 and one["fits"] for one in distributed["plans"])


def test_a_gpu_of_ones_own_needs_three_figures(capsys):
    """12 TB/s in place of 3.35 reads the weights faster."""
    common = ("--model", "llama-3-8b", "--gpus-per-node", "1")
    figures = ("--memory-gb", "80", "--bandwidth-gb-s", "12000", "--tflops", "5000")
    own, sold = plan(capsys, *common, "--gpu", "own", *figures), plan(capsys, *common, "--gpu", "h100")
    assert own["plans"][0]["itl_s"] < sold["plans"][0]["itl_s"]
    with pytest.raises(SystemExit):
        main([*common, "--gpu", "own", "--json"])
    assert "--bandwidth-gb-s" in capsys.readouterr().err


def test_widths_may_be_written_as_an_engine_writes_them(capsys):
    common = ("--model", "llama-3-8b", "--gpu", "h100", "--gpus-per-node", "1")
    ours, theirs = (
        plan(capsys, *common, "--dtype", dtype, "--kv-dtype", kept)
        for dtype, kept in (("bf16", "fp8"), ("bfloat16", "fp8_e4m3"))
    )
    assert ours == theirs


def test_a_price_is_asked_for_and_never_guessed(capsys):
    common = ("--model", "llama-3-8b", "--gpu", "h100", "--gpus-per-node", "8")
    assert all(one["usd_per_million_tokens"] is None for one in plan(capsys, *common)["plans"])
    priced = plan(capsys, *common, "--usd-per-gpu-hour", "2")["plans"]
    assert all(one["usd_per_million_tokens"] > 0 for one in priced if one["fits"])


def test_the_table_names_every_plan_and_the_command(capsys):
    assert main(["--model", "llama-3-8b", "--gpu", "h100", "--gpus-per-node", "2"]) == 0
    printed = capsys.readouterr().out
    assert "TP=1 ×2" in printed
    assert "vllm serve meta-llama/Meta-Llama-3-8B" in printed
    assert "Minimum TP for fit: TP=1" in printed


@pytest.mark.parametrize(
    "wrong",
    [
        ("--model", "nonsense"),
        ("--gpu", "nonsense"),
        ("--gpus-per-node", "0"),
        ("--gpus-per-node", "9999999"),
        ("--nodes", "-1"),
        ("--utilisation", "1.2"),
        ("--memory-gb", "nan"),
        ("--memory-gb", "0"),
        ("--overhead-gb", "-1"),
        ("--concurrency", "0"),
        ("--prompt", "9" * 400),
        ("--slo-itl-ms", "0"),
        ("--dtype", "int3"),
        ("--dtype", "int4-g0"),
        ("--kv-dtype", "int3"),
        ("--kv-dtype", "int4-g32"),
        ("--config", "/nowhere/config.json"),
        ("--topo", "/nowhere/topo.txt"),
        ("--link", "string"),
        ("--usd-per-gpu-hour", "-2"),
        ("--usd-per-gpu-hour", "1e308"),
    ],
)
def test_bad_input_is_one_line_on_stderr(capsys, wrong):
    common = ["--model", "llama-3-8b", "--gpu", "h100", "--gpus-per-node", "8"]
    with pytest.raises(SystemExit) as ended:
        main([*common, *wrong, "--json"])
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1


def test_a_plan_is_made_again_for_ones_own_machine(capsys, tmp_path):
    (tmp_path / "log").write_text("non_torch_memory takes 1.00GiB; PyTorch activation peak memory takes 5.00GiB\n")
    common = ("--model", "llama-3-70b", "--gpu", "h100", "--gpus-per-node", "8")
    usual, own = plan(capsys, *common), plan(capsys, *common, "--startup-log", str(tmp_path / "log"))
    assert own["assumptions"]["overhead_bytes"] == pytest.approx(6 * 2**30 + 1.2e9)
    assert own["plans"][own["recommended"]]["kv_tokens"] < usual["plans"][usual["recommended"]]["kv_tokens"]
    assert own["refit"]["said"][-1].startswith("The plan ")
    assert own["refit"]["refused"] == []


def test_the_fewest_gpus_for_a_rate(capsys):
    common = ("--model", "llama-3-8b", "--gpu", "h100", "--gpus-per-node", "2", "--slo-itl-ms", "40", "--size")
    sizes = plan(capsys, *common, "--requests-per-s", "5")["sizes"]
    assert sizes["together"][0]["gpus"] == min(one["gpus"] for one in sizes["together"])
    assert sizes["together"][0]["kept_per_s"] >= 5
    assert all(one["prefill"]["gpus"] + one["decode"]["gpus"] == one["gpus"] for one in sizes["apart"])


def test_a_plan_whose_sums_cross_nodes_says_how_far_such_sums_were_off(capsys):
    """It ended in a traceback, a row of errors joined into a sentence. No plan meets 40 ms: half of 141 GB take an
    A100 34.6 at its data sheet, and 160 sums over nodes 17."""
    asked = "--model llama-3-70b --gpu a100-80gb-sxm --gpus-per-node 1 --nodes 2 --network ib-ndr --concurrency 1"
    assert [main([*asked.split(), "--slo-itl-ms", target]) for target in ("90", "40")] == [0, 3]
    said = capsys.readouterr().out
    assert "An all-reduce over nodes was checked against 19 published tables" in said
    assert "over plain TCP" not in said
    tcp = remark("placement.across_tcp", far=FAR)
    assert "add 92.0 µs to each on a server, from one published time" in said
    told = worded(remark("placement.across_group", crossing="", held=HELD, tcp=tcp, wait_s=0, elsewhere_s=0))
    assert ", and over plain TCP, as here, all-reduces took up to 4.5 times as long." in told


SERVED = ("--model", "llama-3-70b", "--gpu", "h100", "--gpus-per-node", "8", "--nodes", "1")


def test_the_answer_comes_first_and_what_it_assumes_after_the_table(capsys):
    """What to take, why, its command; then every plan; then what was taken for granted."""
    assert main(list(SERVED)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Take TP=")
    started, table, assumed = (
        next(place for place, line in enumerate(lines) if line.startswith(head))
        for head in ("vllm serve", "plan ", "Assumed")
    )
    assert started < 6
    assert started < table < assumed
    assert not any(line.startswith("vllm serve") for line in lines[table:])


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
@pytest.mark.parametrize("kind", ["compose", "kubernetes"])
def test_a_manifest_stands_alone_on_standard_output(capsys, kind, engine):
    """`| kubectl apply -f -` and `| docker compose -f - config` read it as it is; the answer is beside it."""
    assert main([*SERVED, "--manifest", kind, "--engine", engine]) == 0
    printed = capsys.readouterr()
    documents = read(printed.out)
    if kind == "compose":
        assert set(documents[0]) == {"services", "volumes"}
    else:
        assert [one["kind"] for one in documents] == ["Deployment", "Service"]
        assert all({"apiVersion", "kind", "metadata", "spec"} <= set(one) for one in documents)
    assert "Take TP=" in printed.err
    assert "Assumed" in printed.err


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("--gpu", "h100", "--nodes", "2", "--model", "llama-3.1-405b", "--manifest", "compose"), "spans several"),
        (
            ("--gpu", "mi300x", "--model", "llama-3-8b", "--engine", "trtllm", "--manifest", "compose"),
            "does not run",
        ),
        (
            ("--gpu", "t4", "--gpus-per-node", "1", "--model", "llama-3-70b", "--manifest", "kubernetes"),
            "none fits",
        ),
    ],
)
def test_where_there_is_no_manifest_nothing_is_piped(capsys, asked, why):
    with pytest.raises(SystemExit) as ended:
        main(list(asked))
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert why in printed.err.splitlines()[-1]


def test_six_gpus_with_two_idle_are_said(capsys):
    """64 heads divide by 4 and not by 6 or 3: four of six, or two by three stages."""
    assert main(["--model", "llama-3.1-70b", "--gpu", "a6000", "--gpus-per-node", "6"]) == 0
    second = capsys.readouterr().out.splitlines()[1]
    assert second.startswith("2 GPUs of 6 stand idle.")
    assert "TP=2 PP=3" in second


def test_which_gpus_to_pair_is_said_of_a_machine_that_was_seen(capsys, tmp_path):
    """Sockets hold 0 and 2, 1 and 3: the first two in order would cross."""
    rows = (
        ("X", "SYS", "PIX", "SYS"),
        ("SYS", "X", "SYS", "PIX"),
        ("PIX", "SYS", "X", "SYS"),
        ("SYS", "PIX", "SYS", "X"),
    )
    head = "\t" + "\t".join(f"GPU{place}" for place in range(4))
    lines = [head, *(f"GPU{place}\t" + "\t".join(row) for place, row in enumerate(rows))]
    (tmp_path / "topo.txt").write_text("\n".join(lines) + "\n")
    asked = ("--model", "qwen3-14b", "--gpu", "rtx-4090", "--concurrency", "16", "--topo", f"{tmp_path}/topo.txt")
    printed = plan(capsys, *asked)
    taken = printed["plans"][printed["recommended"]]
    assert taken["tp"] * taken["pp"] == taken["replicas"] == 2
    assert "CUDA_VISIBLE_DEVICES=0,2, CUDA_VISIBLE_DEVICES=1,3" in printed["remarks"][0]
    devices = [
        one["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"]
        for one in read(printed["engines"]["vllm"]["compose"])[0]["services"].values()
    ]
    assert devices == [["0", "2"], ["1", "3"]]


def test_xgmi_is_not_called_nvlink(capsys):
    """Domains of four on a node of eight MI300X."""
    printed = plan(
        capsys, "--model", "llama-3-70b", "--gpu", "mi300x", "--gpus-per-node", "8", "--nvlink-domain", "4"
    )
    leaving = [one["reason"] for one in printed["plans"] if one["tp"] == 8]
    assert all("xGMI" in reason and "NVLink" not in reason for reason in leaving)
    assert leaving
