"""Each line of the threat model names a test that exists, and each pinned package stands in the audited list."""

import importlib.util
import re
from pathlib import Path

from tests.each import each

ROOT = Path(__file__).resolve().parents[1]
LINES = [line for line in (ROOT / "docs/threats.md").read_text().splitlines() if line.startswith("| ")][1:]


def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci/audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each("line", LINES)
def test_every_threat_names_a_test_that_there_is(line):
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", line)
    assert named
    for file, test in named:
        assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {test}"


def test_there_are_threats_to_be_held():
    assert len(LINES) > 20


def test_every_pinned_package_is_in_the_dated_list():
    found = audit()
    assert found.pinned()
    assert found.pinned().items() <= found.listed().items()
