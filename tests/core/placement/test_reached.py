"""What a server reaches of a lab's speed-up, by the planner's own times."""

import pytest

from core.catalog import gpu, model
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question
from core.placement.rank_memory import measured_budget
from core.placement.reached import reached
from core.scenario import Scenario
from core.steps.view import View
from tests.each import each


@each(("tp", "batch"), [(tp, batch) for tp in (2, 4, 8) for batch in (1, 16)])
def test_a_server_reaches_what_the_planner_tells_and_less_than_the_lab_derives(tp, batch):
    """Llama 3 8B on A100: 1.85 and 5.7 times in lab 03 at TP=2 and 8, in a server some 1.5 and 2.5."""
    scenario = Scenario(tp=tp, batch=batch)
    found, lab = reached(scenario), View(scenario)
    row = gpu("a100-80gb-sxm")
    asked = Question(model("llama-3-8b"), usual_cluster(row, 8), measured_budget(row), Demand(concurrency=batch))
    assert found.split_s == pytest.approx(asked.timing(Layout(tp)).itl_s)
    assert found.one_s == pytest.approx(asked.timing(Layout(1)).itl_s)
    assert 1 < found.speedup < lab.price(lab.link).speedup


def test_what_keeps_it_from_the_rest_is_named_and_counted():
    """At TP=8 the layers' own work is most of a token alone; 64 long contexts take longer to read."""
    alone = reached(Scenario(tp=8))
    assert alone.because == "layers"
    assert alone.layers_s > 0.5 * alone.split_s
    assert alone.layers_s + alone.sums_s + alone.cache_s < alone.split_s
    assert reached(Scenario(tp=8, gpu="l40s", link="pcie-4", batch=8)).because == "sums"
    assert reached(Scenario(tp=2, batch=64, prompt_tokens=8192)).because == "cache"


def test_one_gpu_has_nothing_to_reach():
    assert reached(Scenario(tp=1)) is None
