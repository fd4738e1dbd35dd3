"""Claude Code's sub-agents, in files of their own beside their session's: told under the call that started each, once."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.agents import library
from tests.adapters.test_catalog_adapter import history, kind_of, types_of
from tests.adapters.test_handover import heard
from tests.aio import run
from tests.fuzz.mutate import mutated
from tests.tooling.story import Player
from trunkline.adapters import HubSession, Library
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.signals import Malformed, Update
from trunkline.discovery.claude import ClaudeStore
from trunkline.discovery.claude_agents import ClaudeFollower, parts_of

DATA = Path(__file__).parents[1] / "data" / "claude" / "sub-agents"
SESSION = "919d3b31-a0fe-4816-8517-e91471bda8a9"
PARENT = "toolu_d6e798f98e494e1f930eb336"
CALL = "toolu_d30c07c29b3e46e2a162cf47"
AGENT = "claude-code"


def files(tmp_path: Path) -> tuple[Path, Path]:
    """A home with the recorded session in it; its file, and that of its sub-agent."""
    projects = tmp_path / "home" / ".claude" / "projects"
    shutil.copytree(DATA, projects)
    return next(projects.glob("*/*.jsonl")), next(projects.glob("*/*/subagents/*.jsonl"))


def at_home(tmp_path: Path) -> Library:
    return library(tmp_path, tmp_path / "data", {"PATH": str(tmp_path)})


async def followed(line: Library) -> HubSession:
    return await line.adapter(AGENT).attach_to_session(SESSION)


def of_call(events: list[Any], call_id: str, kind: str) -> int:
    """Where in the history a call begins or ends."""
    (at,) = [at for at, event in enumerate(events) if kind_of(event) == kind and event.tool_call_id == call_id]
    return at


def told(events: list[Any]) -> list[tuple[str, str]]:
    """What is told of calls and sub-agents."""
    return [(kind_of(event), getattr(event, "tool_call_id", "") or event.sub_agent_id) for event in events
            if kind_of(event) in ("tool:start", "tool:result", "subagent:spawned", "subagent:progress", "subagent:completed")]


ALL = [("tool:start", PARENT), ("subagent:spawned", PARENT), ("tool:start", CALL), ("subagent:progress", PARENT),
       ("tool:result", CALL), ("tool:result", PARENT), ("subagent:completed", PARENT)]


@pytest.mark.parametrize("noted", [True, False], ids=["the call is noted beside it", "the call has the same task"])
def test_what_a_sub_agent_did_stands_between_its_call_and_that_calls_result(tmp_path: Path, noted: bool) -> None:
    _, part = files(tmp_path)
    if not noted:  # as older versions write it
        part.with_suffix("").with_suffix(".meta.json").write_text('{"agentType":"general-purpose"}')

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            events = await history(await followed(line))
            assert told(events) == ALL
            start = events[of_call(events, CALL, "tool:start")]
            assert start.meta["parentToolCallId"] == PARENT and start.timestamp.startswith("2026-11-18T06:33:43")
            words = [event for event in events if kind_of(event) == "message:start" and event.meta]
            assert [event.meta.get("parentToolCallId") for event in words if "parentToolCallId" in event.meta] == [PARENT]
            prompts = [event for event in events if kind_of(event) == "message:complete" and event.role == "user"]
            assert len(prompts) == 1, "a task is no prompt"
            assert types_of(events).count("session:status_changed") >= 2

    run(scenario())


def test_after_a_restart_nothing_of_it_is_told_again(tmp_path: Path) -> None:
    files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            await followed(line)
        async with at_home(tmp_path) as line:
            assert told(await history(await followed(line))) == ALL

    run(scenario())


def test_it_is_told_live_though_its_call_comes_only_just_before(tmp_path: Path) -> None:
    main, part = files(tmp_path)
    lines, own = main.read_text().splitlines(keepends=True), part.read_text().splitlines(keepends=True)
    call = next(at for at, line in enumerate(lines) if PARENT in line)
    main.write_text("".join(lines[:call]))
    part.unlink()

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            joined = await followed(line)
            assert told(await history(joined)) == []
            part.write_text("".join(own[:2]))  # the program writes the call first, but we may see it later
            with main.open("a") as file:
                file.write(lines[call])
            assert told(await _until(joined, 4)) == ALL[:4]
            with part.open("a") as file:
                file.write("".join(own[2:]))
            assert told(await _until(joined, 5)) == ALL[:5]
            with main.open("a") as file:
                file.write("".join(lines[call + 1:]))
            assert told(await _until(joined, 7)) == ALL
            await heard(joined, "end")

    run(scenario())


async def _until(joined: HubSession, count: int) -> list[Any]:
    changed = asyncio.Event()
    stop = joined.on_event(lambda event: changed.set())
    while True:
        changed.clear()
        events = await history(joined)
        if len(told(events)) >= count:
            stop()
            return events
        await changed.wait()


def test_one_that_goes_on_in_the_background_ends_when_its_end_is_notified(tmp_path: Path) -> None:
    main, part = files(tmp_path)
    lines = [json.loads(line) for line in main.read_text().splitlines()]
    own = [json.loads(line) for line in part.read_text().splitlines()]
    result = next(line for line in lines if line["type"] == "user" and PARENT in json.dumps(line.get("message")))
    result["toolUseResult"] = {"isAsync": True, "status": "async_launched"}
    result["timestamp"] = own[0]["timestamp"]  # before all that it did
    notice = (f"<task-notification>\n<task-id>a</task-id>\n<tool-use-id>{PARENT}</tool-use-id>\n<status>completed</status>\n"
              "<summary>Agent \"d\" finished</summary>\n<result>M2.</result>\n</task-notification>")
    lines.append({"type": "user", "uuid": "u9", "timestamp": "2026-11-18T06:34:00.000Z", "cwd": "/home/dev/project",
                  "message": {"role": "user", "content": notice}})
    main.write_text("".join(json.dumps(line) + "\n" for line in lines))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            events = await history(await followed(line))
            assert told(events) == [("tool:start", PARENT), ("subagent:spawned", PARENT), ("tool:result", PARENT),
                                    ("tool:start", CALL), ("subagent:progress", PARENT), ("tool:result", CALL),
                                    ("subagent:completed", PARENT)]
            (ended,) = [event for event in events if kind_of(event) == "subagent:completed"]
            assert ended.result == 'Agent "d" finished' and not ended.meta

    run(scenario())


def test_a_file_whose_call_nobody_knows_and_files_of_other_names_are_left_alone(tmp_path: Path) -> None:
    main, part = files(tmp_path)
    (part.parent / "agent-lost.jsonl").write_text(part.read_text().replace("touch m2", "touch m3"))
    (part.parent / "notes.jsonl").write_text("{}\n")
    (part.parent / "agent-torn.jsonl").write_bytes(b"\xff\xfe{")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            assert told(await history(await followed(line))) == ALL

    run(scenario())
    assert list(parts_of(str(main))) == ["agent-ac9c090a9e38c6d73", "agent-lost", "agent-torn"]


def test_only_so_many_sub_agents_of_a_session_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main, part = files(tmp_path)
    for number in range(5):
        (part.parent / f"agent-z{number}.jsonl").write_text("")
    monkeypatch.setattr("trunkline.discovery.claude_agents.PARTS_MOST", 3)
    assert list(parts_of(str(main))) == ["agent-ac9c090a9e38c6d73", "agent-z0", "agent-z1"]


def test_many_lines_of_a_sub_agent_are_handed_over_some_at_a_time_and_each_once(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, part = files(tmp_path)
    monkeypatch.setattr("trunkline.discovery.claude_agents.TAKEN_MOST", 1)
    monkeypatch.setattr("trunkline.discovery.claude_agents.PIECE", 200)
    lines = part.read_text().splitlines(keepends=True)
    part.write_text("".join([lines[0], *['{"type":"attachment","timestamp":"2026-11-18T06:33:43.790Z"}\n'] * 20, *lines[1:]]))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            assert told(await history(await followed(line))) == ALL

    run(scenario())


def test_where_a_session_ends_is_said_of_each_of_its_files_by_whole_lines(tmp_path: Path) -> None:
    main, part = files(tmp_path)
    with part.open("a") as file:
        file.write('{"half":')
    ending = ClaudeStore.ending(str(main), SESSION)
    assert ending.position == main.stat().st_size
    assert ending.parts == {part.stem: part.stat().st_size - len('{"half":')}


@pytest.mark.parametrize("count", [pytest.param(30), pytest.param(2_000, marks=pytest.mark.slow)])
def test_damaged_files_of_sub_agents_raise_nothing_and_come_to_an_end(tmp_path: Path, count: int) -> None:
    main, part = files(tmp_path)
    meta = part.with_suffix(".meta.json")
    whole = {path: path.read_bytes() for path in (main, part, meta)}
    for number in range(count):
        dice = random.Random(number)
        for path in (main, part, meta):
            path.write_bytes(mutated(dice, [whole[path]]) if dice.random() < 0.6 else whole[path])
        taken: dict[str, int] = {}
        follower = ClaudeFollower(str(main), 0, lambda signals, position: None, folder=str(tmp_path), prepare=None, parts={},
                                  on_part=taken.__setitem__)
        player = Player()
        told = follower._read_lines(main.read_bytes())
        moved = True
        while moved:
            more, moved = follower._take_parts(None, follower._look())
            told += more
        for _, signal in told:
            if isinstance(signal, Update | AgentNote | CustomNote | Malformed):
                player.play(signal)
