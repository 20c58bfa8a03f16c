"""The course on one page: four labs in order, and what each hands the next."""

import streamlit as st

from ui import shell

shell.boot()
st.title("Overview")
