"""The server that visits come to: what it may be asked is settled before the first of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from streamlit.cli_util import open_browser

from ui import wanted_messages

wanted_messages.install()


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Show the app to whoever started it: Streamlit leaves that to a server that an app has made itself."""
    if not st.get_option("server.headless"):
        open_browser(f"http://{st.get_option('browser.serverAddress')}:{st.get_option('server.port')}")
    yield
