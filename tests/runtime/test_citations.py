"""Archives of sources: read member by member, never unpacked or executed; what is none is refused in one line."""

import importlib.util
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from core.course.citations import source
from core.errors import UnreadableTextError
from runtime.citations import Check, check, record
from scripts.citations import main

UTILS = "def ensure_divisibility(a, b):\n    assert a % b == 0, '{} is not divisible by {}'.format(a, b)\n"
TRAP = "raise SystemExit('executed')\n"
MEMBERS = {"sglang/srt/distributed/utils.py": UTILS, "sglang/__init__.py": TRAP, "setup.py": TRAP}


def metadata(release="0.5.23", name="sglang"):
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {release}\n\nVersion: 9.9\n"


@pytest.fixture(params=["wheel", "sdist", "folder"])
def archive(request, tmp_path):
    """The same little package, in three ways."""
    if request.param == "wheel":
        path = tmp_path / "sglang-0.5.23-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as zipped:
            for name, text in {**MEMBERS, "sglang-0.5.23.dist-info/METADATA": metadata()}.items():
                zipped.writestr(name, text)
        return path
    if request.param == "sdist":
        path = tmp_path / "sglang-0.5.23.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for name, text in {**MEMBERS, "PKG-INFO": metadata()}.items():
                info = tarfile.TarInfo(f"sglang-0.5.23/{name}")
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text.encode()))
        return path
    for name, text in {**MEMBERS, "sglang-0.5.23.dist-info/METADATA": metadata()}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_an_archive_is_read_and_never_executed(archive):
    done = check(source("sglang"), archive, "2026-11-22")
    assert (done.package, done.release) == ("sglang", "0.5.23")
    assert done.rows["claim.divide"] == "holds"
    assert done.rows["claim.log_weights"] == "moved"


def test_nccl_sources_say_their_release_in_a_makefile(tmp_path):
    """They come as the archive of a tag, and have no package's metadata."""
    path = tmp_path / "nccl-2.30.7-1.tar.gz"
    numbers = "# c\n\nNCCL_MAJOR   := 2\nNCCL_MINOR   := 30\nNCCL_PATCH   := 7\n"
    members = {"makefiles/version.mk": numbers, "src/misc/socket.cc": 'if (none) { find("^docker,lo,virbr"); }'}
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(f"nccl-2.30.7-1/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    done = check(source("nccl"), path, "2026-11-22")
    assert (done.release, done.rows["claim.not_docker"], done.rows["claim.complete"]) == (
        "2.30.7",
        "holds",
        "moved",
    )


def test_the_command_names_what_has_moved_and_ends_in_exit_1(archive, capsys):
    assert main(["--engine", "sglang", "--wheel", str(archive)]) == 1
    said = capsys.readouterr().out
    assert "claim.log_weights" in said
    assert "claim.divide" not in said


def test_what_is_no_archive_of_the_engine_is_refused_in_one_line(archive, tmp_path, capsys):
    nothing = tmp_path / "nothing.whl"
    nothing.write_bytes(b"PK\x03\x04 cut short")
    for engine, path in (("vllm", archive), ("sglang", nothing), ("sglang", tmp_path / "absent.whl")):
        with pytest.raises(UnreadableTextError):
            check(source(engine), path, "2026-11-22")
        with pytest.raises(SystemExit) as ended:
            main(["--engine", engine, "--wheel", str(path)])
        said = capsys.readouterr()
        assert ended.value.code == 2
        assert (said.out, said.err.count("\n")) == ("", 1)


def test_without_an_archive_the_command_says_where_one_comes_from(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--engine", "vllm"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "pip download --no-deps vllm" in said
    assert "0.33.0" in said


def test_a_record_keeps_one_check_a_release_the_newest_first(tmp_path):
    path = tmp_path / "record.json"
    for release, day in (("0.9.2", "a"), ("0.33.0", "b"), ("0.9.2", "c")):
        record(Check("vllm", "vllm", release, day, "x.whl", {"claim.one": "holds"}), path)
    kept = [(row["release"], row["checked"]) for row in json.loads(path.read_text())]
    assert kept == [("0.33.0", "b"), ("0.9.2", "c")]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["fsdp", "pytorch"])
def test_every_claim_about_pytorch_holds_in_the_one_that_is_installed(engine):
    """The package is pinned to the release that the record names; it is read, not imported."""
    installed = importlib.util.find_spec("torch")
    if installed is None:
        pytest.skip("PyTorch is not installed")
    done = check(source(engine), Path(installed.origin).parents[1], "2026-11-22")
    assert done.release.startswith("2.13.0")
    assert done.moved == ()
