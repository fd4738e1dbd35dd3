"""A hub as people run it: ``trunkline serve`` in a process of its own, with a HOME of its own, on a port of its own.

Rule 1: whatever happens in a test, the process is gone after it, and so is everything it started; ``close`` asserts that.
Rule 2: what a test gives as settings goes by flags and environment, as it would for a person.
Rule 3: nothing holds the hub's loop: its guard is on, and ``close`` asserts that the log names no frame; ``may_hold`` is for
tests of that. The guard's limit is for a quiet core. Where this machine is slower just now, or several want each of its cores
(pace.py), a hold that ended counts when it was as much longer; one that did not end counts always.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.pace import crowding, slowness
from tests.tooling.processes import eventually, processes_with
from tests.tooling.wire import Stream, Wire
from trunkline.cli.hosting.loop_guard import GOES_ON, GRIPPED, HELD, HELD_S

LISTENING = "trunkline is listening on "
START_S = 60.0
STOP_S = 60.0
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)

PYTHON = shlex.quote(sys.executable)
DEMO = f"{PYTHON} -m trunkline.agents.demo"
FAST_DEMO = f"{DEMO} --fast"
TRUSTED = """\
[[rules]]
agent = ["trusted"]
risk = ["low", "medium", "high", "critical"]
action = "allow"
"""
"""Lets the agent of that name write and run without asking; it is a puppet like any other."""
PUPPET = f"{PYTHON} {shlex.quote(str(Path(__file__).with_name('puppet.py')))}"


class HubProcess:
    """One data folder and the hub that serves it, now and after restarts."""

    def __init__(self, root: Path, *flags: str, agents: Mapping[str, str] | None = None, env: Mapping[str, str] | None = None,
                 port: int = 0, policy: str = "", before: Sequence[str] = (),
                 may_hold: bool = False) -> None:
        """``before`` are the words before the command, such as those that make it an ordinary user's."""
        self.root = root
        self.may_hold = may_hold
        """Whether this test expects that something holds the loop."""
        self.home = root / "home"
        self.data = root / "data"
        self.log_path = root / "hub.log"
        self.home.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(mode=0o700, exist_ok=True)
        if not (self.data / "policy.toml").exists():
            (self.data / "policy.toml").write_text(TRUSTED + policy)
        named = {"fast": FAST_DEMO, "puppet": PUPPET, "trusted": PUPPET, **(agents or {})}
        self._flags = [*(f"--agent={name}={command}" for name, command in named.items()), *flags]
        self._env = {**own_environment(self.home), "TRUNKLINE_DEBUG_LOOP": "true", **(env or {})}
        self._port = port
        self._before = before
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The running hub's process id."""
        assert self._process is not None, "the hub does not run"
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it was started, and neither stopped nor killed here since."""
        return self._process is not None

    @property
    def token(self) -> str:
        """The token as a person finds it."""
        return self._env.get("TRUNKLINE_TOKEN") or (self.data / "token").read_text().strip()

    @property
    def wire(self) -> Wire:
        """A client with the hub's own token."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        return Wire(host, int(port), self.token)

    def start(self) -> None:
        """Start the hub and wait until it says that it listens."""
        with self.log_path.open("ab") as log:
            served = ["serve", "--port", str(self._port), "--no-open", "--data", str(self.data), *self._flags]
            self._process = subprocess.Popen(
                [*self._before, *TRUNKLINE, *served],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=self._env, cwd=self.root)
        line = self._first_line()
        assert line.startswith(LISTENING), f"the hub did not start: {line!r}\n{self.log()}"
        self.url = line.removeprefix(LISTENING).strip()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the hub by a signal and wait; returns its exit code."""
        process = self._running()
        process.send_signal(number)
        code = process.wait(STOP_S)
        self._forget(process)
        return code

    def kill(self) -> None:
        """End the hub as a crash does."""
        self.stop(signal.SIGKILL)

    def restart(self) -> None:
        """Stop properly and start again on the same data, at the same address."""
        self.stop()
        self._port = int(self.url.rpartition(":")[2])
        self.start()

    def set_variable(self, name: str, value: str) -> None:
        """What the hub's environment says from its next start on."""
        self._env[name] = value

    def close(self) -> None:
        """End the hub, and assert that nothing of it is left."""
        if self._process is not None:
            try:
                code = self.stop()
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"the hub did not stop within {STOP_S:g} s\n{self.log()}") from None
            assert code not in CRASHES, f"the hub crashed ({code})\n{self.log()}"
        self.assert_nothing_left()
        if not self.may_hold:
            assert self.holds() == [], "the hub's loop was held:\n" + "\n".join(self.holds())

    def holds(self) -> list[str]:
        """What the guard of the hub's loop told of: where it was held, and for how long."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return _holds_in(text, max(slowness(), crowding()) if HELD in text else 1.0)

    def left(self) -> list[Any]:
        """Processes that carry this hub's HOME: agents, their children, and the hub itself while it runs."""
        return processes_with(f"HOME={self.home}")

    def assert_nothing_left(self) -> None:
        """Whatever the hub started is gone; what is not is ended here, so that one failure does not become many."""
        try:
            eventually(lambda: not self.left(), f"no process with HOME={self.home} is left")
        except AssertionError:
            left = self.left()
            for process in left:
                os.kill(process.pid, signal.SIGKILL)
            raise AssertionError(f"these were left behind: {left}\n{self.log()}") from None

    def log(self) -> str:
        """The end of what the hub wrote to stderr."""
        return self.log_path.read_text(errors="replace")[-4000:]

    def new_session(self, agent: str = "fast", cwd: Path | None = None, **more: Any) -> Session:
        """Start a session in a folder of its own, or in ``cwd``."""
        folder = cwd or self.new_folder()
        view = self.wire.post("/sessions", {"agent": agent, "cwd": str(folder), **more}, 201)
        return Session(self, view["id"], folder)

    def new_folder(self) -> Path:
        """An empty folder to work in."""
        work = self.root / "work"
        work.mkdir(exist_ok=True)
        folder = work / str(len(os.listdir(work)))
        folder.mkdir()
        return folder

    def command(self, *words: str, input: str = "", env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command of the command line against this hub's data folder."""
        return run_command(*words, env={**self._env, "TRUNKLINE_DATA": str(self.data), **(env or {})}, cwd=self.root, input=input)

    def environment(self) -> dict[str, str]:
        """What a command needs to find this hub."""
        return {**self._env, "TRUNKLINE_DATA": str(self.data)}

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the hub does not run"
        return self._process

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        process.stdout.close()
        self._process = None

    def _first_line(self) -> str:
        stdout = self._running().stdout
        assert stdout is not None
        line, until = b"", time.monotonic() + START_S
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([stdout], [], [], max(0.0, until - time.monotonic()))
            data = os.read(stdout.fileno(), 4096) if ready else b""
            if not data:
                break
            line += data
        return line.decode()


class Session:
    """One session of a hub, by its id; it outlives restarts of the hub."""

    def __init__(self, hub: HubProcess, session_id: str, folder: Path) -> None:
        self.hub = hub
        self.id = session_id
        self.folder = folder

    @property
    def path(self) -> str:
        """The session's route."""
        return f"/sessions/{self.id}"

    @property
    def wire(self) -> Wire:
        """The hub's client."""
        return self.hub.wire

    def view(self) -> Any:
        """The session's state."""
        return self.wire.get(self.path)

    def send(self, content: Any, **more: Any) -> Stream:
        """Send a prompt and stream its turn."""
        return self.wire.send_message(self.id, content, **more).expect()

    def say(self, content: Any, wait_s: float = 60.0, **more: Any) -> list[dict[str, Any]]:
        """Send a prompt and return its turn's packets, each in exactly its shape."""
        with self.send(content, wait_s=wait_s, **more) as stream:
            packets = [packet.value for packet in stream]
        for packet in packets:
            validate_packet(packet)
        return packets

    def delete(self) -> None:
        """End the session and its agent."""
        answer = self.wire.ask("DELETE", self.path)
        assert answer.status in (200, 204), answer.body  # in a cluster it says what became of its copy there

    def post(self, what: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        """A POST below the session's route."""
        return self.wire.post(f"{self.path}/{what}", body, status, **more)

    def attach(self, after: int | None = None, **more: Any) -> Stream:
        """Attach to the session's packets."""
        query = "" if after is None else f"?after={after}"
        return self.wire.stream(f"{self.path}/packets{query}", **more).expect()

    def history(self) -> list[tuple[int, bytes]]:
        """Every packet so far, as an attached reader gets it, up to the last entry there is now."""
        last = self.wire.get(f"{self.path}/messages?limit=1000")
        while last["nextAfter"] is not None:
            last = self.wire.get(f"{self.path}/messages?limit=1000&after={last['nextAfter']}")
        newest = last["messages"][-1]["seq"] if last["messages"] else 0
        found: list[tuple[int, bytes]] = []
        if not newest:
            return found
        with self.attach() as stream:
            for packet in stream:
                assert packet.id is not None
                found.append((packet.id, packet.data))
                if packet.id >= newest:
                    return found
        raise AssertionError("the stream ended early")


def _holds_in(log: str, slower: float) -> list[str]:
    found = []
    for told in re.finditer(rf"{HELD} (\d+) ms.*(?:\n  .*)*", log):
        rest = log[told.end():].partition(HELD)[0]
        ended = re.search(rf"{GOES_ON} (\d+) ms", rest)
        longest_ms = max(int(told[1]), int(ended[1]) if ended else 0)
        if (ended is None and GRIPPED not in told[0]) or longest_ms > HELD_S * 1000 * slower:
            found.append(told[0])
    return found


def own_environment(home: Path) -> dict[str, str]:
    """What a login shell of somebody with that home has, and nothing of the caller's."""
    return {
        "PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",  # an interpreter that crashes says where
        "XDG_DATA_HOME": str(home / "share"), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }


def with_open_files(most: int) -> list[str]:
    """The words before a command that let it have at most that many files open."""
    return ["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh"]


TRUNKLINE = (sys.executable, "-P", "-m", "trunkline")


def run_command(*words: str, env: Mapping[str, str], cwd: Path, input: str = "", timeout_s: float = 60.0
                ) -> subprocess.CompletedProcess[str]:
    """``trunkline …`` to its end."""
    return subprocess.run([*TRUNKLINE, *words], env=dict(env), cwd=cwd, input=input, capture_output=True, text=True,
                          timeout=timeout_s, check=False)


def types_of(packets: Iterable[Mapping[str, Any]]) -> list[str]:
    """The packets' types, in order."""
    return [packet["type"] for packet in packets]


def text_of(packets: Iterable[Mapping[str, Any]], kind: str = "agent_message_chunk") -> str:
    """What the agent said, in one piece."""
    return "".join(packet["content"]["text"] for packet in packets if packet["type"] == kind)


def end_of(packets: list[dict[str, Any]]) -> dict[str, Any]:
    """The packet that ends a turn: the last one, and the only one of its kind."""
    ends = [packet for packet in packets if packet["type"] in ("prompt_response", "error")]
    assert len(ends) == 1 and ends[0] is packets[-1], f"a turn ends once, at its end: {types_of(packets)}"
    return ends[0]
