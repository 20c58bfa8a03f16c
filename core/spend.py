"""What a rented GPU costs, running or forgotten."""

from core.errors import require_non_negative, require_positive

HOURS_A_DAY = 24


def cost_usd(usd_per_hour: float, hours: float, gpus: int = 1) -> float:
    """Rate · hours · GPUs."""
    require_non_negative(usd_per_hour=usd_per_hour, hours=hours)
    require_positive(gpus=gpus)
    return usd_per_hour * hours * gpus


def hours_for(budget_usd: float, usd_per_hour: float, gpus: int = 1) -> float:
    """How long a budget lasts: budget / (rate · GPUs)."""
    require_non_negative(budget_usd=budget_usd)
    require_positive(usd_per_hour=usd_per_hour, gpus=gpus)
    return budget_usd / (usd_per_hour * gpus)
