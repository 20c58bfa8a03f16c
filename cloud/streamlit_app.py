"""The entry for Streamlit Community Cloud: the same app, with the requirements beside this file, without torch.

streamlit run cloud/streamlit_app.py

Community Cloud starts it so, too: its `/app/scripts/run-streamlit.sh` runs the environment's own `streamlit`. So it
makes its server as the root's entry does.

Community Cloud takes the first dependency file beside the entry point, and only then one at the repository's root:
https://docs.streamlit.io/deploy/streamlit-community-cloud/deploy-your-app/app-dependencies
"""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if __name__ == "__main__":
    from ui import shell

    shell.run()
else:
    from runtime import versions

    versions.say("cloud/requirements.txt")
    from ui import server

    app = st.App(__file__, lifespan=server.lifespan, middleware=server.MIDDLEWARE)
