"""Tool traffic that no agent ever sent: whatever comes, each call has one end, and what it did is told after it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.script import OPTIONS
from tests.tooling.examples import examples
from tests.tooling.story import Player, check
from tests.tooling.transcripts import Decision, Printed, Prompt, Step
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.notes import AgentNote, ArgsDelta
from trunkline.dialects.signals import PermissionAsk, TurnEnd, Update

NAMES = ToolNames(roles={"run_it": "terminal", "helper": "task", "scribble": "write"}, parent_call="v.parent")
GO = Prompt([msgspec.Raw(b'{"type":"text","text":"go"}')])

IDS = st.sampled_from(["a", "b", "run_it__1"])
WORDS = st.sampled_from([
    "", "x", "a.py:3:hit", "exit code 2", "[main 1a2b3c4] m\n 1 file changed", "[t](https://x.test) s", "{", "é\n" * 3])
PATHS = st.sampled_from(["/home/dev/project/a.py", "b", "~/c", "", "/etc/x"])
COMMANDS = st.sampled_from([
    "git commit -m m", "git stash; git stash pop", "ls | sh", "git push 'x", "gh pr create", "", "rm -rf /"])
PATCHES = st.sampled_from(["*** Begin Patch\n*** Add File: n\n+x\n*** End Patch", "--- a/x\n+++ b/x\n@@\n+y", "***"])
KEYS = st.sampled_from([
    "output", "stdout", "stderr", "exit_code", "metadata", "files", "changes", "type", "usage", "results", "url"])
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 300), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=6)
INPUTS = st.one_of(ANY, st.fixed_dictionaries({}, optional={
    "command": st.one_of(COMMANDS, st.lists(WORDS, max_size=3)), "file_path": PATHS, "content": WORDS, "old_string": WORDS,
    "new_string": WORDS, "patchText": PATCHES, "prompt": WORDS, "subagent_type": WORDS, "url": WORDS, "query": WORDS,
    "changes": ANY, "edits": ANY, "paths": ANY, "source": PATHS, "destination": PATHS, "todos": ANY, "arguments": ANY,
}))


def shown_text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


def shown_diff(path: str, old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


CONTENT = st.lists(st.one_of(
    st.builds(shown_text, WORDS), st.builds(shown_diff, PATHS, st.one_of(st.none(), WORDS), WORDS),
    st.just({"type": "terminal", "terminalId": "t"}),
), max_size=3)
META = st.one_of(ANY, st.fixed_dictionaries({}, optional={
    "toolName": st.sampled_from(["run_it", "helper", "scribble", "Other"]),
    "v": st.fixed_dictionaries({}, optional={"parent": IDS, "toolResponse": ANY}),
    "terminal_output": st.just({"data": "out"}), "terminal_exit": st.just({"exit_code": 1}),
}))
KINDS = st.sampled_from([
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", "nonsense"])
STATUS = st.sampled_from(["pending", "in_progress", "completed", "failed"])
FIELDS = st.fixed_dictionaries({"toolCallId": IDS}, optional={
    "title": WORDS, "kind": KINDS, "status": STATUS, "rawInput": INPUTS, "rawOutput": ANY, "content": CONTENT, "_meta": META,
    "name": st.sampled_from(["helper", "mcp__x", "Bash"]),
    "locations": st.lists(PATHS.map(lambda path: {"path": path, "line": 1}), max_size=2),
})


def updated(kind: str, fields: dict[str, Any]) -> Update:
    return Update(msgspec.json.encode({"sessionUpdate": kind, "title": "t", **fields}))


STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(updated, st.sampled_from(["tool_call", "tool_call_update"]), FIELDS),
    st.builds(updated, st.just("tool_call_update"), FIELDS),
    st.builds(lambda fields: PermissionAsk("r", msgspec.json.encode(fields), OPTIONS), FIELDS),
    st.builds(lambda tool_call_id: AgentNote(ArgsDelta(tool_call_id, "{")), IDS),
    st.just(Decision("r", "yes")), st.just(Decision("r", "no")), st.just(Printed("t", "made", 0)),
    st.just(TurnEnd(stop="end_turn")), st.just(GO),
)


@settings(max_examples=examples(50))
@given(st.lists(STEPS, max_size=14))
def test_every_call_that_starts_gets_exactly_one_end(steps: list[Step]) -> None:
    player = Player(NAMES)
    player.play(GO)
    asked: set[str] = set()
    for step in steps:
        if isinstance(step, PermissionAsk):
            if step.request_id in asked:
                continue
            asked.add(step.request_id)
        player.play(step)
    player.stop()
    player.play(GO)  # what an agent told of after its turn is ended with the next one
    player.stop()
    player.act(lambda now: now.tools.agent_gone())  # what goes on in the background ends with its agent
    check(player)
    events = [msgspec.json.decode(entry.event) for entry in player.entries]
    started = Counter(event["toolCallId"] for event in events if event["type"] == "tool:start")
    ended = Counter(event["toolCallId"] for event in events if event["type"] in ("tool:result", "tool:error"))
    assert started == ended
    _check_aftermath(events)


def _check_aftermath(events: list[dict[str, Any]]) -> None:
    """What a call did comes after its end, by its own entry; every sub-agent that starts also ends."""
    over: set[str] = set()
    running: set[str] = set()
    for event in events:
        match event["type"]:
            case "tool:start":
                over.discard(event["toolCallId"])
            case "tool:result" | "tool:error":
                over.add(event["toolCallId"])
            case "file:change" | "file:batch" | "git:operation" | "web:operation":
                assert event["toolCallId"] in over
            case "subagent:spawned":
                assert event["subAgentId"] not in running
                running.add(event["subAgentId"])
            case "subagent:progress":
                assert event["subAgentId"] in running
            case "subagent:completed":
                running.remove(event["subAgentId"])


@given(FIELDS, st.integers(4_000, 9_000), st.sampled_from(["plain ", 'q"\\ ', "é\U0001f600 "]))
def test_a_long_output_is_the_same_text_in_event_and_packet(fields: dict[str, Any], size: int, piece: str) -> None:
    whole = piece * (size // len(piece))
    player = Player(NAMES)
    player.play(GO)
    shown = [shown_text(whole)]
    player.play(updated("tool_call", {**fields, "status": "completed", "content": shown}))
    player.play(updated("tool_call_update", {"toolCallId": "z", "status": "completed", "content": shown}))
    player.stop()
    check(player)
    results = [msgspec.json.decode(entry.event) for entry in player.entries if b'"tool:result"' in entry.event]
    assert results and all(result["output"] == whole for result in results)
