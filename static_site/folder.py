"""The folder itself: what of each part goes where, and the list of all of it with its bytes."""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from runtime.files import ROOT
from static_site.parts import CORE, PartError, Parts
from ui.lab_files import code_hash

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
LEFT_OUT = re.compile(
    r"__pycache__|^data/(checkpoints/|served_planners\.json$)|^experiments/.*\.png$|^ui/server\.py|^labs/.*/README"
)
NOT_IMPORTED = {
    "streamlit": r"^streamlit/(\.agents|hello|testing|static)/|\.pyi$",
    "tzdata": r"^tzdata/zoneinfo/(?!UTC|__init__)",
    "pandas": r"^pandas/conftest",
    "markupsafe": r"_speedups",  # of a machine that is no tab: without it the package takes its own Python
    "numpy": r"/(f2py|distutils)/|_(umath|rational|operand_flag|struct_ufunc)_tests\.cpython|\.a$",
    "pillow": r"_(webp|imagingft|imagingcms|imagingtk)\.cpython",
    "pyarrow": r"/(include|src|includes)/|\.(pyx|pxd|pxi|cc|orig)$"
    r"|/_(dataset|parquet|dataset_parquet|orc|dataset_orc|substrait|flight|pyarrow_cpp_tests|feather|csv|json|fs|acero)\.",
    "*": r"\.pyi$|\.h$|/tests?/|\.dist-info/(RECORD|WHEEL|licenses|LICENSE|top_level)",
}
"""Of a package that no page imports; what it weighs is most of pandas' tests and Arrow's own sources."""
NOT_FETCHED = re.compile(
    r"\.map$|static/js/(PlotlyChart|DeckGl|EChartsChart|GraphViz|elk-|cytoscape|ColorPicker|AudioInput|CameraInput|Map)"
)
"""Of Streamlit's front end: parts of elements that no page has. A page that used one would need its file kept."""
NEVER_KEPT = re.compile(
    r"^static/js/\w*[dD]iagram|^static/media/.*(Mono|mono)|^parts\.json$|^service\.js$|^judge\.pack$|\.mjs$"
)
JUDGES = re.compile(r"^app/(core|runtime|content|labs|static_site)/|/site-packages/(numpy|packaging)[/.-]")
"""Of what the app is in a tab, the part that a lab's tests need: a server's visitors fetch no more, in one pack."""


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
    """Write files as they are: what is made of them is compressed whole."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as made:
        for name, data in files:
            made.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)


def write_pack(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write what a tab unpacks by one call: a line of names and lengths, then all of it, compressed as one.

    A browser decompresses gzip by itself, many times as fast as Python does in it, and files that are alike
    take a third less than each alone.
    """
    listed = sorted(files, key=lambda one: (Path(one[0]).suffix, one[0]))  # like beside like
    head = json.dumps([[name, len(data)] for name, data in listed], separators=(",", ":"))
    whole = b"".join((head.encode(), b"\n", *(data for _, data in listed)))
    path.write_bytes(gzip.compress(whole, 9, mtime=0))


def imported(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a wheel that are imported."""
    drop, always = re.compile(NOT_IMPORTED.get(name, "^$")), re.compile(NOT_IMPORTED["*"])
    with zipfile.ZipFile(BytesIO(data)) as wheel:
        for entry in wheel.namelist():
            if not (entry.endswith("/") or drop.search(entry) or always.search(entry)):
                yield entry, wheel.read(entry)


def lay_python(parts: Parts, out: Path) -> None:
    """Put Pyodide in place, and what it imports as packs, by when they are wanted."""
    folder = out / "pyodide"
    folder.mkdir(parents=True)
    source = parts.pyodide()
    for name in CORE[:-1]:
        shutil.copyfile(source / name, folder / name)
    site = f"lib/python{parts.python()}/site-packages/"

    def own(*names: str) -> Iterator[tuple[str, bytes]]:
        for name in names:
            yield from ((site + at, data) for at, data in imported(parts.own(name)[1], name))

    def wheels(*files: str) -> Iterator[tuple[str, bytes]]:
        for file in files:
            yield from ((site + at, data) for at, data in imported(parts.wheel(file), file.split("-")[0]))

    mine = f"cp{parts.python().replace('.', '')}"
    pandas = [file for file in parts.of("tables") if file.startswith("pandas-") and mine in file]
    others = [file for file in parts.of("tables") if not file.startswith("pandas-")]
    # of a distribution for another Python: its own
    tables = [*own("pyodide-unix-timezones", "pyarrow", *([] if pandas else ["pandas"])), *wheels(*pandas, *others)]
    first = [*own("numpy", "pillow", "python-dateutil", "six"), *wheels(*parts.of("app"))]
    ours = [(f"app/{name}", data) for name, data in our_files()]
    files = {"first": [*first, *ours], "tables": tables, "lab": [*wheels(*parts.of("lab"))]}
    for name, held in files.items():
        write_zip(out / f"{name}.zip", held)
    compile_python(parts, out, [*(f"{name}.zip" for name in files), "pyodide/python_stdlib.zip"])
    lock = {"info": parts.lock()["info"], "packages": {}}  # all comes in packs
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    judging: list[tuple[str, bytes]] = []
    for name in files:
        with zipfile.ZipFile(out / f"{name}.zip") as made:
            held = [(one, made.read(one)) for one in made.namelist()]
        write_pack(out / f"{name}.pack", held)
        if name != "tables":
            judging += [one for one in held if name == "lab" or JUDGES.search(one[0])]
        (out / f"{name}.zip").unlink()
    write_pack(out / "judge.pack", judging)


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


def compile_python(parts: Parts, out: Path, names: Iterable[str]) -> None:
    """Compile the Python in zips with the tab's own Python, in Node: a tab compiles nothing that it imports."""
    script = BROWSER.parent / "compile.mjs"
    done = subprocess.run(
        ["node", str(script), str(out.resolve()), str(parts.pyodide().resolve()), *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise PartError(f"compiling failed:\n{(done.stderr or done.stdout)[:300]} … {done.stderr[-300:]}")


def lay_list(out: Path, python: str) -> str:
    """Write the list of all files, and the service worker that keeps them; the version, a hash of everything."""
    files = sorted(str(one.relative_to(out)).replace("\\", "/") for one in out.rglob("*") if one.is_file())
    whole = hashlib.sha256()
    for name in files:
        whole.update(name.encode() + hashlib.sha256((out / name).read_bytes()).digest())
    version = whole.hexdigest()[:16]
    core = ("pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "pyodide/pyodide-lock.json", "first.pack")
    listed = {
        "version": version,
        "python": python,
        "code": code_hash(),
        "bytes": {
            "first": sum((out / name).stat().st_size for name in core),
            "tables": (out / "tables.pack").stat().st_size,
            "machine": (out / core[0]).stat().st_size,
        },
        "files": [name for name in files if not NEVER_KEPT.search(name)] + ["parts.json"],
    }
    (out / "parts.json").write_text(json.dumps(listed))
    service = (BROWSER / "service.js").read_text(encoding="utf-8")
    (out / "service.js").write_text(service.replace("SHARDLAB_VERSION", version), encoding="utf-8")
    return version
