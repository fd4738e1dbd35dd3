"""Agents that the agent started."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.session.interpret.call_builders import ask, call, listening, made, more, of_type, only, text
from tests.session.interpret.numbered import nth_call, nth_end
from tests.session.interpret.told import Told, events
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.notes import AgentNote, CustomNote, SubAgentReport, read_note
from trunkline.session.fold import KEPT_ARTIFACTS, Artifact
from trunkline.session.interpret.effects import subagents
from trunkline.session.interpret.effects.changes import PATH_CHARS

TASK = {"prompt": "Count the files", "description": "Count", "subagent_type": "explore"}
NAMES = ToolNames(roles={"Helper": "task"}, parent_call="vendor.parentId")


def test_a_task_call_is_a_sub_agent_from_its_start_to_its_answer() -> None:
    found = made("think", rawInput=TASK, content=text("Twelve.\n\n<task_metadata>\nx\n</task_metadata>"))
    assert [event["type"] for event in found] == [
        "tool:start", "tool:executing", "subagent:spawned", "tool:result", "subagent:completed"]
    spawned, completed = only(found, "subagent:spawned"), only(found, "subagent:completed")
    assert (spawned["subAgentId"], spawned["parentToolCallId"], spawned["task"]) == ("c", "c", "Count the files")
    assert spawned["_meta"] == {"description": "Count", "type": "explore"}
    assert (completed["subAgentId"], completed["result"]) == ("c", "Twelve.")
    assert (only(found, "tool:start")["name"], only(found, "tool:start")["category"]) == ("task", "agent")


def test_what_the_sub_agent_spent_is_told_where_it_was_recorded() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1}
    found = made("other", rawInput=TASK, _meta={"v": {"toolResponse": {"usage": usage}}})
    assert only(found, "subagent:completed")["tokenUsage"] == {"inputTokens": 5, "outputTokens": 2, "cacheReadTokens": 1}


def test_a_vendors_name_for_a_task_comes_from_its_catalog_entry() -> None:
    found = made("other", names=NAMES, name="Helper", rawInput={"instructions": "Look"})
    assert only(found, "subagent:spawned")["task"] == "Look"
    assert only(found, "tool:start")["name"] == "task"


def test_the_calls_of_a_sub_agent_are_its_progress() -> None:
    told = listening(NAMES)
    told.hear(call(kind="think", status="in_progress", rawInput=TASK))
    inner = call(toolCallId="i", title="Read a.txt", kind="read", _meta={"vendor": {"parentId": "c"}})
    found = events(told.hear(inner))
    assert only(found, "tool:start")["_meta"] == {"parentToolCallId": "c", "title": "Read a.txt"}
    assert (only(found, "subagent:progress")["subAgentId"], only(found, "subagent:progress")["message"]) == ("c", "Read a.txt")


def test_what_a_sub_agent_says_meanwhile_is_its_progress() -> None:
    told = listening()
    told.hear(call(kind="think", status="in_progress", rawInput=TASK))
    found = events(told.hear(more(content=text("Looking\nFound three")), later_us=300_000))
    assert only(found, "subagent:progress")["message"] == "Found three"
    assert not of_type(events(told.hear(more(content=text("Found four")), later_us=1_000)), "subagent:progress"), "not that often"


def test_a_sub_agent_that_nobody_allowed_never_started() -> None:
    told = listening()
    entries = told.hear(call(kind="think"), ask(kind="think", rawInput=TASK))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann")
    entries += told.take() + told.hear(more(status="failed", content=text("Denied")))
    assert not [event for event in events(entries) if event["type"].startswith("subagent:")]


def test_a_sub_agent_that_was_allowed_starts_then() -> None:
    told = listening()
    assert not of_type(events(told.hear(call(kind="think"), ask(kind="think", rawInput=TASK))), "subagent:spawned")
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    told.take()
    assert of_type(events(told.hear(more(status="in_progress"))), "subagent:spawned")


def test_a_sub_agent_that_is_cut_off_is_told_to_have_ended() -> None:
    told = listening()
    told.hear(call(kind="think", status="in_progress", rawInput=TASK))
    told.at().turns.end("cancelled")
    completed = only(events(told.take()), "subagent:completed")
    assert completed["_meta"] == {"failed": True} and "cancelled" in completed["result"]


def sent_off(**task: str) -> Told:
    """A sub-agent was started, and works on in the background though its call is done."""
    told = listening(NAMES)
    told.hear(call(title="Helper", kind="think", status="in_progress", rawInput={**TASK, **task}))
    told.hear(note(state="background"), more(status="completed", content=text("It works in the background.")))
    return told


def note(**fields: Any) -> AgentNote | CustomNote:
    """What the agent says of its sub-agent."""
    return read_note("subagent", msgspec.json.encode({"subAgentId": "c", **fields}))


def test_one_in_the_background_is_not_done_when_its_call_is() -> None:
    told = sent_off()
    assert told.fold.sub_agents == {"c": "c"}
    told.at().turns.end("end_turn")
    assert not of_type(events(told.take()), "subagent:completed")
    child = call(toolCallId="d", title="Read a.txt", _meta={"vendor": {"parentId": "c"}})
    assert only(events(told.hear(child)), "subagent:progress")["message"] == "Read a.txt"
    completed = only(events(told.hear(note(state="completed", result="Twelve."))), "subagent:completed")
    assert (completed["subAgentId"], completed["parentToolCallId"], completed["result"]) == ("c", "c", "Twelve.")
    assert "_meta" not in completed and told.fold.sub_agents == {}


def test_one_in_the_background_that_fails_says_so() -> None:
    completed = only(events(sent_off().hear(note(state="completed", result="No.", failed=True))), "subagent:completed")
    assert (completed["result"], completed["_meta"]) == ("No.", {"failed": True})


def test_one_in_the_background_ends_with_its_agent_and_so_does_what_it_was_doing() -> None:
    told = sent_off()
    told.at().turns.end("end_turn")
    told.take()
    told.hear(call(toolCallId="d", title="Read a.txt", _meta={"vendor": {"parentId": "c"}}))
    told.at().tools.agent_gone()
    error, completed = events(told.take())
    assert (error["type"], error["toolCallId"]) == ("tool:error", "d")
    assert (completed["subAgentId"], completed["_meta"]) == ("c", {"failed": True})
    told.at().tools.agent_gone()
    assert told.take() == [], "once"


def test_sub_agents_artifacts_and_files_are_kept_up_to_a_bound() -> None:
    told = Told().turn()
    for number in range(subagents.SENT_OFF + 10):
        subagents.on_report(told.interpret.writer, SubAgentReport(sub_agent_id=f"s{number}", state="background"))
    assert len(told.fold.sub_agents) == subagents.SENT_OFF
    for number in range(KEPT_ARTIFACTS + 5):
        told.at().artifact(Artifact(id=f"a{number}", type="file", name="n", path=f"/w/{number}", relative_path="n", created_at="",
                                    updated_at=""), None)
    assert len(told.fold.artifacts) == KEPT_ARTIFACTS
    path = "/w/" + "p" * PATH_CHARS
    shows = [{"type": "diff", "path": path, "newText": "a"}]
    told.hear(nth_call(1, kind="edit", content=shows), nth_end(1))
    assert path not in told.fold.files
