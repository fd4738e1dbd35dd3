"""Agents that are missing, broken, dying or too curious: what the client is told, how soon, and what the agent may not reach."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.events import events_of, ways_back
from tests.tooling.hub_process import FAST_DEMO, HubProcess, Session, end_of, text_of
from tests.tooling.processes import below, eventually, is_alive

NewHub = Callable[..., HubProcess]
SOON_MS = 100
SOON_TIMES = 5
MOST_TRIES = 30
AFRESH = "The agent started afresh"


@pytest.fixture
def puppet(hub: HubProcess) -> Iterator[Session]:
    """A session with the agent that does exactly what it is told; a rule lets it write and run through the hub."""
    session = hub.new_session("trusted")
    yield session
    session.delete()


def steps(*script: list[Any]) -> str:
    """A prompt for the puppet."""
    return json.dumps(script)


def refused(hub: HubProcess, agent: str, status: int) -> Any:
    """The error that starting this agent gives; nothing is left of the session."""
    before = {view["id"] for view in hub.wire.get("/sessions?limit=200")["sessions"]}
    error = hub.wire.ask("POST", "/sessions", {"agent": agent, "cwd": str(hub.new_folder())}).expect(status)
    assert {view["id"] for view in hub.wire.get("/sessions?limit=200")["sessions"]} == before
    assert set(error) <= {"code", "message", "recoverable", "details", "agentCode"}
    return error


def test_an_agent_that_is_not_installed_is_named_by_its_command(hub: HubProcess) -> None:
    error = refused(hub, "missing", 424)
    assert error["code"] == "agent_not_installed"
    assert "no-such-agent-command" in error["message"]


def test_an_agent_that_exits_at_start_is_shown_with_its_last_words_and_its_command(hub: HubProcess) -> None:
    error = refused(hub, "exits", 502)
    assert error["code"] == "agent_start_failed"
    assert "exiting at start, as --fault exit asks" in error["message"]
    assert "trunkline.agents.demo" in error["message"]


def test_an_agent_of_another_protocol_version_is_refused_with_both_versions(hub: HubProcess) -> None:
    error = refused(hub, "other-version", 502)
    assert error["code"] == "agent_protocol_mismatch" and error["recoverable"] is False
    assert "99" in error["message"] and "1" in error["message"]


def test_an_agent_with_one_way_to_log_in_is_logged_in(hub: HubProcess) -> None:
    session = hub.new_session("logs-in")
    assert text_of(session.say("/echo in")) == "in"
    session.delete()


@pytest.mark.parametrize(("agent", "words"), [("locked", "Log in to the demo"), ("wants-login", "Run puppet-login first")])
def test_an_agent_that_wants_a_login_says_what_to_do(hub: HubProcess, agent: str, words: str) -> None:
    error = refused(hub, agent, 424)
    assert error["code"] == "agent_auth_required"
    assert words in error["message"]


def test_an_agent_that_refuses_a_session_is_quoted(hub: HubProcess) -> None:
    error = refused(hub, "refuses", 502)
    assert (error["code"], error["agentCode"]) == ("agent_error", "-32603")
    assert "No room" in error["message"]


def test_an_agent_nobody_knows_is_not_found(hub: HubProcess) -> None:
    assert refused(hub, "nobody", 404)["code"] == "not_found"


def milliseconds_to_the_error(session: Session, clock: Path, *before: list[Any], code: int = 3) -> float:
    """From the agent's last act, by its own clock, to the error packet in our hands."""
    with session.send(steps(["say", "last words"], *before, ["die", code, str(clock)])) as stream:
        error = stream.until("error")
        at = time.monotonic_ns()
        assert stream.rest() == [], "a turn ends once"
    assert error.value["details"]["code"] == "agent_exited"
    assert text_of(packet.value for packet in stream.seen).startswith("last words")
    return (at - int(clock.read_text())) / 1e6


def assert_told_soon(milliseconds: Callable[[], float]) -> None:
    """Five times, out of as few tries as it takes: on a busy machine all of them wait for a core now and then."""
    took: list[float] = []
    while sum(each < SOON_MS for each in took) < SOON_TIMES:
        assert len(took) < MOST_TRIES, took
        took.append(milliseconds())


@pytest.mark.parametrize("code", [3, 0, -9], ids=["exit code", "exit code 0", "killed"])
def test_a_death_in_the_middle_of_a_turn_is_told_at_once(puppet: Session, tmp_path: Path, code: int) -> None:
    assert_told_soon(lambda: milliseconds_to_the_error(puppet, tmp_path / "clock", code=code))


def test_a_death_is_told_at_once_though_a_child_keeps_the_pipes_open(puppet: Session, tmp_path: Path) -> None:
    assert_told_soon(lambda: milliseconds_to_the_error(puppet, tmp_path / "clock", ["child"]))


def test_a_death_is_told_with_exit_code_signal_and_last_words(puppet: Session, tmp_path: Path) -> None:
    error = end_of(puppet.say(steps(["stderr", "out of coffee"], ["die", 42, str(tmp_path / "clock")])))
    assert error["details"]["exitCode"] == 42
    assert "out of coffee" in error["details"]["stderr"] and "out of coffee" in error["message"]
    killed = end_of(puppet.say(steps(["die", -9, str(tmp_path / "clock")])))
    assert killed["details"]["signal"] == "SIGKILL"


def test_after_a_death_the_next_prompt_starts_the_agent_again(puppet: Session, tmp_path: Path) -> None:
    puppet.say(steps(["die", 1, str(tmp_path / "clock")]))
    assert puppet.view()["status"] == "error"
    assert text_of(puppet.say(steps(["say", "here again"]))) == "here again"


def test_a_death_closes_open_calls_approvals_and_questions(session: Session) -> None:
    packets = session.say("/crash")
    assert end_of(packets)["details"]["exitCode"] == 1
    calls = [packet for packet in packets if packet["type"] == "tool_call_progress"]
    assert calls[-1]["status"] == "failed"
    view = session.view()
    assert (view["status"], view["pendingApprovals"], view["turn"]) == ("error", [], None)


def test_an_agent_that_dies_between_turns_does_no_harm(puppet: Session, tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    puppet.say(steps(["end", {"stopReason": "end_turn"}], ["die", 5, str(clock)]))
    eventually(clock.exists, "the agent died")
    eventually(lambda: puppet.view()["status"] == "idle", "the session rests")
    packets = puppet.say(steps(["say", "back"]))
    assert end_of(packets)["type"] == "prompt_response" or end_of(packets)["details"]["code"] == "agent_exited"


@pytest.mark.parametrize(("agent", "how"), [("fast", "resumed"), ("puppet", "new")])
def test_how_an_agent_came_back_is_said(new_hub: NewHub, tmp_path: Path, agent: str, how: str) -> None:
    hub = new_hub()
    session = hub.new_session(agent)
    prompt = "/echo hi" if agent == "fast" else steps(["say", "hi"])
    session.say(prompt)
    hub.restart()
    session.say(prompt)
    hub.kill()
    hub.start()
    session.say(prompt)
    assert session.view()["agentStart"] == how
    events = events_of(session)
    assert ways_back(events) == [how, how]
    warned = [event for event in events if event.get("title") == AFRESH]
    assert bool(warned) is (how == "new"), "an agent that forgot everything says so"


def test_what_was_said_after_a_turn_is_whole_after_a_restart(new_hub: NewHub, tmp_path: Path) -> None:
    hub = new_hub()
    session = hub.new_session("puppet")
    over = tmp_path / "over"
    session.say(steps(["end", {"stopReason": "end_turn"}], ["await", str(over)], ["say", "late "], ["say", "words"]))
    with session.attach() as stream:
        over.touch()
        stream.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "words")
    hub.restart()
    session.say(steps(["say", "next"]))
    told = [event["content"][0]["text"] for event in events_of(session)
            if event["type"] == "message:complete" and event["role"] == "assistant"]
    assert told == ["late words", "next"]


# What reaches an agent, and what it may reach


def answers(puppet: Session, *asks: list[Any]) -> list[dict[str, Any]]:
    """What the client answers to these requests of the agent."""
    return [json.loads(line) for line in text_of(puppet.say(steps(*asks))).splitlines()]


def test_nothing_of_the_hubs_own_reaches_an_agent(new_hub: NewHub) -> None:
    env = {"TRUNKLINE_TOKEN": "a-secret-token", "TRUNKLINE_ANYTHING": "x", "SECRET_OF_MINE": "y", "LC_TIME": "C"}
    hub = new_hub(env=env)
    sent = {"TRUNKLINE_LOG_LEVEL": "debug", "SECRET_OF_THEIRS": "z", "LC_MESSAGES": "C"}
    session = hub.new_session("puppet", env=sent)
    seen = json.loads(text_of(session.say(steps(["environ"]))))
    assert not [name for name in seen if name.startswith("TRUNKLINE_")]
    assert "a-secret-token" not in json.dumps(seen)
    assert "SECRET_OF_MINE" not in seen and "SECRET_OF_THEIRS" not in seen
    assert (seen["HOME"], seen["LC_TIME"], seen["LC_MESSAGES"]) == (str(hub.home), "C", "C")


def test_variables_that_came_with_a_session_are_never_journaled(new_hub: NewHub) -> None:
    hub = new_hub()
    session = hub.new_session("puppet", env={"LC_MESSAGES": "a-value-to-look-for"})
    assert "a-value-to-look-for" in text_of(session.say(steps(["ask", "fs/read_text_file", {"path": "nothing"}], ["environ"])))
    session = hub.new_session("puppet", env={"LC_MESSAGES": "never-said-by-anybody"})
    session.say(steps(["say", "quiet"]))
    hub.stop()
    stored = b"".join(path.read_bytes() for path in hub.data.rglob("*") if path.is_file())
    assert b"a-value-to-look-for" in stored, "what the agent itself said is journaled"
    assert b"never-said-by-anybody" not in stored


@pytest.fixture
def outside(puppet: Session) -> Path:
    """A file beside the session's folder, and links that lead to it from inside."""
    secret = puppet.folder.parent / f"{puppet.folder.name}-secret.txt"
    secret.write_text("secret")
    (puppet.folder / "link.txt").symlink_to(secret)
    (puppet.folder / "up").symlink_to("..")
    (puppet.folder / "inside.txt").write_text("one\ntwo\nthree\n")
    return secret


def paths_out(puppet: Session, outside: Path) -> list[str]:
    return [
        str(outside), f"../{outside.name}", str(puppet.folder / ".." / outside.name), str(puppet.folder / "link.txt"), "link.txt",
        f"up/{outside.name}", "/etc/passwd", f"{puppet.folder}-secret.txt", f"x/../../{outside.name}",
    ]


def test_an_agent_reads_files_inside_its_folder_only(puppet: Session, outside: Path) -> None:
    for answer in answers(puppet, *(["ask", "fs/read_text_file", {"path": path}] for path in paths_out(puppet, outside))):
        assert "result" not in answer and "secret" not in json.dumps(answer.get("error", {}).get("data", ""))
        assert answer["error"]["data"]["code"] == "forbidden", answer
    inside = str(puppet.folder / "inside.txt")
    whole, part = answers(puppet, ["ask", "fs/read_text_file", {"path": inside}],
                          ["ask", "fs/read_text_file", {"path": inside, "line": 2, "limit": 1}])
    assert whole["result"]["content"] == "one\ntwo\nthree\n"
    assert part["result"]["content"] == "two\n"


def test_an_agent_writes_files_inside_its_folder_only(puppet: Session, outside: Path) -> None:
    asks = [["ask", "fs/write_text_file", {"path": path, "content": "changed"}] for path in paths_out(puppet, outside)]
    assert all("error" in answer for answer in answers(puppet, *asks))
    assert outside.read_text() == "secret"
    assert sorted(path.name for path in puppet.folder.iterdir()) == ["inside.txt", "link.txt", "up"]
    inside = puppet.folder / "new" / "file.txt"
    (made,) = answers(puppet, ["ask", "fs/write_text_file", {"path": str(inside), "content": "hello"}])
    assert made["result"] == {}
    assert inside.read_text() == "hello"


def test_a_missing_file_is_answered_as_the_protocol_says(puppet: Session) -> None:
    (answer,) = answers(puppet, ["ask", "fs/read_text_file", {"path": str(puppet.folder / "none.txt")}])
    assert answer["error"]["code"] == -32002


def test_an_agents_terminals_run_inside_its_folder_only(puppet: Session, outside: Path) -> None:
    for cwd in ("..", str(outside.parent), str(puppet.folder / "up"), "/"):
        (answer,) = answers(puppet, ["ask", "terminal/create", {"command": "pwd", "cwd": cwd}])
        assert "error" in answer, (cwd, answer)


def test_a_terminal_runs_tells_its_output_and_is_gone_after_release(puppet: Session) -> None:
    command = {"command": "/bin/sh", "args": ["-c", "echo out; echo err >&2; exit 3"]}
    (made,) = answers(puppet, ["ask", "terminal/create", command])
    handle = {"terminalId": made["result"]["terminalId"]}
    ended, output, _, gone = answers(puppet, ["ask", "terminal/wait_for_exit", handle], ["ask", "terminal/output", handle],
                                     ["ask", "terminal/release", handle], ["ask", "terminal/output", handle])
    assert ended["result"]["exitCode"] == 3
    assert sorted(output["result"]["output"].split()) == ["err", "out"]
    assert "error" in gone


def test_what_a_command_prints_is_seen_while_it_runs(new_hub: NewHub) -> None:
    hub = new_hub(agents={"trusted": FAST_DEMO})
    session = hub.new_session("trusted")
    with session.send("/terminal echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"):
        history = f"{session.path}/history?types=custom"

        def seen() -> list[dict[str, Any]]:
            return [event["data"] for event in hub.wire.get(history)["events"] if event["eventName"] == "terminal_output"]

        eventually(seen, "the first line is told")
        assert [(each["offset"], each["output"]) for each in seen()] == [(0, "one\n")]
        (session.folder / "go").touch()
        eventually(lambda: session.view()["status"] == "idle", "the command ended")
    (result,) = hub.wire.get(f"{session.path}/history?types=tool:result")["events"]
    assert result["output"].splitlines()[:2] == ["one", "two"]
    assert result["toolCallId"] == seen()[0]["toolCallId"]


def test_nothing_of_the_hubs_own_reaches_a_terminal(new_hub: NewHub) -> None:
    hub = new_hub(env={"TRUNKLINE_TOKEN": "a-secret-token"}, agents={"trusted": FAST_DEMO})
    session = hub.new_session("trusted")
    said = text_of(session.say("/terminal env; cat /proc/$PPID/environ | tr '\\0' '\\n' | grep TRUNKLINE_NOTHING"))
    assert "PATH=" in said and "TRUNKLINE" not in said


def test_an_unknown_request_of_the_agent_is_refused_by_name(puppet: Session) -> None:
    (answer,) = answers(puppet, ["ask", "vendor/unheard_of", {}])
    assert answer["error"]["code"] == -32601


# Processes


def test_what_an_agent_started_ends_with_its_session(hub: HubProcess) -> None:
    session = hub.new_session()
    pid = int(text_of(session.say("/spawn")).rsplit(" ", 1)[1])
    assert is_alive(pid)
    session.delete()
    assert not is_alive(pid)


def test_what_agents_started_ends_with_the_hub(new_hub: NewHub) -> None:
    hub = new_hub()
    pids = [int(text_of(hub.new_session().say("/spawn")).rsplit(" ", 1)[1]) for _ in range(3)]
    running = hub.new_session()
    running.post("send-message", {"content": "/slow 60"}, 202)
    assert all(is_alive(pid) for pid in pids)
    assert hub.stop() == 0
    assert not [pid for pid in pids if is_alive(pid)]
    hub.assert_nothing_left()


def test_a_terminal_that_still_runs_ends_with_its_session_and_with_its_agent(hub: HubProcess, tmp_path: Path) -> None:
    create = ["ask", "terminal/create", {"command": "/bin/sh", "args": ["-c", "sleep 600 & echo $! > half; mv half pid; wait"]}]
    for ending in (["say", "deleted"], ["die", 1, str(tmp_path / "clock")]):
        session = hub.new_session("trusted")
        session.say(steps(create, ["await", str(session.folder / "pid")], ending))
        pid = int((session.folder / "pid").read_text())
        session.delete()
        assert not is_alive(pid), ending


def test_a_terminal_of_a_cancelled_turn_ends_with_it(puppet: Session) -> None:
    create = ["ask", "terminal/create", {"command": "/bin/sh", "args": ["-c", "sleep 600 & echo $! > half; mv half pid; wait"]}]
    with puppet.send(steps(create, ["wait"])) as stream:
        eventually((puppet.folder / "pid").exists, "the command says which process it started")
        pid = int((puppet.folder / "pid").read_text())
        assert is_alive(pid)
        assert puppet.post("cancel") == {"cancelled": True}
        assert stream.rest()[-1].value["stopReason"] == "cancelled"
    eventually(lambda: not is_alive(pid), "what the hub ran for that turn is ended")


def test_the_agents_own_stop_sequence_reaches_packets(puppet: Session) -> None:
    assert end_of(puppet.say(steps(["say", "x"], ["end", {"stopReason": "stop_sequence"}])))["stopReason"] == "stop_sequence"


@pytest.mark.parametrize(("flags", "given"), [
    ((), {"filePath": "a.py", "mine": 1}), (("--packets-raw", "agent"), {"file_path": "a.py", "mine": 1})])
def test_packets_have_the_documented_inputs_or_those_that_the_agent_sent(
        some_hub: NewHub, flags: tuple[str, ...], given: dict[str, Any]) -> None:
    session = some_hub(*flags).new_session("trusted")
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read", "kind": "read", "status": "in_progress",
            "rawInput": {"file_path": "a.py", "mine": 1}}
    packets = session.say(steps(["update", call]))
    shown = [packet["rawInput"] for packet in packets if packet["type"] == "tool_call_progress"]
    assert shown and shown[-1] == given


def test_a_hub_leaves_no_zombies(some_hub: NewHub, tmp_path: Path) -> None:
    hub = some_hub()
    for _ in range(3):
        session = hub.new_session("trusted")
        session.say(steps(["child"], ["die", 1, str(tmp_path / "clock")]))
        session.say(steps(["ask", "terminal/create", {"command": "true"}]))
        session.delete()
    eventually(lambda: [process.state for process in below(hub.pid)] == ["S"], "only what starts agents is left, and waits")


def test_an_idle_agent_is_stopped_and_comes_back_with_the_next_prompt(new_hub: NewHub) -> None:
    hub = new_hub("--agent-idle-stop", "0.2")
    session = hub.new_session()
    assert text_of(session.say("/echo one")) == "one"
    eventually(lambda: len(below(hub.pid)) == 1, "the idle agent was stopped, and its keeper is gone")
    assert text_of(session.say("/echo two")) == "two"
