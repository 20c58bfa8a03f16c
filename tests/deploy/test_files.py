"""What a deploy starts from agrees with the rest of the repository."""

import json
import re
import subprocess
from itertools import pairwise

import pytest

from tests.deploy.connections import DEPLOY, PATH, ROOT, needs_haproxy
from tests.yaml_here import read


def lines(file: str) -> set[str]:
    return {line for line in (ROOT / file).read_text().splitlines() if line}


def test_the_cloud_entry_pins_what_the_root_pins_and_leaves_out_what_no_page_imports():
    root, cloud = lines("requirements.txt"), lines("cloud/requirements.txt")
    assert cloud < root
    assert {line.partition("==")[0] for line in root - cloud} == {"torch", "safetensors", "pytest"}


def test_every_file_that_a_container_is_made_of_is_here():
    for file in ("Dockerfile", "grader/Dockerfile"):
        for copied in re.findall(r"^COPY (\S+) ", (DEPLOY / file).read_text(), re.MULTILINE):
            assert (ROOT / copied).exists(), (file, copied)


def test_an_image_gets_nothing_that_git_ignores():
    """An environment is gigabytes, and a secret is one."""
    kept_out = {line.removeprefix("**/") for line in lines(".dockerignore")}
    assert {line.strip("/") for line in lines(".gitignore")} | {".git"} <= kept_out


IMAGE = (DEPLOY / "Dockerfile").read_text()
PORT = int(re.search(r"^EXPOSE (\d+)$", IMAGE, re.MULTILINE)[1])
CONFIGURATIONS = ["haproxy.cfg", "replicas.cfg"]
ASKED_FOR = set(re.findall(r"\$\{(\w+)}", "".join((DEPLOY / name).read_text() for name in CONFIGURATIONS)))
HEALTH = "/_stcore/health"
SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"
ORIGINS = "SHARDLAB_ORIGINS"


def held_to(given: dict, **needed: object) -> list[object]:
    """The values of a mapping that has these names and no other, each of its type: what a schema would say."""
    assert {name: type(value) for name, value in given.items()} == needed, given
    return list(given.values())


def test_compose_is_as_its_containers_need_it():
    (file,) = read((DEPLOY / "compose.yaml").read_text())
    app, proxy = held_to(*held_to(file, services=dict), app=dict, proxy=dict)
    build, told, deploy, restart = held_to(app, build=dict, environment=dict, deploy=dict, restart=str)
    assert restart == "unless-stopped"
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert told.keys() == {SECRET, ORIGINS}
    assert told[ORIGINS] is None, (
        "as the shell has it: podman-compose 1.0 hands an empty default on as it is written"
    )
    assert told[SECRET].startswith(f"${{{SECRET}:?")
    assert deploy == {"replicas": 2, "resources": {"limits": {"memory": "1g"}}}
    types = {"image": str, "command": list, "environment": dict, "volumes": list, "ports": list}
    image, command, told, volumes, ports, *_ = held_to(proxy, **types, depends_on=list, restart=str)
    assert proxy["depends_on"] == ["app"]
    assert re.fullmatch(r"haproxy:\d+\.\d+", image)
    mounted = [volume.split(":") for volume in volumes]
    assert [(DEPLOY / here).name for here, _, how in mounted if how == "ro"] == CONFIGURATIONS
    assert [there for _, there, _ in mounted] == files_of(command)
    assert told.keys() == ASKED_FOR
    assert told["SHARDLAB_APP"] == "app"
    assert ports == [f"{told['SHARDLAB_BIND'].removeprefix('*:')}:8080"]


def files_of(command: list[str]) -> list[str]:
    """The configurations that a proxy is started with."""
    return [word for before, word in pairwise(command) if before == "-f"]


def test_the_cluster_s_objects_are_as_its_containers_need_them():
    objects = read((DEPLOY / "kubernetes.yaml").read_text())
    for one in objects:
        held_to(one, apiVersion=str, kind=str, metadata=dict, spec=dict)
        assert one["apiVersion"] == {"Deployment": "apps/v1", "Service": "v1"}[one["kind"]]
    by_name = {(one["kind"], one["metadata"]["name"]): one["spec"] for one in objects}
    pods = {}
    for (kind, name), spec in by_name.items():
        if kind == "Deployment":
            replicas, selector, template = held_to(spec, replicas=int, selector=dict, template=dict)
            assert selector["matchLabels"] == template["metadata"]["labels"]
            (pods[name],) = template["spec"]["containers"]
            assert replicas >= 1
    app, proxy = pods["shardlab"], pods["shardlab-proxy"]
    assert app["image"] == "shardlab"
    assert app["ports"] == [{"containerPort": PORT}]
    assert [one["name"] for one in app["env"]] == [SECRET]
    for probe in ("readinessProbe", "livenessProbe"):
        assert app[probe]["httpGet"] == {"path": HEALTH, "port": PORT}
        assert app[probe]["timeoutSeconds"] >= 10, "late is not dead"
    assert {one["name"] for one in proxy["env"]} == {*ASKED_FOR, "NAMESPACE"}
    told = {one["name"]: one.get("value") for one in proxy["env"]}
    (config,) = by_name["Deployment", "shardlab-proxy"]["template"]["spec"]["volumes"]
    (mount,) = proxy["volumeMounts"]
    assert mount["name"] == config["name"]
    assert files_of(proxy["args"]) == [f"{mount['mountPath']}/{name}" for name in CONFIGURATIONS]
    headless, front = by_name["Service", told["SHARDLAB_APP"].partition(".")[0]], by_name["Service", "shardlab"]
    assert (headless["clusterIP"], headless["ports"]) == ("None", [{"port": PORT}])
    assert front["sessionAffinity"] == "ClientIP"
    (port,) = front["ports"]
    assert told["SHARDLAB_BIND"] == f"*:{port['targetPort']}"
    assert proxy["ports"] == [{"containerPort": port["targetPort"]}]
    labels = [by_name["Deployment", name]["selector"]["matchLabels"] for name in ("shardlab", "shardlab-proxy")]
    assert [headless["selector"], front["selector"]] == labels
    (kustomized,) = read((DEPLOY / "kustomization.yaml").read_text())
    assert kustomized["resources"] == ["kubernetes.yaml"]
    assert kustomized["configMapGenerator"] == [{"name": config["configMap"]["name"], "files": CONFIGURATIONS}]


@pytest.mark.parametrize("file", ["deploy/Dockerfile", ".devcontainer/devcontainer.json"])
def test_a_start_without_a_screen_asks_nobody_for_its_address(file):
    """Streamlit would ask a host on the internet for the address to print, where it is given none."""
    words = re.findall(r"[\w.-]+", (ROOT / file).read_text())
    assert words[words.index("--server.headless") + 1] == "true"
    assert words[words.index("--browser.serverAddress") + 1] == "localhost"


def test_the_devcontainer_opens_on_the_app():
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    types = {"name": str, "image": str, "postCreateCommand": str, "forwardPorts": list, "portsAttributes": dict}
    held_to(told, **types, postAttachCommand=str)
    (port,) = told["forwardPorts"]
    assert port == PORT
    assert told["portsAttributes"][str(port)]["onAutoForward"] == "openPreview"
    for command in (told["postCreateCommand"], told["postAttachCommand"], IMAGE):
        files = re.findall(r"[\w./-]+\.(?:py|txt)\b", command)
        assert files
        assert all((ROOT / file).exists() for file in files)
    assert HEALTH in IMAGE


@needs_haproxy
def test_haproxy_takes_the_configuration_for_containers():
    command = ["haproxy", "-c", "-f", "haproxy.cfg", "-f", "replicas.cfg"]
    environment = {"SHARDLAB_BIND": "*:8080", "SHARDLAB_APP": "app", "PATH": PATH}
    checked = subprocess.run(command, cwd=DEPLOY, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
