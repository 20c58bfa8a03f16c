"""What stands beside a predicted time on any page: how far such times were off, or that none was ever tested."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Literal

import streamlit as st

from core.evidence.accuracy import accuracy_of
from core.evidence.measurements import Quantity
from core.placement.assumed import held_to
from core.specs import GpuSpec, ModelSpec
from core.steps.model import MFU
from runtime.kept import kept
from runtime.prose import said, worded
from ui.prose import escape

Kind = Literal["", "compute", "prompt", "link"]
"""What a scene's times are made of: data-sheet compute, a prompt's as well, or a link's row; "" where of none."""


def beside_times(gpu: GpuSpec, model: ModelSpec) -> None:
    """The errors on published times of this class of GPU and kind of model, between tokens and to the first."""
    with st.container(key="aside_tested"):
        st.markdown(_told(gpu, model))


@kept
def _told(gpu: GpuSpec, model: ModelSpec) -> str:
    return "\n\n".join(escape(worded(one)) for one in held_to(gpu, model))


def beside_each(pairs: Iterable[tuple[GpuSpec, ModelSpec]]) -> None:
    """The same for every GPU and model of one figure, each once and under its name."""
    told = {
        f"{gpu.name}, {model.name}": " ".join(worded(one) for one in held_to(gpu, model)) for gpu, model in pairs
    }
    with st.container(key="aside_tested"):
        st.markdown("\n".join(f"- {escape(name)}: {escape(sentence)}" for name, sentence in told.items()))


def data_sheet(kind: Kind) -> None:
    """What stands there where a time is no prediction: it goes by a data sheet, or by a link's row alone."""
    with st.container(key="aside_tested"):
        st.markdown(said("shell", f"data_sheet.{kind}", mfu=MFU))


def columns(*pairs: tuple[GpuSpec, ModelSpec]) -> Mapping[str, float]:
    """The same for a table that is taken away: how many published times, the median error, that of nine in ten.

    0 published times is "never tested here", and then there are no errors. Of several GPUs or models each has
    columns of its own, which begin with its name.
    """
    quantities: tuple[Quantity, ...] = ("decode", "first_token")
    told: dict[str, float] = {}
    alone = len(dict.fromkeys(pairs)) == 1
    for (gpu, model), quantity in product(dict.fromkeys(pairs), quantities):
        errors, name = accuracy_of(gpu, model, quantity), quantity if alone else f"{gpu.key}_{model.key}_{quantity}"
        told[f"{name}_published_times"] = errors.n if errors else 0
        if errors:
            told |= {f"{name}_median_error": errors.median_error, f"{name}_p90_error": errors.p90_error}
    return told


def marked(csv: bytes, beside: Mapping[str, float]) -> bytes:
    """A table of predicted times with its errors as further columns, the same in every row."""
    if not beside:
        return csv
    head, *rows = csv.decode().splitlines()
    more = ",".join(f"{value:g}" for value in beside.values())
    return "\n".join([f"{head},{','.join(beside)}", *(f"{row},{more}" for row in rows), ""]).encode()
