"""The daemon's socket: recorded talks line by line, what it asks and takes, and junk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trunkline.dialects.codex.asks import EDITS_MOST, REASON
from trunkline.dialects.codex.line import KEPT_MOST, THREADS_MOST, CodexLine, new_line
from trunkline.dialects.elsewhere.lines import (
    Appeared,
    AskOver,
    Asks,
    LineEvent,
    NotTaken,
    Said,
    Says,
    Send,
    Told,
    Vanished,
    WaitsThere,
    server_line,
)
from trunkline.dialects.signals import PermissionAsk, QuestionAsk

DATA = Path(__file__).parents[2] / "data" / "terminal"
THREAD = "01a1e4f0-aaa5-7312-92c2-4deff15450f6"


def recorded(name: str) -> list[bytes]:
    """What the daemon said in a recorded talk."""
    lines = (DATA / f"wire-codex-0.166.0-{name}.jsonl").read_text().splitlines()
    return [json.dumps(read["msg"]).encode() for read in map(json.loads, lines) if read["dir"] == "in"]


def message(method: str, /, **params: Any) -> bytes:
    return json.dumps({"method": method, "params": {"threadId": THREAD, **params}}).encode()


def joined() -> CodexLine:
    """A line that listens to the thread."""
    line = new_line()
    line.receive(json.dumps({"method": "thread/started", "params": {"thread": {"id": THREAD, "ephemeral": False}}}).encode())
    events = line.receive(message("thread/status/changed", status={"type": "active", "activeFlags": []}))
    assert Appeared(THREAD) in events
    return line


def told(line: CodexLine, *messages: bytes) -> list[LineEvent]:
    events = [event for each in messages for event in line.receive(each)]
    return [event.event for event in events if isinstance(event, Told)]


def sent(line: CodexLine, raw: bytes) -> list[dict[str, Any]]:
    return [json.loads(event.message) for event in line.receive(raw) if isinstance(event, Send)]


def request(method: str, number: int | str = 0, /, **params: Any) -> bytes:
    return json.dumps({"method": method, "id": number, "params": {"threadId": THREAD, **params}}).encode()


def command_ask(number: int | str = 0, *, decisions: Any = ("accept", {"acceptWithExecpolicyAmendment": {}}, "cancel")) -> bytes:
    return request("item/commandExecution/requestApproval", number, itemId="call_1", command="/bin/bash -lc 'touch a'", cwd="/w",
                   reason="needed", availableDecisions=list(decisions))


def decision(line: CodexLine, option: str | None, reason: str | None = None, key: str = "0") -> tuple[Any, str]:
    raw, words = line.decided(THREAD, key, option, reason)
    return (json.loads(raw) if raw is not None else None), words


def test_a_recorded_talk_gives_its_words_and_its_ask() -> None:
    events = told(joined(), *recorded("attach"))
    asks = [event for event in events if isinstance(event, Asks)]
    assert [event.text for event in events if isinstance(event, Says)] == ["I will use a tool. ", "Done."]
    assert [event.whole for event in events if isinstance(event, Said)] == ["I will use a tool. ", "Done."]
    (ask,) = asks
    assert isinstance(ask.ask, PermissionAsk) and ask.ask.beyond_turn
    call = json.loads(ask.ask.tool_call)
    assert call["toolCallId"] == "call_aafee994e3cd" and call["rawInput"]["command"] == "/bin/bash -lc 'touch phone2'"
    assert [option.kind for option in ask.ask.options] == ["allow_once", "allow_always", "reject_once"]


def test_an_edit_is_shown_as_its_item_had_it() -> None:
    (ask,) = (event for event in told(joined(), *recorded("edit")) if isinstance(event, Asks))
    assert isinstance(ask.ask, PermissionAsk)
    call = json.loads(ask.ask.tool_call)
    assert call["content"] == [{"type": "diff", "path": "/home/dev/project/note.txt", "newText": "hello\n"}]
    assert call["toolCallId"] == "call_a0b9d4bec260"


def places(line: CodexLine) -> list[str]:
    """What an edit that is asked about touches."""
    (ask,) = told(line, request("item/fileChange/requestApproval", 0, itemId="call_1"))
    assert isinstance(ask, Asks) and isinstance(ask.ask, PermissionAsk)
    return [each["path"] for each in json.loads(ask.ask.tool_call)["locations"]]


def edit(*paths: str, **kind: str) -> dict[str, Any]:
    changes = [{"path": path, "diff": "x", "kind": {"type": "add", **kind}} for path in paths]
    return {"type": "fileChange", "id": "call_1", "changes": changes}


def test_an_edit_is_not_that_of_another_thread_with_an_item_of_the_same_name() -> None:
    line, other = joined(), "01a1e4f0-aaa5-7312-92c2-4deff15450f7"
    line.receive(json.dumps({"method": "thread/started", "params": {"thread": {"id": other, "ephemeral": False}}}).encode())
    line.receive(message("thread/status/changed", threadId=other))
    line.receive(message("item/started", item=edit("/a")))
    line.receive(message("item/started", threadId=other, item=edit("/b")))
    assert places(line) == ["/a"]
    line.receive(message("item/completed", threadId=other, item=edit("/b")))
    assert places(line) == ["/a"]


def test_every_file_of_an_edit_is_named_and_where_it_is_moved_to() -> None:
    line, many = joined(), [f"/w/{number}" for number in range(EDITS_MOST + 1)]
    line.receive(message("item/started", item=edit(*many)))
    assert places(line) == many
    line.receive(message("item/started", item=edit("/w/a", type="update", move_path="/elsewhere/a")))
    assert places(line) == ["/w/a", "/elsewhere/a"]


def test_an_ask_for_more_than_its_call_is_the_terminals_and_no_rule_allows_what_goes_beyond_a_command() -> None:
    line = joined()
    line.receive(message("item/started", item=edit("/w/a")))
    beyond = request("item/fileChange/requestApproval", 1, itemId="call_1", grantRoot="/", reason="all of it")
    assert told(line, beyond) == [WaitsThere("all of it")]
    assert told(line, request("item/fileChange/requestApproval", 2, itemId="call_1", grantRoot=None))
    allowed = []
    for further in ({}, {"networkApprovalContext": {"host": "example.com"}}, {"additionalPermissions": {"network": True}}):
        (ask,) = told(line, request("item/commandExecution/requestApproval", 3, itemId="call_2", command="touch a",
                                    availableDecisions=["accept", "cancel"], **further))
        assert isinstance(ask, Asks) and isinstance(ask.ask, PermissionAsk)
        allowed.append(ask.ask.rules_allow)
    assert allowed == [True, False, False]


def test_no_rule_allows_what_an_ask_does_not_say_and_its_reason_is_no_command() -> None:
    line = joined()
    (ask,) = told(line, request("item/commandExecution/requestApproval", 1, itemId="call_2", reason="ls",
                                availableDecisions=["accept", "cancel"]))
    assert isinstance(ask, Asks) and isinstance(ask.ask, PermissionAsk)
    assert not ask.ask.rules_allow and json.loads(ask.ask.tool_call)["title"] == "Run a command"
    nameless = edit("/w/a", "")
    for begun, is_known in ((None, False), (nameless, False), (edit("/w/a"), True)):
        if begun is not None:
            line.receive(message("item/started", item=begun))
        (ask,) = told(line, request("item/fileChange/requestApproval", 2, itemId="call_1"))
        assert isinstance(ask, Asks) and isinstance(ask.ask, PermissionAsk) and ask.ask.rules_allow is is_known


def test_a_changed_and_a_deleted_file_are_shown_as_pieces() -> None:
    line = joined()
    changes = [{"path": "/w/a", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@\n-old\n+new\n"},
               {"path": "/w/b", "kind": {"type": "delete"}, "diff": "gone\n"}]
    line.receive(message("item/started", item={"type": "fileChange", "id": "call_1", "changes": changes}))
    (ask,) = told(line, request("item/fileChange/requestApproval", 3, itemId="call_1"))
    assert isinstance(ask, Asks) and isinstance(ask.ask, PermissionAsk)
    shown = json.loads(ask.ask.tool_call)["content"]
    assert shown == [{"type": "diff", "path": "/w/a", "oldText": "old\n", "newText": "new\n"},
                     {"type": "diff", "path": "/w/b", "oldText": "gone\n", "newText": ""}]


def test_it_begins_by_saying_who_it_is_and_joins_what_is_loaded_and_listed() -> None:
    line = new_line()
    (first,) = map(json.loads, line.opening())
    assert first["method"] == "initialize" and first["params"]["clientInfo"]["name"] == "trunkline"
    initialized, loaded = sent(line, json.dumps({"id": first["id"], "result": {}}).encode())
    assert (initialized["method"], loaded["method"]) == ("initialized", "thread/loaded/list")
    (listing,) = sent(line, json.dumps({"id": loaded["id"], "result": {"data": [THREAD, "its-own"]}}).encode())
    events = line.receive(json.dumps({"id": listing["id"], "result": {"data": [{"id": THREAD}, {"id": "old"}]}}).encode())
    assert [event for event in events if isinstance(event, Appeared)] == [Appeared(THREAD)]
    assert "thread/resume" in str(events)


def test_threads_that_the_daemon_runs_for_itself_are_no_sessions() -> None:
    for about in ({"ephemeral": True}, {"ephemeral": False, "parentThreadId": "other"}):
        line = new_line()
        line.receive(json.dumps({"method": "thread/started", "params": {"thread": {"id": THREAD, **about}}}).encode())
        assert line.receive(message("thread/status/changed", status={"type": "active"})) == []


def test_a_thread_that_was_not_seen_to_begin_is_joined_where_it_is_listed() -> None:
    line = new_line()
    (listing,) = sent(line, message("thread/status/changed", status={"type": "active"}))
    assert listing["method"] == "thread/list"
    assert Appeared(THREAD) in line.receive(json.dumps({"id": listing["id"], "result": {"data": [{"id": THREAD}]}}).encode())


def test_a_thread_that_cannot_be_joined_yet_is_tried_again() -> None:
    line = new_line()
    line.receive(json.dumps({"method": "thread/started", "params": {"thread": {"id": THREAD}}}).encode())
    busy = message("thread/status/changed", status={"type": "active"})
    resume = next(each for each in sent(line, busy) if each["method"] == "thread/resume")
    assert sent(line, busy) == []
    line.receive(json.dumps({"id": resume["id"], "error": {"code": -32600, "message": "no rollout"}}).encode())
    assert Appeared(THREAD) in line.receive(busy)


def test_a_closed_thread_has_vanished() -> None:
    assert joined().receive(message("thread/closed")) == [Vanished(THREAD)]


def test_yes_is_one_call_and_always_is_no_more() -> None:
    for option in ("allow", "always"):
        line = joined()
        told(line, command_ask())
        assert decision(line, option) == ({"id": 0, "result": {"decision": "accept"}}, "")


def test_no_is_what_the_ask_offers_and_a_reason_is_the_next_prompt() -> None:
    line = joined()
    told(line, command_ask("a"), command_ask("b", decisions=["accept", "decline", "cancel"]))
    assert decision(line, "deny", key="a") == ({"id": "a", "result": {"decision": "cancel"}}, "")
    assert decision(line, "deny", key="b") == ({"id": "b", "result": {"decision": "decline"}}, "")
    told(line, command_ask("c"))
    assert decision(line, "deny", "use git mv", key="c") == ({"id": "c", "result": {"decision": "cancel"}}, f"{REASON}use git mv")


def test_what_is_not_offered_is_not_answered() -> None:
    line = joined()
    (ask,) = told(line, command_ask(decisions=["cancel"]))
    assert isinstance(ask, Asks) and isinstance(ask.ask, PermissionAsk)
    assert [option.option_id for option in ask.ask.options] == ["deny"]
    assert decision(line, "allow") == (None, "")
    assert told(line, command_ask(1, decisions=[{"acceptWithExecpolicyAmendment": {}}])) == [WaitsThere("needed")]
    assert told(line, request("item/commandExecution/requestApproval", 2, itemId="x", command="touch a")) == [WaitsThere("")]


def test_no_opinion_and_unknown_asks_are_not_answered() -> None:
    line = joined()
    told(line, command_ask())
    assert decision(line, None) == (None, "")
    assert decision(line, "allow") == (None, "")
    assert decision(line, "allow", key="77") == (None, "")


def test_requests_that_ask_nobody_are_the_terminals_and_those_that_do_are_told() -> None:
    for method in ("item/tool/call", "account/chatgptAuthTokens/refresh", "currentTime/read"):
        assert joined().receive(request(method, 5, itemId="x")) == []
    for method in ("item/permissions/requestApproval", "mcpServer/elicitation/request"):
        assert told(joined(), request(method, 5, itemId="x", message="May it?")) == [WaitsThere("May it?")]


def test_a_yes_in_the_terminal_is_told_by_what_comes_behind_it() -> None:
    line = joined()
    told(line, command_ask())
    events = told(line, message("serverRequest/resolved", requestId=0),
                  message("thread/status/changed", status={"type": "active", "activeFlags": []}))
    assert events == [AskOver("0", True)]
    assert decision(line, "allow") == (None, "")


def test_a_no_in_the_terminal_is_told_by_what_comes_behind_it() -> None:
    line = joined()
    told(line, command_ask())
    events = told(line, message("serverRequest/resolved", requestId=0),
                  message("item/completed", item={"type": "commandExecution", "id": "call_1", "status": "declined"}))
    assert events == [AskOver("0", False)]


def test_an_answer_of_unknown_kind_is_only_over() -> None:
    line = joined()
    told(line, command_ask())
    assert told(line, message("serverRequest/resolved", requestId=0), message("turn/completed", turn={})) == [AskOver("0", None)]


def test_an_answer_of_ours_is_not_withdrawn() -> None:
    line = joined()
    told(line, command_ask())
    decision(line, "allow")
    assert told(line, message("serverRequest/resolved", requestId=0), message("turn/completed", turn={})) == []


def test_words_whose_beginning_was_not_seen_are_the_files() -> None:
    line = joined()
    assert told(line, message("item/agentMessage/delta", itemId="msg_1", delta="rest"),
                message("item/completed", item={"type": "agentMessage", "id": "msg_1", "text": "the rest"})) == []


def test_parts_of_a_thought_are_joined_as_the_file_joins_them() -> None:
    line = joined()
    line.receive(message("item/started", item={"type": "reasoning", "id": "rs_1"}))
    events = told(line, message("item/reasoning/summaryTextDelta", itemId="rs_1", delta="one", summaryIndex=0),
                  message("item/reasoning/summaryTextDelta", itemId="rs_1", delta="two", summaryIndex=1),
                  message("item/completed", item={"type": "reasoning", "id": "rs_1", "summary": ["one", "two"]}))
    assert events == [Says("rs_1", "one", True), Says("rs_1", "\ntwo", True), Said("one\ntwo")]


def test_a_question_is_a_form_and_its_answers_go_by_their_ids() -> None:
    line = joined()
    asked = {"id": "color", "header": "Color", "question": "Which color?", "isOther": True,
             "options": [{"label": "Blue", "description": "as the sky"}]}
    (ask,) = told(line, request("item/tool/requestUserInput", 4, itemId="call_2", questions=[asked], isBlocking=True))
    assert isinstance(ask, Asks) and isinstance(ask.ask, QuestionAsk) and ask.ask.message == "Which color?"
    assert json.loads(ask.ask.schema or b"")["properties"]["color"]["oneOf"][0]["const"] == "Blue"
    raw = line.answered(THREAD, "4", "accept", b'{"color":"Blue"}')
    assert json.loads(raw or b"") == {"id": 4, "result": {"answers": {"color": {"answers": ["Blue"]}}}}


def test_a_question_that_nobody_answers_here_and_a_secret_are_the_terminals() -> None:
    line = joined()
    asked = {"id": "key", "header": "Key", "question": "Key?"}
    told(line, request("item/tool/requestUserInput", 4, itemId="c", questions=[asked]))
    assert line.answered(THREAD, "4", "cancel", None) is None
    assert told(line, request("item/tool/requestUserInput", 5, itemId="c", questions=[{**asked, "isSecret": True}])) == [
        WaitsThere("Key?")]


def test_a_prompt_that_is_refused_comes_back() -> None:
    line = joined()
    start = json.loads(line.prompt(THREAD, "turn_1", "hello"))
    assert start["method"] == "turn/start" and start["params"]["input"] == [{"type": "text", "text": "hello"}]
    assert told(line, json.dumps({"id": start["id"], "error": {"message": "no"}}).encode()) == [NotTaken("turn_1", "no")]


def test_the_turn_that_is_interrupted_is_the_one_that_runs() -> None:
    line = joined()
    assert line.cancel(THREAD) is None
    line.receive(message("turn/started", turn={"id": "turn-9"}))
    assert json.loads(line.cancel(THREAD) or b"")["params"] == {"threadId": THREAD, "turnId": "turn-9"}
    line.receive(message("turn/completed", turn={"id": "turn-9"}))
    assert line.cancel(THREAD) is None


def test_a_turn_that_ran_when_we_came_can_be_interrupted() -> None:
    line = new_line()
    line.receive(json.dumps({"method": "thread/started", "params": {"thread": {"id": THREAD}}}).encode())
    turns = next(each for each in sent(line, message("thread/status/changed", status={"type": "active"}))
                 if each["method"] == "thread/turns/list")
    line.receive(json.dumps({"id": turns["id"], "result": {"data": [{"id": "turn-8", "status": "inProgress"}]}}).encode())
    assert json.loads(line.cancel(THREAD) or b"")["params"]["turnId"] == "turn-8"


def test_what_is_kept_is_bounded() -> None:
    line = new_line()
    for number in range(THREADS_MOST + KEPT_MOST):
        about = {"thread": {"id": f"t{number}"}}
        line.receive(json.dumps({"method": "thread/started", "params": about}).encode())
        line.receive(json.dumps({"method": "turn/started", "params": {"threadId": f"t{number}", "turn": {}}}).encode())
    assert len(line._threads) == THREADS_MOST
    for number in range(1000):
        line.receive(request("item/fileChange/requestApproval", number, itemId="x").replace(THREAD.encode(), b"t1"))
    assert len(line._asks) <= KEPT_MOST and len(line._calls) <= KEPT_MOST and len(line._new) <= KEPT_MOST


def test_a_line_is_found_by_its_vendors_name() -> None:
    assert isinstance(server_line("codex"), CodexLine)
    assert server_line("claude") is None
    assert server_line("../x") is None


NAMES = ("id", "threadId", "item", "itemId", "type", "turn", "thread", "data", "status", "changes", "questions", "requestId",
         "summary", "delta", "availableDecisions", "message")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4), max_leaves=12)
METHODS = ("thread/started", "thread/status/changed", "thread/closed", "turn/started", "turn/completed", "item/started",
           "item/completed", "item/agentMessage/delta", "item/reasoning/summaryTextDelta", "serverRequest/resolved",
           "item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/tool/requestUserInput", "x")


@given(st.lists(st.binary(max_size=60) | st.builds(
    lambda method, params, number: json.dumps({"method": method, "params": params, "id": number}).encode(),
    st.sampled_from(METHODS), json_values, json_values)
    | st.builds(lambda number, result: json.dumps({"id": number, "result": result}).encode(), st.integers(0, 5), json_values)))
def test_nothing_that_comes_raises(messages: list[bytes]) -> None:
    line = joined()
    line.opening()
    for raw in messages:
        line.receive(raw)


@given(st.data())
def test_a_recorded_talk_that_is_damaged_raises_nothing(data: st.DataObject) -> None:
    line = joined()
    for raw in recorded("attach") + recorded("edit"):
        cut = data.draw(st.integers(0, len(raw)))
        line.receive(raw[:cut] + data.draw(st.binary(max_size=3)) + raw[cut:])
