"""The process that a submission runs in: a request a line comes in, what the call gave goes out as plain JSON.

    python -P -s -B graded_process.py <submission> <limits>

It knows no expected value, and sees of our modules those alone that the lab's starter may import. What it says is a
submission's word: numbers, texts and lists, of the types that JSON has and of no other.
"""

import ctypes
import json
import os
import signal
import sys
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

LONGEST = 4_000_000
"""Characters of an answer."""


def end_with_judge() -> None:
    """Ask Linux to kill this process when its judge ends, whatever ends it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def limit(cpu_s: int, memory_bytes: int, file_bytes: int, processes: int | None) -> None:
    """Bound what this process may use, where the system can, before any of the submission runs.

    `processes` counts those of the user, in its own user namespace where it has one, and threads too; it says
    nothing to root. None leaves it.
    """
    try:
        import resource
    except ImportError:
        return
    bounds = [("CPU", cpu_s, cpu_s + 1), ("AS", memory_bytes, memory_bytes), ("FSIZE", file_bytes, file_bytes)]
    bounds += [("CORE", 0, 0)] + ([] if processes is None else [("NPROC", processes, processes)])
    for name, soft, hard in bounds:
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (soft, hard))
        except (ValueError, OSError):  # macOS bounds no address space
            continue


def main(file: str, limits: str) -> None:
    """Load the submission, say so, then answer calls until there are no more."""
    end_with_judge()
    limit(**json.loads(limits))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)  # what a submission prints is nobody's
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _say(answers, {"begun": True})  # what fails before this is no fault of the submission's
    module, loaded = _load(file)
    _say(answers, loaded)
    for line in requests:
        request = json.loads(line)
        call = _on_two_ranks if request["lab"] == "lab-02" else _call
        try:
            answer = call(module, file, request["function"], request["given"])
        except BaseException as error:
            answer = {"raised": _raised(error, file)}
        _say(answers, answer)


def _load(file: str) -> tuple[Any, dict[str, Any]]:
    from runtime.files import module_at

    try:
        return module_at(Path(file), "submission"), {"loaded": True}
    except BaseException as error:
        return None, {"raised": _raised(error, file)}


def _call(module: Any, file: str, function: str, given: dict[str, Any]) -> dict[str, Any]:
    """One call: its value, and of lab 01 its ledger, the terms of its all-reduces, and what became of the cuts.

    `right` of what is given has earlier tasks' right values, so that a task is not judged by another's fault.
    """
    from core.course.grading.right_before import right_before

    wholes: list[Any] = []
    ledgers: list[Any] = []
    right = [
        (name, [_decoded(one, [], []) for one in args], _decoded(due, [], []))
        for name, args, due in given.pop("right", [])
    ]
    with _watched(module, given) as seen:
        arguments = {name: _decoded(value, wholes, ledgers, seen, name) for name, value in given.items()}
        with right_before(module, right):
            value = getattr(module, function)(**arguments)
            value = plain(value.name if function == "cheapest_offer" and hasattr(value, "name") else value)
    if function == "run_on_ticks" and isinstance(value, list):
        value = sorted(value)
    answer: dict[str, Any] = {"value": value}
    if ledgers:
        answer["ledger"] = [[line.op, int(line.payload_bytes), int(line.ranks)] for line in ledgers[0]]
        answer["reduced"] = plain(seen.terms)
        answer["shown"] = plain(seen.shown)
    if ["send"] in given.values():
        answer["hops"], answer["left"] = seen.hops(), plain(arguments["values"])
    if "actions" in arguments:
        answer["left"] = plain(arguments["actions"])
    if wholes:
        answer["shares"] = {whole.name: [sorted(map(int, share)) for share in whole.shares] for whole in wholes}
        answer["gathered"] = [whole.name for whole in wholes if whole.met]
    return answer


def _watched(module: Any, given: dict[str, Any]) -> Any:
    """The watch over a call of lab 01, or over lab 03's wire; of any other there is nothing to see."""
    if ["ledger"] in given.values():
        from core.sharding_math.watched import watched

        return watched(module)
    if any(isinstance(one, list) and one[:1] in (["held"], ["hops"], ["offers"]) for one in given.values()):
        from core.course.grading.inputs import OnAWire

        return nullcontext(OnAWire())
    return nullcontext()


def _decoded(value: Any, wholes: list[Any], ledgers: list[Any], seen: Any = None, name: str = "") -> Any:
    """An input as the lab's functions take it."""
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        return value
    kind, *parts = value
    if kind in ("array", "whole"):
        import numpy as np

        array = np.asarray(parts[0], dtype=float)
        if kind == "array":
            return array
        from core.sharding_math.whole import Whole

        wholes.append(Whole(name, array, *parts[1:]))
        return wholes[-1]
    if kind == "ledger":
        from core.ledger import Ledger

        ledgers.append(Ledger())
        return ledgers[-1]
    if kind == "activation":
        return seen.activation({"square": lambda h: h**2, "relu": lambda h: (abs(h) + h) / 2}[parts[0]])
    if kind == "fraction":
        return Fraction(parts[0])
    if kind == "link":
        from core.specs import LinkSpec

        return LinkSpec("own", "own", *parts)
    if kind == "model":
        from core.specs import ModelSpec

        layers, hidden = parts
        return ModelSpec("own", "own", hidden, layers, 1, 1, 64, 64, 64, 64)
    if kind in ("held", "send", "hops", "offers"):
        return seen.decoded(kind, *parts)
    from core.pipeline_bubble.schedules.actions import Action, Span

    if kind == "actions":
        return [Action(*row) for row in parts[0]]
    return [Span(Action(*action), *rest) for action, *rest in parts[0]]


def plain(value: Any) -> Any:
    """A value in the types that JSON has, whatever it claims to be; a span or an action as its fields.

    Raises TypeError for anything else.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Fraction):
        return str(Fraction(int(value.numerator), int(value.denominator)))
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if type(value).__module__ == "numpy" or hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "action") and hasattr(value, "rank"):
        return [plain(value.action), *(plain(part) for part in (value.rank, value.start, value.end))]
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    raise _NoAnswerError(type(value).__name__)


def _on_two_ranks(module: Any, file: str, function: str, given: dict[str, Any]) -> dict[str, Any]:
    """One call on two real ranks: value, ledger and parameters of each, in lists."""
    from distributed.local_ranks import run_ranks

    ranks = run_ranks(2, Path(__file__), function, Path(file), given=given)
    values, ledgers, held = zip(*ranks, strict=True)
    return {"value": list(values), "ledger": list(ledgers), "held": list(held)}


def column(submission: Any, group: Any, given: dict[str, Any]) -> Any:
    return _linear(submission.ColumnParallelLinear, group, given, cut_inputs=False)


def row(submission: Any, group: Any, given: dict[str, Any]) -> Any:
    """A rank's row-parallel layer, on its slice of x."""
    return _linear(submission.RowParallelLinear, group, given, cut_inputs=True)


def _linear(layer_of: Any, group: Any, given: dict[str, Any], cut_inputs: bool) -> Any:
    import torch

    x, weight, bias = (torch.tensor(given[name]) for name in ("x", "weight", "bias"))
    layer = layer_of(weight.shape[1], weight.shape[0], group)
    layer.load_full(weight, bias)
    mine = x.chunk(group.size, dim=-1)[group.rank] if cut_inputs else x
    with torch.no_grad():
        return _told(layer(mine), layer, group)


def look_up(submission: Any, group: Any, given: dict[str, Any]) -> Any:
    """A rank's look-up of some tokens."""
    import torch

    table = _table(submission, group, given)
    with torch.no_grad():
        return _told(table(torch.tensor(given["tokens"])), table, group)


def score(submission: Any, group: Any, given: dict[str, Any]) -> Any:
    """A rank's scores of the vocabulary."""
    import torch

    table = _table(submission, group, given)
    with torch.no_grad():
        return _told(table.logits(torch.tensor(given["x"])), table, group)


def _table(submission: Any, group: Any, given: dict[str, Any]) -> Any:
    import torch

    weight = torch.tensor(given["weight"])
    table = submission.ShardedEmbedding(*weight.shape, group)
    table.load_full(weight)
    return table


def mlp(submission: Any, group: Any, given: dict[str, Any]) -> Any:
    import torch

    x, up, up_bias, down, down_bias = (
        torch.tensor(given[name]) for name in ("x", "weight", "bias", "down", "down_bias")
    )
    pair = submission.ParallelMLP(up.shape[1], up.shape[0], group)
    pair.up_proj.load_full(up, up_bias)
    pair.down_proj.load_full(down, down_bias)
    with torch.no_grad():
        return _told(pair(x), pair, group)


def _told(y: Any, module: Any, group: Any) -> Any:
    return plain(y), [line.op for line in group.ledger], sum(p.numel() for p in module.parameters())


class _NoAnswerError(TypeError):
    """What was returned is of a type that no answer has."""

    def __init__(self, kind: str) -> None:
        from core.errors import remark

        self.remark = remark("errors.raised.no_answer_type", kind=kind)
        super().__init__(str(self.remark))


def _raised(error: BaseException, file: str) -> Any:
    """An error by its name, its message, and where in the submission it came from, as a remark's row."""
    from core.errors import as_row, raised, remark
    from runtime.files import line_in

    line = line_in(Path(file), error.__traceback__)
    of_rank = (
        getattr(error, "remark", None) if type(error).__name__ == "RankError" else None
    )  # it names all by itself
    said = of_rank or raised(error, str(error)[:300])
    return as_row(remark("errors.raised.at_line", error=said, at=line) if line else said)


def _say(answers: Any, answer: dict[str, Any]) -> None:
    try:
        text = json.dumps(answer, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = '{"raised": ["labs.judge.not_finite", {}]}'
    answers.write((text if len(text) <= LONGEST else '{"raised": ["labs.judge.too_long", {}]}') + "\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
