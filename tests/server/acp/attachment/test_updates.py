"""Updates as strict editors get them: the agent's own bytes where they are good, the schema's form of them where they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.acp.editor import Json, editor, hub_site
from tests.tooling.oracles import Oracle

SCHEMA = json.loads((Path(__file__).parents[3] / "data" / "acp_schema_v1.json").read_text())
ORACLE = Oracle({"$ref": "#/$defs/SessionUpdate", "$defs": SCHEMA["$defs"]})


def check_update(update: Json) -> None:
    """Raise unless the schema takes it."""
    assert not ORACLE.faults(update)


async def heard(tmp_path: Path, *updates: Json, **capabilities: Any) -> list[Json]:
    """What an editor hears when an agent sends these updates."""
    async with hub_site(tmp_path) as site, editor(site, "puppet", **capabilities) as made:
        session_id = await made.new(site.folder)
        await made.play(session_id, *(["update", update] for update in updates))
        return made.updates(session_id)


PLAN = [{"id": "1", "content": "Step", "status": "pending"}]
VARIANTS: list[tuple[Json, Json]] = [
    ({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": [{"type": "text", "text": "x"}]},
     {"content": [{"type": "content", "content": {"type": "text", "text": "x"}}]}),
    ({"sessionUpdate": "plan", "entries": PLAN}, {"entries": [{"content": "Step", "priority": "medium", "status": "pending"}]}),
    ({"sessionUpdate": "tool_call", "id": "t2", "name": "Read", "status": "pending", "kind": "file"},
     {"toolCallId": "t2", "kind": "read"}),
    ({"sessionUpdate": "tool_call", "toolCallId": "t3", "title": "Write", "kind": "write", "content": None}, {"kind": "edit"}),
    ({"sessionUpdate": "current_mode_update", "modeId": "plan"}, {"currentModeId": "plan"}),
    ({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "aGk=", "mediaType": "image/png"}},
     {"content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}}),
    ({"type": "tool_call_start", "toolCallId": "t4", "title": "bash", "kind": "execute", "timestamp": "2026-01-01T00:00:00Z",
      "status": "pending", "locations": [], "rawInput": {}, "content": None}, {"sessionUpdate": "tool_call", "toolCallId": "t4"}),
]


@pytest.mark.parametrize(("sent", "expected"), VARIANTS)
def test_the_seeds_variants_arrive_as_the_schema_has_them(tmp_path: Path, sent: Json, expected: Json) -> None:
    told = run(heard(tmp_path, sent))
    for update in told:
        check_update(update)
    assert [each for each in told if expected.items() <= each.items()]
    assert not [each for each in told if "type" in each or "timestamp" in each], "no packet's members on this wire"


GOOD: list[Json] = [
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}, "messageId": "m", "_meta": {"x": 1}},
    {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}},
    {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": "completed", "futureField": [1, {"a": None}],
     "_meta": {"vendor": {"z": 0}}},
    {"sessionUpdate": "usage_update", "used": 5, "size": 10, "cost": {"amount": 0.1, "currency": "USD"}},
    {"sessionUpdate": "session_info_update", "title": "A title"},
    {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "c", "description": "d"}]},
]


@pytest.mark.parametrize("update", GOOD)
def test_what_is_schema_true_arrives_verbatim(tmp_path: Path, update: Json) -> None:
    assert run(heard(tmp_path, update)) == [update]


@pytest.mark.parametrize("update", [
    {"sessionUpdate": "from_the_future", "x": 1}, {"sessionUpdate": "tool_call", "title": "no id"}, {"x": 1},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "smell"}},
])
def test_what_the_schema_does_not_know_stays_in_the_journal(tmp_path: Path, update: Json) -> None:
    assert run(heard(tmp_path, update)) == []


NOTICE = {"sessionUpdate": "notice", "severity": "warning", "title": "Careful"}
COMPACTION = {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"}
SUMMARY = {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "s"}}


def test_notices_and_compaction_go_to_those_who_know_them(tmp_path: Path) -> None:
    assert run(heard(tmp_path / "a", NOTICE, COMPACTION, SUMMARY)) == []
    assert run(heard(tmp_path / "b", NOTICE, COMPACTION, SUMMARY, session={"notices": {}})) == [NOTICE]
    assert run(heard(tmp_path / "c", NOTICE, COMPACTION, SUMMARY, session={"compaction": {}})) == [COMPACTION, SUMMARY]


def test_switches_go_to_those_who_can_show_them(tmp_path: Path) -> None:
    switch = {"id": "w", "name": "Web", "type": "boolean", "currentValue": True}
    select = {"id": "m", "name": "Model", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}
    update = {"sessionUpdate": "config_option_update", "configOptions": [switch, select]}
    (plain,) = run(heard(tmp_path / "a", update))
    assert plain["configOptions"] == [select]
    (able,) = run(heard(tmp_path / "b", update, session={"configOptions": {"boolean": {}}}))
    assert able["configOptions"] == [switch, select]


def test_notices_are_not_history(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet", session={"notices": {}, "compaction": {}}) as made:
            session_id = await made.new(site.folder)
            await made.play(session_id, ["update", NOTICE], ["update", COMPACTION])
            async with editor(site, session={"notices": {}, "compaction": {}}) as other:
                await other.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
                kinds = [each["sessionUpdate"] for each in other.updates(session_id)]
                assert kinds == ["user_message_chunk", "compaction_update"]

    run(check())


def test_an_update_of_a_call_that_was_never_told_of_becomes_its_announcement(tmp_path: Path) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress", "title": "Late"}
    told = run(heard(tmp_path, update, {**update, "status": "completed"}))
    assert [(each["sessionUpdate"], each["status"]) for each in told] == [("tool_call", "in_progress"),
                                                                          ("tool_call_update", "completed")]
    for each in told:
        check_update(each)


def test_who_joins_in_the_middle_hears_what_a_call_is_before_it_hears_of_its_end(tmp_path: Path) -> None:
    async def check() -> None:
        call: Json = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Build", "kind": "execute",
                      "status": "in_progress", "rawInput": {"command": "make"}}
        async with hub_site(tmp_path) as site, editor(site, "puppet") as one, editor(site) as two:
            session_id = await one.new(site.folder)
            one.play(session_id, ["update", call], ["await", str(tmp_path / "go")],
                     ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}])
            await one.until(lambda: one.updates(session_id, "tool_call"))
            await two.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            (tmp_path / "go").touch()
            await two.until(lambda: two.updates(session_id))
            (told,) = two.updates(session_id)
            assert (told["sessionUpdate"], told["title"], told["status"], told["rawInput"]) == (
                "tool_call", "Build", "completed", {"command": "make"})

    run(check())


def test_a_call_that_its_agent_never_ended_ends_with_the_turn(tmp_path: Path) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Build", "status": "in_progress"}
    assert run(heard(tmp_path, call)) == [call, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}]
