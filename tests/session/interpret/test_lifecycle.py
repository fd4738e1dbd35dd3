"""The life of a session, as events."""

from __future__ import annotations

import msgspec
import pytest

from tests.session.interpret.told import Told, events, names
from tests.session.script import OPTIONS, text, update
from trunkline.dialects.context.types import EnvironmentModel, EnvironmentProject, EnvironmentRuntime
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.errors import AgentError
from trunkline.session.fold import Cost, FileTally, checkpoint, restore
from trunkline.session.interpret.lifecycle import environment_of, name_of_folder

PROJECT = EnvironmentProject(path="/w", name="w", language="Go")
RUNTIME = EnvironmentRuntime(os="linux", arch="arm64")


def test_a_start_tells_agent_project_model_and_environment() -> None:
    told = Told()
    told.fold.agent_info = msgspec.Raw(b'{"name":"x","title":"Agent X","version":"1.2"}')
    told.fold.model = EnvironmentModel(id="m-1")
    environment = environment_of(told.fold, PROJECT, RUNTIME)
    told.at().lifecycle.started("a", "m-1", "/home/me/app", environment)
    started, info = events(told.take())
    assert (started["type"], started["projectName"], started["model"]) == ("session:started", "app", "m-1")
    assert info["type"] == "environment:info" and info["context"] == started["environment"]
    assert info["context"]["agent"] == {"name": "a", "version": "1.2", "displayName": "Agent X"}
    assert info["context"]["project"]["language"] == "Go"


@pytest.mark.parametrize("info", [b"null", b"{}", b'{"title":7}', b"[]"])
def test_an_agent_that_says_nothing_of_itself_is_called_by_its_name(info: bytes) -> None:
    told = Told()
    told.fold.agent_info = msgspec.Raw(info)
    context = environment_of(told.fold, PROJECT, RUNTIME)
    assert (context.agent.display_name, context.agent.version, context.model.id) == ("a", "unknown", "unknown")


def test_the_environment_is_told_again_only_when_it_is_new() -> None:
    told = Told()
    environment = environment_of(told.fold, PROJECT, RUNTIME)
    told.at().lifecycle.environment(environment)
    told.at().lifecycle.environment(environment)
    assert names(told.take()) == ["environment:info"]
    told.at().lifecycle.model(EnvironmentModel(id="m-2"))
    (info,) = events(told.take())
    assert info["context"]["model"] == {"id": "m-2"}


def test_an_agent_that_comes_back_without_its_memory_is_remarked() -> None:
    told = Told().turn()
    told.fold.turn = None
    told.take()
    told.at().lifecycle.resumed("old", "new", agentSessionId="fresh")
    told.at().lifecycle.resumed("old", "loaded")
    entries = told.take()
    assert names(entries) == ["session:resumed", "interaction:notification", "session:resumed"]
    assert events(entries)[0]["_meta"] == {"how": "new", "forgets": True, "agentSessionId": "fresh"}


def test_an_agent_that_comes_back_to_a_session_in_which_nothing_was_said_has_forgotten_nothing() -> None:
    for told in (Told(), Told().turn()):  # before the first turn, and in it
        told.take()
        told.at().lifecycle.resumed("old", "new")
        (resumed,) = events(told.take())
        assert resumed["_meta"] == {"how": "new"}


@pytest.mark.parametrize(("asks", "then"), [((), "running"), (("permission",), "waiting_for_approval"),
                                            (("question",), "waiting_for_input")])
def test_a_pause_says_what_is_held_and_ends_where_the_session_stands(asks: tuple[str, ...], then: str) -> None:
    told = Told().turn()
    if "permission" in asks:
        told.hear(PermissionAsk("req", msgspec.json.encode({"toolCallId": "c"}), OPTIONS))
    if "question" in asks:
        told.hear(QuestionAsk("q", "Which?"))
    told.at().lifecycle.paused("ann went for lunch", ["queue", "approvals"], by="ann")
    paused, changed = events(told.take())
    assert (paused["reason"], paused["_meta"]) == ("ann went for lunch", {"held": ["queue", "approvals"], "by": "ann"})
    assert (changed["to"], changed["reason"]) == ("paused", "ann went for lunch")
    told.at().lifecycle.unpaused(by="bob")
    resumed, changed = events(told.take())
    assert (resumed["type"], resumed["_meta"]) == ("session:resumed", {"how": "unpaused", "by": "bob"})
    assert (changed["from"], changed["to"]) == ("paused", then)


def test_a_completed_session_closes_what_is_open_and_sums_up() -> None:
    told = Told().turn("fix it")
    told.hear(text("on it"), update(sessionUpdate="tool_call", toolCallId="c", title="T", status="in_progress"))
    told.at().turns.end("end_turn", b'{"inputTokens":3,"outputTokens":4}')
    told.hear(text("one more thing"))
    told.fold.files["/w/a.py"] = FileTally("modified", 3, 1)
    told.fold.cost = Cost(0.5, "USD", 0.3, 0.2)
    told.take()
    told.at().lifecycle.completed("terminated", by="ann")
    closed, changed, completed = events(told.take())
    assert closed["type"] == "message:complete"
    assert (changed["to"], changed["reason"]) == ("completed", "terminated")
    assert completed["summary"]["filesChanged"] == [
        {"path": "/w/a.py", "changeType": "modified", "linesAdded": 3, "linesRemoved": 1}]
    assert completed["summary"]["tokenUsage"] == {"inputTokens": 3, "outputTokens": 4}
    assert completed["summary"]["cost"] == {"total": 0.5, "input": 0.3, "output": 0.2, "currency": "USD"}
    assert (completed["summary"]["messagesCount"], completed["summary"]["toolCallsCount"]) == (3, 1)


def test_a_turns_end_or_failure_never_completes_a_session() -> None:
    told = Told().turn()
    told.at().turns.end("end_turn")
    told.turn()
    told.at().turns.fail(AgentError("no"))
    told.take()
    assert "session:completed" not in names(told.entries) and told.fold.status == "error" and told.fold.errors == 1


def test_every_change_of_status_has_a_reason() -> None:
    told = Told().turn()
    told.hear(text("hm", "agent_thought_chunk"))
    told.hear(text("so"))
    told.hear(QuestionAsk("q", "Which?"))
    told.at().questions.answered("q", action="accept", content=None, who="ann")
    told.at().turns.end("end_turn")
    told.take()
    changes = [event for event in events(told.entries) if event["type"] == "session:status_changed"]
    assert [event["to"] for event in changes] == ["running", "thinking", "running", "waiting_for_input", "running", "idle"]
    assert all(event.get("reason") for event in changes)


def test_what_a_session_is_and_spent_outlives_a_crash() -> None:
    told = Told()
    told.at().lifecycle.environment(environment_of(told.fold, PROJECT, RUNTIME))
    told.fold.files["/w/a"] = FileTally("created", 1, 0)
    told.fold.messages = 4
    again = restore(checkpoint(told.fold))
    assert (again.environment, again.files, again.messages) == (told.fold.environment, told.fold.files, 4)


@pytest.mark.parametrize(("path", "name"), [("/home/me/app", "app"), ("/home/me/app/", "app"), ("/", "/")])
def test_a_project_is_called_by_its_folder(path: str, name: str) -> None:
    assert name_of_folder(path) == name
