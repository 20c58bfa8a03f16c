"""The planner's page: what it recommends, refuses, reads from a paste, and keeps in the address."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from runtime import workers
from runtime.content import slug
from runtime.workers import WorkError
from scripts import plan
from tests.said import without_terms
from ui.course.pages import entry

ROOT = Path(__file__).resolve().parents[2]
PAGE = entry("placement")
SEVENTY = {"model": "llama-3-70b", "gpu": "h100-sxm"}


def visit(*, opens: bool = True, **query: str) -> AppTest:
    """The planner after a visit with a query, its folds open or closed."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=90)
    for name in ("details", "more", "brought", "engines", "manifests"):
        app.session_state[f"fold_plan_{name}"] = opens
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(PAGE.path)
    return app.run()


def text(app: AppTest) -> str:
    """All that is said, escapes taken off."""
    parts = (element.value for kind in ("title", "markdown", "error", "code") for element in app.get(kind))
    return without_terms("\n".join(parts)).replace("\\", "")


def test_a_plan_comes_with_its_reasons_and_its_command():
    app = visit(**SEVENTY, place_concurrency="64")
    assert not app.exception
    assert "Llama 3 70B on 8 × H100 SXM 80 GB: TP=" in text(app)
    said = text(app)
    assert "Minimum TP for fit: TP=4" in said
    assert "--tensor-parallel-size" in said
    assert "79.19 GiB" in said


def test_nothing_that_fits_is_said_and_drawn_in_grey():
    app = visit(model="llama-3-70b", gpu="rtx-4090", place_gpus="2")
    assert not app.exception
    assert any("Nothing fits" in error.value for error in app.error)
    assert "~~TP=2~~" in text(app)
    assert "There are only 2 GPUs" in text(app)


def test_a_refused_size_stands_with_its_equation():
    said = text(visit(**SEVENTY, place_gpus="6", place_scene="compare"))
    assert "num_attention_heads: 64 = 10 × 6 + 4" in said


def test_a_long_list_of_plans_is_cut_and_says_so():
    said = text(
        visit(
            model="deepseek-v3",
            gpu="h200-sxm",
            place_nodes="8",
            place_scene="compare",
            network="ib-ndr",
            place_ep="true",
        )
    )
    assert "more; python -m scripts.plan lists each" in said.replace("`", "")


def test_a_pin_stands_beside_the_plan_shown():
    app = visit(**SEVENTY, place_scene="compare", place_pin="a100-80gb-sxm~nvlink-3~ib-hdr~8~1~8~0~8~1~1~1")
    assert not app.exception
    table = next(found.value for found in app.dataframe if "pinned" in found.value.columns)
    assert table.pinned.iloc[0] == "TP=8"


def test_a_closed_fold_sends_no_control_and_plans_by_what_its_controls_say():
    """The address says how much of the memory is used; its field is there once the fold is open, and says so."""
    says = {"place_util": "0.5", "place_nics": "4"}
    closed, opened = visit(opens=False, **SEVENTY, **says), visit(**SEVENTY, **says)
    asked = {one.key for one in (*closed.number_input, *closed.text_area)}
    assert not asked & {"place_util", "place_nics", "place_draft", "place_config"}
    assert [opened.number_input(key=key).value for key in says] == [0.5, 4]
    assert len(closed.code) == 1 < len(opened.code)
    assert text(closed) != text(visit(opens=False, **SEVENTY))
    assert text(closed).splitlines()[0] == text(opened).splitlines()[0]
    assert closed.query_params["place_util"] == "0.5"


def test_a_pasted_config_takes_the_scenarios_models_place():
    app = visit(gpu="h100-sxm")
    config = {
        "model_type": "llama",
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_attention_heads": 32,
        "num_hidden_layers": 16,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
        "tie_word_embeddings": True,
    }
    app.text_area(key="place_config").set_value(json.dumps(config)).run()
    assert not app.exception
    assert text(app).startswith("config on 8 ×")


def test_a_config_that_is_refused_leaves_no_other_models_figures():
    """Under its red note nothing of the scenario's model is left; the controls are where they were."""
    app = visit(**SEVENTY)
    app.text_area(key="place_config").set_value('{"model_type": "mamba"}').run()
    assert any("mamba" in error.value for error in app.error)
    assert "Llama 3 70B" not in text(app)
    assert not app.get("vega_lite_chart")
    assert app.text_area(key="place_config").value


def test_a_pasted_topology_sets_the_node_and_its_domain():
    app = visit(gpu="rtx-3090")
    ways = ["\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity"]
    ways += ["GPU0\t X \tNV4\tSYS\tSYS\t0-31", "GPU1\tNV4\t X \tSYS\tSYS\t0-31"]
    ways += ["GPU2\tSYS\tSYS\t X \tNV4\t32-63", "GPU3\tSYS\tSYS\tNV4\t X \t32-63"]
    app.text_area(key="place_topo").set_value("\n".join(ways)).run()
    assert not app.exception
    assert "on 4 × " in text(app)
    assert "NVLink joins 0+1, 2+3" in text(app)
    assert "NVLink bridge (A40, A6000, 3090) among 2 GPUs" in text(app)
    app.text_area(key="place_topo").set_value("\n".join(ways * 2)).run()
    assert "The text holds 2 tables like this one" in text(app)


@pytest.mark.parametrize("case", ["TP=8 or TP=4", "one node or two", "TP=8 or two TP=4", "a pipeline", "a mixture"])
def test_every_worked_case_is_drawn(case):
    app = visit(place_scene="cases", place_case=slug(case))
    assert not app.exception
    assert app.get("vega_lite_chart")
    assert "{{" not in text(app)


def test_a_gpu_of_ones_own_stands_in_the_gpus_place():
    app = visit(place_memory="64", place_bandwidth="6000")
    assert not app.exception
    assert "on 8 × your GPU" in text(app)


def test_a_price_is_the_visitors_own():
    assert "set a price" in text(visit(**SEVENTY))
    assert "$" in text(visit(**SEVENTY, place_price="2"))


@pytest.mark.parametrize(
    ("query", "flags"),
    [
        ({}, ()),
        ({"model": "deepseek-v3", "gpu": "h200-sxm", "place_ep": "true"}, ("--expert-parallel",)),
        (
            {"model": "qwen3-8b", "gpu": "l40s", "place_prefix": "40", "place_draft": "2", "place_slo": "30"},
            ("--prefix-hit", "0.4", "--draft-tokens", "2", "--slo-itl-ms", "30"),
        ),
    ],
)
def test_the_page_and_the_command_answer_alike(capsys, query, flags):
    """One default everywhere: what is assumed, what is decided and what starts it are the same lines."""
    scenario = {"model": "llama-3-8b", "gpu": "a100-80gb-sxm", **query}
    shown = text(visit(**query))
    names = ("--model", scenario["model"], "--gpu", scenario["gpu"], "--gpus-per-node", "8")
    assert plan.main([*names, *flags, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    for line in (*printed["assumed"], *printed["trace"][:4], printed["command"]):
        assert line.replace("\u00a0", " ").replace("\\", "").replace("*", "") in shown.replace("*", ""), line


def test_engines_for_a_rate_and_a_machine_of_ones_own():
    """What is folded: the fewest GPUs for a rate, and a plan made again by a log and a benchmark."""
    app = visit(place_rate="20", place_slo="50", place_size="true")
    assert "Fewest GPUs for 20" in text(app)
    assert any("engines" in found.value.columns for found in app.dataframe)
    log = "non_torch_memory takes 2.00GiB; PyTorch activation peak memory takes 6.00GiB"
    app.text_area(key="place_own_log").set_value(log).run()
    assert not app.exception
    assert "your log shows 9.79 GB on a rank" in text(app)
    assert "9.79 GB of that is overhead" in text(app)


def test_a_plan_that_takes_too_long_is_a_sentence_and_the_page_stays(monkeypatch):
    """What refuses before any scene does is no fault: the message stands where the page would."""

    def refuses(function, *given):
        raise WorkError("This took longer than a page allows")

    monkeypatch.setattr(workers, "run", refuses)
    app = visit(place_nodes="28", place_concurrency="4321")
    assert not app.exception
    assert [one.value for one in app.error] == ["This took longer than a page allows"]
    assert app.segmented_control(key="scenes_place").options


def test_the_planners_step_can_be_worked_out_from_the_plan_alone():
    """Lab 03 divides the data sheet's time; the plan says what it adds."""
    said = text(visit())
    itl_ms = float(re.search(r"Between two tokens\s+#### (\S+) ms", said)[1])
    reached, layer_us = re.search(r"reaches (\d+)% of it, plus (\S+) µs per layer", said).groups()
    comm_ms = float(re.search(r"(\S+) µs on NVLink", said)[1]) / 1e3
    apart_ms = float(re.search(r"last rank adds (\S+) µs", said)[1]) / 1e3
    added_ms = 32 * float(layer_us) / 1e3 + comm_ms + apart_ms
    assert 7.36 / 8 / (int(reached) / 100) + added_ms == pytest.approx(itl_ms, rel=0.01)
