"""Lab 02's bench and paid run: the numbers their prose is filled with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.two_way_tp.replicas import Duel
from core.two_way_tp.run_log import RunLog
from core.two_way_tp.scaling import ScalingRun, crossover, fitted_link
from core.two_way_tp.spend import HOURS_A_DAY, Account, cost_usd, hours_for
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import bandwidth, seconds
from ui.two_way_tp.rows_runs import hardware, recorded_model
from ui.two_way_tp.rows_scaling import band_words, width_words

NO_BREAK_HYPHEN = "\u2011"
SHAPED = {"loopback": "loopback", "10gbit": "10 Gb/s", "1gbit": "1 Gb/s"}
SOLD_BYTES_PER_S = {"10 Gb/s": 1.25e9, "1 Gb/s": 1.25e8}


@kept
def scaling_fields(run: ScalingRun | None, between: str) -> Mapping[str, object]:
    """What a machine's curve says of the width at which TP begins to pay."""
    if run is None:
        return {}
    crossing, widest = crossover(run), max(point.hidden_size for point in run.points)
    gains = [point.hidden_size for point in run.points if point.token.median_s < point.single.median_s]
    wins = said("two_way_tp", "says.from" if gains else "says.none_up", value=min(gains, default=0), widest=widest)
    usual = crossing.usual
    band = {"width_words": width_words(usual), "band_words": band_words(crossing)} if usual else {}
    return {
        "scaling": run,
        "scaling_wire": between,
        "scaling_pays": said("two_way_tp", "says.above_width_about" if usual else "says.no_width", **band),
        "scaling_measured": wins,
        "scaling_sum_s": run.all_reduce_s(4 * 1024),
        "scaling_hardware": hardware(run.manifest),
        "scaling_date": run.manifest.date[:10].replace("-", NO_BREAK_HYPHEN),
    }


def duel_fields(inside: Sequence[Duel], across: Sequence[Duel], model: str, gpu: str) -> Mapping[str, object]:
    """TP=2 against two replicas on the scenario's two links, a duel by where and how: `inside_full_memory`."""
    duels = {
        f"{where}_{duel.kind.replace(' ', '_')}": duel
        for where, on_link in (("inside", inside), ("across", across))
        for duel in on_link
    }
    return {"duel_model": model, "duel_gpu": gpu, **duels}


def host_fields(
    runs: Sequence[tuple[str, RunLog]], again: Sequence[tuple[str, RunLog]] = ()
) -> Mapping[str, object]:
    """A prompt over each shaped link, and over each when it was recorded `again`."""
    told = {name: log.prefill for name, log in runs if log.prefill is not None}
    if not told:
        return {}
    fastest, slowest = (best(told, key=lambda name: told[name].median_s) for best in (min, max))
    return {
        "host_model": recorded_model(runs[0][1].model.name),
        "host_fits": _over(_rates(runs)),
        "host_fits_again": _over(_rates(again)),
        "host_again": _over((seconds(log.prefill.median_s), name) for name, log in again if log.prefill),
        "host_slowest": slowest,
        "host_slow": told[slowest],
        "host_fastest": fastest,
        "host_fast": told[fastest],
        "host_first": next(iter(told.values())),
    }


def _rates(runs: Sequence[tuple[str, RunLog]]) -> Iterator[tuple[str, str]]:
    """The rate that each run's sums say; one that its link cannot carry is noise, and is told as that."""
    for name, log in runs:
        if (fit := fitted_link(log)) and (rate := fit.bandwidth_bytes_per_s):
            beats = rate > 1.01 * SOLD_BYTES_PER_S.get(name, rate)
            yield said("two_way_tp", "says.beats_wire") if beats else bandwidth(rate), name


def _over(told: Iterable[tuple[str, str]]) -> str:
    return ", ".join(said("two_way_tp", "says.over", value=value, name=name) for value, name in told)


def paid_fields(account: Account, usd_per_hour: float, forgotten_hours: int) -> Mapping[str, object]:
    """The budget as it stands, and what an instance costs that nobody terminates."""
    limits, forgotten_usd = account.limits, cost_usd(usd_per_hour, forgotten_hours)
    cap = limits.lab_usd
    return {
        "limits": limits,
        "spent": account.total_spent_usd(),
        "remaining": account.remaining_usd(),
        "rate": usd_per_hour,
        "rate_a_day": cost_usd(usd_per_hour, HOURS_A_DAY),
        "rate_lasts": hours_for(limits.lab_usd, usd_per_hour),
        "forgotten_hours": forgotten_hours,
        "forgotten": forgotten_usd,
        "forgotten_share": said(
            "two_way_tp", "says.times_2" if cap else "says.more_than", times=forgotten_usd / (cap or 1)
        ),
    }
