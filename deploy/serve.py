"""`streamlit run` of the app, with what a browser may ask of it bounded before anybody visits.

    python deploy/serve.py --server.port 8501

Under `streamlit run` itself the first visit's script does that: Streamlit runs nothing of an app before.
"""

import sys
from pathlib import Path

from streamlit.web import cli

ROOT = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from ui import wanted_messages

    wanted_messages.install()
    sys.argv = ["streamlit", "run", str(ROOT / "streamlit_app.py"), *sys.argv[1:]]
    cli.main()
