"""Lab 02: the rows a page draws, from a run's log and core's predictions."""

from collections.abc import Iterable, Sequence

from core.comm_cost.bill import allreduce_payload_bytes
from core.specs import ModelSpec
from core.two_way_tp.reconcile import Reading, reconcile, token_parts
from core.two_way_tp.run_log import RunLog, Slowed, Step
from core.two_way_tp.scaling import fitted_link
from runtime.prose import named, said, worded
from runtime.quantities import grouped, local, plain, seconds, significant
from runtime.rows import Row, table
from ui.comm_cost.rows_payloads import ruled

SHOWN_TOPICS = ("world", "weights", "kv", "collectives", "bytes", "all_reduce", "gather", "token", "tokens")
"""One row each, of rank 0; another rank's line is shown where it differs from its prediction."""


def shown(log: RunLog) -> list[Reading]:
    """The readings that tell something the others do not."""
    readings = [reading for reading in reconcile(log) if reading.topic in SHOWN_TOPICS]
    first = {reading.topic: reading for reading in reversed(readings)}
    return [reading for reading in readings if reading is first[reading.topic] or reading.verdict != "ok"]


def log_rows(readings: Sequence[Reading]) -> list[Row]:
    """Readings as rows of the table; a second field read from a line is shown without the line."""
    seen: set[int] = set()
    rows = []
    for reading in readings:
        before, field, after = reading.parts
        number = reading.line.number
        rows.append(
            Row(
                number=number,
                before="" if number in seen else before,
                field=field,
                after="" if number in seen else after,
                topic=reading.topic,
                formula=worded(reading.formula) if reading.formula else "",
                predicted=_in_words(reading.predicted, reading.unit),
                logged=_in_words(reading.logged, reading.unit),
                verdict=reading.verdict,
                residual=_residual(reading),
            )
        )
        seen.add(number)
    return rows


def _in_words(value: float, unit: str) -> str:
    if unit == "s":
        return seconds(value, least="µs")
    written = grouped(round(value)) if value == round(value) else plain(value, 4)
    return f"{written}\u00a0B" if unit == "bytes" else written


def _residual(reading: Reading) -> str:
    if reading.exact:
        return said("two_way_tp", "says.exact" if reading.logged == reading.predicted else "says.not_exact")
    return local(f"{100 * reading.residual_fraction:+.0f} %")


def timeline(step: Step) -> list[Row]:
    """One decode step of every rank: work, and the collectives it stood in. The last one gathers the logits."""
    slices: list[tuple[object, ...]] = []
    for rank, one in enumerate(step.ranks):
        name, now, last = said("two_way_tp", "says.rank", rank=rank), one.began_s, len(one.collectives_s)
        for number, (begin, end) in enumerate(one.collectives_s, start=1):
            slices.append((name, "work", 1e3 * now, 1e3 * begin, ""))
            kind, label = ("gather", "gather") if number == last else ("sum", str(number))
            slices.append((name, kind, 1e3 * begin, 1e3 * end, label))
            now = end
        slices.append((name, "work", 1e3 * now, 1e3 * one.ended_s, ""))
    return table("rank kind start_ms end_ms label", slices)


def letters(log: RunLog, chosen: int) -> list[Row]:
    """Every letter of the traced sentence, its work and its waiting on rank 0. The axis shows what ends it as ↵."""
    rows: list[tuple[object, ...]] = []
    for step in log.steps:
        work_ms, letter = 1e3 * step.ranks[0].working_s, step.token.replace("\n", "↵").replace(" ", "␣")
        for part, time_ms in (("work", work_ms), ("inside", 1e3 * step.whole_s - work_ms)):
            rows.append((step.number, letter, part, time_ms, step.number == chosen))
    return table("number letter part time_ms chosen", rows)


def token_bars(log: RunLog) -> list[Row]:
    """One token at TP=1, and at TP=N taken apart."""
    parts, bar = token_parts(log), said("two_way_tp", "says.tp_one_token", log)
    alone, compute = said("two_way_tp", "says.tp_one_token_2"), said("two_way_tp", "says.compute", log)
    rest_s = parts.total_s - parts.unexplained_s
    sums = said("two_way_tp", "says.predicted_sums_gather", log, s=parts.all_reduce_s + parts.all_gather_s)
    rows = [
        (alone, "work", 0.0, log.single_token_s, compute),
        (bar, "work", 0.0, parts.compute_s, ""),
        (bar, "sum", parts.compute_s, rest_s, sums),
    ]
    if parts.unexplained_s:
        words = f"{named('shell', 'unexplained')}: {seconds(parts.unexplained_s)}"
        rows.append((bar, "waiting", rest_s, parts.total_s, words))
    return stretches(rows)


def stretches(parts: Iterable[tuple[str, str, float, float, str]]) -> list[Row]:
    """Parts of bars: whose, what, from where to where in s, and the words on it."""
    told = ((bar, kind, 1e3 * start_s, 1e3 * end_s, words) for bar, kind, start_s, end_s, words in parts)
    return table("bar kind start_ms end_ms words", told)


def slowed_bars(slowed: Slowed) -> list[Row]:
    """Where each rank's step went while one of them slept."""
    rows = []
    for rank, (token_s, sums_s) in enumerate(zip(slowed.token_s, slowed.all_reduce_s, strict=True)):
        bar, compute_s = said("two_way_tp", "says.rank", rank=rank), token_s - sums_s
        slept_s = min(slowed.delay_s, compute_s) if rank == slowed.rank else 0.0
        if slept_s:
            asleep = said("two_way_tp", "says.asleep_ms", slept_s=significant(1e3 * slept_s, 2))
            rows.append((bar, "slept", 0.0, slept_s, asleep))
        rows.append((bar, "work", slept_s, compute_s, ""))
        sums = said("two_way_tp", "says.sums_ms", sums_s=significant(1e3 * sums_s))
        rows.append((bar, "sum", compute_s, token_s, sums))
    return stretches(rows)


def answers(log: RunLog, how: str) -> list[Row]:
    """The first sentences, answered rightly and by a wrong variant of the layers."""
    wrong = next(one for one in log.broken if one.how == how)
    both = zip(log.answers, wrong.answers, strict=False)
    return [Row(given=one.given, right=one.answer, wrong=answer, same=one.answer == answer) for one, answer in both]


def link_dots(log: RunLog, name: str) -> list[Row]:
    """The idle sweep of a run: one all-reduce at each size."""
    return [Row(machine=name, payload_bytes=one.payload_bytes, time_us=1e6 * one.median_s) for one in log.sweep]


def link_curve(log: RunLog, name: str) -> list[Row]:
    """The fit of that sweep, in the colour of the term that rules; empty where nothing could be fitted."""
    fit = fitted_link(log)
    if fit is None or fit.us_per_byte <= 0:
        return []
    low, high = log.sweep[0].payload_bytes, log.sweep[-1].payload_bytes
    meet = min(max(fit.fixed_us / fit.us_per_byte, low), high)
    return ruled(name, name, (low * (high / low) ** (i / 24) for i in range(25)), meet, fit.time_us)


def link_mark(model: ModelSpec) -> Row:
    """Where a decode step of a model stands on the axis of payloads."""
    name = said("two_way_tp", "says.decode", key=model.key)
    return Row(payload_bytes=allreduce_payload_bytes(1, model.hidden_size), name=name)
