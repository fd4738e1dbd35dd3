"""Traffic that no agent ever sent and no client ever meant: strategies for anything that may reach the fold.

Rule: what reaches the fold is JSON (whatever is not, the JSON-RPC peer has turned into ``Malformed``). Beyond that, nothing is
certain: an update has the fields of its kind mostly right, and now and then anything in their place.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import msgspec
from hypothesis import strategies as st

from tests.tooling.story import Player
from tests.tooling.transcripts import Cancel, Decision, Prompt, Step
from trunkline.dialects.notes import read_note
from trunkline.dialects.signals import (
    AgentFault,
    AskWithdrawn,
    Malformed,
    PermissionAsk,
    PermissionOption,
    QuestionAsk,
    TurnEnd,
    Update,
)

Act = Callable[[Player], None]
Strategy = st.SearchStrategy


def encoded(value: object) -> bytes:
    """A value as JSON, with all the white space that may stand in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",\r\t", ": ")).encode()


def mostly(right: Strategy[object]) -> Strategy[object]:
    """What belongs there, and one time in five anything."""
    return st.integers(0, 4).flatmap(lambda roll: ANY if roll == 0 else right)


def shape(needed: dict[str, Strategy[object]], **optional: Strategy[object]) -> Strategy[object]:
    """An object."""
    return st.fixed_dictionaries(needed, optional=optional)


WORD = st.text(max_size=9)
ID = st.sampled_from(["a", "b", "", 'ä\u2028\n"'])
STATUS = st.sampled_from(["pending", "in_progress", "completed", "failed"])
SCALAR = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), WORD, STATUS,
    st.sampled_from(["text", "diff", "terminal", "plan", "edit", "execute"]),
)
ANY: Strategy[object] = st.recursive(
    SCALAR, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORD, inner, max_size=3)), max_leaves=8)

TEXT = shape({"type": st.just("text"), "text": st.text(max_size=30)})
BLOCK = mostly(st.one_of(
    TEXT, TEXT,
    shape({"type": st.just("image"), "data": st.just("aGk="), "mimeType": st.just("image/png")}),
    shape({"type": st.just("resource_link"), "name": WORD, "uri": st.just("file:///a")}),
    shape({"type": st.just("resource"), "resource": shape({"uri": ID, "text": WORD})}),
))
CONTENT = st.lists(mostly(st.one_of(
    shape({"type": st.just("diff"), "path": WORD, "newText": WORD}, oldText=st.one_of(st.none(), WORD)),
    shape({"type": st.just("content"), "content": BLOCK}),
    shape({"type": st.just("terminal"), "terminalId": ID}),
)), max_size=3)
INPUT = st.one_of(
    shape({"todos": st.lists(shape({"content": WORD, "status": SCALAR}), max_size=3)}),
    shape({"command": st.one_of(WORD, st.lists(SCALAR, max_size=3))}),
    shape({"filePath": WORD, "content": WORD}),
)
CALL = {
    "title": mostly(WORD), "name": mostly(st.sampled_from(["bash", "todowrite", "task", "edit"])),
    "kind": mostly(st.sampled_from(["read", "edit", "execute", "think", "other", "switch_mode"])), "status": mostly(STATUS),
    "content": mostly(CONTENT), "rawInput": mostly(INPUT), "rawOutput": mostly(shape({"output": WORD})),
    "locations": mostly(st.lists(shape({"path": WORD}, line=SCALAR), max_size=2)),
}
CHUNK = {"content": BLOCK}
SHAPES: dict[str, tuple[dict[str, Strategy[object]], dict[str, Strategy[object]]]] = {
    "user_message_chunk": (CHUNK, {"messageId": mostly(ID)}),
    "agent_message_chunk": (CHUNK, {"messageId": mostly(ID)}),
    "agent_thought_chunk": (CHUNK, {"messageId": mostly(ID)}),
    "tool_call": ({"toolCallId": mostly(ID), "title": mostly(WORD)}, {k: v for k, v in CALL.items() if k != "title"}),
    "tool_call_update": ({"toolCallId": mostly(ID)}, CALL),
    "plan": ({"entries": mostly(st.lists(mostly(shape({
        "content": WORD, "priority": mostly(st.sampled_from(["high", "low"])), "status": mostly(STATUS)})), max_size=3))}, {}),
    "available_commands_update": ({"availableCommands": mostly(st.lists(mostly(shape(
        {"name": WORD, "description": WORD}, input=mostly(shape({"hint": WORD})))), max_size=3))}, {}),
    "current_mode_update": ({"currentModeId": mostly(st.sampled_from(["plan", "ask"]))}, {}),
    "config_option_update": ({"configOptions": mostly(st.lists(ANY, max_size=2))}, {}),
    "session_info_update": ({}, {"title": mostly(WORD), "updatedAt": ANY}),
    "usage_update": ({"used": mostly(st.integers(0, 10**9)), "size": mostly(st.integers(0, 10**9))}, {
        "cost": mostly(shape({"amount": st.floats(0, 9), "currency": st.just("EUR")}))}),
    "notice": ({"severity": mostly(st.just("error")), "title": mostly(WORD)}, {"description": mostly(WORD)}),
    "compaction_update": ({"compactionId": mostly(ID), "status": mostly(STATUS)}, {"summary": ANY, "error": ANY}),
    "compaction_summary_chunk": ({"compactionId": mostly(ID), "content": BLOCK}, {}),
    "tomorrow": ({}, {"anything": ANY}),
}


def _update(kind: str) -> Strategy[bytes]:
    needed, optional = SHAPES[kind]
    return shape({"sessionUpdate": st.just(kind), **needed}, **optional, _meta=ANY).map(encoded)


UPDATES: Strategy[Step] = st.one_of(*(_update(kind) for kind in SHAPES), ANY.map(encoded)).map(Update)
"""Any update, right or wrong, and JSON that is none."""

RAW = ANY.map(encoded)
OPTIONS = st.lists(st.builds(PermissionOption, ID, WORD, st.sampled_from(["allow_once", "allow_always", "reject_once", "odd"])),
                   max_size=4).map(tuple)
ASKED_FOR = st.one_of(shape({"toolCallId": mostly(ID)}, **CALL).map(encoded), RAW)
FIELDS = st.dictionaries(WORD, mostly(shape({}, enum=ANY, oneOf=ANY)), max_size=2)
FORM = shape({}, properties=mostly(FIELDS), type=ANY).map(encoded)
FAULT = st.builds(AgentFault, st.integers(-(2**40), 2**40), WORD, st.one_of(st.none(), RAW))

SIGNALS: Strategy[Step] = st.one_of(
    UPDATES,
    UPDATES,
    st.builds(PermissionAsk, st.just(""), ASKED_FOR, OPTIONS),
    st.builds(QuestionAsk, st.just(""), WORD, st.one_of(st.none(), FORM), st.one_of(st.none(), WORD), st.one_of(st.none(), ID)),
    st.builds(AskWithdrawn, st.sampled_from(["req_0", "req_1", "nobody"])),
    st.builds(read_note, WORD, RAW),
    st.builds(Malformed, st.binary(max_size=40), WORD, st.integers(0, 2**40)),
    st.builds(TurnEnd, stop=st.sampled_from(["end_turn", "max_tokens", "refusal", "cancelled"]), usage=st.one_of(st.none(), RAW)),
    st.builds(TurnEnd, error=FAULT),
)
CLIENT_STEPS: Strategy[Step] = st.one_of(
    st.lists(TEXT, min_size=1, max_size=3).map(lambda blocks: Prompt([msgspec.Raw(encoded(block)) for block in blocks])),
    st.builds(Cancel),
    st.builds(Decision, st.sampled_from(["req_0", "req_1", "req_2", "nobody"]), st.one_of(st.none(), ID)),
)
OTHER_ACTS: Strategy[Act] = st.one_of(
    WORD.map(lambda title: lambda player: player.act(lambda now: now.conditions.title(title, by="tester"))),
    ID.map(lambda mode: lambda player: player.act(lambda now: now.conditions.mode(mode, None, by="tester"))),
    st.just(Player.answer_first_question),
    st.just(Player.drop_first_queued),
    st.just(Player.reload),
)


def _numbered(steps: list[Step | Act]) -> list[Act]:
    """Each ask gets an id of its own, as a driver gives it one; each step becomes an act."""
    ids = (f"req_{number}" for number in itertools.count())
    return [step if callable(step) else _playing(step, ids) for step in steps]


def _playing(step: Step, ids: object) -> Act:
    if isinstance(step, PermissionAsk | QuestionAsk):
        step = msgspec.structs.replace(step, request_id=next(ids))  # type: ignore[call-overload]
    return lambda player: player.play(step)


ACTS: Strategy[list[Act]] = st.lists(st.one_of(SIGNALS, SIGNALS, CLIENT_STEPS, OTHER_ACTS), max_size=25).map(_numbered)
"""Whole stories of nonsense, with sense in between."""
