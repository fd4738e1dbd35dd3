"""The demo as a citizen of the protocol: handshake, sessions, modes, options, cancel, errors, start and end."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.demo.client import Client, check, demo
from tests.aio import WITHIN_S
from tests.tooling.rows import every_row
from trunkline import __version__
from trunkline.agents.demo import FAULTS


def test_it_answers_initialize_with_its_version_and_what_it_can(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        for offered in (1, 2, 65535):
            result = client.request("initialize", {"protocolVersion": offered})["result"]
            assert result["protocolVersion"] == 1
        assert result["agentInfo"]["name"] == "trunkline-demo"
        assert result["agentCapabilities"]["loadSession"] is True
        assert result["agentCapabilities"]["sessionCapabilities"]["resume"] == {}


def test_it_answers_initialize_soon_after_its_start(tmp_path: Path) -> None:
    """Within a few starts of a bare interpreter, of CPU time, each the best of five: how long one takes is the machine's."""

    def ended_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def bare() -> float:
        before = ended_s()
        subprocess.run([sys.executable, "-c", "import json"], check=True)
        return ended_s() - before

    def start() -> float:
        before = ended_s()
        with demo(tmp_path) as client:
            client.request("initialize", {"protocolVersion": 1})
        return ended_s() - before

    pairs = [(bare(), start()) for _ in range(5)]
    assert min(took for _, took in pairs) < 6 * min(took for took, _ in pairs)


def test_sigterm_ends_it(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.open()
        client.process.terminate()
        assert client.process.wait(WITHIN_S) == -15


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_at_start(tmp_path: Path, fault: str) -> None:
    with demo(tmp_path, "--fault", fault) as client:
        if fault == "exit":
            assert client.process.wait(WITHIN_S) == 1
            assert client.process.stderr and b"exiting at start" in client.process.stderr.read()
            return
        started = client.begin("initialize", {"protocolVersion": 1})
        new = client.begin("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        if fault == "silent":
            assert client.next()["id"] == new
        elif fault == "version":
            assert client.answer_to(started)["result"]["protocolVersion"] == 99
        else:
            assert client.answer_to(started)["result"]["authMethods"][0]["id"] == "demo-login"
            assert client.answer_to(new)["error"]["code"] == -32000
            _log_in(client, works=fault == "auth")


def _log_in(client: Client, *, works: bool) -> None:
    answer = client.request("authenticate", {"methodId": "demo-login"})
    assert ("result" in answer) == works
    opened = client.request("session/new", {"cwd": str(client.cwd), "mcpServers": []})
    assert ("result" in opened) == works


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trunkline.agents.demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@every_row("arguments", [["--speed"], ["--speed", "0"], ["--speed", "x"], ["--fault", "none"], ["--nonsense"]])
def test_bad_options_print_the_usage(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trunkline.agents.demo", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("usage: ")


def test_it_tells_its_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trunkline.agents.demo", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"trunkline-demo {__version__}\n"


def test_it_loads_nothing_heavy_to_start(tmp_path: Path) -> None:
    program = "import sys, json, trunkline.agents.demo.__main__; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    heavy = {"asyncio", "subprocess", "msgspec", "argparse", "difflib", "trunkline.agents.demo.tools", "trunkline.agents.process"}
    assert not loaded & heavy


def test_the_schema_check_of_these_tests_can_fail() -> None:
    with pytest.raises(Exception, match="is not valid"):
        check("SessionNotification", {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [{"content": "x"}]}})
