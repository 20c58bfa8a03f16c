"""Lab 02's bench and paid run: the numbers their prose is filled with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.two_way_tp import Duel, RunLog, ScalingRun, crossover, fitted_link
from core.two_way_tp.spend import HOURS_A_DAY, Account, cost_usd, hours_for
from runtime.catalog_words import short_name
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import bandwidth, binary_bytes, local, percent, plain, seconds, significant
from ui.two_way_tp.rows_runs import hardware, recorded_model
from ui.two_way_tp.rows_scaling import band_words, width_words

NO_BREAK_HYPHEN = "\u2011"
SHAPED = {"loopback": "loopback", "10gbit": "10 Gb/s", "1gbit": "1 Gb/s"}
SOLD_BYTES_PER_S = {"10 Gb/s": 1.25e9, "1 Gb/s": 1.25e8}


@kept
def scaling_fields(run: ScalingRun | None, between: str) -> Mapping[str, str]:
    """What a machine's curve says of the width at which TP begins to pay."""
    if run is None:
        return {}
    crossing, widest = crossover(run), max(point.hidden_size for point in run.points)
    gains = [point for point in run.points if point.token_s < point.single_s]
    wins = (
        said("two_way_tp", "says.from", value=min(point.hidden_size for point in gains))
        if gains
        else said("two_way_tp", "says.none_up", widest=widest)
    )
    pays = (
        said(
            "two_way_tp",
            "says.above_width_about",
            width_words=width_words(crossing.usual),
            band_words=band_words(crossing),
        )
        if crossing.usual
        else said("two_way_tp", "says.no_width")
    )
    return {
        "scaling_wire": between,
        "scaling_pays": pays,
        "scaling_measured": wins,
        "scaling_memory": bandwidth(run.memory_bytes_per_s),
        "scaling_together": bandwidth(run.memory_together_bytes_per_s),
        "scaling_sum": seconds(run.all_reduce_s(4 * 1024)),
        "scaling_hardware": hardware(run.manifest),
        "scaling_date": run.manifest.date[:10].replace("-", NO_BREAK_HYPHEN),
    }


def duel_fields(inside: Sequence[Duel], across: Sequence[Duel], model: str, gpu: str) -> Mapping[str, str]:
    """TP=2 against two replicas on the scenario's two links."""
    links = {"duel_inside": short_name(inside[0].link), "duel_across": short_name(across[0].link)}
    filled = {"duel_model": model, "duel_gpu": gpu, **links}
    for where, duels in (("inside", inside), ("across", across)):
        for duel in duels:
            name = duel.kind.replace(" ", "_")
            filled[f"duel_{where}_{name}"] = said("two_way_tp", "says.times", gain=plain(duel.gain, 2))
            filled[f"duel_{where}_{name}_sums"] = seconds(duel.comm_s)
            filled[f"duel_{where}_{name}_allowed"] = seconds(duel.allowed_s)
    return filled


def host_fields(runs: Sequence[tuple[str, RunLog]], again: Sequence[tuple[str, RunLog]] = ()) -> Mapping[str, str]:
    """A prompt over each shaped link, and over each when it was recorded `again`."""
    told = {name: log.prefill for name, log in runs if log.prefill is not None}
    if not told:
        return {}
    first = next(iter(told.values()))
    filled = {
        "host_model": recorded_model(runs[0][1].model.name),
        "host_tokens": str(first.tokens),
        "host_payload": binary_bytes(first.payload_bytes),
        "host_single": seconds(first.single_s),
    }
    slowest = max(told, key=lambda name: told[name].median_s)
    fastest = min(told, key=lambda name: told[name].median_s)
    return filled | {
        "host_fits": _over(_rates(runs)),
        "host_fits_again": _over(_rates(again)),
        "host_again": _over((seconds(log.prefill.median_s), name) for name, log in again if log.prefill),
        "host_slowest": slowest,
        "host_slowest_time": seconds(told[slowest].median_s),
        "host_fastest": fastest,
        "host_fastest_time": seconds(told[fastest].median_s),
    }


def _rates(runs: Sequence[tuple[str, RunLog]]) -> Iterator[tuple[str, str]]:
    """The rate that each run's sums say; one that its link cannot carry is noise, and is told as that."""
    for name, log in runs:
        if (fit := fitted_link(log)) and (rate := fit.bandwidth_bytes_per_s):
            beats = rate > 1.01 * SOLD_BYTES_PER_S.get(name, rate)
            yield said("two_way_tp", "says.beats_wire") if beats else bandwidth(rate), name


def _over(told: Iterable[tuple[str, str]]) -> str:
    return ", ".join(said("two_way_tp", "says.over", value=value, name=name) for value, name in told)


def paid_fields(account: Account, usd_per_hour: float, forgotten_hours: int) -> Mapping[str, str]:
    """The budget as it stands, and what an instance costs that nobody terminates."""
    limits = account.limits
    forgotten_usd = cost_usd(usd_per_hour, forgotten_hours)
    return {
        "lab_cap": _usd(limits.lab_usd),
        "phase_cap": _usd(limits.phase_usd),
        "gpu_hours_cap": plain(limits.gpu_hours),
        "spin_up_cap": _usd(limits.spin_up_usd),
        "alert_share": percent(limits.alert_fraction, 0),
        "spent": _usd(account.total_spent_usd()),
        "remaining": _usd(account.remaining_usd()),
        "rate": _usd(usd_per_hour),
        "rate_a_day": _usd(cost_usd(usd_per_hour, HOURS_A_DAY)),
        "rate_lasts": said(
            "two_way_tp", "says.hours", hours_for=significant(hours_for(limits.lab_usd, usd_per_hour))
        ),
        "forgotten_hours": str(forgotten_hours),
        "forgotten": _usd(forgotten_usd),
        "forgotten_share": said(
            "two_way_tp", "says.times_2", forgotten_usd=plain(forgotten_usd / limits.lab_usd, 2)
        )
        if limits.lab_usd
        else said("two_way_tp", "says.more_than"),
    }


def _usd(amount: float) -> str:
    return local(f"${amount:.2f}")
