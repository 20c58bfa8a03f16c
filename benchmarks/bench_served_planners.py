"""Shardlab and aiconfigurator on the same served times, rows of data/served_times.csv.

    python -m venv /tmp/other && /tmp/other/bin/pip install aiconfigurator     # 850 MB
    python -m benchmarks.bench_served_planners --python /tmp/other/bin/python --keep data/served_planners.json

Ours are told twice: by constants that no row of the model had a part in, though other models' rows of the same
table had; and as they were told before any row was looked at. aiconfigurator estimates an aggregated server, in
which prompts are read between tokens, by kernels that its makers measured; no code of its package reads these rows.
The sample is drawn with a seed, some of each system and model. Without an interpreter what was kept is summed up;
`--refresh` tells our half of it anew by today's constants.
"""

import argparse
import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from core.catalog import model
from core.evidence.served import ServedRow, cache_dtype
from core.evidence.served_report import crossed_residuals, kept_served
from core.units import percent, plain
from runtime.files import DATA
from runtime.served import shipped_served
from scripts.terminal import print_aligned

KEPT = DATA / "served_planners.json"
ROWS = Path(__file__).with_name("aiconfigurator_rows.py")
OF_EACH, SEED = 12, 47
"""Rows of one system and model: aiconfigurator takes three minutes for the three hundred that this gives."""

_NVFP4, _BLOCKS = {"gemm_quant_mode": "nvfp4"}, {"gemm_quant_mode": "fp8_block", "moe_quant_mode": "fp8_block"}
_DEEPSEEK = "nvidia/DeepSeek-V3.1-NVFP4"  # one shape: R1, V3 and V3.1
_LLAMA_70B, _QWEN_397B = "meta-llama/Meta-Llama-3.1-70B", "Qwen/Qwen3.5-397B-A17B"
CHECKPOINTS: Mapping[tuple[str, str], tuple[str, Mapping[str, str]]] = {
    ("deepseek-r1", "fp8"): ("deepseek-ai/DeepSeek-R1", {}),
    ("deepseek-r1", "nvfp4"): (_DEEPSEEK, {}),
    ("deepseek-v3", "fp8"): ("deepseek-ai/DeepSeek-V3", {}),
    ("deepseek-v3", "nvfp4"): (_DEEPSEEK, {}),
    ("glm-5", "fp8"): ("zai-org/GLM-5-FP8", {}),
    ("glm-5", "nvfp4"): ("nvidia/GLM-5-NVFP4", {}),
    ("gpt-oss-120b", "mxfp4"): ("openai/gpt-oss-120b", {}),
    ("kimi-k2.5", "int4"): ("moonshotai/Kimi-K2.5", {}),
    ("kimi-k2.5", "nvfp4"): ("nvidia/Kimi-K2.5-NVFP4", {}),
    ("llama-3.1-8b", "fp8"): ("meta-llama/Meta-Llama-3.1-8B", {"gemm_quant_mode": "fp8"}),
    ("llama-3.1-70b", "fp8"): ("nvidia/Llama-3.1-70B-Instruct-FP8", {}),
    ("llama-3.1-70b", "nvfp4"): (_LLAMA_70B, _NVFP4),
    ("minimax-m2", "fp8"): ("MiniMaxAI/MiniMax-M2.5", {}),
    ("minimax-m2", "nvfp4"): ("nvidia/MiniMax-M2.5-NVFP4", {}),
    ("qwen3-32b", "fp8"): ("Qwen/Qwen3-32B-FP8", {}),
    ("qwen3-32b", "nvfp4"): ("Qwen/Qwen3-32B", _NVFP4),
    ("qwen3-235b-a22b", "fp8"): ("Qwen/Qwen3-235B-A22B-FP8", {}),
    ("qwen3.5-397b-a17b", "bf16"): (_QWEN_397B, {}),
    ("qwen3.5-397b-a17b", "fp8"): (_QWEN_397B, _BLOCKS),
    ("qwen3.5-397b-a17b", "nvfp4"): ("nvidia/Qwen3.5-397B-A17B-NVFP4", {}),
}
"""The checkpoint that aiconfigurator has a shape of, by model and width, and widths that it does not say itself."""


@dataclass(frozen=True)
class Both:
    """A served time and what each said of it.

    `apart_s` is by constants that the row's model had no part in; the row's `told_s`, before it was looked at.
    The rest is aiconfigurator's, by kernels that were measured: `full` is its warning that the batch does not fit
    into the cache; `own_cache` where it had no data for keys and values of the run's width, and was asked again for
    the width that it takes by itself.
    """

    row: ServedRow
    apart_s: float
    aiconfigurator_s: float
    full: bool
    own_cache: bool


@dataclass(frozen=True)
class Told:
    """One planner on some rows: its errors, and predicted over measured in the median."""

    median_error: float
    p90_error: float
    ratio: float


@dataclass(frozen=True)
class Line:
    """Rows of one group, a system or a model, or all of them; on how many ours of today is the nearer."""

    group: str
    rows: int
    nearer: int
    apart: Told
    blind: Told
    aiconfigurator: Told


def main() -> None:
    """Ask both, keep what was asked for, and print errors by system."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="an interpreter that has aiconfigurator")
    parser.add_argument("--keep", type=Path, help="where the result is written")
    parser.add_argument("--refresh", action="store_true", help="our half of what is kept, by today's constants")
    options = parser.parse_args()
    result = _asked(options.python) if options.python else json.loads(KEPT.read_text(encoding="utf-8"))
    if options.refresh:
        apart = apart_times()
        again = [replace(one, apart_s=_short(apart[one.row])) for one in both(result)]
        result["rows"] = [asdict(one) for one in again]
    to = options.keep or (KEPT if options.refresh else None)
    if to:
        to.write_text(_a_row_a_line(result), encoding="utf-8")
    print(json.dumps({name: value for name, value in result.items() if name != "rows"}, indent=1))
    _print(lines(both(result)))
    _print(lines(both(result), by_model))


def _a_row_a_line(result: Mapping[str, object]) -> str:
    head = json.dumps({name: value for name, value in result.items() if name != "rows"}, indent=1).removesuffix(
        "\n}"
    )
    rows = result["rows"]
    assert isinstance(rows, list)
    return head + ',\n "rows": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n ]\n}\n"


def both(result: Mapping[str, object]) -> list[Both]:
    """The rows of a result that was kept."""
    kept = result["rows"]
    assert isinstance(kept, list)
    return [Both(**{**row, "row": ServedRow(**row["row"])}) for row in kept]


def apart_times() -> dict[ServedRow, float]:
    """Ours of every shipped row that is in a figure of accuracy, by constants that its model had no part in."""
    kept = kept_served(shipped_served())
    told = crossed_residuals(kept)
    if len(told) != len(kept):
        raise ValueError("a row has no other model to be told by")
    return {row: each.predicted_s for row, each in zip(kept, told, strict=True)}


def chosen(rows: Sequence[ServedRow]) -> list[ServedRow]:
    """Some rows of each system and model, drawn with a seed, in an order that loads each database once."""
    strata: dict[tuple[str, str], list[ServedRow]] = {}
    for row in rows:
        strata.setdefault((row.gpu, row.model), []).append(row)
    draw = random.Random(SEED)
    found = [row for _, each in sorted(strata.items()) for row in draw.sample(each, min(len(each), OF_EACH))]
    return sorted(found, key=lambda row: (row.gpu, row.engine, row.model))


def by_system(one: Both) -> str:
    """The GPU of a row."""
    return one.row.gpu


def by_model(one: Both) -> str:
    """The model of a row."""
    return one.row.model


def lines(rows: Sequence[Both], by: Callable[[Both], str] = by_system) -> list[Line]:
    """Both planners by group, and on all rows."""
    groups = sorted(set(map(by, rows)))
    parts = {group: [one for one in rows if by(one) == group] for group in groups}
    return [_line(group, part) for group, part in {**parts, "every": list(rows)}.items()]


def _line(group: str, rows: Sequence[Both]) -> Line:
    def error(one: Both, predicted_s: float) -> float:
        return abs(predicted_s / one.row.measured_s - 1)

    def told(of: Callable[[Both], float]) -> Told:
        errors = [error(one, of(one)) for one in rows]
        ratio = np.median([of(one) / one.row.measured_s for one in rows])
        return Told(float(np.median(errors)), float(np.quantile(errors, 0.9)), float(ratio))

    nearer = sum(error(one, one.apart_s) < error(one, one.aiconfigurator_s) for one in rows)
    three = (
        told(lambda one: one.apart_s),
        told(lambda one: one.row.told_s),
        told(lambda one: one.aiconfigurator_s),
    )
    return Line(group, len(rows), nearer, *three)


def _asked(python: Path) -> dict[str, object]:
    apart = apart_times()
    rows = chosen(list(apart))
    questions = [_question(place, row) for place, row in enumerate(rows)]
    version, first = _answers(python, questions)
    again = [
        {name: value for name, value in asked.items() if name != "kvcache_quant_mode"}
        for asked, one in zip(questions, first, strict=True)
        if _failure(one)
    ]
    second = {one["id"]: one for one in _answers(python, again)[1]} if again else {}
    answers = [second.get(one["id"], one) for one in first]
    pairs = list(zip(rows, answers, strict=True))
    found = [
        Both(row, _short(apart[row]), _short(one["tpot_ms"] / 1e3), one["full"], one["id"] in second)
        for row, one in pairs
        if not _failure(one)
    ]
    failed = ((row, _failure(one)) for row, one in pairs)
    named = Counter(f"{row.gpu} {row.model} {row.dtype} {row.engine}: {why}" for row, why in failed if why)
    return {
        "date": datetime.now(tz=UTC).date().isoformat(),
        "aiconfigurator": version,
        "mode": "agg",
        "databases": sorted({f"{row.engine} {one['backend']}" for row, one in pairs if "backend" in one}),
        "seed": SEED,
        "asked": len(rows),
        "not_answered": dict(named),
        "seconds_aiconfigurator": round(sum(one.get("seconds", 0.0) for one in answers), 1),
        "rows": [asdict(one) for one in found],
    }


def _short(time_s: float) -> float:
    return float(f"{time_s:.5g}")


def _failure(answer: Mapping[str, Any]) -> str | None:
    """Its reason where there is no estimate, or none by measured kernels alone."""
    error = str(answer.get("error", ""))
    if not error:
        return None if answer["data"] == "SILICON" else "kernels not measured"
    return "does not fit, it says" if "OOM" in error else "no data" if "NotImplemented" in error else error[:90]


def _answers(python: Path, questions: Sequence[Mapping[str, object]]) -> tuple[str, list[Mapping[str, Any]]]:
    """Its version, and an answer to every question, in their order."""
    lines = "".join(json.dumps(asked) + "\n" for asked in questions)
    done = subprocess.run([python, ROWS], input=lines, capture_output=True, text=True, check=True)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return said[0]["version"], said[1:]


def _question(place: int, row: ServedRow) -> Mapping[str, object]:
    path, widths = CHECKPOINTS[row.model, row.dtype]
    ep_size = max(1, row.ep_size)
    mixture = {"moe_tp_size": row.tp_size // ep_size, "moe_ep_size": ep_size}
    return {
        "id": place,
        "mode": "agg",
        "model_path": path,
        "system_name": row.gpu.replace("-", "_"),
        "backend_name": row.engine,
        "isl": row.prompt_tokens,
        "osl": row.output_tokens,
        "batch_size": row.batch,
        "tp_size": row.tp_size,
        "kvcache_quant_mode": "fp8" if cache_dtype(row) == "fp8" else "bfloat16",
        **widths,
        **(mixture if model(row.model).moe is not None else {}),
    }


def _print(found: Sequence[Line]) -> None:
    heads = ("group", "rows", "nearer", *(f"{who}: {what}" for who in ("Shardlab", "blind", "aiconfigurator")
             for what in ("median", "p90", "ratio")))  # fmt: skip
    cells = [
        (
            one.group,
            str(one.rows),
            str(one.nearer),
            *(
                cell
                for told in (one.apart, one.blind, one.aiconfigurator)
                for cell in (percent(told.median_error), percent(told.p90_error), plain(told.ratio, 2))
            ),
        )
        for one in found
    ]
    print_aligned([heads, *cells])


if __name__ == "__main__":
    main()
