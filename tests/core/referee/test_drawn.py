"""What players and small scenes draw, replayed: schedules, collectives, puzzles, a slow rank, *Start here*."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog import GPUS, LINKS, gpu, link, model
from core.collectives.clock import timed_rounds
from core.collectives.cost import ring_all_reduce
from core.collectives.programs import PROGRAMS, program
from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import Place, solve, walk
from core.course.start_here import forward_pass, message
from core.models.kv_cache import kv_bytes_per_token
from core.models.weights import held_weight_bytes
from core.pipeline_bubble.schedules.families import FAMILIES, run_same_model
from core.pipeline_bubble.schedules.simulator import Costs
from core.specs import LinkSpec
from core.steps.model import prefill_step_s
from core.steps.straggler import Straggler, lockstep, slowed_link, uneven_ring_all_reduce
from core.two_way_tp.replicas import duels
from tests.core.referee.clock import Work, replay
from tests.core.referee.fabric import Fabric
from tests.core.referee.shown import bare, played_s
from tests.each import each

COUNTED = LinkSpec("counted", "counted", latency_s=1.0, bandwidth_bytes_per_s=1.0)
BYTES = LinkSpec("bytes", "bytes", latency_s=0.0, bandwidth_bytes_per_s=1.0)


def needed(action, last):
    """What an action works on: the stage before, the stage behind, its own input's gradient."""
    stage, kind, microbatch = action
    if kind == "F":
        return [(stage - 1, "F", microbatch)] if stage else []
    if kind == "W":
        return [(stage, "I", microbatch)]
    behind = [(stage + 1, back, microbatch) for back in "BI"] if stage < last else []
    return [(stage, "F", microbatch), *behind]


def starts_replayed(timeline, hop):
    """When the referee starts each action: ranks run theirs in the order drawn, and a message takes a hop."""
    rank, spans = timeline.placement.rank, {tuple(span.action): span for span in timeline}
    works, before = [], {}
    for action, span in sorted(spans.items(), key=lambda pair: (pair[1].start, pair[1].end)):
        after = [before[span.rank]] if span.rank in before else []
        for needs in needed(action, timeline.placement.stages - 1):
            if needs in spans:
                crosses = rank(needs[0]) != rank(action[0])
                works.append(Work(f"{needs} to {action}", (), 0.0, (str(needs),), float(hop) if crosses else 0.0))
                after.append(works[-1].name)
        before[span.rank] = str(action)
        works.append(Work(str(action), (f"rank {span.rank}",), float(span.end - span.start), tuple(after)))
    ran = replay(works).ran
    return {action: ran[str(action)].start_s for action in spans}


def starts_drawn(timeline):
    return {tuple(span.action): float(span.start) for span in timeline}


@pytest.mark.parametrize("key", FAMILIES)
@settings(max_examples=6)
@given(st.integers(2, 4), st.integers(1, 2), st.sampled_from([0, 1, 2]))
def test_every_cell_of_a_schedule_runs_where_the_referee_runs_it(key, stages, rounds, hop):
    """A second clock for all nine: ranks, hops and what each action waits for, and nothing of the simulator."""
    timeline = run_same_model(FAMILIES[key], stages, 2 * stages * rounds, 2, Costs(link_delays=(hop,)))
    assert starts_replayed(timeline, hop) == pytest.approx(starts_drawn(timeline))


def test_a_cell_that_starts_before_its_input_is_caught():
    """The control: hops that were forgotten."""
    hurried = run_same_model(FAMILIES["gpipe"], 3, 4, 1, Costs(link_delays=(0,)))
    assert starts_replayed(hurried, 1) != pytest.approx(starts_drawn(hurried))


@each(("op", "algorithm"), PROGRAMS)
@each("slowdown", [1.0, 4.0])
def test_no_round_that_a_player_draws_beats_its_ports(op, algorithm, slowdown):
    """The collectives' player, in lab 03, *Start here* and the strategies; with a slow port, no sooner."""
    played = program(op, algorithm, 4)
    told_s = timed_rounds(played, 6720.0, COUNTED, 1, slowdown)[-1].end_s
    ran = replay(Fabric(COUNTED).collective(played, 6720.0))
    assert told_s >= ran.end_s * (1 - 1e-12)
    assert told_s >= slowdown * ran.busy_s.get("out 1", 0.0)


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.key)
def test_a_puzzles_score_is_what_its_collectives_send_on_the_clock(puzzle):
    """Bytes out of one rank's port, and the rounds in which it waits for a hop."""
    programs = {
        "all_reduce": ("all_reduce", "ring"),
        "all_gather": ("all_gather", "ring"),
        "to_features": ("reduce_scatter", "ring"),
        "to_tokens": ("reduce_scatter", "ring"),
        "all_to_all": ("all_to_all", "direct"),
    }
    best = solve(puzzle).best
    place, left, sent, hops = Place(puzzle.begins, puzzle.width), iter(puzzle.answer), 0.0, 0
    for step, made in zip(puzzle.steps, walk(puzzle, puzzle.answer), strict=True):
        choice = next(left) if step.options else None
        if choice in programs:
            payload = 2 * puzzle.tokens * place.width / (puzzle.ranks if choice == "all_to_all" else 1)
            works = Fabric(BYTES).collective(program(*programs[choice], puzzle.ranks), payload)
            sent += replay(works).busy_s["out 0"]
            hops += round(played_s(Fabric(COUNTED), program(*programs[choice], puzzle.ranks), 0.0))
        place = made.after
    assert (sent, hops) == pytest.approx((best.traffic_bytes, best.hops))


@given(st.integers(2, 8), st.floats(1, 4), st.floats(0, 1), st.data())
def test_a_slow_rank_holds_all_up_on_the_clock_too(ranks, slowdown, comm_s, data):
    """A step that all end together: work on every rank, then what waits for all of it."""
    slow = data.draw(st.integers(0, ranks - 1))
    compute = Straggler(slow, slowdown).slow([1.0] * ranks)
    works = [Work(str(rank), (f"rank {rank}",), float(took)) for rank, took in enumerate(compute)]
    works.append(Work("sum", ("link",), comm_s, tuple(map(str, range(ranks)))))
    assert float(lockstep(compute, comm_s).step) == pytest.approx(replay(works).end_s)


@pytest.mark.parametrize("key", ["nvlink-4", "pcie-4", "ethernet-10g-lab"])
def test_one_slow_hop_of_a_ring_is_never_told_faster_than_its_port(key):
    over = bare(link(key))
    told_s = uneven_ring_all_reduce(2**24, [slowed_link(over, 3), *[over] * 7]).total_s
    slow_s = replay(Fabric(slowed_link(over, 3)).collective(program("all_reduce", "ring", 8), 2**24)).busy_s[
        "out 0"
    ]
    assert told_s >= slow_s
    assert told_s >= ring_all_reduce(2**24, 8, over).total_s


@each("key", LINKS)
@each("payload", [1, 2**13, 2**24])
def test_a_message_of_start_here_takes_what_the_link_takes(key, payload):
    over = bare(link(key))
    sent = replay([Fabric(over).message("one", 0, 1, payload)])
    told = message(payload, link(key))
    assert told.total_s == pytest.approx(sent.end_s)
    assert told.bandwidth_s == pytest.approx(sent.busy_s["out 0"])


@given(
    st.sampled_from(["llama-3-8b", "llama-3-70b", "mixtral-8x7b"]),
    st.sampled_from(list(GPUS)),
    st.integers(1, 8192),
)
def test_a_pass_of_start_here_is_its_bytes_and_its_arithmetic_on_two_engines(key, gpu_key, tokens):
    """Memory and arithmetic side by side, each worked anew: Llama-3-8B reads 15.01 GB and multiplies 7.50 · 10⁹."""
    told = forward_pass(model(key), gpu(gpu_key), tokens)
    engines = (Work("read", ("memory",), told.memory_s), Work("multiply", ("arithmetic",), told.arithmetic_s))
    assert told.bound_s == pytest.approx(replay(engines).end_s)
    if key == "llama-3-8b":
        multiplied = 8_030_261_248 - 128_256 * 4096
        assert told.memory_s == pytest.approx(2 * multiplied / gpu(gpu_key).memory_bytes_per_s, rel=1e-3)
        assert told.arithmetic_s == pytest.approx(2 * multiplied * tokens / gpu(gpu_key).bf16_flops, rel=1e-3)


@pytest.mark.parametrize("over", ["nvlink-4", "pcie-4", "ethernet-10g", "ethernet-10g-lab"])
@pytest.mark.parametrize("gpu_key", ["a100-80gb-sxm", "rtx-4090"])
def test_two_replicas_and_one_model_over_both_serve_what_the_clock_says(gpu_key, over):
    """The same sequences in both arms, each GPU's memory and arithmetic one engine, the sums on the bare link."""
    row, gpu_spec = model("llama-3-8b"), gpu(gpu_key)
    weight_s, full_s = (
        held / gpu_spec.memory_bytes_per_s for held in (held_weight_bytes(row), gpu_spec.usable_memory_bytes)
    )
    prompt_s = prefill_step_s(row, gpu_spec, 2048)
    whole = {"same batch": weight_s, "full memory": full_s, "prompts": prompt_s}
    part = {"same batch": weight_s / 2, "full memory": full_s, "prompts": prompt_s / 2}
    room = 2 * gpu_spec.usable_memory_bytes - held_weight_bytes(row)
    served = {"same batch": 1.0, "full memory": room / (room - held_weight_bytes(row)), "prompts": 0.5}
    rows = {"same batch": 1, "full memory": int(room / (2048 * kv_bytes_per_token(row))), "prompts": 2048}
    for duel in duels(row, gpu_spec, link(over)):
        ring = program("all_reduce", "ring", 2)
        one_s = played_s(Fabric(bare(link(over))), ring, 2 * rows[duel.kind] * row.hidden_size)
        least_s = 2 * row.num_hidden_layers * one_s
        alone_s = replay([Work(f"gpu {n}", (f"gpu {n}",), whole[duel.kind]) for n in range(2)]).end_s
        cut = [Work(f"gpu {n}", (f"gpu {n}",), part[duel.kind]) for n in range(2)]
        both_s = replay([*cut, Work("sums", ("link",), least_s, ("gpu 0", "gpu 1"))]).end_s
        assert duel.comm_s >= least_s * (1 - 1e-9)
        assert duel.gain <= served[duel.kind] * alone_s / both_s * (1 + 1e-3)
        free_s = duel.comm_s - least_s
        assert duel.gain == pytest.approx(served[duel.kind] * alone_s / (both_s + free_s), rel=2e-3)
