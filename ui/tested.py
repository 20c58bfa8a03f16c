"""What stands beside a predicted time on any page: how far such times were off, or that none was ever tested."""

from collections.abc import Iterable

import streamlit as st

from core.placement.assumed import held_to
from core.specs import GpuSpec, ModelSpec
from runtime.prose import worded
from ui.prose import escape


def beside_times(gpu: GpuSpec, model: ModelSpec) -> None:
    """The errors on published times of this class of GPU and kind of model, between tokens and to the first."""
    with st.container(key="aside_tested"):
        st.markdown("\n\n".join(escape(worded(one)) for one in held_to(gpu, model)))


def beside_each(pairs: Iterable[tuple[GpuSpec, ModelSpec]]) -> None:
    """The same for every GPU and model of one figure, each once and under its name."""
    told = {
        f"{gpu.name}, {model.name}": " ".join(worded(one) for one in held_to(gpu, model)) for gpu, model in pairs
    }
    with st.container(key="aside_tested"):
        st.markdown("\n".join(f"- {escape(name)}: {escape(sentence)}" for name, sentence in told.items()))
