"""Files that are none, or are too much, or are not where they were: pipes, sockets, devices, giants, links that are swapped.

Meanwhile others are answered (``/healthz``), and SIGTERM is obeyed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.faults.conftest import Report
from tests.tooling.hub_process import HubProcess, Session, own_environment, text_of
from tests.tooling.processes import eventually, resident_bytes

NewHub = Callable[..., HubProcess]

HUNG_S = 5.0
"""Others that wait so long wait for something that hangs; a busy machine makes them wait for a second."""

SWAPPER = """
import os, shutil, sys
inside, outside = sys.argv[1:]
folder, aside = os.path.join(inside, "sub"), os.path.join(inside, "aside")
print("swapping", flush=True)
while os.getppid() == int(os.environ["WATCHED"]):
    try:
        os.rename(folder, aside)
        os.symlink(outside, folder)
        os.unlink(folder)
        os.rename(aside, folder)
    except OSError:  # somebody made the folder meanwhile: begin anew
        for path in (folder, aside):
            os.unlink(path) if os.path.islink(path) else shutil.rmtree(path, ignore_errors=True)
        os.makedirs(folder, exist_ok=True)
"""


class Others:
    """Somebody else who asks the hub how it is, all the time."""

    def __init__(self, hub: HubProcess) -> None:
        self._wire = hub.wire
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.answered = 0
        self.worst_ms = 0.0

    def __enter__(self) -> Others:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        assert self.answered > 0

    def _ask(self) -> None:
        while not self._over.wait(0.01):
            began = time.monotonic()
            self._wire.ask("GET", "/healthz").expect(200)
            self.worst_ms = max(self.worst_ms, (time.monotonic() - began) * 1000)
            self.answered += 1


def special_files(folder: Path) -> Iterator[str]:
    """What is no plain file, by its name in the folder."""
    os.mkfifo(folder / "pipe")
    (folder / "to-pipe").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "tty").symlink_to("/dev/tty")
    yield from ("pipe", "to-pipe", "socket", "folder", "loop", "zero", "tty")


def answers(packets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the puppet was answered, in order."""
    return [json.loads(line) for line in text_of(packets).splitlines()]


def test_what_is_no_plain_file_is_refused_to_an_agent_and_nobody_waits(some_hub: NewHub, report: Report) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    names = list(special_files(session.folder))
    steps = [step for name in names for step in (
        ["ask", "fs/write_text_file", {"path": str(session.folder / name), "content": "x"}],
        ["ask", "fs/read_text_file", {"path": str(session.folder / name)}])]
    with Others(hub) as others:
        told = answers(session.say(json.dumps(steps)))
    assert len(told) == len(steps)
    assert all("error" in answer for answer in told), told
    report(1, "an agent writes and reads a pipe, a socket, a device, a link to one, through its client", tried=len(steps),
           held=sum("error" in answer for answer in told), worst_ms=others.worst_ms)
    assert others.worst_ms < HUNG_S * 1000
    assert (session.folder / "pipe").is_fifo()


def test_sigterm_is_obeyed_though_an_agent_writes_a_pipe(new_hub: NewHub, report: Report) -> None:
    hub = new_hub()
    session = hub.new_session("puppet")
    os.mkfifo(session.folder / "pipe")
    steps = [["request", "fs/write_text_file", {"path": "pipe", "content": "x"}],
             ["request", "fs/read_text_file", {"path": "pipe"}], ["say", "asked"], ["wait"]]
    with session.send(json.dumps(steps)) as stream:
        stream.until("agent_message_chunk")
        began = time.monotonic()
        assert hub.stop(signal.SIGTERM) == 0
    took_ms = (time.monotonic() - began) * 1000
    report(1, "SIGTERM while an agent's write to a pipe is open", tried=1, held=int(took_ms < 2 * HUNG_S * 1000),
           worst_ms=took_ms)


def test_what_is_no_plain_file_is_shown_to_nobody_and_nobody_waits(some_hub: NewHub, report: Report) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    names = list(special_files(session.folder))
    os.mkfifo(session.folder / "package.json")
    os.mkfifo(session.folder / "README.md")
    with Others(hub) as others:
        got = [hub.wire.ask("GET", f"{session.path}/files/content?path={name}").status for name in names]
        put = [hub.wire.ask("POST", f"{session.path}/files?path={name}", b"x").status for name in names]
        assert hub.wire.ask("GET", f"{session.path}/files").status == 200
        assert hub.wire.ask("GET", f"{session.path}/files/find?q=pipe").status == 200
        assert hub.wire.ask("GET", f"{session.path}/diff").status == 200
        assert hub.new_session("trusted", session.folder).view()["status"] == "idle", "it is looked at when a session begins"
    statuses = [*got, *put]
    report(1, "a pipe, a socket, a device is looked at, and uploaded over", tried=len(statuses),
           held=sum(400 <= status < 500 for status in statuses), worst_ms=others.worst_ms)
    assert others.worst_ms < HUNG_S * 1000


@pytest.mark.slow  # git itself waits for the pipe, until its time is up
def test_a_pipe_inside_of_git_holds_up_one_diff_and_nobody_else(some_hub: NewHub, report: Report) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    subprocess.run(["git", "init", "-q"], cwd=session.folder, env=own_environment(session.folder), check=True)
    for name in ("HEAD", "index", "config"):
        (session.folder / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(session.folder / ".git" / name)
    with Others(hub) as others:
        shown = hub.wire.ask("GET", f"{session.path}/diff", wait_s=60).expect(200)
    report(1, "git waits for a pipe in its folder", tried=1, held=int(not shown["diff"]), worst_ms=others.worst_ms)
    assert others.worst_ms < HUNG_S * 1000


def made_in_a_turn(session: Session, make: Callable[[], None]) -> list[dict[str, Any]]:
    """A turn in which these files appear; returns its packets."""
    go = session.folder.parent / f"{session.folder.name}.go"
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "make", "kind": "edit", "status": "in_progress"}
    steps = [["update", call], ["await", str(go)], ["update", {**call, "sessionUpdate": "tool_call_update",
                                                               "status": "completed"}]]
    with session.send(json.dumps(steps), wait_s=180) as stream:
        stream.until("tool_call_start")
        make()
        go.touch()
        return [packet.value for packet in stream]


def names_of(packets: list[dict[str, Any]]) -> set[str]:
    return {packet["artifact"]["name"] for packet in packets if packet["type"] == "artifact_created"}


def test_giants_among_the_results_cost_no_memory_and_no_other_result(new_hub: NewHub, report: Report) -> None:
    hub = new_hub()
    session = hub.new_session("trusted")

    def make() -> None:
        for name in ("giant", "deep", "pipe", "link", "good"):
            (session.folder / name).mkdir()
        with open(session.folder / "giant" / "package.json", "wb") as file:
            file.truncate(1 << 30)
        (session.folder / "deep" / "package.json").write_text("[" * 100_000)
        os.mkfifo(session.folder / "pipe" / "package.json")
        (session.folder / "link" / "package.json").symlink_to("/dev/zero")
        (session.folder / "good" / "package.json").write_text('{"dependencies": {"next": "15"}}')
        with open(session.folder / "giant.bin", "wb") as file:
            file.truncate(1 << 40)
        (session.folder / "made.txt").write_text("made")

    before = resident_bytes(hub.pid)
    with Others(hub) as others:
        found = names_of(made_in_a_turn(session, make))
    grown = resident_bytes(hub.pid) - before
    held = [{"made.txt", "giant.bin", "good"} <= found, grown < 64 << 20]
    report(2, "a manifest of 1 GB, one nested 100,000 deep, one that is a pipe, a file of 1 TB", tried=2, held=sum(held),
           worst_ms=others.worst_ms)
    assert others.worst_ms < HUNG_S * 1000


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_tree_that_is_too_large_ends_the_turn_all_the_same(new_hub: NewHub, report: Report, count: int) -> None:
    hub = new_hub()
    session = hub.new_session("trusted")

    def make() -> None:
        (session.folder / "made.txt").write_text("made")
        many = session.folder / "many"
        many.mkdir()
        for number in range(count):
            os.close(os.open(many / str(number), os.O_CREAT | os.O_WRONLY, 0o600))
        deep = os.open(session.folder, os.O_RDONLY)
        for _ in range(300):  # no deeper than what the tests clean up after them can go
            os.mkdir("d", dir_fd=deep)
            deeper = os.open("d", os.O_RDONLY, dir_fd=deep)
            os.close(deep)
            deep = deeper
        os.symlink("..", "up", dir_fd=deep)
        os.mkdir(b"\xff\xfe", dir_fd=deep)
        os.close(deep)

    before = resident_bytes(hub.pid)
    with Others(hub) as others:
        packets = made_in_a_turn(session, make)
        assert hub.wire.ask("GET", f"{session.path}/files/find?q=made.txt", wait_s=60).expect(200)["files"]
        assert hub.wire.ask("GET", f"{session.path}/files").status == 200
    grown = resident_bytes(hub.pid) - before
    report(2, f"{count:,} new files, and folders within folders", tried=2, worst_ms=others.worst_ms,
           held=(packets[-1]["type"] == "prompt_response") + (grown < 128 << 20))
    assert others.worst_ms < HUNG_S * 1000


@contextmanager
def swapped(inside: Path, outside: Path, script: Path) -> Iterator[None]:
    """A folder that is swapped for a link, and back, as fast as a program can; it ends with this test at the latest."""
    (inside / "sub").mkdir()
    script.write_text(SWAPPER)
    swapper = subprocess.Popen([sys.executable, str(script), str(inside), str(outside)], stdout=subprocess.PIPE,
                               env={"WATCHED": str(os.getpid())})
    try:
        assert swapper.stdout is not None and swapper.stdout.readline() == b"swapping\n"
        yield
        assert swapper.poll() is None, "it swapped to the end"
    finally:
        swapper.kill()
        swapper.communicate()


@pytest.mark.parametrize("tries", [300, pytest.param(2_000, marks=pytest.mark.slow)])
def test_nothing_lands_outside_while_a_folder_is_swapped_for_a_link(some_hub: NewHub, report: Report, tmp_path: Path,
                                                                    tries: int) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    outside = tmp_path / "outside"
    outside.mkdir()
    statuses: list[int] = []
    with swapped(session.folder, outside, tmp_path / "swapper.py"):
        # At least so many, and until the swapper was in the way: on a busy machine it may wait for its turn.
        while (number := len(statuses)) < tries or (set(statuses) == {201} and number < 10 * tries):
            path = f"sub/{number}.txt" if number % 2 else f"sub/new{number}/x.txt"
            statuses.append(hub.wire.ask("POST", f"{session.path}/files?path={quote(path)}", b"landed").status)
    landed = list(outside.rglob("*"))
    report(4, "uploads while a folder is swapped for a link", tried=len(statuses), held=len(statuses) - len(landed))
    assert 201 in statuses and len(set(statuses)) > 1, "some came through, and the swapper was in the way of others"
    assert set(statuses) <= {201, 400, 403, 404}


def test_an_agent_is_served_nothing_of_another_session(some_hub: NewHub, report: Report) -> None:
    hub = some_hub()
    theirs = hub.new_session("trusted")
    (made,) = answers(theirs.say(json.dumps([["ask", "terminal/create", {"command": "sleep", "args": ["60"]}]])))
    terminal = {"terminalId": made["result"]["terminalId"]}
    session = hub.new_session("trusted")
    (session.folder / "a.txt").write_text("ours")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("fs/read_text_file", {"path": "a.txt"}), ("fs/write_text_file", {"path": "a.txt", "content": "x"}),
        ("terminal/create", {"command": "true"}), ("terminal/output", terminal), ("terminal/wait_for_exit", terminal),
        ("terminal/kill", terminal), ("terminal/release", terminal)]
    foreign = answers(session.say(json.dumps([["ask", method, {**params, "sessionId": "other"}] for method, params in calls])))
    assert all(answer["error"]["code"] == -32602 and "'other'" in answer["error"]["message"] for answer in foreign), foreign
    unknown = answers(session.say(json.dumps([["ask", method, params] for method, params in calls[3:]])))
    assert all(answer["error"]["code"] == -32002 for answer in unknown), unknown
    assert (session.folder / "a.txt").read_text() == "ours"
    events = hub.wire.get(f"{session.path}/history")["events"]
    noted = [event["data"]["method"] for event in events if event.get("eventName") == "foreign_call"]
    assert noted == [method for method, _ in calls]
    report(4, "files and terminals asked for in another session's name, and by another session's terminal",
           tried=len(foreign) + len(unknown), held=len(foreign) + len(unknown))
    theirs.delete()
    eventually(lambda: not [each for each in hub.left() if "sleep" in each.command], "the terminal ended with its session")
