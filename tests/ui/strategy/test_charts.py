"""The strategy page's rows and figures: bars that add up, one axis for saved and paid, whole drawings."""

from xml.etree import ElementTree

import pytest
import vl_convert

from core.catalog import gpu, link, model
from core.placement.cluster import ClusterSpec
from core.scenario import Scenario
from core.strategy.block import block_under
from core.strategy.picker import Question, answer
from core.strategy.training.memory import Job
from core.strategy.training.side_by_side import Held, paper_gb
from core.units import GB
from ui.comm_cost.rows_rounds import stops as stops_of
from ui.strategy import charts, rows
from ui.strategy import rows_scenes as scene_rows
from ui.strategy.bench import RANKS
from ui.strategy.drawing import block_diagram, block_rows
from ui.theme import DARK, LIGHT, Look

LOOKS = [Look(LIGHT), Look(DARK, present=True)]


def held(ranks: int, name: str = "llama-3-8b", microbatches: int = 1) -> Held:
    job = Job(microbatches=microbatches)
    return Held(model(name), ranks, 8, gpu("h100-sxm").usable_memory_bytes, job, "selective")


@pytest.mark.parametrize("ranks", RANKS)
def test_a_bar_ends_where_its_last_part_does(ranks):
    asked = held(ranks)
    parts, ends = rows.memory_parts(asked), rows.memory_ends(asked)
    for end in ends:
        own = [part for part in parts if part.strategy == end.strategy]
        assert own[-1].end_gb == pytest.approx(end.end_gb)
        assert [part.start_gb for part in own[1:]] == [part.end_gb for part in own[:-1]]


def test_the_papers_four_figures():
    """arXiv 1910.02054, figure 1: 120, 31.4, 16.6, 1.9 GB."""
    assert [round(paper_gb(zero), 1) for zero in range(4)] == [120.0, 31.4, 16.6, 1.9]


def test_with_one_microbatch_zero_sends_what_ddp_sends_and_fsdp_half_as_much_again():
    """The paper's section 7: 2Ψ, 2Ψ, 2Ψ and 3Ψ, less one share."""
    paid = {one.strategy: one.right_gb for one in rows.sums(held(64))}
    assert paid["ZeRO-1"] == pytest.approx(paid["DDP"])
    assert paid["ZeRO-2"] == pytest.approx(paid["DDP"])
    assert paid["FSDP"] == pytest.approx(1.5 * paid["DDP"])
    assert paid["FSDP, kept"] == pytest.approx(paid["DDP"])


def test_saved_and_held_are_what_ddp_holds():
    asked = held(64)
    ends = {end.strategy: end.end_gb for end in rows.memory_ends(asked)}
    for one in rows.sums(asked):
        assert ends["DDP"] + one.left_gb == pytest.approx(ends[one.strategy])


def test_inside_a_node_nothing_is_sent_across_and_beyond_it_tp_still_is_not():
    assert {row.what for row in rows.saved_and_paid(held(8))} <= {"saved", rows.INSIDE}
    across = [row for row in rows.saved_and_paid(held(64)) if row.what == rows.ACROSS]
    assert {"DDP", "FSDP"} <= {row.strategy for row in across}
    assert not any(row.why.startswith("TP") for row in across)


def test_one_gpu_has_nothing_to_compare():
    names = [end.strategy for end in rows.memory_ends(held(1))]
    assert names == ["DDP", "ZeRO-1", "ZeRO-2", "FSDP"]
    assert {one.right_gb for one in rows.sums(held(1))} == {0.0}


def test_a_mixture_has_a_bar_for_expert_parallelism():
    assert "EP=8, ZeRO-1" in [end.strategy for end in rows.memory_ends(held(64, "mixtral-8x7b"))]


@pytest.mark.parametrize("look", LOOKS, ids=["laptop", "projector"])
def test_the_figures_are_whole(look):
    asked = held(64)
    ends, sums = rows.memory_ends(asked), rows.sums(asked)
    memory = charts.memory_bars(rows.memory_parts(asked), ends, asked.capacity_bytes / GB, look)
    paid = charts.saved_and_paid(rows.saved_and_paid(asked), sums, look)
    for chart in (memory, paid):
        assert ">ZeRO-1<" in vl_convert.vegalite_to_svg(chart.to_dict())
    domains = {
        tuple(layer["encoding"]["x"]["scale"]["domain"])
        for layer in paid.spec["layer"]
        if "domain" in (layer["encoding"].get("x", {}).get("scale") or {})
    }
    assert len(domains) == 1
    low, high = domains.pop()
    assert low < min(row.left_gb for row in sums) < 0 < max(row.right_gb for row in sums) < high


def test_the_kind_taken_is_marked_and_refusals_keep_their_word():
    cluster = ClusterSpec(gpu("a100-80gb-sxm"), link("nvlink-3"), link("ib-hdr"), 8, 1)
    given = answer(Question(model("llama-3-8b"), cluster))
    found = scene_rows.kinds(given)
    assert [kind.strategy for kind in found if kind.taken] == [given.family]
    assert next(kind for kind in found if kind.strategy == "DDP").in_words.startswith("does not fit")
    spec = charts.kinds(found, LOOKS[0]).to_dict()
    assert spec["layer"][1]["encoding"]["x"]["field"] == "tokens_per_s"


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("strategy", "name"), [("TP", "llama-3-8b"), ("FSDP", "llama-3-8b"), ("EP", "mixtral-8x7b")]
)
def test_a_drawing_is_a_file_of_its_own(strategy, name, palette):
    """Well-formed, on its own ground, with a name for those who do not see it."""
    block = block_under(strategy, model(name), 4, 1)
    root = ElementTree.fromstring(block_diagram(block, palette, 'a "block" <drawn>'))
    assert root.get("aria-label") == 'a "block" <drawn>'
    assert root[0].get("fill") == palette.ground
    said = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "rank 3" in said
    assert any(transfer.op in said for transfer in block.transfers)
    table = block_rows(block)
    assert [row["row"] for row in table] == [word for word in said if word in {row["row"] for row in table}]
    assert all(len(row) == 2 + 4 for row in table)


def test_stops_are_the_arrivals_of_every_algorithm():
    found = [one.course for one in scene_rows.timed("all-reduce", 4, 2**20, Scenario().network_spec)]
    stops = stops_of(found)
    assert stops[0].time_s == 0
    assert stops[-1].time_s == max(one.end_s for one in found)
    assert [stop.time_s for stop in stops] == sorted(stop.time_s for stop in stops)


def test_two_matrices_in_one_row_are_not_written_as_one():
    """Gate and up at TP=2 are [7168, 4096] each on a rank; [14336, 4096] is each of them whole."""
    rows = {row["row"]: row["a_rank"] for row in block_rows(block_under("TP", model("llama-3-8b"), 2, 1))}
    assert rows["Wgate, Wup"] == "2 × [7168, 4096] a rank"
    assert rows["Wk, Wv"] == "2 × [512, 4096] a rank"
    whole = {row["row"]: row["a_rank"] for row in block_rows(block_under("DDP", model("llama-3-8b"), 2, 1))}
    assert whole["Wgate, Wup"] == "2 × [14336, 4096]"
