"""A plan as a manifest: the words of its command, its GPUs distributed once, read back by a parser of our own."""

import json
import random
import re
import shlex
from dataclasses import replace

import pytest

from core.catalog import gpu, model
from core.placement import manifests
from core.placement.asked import Machine, question_of, usual_width
from core.placement.demand import Demand
from core.placement.engine_words import unsaid
from core.placement.layout import Layout
from core.placement.manifests import compose, kubernetes
from core.placement.plan import Plan, Question, judge
from core.placement.preflight_checks import ENGINES
from core.placement.serve_flags import arguments, refusals, serve_command, shell_words
from tests.each import each
from tests.yaml_here import read


def planned(
    name: str, gpu_key: str, gpus: int, nodes: int, layout: Layout, **demand: object
) -> tuple[Question, Plan]:
    spec = model(name)
    wanted = Demand(**{"dtype": usual_width(spec, gpu(gpu_key)), **demand})
    question = question_of(spec, Machine(gpu(gpu_key), gpus, nodes), wanted)
    return question, judge(question, layout)


@pytest.mark.parametrize("engine", ENGINES)
def test_compose_gives_each_engine_its_own_gpus_and_the_command_s_words(engine, monkeypatch):
    """The words are worked out once, however many engines a node holds."""
    asked = []
    monkeypatch.setattr(manifests, "shell_words", lambda *given: asked.append(given) or shell_words(*given))
    question, plan = planned("llama-3-8b", "h100-sxm", 8, 1, Layout(2, 1, 4))
    (file,) = read(compose(question, plan, engine))
    assert len(asked) == 1
    services = list(file["services"].values())
    devices = [one["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"] for one in services]
    assert [rank for ranks in devices for rank in ranks] == [str(rank) for rank in range(8)]
    assert len({one["ports"][0].split(":")[0] for one in services}) == 4
    words = services[0]["entrypoint"] + services[0]["command"]
    assert words[: len(words) - 2] == serve_command(question, plan, engine).replace("\\\n", "").split()


@each("engine", ENGINES)
@each(
    ("name", "gpu_key", "nodes", "layout"),
    [
        ("llama-3-70b", "h100-sxm", 1, Layout(4, 1, 2)),
        ("llama-3.1-405b", "h100-sxm", 2, Layout(8, 2)),
        ("deepseek-v3", "h200-sxm", 2, Layout(1, 1, 1, 16)),
        ("llama-3-70b", "mi300x", 1, Layout(2, 1, 4)),
    ],
)
def test_kubernetes_asks_for_the_gpus_of_a_node(name, gpu_key, nodes, layout, engine):
    question, plan = planned(name, gpu_key, 8, nodes, layout)
    if unsaid(question, plan, engine):
        assert (gpu_key, engine) == ("mi300x", "trtllm")
        return
    first, service = read(kubernetes(question, plan, engine))
    spec = first["spec"]
    assert spec["replicas"] == layout.replicas
    spans = layout.gpus_per_replica > 8
    group = spec.get("leaderWorkerTemplate")
    pods = (
        [group["leaderTemplate"]["spec"], group["workerTemplate"]["spec"]] if spans else [spec["template"]["spec"]]
    )
    assert spans == (first["kind"] == "LeaderWorkerSet")
    for pod in pods:
        (container,) = pod["containers"]
        (count,) = container["resources"]["limits"].values()
        assert count == min(8, layout.gpus_per_replica)
        assert "$HEAD_ADDRESS" not in json.dumps(container)
    assert service["spec"]["ports"][0]["port"] == pods[0]["containers"][0]["ports"][0]["containerPort"]
    assert not re.search(r'^ *[\w"-]+: [\[{]+"\w+":', kubernetes(question, plan, engine), re.MULTILINE)
    if spans:
        assert compose(question, plan, engine) is None


def test_a_gpu_without_bf16_is_served_in_fp16_and_bf16_is_refused_in_vllms_words():
    question, plan = planned("llama-3-8b", "v100-sxm2", 2, 1, Layout(2))
    assert question.demand.dtype == "fp16"
    assert ("dtype", "float16") in arguments(question, plan)
    assert not refusals(question, plan)
    asked = replace(question, demand=replace(question.demand, dtype="bf16"))
    (refused,) = refusals(asked, plan)
    assert "has compute capability 7.0" in refused.text


@pytest.mark.parametrize(
    ("dtype", "engine", "least"),
    [("fp8", "vllm", 75), ("fp8", "sglang", 80), ("int4", "vllm", 75), ("int4", "sglang", 75)],
)
def test_kernels_that_a_gpu_cannot_run_are_refused(dtype, engine, least):
    question, plan = planned("llama-3-8b", "v100-sxm2", 2, 1, Layout(2), dtype=dtype)
    (refused,) = refusals(question, plan, engine)
    assert f"Minimum capability: {least}. Current capability: 70." in refused.text
    assert not refusals(*planned("llama-3-8b", "a100-80gb-sxm", 2, 1, Layout(2), dtype=dtype), engine)


def test_ranks_that_leave_a_node_half_used_are_refused_by_sglang():
    question, plan = planned("llama-3-70b", "h100-sxm", 4, 3, Layout(1, 5))
    assert [one.text for one in refusals(question, plan, "sglang")] == [
        "tp_size must be divisible by number of nodes"
    ]


PIECES = (
    *(
        '"',
        "'",
        "\\",
        "\n",
        "\r",
        "\x85",
        "\u2028",
        "\t",
        ": ",
        "- x",
        "\n---\n",
        "#",
        "&a",
        "*a",
        "!!python/none",
        "%",
        "|",
    ),
    *(
        "$(id)",
        "`id`",
        "${HOME}",
        "$HOME",
        ";id;",
        "&&id",
        "{",
        "}",
        "[",
        "]",
        ",",
        "é",
        "😀",
        "--host",
        "a",
        "-7b",
    ),
)


def test_no_name_of_a_model_leaves_its_place_in_a_manifest_or_a_command():
    """100 seeded names: each is one word of the shell's, and one text of the manifest's, exactly as it was."""
    one = planned("llama-3-8b", "h100-sxm", 8, 1, Layout(2, 1, 4))
    two = planned("llama-3-70b", "h100-sxm", 8, 2, Layout(8, 2, 1))
    rng = random.Random(7)
    for _ in range(100):
        name = "org/" + "".join(rng.choices(PIECES, k=rng.randrange(1, 6)))
        (question, plan), (wide, over_two) = (
            (replace(asked, model=replace(asked.model, aliases=(name,))), judged) for asked, judged in (one, two)
        )
        assert name in shlex.split(serve_command(question, plan)), name
        (file,) = read(compose(question, plan))
        assert set(file) == {"services", "volumes"}
        words = [each["entrypoint"] + each["command"] for each in file["services"].values()]
        assert all(name.replace("$", "$$") in each for each in words), name  # as compose is told a dollar
        group, service = read(kubernetes(wide, over_two))
        leader = group["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]
        assert name in shlex.split(leader["command"][2].replace("$$(", "$(")), name  # as Kubernetes reads it
        assert {group["kind"], service["kind"]} == {"LeaderWorkerSet", "Service"}


def test_the_leaders_address_is_left_to_the_shell_of_each_pod():
    """Quoted it would reach SGLang as a name that is none: no pod would find the first."""
    group, _ = read(kubernetes(*planned("llama-3-70b", "h100-sxm", 8, 2, Layout(8, 2, 1)), "sglang"))
    for pod in ("leaderTemplate", "workerTemplate"):
        command = group["spec"]["leaderWorkerTemplate"][pod]["spec"]["containers"][0]["command"][2]
        assert "--dist-init-addr $LWS_LEADER_ADDRESS:50000 " in command
