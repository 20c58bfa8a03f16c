"""Every page from the entry of Community Cloud, where nothing can be imported that its requirements leave out."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import functools
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        first = name.split(".")[0]
        if first in ("torch", "safetensors", "pytest"):
            raise ModuleNotFoundError(f"No module named '{first}'", name=first)

sys.meta_path.insert(0, NoTorch())
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from ui.course.pages import OVERVIEW, PAGES

# else every run looks through all installed packages
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
for page in PAGES:
    for scene in page.names if page is not OVERVIEW else [""]:
        app = AppTest.from_file("cloud/streamlit_app.py", default_timeout=60)
        if scene:
            app.query_params[f"{page.prefix}_scene"] = scene
        app.switch_page(page.path)
        app.run()
        assert not app.exception, (page.stem, scene, app.exception)
        assert app.title, (page.stem, scene)
"""


@pytest.mark.slow
def test_every_page_opens_with_torch_absent():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
