"""An ask in words: its line, its calls, what is not sure about it."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.session.interpret.asks.confirming import asked, confirm, runs
from tests.session.interpret.call_builders import call, listening, of_type
from tests.session.interpret.told import Told, events, packets
from tests.session.script import OPTIONS
from tests.tooling.rows import every_row
from trunkline.dialects.context.unions import DescriptionPreview
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.fold import ApprovalView
from trunkline.session.interpret.asks import requested
from trunkline.session.interpret.asks.preview import NOT_ALL, TEXT_MOST
from trunkline.session.interpret.asks.requested import DESCRIPTION_CHARS


def test_what_is_not_sure_is_told_wherever_the_level_is() -> None:
    told = listening()
    view, event = asked(told, call(toolCallId="a", kind="execute", title="Bash", rawInput={"command": "ls", "run_as": "root"}),
                        confirm())
    risk = event["_meta"]["risk"]
    assert risk["sure"] is False and "run_as" in risk["doubts"][0]
    assert (view.sure, view.doubts, view.calls[0].doubts) == (False, risk["doubts"], risk["doubts"])
    (executing, again) = of_type(events(told.entries), "tool:executing")
    assert executing["_meta"]["risk"] == again["_meta"]["risk"] == risk


def test_a_sure_call_says_nothing_of_being_sure() -> None:
    told = listening()
    _, event = asked(told, runs("a", "ls"), PermissionAsk("r", b'{"toolCallId":"a"}', OPTIONS))
    assert set(event["_meta"]["risk"]) == {"reason"} and "calls" not in event["_meta"] and "disk" not in event["_meta"]


def test_the_line_that_describes_several_calls_is_cut_and_the_calls_are_whole_beside_it() -> None:
    told = listening()
    view, event = asked(told, *(runs(f"call-{number}", f"touch {number}" + "x" * 100) for number in range(9)), confirm())
    assert len(event["description"]) == DESCRIPTION_CHARS == len(view.description)
    assert [each["command"][-100:] for each in event["_meta"]["calls"]] == ["x" * 100] * 9



def test_always_is_offered_for_so_many_paths_only() -> None:
    told = Told().turn()
    for number, count in enumerate((2, requested.ALWAYS_PATHS + 1)):
        places = [{"path": f"/w/{place}"} for place in range(count)]
        said = msgspec.json.encode({"toolCallId": f"p{number}", "kind": "read", "name": "read", "locations": places})
        told.hear(PermissionAsk(f"req-{number}", said, OPTIONS))
    few, many = told.fold.approvals.values()
    assert few.always is not None and many.always is None
    assert (few.no_rule, many.no_rule) == ("", "it names too many paths")


def test_where_always_is_not_offered_the_ask_says_why_and_not_where_the_hub_keeps_its_files() -> None:
    told = Told(guarded=["/srv/hub"]).turn()
    told.hear(PermissionAsk("own", msgspec.json.encode({"toolCallId": "a", "kind": "execute", "name": "bash",
                                                       "rawInput": {"command": "cat /srv/hub/token"}}), OPTIONS))
    told.hear(PermissionAsk("free", msgspec.json.encode({"toolCallId": "b", "kind": "execute", "name": "bash",
                                                        "rawInput": {"command": "ls"}}), OPTIONS))
    own, free = of_type(events(told.entries), "approval:requested")
    assert own["_meta"]["noRule"] == "it touches the hub's own files, which no rule allows" and "always" not in own["_meta"]
    assert "always" in free["_meta"] and "noRule" not in free["_meta"]


def asked_for_tool(**fields: Any) -> tuple[ApprovalView, dict[str, Any]]:
    """One call that is asked about: its approval, and its packet."""
    told = listening()
    view, _ = asked(told, call(toolCallId="a", **fields), PermissionAsk("r", b'{"toolCallId":"a"}', OPTIONS))
    (packet,) = [packet for packet in packets(told.entries) if packet["type"] == "approval_requested"]
    return view, packet


@every_row(("fields", "beside"), [
    ({"title": "mcp__x__y", "kind": "other", "rawInput": {"a": {"b": ["touch deep"]}, "n": 7}},
     {"a": {"b": ["touch deep"]}, "n": 7}),
    ({"title": "Task", "kind": "other", "rawInput": {"prompt": "empty it", "description": "look"}}, {"prompt": "empty it"}),
    ({"title": "Read", "kind": "read", "rawInput": {"path": "x", "after_command": "touch after"}},
     {"after_command": "touch after"}),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "make", "cwd": "/tmp"}}, {"cwd": "/tmp"}),
    ({"title": "odd", "kind": "other", "rawInput": ["one", "two"]}, {"value": ["one", "two"]}),
    ({"title": "Bash", "kind": "execute", "rawInput": {"command": "make"}}, {}),
])
def test_the_packet_has_what_of_the_input_no_act_shows(fields: dict[str, Any], beside: dict[str, Any]) -> None:
    _, packet = asked_for_tool(**fields)
    found = packet.get("_meta", {}).get("input", {})
    assert {name: found.get(name) for name in beside} == beside and "command" not in found


def test_an_input_that_has_no_room_is_told_by_its_size_with_a_doubt() -> None:
    mail = {"to": "a@example.org", "body": "x" * (TEXT_MOST + 1)}
    view, packet = asked_for_tool(title="send_email", kind="other", rawInput=mail)
    assert packet["_meta"]["input"]["to"] == "a@example.org" and "not shown" in packet["_meta"]["input"]["body"]
    assert NOT_ALL in view.doubts and len(msgspec.json.encode(packet)) < 2 * TEXT_MOST


def test_a_list_of_calls_tells_what_of_their_inputs_their_lines_do_not() -> None:
    told = listening()
    other = call(toolCallId="b", title="mcp__x__y", kind="other", rawInput={"q": "hidden", "body": "x\n" * TEXT_MOST})
    view, _ = asked(told, runs("a", "touch one"), other, runs("c", "touch two"), confirm())
    assert isinstance(view.preview, DescriptionPreview)
    lines = view.preview.text.split("\n")
    assert lines[0].startswith("1. ") and lines[1].startswith("2. ") and "   q: hidden" in lines
    assert lines[-1].startswith("3. ") and "touch two" in lines[-1], "what one of them brings pushes none of the others out"
    assert NOT_ALL in view.doubts
