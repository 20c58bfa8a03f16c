"""Hold the pinned packages to known vulnerabilities, where their data can be reached; else to the dated list.

python .ci/audit.py            1 where a package has a known vulnerability, or the list is of other versions
python .ci/audit.py --list     writes docs/dependencies.txt anew: what is installed here, with today's date
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "dependencies.txt"
PINS = ("requirements.txt", "requirements-dev.txt")
TOOLS = {"pip", "setuptools", "wheel"}


def pinned() -> dict[str, str]:
    """Every version that the requirements name."""
    lines = [line for name in PINS for line in (ROOT / name).read_text().splitlines()]
    pairs = (line.split(";")[0].strip().split("==") for line in lines if "==" in line)
    return {_plain(name): version.partition("+")[0] for name, version in pairs}


def listed() -> dict[str, str]:
    """Every version of the dated list."""
    lines = (line for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return dict(tuple(line.split("==")) for line in lines)


def write_list() -> None:
    """What stands in this environment, transitive packages with it."""
    found = {_plain(one.name): one.version.partition("+")[0] for one in distributions() if one.name not in TOOLS}
    head = f"# {datetime.now(UTC).date()}: installed with requirements-dev.txt; by `python .ci/audit.py --list`"
    LIST.write_text("\n".join([head, *(f"{name}=={version}" for name, version in sorted(found.items()))]) + "\n")


def audited() -> tuple[list[str], int]:
    """What pip-audit knows of the list: known vulnerabilities, and how many packages it had data of."""
    command = [sys.executable, "-m", "pip_audit", "-r", str(LIST), "--no-deps", "--disable-pip", "--format", "json"]
    done = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["dependencies"] if done.stdout.startswith("{") else []
    known = [one for one in found if "skip_reason" not in one]
    return [f"{one['name']} {one['version']}: {each['id']}" for one in known for each in one["vulns"]], len(known)


def main() -> int:
    """Audit, or write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="write the dated list")
    if parser.parse_args().list:
        write_list()
    old = sorted(f"{name}=={version}" for name, version in pinned().items() if listed().get(name) != version)
    vulnerabilities, known = audited()
    reached = f"{known} of {len(listed())} packages looked up" if known else "the data cannot be reached from here"
    print(f"{LIST.read_text().splitlines()[0][2:12]}: {reached}; {len(vulnerabilities)} known vulnerabilities")
    print("\n".join([*vulnerabilities, *(f"not in the list: {one}" for one in old)]), end="")
    return int(bool(vulnerabilities or old))


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    sys.exit(main())
