"""Published pairs of times in which more ranks were slower: all of the table, and said where a plan meets one."""

import csv
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

from core.catalog import gpu, model
from core.evidence.slower import TIMED, timed_slower
from core.placement.asked import Machine, question_of
from core.placement.demand import Demand
from core.placement.planner import place
from core.placement.trace import answer
from runtime.published import SHIPPED

ALIKE = ("source", "model", "gpu", "dtype", "batch", "prompt_tokens", "output_tokens", "network", "arrival")


def test_the_table_has_every_pair_of_the_published_times():
    """One source, one model, one GPU, as many sequences: the next size of TP took longer."""
    runs, found = defaultdict(list), {}
    with SHIPPED.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["quantity"] == "decode" and row["pp_size"] == "1" and float(row["measured_s"]):
                runs[tuple(row[name] for name in ALIKE)].append((int(row["tp_size"]), float(row["measured_s"])))
    for (source, model_key, gpu_key, _, batch, *_), timed in runs.items():
        for (fewer, fewer_s), (more, more_s) in pairwise(sorted(timed)):
            if more > fewer and more_s > fewer_s:
                one = (more_s / fewer_s, int(batch), fewer, more, fewer_s, more_s)
                found.setdefault((model_key, gpu_key, source), []).append(one)
    assert {(pair.model, pair.gpu, pair.source) for pair in TIMED} == set(found)
    for pair in TIMED:
        pairs = found[pair.model, pair.gpu, pair.source]
        worst = max(pairs)
        assert worst[1:4] == (pair.batch, pair.fewer, pair.more)
        assert [round(one, 6) for one in worst[4:]] == [pair.fewer_s, pair.more_s]
        assert (min(one[1] for one in pairs), max(one[1] for one in pairs)) == (pair.fewest, pair.most)


def test_a_measured_time_goes_before_a_modeled_one():
    """gpt-oss-120b on A100: 90 tokens/s at TP=1, 77 at TP=2. Not said of other sizes, GPUs or loads.

    More ranks are taken only where a target leaves nothing else, and with the warning.
    """
    machine, demand = Machine(gpu("a100-80gb-sxm"), 4), Demand(concurrency=1, dtype="mxfp4")
    placed = place(question_of(model("gpt-oss-120b"), machine, demand))
    assert placed.taken.layout.tp_size == 1
    assert max(placed.fitting, key=lambda index: placed.timing(index).sustained_tokens_per_s) != placed.recommended
    said = [one for one in answer(placed) if one.code == "placement.set_aside"]
    assert [(one.values["pair"].more_s, one.values["name"]) for one in said] == [(0.012903, "TP=4")]
    pressed = place(question_of(model("gpt-oss-120b"), machine, replace(demand, slo_itl_s=0.0075)))
    assert pressed.taken.layout.tp_size == 4
    said = [one for one in answer(pressed) if one.code == "placement.timed_slower"]
    assert [one.values["pair"].more_s for one in said] == [0.012903]
    assert timed_slower(model("gpt-oss-120b"), gpu("a100-80gb-sxm"), 1, 1) is None
    assert timed_slower(model("gpt-oss-120b"), gpu("h100-sxm"), 2, 1) is None
    assert timed_slower(model("gpt-oss-120b"), gpu("a100-80gb-sxm"), 2, 64) is None
    assert timed_slower(model("qwen2-7b"), gpu("a100-80gb-sxm"), 4, 64) is not None
