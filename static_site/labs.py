"""The labs that are solved in the page: their editor, bundled from npm's packages into one module."""

import subprocess
from pathlib import Path

from static_site.parts import PartError, Parts

HERE = Path(__file__).parent


def lay_editor(parts: Parts, out: Path) -> None:
    """Bundle the editor into the folder."""
    modules = parts.npm()
    bundler = next(iter(modules.glob("@esbuild/*/bin/esbuild")), None) or next(
        modules.glob("@esbuild/*/esbuild.exe"), None
    )
    if bundler is None:
        raise PartError("npm has no esbuild for this machine")
    # from a copy beside the packages, where their names are resolved
    source = modules.parent / "editor.js"
    source.write_text((HERE / "browser" / "editor.js").read_text(encoding="utf-8"), encoding="utf-8")
    bundler.chmod(0o755)
    done = subprocess.run(
        [str(bundler), str(source), "--bundle", "--minify", "--format=esm", f"--outfile={out / 'editor.js'}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise PartError(f"the editor could not be bundled:\n{done.stderr[-1000:]}")
