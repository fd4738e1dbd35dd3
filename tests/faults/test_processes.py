"""Rule 5: what the hub started, it ends; and what an agent may take of the machine (rule 8).

Programs that escape do nothing but sleep, and end by themselves after three minutes: later than a test that waits for their end
gives up.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Report
from tests.session.driver.stream_json.stage import fake_program
from tests.tooling.escapes import WAYS
from tests.tooling.hub_process import PYTHON, HubProcess, Session, end_of, text_of
from tests.tooling.ordinary import ordinary
from tests.tooling.pace import crowding
from tests.tooling.processes import (
    below,
    children_of,
    eventually,
    inside,
    is_alive,
    processes_named,
    processes_with,
    resident_bytes,
)
from trunkline.agents.process import KILL_S

NewHub = Callable[..., HubProcess]
ESCAPER = f"{PYTHON} {Path(__file__).parents[1] / 'tooling' / 'escaper.py'}"
GONE_S = 40.0
"""The longest an agent's family lives after its hub was killed: 3 s for the agent, 1 s for the rest, and a busy machine."""


@pytest.fixture
def hub(some_hub: NewHub) -> HubProcess:
    """A hub with the agent that escapes, and short graces; a test that ends it leaves the next a new one."""
    return some_hub("--cancel-grace", "0.5", "--silence-grace", "0.5", agents={"escaper": ESCAPER})


@pytest.fixture
def token() -> Iterator[str]:
    """What escaping programs have among their arguments; whoever a failed test left is ended by its pid."""
    token = f"escaped-{secrets.token_hex(8)}"
    yield token
    for process in processes_named(token):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def agent_of(session: Session) -> int:
    """The agent's process."""
    record = json.loads((session.hub.data / "agents" / f"{session.id}.json").read_text())
    return int(record["pid"])


def prompt(*steps: list[Any]) -> str:
    return json.dumps(steps)


def grandparent_of(session: Session) -> int:
    """The process above the agent's parent."""
    return parent_of(parent_of(agent_of(session)))


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def let_escape(session: Session, token: str) -> None:
    """Let one program of each way escape, and see that it did."""
    session.say(prompt(*(["escape", way, token] for way in WAYS)))
    eventually(lambda: len(processes_named(token)) >= len(WAYS), "all have escaped")


def ends(hub: HubProcess, session: Session) -> dict[str, Callable[[], Any]]:
    return {
        "delete": session.delete,
        "agent's death": lambda: os.kill(agent_of(session), signal.SIGKILL),
        "hub killed": hub.kill,
        "hub stopped": hub.stop,
    }


@pytest.mark.parametrize("end", ["delete", "agent's death", "hub killed", "hub stopped"])
def test_whoever_leaves_its_session_and_its_environment_ends_with_its_agent(hub: HubProcess, report: Report, end: str, token: str
                                                                           ) -> None:
    session = hub.new_session("escaper")
    let_escape(session, token)
    ours = {process.pid for process in below(hub.pid)}
    began = time.monotonic()
    ends(hub, session)[end]()
    eventually(lambda: not processes_named(token), f"nobody is left after {end}", GONE_S)
    took_ms = (time.monotonic() - began) * 1000
    if end.startswith("hub"):
        eventually(lambda: not any(is_alive(pid) for pid in ours), "not even what kept them", GONE_S)
    else:
        eventually(lambda: not zombies(hub), "no zombie is left")
    report(5, f"five ways of escaping, then {end}", tried=len(WAYS), held=len(WAYS), worst_ms=took_ms)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bwrap here")
@pytest.mark.parametrize("end", ["delete", "hub killed"])
def test_whoever_escapes_in_a_sandbox_ends_with_it(hub: HubProcess, report: Report, end: str, token: str) -> None:
    """There the family has numbers of its own, and its orphans go to the sandbox's first process."""
    session = hub.new_session("escaper", sandbox="bwrap")
    let_escape(session, token)
    began = time.monotonic()
    ends(hub, session)[end]()
    eventually(lambda: not processes_named(token), f"nobody is left after {end}", GONE_S)
    took_ms = (time.monotonic() - began) * 1000
    report(5, f"five ways of escaping in a sandbox, then {end}", tried=len(WAYS), held=len(WAYS), worst_ms=took_ms)


def zombies(hub: HubProcess) -> list[Any]:
    return [process for process in below(hub.pid) if process.state == "Z"]


def test_an_agent_that_kills_its_keeper_is_ended_with_all_it_started(hub: HubProcess, report: Report, token: str) -> None:
    session = hub.new_session("escaper")
    let_escape(session, token)
    end = end_of(session.say(prompt(["kill", "parent"], ["wait"])))
    assert end["details"]["code"] == "agent_exited"
    eventually(lambda: not processes_named(token), "nobody is left", GONE_S)
    assert text_of(session.say(prompt(["say", "back"]))) == "back"
    report(5, "the agent kills its keeper", tried=1, held=1)


def test_an_agent_that_kills_the_nursery_hurts_nobody(hub: HubProcess, report: Report, token: str) -> None:
    session, other = hub.new_session("escaper"), hub.new_session("escaper")
    let_escape(other, token)
    assert parent_of(grandparent_of(session)) == hub.pid, "else it would kill somebody else"
    assert text_of(session.say(prompt(["kill", "grandparent"], ["say", "done"]))) == "done"
    assert text_of(other.say(prompt(["say", "still here"]))) == "still here"
    assert text_of(hub.new_session("escaper").say(prompt(["say", "new"]))) == "new"
    other.delete()
    assert not processes_named(token)
    eventually(lambda: not [child for child in children_of(hub.pid) if child.state == "Z"], "the nursery is no zombie")
    report(5, "the agent kills the nursery", tried=3, held=3)


@pytest.mark.slow
def test_an_agent_that_stops_its_keeper_is_ended_all_the_same(hub: HubProcess, report: Report, token: str) -> None:
    session = hub.new_session("escaper")
    let_escape(session, token)
    session.say(prompt(["stop", "parent"]))
    began = time.monotonic()
    session.delete()
    eventually(lambda: not processes_named(token), "nobody is left", GONE_S)
    took_s = time.monotonic() - began
    assert took_s < KILL_S * crowding(), "the keeper is woken: nobody waits until it counts as hanging"
    report(5, "the agent stops its keeper", tried=1, held=1, worst_ms=took_s * 1000)


def stopped(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
        eventually(lambda pid=pid: state_of(pid) == "T", "it is stopped")  # type: ignore[misc]


@pytest.mark.slow
def test_a_stopped_nursery_is_replaced_and_goes_with_its_hub(hub: HubProcess, report: Report, token: str) -> None:
    session, other = hub.new_session("escaper"), hub.new_session("trusted")
    let_escape(session, token)
    nursery = grandparent_of(session)
    assert parent_of(nursery) == hub.pid, "else somebody else would be stopped"
    stopped(nursery)
    began = time.monotonic()
    assert text_of(hub.new_session("escaper").say(prompt(["say", "new"]))) == "new"
    took_ms = (time.monotonic() - began) * 1000
    eventually(lambda: state_of(nursery) != "T", "it goes on, for whom it has")
    assert "terminalId" in text_of(other.say(prompt(["ask", "terminal/create", {"command": "true"}])))
    stopped(nursery)
    session.delete()
    assert not processes_named(token)
    hub.stop()
    eventually(lambda: not is_alive(nursery), "it is gone with its hub", GONE_S)
    report(5, "the nursery is stopped: new sessions, terminals, delete, the hub's end", tried=4, held=4, worst_ms=took_ms)


@pytest.mark.slow
def test_with_keeper_and_nursery_stopped_delete_ends_the_family_all_the_same(hub: HubProcess, report: Report, token: str) -> None:
    session = hub.new_session("escaper")
    let_escape(session, token)
    keeper, nursery = parent_of(agent_of(session)), grandparent_of(session)
    stopped(nursery, keeper)
    began = time.monotonic()
    assert hub.wire.ask("DELETE", session.path, wait_s=40).status < 300
    eventually(lambda: not processes_named(token) and not is_alive(keeper), "nobody is left", GONE_S)
    report(5, "keeper and nursery are stopped, then delete", tried=len(WAYS), held=len(WAYS),
           worst_ms=(time.monotonic() - began) * 1000)


@pytest.mark.parametrize("who", [pytest.param("keeper", marks=pytest.mark.slow), pytest.param("nursery", marks=pytest.mark.slow),
                                 "keeper and nursery"])
def test_who_was_stopped_when_the_hub_was_killed_goes_on_and_ends_all(hub: HubProcess, report: Report, token: str, who: str
                                                                       ) -> None:
    session = hub.new_session("escaper")
    let_escape(session, token)
    keeper, nursery = parent_of(agent_of(session)), grandparent_of(session)
    stopped(*{"keeper": [keeper], "nursery": [nursery]}.get(who, [keeper, nursery]))
    began = time.monotonic()
    hub.kill()
    eventually(lambda: not processes_named(token), "nobody is left, and no other hub has started", GONE_S)
    eventually(lambda: not is_alive(keeper) and not is_alive(nursery), "nor what kept them", GONE_S)
    report(5, f"{who} stopped, the hub killed", tried=len(WAYS), held=len(WAYS), worst_ms=(time.monotonic() - began) * 1000)


@pytest.mark.parametrize("end", ["delete", "hub killed"])
def test_an_agent_that_is_traced_and_never_reaped_ends_with_who_traces_it(some_hub: NewHub, report: Report, token: str, end: str
                                                                          ) -> None:
    hub = some_hub(agents={"escaper": ESCAPER}, before=ordinary())
    session, told = hub.new_session("escaper"), hub.root / "told"
    session.say(prompt(["trace", str(told), token]))
    eventually(told.exists, "it says how that went")
    if told.read_text() != "traces":
        pytest.skip(f"this system lets nobody trace who started it: {told.read_text()}")
    ours = {process.pid for process in below(hub.pid)}
    began = time.monotonic()
    ends(hub, session)[end]()
    eventually(lambda: not processes_named(token), f"nobody is left after {end}", GONE_S)
    took_ms = (time.monotonic() - began) * 1000
    assert took_ms < (3.0 + KILL_S) * 1000 * crowding(), "its keeper ends it by itself, before it counts as hanging"
    eventually(lambda: not any(is_alive(pid) for pid in ours - ({hub_nursery(hub)} if end == "delete" else set())),
               "not even what kept it", GONE_S)
    report(5, f"an agent is traced and never reaped, then {end}", tried=1, held=1, worst_ms=took_ms)


def hub_nursery(hub: HubProcess) -> int:
    """The one child of a hub."""
    return children_of(hub.pid)[0].pid


def test_an_agent_cannot_speak_to_the_nursery_in_its_keepers_name(some_hub: NewHub, report: Report, token: str) -> None:
    hub = some_hub(agents={"escaper": ESCAPER}, before=ordinary())
    session = hub.new_session("escaper")
    let_escape(session, token)
    assert text_of(session.say(prompt(["spare", token]))).startswith("refused")
    session.say(prompt(["kill", "parent"], ["wait"]))
    eventually(lambda: not processes_named(token), "nobody is left", GONE_S)
    report(5, "the agent has the nursery spare its family, and kills its keeper", tried=len(WAYS), held=len(WAYS))


@pytest.mark.parametrize("who", [pytest.param("keeper", marks=pytest.mark.slow), "keeper and nursery"])
def test_what_a_stopped_keeper_keeps_after_its_hub_was_killed_the_next_hub_ends(hub: HubProcess, report: Report, token: str,
                                                                              who: str) -> None:
    session = hub.new_session("escaper")
    let_escape(session, token)
    keeper, nursery = parent_of(agent_of(session)), grandparent_of(session)
    stopped(*([keeper] if who == "keeper" else [keeper, nursery]))
    hub.kill()
    hub.start()
    eventually(lambda: not processes_named(token), "nobody is left", GONE_S)
    eventually(lambda: not is_alive(keeper) and not is_alive(nursery), "nor what kept them", GONE_S)
    report(5, f"{who} stopped, the hub killed: the next hub's start", tried=len(WAYS), held=len(WAYS))


def test_cancel_ends_the_commands_of_its_turn_and_no_other(some_hub: NewHub, report: Report) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    session.say(prompt(["ask", "terminal/create", {"command": "sleep", "args": ["159"]}]))
    with session.send(prompt(["ask", "terminal/create", {"command": "sleep", "args": ["158"]}], ["wait"])) as stream:
        stream.until("agent_message_chunk")
        eventually(lambda: sleeping(hub, "158"), "the command runs")
        began = time.monotonic()
        session.post("cancel")
        assert stream.rest()[-1].value["stopReason"] == "cancelled"
    eventually(lambda: not sleeping(hub, "158"), "the turn's command ended with it")
    took_ms = (time.monotonic() - began) * 1000
    assert sleeping(hub, "159"), "the command of the turn before goes on"
    session.delete()
    assert not sleeping(hub, "159")
    report(5, "a command outlives the cancel of its turn", tried=1, held=1, worst_ms=took_ms)


SLEEPS = {
    "behind a shell": {"command": "/bin/sh", "args": ["-c", "sleep 157; true"]},
    "behind a shell, in one string": {"command": "/bin/bash -lc 'sleep 157; true'"},
    "in the background of a shell that has ended": {"command": "sh", "args": ["-c", "sleep 157 & true"]},
    "in a session of its own": {"command": "sh", "args": ["-c", "setsid sleep 157 & wait"]},
    "started twice away": {"command": "sh", "args": ["-c", "setsid sh -c 'sleep 157 & sleep 157' & true"]},
}


@pytest.mark.parametrize("how", SLEEPS)
def test_cancel_ends_a_command_whatever_its_family_does(some_hub: NewHub, report: Report, how: str) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    with session.send(prompt(["ask", "terminal/create", SLEEPS[how]], ["wait"])) as stream:
        eventually(lambda: sleeping(hub, "157"), "the command runs")
        session.post("cancel")
        assert stream.rest()[-1].value["stopReason"] == "cancelled"
    eventually(lambda: not sleeping(hub, "157"), "nothing of it is left")
    report(5, f"a command outlives the cancel of its turn: {how}", tried=1, held=1)


def test_a_command_that_is_being_started_at_the_cancel_is_not_left_running(some_hub: NewHub, report: Report) -> None:
    hub, tried = some_hub(), 4
    session = hub.new_session("trusted")
    starts = [["request", "terminal/create", {"command": "sleep", "args": ["156"]}] for _ in range(8)]
    for _ in range(tried):
        with session.send(prompt(["say", "on it"], *starts, ["wait"])) as stream:
            stream.until("agent_message_chunk")  # what it asks for then is at any point of its start
            session.post("cancel")
            assert stream.rest()[-1].value["stopReason"] == "cancelled"
    assert "still here" in text_of(session.say(prompt(["say", "still here"])))
    eventually(lambda: not sleeping(hub, "156"), "none of them is left")
    report(5, "commands are being started when their turn is cancelled", tried=tried * len(starts), held=tried * len(starts))


def test_a_turn_that_its_agent_ended_as_cancelled_takes_its_commands_with_it(some_hub: NewHub, report: Report,
                                                                            tmp_path: Path) -> None:
    hub = some_hub()
    session = hub.new_session("trusted")
    create = ["ask", "terminal/create", {"command": "sleep", "args": ["155"]}]
    packets = session.say(prompt(create, ["end", {"stopReason": "cancelled"}]))
    assert packets[-1]["stopReason"] == "cancelled"
    eventually(lambda: not sleeping(hub, "155"), "it ended with its turn")
    packets = session.say(prompt(create, ["end", {"stopReason": "end_turn"}]))
    assert sleeping(hub, "155"), "of a turn that was not cancelled it goes on"
    report(5, "an agent ends its turn as cancelled by itself", tried=1, held=1)


def test_a_cancel_that_meets_the_end_of_its_turn_ends_its_commands_or_nothing_was_cancelled(some_hub: NewHub, report: Report,
                                                                                           tmp_path: Path) -> None:
    hub, tried = some_hub(), 6
    session = hub.new_session("trusted")
    create = ["ask", "terminal/create", {"command": "sleep", "args": ["154"]}]
    for number in range(tried):
        go = tmp_path / f"go-{number}"
        with session.send(prompt(create, ["await", str(go)], ["end", {"stopReason": "end_turn"}])) as stream:
            eventually(lambda: sleeping(hub, "154"), "the command runs")
            go.touch()
            was = session.post("cancel")["cancelled"]
            stream.rest()
        if was:
            eventually(lambda: not sleeping(hub, "154"), "what was cancelled has ended")
        else:
            session.delete()
            session = hub.new_session("trusted")
    report(5, "a cancel meets the end of its turn", tried=tried, held=tried)


def sleeping(hub: HubProcess, seconds: str) -> list[Any]:
    ours = {process.pid for process in processes_with(f"HOME={hub.home}")}
    return [process for process in processes_named(seconds) if process.pid in ours]


def stopped_before_its_prompt(session: Session) -> dict[str, Any]:
    os.kill(agent_of(session), signal.SIGSTOP)
    return cancelled(session, prompt(["say", "never"]))


def stopped_in_its_turn(session: Session) -> dict[str, Any]:
    return cancelled(session, prompt(["say", "on it"], ["stop", "itself"], ["await", "/nowhere"]), wait_for="agent_message_chunk")


def deaf_to_the_cancel(session: Session) -> dict[str, Any]:
    return cancelled(session, prompt(["say", "on it"], ["await", "/nowhere"]), wait_for="agent_message_chunk")


def stopped_after_the_cancel(session: Session) -> dict[str, Any]:
    after = lambda: os.kill(agent_of(session), signal.SIGSTOP)  # noqa: E731
    steps = prompt(["say", "on it"], ["await", "/nowhere"])
    return cancelled(session, steps, wait_for="agent_message_chunk", after=after)


def stopped_with_its_stdin_full(session: Session) -> dict[str, Any]:
    os.kill(agent_of(session), signal.SIGSTOP)
    return cancelled(session, prompt(["say", "x" * (1 << 20)]))


def stopped_while_it_starts(session: Session) -> dict[str, Any]:
    os.kill(agent_of(session), signal.SIGKILL)
    record = session.hub.data / "agents" / f"{session.id}.json"
    eventually(lambda: not record.exists(), "the agent is gone")
    (session.folder / "stop").touch()
    with session.send(prompt(["say", "never"])) as stream:
        stream.until("user_message_chunk")
        eventually(record.exists, "the agent starts again")
        eventually(lambda: state_of(agent_of(session)) == "T", "and stops")
        session.post("cancel")
        last: dict[str, Any] = stream.rest()[-1].value
    (session.folder / "stop").unlink()
    return last


def cancelled(session: Session, content: str, wait_for: str = "user_message_chunk",
              after: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Send a prompt, cancel it, and tell how its turn ended."""
    with session.send(content) as stream:
        stream.until(wait_for)
        session.post("cancel")
        after()
        last: dict[str, Any] = stream.rest()[-1].value
    return last


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


STATES = (stopped_before_its_prompt, stopped_in_its_turn, deaf_to_the_cancel, stopped_after_the_cancel,
          stopped_with_its_stdin_full)


def test_a_stopped_agent_is_killed_when_its_grace_is_over_and_comes_back(hub: HubProcess, report: Report) -> None:
    took_ms = ends_in_time(hub.new_session("escaper"), stopped_in_its_turn)
    report(5, "an agent is stopped in its turn, then cancelled", tried=1, held=1, worst_ms=took_ms)


@pytest.mark.slow
def test_every_deaf_or_stopped_agent_is_killed_when_its_grace_is_over(some_hub: NewHub, report: Report) -> None:
    agents = {"escaper": ESCAPER} | {method: f"{ESCAPER} --stop-in {method} stop" for method in ("initialize", "session/new")}
    names = {"initialize": "greets-late", "session/new": "opens-late"}
    hub = some_hub("--cancel-grace", "0.5", agents={names.get(name, name): command for name, command in agents.items()})
    tries = [(hub.new_session("escaper"), state) for state in STATES]
    tries += [(hub.new_session(name), stopped_while_it_starts) for name in names.values()]
    with ThreadPoolExecutor(len(tries)) as pool:
        took_ms = [*pool.map(lambda each: ends_in_time(*each), tries)]
    report(5, "agents stopped or deaf in seven states, then cancelled", tried=len(tries), held=len(took_ms),
           worst_ms=max(took_ms))


def ends_in_time(session: Session, state: Callable[[Session], dict[str, Any]]) -> float:
    """Bring an agent into that state: its turn ends as cancelled, its process is gone, and the next prompt is answered."""
    before, began = agent_of(session), time.monotonic()
    assert state(session).get("stopReason") == "cancelled"
    eventually(lambda: not is_alive(before), "the agent is gone")
    took_ms = (time.monotonic() - began) * 1000
    assert text_of(session.say(prompt(["say", "back"]))) == "back"
    return took_ms


def test_a_stopped_agent_that_falls_silent_ends_its_turn_in_that_error(some_hub: NewHub, report: Report) -> None:
    hub = some_hub("--idle-timeout", "0.4", "--silence-grace", "0.4", agents={"escaper": ESCAPER})
    session = hub.new_session("escaper")
    agent, began = agent_of(session), time.monotonic()
    error = end_of(session.say(prompt(["say", "on it"], ["stop", "itself"], ["await", "/nowhere"])))
    assert error["details"]["code"] == "idle_timeout"
    eventually(lambda: not is_alive(agent), "the agent is gone")
    report(5, "an agent is stopped and falls silent", tried=1, held=1, worst_ms=(time.monotonic() - began) * 1000)


def claude_of(some_hub: NewHub, folder: Path, *flags: str) -> Session:
    """A session with the scripted CLI of the other driver."""
    program = fake_program(folder, folder / "claude.jsonl", {})
    hub = some_hub(*flags, env={"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"})
    return hub.new_session("claude-code")


def test_a_stopped_cli_is_killed_when_its_grace_is_over_and_comes_back(some_hub: NewHub, report: Report, tmp_path: Path) -> None:
    session = claude_of(some_hub, tmp_path, "--cancel-grace", "0.5")

    def stopped(session: Session) -> dict[str, Any]:
        with session.send(prompt(["say", "on it"], ["wait"])) as stream:
            stream.until("agent_message_chunk")
            os.kill(agent_of(session), signal.SIGSTOP)
            session.post("cancel")
            last: dict[str, Any] = stream.rest()[-1].value
        return last

    def deaf(session: Session) -> dict[str, Any]:
        return cancelled(session, prompt(["say", "on it"], ["hang"]), wait_for="agent_message_chunk")

    took_ms = [ends_in_time(session, state) for state in (stopped, deaf)]
    report(5, "the CLI of another driver is stopped or deaf in its turn, then cancelled", tried=2, held=2, worst_ms=max(took_ms))


def test_a_cli_that_falls_silent_ends_its_turn_in_that_error(some_hub: NewHub, report: Report, tmp_path: Path) -> None:
    session = claude_of(some_hub, tmp_path, "--idle-timeout", "0.4", "--silence-grace", "0.4")
    agent, began = agent_of(session), time.monotonic()
    error = end_of(session.say(prompt(["say", "on it"], ["hang"])))
    assert error["details"]["code"] == "idle_timeout"
    eventually(lambda: not is_alive(agent), "the CLI is gone")
    report(5, "the CLI of another driver falls silent", tried=1, held=1, worst_ms=(time.monotonic() - began) * 1000)


def test_a_stopped_agent_goes_with_its_session(hub: HubProcess, report: Report) -> None:
    session = hub.new_session("escaper")
    agent = agent_of(session)
    os.kill(agent, signal.SIGSTOP)
    began = time.monotonic()
    session.delete()
    assert not is_alive(agent)
    report(5, "a stopped agent's session is deleted", tried=1, held=1, worst_ms=(time.monotonic() - began) * 1000)


def test_an_agent_over_its_limit_is_ended_and_the_error_names_the_limit(hub: HubProcess, report: Report) -> None:
    session = hub.new_session("escaper", resources={"memoryMb": 100, "processes": 4, "files": 64})
    assert session.view()["resources"] == {"memoryMb": 100, "processes": 4, "files": 64}
    memory = end_of(session.say(prompt(["allocate", 150], ["wait"])))
    assert memory["details"]["code"] == "agent_exited" and "memory limit of 100 MB" in memory["message"]
    shared = end_of(session.say(prompt(["share", 150], ["wait"])))
    assert "memory limit of 100 MB" in shared["message"], "memory that others could share, and nobody does"
    processes = end_of(session.say(prompt(["family", 8], ["wait"])))
    assert "limit of 4 processes" in processes["message"]
    assert not sleeping(hub, "180")
    assert text_of(session.say(prompt(["open", 100]))) == "refused: Too many open files"
    assert text_of(session.say(prompt(["open", 30]))) == "opened 30"
    report(8, "an agent takes more memory, processes or files than it may", tried=4, held=4)


def test_what_a_command_leaves_in_the_background_has_its_limits_too(some_hub: NewHub, report: Report, token: str) -> None:
    hub = some_hub()
    session = hub.new_session("trusted", resources={"processes": 4})
    line = f"for n in 1 2 3 4 5 6 7 8; do sh -c 'sleep 180; true' {token} & done; touch left"
    session.say(prompt(["ask", "terminal/create", {"command": "/bin/sh", "args": ["-c", line]}]))
    eventually((session.folder / "left").exists, "the command has left them")
    eventually(lambda: not processes_named(token), "they are over the limit, and ended")
    report(8, "a command leaves more processes in the background than there may be", tried=1, held=1)


def test_a_shared_daemon_of_the_catalog_is_left_running_and_the_session_says_so(some_hub: NewHub, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    words = ", ".join(f'"{word}"' for word in shlex.split(ESCAPER))
    config.write_text(f'[agents.shares]\ncommand = [{words}]\ndaemons = [{{name = "The sleeper", command = ["sleep", "180"]}}]\n')
    hub = some_hub("--config", str(config))
    session = hub.new_session("shares")
    session.say(prompt(["family", 1]))
    eventually(lambda: sleeping(hub, "180"), "the daemon runs")  # a moment after the fork it is not yet what it executes
    (daemon,) = sleeping(hub, "180")
    os.kill(agent_of(session), signal.SIGKILL)
    with session.wire.stream(f"{session.path}/events") as events:
        left = next(event.value for event in events if b"daemons_left_running" in event.data)
    assert left["type"] == "custom" and {"process": daemon.pid, "name": "The sleeper"} in left["data"]["daemons"]
    assert is_alive(daemon.pid)
    session.delete()
    assert is_alive(daemon.pid)
    (agent,) = [agent for agent in hub.wire.get("/agents") if agent["name"] == "shares"]
    assert agent["daemons"] == ["The sleeper"]
    os.kill(daemon.pid, signal.SIGKILL)


@pytest.mark.slow
def test_two_hundred_agents_killed_in_mid_turn_leave_no_orphan_and_no_zombie(hub: HubProcess, report: Report, token: str
                                                                            ) -> None:
    sessions = [hub.new_session("escaper") for _ in range(20)]
    held = 0
    for _ in range(10):
        with ThreadPoolExecutor(5) as pool:
            held += sum(pool.map(lambda session: killed_in_mid_turn(session, token), sessions))
    eventually(lambda: not processes_named(token), "nobody is left", GONE_S)
    eventually(lambda: not zombies(hub), "no zombie is left")
    report(5, "agents killed in mid-turn, each with one that escaped", tried=200, held=held)


def killed_in_mid_turn(session: Session, token: str) -> bool:
    steps = prompt(["escape", "double-fork", token], ["say", "on it"], ["wait"])
    with session.send(steps) as stream:
        stream.until("agent_message_chunk")
        os.kill(agent_of(session), signal.SIGKILL)
        last: dict[str, Any] = stream.rest()[-1].value
    return bool(last["details"]["code"] == "agent_exited")


@pytest.mark.parametrize("cycles", [10, pytest.param(500, marks=pytest.mark.slow)])
def test_sessions_come_and_go_without_growth(new_hub: NewHub, report: Report, cycles: int) -> None:
    hub = new_hub()
    for _ in range(5):
        hub.new_session("puppet").delete()
    nursery = children_of(hub.pid)[0].pid
    descriptors, memory, of_nursery = open_files(hub.pid), resident_bytes(hub.pid), (open_files(nursery), resident_bytes(nursery))
    for _ in range(cycles):
        hub.new_session("puppet").delete()
    eventually(lambda: len(below(hub.pid)) == 1, "only the nursery is left")
    assert open_files(hub.pid) <= descriptors + 3 and open_files(nursery) == of_nursery[0]
    assert resident_bytes(hub.pid) - memory < (8 << 20) + cycles * 20_000
    assert resident_bytes(nursery) - of_nursery[1] < 1 << 20
    report(5, "sessions made and deleted: descriptors, memory, processes", tried=cycles, held=cycles)


def open_files(pid: int) -> int:
    return len(os.listdir(inside(pid, "fd")))
