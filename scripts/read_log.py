"""A startup log held to its model's config: `python -m scripts.read_log vllm.log --model qwen2-7b --tp 2 --json`.

What the log says need not be given. Exit status 0 where nothing is off, 1 where something is or where the log ends
in a crash, whose last fatal line is quoted, 2 where the file is no log that can be read. `-` reads standard input.
"""

from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from core.catalog import model
from core.models.hf_config import model_from_config
from core.specs import ModelSpec
from core.startup_log.reader import read_log
from core.startup_log.records import Check, Given, Report
from core.units import percent
from runtime.prose import worded
from scripts.terminal import OFF, Computed, Parser, command, picked, print_aligned, read_text, run

_SIGNS = {"ok": "✓", "off": "✗", "unexplained": "?"}


def _answer(options: Namespace) -> Computed:
    report = read_log(read_text(options.file), Given(_model(options), options.tp, options.pp, options.dtype))
    return {**_report(report), "off": report.count("off")}, partial(_print, report)


def _model(options: Namespace) -> ModelSpec | None:
    if options.config is not None:
        return model_from_config(read_text(options.config), Path(options.config).stem)
    return model(options.model) if options.model is not None else None


def _report(report: Report) -> Mapping[str, object]:
    keys = ("quantity", "rank", "logged", "predicted", "unit", "residual_fraction", "verdict", "line", "service")
    return {
        **picked(report, "engine", "version"),
        "model": report.model.key if report.model else None,
        **picked(report, "tp_size", "pp_size"),
        "checks": [picked(check, *keys) for check in report.checks],
        "notes": _notes(report),
        "crash": None if report.crash is None else {"line": report.crash.line, "text": report.crash.values["text"]},
    }


def _print(report: Report) -> None:
    name = report.model.name if report.model else "a model that is not named"
    engine = " ".join(filter(None, (report.engine, report.version))) or "no engine is recognized"
    sizes = f"{name}, TP {report.tp_size}, PP {report.pp_size}"
    print(f"{engine}: {sizes}" if report.engine else engine)
    head = ("line", "quantity", "rank", "logged", "predicted", "residual", "verdict", "")
    if report.checks:
        print_aligned([head, *(_row(check) for check in report.checks)])
    for note in _notes(report):
        print(f"- {note}")


def _notes(report: Report) -> list[str]:
    return [worded(remark) for remark in report.remarks]


def _row(check: Check) -> tuple[str, ...]:
    residual = "" if check.residual_fraction is None else percent(check.residual_fraction, 3)
    predicted = "" if check.predicted is None else _number(check.predicted)
    rank = "" if check.rank is None else str(check.rank)
    return (
        str(check.line),
        check.quantity,
        rank,
        f"{_number(check.logged)} {check.unit}",
        predicted,
        residual,
        f"{_SIGNS[check.verdict]} {check.verdict}",
        worded(check.formula),
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}"


def make_parser() -> Parser:
    parser = Parser(prog="read_log", description="Hold a startup log to its model's config.")
    parser.add_argument("file", help="a log of vLLM, SGLang or TensorRT-LLM; - for standard input")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--model", help="a catalog key or a Hugging Face repository, where the log names none")
    source.add_argument("--config", help="the model's config.json")
    parser.common("--tp", type=_positive, help="tensor-parallel ranks, where the log does not say")
    parser.add_argument("--pp", type=_positive, help="pipeline stages, where the log does not say")
    parser.add_argument("--dtype", help="how the weights are kept: bf16, fp8, int8, int4, awq, …")
    parser.common("--json")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 65_536:
        raise ValueError(text)
    return value


main = command(make_parser, _answer, lambda told: OFF if told["off"] or told["crash"] else 0)

if __name__ == "__main__":
    run(main)
