"""Lab 01's page: what is said of a picture that has fewer ranks than the scenario."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"


@pytest.mark.parametrize(("tp", "said"), [(4, False), (8, True)])
def test_a_picture_of_fewer_ranks_than_the_scenario_says_so(tp, said):
    """Eight ranks do not divide four columns: the picture had four, without a word."""
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    at.query_params["tp"] = str(tp)
    at.query_params["shard_scene"] = "see"
    at.switch_page("pages/1_sharding_math.py")
    told = " ".join(element.value for element in at.run().markdown)
    assert ("At TP=8 the steps are the same" in told.replace("\u00a0", " ")) == said
