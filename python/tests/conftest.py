"""A real project and a real agent, built from this tree, for all tests."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Dict, Iterator, List, Optional

import pytest

from starling_grid import Grid
from starling_grid.transport import Transport

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "python" / "src" / "starling_grid" / "runner.py"
PLATFORM = "x86_64-pc-linux-gnu" if os.uname().machine == "x86_64" else "aarch64-unknown-linux-gnu"

# Writes its input in capitals into out. Its first argument may have it fail, hang or write its arguments.
SHOUT = """#!/bin/sh
case "$1" in
fail) echo "no cure for $(cat in)" >&2; exit 3 ;;
hang) sleep 3600 ;;
args) printf '%s\\n' "$@" >in ;;
esac
tr a-z A-Z <in >out
"""

# One attempt for a job, so that a failure is final at once.
TEMPLATE = """<input_template>
<file_info><number>0</number></file_info>
<workunit>
    <file_ref><file_number>0</file_number><open_name>in</open_name></file_ref>
    <rsc_fpops_est>1e9</rsc_fpops_est>
    <min_quorum>1</min_quorum><target_nresults>1</target_nresults>
    <max_error_results>1</max_error_results><max_total_results>1</max_total_results>
</workunit>
</input_template>
"""


class Project:
    """A project with a server and an agent, in a folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.directory = folder / "project"
        self._programs = programs
        self._agent = folder / "agent"
        self._port = free_port()
        self._server: Optional[subprocess.Popen[bytes]] = None
        self._others: List[subprocess.Popen[bytes]] = []
        self._logs: List[IO[bytes]] = []
        self._stopping = threading.Event()
        self._volunteer = threading.Thread(target=self._update)
        self.url = self.token = self._key = ""

    def make(self) -> None:
        """Makes the project and its applications, and starts the server and the agent."""
        address = f"127.0.0.1:{self._port}"
        made = self._spawn("server", "starling-server", "dev", "--listen", address, "--dir", str(self.directory), "--jobs", "0")
        self._server = made
        assert made.stdout is not None
        described: Dict[str, str] = json.loads(made.stdout.readline())
        self.url, self.token, self._key = described["url"], described["token"], described["authenticator"]
        self.add("shout", SHOUT, TEMPLATE)
        self.add("python", RUNNER.read_text().replace("/usr/bin/env python3", sys.executable))
        self._agent.mkdir()
        (self._agent / "prefs.toml").write_text("suspend_cpu_usage = 0\nrun_on_batteries = true\nwork_buf_min_days = 0.1\n")
        (self._agent / "starling.toml").write_text(
            "allow_multiple_clients = true\nno_priority_change = true\nno_gpus = true\n"
            "gui_rpc_port = 0\ndashboard_port = 0\n"
        )
        self.command("starling", "--data", str(self._agent), "attach", self.url, "--key", self._key)
        self._others.append(self._spawn("agent", "starling", "--data", str(self._agent), "run"))
        self._volunteer.start()

    def _update(self) -> None:
        """Has the agent ask for work and report results at once, all the time.

        On its own, it would pause for at least five seconds between two requests.
        """
        update = [str(self._programs / "starling"), "--data", str(self._agent), "update", self.url]
        while not self._stopping.wait(0.2):
            subprocess.run(update, capture_output=True)

    def add(self, app: str, program: str, template: str = "") -> None:
        """Adds an application with a plain program, and an input template unless that is empty."""
        path = self.folder / app
        path.write_text(program)
        path.chmod(0o755)
        if template:
            (self.directory / "templates" / f"{app}_in").write_text(template)
        directory = str(self.directory)
        self.command("starling-server", "app", "add", directory, app)
        self.command(
            "starling-server", "version", "add", directory, app,
            "--platform", PLATFORM, "--version", "1.00", "--main", str(path), "--plain",
        )  # fmt: skip

    def command(self, program: str, *args: str) -> str:
        """Runs one of Starling's commands, and returns its standard output."""
        done = subprocess.run([str(self._programs / program), *args], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def doctor(self) -> str:
        """Returns what the agent finds out about its computer."""
        doctor = [str(self._programs / "starling"), "--data", str(self._agent), "doctor"]
        return subprocess.run(doctor, capture_output=True, text=True).stdout

    def kill_server(self) -> None:
        assert self._server is not None
        self._server.kill()
        self._server.wait()

    def start_server(self) -> None:
        """Starts the server again, as an ordinary one."""
        address = f"127.0.0.1:{self._port}"
        self._server = self._spawn("server", "starling-server", "serve", str(self.directory), "--listen", address)

    def stop(self) -> None:
        self._stopping.set()
        if self._volunteer.is_alive():
            self._volunteer.join()
        for process in [*self._others, *([self._server] if self._server else [])]:
            process.terminate()
            process.wait()
        for log in self._logs:
            log.close()

    def _spawn(self, log: str, program: str, *args: str) -> "subprocess.Popen[bytes]":
        out = open(self.folder / f"{log}.log", "ab")
        self._logs.append(out)
        return subprocess.Popen([str(self._programs / program), *args], stdout=subprocess.PIPE, stderr=out)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """A folder with Starling's programs. STARLING_PROGRAMS names one that has them already."""
    given = os.environ.get("STARLING_PROGRAMS")
    if given:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        commands = [f"./cmd/{name}" for name in ("starling", "starling-server", "starling-wrap")]
        subprocess.run(["go", "build", "-o", folder + "/", *commands], cwd=ROOT, check=True, env={**os.environ, "CGO_ENABLED": "0"})
        yield Path(folder)


@pytest.fixture(scope="session")
def project(programs: Path) -> Iterator[Project]:
    """The project of all tests."""
    folder = Path(tempfile.mkdtemp(prefix="starling-python"))
    project = Project(folder, programs)
    try:
        project.make()
        yield project
    finally:
        project.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def grid(project: Project) -> Grid:
    return Grid(project.url, project.token)


@pytest.fixture
def one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors collect calls until they are shut down."""
    monkeypatch.setattr("starling_grid.executor._QUIET", 3600)
    monkeypatch.setattr("starling_grid.executor._MOMENT", 3600)


@pytest.fixture
def transport(project: Project) -> Transport:
    return Transport(project.url, project.token, 60)
