"""Permissions and questions over HTTP: who is asked, who may answer, what the agent hears, and what is left in the journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.hub_process import HubProcess, Session, end_of, text_of
from tests.tooling.wire import Stream

NewHub = Callable[..., HubProcess]


def asked(stream: Stream) -> str:
    """The id of the next permission that is asked for."""
    return str(stream.until("approval_requested").value["requestId"])


def said(stream: Stream) -> str:
    """What the agent says in the rest of the turn."""
    stream.rest()
    return text_of(packet.value for packet in stream.seen)


def test_a_permission_says_what_is_asked_how_risky_it_is_and_what_can_be_answered(session: Session) -> None:
    with session.send("/ask") as stream:
        packet = stream.until("approval_requested").value
        validate_packet(packet)
        assert packet["toolName"] == "bash"
        command = "echo permission 1 was given"
        assert packet["preview"] == {"type": "command", "command": command, "workingDir": str(session.folder)}
        kinds = [option["kind"] for option in packet["options"]]
        assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]
        view = session.view()
        assert view["status"] == "waiting_for_approval"
        assert [approval["requestId"] for approval in view["pendingApprovals"]] == [packet["requestId"]]
        assert view["pendingApprovals"][0]["expiresAt"] == packet["expiresAt"]
        session.post(f"permissions/{packet['requestId']}", {"decision": "deny"})
        stream.until("prompt_response")
    assert session.view()["pendingApprovals"] == []


@pytest.mark.parametrize(("answer", "told", "approved"), [
    ({"optionId": "allow-once"}, "Approved.", True),
    ({"optionId": "reject-once"}, "Not approved.", False),
    ({"optionId": "reject-always"}, "Not approved.", False),
    ({"optionId": "allow-always"}, "Approved.", True),
    ({"decision": "allow"}, "Approved.", True),
    ({"decision": "deny"}, "Not approved.", False),
    ({"decision": "allow", "scope": "always"}, "Approved.", True),
    ({"decision": "deny", "scope": "always"}, "Not approved.", False),
])
def test_the_agent_hears_an_option_by_its_id_and_always_is_a_rule_of_the_hub(
        session: Session, answer: dict[str, str], told: str, approved: bool) -> None:
    with session.send("/ask") as stream:
        session.post(f"permissions/{asked(stream)}", answer)
        resolved = stream.until("approval_resolved").value
        assert (resolved["approved"], resolved["resolvedBy"]) == (approved, "user")
        assert said(stream) == f"{told}\n"
        ran = [packet.value for packet in stream.seen if packet.type == "tool_call_progress"]
        assert ran[-1]["status"] == ("completed" if approved else "failed")


@pytest.mark.parametrize("answer", [{"optionId": "allow-always"}, {"decision": "allow", "scope": "always"}])
def test_what_was_allowed_for_always_is_not_asked_again(session: Session, answer: dict[str, str]) -> None:
    with session.send("/ask") as stream:
        session.post(f"permissions/{asked(stream)}", answer)
        stream.until("prompt_response")
    with session.send("/ask") as stream:
        resolved = stream.until("approval_resolved").value
        assert (resolved["approved"], resolved["resolvedBy"]) == (True, "policy")
        assert said(stream) == "Approved.\n"


def test_in_the_playground_always_is_offered_and_makes_a_rule(hub: HubProcess) -> None:
    session = hub.new_session(cwd=hub.data / "playground")
    with session.send("/ask") as stream:
        request = asked(stream)
        (waiting,) = session.view()["pendingApprovals"]
        assert waiting["always"]["action"] == "allow" and "noRule" not in waiting
        session.post(f"permissions/{request}", {"decision": "allow", "scope": "session"})
        stream.until("prompt_response")
    with session.send("/ask") as stream:
        assert stream.until("approval_resolved").value["resolvedBy"] == "policy"
    session.delete()


def test_always_is_about_exactly_what_was_asked(session: Session) -> None:
    with session.send("/ask") as stream:
        session.post(f"permissions/{asked(stream)}", {"decision": "allow", "scope": "always"})
        stream.until("prompt_response")
    with session.send("/ask 2") as stream:  # the first command is the one that was allowed, the second is another
        other = stream.until("approval_requested", where=lambda packet: "permission 2" in packet["preview"]["command"]).value
        session.post(f"permissions/{other['requestId']}", {"decision": "deny"})
        stream.rest()
    resolved = [packet.value for packet in stream.seen if packet.type == "approval_resolved"]
    assert {(packet["approved"], packet["resolvedBy"]) for packet in resolved} == {(True, "policy"), (False, "user")}


def test_a_reason_travels_with_the_decision(session: Session) -> None:
    with session.send("/ask") as stream:
        session.post(f"permissions/{asked(stream)}", {"decision": "deny", "reason": "not today"})
        assert stream.until("approval_resolved").value["reason"] == "not today"
        stream.until("prompt_response")


def test_the_first_answer_wins_and_the_second_is_told_who_was_first(session: Session) -> None:
    with session.send("/ask") as stream:
        request = asked(stream)
        session.post(f"permissions/{request}", {"decision": "allow"})
        late = session.wire.ask("POST", f"{session.path}/permissions/{request}", {"decision": "deny"}).expect(409)
        assert late["code"] == "already_resolved"
        assert late["details"]["approved"] is True
        stream.until("prompt_response")
        assert sum(packet.type == "approval_resolved" for packet in stream.seen) == 1


def test_several_permissions_may_be_open_and_answered_in_any_order(session: Session) -> None:
    with session.send("/ask 3") as stream:
        requests = [asked(stream) for _ in range(3)]
        assert len(session.view()["pendingApprovals"]) == 3
        for request, decision in zip(reversed(requests), ("deny", "allow", "deny"), strict=True):
            session.post(f"permissions/{request}", {"decision": decision})
        assert said(stream) == "Not approved.\nApproved.\nNot approved.\n"


@pytest.mark.parametrize("body", [
    {}, {"optionId": "no-such-option"}, {"decision": "perhaps"}, {"decision": "allow", "optionId": "allow-once"},
    {"decision": "allow", "scope": "forever"}, {"decision": "allow", "more": 1},
])
def test_an_answer_that_makes_no_sense_is_refused_and_decides_nothing(session: Session, body: dict[str, object]) -> None:
    with session.send("/ask") as stream:
        request = asked(stream)
        assert session.wire.ask("POST", f"{session.path}/permissions/{request}", body).expect(400)["code"] == "invalid"
        assert len(session.view()["pendingApprovals"]) == 1
        session.post(f"permissions/{request}", {"decision": "deny"})
        stream.until("prompt_response")


def test_an_unknown_permission_is_not_found(session: Session) -> None:
    answer = session.wire.ask("POST", f"{session.path}/permissions/nothing", {"decision": "deny"})
    assert answer.expect(404)["code"] == "not_found"


def test_cancel_answers_what_is_open_and_ends_the_turn(session: Session) -> None:
    with session.send("/ask 2") as stream:
        asked(stream)
        asked(stream)
        session.post("cancel")
        packets = [packet.value for packet in [*stream.rest()]]
    resolved = [packet for packet in packets if packet["type"] == "approval_resolved"]
    assert [packet["approved"] for packet in resolved] == [False, False]
    assert packets[-1]["stopReason"] == "cancelled"
    assert session.view()["pendingApprovals"] == []


def test_what_nobody_answers_is_denied_in_time_and_says_that_nobody_did(new_hub: NewHub) -> None:
    session = new_hub("--approval-timeout", "0.3").new_session()
    packets = session.say("/ask")
    resolved = next(packet for packet in packets if packet["type"] == "approval_resolved")
    assert (resolved["approved"], resolved["resolvedBy"]) == (False, "timeout")
    assert text_of(packets) == "Not approved.\n"
    assert end_of(packets)["stopReason"] == "end_turn"


def test_a_permission_that_the_agent_takes_back_is_closed(puppet: Session) -> None:
    line = ('{"jsonrpc":"2.0","id":"p1","method":"session/request_permission","params":{"sessionId":"puppet-session",'
            '"toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}')
    back = '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p1"}}'
    with puppet.send(f'[["line", {_quoted(line)}], ["line", {_quoted(back)}], ["say", "on"]]') as stream:
        stream.until("approval_requested")
        assert stream.until("approval_resolved").value["approved"] is False
        stream.until("prompt_response")


ASK = {"toolCall": {"toolCallId": "c", "title": "Do it"}, "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]}


def test_a_permission_of_an_agent_that_dies_is_closed(puppet: Session, tmp_path: Path) -> None:
    die = json.dumps([["request", "session/request_permission", ASK], ["await", str(tmp_path / "go")],
                      ["die", 1, str(tmp_path / "clock")]])
    with puppet.send(die) as stream:
        request = asked(stream)
        (tmp_path / "go").touch()
        packets = [packet.value for packet in stream.rest()]
    resolved = [packet for packet in packets if packet["type"] == "approval_resolved"]
    assert [(packet["requestId"], packet["approved"]) for packet in resolved] == [(request, False)]
    assert packets[-1]["details"]["code"] == "agent_exited"
    late = puppet.wire.ask("POST", f"{puppet.path}/permissions/{request}", {"decision": "allow"})
    assert late.expect(409)["code"] == "already_resolved"


def test_a_permission_asked_after_the_turn_is_denied_at_once(puppet: Session) -> None:
    puppet.say(json.dumps([["end", {"stopReason": "end_turn"}], ["ask", "session/request_permission", ASK]]))
    with puppet.attach() as stream:
        assert stream.until("approval_resolved").value["approved"] is False
        answer = stream.until("agent_message_chunk").value["content"]["text"]
    assert json.loads(answer)["result"]["outcome"] == {"outcome": "cancelled"}
    assert puppet.view()["pendingApprovals"] == []


@pytest.mark.parametrize(("method", "params", "dismissed"), [
    ("session/request_permission", ASK, {"outcome": {"outcome": "cancelled"}}),
    ("elicitation/create", {"mode": "form", "message": "Well?", "requestedSchema": {"type": "object"}}, {"action": "cancel"}),
])
def test_what_is_open_when_the_agent_ends_its_turn_is_closed_and_answered(
        puppet: Session, method: str, params: dict[str, object], dismissed: dict[str, object]) -> None:
    packets = puppet.say(json.dumps([["request", method, params], ["end", {"stopReason": "end_turn"}], ["answer"]]))
    assert end_of(packets)["stopReason"] == "end_turn"
    with puppet.attach() as stream:
        answer = stream.until("agent_message_chunk").value["content"]["text"]
    assert json.loads(answer)["result"] == dismissed
    view = puppet.view()
    assert (view["pendingApprovals"], view["pendingQuestions"], view["status"]) == ([], [], "idle")


def test_a_permission_without_options_can_only_be_denied(puppet: Session) -> None:
    with puppet.send(json.dumps([["ask", "session/request_permission", {**ASK, "options": []}]])) as stream:
        request = asked(stream)
        refused = puppet.wire.ask("POST", f"{puppet.path}/permissions/{request}", {"decision": "allow"})
        assert refused.expect(400)["code"] == "invalid"
        puppet.post(f"permissions/{request}", {"decision": "deny"})
        assert json.loads(said(stream))["result"]["outcome"] == {"outcome": "cancelled"}


def test_a_permission_about_nothing_is_refused(puppet: Session) -> None:
    packets = puppet.say(json.dumps([["ask", "session/request_permission", {"options": 5}]]))
    assert json.loads(text_of(packets))["error"]["code"] == -32602
    assert end_of(packets)["stopReason"] == "end_turn"


def test_a_question_shows_its_form_and_carries_the_answer_to_the_agent(session: Session) -> None:
    with session.send("/question") as stream:
        question = stream.until("question_requested").value
        validate_packet(question)
        assert question["schema"]["required"] == ["name"]
        view = session.view()
        assert view["status"] == "waiting_for_input"
        assert [each["questionId"] for each in view["pendingQuestions"]] == [question["questionId"]]
        answer = {"action": "accept", "content": {"name": "Ann", "sure": False}}
        session.post(f"questions/{question['questionId']}", answer)
        resolved = stream.until("question_resolved").value
        assert (resolved["action"], resolved["answer"]) == ("accept", answer["content"])
        assert '"name": "Ann"' in said(stream)


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_question_may_be_declined(session: Session, action: str) -> None:
    with session.send("/question url") as stream:
        question = stream.until("question_requested").value
        assert question["url"].startswith("https://")
        session.post(f"questions/{question['questionId']}", {"action": action})
        assert stream.until("question_resolved").value["action"] == action
        again = session.wire.ask("POST", f"{session.path}/questions/{question['questionId']}", {"action": "accept"})
        assert again.expect(409)["code"] == "already_resolved"
        stream.until("prompt_response")


@pytest.mark.parametrize("form", [None, 5, "text", []])
def test_a_question_whose_form_is_none_is_refused(puppet: Session, form: object) -> None:
    ask = ["ask", "elicitation/create", {"mode": "form", "message": "Well?", "requestedSchema": form}]
    packets = puppet.say(json.dumps([ask]))
    assert json.loads(text_of(packets))["error"]["code"] == -32602
    assert not [packet for packet in packets if packet["type"] == "question_requested"]


def test_cancel_closes_an_open_question(session: Session) -> None:
    with session.send("/question") as stream:
        stream.until("question_requested")
        session.post("cancel")
        assert stream.until("question_resolved").value["action"] == "cancel"
        assert stream.rest()[-1].value["stopReason"] == "cancelled"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_the_reason_of_a_denial_reaches_an_agent_that_had_the_hub_do_it(puppet: Session) -> None:
    written = {"path": str(puppet.folder / "a.txt"), "content": "x"}
    with puppet.send(json.dumps([["ask", "fs/write_text_file", written]])) as stream:
        puppet.post(f"permissions/{asked(stream)}", {"decision": "deny", "reason": "use b.txt"})
        error = json.loads(said(stream))["error"]
    assert (error["message"], error["data"]) == (
        "it was not approved: use b.txt", {"code": "forbidden", "reason": "use b.txt"})


def ask_for(**more: object) -> str:
    """A prompt by which the puppet asks for a permission and says what it was answered."""
    call = {"toolCallId": "c", "title": "t", "kind": "execute", "rawInput": {"command": "true"}}
    options = [{"optionId": "day", "name": "For a day", "kind": "allow_for_a_day"},
               {"optionId": "no", "name": "No", "kind": "reject_once"}]
    return json.dumps([["ask", "session/request_permission", {"toolCall": call, "options": options, **more}]])


def test_an_option_of_a_kind_that_nobody_knows_is_offered_by_its_name(puppet: Session) -> None:
    with puppet.send(ask_for()) as stream:
        packet = stream.until("approval_requested").value
        assert {option["name"]: option["kind"] for option in packet["options"]} == {"For a day": "other", "No": "reject_once"}
        puppet.post(f"permissions/{packet['requestId']}", {"optionId": "day"})
        assert stream.until("approval_resolved").value["approved"] is False
        assert json.loads(said(stream))["result"]["outcome"] == {"outcome": "selected", "optionId": "day"}


def test_a_permission_for_another_session_is_refused_and_noted(puppet: Session) -> None:
    with puppet.send(ask_for(sessionId="somebody-else")) as stream:
        assert json.loads(said(stream))["error"]["code"] == -32602
    events = puppet.wire.get(f"/sessions/{puppet.id}/history")["events"]
    told = [event for event in events if event.get("eventName") == "foreign_ask"]
    assert [event["data"]["params"]["sessionId"] for event in told] == ["somebody-else"]
    assert not [event for event in events if event["type"] == "approval:requested"]
