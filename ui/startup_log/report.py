"""A log as it is told: each figure in its line beside its prediction, ranks that agree folded, and its remarks."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.startup_log.records import Check, Report
from runtime.prose import named, said, worded
from runtime.quantities import percent
from runtime.rows import Row
from ui.page import Page
from ui.prose import escape
from ui.startup_log import words
from ui.startup_log.charts import amount, residual_marks
from ui.startup_log.log_table import log_table

SHOWN = 60
"""Lines a page's table has room for; the CSV has all."""

EXAMPLE = """\
INFO 09-03 00:35:55 [api_server.py:1805] vLLM API server version 0.10.1.1
INFO 09-03 00:36:27 [core.py:74] Initializing a V1 LLM engine (v0.10.1.1) with config: \
model='Qwen/Qwen2-7B-Instruct', speculative_config=None, dtype=torch.bfloat16, max_seq_len=16384, \
tensor_parallel_size=2, pipeline_parallel_size=1, \
disable_custom_all_reduce=False, quantization=None, kv_cache_dtype=auto
(VllmWorker TP0 pid=1430) INFO 09-03 00:36:44 [pynccl.py:70] vLLM is using nccl==2.26.2
(VllmWorker TP0 pid=1430) WARNING 09-03 00:36:44 [custom_all_reduce.py:147] Custom allreduce is disabled because \
your platform lacks GPU P2P capability or P2P test failed.
(VllmWorker TP0 pid=1430) INFO 09-03 00:39:33 [gpu_model_runner.py:2007] Model loading took 7.1217 GiB and 168 s
(VllmWorker TP1 pid=1431) INFO 09-03 00:39:33 [gpu_model_runner.py:2007] Model loading took 7.1217 GiB and 168 s
(VllmWorker TP0 pid=1430) INFO 09-03 00:40:53 [gpu_worker.py:276] Available KV cache memory: 12.02 GiB
(VllmWorker TP1 pid=1431) INFO 09-03 00:40:55 [gpu_worker.py:276] Available KV cache memory: 12.02 GiB
(EngineCore_0 pid=1358) INFO 09-03 00:40:55 [kv_cache_utils.py:849] GPU KV cache size: 450,192 tokens
(EngineCore_0 pid=1358) INFO 09-03 00:40:55 [kv_cache_utils.py:853] Maximum concurrency for 16,384 tokens per \
request: 27.48x
"""
"""Written in the engine's format from the figures of dennislee22/vLLM-benchmarking: Qwen2-7B on two A100."""


def draw(page: Page[Any], report: Report, name: str) -> None:
    """A report: what the log is about, each figure in its line, the residuals, and what else is said."""
    page.fill(words.report(report))
    page.say("read.about")
    checks = check_rows(report)
    meanings = {
        named("startup_log", quantity): page.prose.text(f"meaning.{quantity.removesuffix('_gib')}")
        for quantity in {check.quantity for check in report.checks}
    }
    caption = page.prose.plain("read.caption")
    printed = said("startup_log", "says.what_engine_printed")
    if checks:
        st.html(log_table(log_rows(checks), meanings, caption, page.look.present, printed))
    else:
        page.reading("read.nothing")
    if report.remarks:
        with st.container(key=f"aside_remarks_{name}"):
            st.markdown("\n".join(f"- {escape(worded(remark))}" for remark in report.remarks))
    if name == "read" and any(row.predicted is not None for row in checks):
        with st.container(key="aside_residuals"):
            table = checks
            page.figure(residual_marks(table, page.look), "read.reading", table, "startup_log")


def check_rows(report: Report) -> list[Row]:
    """The checks as the table and its CSV show them, those of ranks that printed the same thing as one row."""
    folded: dict[tuple[object, ...], list[Check]] = {}
    for check in report.checks:
        folded.setdefault((check.quantity, check.logged, check.predicted, worded(check.formula)), []).append(check)
    return [_row(group, formula) for (*_, formula), group in folded.items()]


def _row(group: Sequence[Check], formula: object) -> Row:
    first = group[0]
    return Row(
        line=first.line,
        ranks=_ranks(group),
        quantity=named("startup_log", first.quantity),
        logged=first.logged,
        predicted=first.predicted,
        unit=first.unit,
        residual_percent=None if first.residual_fraction is None else 100 * first.residual_fraction,
        verdict=first.verdict,
        formula=str(formula),
        text=first.text,
    )


def _ranks(group: Sequence[Check]) -> str:
    known = sorted({check.rank for check in group if check.rank is not None})
    if len(group) == 1:
        return "" if not known else said("startup_log", "says.rank", known=known[0])
    run = known and known == list(range(known[0], known[-1] + 1)) and len(known) == len(group)
    return (
        said("startup_log", "says.ranks", known=known[0], known_2=known[-1])
        if run
        else said("startup_log", "says.lines_alike", group=len(group))
    )


def log_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows as the table of a run shows them: the figure in its line picked out."""
    return [_log_row(row) for row in rows[:SHOWN]]


def _log_row(row: Row) -> Row:
    before, field, after = _picked(row)
    return Row(
        number=row.line,
        before=before,
        field=field,
        after=after,
        topic=row.quantity,
        formula=f"{row.ranks}: {row.formula}" if row.ranks else row.formula,
        predicted="–" if row.predicted is None else amount(row.predicted, row.unit),
        logged=amount(row.logged, row.unit),
        verdict=row.verdict,
        residual="" if row.residual_percent is None else percent(row.residual_percent / 100, 3),
    )


def _picked(row: Row) -> tuple[str, str, str]:
    """The line around the figure, as the engine wrote it; cut to what a table has room for."""
    text = row.text if len(row.text) <= 220 else f"…{row.text[-219:]}"
    value = row.logged
    for form in (f"{value:,}", f"{value:.4f}", f"{value:.2f}", f"{value:g}", f"{value:.0f}"):
        before, picked, after = text.rpartition(form)
        if picked:
            return before, picked, after
    return text, "", ""
