"""Several Shardlab servers behind HAProxy on one machine, without a container.

    python deploy/local.py --servers 2 --port 8600

HAProxy is Debian's (`apt install haproxy`). A server that ends is started anew. Its visitors are at another
meanwhile, where their address has taken them back to their view. Ctrl-C ends all of them, and on Linux whatever
kills this program does. `--files FOLDER` keeps the logs and the process ids.
"""

import argparse
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MOST = 23
"""As many as have a letter in deploy/replicas.cfg, by which a room's code names the server that it is in."""
PARENT = "SHARDLAB_PARENT"
"""As runtime.processes has it: whose child a program is."""


def main() -> int:
    """Start the servers, then the proxy, and watch over them until a signal comes. Returns the exit status."""
    asked = _asked()
    if asked.servers > MOST:
        print(f"one proxy stands before {MOST} servers at most", file=sys.stderr)
        return 2
    if shutil.which("haproxy") is None:
        print("HAProxy is not installed: apt install haproxy", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix=f"shardlab-deploy-{os.getpid()}-") as scratch:
        files = asked.files or Path(scratch)
        files.mkdir(parents=True, exist_ok=True)
        ports = range(asked.port + 1, asked.port + 1 + asked.servers)
        # one secret for all, so that a form that one server gave out is taken by another
        environment = os.environ | {"STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32)}
        running = {port: _server(port, files, environment) for port in ports}
        try:
            for port in ports:
                _wait_for("127.0.0.1", port, running[port])
            proxy = _proxy(asked, ports, files)
            _wait_for("127.0.0.1" if asked.address == "0.0.0.0" else asked.address, asked.port, proxy)
            print(f"http://{asked.address}:{asked.port} ({asked.servers} servers)", flush=True)
            while proxy.poll() is None:
                for port, server in running.items():
                    if server.poll() is not None:
                        print(f"the server at port {port} ended with {server.returncode}: started anew", flush=True)
                        running[port] = _server(port, files, environment)
                time.sleep(0.5)
            print(f"HAProxy ended with {proxy.returncode}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 0
        finally:
            for process in (*running.values(), *([proxy] if "proxy" in locals() else ())):
                process.terminate()
                process.wait()


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--servers", type=int, default=min(MOST, os.cpu_count() or 1), help="one a core, at most 23"
    )
    parser.add_argument("--port", type=int, default=8600, help="the proxy's; the servers take those after it")
    parser.add_argument("--address", default="127.0.0.1", help="where the proxy listens")
    parser.add_argument("--files", type=Path, help="a folder for process ids and logs")
    return parser.parse_args()


def _server(port: int, files: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "streamlit_app.py"), "--server.port", str(port)]
    command += ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    server = _started(command, environment, files / f"{port}.log")
    (files / f"{port}.pid").write_text(str(server.pid))
    return server


def _wait_for(address: str, port: int, process: subprocess.Popen[bytes]) -> None:
    """Until it answers. Raises SystemExit where it ends before it has."""
    while process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{address}:{port}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"what was started at port {port} did not answer")


def _proxy(asked: argparse.Namespace, ports: range, files: Path) -> subprocess.Popen[bytes]:
    names = [f"app{number}" for number in range(1, len(ports) + 1)]
    lines = "\n".join(f"    server {name} 127.0.0.1:{port}" for name, port in zip(names, ports, strict=True))
    servers = files / "servers.cfg"
    _, _, shared = (HERE / "replicas.cfg").read_text().partition("backend servers\n")
    given = (line.split() for line in shared.splitlines())
    rules = [" ".join(word) for word in given if word and word[0] != "server-template" and _is_of(word, names)]
    servers.write_text("\n".join(["backend servers", *rules, lines, ""]))
    command = ["haproxy", "-db", "-f", str(HERE / "haproxy.cfg"), "-f", str(servers)]
    environment = os.environ | {"SHARDLAB_BIND": f"{asked.address}:{asked.port}"}
    return _started(command, environment, files / "haproxy.log")


def _is_of(words: list[str], names: list[str]) -> bool:
    """Whether a rule speaks of no server that is not here."""
    return words[0] != "use-server" or words[1] in names


def _started(command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    """A program that ends with this one, however this one ends."""
    tied = [sys.executable, "-m", "runtime.processes", "0", *command]
    with log.open("ab") as lines:
        return subprocess.Popen(
            tied, cwd=ROOT, env={**environment, PARENT: str(os.getpid())}, stdout=lines, stderr=lines
        )


if __name__ == "__main__":
    sys.exit(main())
