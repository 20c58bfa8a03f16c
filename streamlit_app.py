"""Shardlab: how one language model is split over many GPUs, and what the split costs.

streamlit run streamlit_app.py
"""

from ui import shell

shell.run()
