"""One call, one reading: every face that names, judges or tells a call says the same of it.

The faces: ``tool:start``, ``tool:executing``, ``approval:requested``, the approval's packet, the push, ``policy explain`` and the
audit entry. What they say: the tool's name, its category, the risk's level and its reason. Held against every recorded agent,
and against calls that nobody sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.session.golden import played_run
from tests.tooling.claude_runs import runs
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from tests.tooling.story import Player
from tests.tooling.transcripts import AGENTS, Prompt, Step, openings, stories
from trunkline.agents import catalog
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.calls.describe import carried_reading
from trunkline.dialects.calls.names import is_name, name_of_kind
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.journal.base import Entry
from trunkline.server.delivery.push.notes import About, note_of, payload_of
from trunkline.server.packets.frames import packet_of
from trunkline.server.sessions.policies import Question, call_of
from trunkline.session.audit.chain import opened
from trunkline.session.interpret.asks.subjects import is_something
from trunkline.session.policy.asks import policy_ask


class Told(NamedTuple):
    """What a face says of a call."""

    tool: str
    category: str | None
    level: str
    reason: str


class Asked(NamedTuple):
    """One permission on all of its faces."""

    event: dict[str, Any]
    entry: Entry
    starts: dict[str, dict[str, Any]]
    """The start of each call that was told of before."""
    executing: dict[str, dict[str, Any]]
    """The last that was told of each of these as it ran, or waited."""


def of_event(event: Mapping[str, Any]) -> Told:
    """``tool:executing`` and ``approval:requested``."""
    meta, name = event["_meta"], event.get("toolName") or event["name"]
    return Told(name, carried_reading(meta).category, event["riskLevel"], meta["risk"]["reason"])


def of_packet(packet: Mapping[str, Any]) -> Told:
    return Told(packet["toolName"], packet["toolCategory"], packet["riskLevel"], packet["riskReason"])


def asks_in(entries: Sequence[Entry]) -> Iterator[Asked]:
    """Every permission of a story, with what was told of calls before it."""
    starts: dict[str, dict[str, Any]] = {}
    executing: dict[str, dict[str, Any]] = {}
    for entry in entries:
        event = json.loads(entry.event)
        if event["type"] == "tool:start":
            starts[event["toolCallId"]] = event
        elif event["type"] == "tool:executing":
            executing[event["toolCallId"]] = event
        elif event["type"] == "approval:requested":
            yield Asked(event, entry, dict(starts), dict(executing))


def check_faces(asked: Asked, names: ToolNames, cwd: str, kind: str | None = None, title: str = "") -> None:
    """All faces of a permission agree. ``kind`` is the call's, where it says no more beside it than its name, input and title."""
    told, call_id = of_event(asked.event), asked.event["toolCallId"]
    packet = packet_of(asked.entry)
    assert packet is not None and of_packet(json.loads(packet)) == told
    record, _, _ = opened(asked.entry.event)
    assert of_event(json.loads(record)) == told, "the audit entry is the event"
    if call_id in asked.executing and "calls" not in asked.event["_meta"]:
        assert of_event(asked.executing[call_id]) == told
    if call_id in asked.starts:
        check_start(asked.starts[call_id], told)
    check_push(asked, told)
    if kind is not None:
        check_explained(asked, told, names, cwd, kind, title)


def check_start(start: Mapping[str, Any], told: Told) -> None:
    """A call keeps the name and the category that it was announced with, unless it had none but that of its kind."""
    named_by_kind = start["name"] in KIND_NAMES or not is_name(start["name"])
    if (start["name"], start["category"]) != (told.tool, told.category):
        assert named_by_kind, (start, told)


KIND_NAMES = {"other", *map(name_of_kind, (
    "read", "edit", "delete", "move", "search", "execute", "fetch", "think", "switch_mode"))}


def check_push(asked: Asked, told: Told) -> None:
    note = note_of("s", asked.entry)
    assert note is not None and note.risk_level == told.level
    payload = json.loads(payload_of(note, About("T", "", "/w"), "approve"))
    assert payload["riskLevel"] == told.level
    if note.runs_in is not None:
        assert carried_reading(asked.event["_meta"]).only_runs and note.text == asked.event["preview"]["command"]
    elif asked.event.get("preview", {}).get("type") == "diff":
        assert carried_reading(asked.event["_meta"]).command is None, "a command is told before a change"
        assert note.text.startswith("Change a file") and asked.event["preview"]["path"] in note.text
    else:
        assert note.text.removeprefix("Use ").casefold().startswith(told.tool.casefold()), "`Write: a` has the name of `write`"


def check_explained(asked: Asked, told: Told, names: ToolNames, cwd: str, kind: str, title: str) -> None:
    """Who asks what the policy says of this call is told the same of it."""
    tool, kind_, given = call_of(Question(tool=told.tool, kind=kind, input=asked.event["toolInput"], title=title), names)
    ask = policy_ask(tool, kind_, given, agent="a", cwd=cwd, roots=[cwd], names=names, title=title)
    assert Told(ask.tool, ask.shown_category or ask.category, ask.risk, ask.risk_reason) == told


class Said(msgspec.Struct):
    """All that an agent said of one call."""

    kind: str = "other"
    named: bool = False
    beside: bool = False
    """Something beside its input, or a second name."""

    def hear(self, said: Mapping[str, Any]) -> None:
        names = {str(said[key]) for key in ("name", "title") if said.get(key) and is_name(str(said[key]))}
        has_more = any(said.get(key) for key in ("locations", "content", "_meta"))
        self.beside = self.beside or has_more or len(names | self.names) > 1
        self.kind, self.names = said.get("kind") or self.kind, names | self.names
        self.named = self.named or bool(said.get("name")) or (self.title is None and is_name(said.get("title") or ""))
        self.title = self.title if self.title is not None else said.get("title")
        self.titles |= {str(said["title"])} if said.get("title") else set()

    names: set[str] = msgspec.field(default_factory=set)
    title: str | None = None
    titles: set[str] = msgspec.field(default_factory=set)


def heard(steps: Sequence[Step]) -> dict[str, Said]:
    """What was said of each call, by its id."""
    found: dict[str, Said] = {}
    for step in steps:
        raw = step.raw if isinstance(step, Update) else step.tool_call if isinstance(step, PermissionAsk) else b"{}"
        said = msgspec.json.decode(raw)
        if isinstance(said, dict) and "toolCallId" in said:
            found.setdefault(said["toolCallId"], Said()).hear(said)
    return found


def checked(player: Player, steps: Sequence[Step], names: ToolNames) -> tuple[int, int]:
    """Check all permissions of a story; how many there were, and how many of them can be asked about by name and input alone."""
    said, count, explained = heard(steps), 0, 0
    for asked in asks_in(player.entries):
        call = said.get(asked.event["toolCallId"], Said())
        is_named = call.named or asked.event["toolName"] == "bash"  # what has a command needs no name of its agent's own
        asks_by_name = is_named and not call.beside and is_something(asked.event["toolInput"]) and call.kind != "file"
        title = "".join(call.titles) if len(call.titles) == 1 else ""
        check_faces(asked, names, player.fold.cwd, call.kind if asks_by_name else None, title)
        count, explained = count + 1, explained + asks_by_name
    return count, explained


STORIES = [(agent, key) for agent in AGENTS for key in stories(agent)]


@every_row(("agent", "key"), STORIES)
def test_every_face_of_a_recorded_permission_says_the_same(agent: str, key: tuple[str, str]) -> None:
    spec = catalog.load().get(agent)
    names = spec.tool_names if spec is not None else ToolNames()
    player, steps = Player(names), stories(agent)[key]
    player.fold.cwd = openings(agent).get(key, (player.fold.cwd, b""))[0]
    for step in steps:
        player.play(step)
    assert checked(player, steps, names)[0] == sum(isinstance(step, PermissionAsk) for step in steps)


@every_row("run", runs())
def test_every_face_of_a_permission_of_the_stream_says_the_same(run: str) -> None:
    player = played_run(run)
    for asked in asks_in(player.entries):
        check_faces(asked, catalog.load()["claude-code"].tool_names, player.fold.cwd)


TEXTS = st.sampled_from([
    "a.py", "src/*.py", "/etc/passwd", "~/.bashrc", "make all", "git push", "TODO", "DELETE FROM users", "x\u3164y",
    "*** Add File: x\n+a", "https://example.org/x", ""])
MEMBERS = st.dictionaries(
    st.sampled_from(["path", "file_path", "pattern", "query", "command", "commands", "cmd", "content", "new_string", "old_string",
                     "steps", "url", "description", "run_as", "cwd", "env", "files", "arguments"]),
    st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["run", "path", "action", "command", "X"]), inner, max_size=2), max_leaves=4),
    min_size=1, max_size=5).filter(is_something)
"""An input of nothing is none: what is asked with it is about all that waits (tests/session/interpret/asks/test_subjects.py)."""
KINDS = st.sampled_from(["read", "search", "edit", "delete", "move", "execute", "fetch", "think", "switch_mode", "other", "file",
                         None])
NAMES = st.sampled_from(["Read", "grep", "Bash", "write", "apply_patch", "mcp__db__execute", "purge", "Think", "whatever", "Task",
                         None])
TITLES = st.sampled_from(["", "Read", "delete_files", "glob", "mcp__fs__purge", "make all", "Read a.py", "shell · ls",
                          "Look, around", "make install && git status", "Deleting src", "rm -rf build"])


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """A call as some agent might tell it."""
    said: dict[str, Any] = {"title": draw(TITLES), "kind": draw(KINDS), "name": draw(NAMES), "rawInput": draw(MEMBERS)}
    if draw(st.booleans()):
        said["locations"] = [{"path": draw(TEXTS)}]
    if draw(st.integers(0, 4)) == 0:
        said["content"] = [{"type": "diff", "path": "a.py", "oldText": "a", "newText": draw(TEXTS)}]
    return {key: value for key, value in said.items() if value is not None}


OPTIONS = (PermissionOption("y", "Yes", "allow_once"), PermissionOption("n", "No", "reject_once"))
GO = Prompt([msgspec.Raw(b'{"type":"text","text":"go"}')])


def steps_of(said: dict[str, Any], announced: str) -> list[Step]:
    """A call as it is asked for, after it was announced in this way."""
    steps: list[Step] = [GO]
    first = {key: value for key, value in said.items() if announced == "whole" or key not in ("rawInput", "_meta")}
    if announced != "never":
        steps.append(Update(msgspec.json.encode({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "", **first})))
    if announced == "in pieces":
        steps.append(Update(msgspec.json.encode({
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress", "rawInput": said["rawInput"],
            **{key: said[key] for key in said if key == "_meta"}})))
    return [*steps, PermissionAsk("r", msgspec.json.encode({"toolCallId": "c", **said}), OPTIONS)]


ANNOUNCED = ["never", "whole", "without input", "in pieces"]


def check_line(player: Player) -> None:
    """A call that is asked about as it was announced has one line in both events and in the packet."""
    (asked,) = asks_in(player.entries)
    packet = packet_of(asked.entry)
    start = asked.starts.get(asked.event["toolCallId"])
    assert packet is not None and json.loads(packet)["description"] == asked.event["description"]
    assert start is None or "calls" in asked.event["_meta"] or start.get("description", "") == asked.event["description"]


def check_told(said: dict[str, Any], announced: str) -> None:
    """All faces of a call agree, before it is asked about and then."""
    steps, player = steps_of(said, announced), Player()
    for step in steps:
        player.play(step)
    assert checked(player, steps, ToolNames())[0] == 1
    if announced in ("whole", "in pieces"):
        check_running(player)
    if announced == "whole":
        check_line(player)


@settings(max_examples=examples(150, 1500), suppress_health_check=[HealthCheck.too_slow])
@given(calls(), st.sampled_from(ANNOUNCED))
def test_every_face_of_a_generated_call_says_the_same(said: dict[str, Any], announced: str) -> None:
    assume(said.get("kind") != "file" or announced in ("never", "whole"))  # which its input makes an edit, when it comes
    check_told(said, announced)


MISREAD: list[dict[str, Any]] = [
    {"name": "Edit", "kind": "edit", "rawInput": {"command": "delete", "path": "src/a.py"}},
    {"name": "Write", "kind": "edit", "rawInput": {"command": "delete", "path": "src/a.py", "content": ""}},
    {"name": "str_replace_based_edit_tool", "kind": "edit", "rawInput": {"command": "rename", "path": "a", "new_path": "b"}},
    {"name": "Edit", "kind": "edit", "rawInput": {"command": "obliterate", "path": "src/a.py"}},
    {"name": "Read", "kind": "read", "rawInput": {"command": "delete", "path": "src/a.py"}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "install.sh", "execute": True}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py", "limit": "make install"}},
    {"name": "Bash", "kind": "execute", "rawInput": {"command": "npm test", "background": "make install"}},
    {"name": "apply_patch", "kind": "edit", "rawInput": {"patch": "Index: ../x\n@@ -1 +1 @@\n-a\n+b\n", "path": "src/a.py"}},
    {"name": "apply_patch", "kind": "edit", "rawInput": {"patch": "1,$d\n", "path": "src/a.py"}},
    {"name": "apply_patch", "kind": "edit", "rawInput": {"patch": "*** Begin Patch\n*** Delete File:\tsrc/b.py\n*** End Patch"}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}, "_meta": {"command": "sudo make install"}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}, "_meta": {"x": {"input": {"cmd": ["sudo", "make"]}}}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}, "_meta": {"execute": True}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}, "_meta": {"x": {"effect": "deletes"}}},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}, "locations": [{"uri": "file:///etc/hosts"}]},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "a.py"}, "locations": [{"path": "a.py", "uri": "file:///etc/x"}]},
    {"name": "Read", "kind": "read", "rawInput": {"file_path": "vault:secret/x"}},
]


@every_row("said", MISREAD)
@every_row("announced", ANNOUNCED)
def test_every_face_of_a_call_that_is_easily_misread_says_the_same(said: dict[str, Any], announced: str) -> None:
    check_told(said, announced)


def check_running(player: Player) -> None:
    """Before it was asked about, the call was told with the same level and reason."""
    told = [of_event(event) for entry in player.entries if (event := json.loads(entry.event))["type"] == "tool:executing"]
    assert len(set(told)) == 1, told


@given(calls())
def test_a_call_reads_the_same_whether_it_was_announced_or_not(said: dict[str, Any]) -> None:
    alone, announced = Player(), Player()
    ask = PermissionAsk("r", msgspec.json.encode({"toolCallId": "c", **said}), OPTIONS)
    update = Update(msgspec.json.encode({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "", **said}))
    stories_of: list[tuple[Player, list[Step]]] = [(alone, [GO, ask]), (announced, [GO, update, ask])]
    for player, steps in stories_of:
        for step in steps:
            player.play(step)
    one, other = (next(asks_in(player.entries)) for player in (alone, announced))
    assert of_event(one.event) == of_event(other.event)


def test_a_face_that_disagreed_would_be_found() -> None:
    player = Player()
    for step in (GO, PermissionAsk("r", b'{"toolCallId":"c","name":"Read","kind":"read","rawInput":{"path":"a"}}', OPTIONS)):
        player.play(step)
    asked = next(asks_in(player.entries))
    wrong = asked._replace(executing={"c": {**asked.executing["c"], "riskLevel": "critical"}})
    with pytest.raises(AssertionError):
        check_faces(wrong, ToolNames(), player.fold.cwd)
    packet = packet_of(asked.entry)
    assert packet is not None and b'"toolCategory":"file_read"' in packet
    assert decode_event(asked.entry.event)
