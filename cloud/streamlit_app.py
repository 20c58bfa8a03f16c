"""The entry for Streamlit Community Cloud: the same app, with the requirements beside this file, without torch.

streamlit run cloud/streamlit_app.py

Community Cloud takes the first dependency file beside the entry point, and only then one at the repository's root:
https://docs.streamlit.io/deploy/streamlit-community-cloud/deploy-your-app/app-dependencies
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ui import shell

shell.run()
