"""Build Shardlab as a folder of static files, which needs no server: a reader's own browser runs all of it.

python -m scripts.static_site --out dist
python -m http.server -d dist

Its parts come from npm and PyPI by the hashes in static_site/, or from a folder that has them (`--wheels`), or
from a full Pyodide distribution (`--pyodide`), whose own numpy, pandas, pyarrow and pillow are then taken.
Nothing that is fetched is committed: it is kept in build/static_site for the next time.
"""

import argparse
import shutil
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from runtime.files import ROOT
from scripts.terminal import BAD_INPUT
from static_site import folder, labs, still
from static_site.parts import PartError, Parts

COPIED = ("page.js", "worker.js", "lab_worker.js", "unpack.js")


def build(parts: Parts, out: Path) -> str:
    """Make the folder anew; what it was made of, hashed."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    folder.lay_front_end(parts, out)
    folder.lay_python(parts, out)
    folder.lay_answers(out)
    still.lay_pages(out)
    labs.lay_editor(parts, out)
    for name in COPIED:
        if (folder.BROWSER / name).is_file():
            shutil.copyfile(folder.BROWSER / name, out / name)
    return folder.lay_list(out, parts.python())


def main(arguments: Sequence[str] | None = None) -> int:
    asked = make_parser().parse_args(arguments)
    began_s = time.monotonic()
    parts = Parts(asked.store, asked.pyodide, asked.wheels)
    try:
        version = build(parts, asked.out)
    except (PartError, OSError) as error:
        print(f"static_site: {error}", file=sys.stderr)
        return BAD_INPUT
    files = [one for one in asked.out.rglob("*") if one.is_file()]
    raw, packed = sum(one.stat().st_size for one in files), sum(map(_packed_bytes, files))
    for name, where in sorted(parts.come_from.items()):
        print(f"{name:<64} {where}")
    took_s = time.monotonic() - began_s
    print(
        f"{asked.out}: version {version}, {len(files)} files, {raw / 1e6:.1f} MB,"
        f" {packed / 1e6:.1f} MB as gzip, {took_s:.0f} s"
    )
    return 0


def _packed_bytes(path: Path) -> int:
    return len(zlib.compress(path.read_bytes(), 6))


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.static_site", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder, made anew (default: dist)")
    parser.add_argument("--wheels", type=Path, help="a folder that has Python's packages")
    parser.add_argument("--pyodide", type=Path, help="a full Pyodide distribution, unpacked")
    parser.add_argument(
        "--store", type=Path, default=ROOT / "build" / "static_site", help="where what is fetched is kept"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
