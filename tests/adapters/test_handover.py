"""Sessions that change hands: taken over from another program under their id, refused or forked while that runs, given back."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.agents import HISTORY, PUPPET, library, options
from tests.adapters.test_catalog_adapter import history, kind_of, said, types_of, until
from tests.aio import eventually, run
from tests.tooling.stores import RESUMED, STORES, Made, add_prompt, move, state_of
from trunkline.adapters import HubSession, Library
from trunkline.adapters.handover import Handover
from trunkline.dialects.context.commands import SendMessageCommand
from trunkline.discovery.base import FoundSession, held_by
from trunkline.errors import AgentError, Invalid, NotFound, SessionInUse, TooLarge, TurnInProgress, Unsupported
from trunkline.hub import Hub, NewSession, Session
from trunkline.hub.elsewhere import is_below, without
from trunkline.journal.base import RowFilter
from trunkline.session.fold import Fold

PROMPT = json.dumps([["say", "Here I am."]])


@pytest.fixture(params=sorted(RESUMED))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """A recorded session of a folder that is there."""
    return store_at_home(str(request.param), tmp_path)


def store_at_home(vendor: str, tmp_path: Path) -> Made:
    project = tmp_path / "project"
    project.mkdir()
    found = {**RESUMED, **STORES}[vendor](tmp_path / "home")
    move(found, project)
    return found


def install(tmp_path: Path, made: Made, *offers: str, told: list[dict[str, Any]] | None = None) -> None:
    """An agent of that name, which has the session and tells it again when it loads it."""
    store = tmp_path / "agent.json"
    known = {made.session_id: HISTORY if told is None else told}
    store.write_text(json.dumps({"offers": offers, "sessions": [], "history": known}))
    program = tmp_path / "bin" / ("codex-acp" if made.agent == "codex-acp" else made.agent)
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\nexec {PUPPET} --store {shlex.quote(str(store))}\n")
    program.chmod(0o755)


def at_home(tmp_path: Path) -> Library:
    return library(tmp_path, tmp_path / "data", {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})


def hub_of(line: Library) -> Hub:
    hub = line._hub
    assert hub is not None
    return hub


def handover_of(line: Library, made: Made) -> Handover:
    hub = hub_of(line)
    return Handover(hub, hub.agents[made.agent])


async def followed(line: Library, made: Made) -> tuple[HubSession, Session]:
    joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=True)
    return joined, await hub_of(line).session(joined.session_id)


async def said_here(joined: HubSession, words: str = "Here I am.") -> None:
    await joined.execute(SendMessageCommand(message=json.dumps([["say", words]])))
    await heard(joined, words)
    session = joined._session
    await eventually(lambda: session.fold.turn is None)


async def heard(joined: HubSession, words: str, role: str = "assistant") -> list[Any]:
    """The history, once somebody has said that in it."""
    changed = asyncio.Event()
    stop = joined.on_event(lambda event: changed.set())
    while True:
        changed.clear()
        events = await history(joined)
        if words in said(events, role):
            stop()
            return events
        await changed.wait()


def customs(events: list[Any]) -> list[str]:
    return [event.event_name for event in events if kind_of(event) == "custom"]


def test_a_followed_session_goes_on_here_under_its_id_with_what_was_written_since_and_nothing_twice(
        tmp_path: Path, made: Made) -> None:
    install(tmp_path, made, "load")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined, session = await followed(line, made)
            before = await history(joined)
            await session.agent._link.stop()  # nobody reads the file just now
            add_prompt(made, "And this, in the terminal.")
            same = await handover_of(line, made).take_over(session, "resume", by="test")
            assert same is session and session.fold.watches is None and session.fold.agent_session_id == made.session_id
            events = await history(joined)
            assert types_of(events)[:len(before)] == types_of(before)
            assert said(events, "user") == [*said(before, "user"), "And this, in the terminal."], "no replay is in it"
            assert said(events, "assistant") == said(before, "assistant")
            assert customs(events).count("session_taken_over") == 1 and session.fold.status == "idle"
            await said_here(joined)
            assert joined.capabilities.agent.integration_method == "sdk"

    run(scenario())


def test_given_back_it_is_followed_from_there_and_what_was_done_here_is_not_read_again(tmp_path: Path, made: Made) -> None:
    install(tmp_path, made, "load", "resume")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            session = await hub_of(line).session(joined.session_id)
            await said_here(joined)
            add_prompt(made, "what the agent wrote of that prompt")
            before = said(await history(joined), "user")
            handover = handover_of(line, made)
            await handover.give_back(session, by="test")
            view = await handover.view(session)
            assert not view.here and view.resume_command is not None and made.session_id in view.resume_command
            assert joined.capabilities.agent.integration_method == "file-watch"
            with pytest.raises(Unsupported):
                await joined.execute(SendMessageCommand(message=PROMPT))
            add_prompt(made, "And now in the terminal.")
            await heard(joined, "And now in the terminal.", "user")
            assert said(await history(joined), "user") == [*before, "And now in the terminal."]
            await handover.take_over(session, "resume", by="test")
            await said_here(joined, "And here again.")
            assert said(await history(joined), "user")[:-1] == [*before, "And now in the terminal."]

    run(scenario())


def test_a_found_session_that_is_continued_has_its_history_from_its_files_with_their_times(tmp_path: Path, made: Made) -> None:
    install(tmp_path, made, "load")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            events = await history(joined)
            assert "Make it blue." not in said(events, "user"), "what the agent told again is not in it"
            assert events[0].timestamp[:10] < "2026-11-18"
            again = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            assert again.session_id == joined.session_id and len(await history(again)) == len(events)

    run(scenario())


def test_after_a_restart_of_the_hub_it_is_still_the_hubs_or_still_followed(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load", "resume")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            await said_here(joined)
            prompts = said(await history(joined), "user")
        async with at_home(tmp_path) as line:
            session = await hub_of(line).session(joined.session_id)
            assert session.fold.watches is None
            await handover_of(line, made).give_back(session, by="test")
            add_prompt(made, "While nobody looked.")
        async with at_home(tmp_path) as line:
            again = await line.adapter(made.agent).attach_to_session(joined.session_id)
            await heard(again, "While nobody looked.", "user")
            assert said(await history(again), "user") == [*prompts, "While nobody looked."]

    run(scenario())


def _registered(made: Made, pid: int) -> Path:
    """Qwen Code's own record of a process that has the session open."""
    record = made.folder.parent / "sessions" / f"{pid}.json"
    record.parent.mkdir(exist_ok=True)
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    record.write_text(json.dumps({"pid": pid, "sessionId": made.session_id, "procStart": f"boot:{ticks}"}))
    return record


def test_one_that_runs_elsewhere_is_refused_before_anything_starts_and_goes_on_when_that_has_ended(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    _registered(made, other.pid)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            with pytest.raises(SessionInUse):
                await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            assert not await hub_of(line).list(RowFilter(limit=100)), "it never was"
            joined, session = await followed(line, made)
            handover = handover_of(line, made)
            view = await handover.view(session)
            (way,) = view.ways
            assert (view.running, view.pid, way.how, way.possible) == (True, other.pid, "resume", False)
            assert str(other.pid) in way.words and "spoil" in way.words
            with pytest.raises(SessionInUse) as refused:
                await handover.take_over(session, "resume", by="test")
            assert refused.value.details == {"sessionId": made.session_id, "pid": other.pid, "can": ["wait"]}
            assert session.fold.watches is not None and session.agent.running
            waiting = asyncio.create_task(handover.wait(session, 60))
            other.kill()
            other.wait()
            await waiting
            assert (await handover.view(session)).ways[0].possible
            await handover.take_over(session, "resume", by="test")
            await said_here(joined)

    try:
        run(scenario())
    finally:
        other.kill()
        other.wait()


def test_one_that_another_program_opens_while_its_agent_starts_is_left_to_that_one(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    record = _registered(made, other.pid)
    later = record.rename(tmp_path / "later")
    agent = tmp_path / "bin" / made.agent
    agent.write_text(agent.read_text().replace("exec ", f"[ ! -e {later} ] || mv {later} {record}\nexec ", 1))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined, session = await followed(line, made)
            with pytest.raises(SessionInUse) as refused:
                await handover_of(line, made).take_over(session, "resume", by="test")
            assert (refused.value.details or {})["pid"] == other.pid and session.fold.watches is not None
            assert "session_taken_over" not in customs(await history(joined))
            add_prompt(made, "In the terminal.")
            await heard(joined, "In the terminal.", "user")

    try:
        run(scenario())
    finally:
        other.kill()
        other.wait()


def test_a_record_of_another_process_of_that_number_keeps_nobody_out(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load")
    record = _registered(made, os.getpid())
    record.write_text(json.dumps({"pid": os.getpid(), "sessionId": made.session_id, "procStart": "boot:1"}))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            assert joined.capabilities.agent.integration_method == "sdk"

    run(scenario())


def test_one_that_runs_elsewhere_is_forked_where_its_agent_can_and_stays_as_it_is(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load", "fork")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            first = await line.adapter(made.agent).start_session(options(tmp_path, PROMPT))  # now the hub knows what it can do
            await heard(first, "Here I am.")
            record = _registered(made, os.getpid())
            before = state_of(tmp_path / "home")
            _, session = await followed(line, made)
            handover = handover_of(line, made)
            ways = [(way.how, way.possible) for way in (await handover.view(session)).ways]
            assert ways == [("resume", False), ("fork", True)]
            branch = await handover.take_over(session, "fork", by="test")
            assert branch.id != session.id and branch.fold.agent_session_id == f"{made.session_id}-fork"
            assert session.fold.watches is not None
            assert state_of(tmp_path / "home") == before
            record.unlink()

    run(scenario())


def test_an_agent_that_refuses_leaves_the_session_followed(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made._replace(session_id="another"), "load")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined, session = await followed(line, made)
            with pytest.raises(AgentError, match="no such session"):
                await handover_of(line, made).take_over(session, "resume", by="test")
            assert session.fold.watches is not None
            add_prompt(made, "Still followed.")
            await heard(joined, "Still followed.", "user")
            assert said(await history(joined), "user").count("Still followed.") == 1
            with pytest.raises(AgentError):
                await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            assert (await hub_of(line).session(session.id)) is session

    run(scenario())


def test_while_a_turn_runs_nothing_is_given_back(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            session = await hub_of(line).session(joined.session_id)
            await joined.execute(SendMessageCommand(message=json.dumps([["say", "At it."], ["wait"]])))
            await until(joined, "message:delta", 4)
            with pytest.raises(TurnInProgress):
                await handover_of(line, made).give_back(session, by="test")
            assert session.fold.watches is None and session.agent.running

    run(scenario())


def test_a_session_without_files_is_only_ended_when_it_is_given_back_and_one_without_words_is_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            hub = hub_of(line)
            started = await line.adapter("demo-fast").start_session(options(tmp_path, "/slow 1"))
            session = await hub.session(started.session_id)
            await eventually(lambda: session.fold.turn is None)
            handover = Handover(hub, hub.agents["demo-fast"])
            await handover.give_back(session, by="test")
            assert session.fold.watches is None and not session.agent.running
            assert (await handover.view(session)).resume_command is None
            empty = await hub.create(NewSession(agent="demo-fast", cwd=str(tmp_path)), by="test")
            with pytest.raises(Invalid, match="nothing was said"):
                await handover.give_back(empty, by="test")

    run(scenario())


def test_where_resuming_does_harm_a_new_session_begins_with_what_was_said_and_a_copy_is_kept(tmp_path: Path) -> None:
    made = store_at_home("gemini", tmp_path)
    told = tmp_path / "told"
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho \"$@\" >> {told}\nexec {sys.executable} -m trunkline.agents.demo --fast\n")
    program.chmod(0o755)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined, session = await followed(line, made)
            handover = handover_of(line, made)
            view = await handover.view(session)
            assert [(way.how, way.possible) for way in view.ways] == [("summary", True)] and view.resume_command is None
            assert "copy" in view.ways[0].words and not told.exists(), "it is said before anything is started"
            with pytest.raises(Unsupported, match="may delete"):
                await handover.take_over(session, "resume", by="test")
            begun = await handover.take_over(session, "summary", by="test")
            assert begun.id != session.id and session.fold.watches is not None
            (kept,) = (tmp_path / "data" / "kept").iterdir()
            assert kept.read_bytes() == made.file.read_bytes() and kept.stat().st_mode & 0o777 == 0o600
            assert "Person: run: touch x1" in said(await history(HubSession(begun, hub_of(line).agents["gemini"])), "user")[0]
            assert "continued_in" in customs(await history(joined))

    run(scenario())
    assert told.read_text().split() == ["--acp"], "no session was resumed"


def test_a_session_that_its_agent_does_not_list_is_opened_by_its_id_and_folder(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    made = Made("own", tmp_path, "own-7", tmp_path / "none")
    install(tmp_path, made, "load")

    async def scenario() -> None:
        command = f"{PUPPET} --store {shlex.quote(str(tmp_path / 'agent.json'))}"
        async with library(tmp_path, own=command) as line:
            with pytest.raises(NotFound, match="folder"):
                await line.adapter("own").attach_to_session("own-7")
            joined = await line.adapter("own").attach_to_session("own-7", project_path=str(tmp_path / "project"))
            assert said(await history(joined), "user") == ["Make it blue.", "And red?"]
            with pytest.raises(AgentError, match="no such session"):
                await line.adapter("own").attach_to_session("own-8", project_path=str(tmp_path / "project"))

    run(scenario())


def test_a_file_that_is_too_large_is_not_copied_and_nothing_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = store_at_home("gemini", tmp_path)
    monkeypatch.setattr("trunkline.adapters.handover.KEPT_MOST", 10)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            _, session = await followed(line, made)
            with pytest.raises(TooLarge):
                await handover_of(line, made).take_over(session, "summary", by="test")
            assert len(await hub_of(line).list(RowFilter(limit=10))) == 1

    run(scenario())


def test_processes_that_the_hub_started_itself_have_nothing_open_elsewhere() -> None:
    assert is_below(os.getpid(), [os.getppid()]) and is_below(os.getpid(), [os.getpid()])
    assert not is_below(os.getppid(), [os.getpid()]) and not is_below(None, [1]) and not is_below(1, [])


def test_a_program_beside_one_of_the_hubs_own_still_has_its_session() -> None:
    ours, theirs = os.getpid(), os.getppid()
    found = FoundSession(id="x", path="/x", cwd="/", created_at=0, updated_at=0)
    for pids, others in (([ours, theirs], theirs), ([theirs, ours], theirs), ([ours], None), ([], None)):
        seen = without(held_by(found, pids), [ours])
        assert (seen.pid, seen.in_use) == (others, others is not None)


def test_an_agent_of_the_hubs_does_not_come_back_to_a_session_that_is_open_elsewhere(tmp_path: Path) -> None:
    made = store_at_home("qwen", tmp_path)
    install(tmp_path, made, "load")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            session = await hub_of(line).session(joined.session_id)
            await said_here(joined)
            await session.agent._link.stop()  # as after a while without a prompt
            record = _registered(made, os.getpid())  # somebody opened it in a terminal, without a word to the hub
            await joined.execute(SendMessageCommand(message=PROMPT))
            events = await until(joined, "session:error")
            error = next(event for event in events if kind_of(event) == "session:error")
            assert error.error.code == "session_in_use" and not session.agent.running
            record.unlink()
            await said_here(joined, "Back again.")

    run(scenario())


def test_what_one_agent_of_the_hub_goes_on_with_is_not_opened_by_another_that_shares_its_files(tmp_path: Path) -> None:
    made = store_at_home("codex", tmp_path)
    install(tmp_path, made, "load")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            hub = hub_of(line)
            (other,) = [spec for spec in hub.agents.values() if spec.store == "codex" and spec.name != made.agent]
            joined, _ = await followed(line, made)
            second = await line.adapter(other.name).attach_to_session(made.session_id, watch=True)
            await line.adapter(made.agent).attach_to_session(made.session_id, watch=False)
            await said_here(joined)
            behind = await hub.session(second.session_id)
            with pytest.raises(SessionInUse, match="another session of this hub"):
                await Handover(hub, other).take_over(behind, "resume", by="test")
            assert behind.fold.watches is not None
            idle = Fold(session_id="ses_idle", agent=other.name, cwd=joined._session.fold.cwd, created_at=1, updated_at=1,
                        agent_session_id=made.session_id)  # the hub's own from before, which was not looked at since
            with pytest.raises(SessionInUse, match="another session of this hub"):
                await hub._check_free(idle)
            await hub._check_free(joined._session.fold)

    run(scenario())


def test_who_looks_for_a_session_that_is_still_being_begun_gets_that_one_and_no_second(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    install(tmp_path, Made("own", tmp_path, "own-7", tmp_path / "none"), "load", told=HISTORY * 300)

    async def scenario() -> None:
        command = f"{PUPPET} --store {shlex.quote(str(tmp_path / 'agent.json'))}"
        async with library(tmp_path, own=command) as line:
            opening = asyncio.create_task(line.adapter("own").attach_to_session("own-7", project_path=str(tmp_path / "project")))
            while not (views := await hub_of(line).list(RowFilter(limit=5))):  # noqa: ASYNC110 - no event of ours tells of a row
                await asyncio.sleep(0)
            early = await hub_of(line).session(views[0].id)
            joined = await opening
            assert early is joined._session and await hub_of(line).session(early.id) is early
            assert len(said(await history(joined), "user")) == 600

    run(scenario())
