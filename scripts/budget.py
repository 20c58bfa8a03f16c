"""What a cloud run may cost and did: `python -m scripts.budget authorize lab-02 1.40 --gpu-hours 2 --spin-up`.

authorize LABEL USD    reserve an estimate; a cap that would be passed ends the program with BudgetGuardExceeded
record LABEL USD       put down what the vendor billed; a manifest that stands beside it follows
status                 the ledger added up, and whether the manifest says the same
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path

from core.errors import UnreadableTextError
from core.two_way_tp.spend import BudgetLimits
from runtime.budget import LEDGER, BudgetGuard
from runtime.paid_run import FOLDER, follow_ledger, manifest_cost_usd
from scripts.terminal import Computed, Parser, command, finite, run


def _answer(options: Namespace) -> Computed:
    caps = (options.lab_cap, options.phase_cap, options.gpu_hours_cap, options.spin_up_reserve)
    guard = BudgetGuard(options.ledger, BudgetLimits(*caps))
    try:
        _act(guard, options)
        return _status(guard, options.experiment)
    except OSError as error:
        raise UnreadableTextError("file.unusable", path=options.ledger, error=error.strerror) from error


def _act(guard: BudgetGuard, options: Namespace) -> None:
    if options.action == "authorize":
        guard.authorize(options.label, options.usd, options.gpu_hours, options.spin_up)
    if options.action == "record":
        guard.record_actual(options.label, options.usd, options.gpu_hours)
        follow_ledger(guard, options.experiment)


def _status(guard: BudgetGuard, experiment: Path) -> Mapping[str, object]:
    account, in_manifest = guard.account(), manifest_cost_usd(experiment)
    return {
        "total_spent_usd": account.total_spent_usd(),
        "authorized_open_usd": account.committed_usd() - account.total_spent_usd(),
        "remaining_usd": account.remaining_usd(),
        "gpu_hours": account.gpu_hours,
        "phase_cap_usd": guard.limits.phase_usd,
        "lab_cap_usd": guard.limits.lab_usd,
        "may_spin_up": account.remaining_usd() >= guard.limits.spin_up_usd,
        "alert": account.alert,
        "manifest_agrees": in_manifest == account.total_spent_usd(),
    }


def make_parser() -> Parser:
    parser = Parser(prog="budget", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    default = BudgetLimits()
    shared = Parser(add_help=False)
    shared.common("--json")
    shared.common("--ledger", default=LEDGER)
    shared.add_argument("--experiment", type=Path, default=FOLDER, help="the folder of the run's manifest.json")
    shared.add_argument("--lab-cap", type=finite, default=default.lab_usd, metavar="USD")
    shared.add_argument("--phase-cap", type=finite, default=default.phase_usd, metavar="USD")
    shared.add_argument("--gpu-hours-cap", type=finite, default=default.gpu_hours, metavar="HOURS")
    shared.add_argument("--spin-up-reserve", type=finite, default=default.spin_up_usd, metavar="USD")
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ("authorize", "record"):
        action = actions.add_parser(name, parents=[shared])
        action.add_argument("label", help="the lab, and behind a slash what you like: lab-02/second try")
        action.add_argument("usd", type=finite)
        action.add_argument("--gpu-hours", type=finite, default=0.0)
        if name == "authorize":
            action.add_argument("--spin-up", action="store_true", help="ask for the reserve of a spin-up too")
    actions.add_parser("status", parents=[shared])
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
