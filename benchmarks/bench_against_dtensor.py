"""A decode step of MiniGPT on two ranks over Gloo: ours, and PyTorch's `parallelize_module` on the same weights.

    python -m benchmarks.bench_against_dtensor [--rounds N]

Paired: the two take turns on the same two processes, sentence by sentence, so that a busy machine is busy for both.
The claim is that ours is no slower, in the median of the rounds' ratios.
"""

import argparse
import statistics
import time
from pathlib import Path
from types import ModuleType

from core.two_way_tp.predictions import MINI_GPT
from distributed import grammar, local_ranks
from distributed.collectives import Group
from distributed.decode import greedy
from distributed.job import make_job
from distributed.local_ranks import run_ranks
from tests.distributed.dtensor_gpt import dtensor_gpt, written


def rounds_on_a_rank(_: ModuleType, group: Group, rounds: int) -> list[tuple[float, float]]:
    """Seconds a token for ours and for theirs, a pair a round; the first round is warm-up."""
    job, ours, theirs = make_job(MINI_GPT.key), grammar.load(group=group), dtensor_gpt(MINI_GPT, group.size)
    prompt = list(job.prompts[0])
    pairs = []
    for _ in range(rounds + 1):
        start_s = time.perf_counter()
        mine = greedy(ours, prompt, job.longest, job.end)
        middle_s = time.perf_counter()
        tokens, _ = written(theirs, prompt, job.longest, job.end)
        pairs.append(((middle_s - start_s) / len(mine.tokens), (time.perf_counter() - middle_s) / len(tokens)))
    return pairs[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    args = parser.parse_args()
    here = Path(__file__)
    local_ranks.TIMEOUT_S = 600.0
    pairs = run_ranks(2, here, rounds_on_a_rank.__name__, here, rounds=args.rounds)[0]
    ours_s, theirs_s = (statistics.median(pair[i] for pair in pairs) for i in range(2))
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    print(f"ours     {1e3 * ours_s:.2f} ms a token, median of {len(pairs)} rounds")
    print(f"DTensor  {1e3 * theirs_s:.2f} ms a token")
    print(f"DTensor takes {ratio:.2f} times as long, median of the paired ratios")
    raise SystemExit(0 if ratio >= 1 else 1)


if __name__ == "__main__":
    main()
