"""Rule 2: everything that grows has a bound, and the bound answers. On a real hub, with an agent that says a great deal.

Others wait: the worst answer of ``/healthz``, asked by a process of its own, less the time that the machine had no core for it.
Memory: the hub's high-water mark (``VmHWM``), reset before."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Report
from tests.session.driver.stream_json.stage import fake_program
from tests.tooling.drain import FACES, following
from tests.tooling.fake_claude import LONG
from tests.tooling.hub_process import PYTHON, HubProcess, Session, text_of
from tests.tooling.prober import Prober
from tests.tooling.processes import eventually, inside, resident_bytes
from trunkline.journal.stores.sqlite.read_only import open_read_only
from trunkline.session.interpret.asks.waiting import PENDING_PERMISSIONS
from trunkline.session.interpret.calls.followed import OPEN_CALLS

FLOODER = f"{PYTHON} {shlex.quote(str(Path(__file__).parents[1] / 'tooling' / 'flooder.py'))}"
MIB = 1 << 20
WAIT_MS = 100
"""What others may wait."""
BUSY = 4
"""How much longer on a machine that others use: caches are cold, and not all of the waiting is told apart."""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory and waiting are read from /proc")

NewHub = Callable[..., HubProcess]


def flooded(new_hub: NewHub, agent: str = "flood") -> Session:
    hub = new_hub(agents={"flood": FLOODER, "trusted": FLOODER})
    session = hub.new_session(agent)
    session.say("calls 1 end")  # everything that is loaded when it is first needed is loaded now
    return session


def high_water(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def written(pid: int) -> int:
    return int(inside(pid, "io").read_text().split("wchar:")[1].split()[0])


def play(session: Session, prompt: str, within_s: float = 60) -> tuple[int, Prober]:
    """The memory that a prompt took at its worst, and what others waited meanwhile."""
    hub = session.hub
    inside(hub.pid, "clear_refs").write_text("5")
    before = high_water(hub.pid)
    with Prober(hub.pid, hub.url) as prober:
        session.post("send-message", {"content": prompt}, 202)
        eventually(lambda: session.view()["status"] == "idle", f"{prompt} is over", within_s)
    return high_water(hub.pid) - before, prober


def flood_of_calls(new_hub: NewHub, report: Report, count: int) -> None:
    session = flooded(new_hub)
    before = written(session.hub.pid)
    _, prober = play(session, f"calls {count}", within_s=120)
    packets = [data for _, data in session.history()]
    starts = sum(b'"tool_call_start"' in data for data in packets)
    wrote = written(session.hub.pid) - before
    assert starts == 1 + OPEN_CALLS, "so many are followed"
    assert wrote < 20_000 * count, f"{wrote / 1e6:.0f} MB were written"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"{count:,} open tool calls in one turn", tried=count, held=count, worst_ms=prober.worst_ms)


def test_tool_calls_beyond_the_bound_cost_what_they_say(new_hub: NewHub, report: Report) -> None:
    flood_of_calls(new_hub, report, 3_000)


@pytest.mark.slow
def test_a_hundred_thousand_tool_calls_cost_what_they_say(new_hub: NewHub, report: Report) -> None:
    flood_of_calls(new_hub, report, 115_000)


def flood_of_permissions(new_hub: NewHub, report: Report, count: int) -> None:
    session = flooded(new_hub)
    hub = session.hub
    with Prober(hub.pid, hub.url) as prober:
        session.post("send-message", {"content": f"asks {count}"}, 202)
        with session.attach() as stream:
            refused = stream.until("agent_message_chunk", where=lambda packet: "refused" in packet["content"]["text"])
        assert len(session.view()["pendingApprovals"]) == PENDING_PERMISSIONS
        assert refused.value["content"]["text"] == f'{{"refused": {count - PENDING_PERMISSIONS}}}'
        waits = [view for view in hub.wire.get("/sessions")["sessions"] if view["status"] == "waiting_for_approval"]
        assert [view["id"] for view in waits] == [session.id], "lists say how it is now"
        session.post("cancel", {}, 200)
        eventually(lambda: session.view()["status"] == "idle", "the turn is over", 60)
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"{count:,} permissions at once", tried=count, held=count, worst_ms=prober.worst_ms)


def test_permissions_beyond_the_bound_are_refused(new_hub: NewHub, report: Report) -> None:
    flood_of_permissions(new_hub, report, 600)


@pytest.mark.slow
def test_ten_thousand_permissions_are_refused_or_wait(new_hub: NewHub, report: Report) -> None:
    flood_of_permissions(new_hub, report, 10_000)


LONG_LINES = ["chunk", "content", "output", "escaped", "wide"]


def long_line(new_hub: NewHub, report: Report, kind: str, mib: int) -> None:
    session = flooded(new_hub, "trusted")
    session.hub.may_hold = kind == "escaped"  # one look at 60 MiB of escapes takes 45 ms, which nothing can cut
    grew, prober = play(session, f"{kind} {mib}")
    assert grew <= 3 * mib * MIB, f"{grew / MIB:.0f} MiB for a line of {mib}"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"a line of {mib} MiB: {kind}", tried=1, held=1, worst_ms=prober.worst_ms)


@pytest.mark.parametrize("kind", ["content", pytest.param("chunk", marks=pytest.mark.slow)])
def test_a_long_line_takes_little_more_than_itself(new_hub: NewHub, report: Report, kind: str) -> None:
    long_line(new_hub, report, kind, 32)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*LONG_LINES, "broken", "write"])
def test_the_longest_line_takes_three_times_itself(new_hub: NewHub, report: Report, kind: str) -> None:
    long_line(new_hub, report, kind, 60)


@pytest.mark.slow
def test_the_longest_line_of_nested_arrays_takes_three_times_itself(new_hub: NewHub, report: Report) -> None:
    """One look at 60 MiB of brackets would take the JSON reader 150 ms, which nothing can cut: such a line is not read."""
    long_line(new_hub, report, "nested", 60)


def long_line_with_a_reader(new_hub: NewHub, report: Report, face: str, kind: str, mib: int) -> None:
    session = flooded(new_hub, "trusted")
    with following(face, session) as drain:
        grew, prober = play(session, f"{kind} {mib}")
        eventually(lambda: drain.size > (mib * MIB if kind == "chunk" else 1000), "it was told", 60)
    assert grew <= 3 * mib * MIB, f"{grew / MIB:.0f} MiB for a line of {mib}, {prober.worst_ms:.0f} ms"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"a line of {mib} MiB, {kind}, read on {face}", tried=1, held=1, worst_ms=prober.worst_ms)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chunk", "content"])
@pytest.mark.parametrize("face", FACES)
def test_a_long_line_takes_no_more_when_somebody_reads_it(new_hub: NewHub, report: Report, face: str, kind: str) -> None:
    long_line_with_a_reader(new_hub, report, face, kind, 60)


def read_file(new_hub: NewHub, report: Report, mib: int) -> None:
    session = flooded(new_hub, "trusted")
    path = Path(session.view()["cwd"]) / "long.txt"
    with path.open("wb") as file:
        for number in range(mib):
            file.write(b"line %07d of a long text, as agents read them.\n" % number * (MIB // 50))
    grew, prober = play(session, "read long.txt")
    said = "".join(json.loads(data)["content"]["text"] for _, data in session.history() if b'"chars\\"' in data)
    assert json.loads(said) == {"chars": path.stat().st_size}
    assert grew <= 3 * mib * MIB, f"{grew / MIB:.0f} MiB for a file of {mib}"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"an agent reads a file of {mib} MiB", tried=1, held=1, worst_ms=prober.worst_ms)


def test_a_long_file_that_is_read_takes_little_more_than_itself(new_hub: NewHub, report: Report) -> None:
    read_file(new_hub, report, 24)


@pytest.mark.slow
def test_the_longest_file_that_is_read_takes_three_times_itself(new_hub: NewHub, report: Report) -> None:
    read_file(new_hub, report, 60)


def write_file(new_hub: NewHub, report: Report, mib: int) -> None:
    session = flooded(new_hub, "trusted")
    grew, prober = play(session, f"smile {mib}")
    piece = "abc\U0001f600z".encode()
    assert (Path(session.view()["cwd"]) / "flood.txt").read_bytes() == piece * (mib * MIB // len(piece) - 64)
    assert grew <= 3 * mib * MIB, f"{grew / MIB:.0f} MiB for a text of {mib}"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"an agent writes a file of {mib} MiB", tried=1, held=1, worst_ms=prober.worst_ms)


def test_a_long_file_that_is_written_takes_little_more_than_itself(new_hub: NewHub, report: Report) -> None:
    write_file(new_hub, report, 24)


@pytest.mark.slow
def test_the_longest_file_that_is_written_takes_three_times_itself(new_hub: NewHub, report: Report) -> None:
    write_file(new_hub, report, 60)


def reads_no_more(pid: int) -> Callable[[], bool]:
    """Says whether a process has read no file of 4 MiB for some looks; a hub that serves 200 of them reads one at each."""
    looks = deque([0], maxlen=10)

    def is_quiet() -> bool:
        counted = inside(pid, "io").read_text().split()
        looks.append(int(counted[counted.index("rchar:") + 1]))
        return len(looks) == 10 and looks[-1] - looks[0] < MIB

    return is_quiet


def test_files_that_an_agent_asks_for_and_does_not_read_wait_on_disk(new_hub: NewHub, report: Report) -> None:
    session = flooded(new_hub, "trusted")
    (Path(session.view()["cwd"]) / "long.txt").write_bytes(b"lorem ip" * (4 * MIB // 8))
    inside(session.hub.pid, "clear_refs").write_text("5")
    before = high_water(session.hub.pid)
    with Prober(session.hub.pid, session.hub.url) as prober:
        session.post("send-message", {"content": "deaf fs/read_text_file 200 long.txt"}, 202)
        eventually(lambda: high_water(session.hub.pid) - before > 8 * MIB, "some are read")
        eventually(reads_no_more(session.hub.pid), "the others wait")
    grew = high_water(session.hub.pid) - before
    assert grew < 100 * MIB, f"{grew / MIB:.0f} MiB wait"
    report(2, "200 files of 4 MiB for an agent that does not read", tried=1, held=1, worst_ms=prober.worst_ms)


@pytest.mark.slow
def test_an_agent_that_never_reads_is_ended_when_too_much_waits(new_hub: NewHub, report: Report) -> None:
    session = flooded(new_hub, "trusted")
    with Prober(session.hub.pid, session.hub.url) as prober:
        session.post("send-message", {"content": f"deaf no/{'o' * 200} 600000 x"}, 202)
        eventually(lambda: session.view()["status"] != "running", "the agent is ended", 120)
    said = b"".join(data for _, data in session.history())
    assert b"does not read its input" in said
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, "600,000 answers that an agent does not read", tried=1, held=1, worst_ms=prober.worst_ms)


def claude(new_hub: NewHub, folder: Path) -> Session:
    program = fake_program(folder, folder / "log.jsonl", {})
    hub = new_hub(env={"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"})
    session = hub.new_session("claude-code")
    session.say('[["say", "hello"]]')
    return session


def long_line_of_claude(new_hub: NewHub, folder: Path, report: Report, kind: str, mib: int) -> None:
    session = claude(new_hub, folder)
    session.hub.may_hold = kind == "escaped"  # as above
    grew, prober = play(session, json.dumps([["long", kind, mib]]))
    assert grew <= 3 * mib * MIB, f"{grew / MIB:.0f} MiB for a line of {mib}"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"a line of {mib} MiB from the Claude CLI: {kind}", tried=1, held=1, worst_ms=prober.worst_ms)


def test_a_long_line_of_the_claude_cli_takes_little_more_than_itself(new_hub: NewHub, report: Report, tmp_path: Path) -> None:
    long_line_of_claude(new_hub, tmp_path, report, "output", 32)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(LONG))
def test_the_longest_line_of_the_claude_cli_takes_three_times_itself(
        new_hub: NewHub, report: Report, tmp_path: Path, kind: str) -> None:
    long_line_of_claude(new_hub, tmp_path, report, kind, 60)


@pytest.mark.parametrize("kind", ["text", pytest.param("delta", marks=pytest.mark.slow)])
def test_a_long_text_of_the_claude_cli_comes_whole_and_in_order(new_hub: NewHub, tmp_path: Path, kind: str) -> None:
    packets = claude(new_hub, tmp_path).say(json.dumps([["long", kind, 12]]), wait_s=60)
    text = "".join(packet["content"]["text"] for packet in packets if packet["type"] == "agent_message_chunk")
    assert text == "lorem ip" * (12 * MIB // 8 - 64)


def test_the_claude_cli_is_refused_what_is_too_long_to_be_looked_at(new_hub: NewHub, tmp_path: Path) -> None:
    packets = claude(new_hub, tmp_path).say(json.dumps([["long", "ask", 12]]), wait_s=60)
    text = "".join(packet["content"]["text"] for packet in packets if packet["type"] == "agent_message_chunk")
    assert json.loads(text)["behavior"] == "deny"
    assert not [packet for packet in packets if packet["type"] == "approval_requested"]


def test_a_long_text_comes_whole_and_in_order(new_hub: NewHub) -> None:
    session = flooded(new_hub)
    packets = session.say("chunk 12", wait_s=60)
    text = "".join(packet["content"]["text"] for packet in packets if packet["type"] == "agent_message_chunk")
    assert text == "lorem ip" * (12 * MIB // 8 - 64)
    assert max(len(packet["content"]["text"]) for packet in packets if packet["type"] == "agent_message_chunk") <= 256 << 10


def test_a_kill_between_two_rows_loses_nothing_that_waits(tmp_path: Path) -> None:
    """The row is seldom written: what is pending, queued and open right before the kill is in the entries' steps."""
    with HubProcess(tmp_path, agents={"flood": FLOODER}) as hub:
        session = hub.new_session("flood")
        with session.send("asks 20") as stream:
            asked = [stream.until("approval_requested").value["requestId"] for _ in range(20)]
            queued = session.post("send-message", {"content": "calls 1", "whenBusy": "queue"}, 202)["turnId"]
            hub.kill()
        behind = _steps_behind(hub.data / "journal.db", session.id)
        hub.start()
        assert behind > 0, "what came last was in no row"
        packets = _packets(session)
        resolved = [packet["requestId"] for packet in packets if packet["type"] == "approval_resolved"]
        assert sorted(resolved) == sorted(asked), "each is resolved once"
        ends = [packet for packet in packets if packet["type"] == "tool_call_progress" and packet.get("status") == "failed"]
        assert len(ends) == 20, "each call has its end"
        assert [prompt["turnId"] for prompt in session.wire.get(f"{session.path}/queue")] == [queued]
        assert session.view()["status"] in ("idle", "error")


def padded(new_hub: NewHub, report: Report, kind: str, count: int, mib: int, most_mib: int,
           memory: Callable[[int], int] = resident_bytes) -> None:
    """Requests with a long member that wait, or are refused: what the hub keeps of them all, and what others waited."""
    session = flooded(new_hub)
    hub = session.hub
    inside(hub.pid, "clear_refs").write_text("5")
    before = memory(hub.pid)
    with Prober(hub.pid, hub.url) as prober:
        session.post("send-message", {"content": f"padded {kind} {count} {mib}"}, 202)
        with session.attach() as stream:
            stream.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "sent")
        grew = memory(hub.pid) - before
        session.post("cancel", {}, 200)
        eventually(lambda: session.view()["status"] == "idle", "the turn is over", 60)
    assert grew < most_mib * MIB, f"{grew / MIB:.0f} MiB are held"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"{count} requests with {mib} MiB of {kind}", tried=count, held=count, worst_ms=prober.worst_ms)


@pytest.mark.parametrize(("kind", "most_mib"), [
    pytest.param("meta", 60, marks=pytest.mark.slow), pytest.param("id", 60, marks=pytest.mark.slow), ("content", 120)])
def test_what_waits_does_not_hold_the_line_that_it_came_in(new_hub: NewHub, report: Report, kind: str, most_mib: int) -> None:
    padded(new_hub, report, kind, 12, 15, most_mib)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most_mib"), [("meta", 70), ("id", 70), ("content", 130)])
def test_much_that_waits_does_not_hold_the_lines_that_it_came_in(
        new_hub: NewHub, report: Report, kind: str, most_mib: int) -> None:
    padded(new_hub, report, kind, 40, 15, most_mib)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["name", "question", "path", "read", "env", "note"])
def test_one_request_takes_three_times_itself_at_most(new_hub: NewHub, report: Report, kind: str) -> None:
    padded(new_hub, report, kind, 1, 60, 180, high_water)


def much_output(new_hub: NewHub, report: Report, mib: int) -> None:
    """A command that prints so much: its agent waits for its end, and asks for what is kept of it."""
    hub = new_hub()
    session = hub.new_session("trusted")
    session.say(json.dumps([["ask", "terminal/create", {"command": "true"}]]))  # what is loaded then is loaded now
    inside(hub.pid, "clear_refs").write_text("5")
    before = high_water(hub.pid)
    line = f"head -c {mib * MIB} /dev/zero | tr '\\0' x"
    with Prober(hub.pid, hub.url) as prober:
        create = ["ask", "terminal/create", {"command": "/bin/sh", "args": ["-c", line], "outputByteLimit": 1000}]
        said = session.say(json.dumps([create]), wait_s=120)
        terminal = json.loads(text_of(said))["result"]["terminalId"]
        asks = [["ask", f"terminal/{what}", {"terminalId": terminal}] for what in ("wait_for_exit", "output")]
        told = text_of(session.say(json.dumps(asks), wait_s=240))
    grew = high_water(hub.pid) - before
    assert '"exitCode":0' in told.replace(" ", "") and told.count("x" * 1000) == 1
    assert grew < 40 * MIB, f"{grew / MIB:.0f} MiB for an output of {mib} MiB"
    assert prober.worst_ms < WAIT_MS * BUSY
    report(2, f"a command prints {mib:,} MiB", tried=1, held=1, worst_ms=prober.worst_ms)


def test_a_command_that_prints_much_takes_no_memory(new_hub: NewHub, report: Report) -> None:
    much_output(new_hub, report, 64)


@pytest.mark.slow
def test_a_command_that_prints_a_gigabyte_takes_no_memory(new_hub: NewHub, report: Report) -> None:
    much_output(new_hub, report, 1024)


def commit_all(folder: Path) -> None:
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(["git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false", *words],
                       cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("line", [
    pytest.param(b"%d\n", id="short lines"),
    pytest.param(b"a line of some words, version %d\n", id="plain lines", marks=pytest.mark.slow)])
def test_diffs_that_are_asked_for_at_once_are_made_one_by_one(new_hub: NewHub, report: Report, line: bytes) -> None:
    hub = new_hub()
    session = hub.new_session()
    files = [session.folder / f"{number}.txt" for number in range(8)]
    for version in (1, 2):
        for file in files:
            file.write_bytes(line % version * ((MIB - 100) // len(line % version)))
        if version == 1:
            commit_all(session.folder)
    session.wire.get(f"{session.path}/diff?entry=1")  # what is loaded when it is first needed is loaded now
    inside(hub.pid, "clear_refs").write_text("5")
    before = high_water(hub.pid)
    with Prober(hub.pid, hub.url) as prober, ThreadPoolExecutor(4) as askers:
        asked = [askers.submit(session.wire.ask, "GET", f"{session.path}/diff", wait_s=60) for _ in range(4)]
        answers = [each.result().expect(200) for each in asked]
    grew = high_water(hub.pid) - before
    assert grew < 120 * MIB, f"{grew / MIB:.0f} MiB for {len(answers)} diffs"
    assert prober.worst_ms < WAIT_MS * BUSY
    whole = sum(len(answer["files"]) == len(files) for answer in answers)
    report(2, f"4 diffs of 8 MiB at once, in lines of {len(line % 1)} bytes", tried=4, held=whole, worst_ms=prober.worst_ms)


def _packets(session: Session) -> list[dict[str, Any]]:
    return [json.loads(data) for _, data in session.history()]


def _steps_behind(database: Path, session_id: str) -> int:
    """How many entries were stored after the row's checkpoint."""
    with open_read_only(database) as file:
        row = file.row(session_id)
        assert row is not None
        return sum(1 for session, entry in file.entries() if session == session_id and entry.seq > row.checkpoint_seq)

