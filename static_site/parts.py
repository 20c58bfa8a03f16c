"""What the site is made of: each file from a folder, a Pyodide distribution, or the registries, by its hash.

`wheels.json` names Python's packages and their hashes, `package-lock.json` those of npm. Pyodide's own packages
are in no registry: they come from a distribution that is brought along, else out of a package on PyPI that
carries them, and in either case their hash is the one in Pyodide's lock file.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


class PartError(RuntimeError):
    """A file that cannot be had, or is not the one that was named."""


@dataclass
class Parts:
    """Where the parts lie. `come_from` says of each where it was found."""

    store: Path
    distribution: Path | None = None
    wheels: Path | None = None
    wanted: dict[str, Any] = field(default_factory=lambda: json.loads((HERE / "wheels.json").read_text()))
    come_from: dict[str, str] = field(default_factory=dict)

    def npm(self) -> Path:
        """Return a folder with the packages of npm, installed by their lock."""
        folder = self.store / "npm"
        lock = (HERE / "package-lock.json").read_bytes()
        if not (folder / "done").is_file() or (folder / "done").read_bytes() != lock:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / name, folder)
            _run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", cwd=folder)
            (folder / "done").write_bytes(lock)
        return folder / "node_modules"

    def pyodide(self) -> Path:
        """Return the folder of Pyodide itself."""
        folder = self.distribution or self.npm() / "pyodide"
        missing = [name for name in CORE if not (folder / name).is_file()]
        if missing:
            raise PartError(f"{folder} is no Pyodide distribution: it lacks {', '.join(missing)}")
        self.come_from["pyodide"] = f"{folder}, {self.lock()['info']['version'] if self.distribution else 'npm'}"
        return folder

    def lock(self) -> dict[str, Any]:
        """Return Pyodide's lock file."""
        folder = self.distribution or self.npm() / "pyodide"
        lock: dict[str, Any] = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
        return lock

    def python(self) -> str:
        """Return Python's version in the tab, as `3.12`."""
        return ".".join(self.lock()["info"]["python"].split(".")[:2])

    def own(self, name: str) -> tuple[str, bytes]:
        """Return one of Pyodide's packages: its file's name and content."""
        row = self.lock()["packages"][name]
        file = row["file_name"]
        for folder in filter(None, (self.distribution, self.wheels, self.store)):
            if (folder / file).is_file():
                return file, self._checked(file, (folder / file).read_bytes(), row["sha256"], str(folder))
        if self.distribution:
            raise PartError(f"{self.distribution} lacks {file}")
        carrier = next(name for name, row in self.wanted["wheels"].items() if row["for"] == "carrier")
        with zipfile.ZipFile(self._path(carrier)) as bundle:
            data = bundle.read(self.wanted["carrier"]["folder"] + file)
        return file, self._checked(file, data, row["sha256"], f"out of {carrier}")

    def wheel(self, file: str) -> bytes:
        """Return one of PyPI's wheels."""
        return self._path(file).read_bytes()

    def of(self, use: str) -> list[str]:
        """Return the wheels that are for one use."""
        return [file for file, row in self.wanted["wheels"].items() if row["for"] == use]

    def _path(self, file: str) -> Path:
        want = self.wanted["wheels"][file]["sha256"]
        for folder in filter(None, (self.wheels, self.store)):
            if (folder / file).is_file():
                self._checked(file, (folder / file).read_bytes(), want, str(folder))
                return folder / file
        if self.wheels and not self.store.exists():
            self.store.mkdir(parents=True)
        self._download(file)
        self._checked(file, (self.store / file).read_bytes(), want, "PyPI")
        return self.store / file

    def _download(self, file: str) -> None:
        """Have pip bring one wheel, for the tab's Python and platform."""
        name, version = file.split("-")[:2]
        self.store.mkdir(parents=True, exist_ok=True)
        python = self.wanted["python"].replace(".", "")
        platform = Path(file).stem.rpartition("-")[2].partition(".")[0]
        abi = [f"--abi=cp{python}", "--implementation=cp"] if platform != "any" else []
        if platform == "any" and name == "protobuf":
            abi = ["--abi=none", "--implementation=py"]
        tags = [f"--python-version={python}", f"--platform={platform}", *abi, "--only-binary=:all:"]
        _run(
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            *tags,
            "-d",
            str(self.store),
            f"{name}=={version}",
        )

    def _checked(self, file: str, data: bytes, sha256: str, where: str) -> bytes:
        if hashlib.sha256(data).hexdigest() != sha256:
            raise PartError(f"{file} of {where} is not the file that the lock names")
        self.come_from[file] = where
        return data


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PartError(f"{' '.join(command[:4])} failed:\n{done.stderr.strip()[-2000:]}")
