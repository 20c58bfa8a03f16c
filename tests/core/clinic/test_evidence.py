"""The evidence that a case shows leaves exactly the answer that is keyed: each diagnosis predicts something of it.

A prediction reads only what a visitor sees before the answer: the story's figures, the symptom, the log.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from core.clinic import CASES, Case, examine
from core.clinic.case import Lines
from core.clinic.hang import judge_causes
from core.clinic.hang_log import read_hang
from core.clinic.kernel_off import MACHINE
from core.collectives.custom_all_reduce import decide


def of(case: Case, name: str) -> float:
    return case.figure(name).value


def symptom(case: Case) -> list[float]:
    return [segment.amount for segment in case.symptom.segments]


def late_and_usual(case: Case) -> tuple[float, float]:
    """The share of steps in the far heap, and where the near one ends over its beginning."""
    near = [cut for cut in case.symptom.bins if cut.low_s < of(case, "stall")]
    return 1 - sum(cut.share for cut in near), near[-1].high_s / near[0].low_s


def log_names(case: Case, words: str) -> bool:
    return any(words in line for line in case.log)


def causes_left(case: Case) -> set[str]:
    return {f.cause for f in judge_causes(read_hang("\n".join(case.log))) if f.standing != "excluded"}


FITS: Mapping[str, Mapping[str, Callable[[Case], bool]]] = {
    "slow_rank": {
        "network": lambda case: max(symptom(case)) < 1.1 * min(symptom(case)),
        "algorithm": lambda case: min(symptom(case)) > 1.1 * (of(case, "step_before") - of(case, "compute")),
        "slow_rank": lambda case: symptom(case).count(max(symptom(case))) == of(case, "ranks") - 1,
        "batch": lambda case: max(symptom(case)) < 1.1 * min(symptom(case)),
    },
    "cross_node": {
        "bandwidth": lambda case: late_and_usual(case)[0] == 0,
        "messages": lambda case: late_and_usual(case)[0] > 0.01,
        "preemption": lambda case: 0 < late_and_usual(case)[0] < 0.01,
        "slow_rank": lambda case: late_and_usual(case)[0] == 0,
    },
    "starved_pipeline": {
        "uneven": lambda case: max(symptom(case)) > 1.05 * min(symptom(case)),
        "links": lambda case: of(case, "token") > 1.05 * of(case, "stages"),
        "clocks": lambda case: of(case, "token") > 1.05 * of(case, "alone"),
        "starved": lambda case: (
            of(case, "token") == pytest.approx(of(case, "stages"), rel=0.02)
            and of(case, "rate") * of(case, "tokens") * of(case, "token") < of(case, "filling")
            and max(symptom(case)) < 0.5
        ),
    },
    "eight_ranks": {
        "memory": lambda case: of(case, "weights_8") > 48 * 2**30,
        "all_reduces": lambda case: of(case, "step_8") - of(case, "step_4") > 0,
        "heads": lambda case: of(case, "kv_heads_8") * 8 > 8,
        "wire": lambda case: of(case, "wire_time") > 0.5 * of(case, "one_8"),
    },
    "kv_too_small": {
        "rounding": lambda case: of(case, "expected") - of(case, "room") <= of(case, "rounding"),
        "heads": lambda case: of(case, "tokens") == pytest.approx(of(case, "all_heads_tokens"), rel=0.1),
        "budget": lambda case: (
            of(case, "expected") - of(case, "room")
            == pytest.approx(of(case, "name_costs") + of(case, "peak") + of(case, "outside"))
        ),
        "weights": lambda case: not log_names(case, f"took {of(case, 'weights') / 2**30:.2f} GB"),
    },
    "idle_network": {
        "gpu": lambda case: symptom(case)[1] > 0.5,
        "bandwidth": lambda case: symptom(case)[0] > 0.5,
        "elsewhere": lambda case: of(case, "alone") > of(case, "step"),
        "waiting": lambda case: max(symptom(case)) < 0.5 and of(case, "step") > of(case, "alone"),
    },
    "kernel_off": {
        "p2p": lambda case: log_names(case, "P2P access cache") or not MACHINE.p2p,
        "one_node": lambda case: MACHINE.nodes > 1,
        "nvlink": lambda case: MACHINE.world_size > 2 and not MACHINE.full_nvlink,
        "world_size": lambda case: log_names(case, "disabled due to"),
    },
    "silent_init": {
        cause: lambda case, cause=cause: cause in causes_left(case)
        for cause in ("rank_missing", "firewall", "version_mismatch", "p2p_blocked")
    },
}


@pytest.mark.parametrize("key", CASES)
def test_the_evidence_leaves_exactly_the_keyed_answer(key):
    case = examine(key)
    assert set(FITS[key]) == set(case.candidates)
    assert [name for name in case.candidates if FITS[key][name](case)] == [case.truth]


@pytest.mark.parametrize("key", ["cross_node", "starved_pipeline"])
@pytest.mark.parametrize("seed", range(8))
def test_a_case_drawn_anew_leaves_the_keyed_answer_too(key, seed):
    """The two that are drawn at random: the answer is in the fault, not in the one patient that is shown."""
    case = CASES[key](np.random.default_rng(seed))
    assert [name for name in case.candidates if FITS[key][name](case)] == [case.truth]


def test_the_log_of_a_kernel_that_is_off_holds_no_line_from_behind_the_rule_that_stops_it():
    """A release asks for NVLink before it tests copies, and only the test writes of its cache."""
    checks = [check.rule.key for check in decide(MACHINE).checks]
    assert checks[-1] == examine("kernel_off").truth
    assert "p2p" not in checks
    assert not log_names(examine("kernel_off"), "cache")


def test_a_full_pipeline_and_a_tp_step_are_compared_with_the_same_sequences_in_flight():
    """Five sequences fill four stages: 96 tokens a second; five in one TP step of 12.2 ms are 410."""
    case = examine("starved_pipeline")
    step_s = of(case, "filling") / of(case, "wide_full_rate")
    assert step_s == pytest.approx(of(case, "wide_token"), rel=0.05)
    assert of(case, "wide_full_rate") > 4 * of(case, "full_rate")
    # batched as they wait, five get a token each in the time of one: 5 / 41.6 ms
    assert of(case, "joined_rate") == pytest.approx(of(case, "filling") / of(case, "token"), rel=0.01)
    # and at every rate that is drawn, the sequences in flight share one TP step
    assert isinstance(case.model, Lines)
    times = [point.y for point in case.model.points if point.series == "TP=4"]
    assert len(times) > 3
    assert all(time_s == pytest.approx(of(case, "wide_token"), rel=0.05) for time_s in times)


def test_a_cases_latency_is_that_of_all_its_sums():
    """64 all-reduces of Llama-3-8B: less than all communication, more than one."""
    case = examine("kernel_off")
    parts = {(one.bar, one.term): one.amount for one in case.fix.segments}
    for bar in {bar for bar, _ in parts}:
        assert parts[bar, "latency"] > 64 * 1e-6
        assert parts[bar, "bandwidth"] >= 0


def test_what_others_saw_on_eight_ranks_is_as_they_printed_it():
    """Source: distributed-llama's table of Raspberry Pi 4B, Llama-2-7B."""
    case = examine("eight_ranks")
    assert (of(case, "seen_4"), of(case, "seen_8")) == (0.4940, 0.5882)
