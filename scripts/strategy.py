"""Choose a strategy: `python -m scripts.strategy --model llama-3-8b --gpu a100-80gb-sxm --gpus-per-node 8`.

It says what to train or to serve with, how that was decided, and the nearest change of one input that changes it.
`--block TP --ranks 4` prints one block under a strategy instead, as Mermaid text.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from core.catalog import gpu, link, model
from core.errors import OutOfRangeError
from core.models.checkpoint import named_checkpoint
from core.placement.cluster import usual_cluster
from core.strategy.block import BLOCKS, block_under
from core.strategy.flips import Flip, flips
from core.strategy.picker import USUAL, Answer, Goal, Purpose, Question
from core.strategy.picker import answer as pick
from runtime.mermaid import mermaid
from runtime.prose import worded
from scripts.asking import tested
from scripts.terminal import NOTHING_FITS, Computed, Parser, command, picked, run

MOST_GPUS, MOST_RANKS = 512, 64


def _answer(options: Namespace) -> Computed:
    if options.block is not None:
        return _block(options)
    question = asked(options)
    given = pick(question)
    near = flips(given)
    # a training step is told by the data sheet
    beside = tested(question.cluster.gpu, question.model) if options.purpose == "serve" else []
    return {**_as_json(given, near), "tested": beside}, partial(_print, given, near, beside)


def _usual(place: int) -> str:
    return ", or ".join(str(usual[place]) for usual in USUAL.values())


def make_parser() -> Parser:
    parser = Parser(prog="strategy", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.common("--model", required=True)
    parser.common("--gpu", default="h100-sxm")
    parser.common("--gpus-per-node", default=8)
    parser.common("--nodes")
    parser.common("--link", "--network")
    parser.add_argument("--for", dest="purpose", choices=get_args(Purpose), default="train")
    parser.add_argument("--goal", choices=get_args(Goal), default="throughput")
    parser.add_argument("--sequences", type=int, help=f"in a step, or served at once; {_usual(0)}")
    parser.add_argument("--tokens", type=int, help=f"of a sequence, or of a prompt; {_usual(1)}")
    parser.common("--output", default=256)
    parser.add_argument("--block", choices=list(BLOCKS), help="print a block under this strategy instead")
    parser.add_argument("--ranks", type=int, default=4, help="of the block")
    parser.common("--json")
    return parser


def asked(options: Namespace) -> Question:
    """What was asked, in core's nouns."""
    cluster = usual_cluster(gpu(options.gpu), options.gpus_per_node, options.nodes)
    if cluster.gpus > MOST_GPUS:
        raise OutOfRangeError("gpus", cluster.gpus, "at_most", most=MOST_GPUS)
    if options.link:
        cluster = replace(cluster, link=link(options.link))
    if options.network:
        cluster = replace(cluster, network=link(options.network))
    sequences, tokens = USUAL[options.purpose]
    options.sequences = sequences if options.sequences is None else options.sequences
    options.tokens = tokens if options.tokens is None else options.tokens
    return Question(
        named_checkpoint(options.model),
        cluster,
        options.purpose,
        options.goal,
        options.sequences,
        options.tokens,
        options.output,
    )


def _block(options: Namespace) -> Computed:
    """A block as Mermaid; printed alone where no JSON is asked for."""
    if options.ranks > MOST_RANKS:
        raise OutOfRangeError("ranks", options.ranks, "at_most", most=MOST_RANKS)
    text = mermaid(block_under(options.block, model(options.model), options.ranks, 1))
    return {"strategy": options.block, "ranks": options.ranks, "mermaid": text}, partial(print, text, end="")


def _print(given: Answer, near: Sequence[Flip], beside: Sequence[str]) -> None:
    print(f"{given.family}: {given.name}" if given.stands else "nothing fits")
    for reason in given.trace:
        print(f"- {worded(reason)}")
    for one in near:
        name, now, instead = (worded(part) for part in (one.changed.input, one.changed.now, one.changed.instead))
        print(f"{name} {instead} instead of {now}: {one.other.family}, {one.other.name}")
    print("".join(f"- {sentence}\n" for sentence in beside), end="")


def _as_json(given: Answer, near: Sequence[Flip]) -> Mapping[str, object]:
    return {
        **picked(given, "family", "name", fits="stands"),
        "trace": [worded(reason) for reason in given.trace],
        "flips": [
            {
                "input": worded(one.changed.input),
                "now": worded(one.changed.now),
                "instead": worded(one.changed.instead),
                **picked(one.other, "family", "name"),
            }
            for one in near
        ],
    }


main = command(make_parser, _answer, lambda told: 0 if told.get("fits", True) else NOTHING_FITS)

if __name__ == "__main__":
    run(main)
