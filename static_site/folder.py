"""The folder itself: what of each part goes where, and the list of all of it with its bytes."""

import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from runtime.files import ROOT
from static_site.parts import CORE, PartError, Parts

BROWSER = Path(__file__).parent / "browser"
SETTINGS = ".streamlit/config.toml"
OURS = (
    *(
        "streamlit_app.py",
        "ui",
        "core",
        "content",
        "pages",
        "labs",
        "runtime",
        "data",
        "distributed",
        "experiments",
    ),
    *(SETTINGS, "static_site/browser"),
)
LEFT_OUT = re.compile(r"__pycache__|^data/checkpoints/|^experiments/.*\.png$|^ui/server\.py|^labs/.*/README")
NOT_IMPORTED = {
    "streamlit": r"^streamlit/(\.agents|hello|testing|static)/|\.pyi$",
    "tzdata": r"^tzdata/zoneinfo/(?!UTC|__init__)",
    "pandas": r"/tests/",
    "numpy": r"/tests/|/f2py/|\.a$|\.h$|\.pyi$",
    "pyarrow": r"/(include|src|includes|tests)/|\.(pyx|pxd|pxi|h|cc)$"
    r"|/_(dataset|parquet|dataset_parquet|orc|dataset_orc|substrait|flight|pyarrow_cpp_tests|feather|csv|json|fs|acero)\.",
    "*": r"\.pyi$|/tests?/",
}
"""Of a package that no page imports; what it weighs is most of pandas' tests and Arrow's own sources."""
NOT_FETCHED = re.compile(
    r"\.map$|static/js/(PlotlyChart|DeckGl|EChartsChart|GraphViz|elk-|cytoscape|ColorPicker|AudioInput|CameraInput|Map)"
)
"""Of Streamlit's front end: parts of elements that no page has. A page that used one would need its file kept."""
NEVER_KEPT = re.compile(r"^static/js/\w*[dD]iagram|^static/media/.*(Mono|mono)|^parts\.json$|^service\.js$|\.mjs$")


def slim(data: bytes, name: str) -> bytes:
    """A wheel without what nobody imports."""
    drop = re.compile(NOT_IMPORTED.get(name, NOT_IMPORTED["*"]))
    out = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for entry in old.infolist():
            if not drop.search(entry.filename):
                new.writestr(_stamped(entry.filename), old.read(entry))
    return out.getvalue()


def _stamped(name: str) -> zipfile.ZipInfo:
    """A name in a zip without the day it was made: the same parts give the same bytes."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry


def settings_of_tab(text: str) -> str:
    """Return Streamlit's settings as a tab wants them: it watches no file, and has no other origin to keep out.

    An app that is served by another's hand reads them in this file alone. A watcher is a thread without an end,
    and an upload would need a cookie that a folder of files does not set.
    """
    text = re.sub(r"^(enableXsrfProtection|enableCORS) = true$", r"\1 = false", text, flags=re.MULTILINE)
    return text.replace("[server]\n", '[server]\nfileWatcherType = "none"\n', 1) + '\n[logger]\nlevel = "warning"\n'


def our_files() -> Iterator[tuple[str, bytes]]:
    """What the app itself is in the tab, by its path."""
    listed = subprocess.run(["git", "ls-files", "-z", *OURS], cwd=ROOT, capture_output=True, text=True, check=False)
    names = sorted(filter(None, listed.stdout.split("\0"))) if not listed.returncode else []
    if not names:
        names = sorted(str(one.relative_to(ROOT)) for top in OURS for one in _files(ROOT / top))
    for name in names:
        if not LEFT_OUT.search(name):
            data = (ROOT / name).read_bytes()
            yield name, settings_of_tab(data.decode()).encode() if name == SETTINGS else data


def _files(path: Path) -> Iterable[Path]:
    return [path] if path.is_file() else (one for one in path.rglob("*") if one.is_file())


def write_zip(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, data in files:
            made.writestr(_stamped(name), data)


def unpacked(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a wheel that are imported."""
    drop = re.compile(NOT_IMPORTED.get(name, NOT_IMPORTED["*"]))
    with zipfile.ZipFile(BytesIO(data)) as wheel:
        for entry in wheel.namelist():
            if not drop.search(entry):
                yield entry, wheel.read(entry)


def lay_python(parts: Parts, out: Path) -> dict[str, list[str]]:
    """Put Pyodide, its packages and ours in place; the names of the packages, by when they are wanted."""
    folder = out / "pyodide"
    folder.mkdir(parents=True)
    source = parts.pyodide()
    for name in CORE[:-1]:
        shutil.copyfile(source / name, folder / name)
    lock = parts.lock()
    kept: dict[str, Any] = {}

    def keep(name: str, file: str, data: bytes, row: Mapping[str, Any]) -> None:
        (folder / file).write_bytes(data)
        kept[name] = {**row, "file_name": file, "sha256": hashlib.sha256(data).hexdigest()}

    names = list(parts.wanted["from_pyodide"])
    mine = f"cp{parts.python().replace('.', '')}"
    pandas = [file for file in parts.of("figures") if mine in file]
    names += [] if pandas else ["pandas"]  # of a distribution for another Python: its own
    for name in names:
        file, data = parts.own(name)
        row = lock["packages"][name]
        kept_names = {*names, "pandas"}
        keep(name, file, slim(data, name), {**row, "depends": [one for one in row["depends"] if one in kept_names]})
    for file in [*pandas, *parts.of("lab")]:
        name, version = file.split("-")[:2]
        needs = {"pandas": ["numpy", "python-dateutil"], "pytest": ["pluggy", "iniconfig", "pygments"]}
        row = {"name": name, "version": version, "install_dir": "site", "package_type": "package", "imports": [],
               "depends": needs.get(name, []), "unvendored_tests": False, "shared_library": False}  # fmt: skip
        keep(name, file, slim(parts.wheel(file), name), row)
    (folder / "pyodide-lock.json").write_text(json.dumps({"info": lock["info"], "packages": kept}))
    write_zip(
        out / "streamlit.zip",
        (one for file in parts.of("app") for one in unpacked(parts.wheel(file), file.split("-")[0])),
    )
    write_zip(out / "app.zip", our_files())
    return {"first": ["numpy", "pillow"], "figures": ["pandas", "pyarrow"], "lab": ["numpy", "pytest"]}


def lay_front_end(parts: Parts, out: Path) -> None:
    """Put Streamlit's own front end in place, unchanged."""
    file = next(one for one in parts.of("app") if one.startswith("streamlit-"))
    with zipfile.ZipFile(BytesIO(parts.wheel(file))) as wheel:
        for name in wheel.namelist():
            if name.startswith("streamlit/static/") and not name.endswith("/") and not NOT_FETCHED.search(name):
                to = out / name.removeprefix("streamlit/static/")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(wheel.read(name))


def lay_answers(out: Path) -> None:
    """Put the two answers of a server that the front end asks for before its socket."""
    (out / "_stcore").mkdir(exist_ok=True)
    (out / "_stcore/health").write_text("ok")
    host = {"allowedOrigins": [], "useExternalAuthToken": False, "enableCustomParentMessages": False,
            "enforceDownloadInNewTab": False, "metricsUrl": "", "blockErrorDialogs": False,
            "resourceCrossOriginMode": None}  # fmt: skip
    (out / "_stcore/host-config").write_text(json.dumps(host))


def compile_python(parts: Parts, out: Path) -> None:
    """Compile what is imported with the tab's own Python, in Node: half of the time that the first page takes."""
    script = BROWSER.parent / "compile.mjs"
    done = subprocess.run(
        ["node", str(script), str(out.resolve()), str(parts.pyodide().resolve())],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise PartError(f"compiling failed:\n{(done.stderr or done.stdout)[:300]} … {done.stderr[-300:]}")


def lay_list(out: Path, uses: Mapping[str, list[str]], python: str) -> str:
    """Write the list of all files, and the service worker that keeps them; the version, a hash of everything."""
    files = sorted(str(one.relative_to(out)).replace("\\", "/") for one in out.rglob("*") if one.is_file())
    whole = hashlib.sha256()
    for name in files:
        whole.update(name.encode() + hashlib.sha256((out / name).read_bytes()).digest())
    version = whole.hexdigest()[:16]
    lock = json.loads((out / "pyodide/pyodide-lock.json").read_text())["packages"]

    def needed(names: Iterable[str]) -> set[str]:
        return set().union(*({name} | needed(lock[name]["depends"]) for name in names))

    def size(names: Iterable[str]) -> int:
        return sum((out / "pyodide" / lock[name]["file_name"]).stat().st_size for name in names)

    core = ["pyodide/" + name for name in CORE if not name.endswith((".mjs", "pyodide.js", "asm.js"))]
    listed = {
        "version": version,
        "python": python,
        **uses,
        "core_bytes": sum((out / name).stat().st_size for name in [*core, "streamlit.zip", "app.zip"]),
        "bytes": {
            "first": size(needed(uses["first"])),
            "figures": size(needed(uses["figures"]) - needed(uses["first"])),
        },
        "files": [name for name in files if not NEVER_KEPT.search(name)] + ["parts.json"],
    }
    (out / "parts.json").write_text(json.dumps(listed))
    service = (BROWSER / "service.js").read_text(encoding="utf-8")
    (out / "service.js").write_text(service.replace("SHARDLAB_VERSION", version), encoding="utf-8")
    return version
