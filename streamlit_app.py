"""Shardlab: how one language model is split over many GPUs, and what the split costs.

streamlit run streamlit_app.py

Streamlit runs this file once a rerun. Before anybody has visited it imports it, for the server that it names.
"""

import streamlit as st

if __name__ == "__main__":
    from ui import shell

    shell.run()
else:
    from runtime import versions

    versions.say("requirements.txt")
    from ui import server

    app = st.App(__file__, lifespan=server.lifespan, middleware=server.MIDDLEWARE)
