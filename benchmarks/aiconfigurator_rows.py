"""Times as aiconfigurator estimates them, a JSON line a run: two benchmarks start it where that is installed.

It imports nothing of ours, and is written for the Python of that environment alone.
"""

import functools
import json
import logging
import sys
import time
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def main() -> None:
    """Answer each line of standard input; the first line out says the version."""
    from aiconfigurator.cli.api import cli_estimate
    from aiconfigurator_core.sdk import perf_database

    # it reads 300 files to find its newest data base, on every call: once is enough, and is not counted against it
    perf_database.get_supported_databases = functools.cache(perf_database.get_supported_databases)
    perf_database.get_supported_databases()
    print(json.dumps({"version": version("aiconfigurator")}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        name, start = asked.pop("id"), time.perf_counter()
        try:
            data, found = _estimated(cli_estimate, asked)
        except Exception as error:
            print(json.dumps({"id": name, "error": f"{type(error).__name__}: {error}"[:200]}), flush=True)
            continue
        seconds = time.perf_counter() - start
        said = {"ttft_ms": found.ttft, "tpot_ms": found.tpot, "run_ms": found.request_latency, "data": data}
        said["full"] = bool(getattr(found, "kv_cache_warning", None))
        print(json.dumps({"id": name, **said, "seconds": seconds, "backend": found.backend_version}), flush=True)


def _estimated(estimate, asked):
    """By measured kernels alone, or where some were not measured, with the rest modelled; which, and the estimate.

    A static batch, but where the question names another mode.
    """
    for data in ("SILICON", "HYBRID"):
        try:
            return data, estimate(**{"mode": "static", **asked, "database_mode": data})
        except Exception:
            if data == "HYBRID":
                raise
    raise AssertionError


if __name__ == "__main__":
    main()
