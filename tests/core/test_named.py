"""Every priced number has one of three names: rough, modeled, measured."""

import pytest

from core.catalog import LINKS, link, model
from core.comm_cost.bill import Step, bill
from core.comm_cost.kernels import picked_bill
from core.comm_cost.measured import measured_bill
from core.scenario import Scenario
from core.steps.view import View
from runtime.measurements import measured_all_reduces

STEP = Step(model("llama-3-8b"), 2)


@pytest.mark.parametrize("key", LINKS)
def test_the_labs_own_two_links_are_rough_and_all_that_were_fitted_are_modeled(key):
    named = "rough" if key.endswith("-lab") else "modeled"
    assert link(key).named == bill(STEP, link(key)).named == picked_bill(STEP, link(key)).bill.named == named


def test_what_somebody_timed_is_measured_and_a_fit_to_one_s_own_table_modeled():
    assert measured_bill(measured_all_reduces(), "a100-nccl", STEP).named == "measured"
    assert link("own_0.55_409_3.2_8").named == "modeled"


def test_one_switch_of_lab_03_changes_the_name_and_no_figure_mixes_two():
    for napkin, named in ((False, "modeled"), (True, "rough")):
        view = View(Scenario(), napkin=napkin)
        assert {view.price(over).named for over in view.links} == {named}
