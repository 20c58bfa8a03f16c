"""A GPU, a link or a model is added as one row, and is then found by everything that asks the catalog."""

import gc
import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.catalog import GPUS, LINKS, MODELS, gpu, link, model
from core.evidence.calibration import calibration_of
from core.evidence.published_names import published_gpu
from core.placement.cluster import seen_cluster, usual_cluster
from core.placement.demand import Demand
from core.placement.manifests import ROCM_IMAGE, compose
from core.placement.plan import Question
from core.placement.planner import place
from core.placement.rank_memory import measured_budget
from core.placement.serve_flags import refusals
from core.placement.topology import read_topology
from core.scenario import Scenario
from core.steps.model import decode_step_s
from core.steps.narrow import peak_flops
from core.steps.view import View, ring_series
from scripts.plan import main as plan

ROOT = Path(__file__).resolve().parents[3]
LINK = replace(
    LINKS["nvlink-5"],
    key="imagined-fabric",
    name="Imagined fabric",
    bandwidth_bytes_per_s=1800e9,
    aliases=("imagined-switch",),
)
GPU = replace(
    GPUS["b200-sxm"],
    key="imagined-gpu",
    name="Imagined 288 GB",
    fp8_flops=9e15,
    fp4_flops=2e16,
    link_key=LINK.key,
    bus_key="pcie-6",
    nvlink_domain=144,
    measured_series="h100-nccl",
    aliases=("NVIDIA Imagined",),
    published_as=r"\bimagined",
    stack="rocm",
    capability=70,
)
MODEL = replace(MODELS["llama-3-8b"], key="imagined-9b", name="Imagined 9B", aliases=("imagined/Imagined-9B",))


@pytest.fixture(autouse=True)
def added_rows():
    """The three rows, in the catalog for one test: its mappings are read-only views of three dicts.

    A row that is there already under one of these names is nobody's to take out again.
    """
    tables = [(gc.get_referents(rows)[0], row) for rows, row in ((GPUS, GPU), (LINKS, LINK), (MODELS, MODEL))]
    taken = {name for rows, _ in tables for row in rows.values() for name in (row.key, row.name, *row.aliases)}
    assert taken.isdisjoint(name for _, row in tables for name in (row.key, row.name, *row.aliases))
    for rows, row in tables:
        rows[row.key] = row
    yield
    for rows, row in tables:
        del rows[row.key]


def test_an_added_row_is_found_under_each_of_its_names():
    assert gpu("NVIDIA Imagined") is gpu("Imagined-GPU") is GPU
    assert link("imagined-switch") is LINK
    assert model("imagined/Imagined-9B-Instruct") is MODEL


def test_an_added_gpu_keeps_its_widths_its_links_and_its_domain():
    """Not bf16's 2,250 TFLOP/s, PCIe 4, or the eight of a node."""
    assert (peak_flops(GPU, "fp8"), peak_flops(GPU, "nvfp4")) == (9e15, 2e16)
    cluster = usual_cluster(GPU, 4, 36)
    assert (cluster.link, cluster.domain) == (LINK, 144)
    bare = read_topology("\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n")
    assert seen_cluster(replace(cluster, nodes=1), bare).link.key == "pcie-6"


def test_a_table_of_measurements_an_engine_and_its_image_know_an_added_gpu():
    """Under the name that its row says, over the bus that its row has; what it cannot multiply is refused."""
    assert published_gpu("8x Imagined 288GB") == (GPU, LINK)
    assert published_gpu("Imagined PCIe")[1].key == "pcie-6"
    question = Question(MODEL, usual_cluster(GPU, 4), measured_budget(GPU), Demand())
    plan = place(question).plans[0]
    assert [one.refusal.code for one in refusals(question, plan)] == ["bf16"]
    assert ROCM_IMAGE in compose(question, plan, "vllm")


def test_bonded_lanes_of_an_added_link_are_a_share_of_it():
    """Two of eighteen."""
    bonded = read_topology("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n")
    seen = seen_cluster(usual_cluster(GPU, 2), bonded).link
    assert seen.bandwidth_bytes_per_s == pytest.approx(1800e9 * 2 / 18)


def test_an_added_gpu_has_constants_and_a_measured_series():
    assert calibration_of(GPU, MODEL).efficiency.reached_fraction > 0
    assert ring_series(View(Scenario(gpu=GPU.key)), LINK) == "h100-nccl"
    assert decode_step_s(MODEL, GPU) == pytest.approx(8030261248 * 2 / 7.7e12)


def test_a_command_plans_for_added_rows(capsys):
    assert plan(["--model", MODEL.key, "--gpu", GPU.key, "--gpus-per-node", "4", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert MODEL.aliases[0] in json.dumps(printed)
    assert LINK.name in {paid["wire"] for row in printed["plans"] for paid in row["bill"]}


def test_a_page_offers_added_rows():
    app_test = pytest.importorskip("streamlit.testing.v1").AppTest
    app = app_test.from_file(str(ROOT / "streamlit_app.py"), default_timeout=90)
    app.query_params.update({"model": MODEL.key, "gpu": GPU.key, "link": LINK.key})
    app.session_state["_scenario_open"] = True  # closed, the panel sends no field
    app.run()
    assert not app.exception
    assert {MODEL.key, GPU.key, LINK.key} <= {str(box.value) for box in app.selectbox}
