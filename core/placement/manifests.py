"""A plan as a manifest beside its command: a compose file for one node, objects of Kubernetes for more.

Sources: docs.vllm.ai deployment guides (compose's `deploy.resources`, `/dev/shm`, LeaderWorkerSet for an engine of
several nodes); github.com/kubernetes-sigs/lws, v1. Compose reads $$ as $, Kubernetes $$( as $(. Written by hand: a
mapping, a list and a quoted text are all of YAML that is used.
"""

import json
import shlex
from collections.abc import Mapping, Sequence

from core.placement.engine_words import SGLANG_ROCM
from core.placement.plan import Plan, Question
from core.placement.preflight_checks import Engine
from core.placement.serve_flags import PROGRAMS, options_file, shell_words

IMAGES: Mapping[Engine, str] = {
    "vllm": "vllm/vllm-openai:v0.33.0",
    "sglang": "lmsysorg/sglang:v0.5.23",
    "trtllm": "nvcr.io/nvidia/tensorrt-llm/release:1.2.1",
}
"""Of vLLM and SGLang the releases whose refusals were read; of TensorRT-LLM the newest that is no candidate."""
ROCM_IMAGE = "vllm/vllm-openai-rocm:v0.31.0"
ROCM_SGLANG = "lmsysorg/sglang:v0.5.21-rocm10"
"""The newest for AMD's GPUs that were seen."""
PORTS: Mapping[Engine, int] = {"vllm": 8000, "sglang": 30000, "trtllm": 8000}
_CACHE, _SHM = "/root/.cache/huggingface", "/dev/shm"

Yaml = Mapping[str, "Yaml"] | Sequence["Yaml"] | str | int


def compose(
    question: Question, plan: Plan, engine: Engine = "vllm", devices: Sequence[Sequence[int]] = ()
) -> str | None:
    """A compose file: as many engines as one node holds, each on GPUs and a port of its own; None where one engine
    takes more than a node. `devices` are the GPUs of each, where a topology says which go together."""
    each, node = plan.layout.gpus_per_replica, question.cluster.gpus_per_node
    here = min(plan.layout.replicas, node // each)
    if not here:
        return None
    start = [word.replace("$", "$$") for word in _start(question, plan, engine)]  # compose reads ${NAME} itself
    counted = [range(number * each, (number + 1) * each) for number in range(here)]
    placed = enumerate(devices[:here] if len(devices) >= here else counted)
    services = {f"engine-{number}": _service(question, engine, start, number, seen) for number, seen in placed}
    file: Yaml = {"services": services, "volumes": {"huggingface": {}}}
    return _written(file)


def _service(question: Question, engine: Engine, start: list[str], number: int, devices: Sequence[int]) -> Yaml:
    """One engine of a node, on its GPUs."""
    program, port = 2 if start[0] == "bash" else len(PROGRAMS[engine]), PORTS[engine]
    environment = {"HF_TOKEN": "${HF_TOKEN:-}", **{name: f"${{{name}:-}}" for name in _unset(start)}}
    gpus = [str(gpu) for gpu in devices]
    device: Yaml = {"driver": "nvidia", "device_ids": gpus, "capabilities": ["gpu"]}
    common: dict[str, Yaml] = {
        "image": _image(question, engine),
        "entrypoint": start[:program],
        "command": start[program:],
        "ports": [f"{port + number}:{port}"],
        "ipc": "host",
        "environment": environment,
        "volumes": [f"huggingface:{_CACHE}"],
    }
    if question.cluster.gpu.stack == "rocm":
        seen = {**environment, "HIP_VISIBLE_DEVICES": ",".join(gpus)}
        return {**common, "devices": ["/dev/kfd", "/dev/dri"], "group_add": ["video"], "environment": seen}
    return {**common, "deploy": {"resources": {"reservations": {"devices": [device]}}}}


def kubernetes(question: Question, plan: Plan, engine: Engine = "vllm") -> str:
    """A Deployment with a replica an engine, and its Service; a LeaderWorkerSet where an engine spans nodes."""
    port, name = PORTS[engine], "engine"
    nodes = -(-plan.layout.gpus_per_replica // question.cluster.gpus_per_node)
    labels: dict[str, Yaml] = {"app": name}
    pod = _pod(question, plan, engine, nodes)
    if nodes == 1:
        spec: Yaml = {
            "replicas": plan.layout.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        }
        first: Yaml = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}
    else:
        leader: Yaml = {"metadata": {"labels": {**labels, "role": "leader"}}, "spec": pod}
        worker: Yaml = {"spec": _pod(question, plan, engine, nodes, worker=True)}
        group: Yaml = {"size": nodes, "leaderTemplate": leader, "workerTemplate": worker}
        spec = {"replicas": plan.layout.replicas, "leaderWorkerTemplate": group}
        api = "leaderworkerset.x-k8s.io/v1"
        first = {"apiVersion": api, "kind": "LeaderWorkerSet", "metadata": {"name": name}, "spec": spec}
        labels = {**labels, "role": "leader"}
    service: Yaml = {"selector": labels, "ports": [{"port": port, "targetPort": port}]}
    second: Yaml = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": service}
    return f"{_written(first)}---\n{_written(second)}"


def _pod(question: Question, plan: Plan, engine: Engine, nodes: int, worker: bool = False) -> Yaml:
    """One node's container, with its GPUs, shared memory and a cache of models."""
    resource = "amd.com/gpu" if question.cluster.gpu.stack == "rocm" else "nvidia.com/gpu"
    limits: Yaml = {resource: plan.layout.gpus_per_replica // nodes}
    start = _start(question, plan, engine) if nodes == 1 else _joined(question, plan, engine, worker)
    health: Yaml = {"path": "/health", "port": PORTS[engine]}
    ready: Yaml = {"httpGet": health, "periodSeconds": 10, "failureThreshold": 180}
    container: dict[str, Yaml] = {
        "name": engine,
        "image": _image(question, engine),
        "command": [word.replace("$(", "$$(") for word in start],
        "resources": {"limits": limits},
        "volumeMounts": [{"name": "shm", "mountPath": _SHM}, {"name": "huggingface", "mountPath": _CACHE}],
    }
    if unset := _unset(start):
        container["env"] = [{"name": name, "value": ""} for name in unset]
    if not worker:
        container |= {"ports": [{"containerPort": PORTS[engine]}], "startupProbe": ready}
    volumes: Yaml = [
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
        {"name": "huggingface", "emptyDir": {}},
    ]
    return {"containers": [container], "volumes": volumes}


def _joined(question: Question, plan: Plan, engine: Engine, worker: bool) -> list[str]:
    """One node's part of an engine of several: a Ray cluster for vLLM's stages and ranks, its own ways else.

    LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX are set in each pod by LeaderWorkerSet.
    """
    words = " ".join([*shell_words(question, plan, engine), "--host 0.0.0.0"])
    line = words.replace('"$HEAD_ADDRESS"', "$LWS_LEADER_ADDRESS")
    if engine == "sglang":
        line = line.replace("--node-rank 0", "--node-rank $LWS_WORKER_INDEX")
    elif engine == "trtllm":
        line = f"mpirun --allow-run-as-root -n {plan.layout.gpus_per_replica} trtllm-llmapi-launch {line}"
    elif "--distributed-executor-backend ray" in line:
        join = "ray start --address=$LWS_LEADER_ADDRESS:6379 --block"
        line = join if worker else f"ray start --head --port=6379 && sleep 60 && {line}"
    elif worker:
        local = question.cluster.gpus_per_node // (plan.layout.tp_size * plan.layout.pp_size)
        line = f"{line} --headless --data-parallel-start-rank $((LWS_WORKER_INDEX * {local}))"
    return ["bash", "-c", f"{options_file(question, plan, engine)}{line}"]


def _start(question: Question, plan: Plan, engine: Engine) -> list[str]:
    """The command word by word; through a shell where it writes a file first, or is still to be told a name."""
    parts, file = [*shell_words(question, plan, engine), "--host 0.0.0.0"], options_file(question, plan, engine)
    if file or any(f'"${name}"' in part for name in UNSET for part in parts):
        return ["bash", "-c", f"{file}exec {' '.join(parts)}"]
    return [word for part in parts for word in shlex.split(part)]


UNSET = ("MODEL", "DRAFT")
"""What is still to be named where a plan does not say it."""


def _unset(start: Sequence[str]) -> list[str]:
    """Which of them a shell's line names."""
    return [name for name in UNSET if start[0] == "bash" and f"${name}" in start[-1]]


def _image(question: Question, engine: Engine) -> str:
    gpu = question.cluster.gpu
    if gpu.stack != "rocm" or engine == "trtllm":
        return IMAGES[engine]
    return ROCM_IMAGE if engine == "vllm" else f"{ROCM_SGLANG}-{SGLANG_ROCM.get(gpu.gpu_class, 'mi30x')}"


def _written(value: Yaml, indent: str = "") -> str:
    """YAML in blocks; texts and empty things as JSON writes them in ASCII, which YAML reads alike."""
    if isinstance(value, Mapping) and value:
        return "".join(f"{indent}{name}:{_below(one, indent)}" for name, one in value.items())
    assert not isinstance(value, str | int)
    return "".join(f"{indent}- {_entry(one, indent)}" for one in value)


def _entry(value: Yaml, indent: str) -> str:
    return _written(value, f"{indent}  ").lstrip() if _block(value) else f"{_plain(value)}\n"


def _below(value: Yaml, indent: str) -> str:
    if not _block(value):
        return f" {_plain(value)}\n"
    deeper = indent + "  " if isinstance(value, Mapping) else indent
    return "\n" + _written(value, deeper)


def _block(value: Yaml) -> bool:
    """Whether it goes on lines of its own."""
    return not isinstance(value, str | int) and len(value) > 0 and not _flat(value)


def _flat(value: Yaml) -> bool:
    """A list of words stays on its line."""
    return isinstance(value, Sequence) and all(isinstance(one, str | int) for one in value)


def _plain(value: Yaml) -> str:
    return json.dumps(value)
