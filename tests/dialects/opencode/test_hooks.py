"""OpenCode's plugin: what it tells, by recorded lines, and what the program is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.dialects.elsewhere.hooks import hook_dialect
from trunkline.dialects.elsewhere.lines import AskOver, NotTaken, Said, Says
from trunkline.dialects.elsewhere.plugins import Asked, InSession, PluginEvent, Shows, Works, plugin_dialect
from trunkline.dialects.opencode.hooks import NOT_ALLOWED, PLUGIN
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.errors import Unsupported

RECORDED = Path(__file__).parents[2] / "data" / "terminal" / "plugin-opencode-1.18.33.jsonl"
SESSION = "ses_e1b22f15bffeR27A7NwqznbVUo"
ASK = "per_1e4dd4ea5001KAo2WRVqA30O6A"
CALL = "call_6be5b8caac844480"


def recorded() -> list[bytes]:
    """The events, as the plugin forwards them."""
    lines = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    return [line(each["type"], each["properties"]) for each in lines if each["ev"] == "event"]


def line(kind: str, properties: Any) -> bytes:
    return json.dumps({"type": kind, "properties": properties}).encode()


def told(kind: str, **properties: Any) -> list[PluginEvent]:
    return PLUGIN.read(line(kind, {"sessionID": SESSION, **properties}))


def asked(**more: Any) -> Asked:
    return Asked(key=ASK, call_id=CALL, **{"about": "bash", "given": {"command": "touch a1"}, **more})


def call_in(ask: PermissionAsk | QuestionAsk) -> Any:
    assert isinstance(ask, PermissionAsk)
    return json.loads(ask.tool_call)


def order(sent: bytes) -> Any:
    assert sent.endswith(b"\n") and sent.count(b"\n") == 1
    return json.loads(sent)


def test_the_recorded_events_say_what_happened() -> None:
    events = [event for each in recorded() for event in PLUGIN.read(each)]
    assert {event.session_id for event in events if isinstance(event, InSession)} == {SESSION}
    assert [event.event for event in events if isinstance(event, InSession)] == [
        Works(True), asked(), AskOver(ASK, True), Works(False)]


def test_answers_in_the_terminal_are_told_by_what_they_were() -> None:
    for reply, approved in (("once", True), ("always", True), ("reject", False)):
        assert told("permission.replied", requestID=ASK, reply=reply) == [InSession(SESSION, AskOver(ASK, approved))]
    for kind in ("question.replied", "question.rejected"):
        assert told(kind, requestID="que_1") == [InSession(SESSION, AskOver("que_1"))]


def test_text_comes_from_its_beginning_on_and_whole_at_its_end() -> None:
    assert told("trunkline.words", partID="prt_1", text="Hel", thinking=True) == [InSession(SESSION, Says("prt_1", "Hel", True))]
    assert told("trunkline.whole", text="Hello ") == [InSession(SESSION, Said("Hello "))]
    assert told("trunkline.words", partID="prt_1", text="") == [] == told("trunkline.words", text="x")


def test_what_is_on_the_screen_and_what_was_not_done_is_told() -> None:
    assert told("trunkline.shows") == [Shows(SESSION)] and PLUGIN.read(line("trunkline.shows", {})) == [Shows("")]
    assert told("trunkline.done", id="turn_1", ok=False, why="no such session") == [NotTaken("turn_1", "no such session")]
    assert told("trunkline.done", id="turn_1", ok=True) == [] == told("trunkline.done", ok=False)


def test_a_permission_is_about_the_call_that_is_stored() -> None:
    ask = PLUGIN.ask(asked(), CALL, ("bash", {"command": "touch a1", "description": "makes a file"}))
    assert isinstance(ask, PermissionAsk) and ask.beyond_turn and not ask.editable and not ask.rules_allow
    assert call_in(ask) == {"toolCallId": CALL, "name": "bash", "kind": "execute", "title": "touch a1",
                            "rawInput": {"command": "touch a1", "description": "makes a file"}}
    assert [option.kind for option in ask.options] == ["allow_once", "allow_always", "reject_once", "reject_once"]
    alone = PLUGIN.ask(asked(is_alone=True), CALL, None)
    assert isinstance(alone, PermissionAsk) and alone.rules_allow


def test_what_is_not_stored_yet_is_what_the_program_shows_of_it() -> None:
    assert call_in(PLUGIN.ask(asked(), CALL, None))["rawInput"] == {"command": "touch a1"}
    outside = asked(about="external_directory", given={"command": "cat /etc/hostname", "directories": ["/etc"]})
    call = call_in(PLUGIN.ask(outside, CALL, ("bash", {"command": "cat /etc/hostname"})))
    assert (call["locations"], call["name"]) == ([{"path": "/etc"}], "bash")


@pytest.mark.parametrize(("option", "reason", "sent"), [
    ("once", None, {"reply": "once"}),
    ("always", None, {"reply": "once"}),
    ("reject", "use a2", {"reply": "reject", "message": "use a2"}),
    ("reject", None, {"reply": "reject", "message": NOT_ALLOWED}),
    ("stop", "never mind", {"reply": "reject"}),
])
def test_a_decision_is_told_the_program_for_this_call_alone(option: str, reason: str | None, sent: Any) -> None:
    assert order(PLUGIN.decided(ASK, option, reason)) == {"do": "reply", "requestID": ASK, **sent}


@pytest.mark.parametrize("option", [None, "", "allow", "ONCE"])
def test_what_is_no_decision_is_no_opinion(option: str | None) -> None:
    assert PLUGIN.decided(ASK, option, "why") == b""


def test_questions_are_a_form_and_its_answers_go_in_their_order() -> None:
    questions = [{"question": "Which color?", "header": "Color", "options": [{"label": "Red"}, {"label": "Blue"}]},
                 {"question": "And which sizes?", "multiple": True, "options": [{"label": "S"}, {"label": "L"}]}]
    (event,) = told("question.asked", id="que_1", questions=questions, tool={"callID": CALL})
    assert isinstance(event, InSession) and isinstance(event.event, Asked)
    ask = PLUGIN.ask(event.event, CALL, None)
    assert isinstance(ask, QuestionAsk) and ask.message == "Which color?\nAnd which sizes?" and ask.schema is not None
    fields = json.loads(ask.schema)["properties"]
    assert (fields["answer1"]["type"], fields["answer2"]["type"]) == ("string", "array")
    filled = json.dumps({"answer1": "Blue", "answer2": ["S"], "answer2_other": "XL"}).encode()
    assert order(PLUGIN.answered(event.event, "accept", filled)) == {
        "do": "answer", "requestID": "que_1", "answers": [["Blue"], ["S", "XL"]]}
    assert order(PLUGIN.answered(event.event, "decline", None)) == {"do": "decline", "requestID": "que_1"}
    assert PLUGIN.answered(event.event, "cancel", None) == b""


def raw(**block: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(block).encode())


def test_prompts_are_texts_images_and_files() -> None:
    blocks = [raw(type="text", text="look"), raw(type="image", data="QQ==", mimeType="image/png"),
              raw(type="resource_link", uri="file:///tmp/a.txt", name="a.txt")]
    PLUGIN.check_prompt(blocks)
    assert order(PLUGIN.prompt(SESSION, "turn_1", blocks)) == {
        "do": "prompt", "id": "turn_1", "sessionID": SESSION, "parts": [
            {"type": "text", "text": "look"}, {"type": "file", "mime": "image/png", "url": "data:image/png;base64,QQ=="},
            {"type": "file", "mime": "text/plain", "url": "file:///tmp/a.txt", "filename": "a.txt"}]}
    assert order(PLUGIN.cancel(SESSION)) == {"do": "abort", "sessionID": SESSION}
    sound = raw(type="audio", data="QQ==", mimeType="audio/wav")
    page = raw(type="resource_link", uri="https://a.example", name="a")
    for other in (sound, page):
        with pytest.raises(Unsupported):
            PLUGIN.check_prompt([other])


def test_its_settings_name_it_with_what_it_is_to_know() -> None:
    assert PLUGIN.item("/a/b.js", {"socket": "/s"}) == ["/a/b.js", {"socket": "/s"}]
    assert [PLUGIN.path_in(item) for item in (["/a/b.js", {}], "file:///a/b.js", "name@1", 7, [], [7])] == [
        "/a/b.js", "/a/b.js", "name@1", "", "", ""]
    assert plugin_dialect("opencode") is PLUGIN and hook_dialect("opencode") is None
    assert plugin_dialect("claude") is None and plugin_dialect("no.such") is None


NAMES = st.sampled_from(["id", "sessionID", "requestID", "tool", "callID", "metadata", "questions", "question", "options",
                         "label", "directories", "status", "type", "partID", "text", "reply", "permission", "alone"])
PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([SESSION, ASK, "reject", "idle"])
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8)
KINDS = st.sampled_from(["permission.asked", "permission.replied", "question.asked", "session.status", "session.idle",
                         "trunkline.words", "trunkline.whole", "trunkline.shows", "trunkline.done", "x", ""])


@given(KINDS, st.dictionaries(NAMES, VALUES, max_size=8), VALUES)
def test_whatever_is_told_is_read_and_asked_without_an_error(kind: str, properties: Any, content: Any) -> None:
    for event in PLUGIN.read(line(kind, properties)):
        if isinstance(event, InSession) and isinstance(event.event, Asked):
            PLUGIN.ask(event.event, "call", None)
            PLUGIN.answered(event.event, "accept", json.dumps(content).encode())


@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_junk_says_nothing(junk: bytes) -> None:
    PLUGIN.read(junk)
    PLUGIN.path_in(junk)
