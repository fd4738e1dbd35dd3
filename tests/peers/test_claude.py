"""The real Claude Code CLI behind a real hub, through each of its faces, with a scripted Messages API on loopback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.claude import AGENT, NATIVE, OLD, PLAIN, Claude, Json, bash, claude, tool
from tests.tooling.faces import AcpFace, Answer, Ask, ContextFace, Face, Outcome, PacketsFace
from tests.tooling.hub_process import Session
from tests.tooling.messages_api import script
from tests.tooling.processes import eventually, is_alive
from tests.tooling.readers import Background

pytestmark = [pytest.mark.peers, pytest.mark.slow]


@pytest.fixture(scope="module", params=(NATIVE, PLAIN))
def peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Claude]:
    with claude(request.param, tmp_path_factory.mktemp("claude")) as peer:
        yield peer


@pytest.fixture(scope="module", params=(NATIVE, PLAIN, OLD))
def any_peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Claude]:
    with claude(request.param, tmp_path_factory.mktemp("claude")) as peer:
        yield peer


def opened(peer: Claude, kind: str) -> Face:
    """A new session, through that face."""
    if kind == "acp":
        return AcpFace(peer.hub, AGENT)
    face = PacketsFace if kind == "packets" else ContextFace
    return face(peer.hub, AGENT, peer.session())


def left(face: Face) -> None:
    """The end of a face and its session."""
    face.close()
    face.session.delete()


@pytest.fixture(params=("packets", "context", "acp"))
def face(request: pytest.FixtureRequest, peer: Claude) -> Iterator[Face]:
    face = opened(peer, request.param)
    yield face
    left(face)


@pytest.fixture(params=("packets", "context", "acp"))
def any_face(request: pytest.FixtureRequest, any_peer: Claude) -> Iterator[Face]:
    face = opened(any_peer, request.param)
    yield face
    left(face)


def deny(reason: str) -> Any:
    return lambda ask: Answer(allow=False, reason=reason)


def told_to_model(peer: Claude) -> str:
    """The newest message that the model got."""
    return json.dumps(peer.api.requests[-1]["messages"][-1])


def assert_works(face: Face) -> None:
    """Whatever happened, the session goes on."""
    outcome = face.play(script({"text": "Still here."}))
    assert (outcome.text, outcome.stop) == ("Still here.", "end_turn")


def at_rest(peer: Claude, session: Session) -> None:
    """Wait until the CLI has ended a turn that nobody asked for."""
    history = f"{session.path}/history?types=custom&limit=5000"
    eventually(lambda: '"state": "ended"' in json.dumps(peer.hub.wire.get(history)), "the agent woke and rests again", 30)


# The basics, with every version


def test_text_and_thoughts_stream(any_face: Face) -> None:
    outcome = any_face.play(script({"think": "Let me see.", "text": "Hello from the model."}))
    assert (outcome.text, outcome.thoughts, outcome.stop) == ("Hello from the model.", "Let me see.", "end_turn")


def test_an_allowed_tool_runs(any_face: Face) -> None:
    made = any_face.folder / "made.txt"
    outcome = any_face.play(script(bash(f"touch {made} && echo it-ran"), {"text": "Done."}))
    assert made.exists() and "it-ran" in outcome.result
    assert [list(outcome.calls.values()), outcome.text, outcome.stop] == [["completed"], "Done.", "end_turn"]
    assert len(outcome.asks) == 1


def test_a_denied_tool_does_not_run_and_the_model_hears_why(any_peer: Claude, any_face: Face) -> None:
    never = any_face.folder / "never.txt"
    outcome = any_face.play(script(bash(f"touch {never}"), {"text": "Then not."}), deny("not on a Friday"))
    assert not never.exists()
    assert (outcome.text, outcome.stop) == ("Then not.", "end_turn")
    assert list(outcome.calls.values()) == ["failed"]
    if any_face.tells_reasons:  # the Agent Client Protocol has no word for a reason
        assert "not on a Friday" in told_to_model(any_peer)
    assert '"is_error": true' in told_to_model(any_peer)


def test_a_turn_is_interrupted_while_it_streams(any_face: Face) -> None:
    cancelled: list[bool] = []

    def interrupt(outcome: Outcome) -> None:
        if "words" in outcome.text and not cancelled:
            cancelled.append(True)
            any_face.cancel()

    outcome = any_face.play(script({"text": "words " * 500, "chunk": 6, "delay": 0.1}), watch=interrupt)
    assert outcome.stop == "cancelled"
    assert_works(any_face)


def test_a_turn_is_interrupted_while_a_permission_is_open(any_face: Face) -> None:
    never = any_face.folder / "never.txt"

    def interrupt(ask: Ask) -> None:
        any_face.cancel()

    outcome = any_face.play(script(bash(f"touch {never}"), {"text": "never said"}), interrupt)
    assert outcome.stop == "cancelled" and "never said" not in outcome.text
    assert not never.exists()
    assert_works(any_face)


def test_a_turn_is_interrupted_while_a_tool_runs_whose_process_is_gone_then(any_face: Face) -> None:
    note = any_face.folder / "pid"

    def interrupt() -> None:
        eventually(lambda: note.exists() and note.read_text().strip(), "the tool runs", 30)
        any_face.cancel()

    with Background(interrupt):
        outcome = any_face.play(script(bash(f"echo $$ > {note}; sleep 300"), {"text": "never said"}))
    assert outcome.stop == "cancelled"
    eventually(lambda: not is_alive(int(note.read_text())), "the tool's process is gone")
    assert_works(any_face)


def test_the_hub_is_restarted_and_the_conversation_goes_on(any_peer: Claude, any_face: Face) -> None:
    any_face.play(script({"text": "I will remember xyzzy."}))
    own_id = any_face.session.view()["agentSessionId"]
    any_peer.hub.restart()
    any_face.rejoin()
    assert_works(any_face)
    assert_came_back(any_peer, any_face, own_id)


def test_a_conversation_that_was_left_is_resumed_by_somebody_else(any_peer: Claude, any_face: Face) -> None:
    any_face.play(script({"text": "I will remember xyzzy."}))
    own_id = any_face.session.view()["agentSessionId"]
    any_face.stop_agent()
    other, told = any_face.come_again()
    assert told == "I will remember xyzzy."
    assert_works(other)
    assert_came_back(any_peer, other, own_id)
    other.close()


def assert_came_back(peer: Claude, face: Face, own_id: str) -> None:
    """The CLI has the conversation again that it had before."""
    view = face.session.view()
    assert (view["agentSessionId"], view["agentStart"]) == (own_id, "resumed")
    assert "xyzzy" in json.dumps(peer.api.requests[-1]["messages"]), "the model got what was said before"


def test_an_editor_resumes_a_session_without_hearing_its_history(peer: Claude) -> None:
    session = peer.session()
    PacketsFace(peer.hub, AGENT, session).play(script({"text": "I know xyzzy."}))
    editor = AcpFace(peer.hub, AGENT, session)
    assert editor.told.text == ""
    assert_works(editor)
    assert "xyzzy" in json.dumps(peer.api.requests[-1]["messages"])
    left(editor)


def test_a_session_in_which_nothing_was_said_survives_a_restart_too(any_peer: Claude) -> None:
    session = any_peer.session()
    any_peer.hub.restart()
    assert_works(PacketsFace(any_peer.hub, AGENT, session))
    session.delete()


# The rest, with the newest version and the last one in plain JavaScript


def test_an_edited_input_is_what_runs(face: Face) -> None:
    asked, edited = face.folder / "asked.txt", face.folder / "edited.txt"
    outcome = face.play(script(bash(f"touch {asked}"), {"text": "Done."}),
                        lambda ask: Answer(edited={"command": f"touch {edited}"}))
    assert outcome.stop == "end_turn"
    assert edited.exists() and not asked.exists()
    if face.name == "acp":
        assert outcome.taken_back == [outcome.asks[0].id], "an editor cannot say it: it was said elsewhere"


def test_what_is_always_allowed_is_asked_once(face: Face) -> None:
    count = face.folder / "count"
    step = bash(f"echo x >> {count}")
    face.play(script(step, {"text": "Done."}), lambda ask: Answer(option="allow_always"))
    outcome = face.play(script(step, {"text": "Done again."}), lambda ask: None)
    assert (outcome.text, outcome.stop, count.read_text()) == ("Done again.", "end_turn", "x\nx\n")
    if face.name == "acp":
        assert outcome.asks == [], "an editor is not even shown what a rule decides"


def test_a_denial_can_end_the_turn(face: Face) -> None:
    outcome = face.play(script(bash("touch never"), {"text": "never said"}),
                        lambda ask: Answer(allow=False, option="cancel", reason="stop it"))
    assert outcome.stop == "cancelled" and outcome.text == ""
    assert_works(face)


def test_a_plan_is_shown_and_approved_with_the_mode_to_go_on_in(peer: Claude, face: Face) -> None:
    face.set_mode("plan")
    face.play(script({"text": "I am planning."}))
    place = re.search(r"[^\s\"`]+/plans/[\w-]+\.md", json.dumps(peer.api.requests[-1]))
    assert place is not None, "the model is told where its plan belongs"
    plan = "1. Look around\n2. Leave a mark xyzzy"
    outcome = face.play(
        script(tool("Write", file_path=place[0], content=plan), tool("ExitPlanMode", plan=plan), {"text": "Off we go."}),
        lambda ask: Answer(option="acceptEdits"))
    assert (outcome.text, outcome.stop) == ("Off we go.", "end_turn")
    assert "Leave a mark xyzzy" in outcome.asks[-1].shown
    assert {"acceptEdits", "default"} <= {option["optionId"] for option in outcome.asks[-1].options}
    assert face.session.view()["mode"] == "acceptEdits"


def test_a_question_is_answered_by_one_of_its_options(peer: Claude, face: Face) -> None:
    asked = {"question": "Which colour?", "header": "Colour", "multiSelect": False,
             "options": [{"label": "Red", "description": "like fire"}, {"label": "Blue", "description": "like the sea"}]}
    outcome = face.play(script(tool("AskUserQuestion", questions=[asked]), {"text": "So be it."}),
                        lambda ask: Answer(content={"answer": "Blue"}))
    assert (outcome.text, outcome.stop) == ("So be it.", "end_turn")
    assert outcome.asks[0].is_question and "like the sea" in outcome.asks[0].shown
    assert "Blue" in told_to_model(peer)


def test_a_question_is_answered_in_words_of_ones_own(peer: Claude, face: Face) -> None:
    asked = {"question": "Which colour?", "header": "Colour", "multiSelect": False,
             "options": [{"label": "Red", "description": "like fire"}, {"label": "Blue", "description": "like the sea"}]}
    outcome = face.play(script(tool("AskUserQuestion", questions=[asked]), {"text": "So be it."}),
                        lambda ask: Answer(content={own_words(ask): "a dark green xyzzy"}))
    assert (outcome.text, outcome.stop) == ("So be it.", "end_turn")
    assert "a dark green xyzzy" in told_to_model(peer)


def own_words(ask: Ask) -> str:
    """The field of a question's form that takes any text."""
    fields: Json = {}

    def look(value: Any) -> None:
        if isinstance(value, dict):
            fields.update(value["properties"] if isinstance(value.get("properties"), dict) else {})
            for each in value.values():
                look(each)

    look(json.loads(ask.shown))
    return next(name for name, field in fields.items() if field["type"] == "string" and not {"enum", "oneOf"} & set(field))


def test_two_sub_agents_ask_at_once_and_each_gets_its_answer(peer: Claude, face: Face) -> None:
    one, two = face.folder / "one.txt", face.folder / "two.txt"
    waiting: list[Ask] = []

    def when_both_wait(ask: Ask) -> None:
        waiting.append(ask)
        if len(waiting) == 2:
            for each in waiting:
                face.answer(each, Answer(allow=str(one) in each.shown, reason="only one"))

    calls = [{"name": "Task", "input": {
        "description": f"make {path.stem}", "subagent_type": "general-purpose",
        "prompt": script(bash(f"touch {path}"), {"text": f"{path.stem} is settled"})}} for path in (one, two)]
    # The newest version sends sub-agents off into the background: its own answer has to wait a little for them.
    outcome = face.play(script({"tools": calls}, {"text": "Both were sent.", "hang": 4}), when_both_wait)
    assert len(waiting) == 2 and waiting[0].call != waiting[1].call
    assert one.exists() and not two.exists()
    assert outcome.stop == "end_turn"
    assert "Both were sent." in outcome.text
    assert [outcome.calls[ask.call] for ask in waiting] == [
        "completed" if str(one) in ask.shown else "failed" for ask in waiting]


def test_a_sub_agent_in_the_background_asks_between_turns_and_is_answered(tmp_path: Path) -> None:
    with claude(NATIVE, tmp_path) as peer:
        session = peer.session()
        made = session.folder / "made.txt"
        work = {**bash(f"touch {made}"), "hang": 2}
        outcome = PacketsFace(peer.hub, AGENT, session).play(script(
            tool("Task", description="make it", subagent_type="general-purpose", prompt=script(work, {"text": "Made."})),
            {"text": "It was sent."}))
        assert (outcome.stop, outcome.asks) == ("end_turn", [])
        eventually(lambda: session.view()["pendingApprovals"], "the sub-agent asks", 30)
        (ask,) = session.view()["pendingApprovals"]
        assert session.view()["status"] == "waiting_for_approval"
        session.post(f"permissions/{ask['requestId']}", {"decision": "allow"})
        eventually(made.exists, "the sub-agent went on", 30)
        at_rest(peer, session)
        events = peer.hub.wire.get(f"{session.path}/history?limit=5000")["events"]
        order = [event["type"] for event in events if event["type"] in ("subagent:spawned", "tool:result", "subagent:completed")]
        assert order == ["subagent:spawned", "tool:result", "tool:result", "subagent:completed"], "it ended after its own work"
        assert_works(PacketsFace(peer.hub, AGENT, session))


def test_a_tool_result_of_five_megabytes_comes_through(face: Face) -> None:
    outcome = face.play(script(bash("head -c 5000000 /dev/zero | tr '\\0' x"), {"text": "That was long."}))
    assert (outcome.text, outcome.stop) == ("That was long.", "end_turn")
    assert list(outcome.calls.values()) == ["completed"]


def test_a_written_file_of_half_a_megabyte_comes_through(face: Face) -> None:
    path, text = face.folder / "long.txt", "0123456789abcde\n" * (1 << 15)
    outcome = face.play(script(tool("Write", file_path=str(path), content=text), {"text": "Written."}))
    assert (outcome.text, outcome.stop) == ("Written.", "end_turn")
    assert path.read_text() == text


def test_a_broken_stream_of_the_api_doubles_nothing(face: Face) -> None:
    outcome = face.play(script({"text": "It is said once and only once.", "chunk": 5, "drop": True, "times": 1}))
    assert outcome.stop == "end_turn"
    assert outcome.text.endswith("It is said once and only once.")
    assert outcome.text.count("only once") == 1


def test_an_overloaded_api_is_asked_again(face: Face) -> None:
    outcome = face.play(script({"status": 529, "error": "overloaded_error", "times": 1, "text": "At last."}))
    assert (outcome.text, outcome.stop) == ("At last.", "end_turn")


@pytest.mark.parametrize(("step", "advice"), [
    ({"status": 400, "error": "invalid_request_error",
      "text": "Your credit balance is too low to access the Anthropic API."}, "add some"),
    ({"status": 401, "error": "authentication_error", "text": "invalid x-api-key"}, "run `claude` once and log in"),
])
def test_what_only_a_person_can_mend_says_what_to_do(face: Face, step: Json, advice: str) -> None:
    outcome = face.play(script(step))
    assert outcome.error is not None and advice in outcome.error
    assert_works(face)


def test_a_session_is_forked_and_both_go_their_ways(peer: Claude, face: Face) -> None:
    face.play(script({"text": "I know xyzzy."}))
    branch = face.fork()
    view = branch.session.view()
    assert view["agentSessionId"] != face.session.view()["agentSessionId"] and view["agentStart"] == "forked"
    assert any(b"I know xyzzy." in data for _, data in branch.session.history()), "its history begins with its source's"
    assert_works(branch)
    assert "I know xyzzy." in json.dumps(peer.api.requests[-1]["messages"])
    assert_works(face)
    assert any(b"Still here." in data for _, data in branch.session.history())
    peer.hub.restart()
    branch.rejoin()
    assert_works(branch)
    assert branch.session.view()["agentStart"] == "resumed"
    left(branch)
    face.rejoin()


def test_a_session_that_the_hub_forgot_is_found_joined_and_gone_on_with(peer: Claude) -> None:
    session = peer.session()
    PacketsFace(peer.hub, AGENT, session).play(script({"text": "I know xyzzy."}))
    own_id = session.view()["agentSessionId"]
    session.delete()
    listed = peer.hub.wire.get(f"/adapters/{AGENT}/sessions")["sessions"]
    assert own_id in [found["id"] for found in listed]
    view = peer.hub.wire.post(f"/adapters/{AGENT}/sessions/{own_id}/attach", {})
    assert (view["agentSessionId"], view["agentStart"]) == (own_id, "loaded")
    joined = PacketsFace(peer.hub, AGENT, type(session)(peer.hub, view["id"], session.folder))
    assert any(b"I know xyzzy." in data for _, data in joined.session.history())
    assert_works(joined)
    assert "I know xyzzy." in json.dumps(peer.api.requests[-1]["messages"])
    joined.session.delete()


def test_the_latest_conversation_of_a_folder_is_continued(peer: Claude) -> None:
    session = peer.session()
    PacketsFace(peer.hub, AGENT, session).play(script({"text": "I know xyzzy."}))
    own_id = session.view()["agentSessionId"]
    session.delete()
    view = peer.hub.wire.post(f"/adapters/{AGENT}/sessions/latest/attach", {"projectPath": str(session.folder)})
    assert view["agentSessionId"] == own_id
    joined = Session(peer.hub, view["id"], session.folder)
    assert_works(PacketsFace(peer.hub, AGENT, joined))
    assert "I know xyzzy." in json.dumps(peer.api.requests[-1]["messages"])
    joined.delete()


def test_mcp_servers_images_modes_and_models_reach_the_cli(peer: Claude) -> None:
    program = Path(__file__).parents[1] / "tooling" / "mcp_server.py"
    server = {"name": "greeter", "command": sys.executable, "args": [str(program)],
              "env": [{"name": "SECRET", "value": "xyzzy"}]}
    session = peer.session(mcpServers=[server], mode="acceptEdits")
    face = PacketsFace(peer.hub, AGENT, session)
    outcome = face.play(script(tool("mcp__greeter__hello", name="Ann"), {"text": "Greeted."}))
    assert outcome.stop == "end_turn" and "Hello Ann, xyzzy" in outcome.result
    face.play(script(tool("Write", file_path=str(session.folder / "free.txt"), content="x"), {"text": "ok"}),
              lambda ask: pytest.fail("in this mode edits are not asked about"))
    models = next(option for option in session.view()["configOptions"] if option["id"] == "model")
    other = next(value["value"] for value in models["options"] if "haiku" in value["value"])
    assert "haiku" not in models["currentValue"]
    session.post("config", {"configId": "model", "value": other})
    session.post("config", {"configId": "thinking", "value": "4000"})
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    session.say([{"type": "text", "text": script({"text": "Seen."})},
                 {"type": "image", "data": picture, "mimeType": "image/png"}], wait_s=60)
    request = next(each for each in reversed(peer.api.requests) if each.get("tools"))
    assert '"type": "image"' in json.dumps(request["messages"])
    assert "haiku" in request["model"]
    assert request["thinking"].get("budget_tokens", 4000) <= 4000, "none, adaptive, or within its budget"
    session.delete()


def test_a_background_task_wakes_the_agent_and_the_next_prompt_has_a_turn_of_its_own(peer: Claude) -> None:
    session = peer.session()
    face = PacketsFace(peer.hub, AGENT, session)
    step = bash("sleep 1; echo woken")
    step["tools"][0]["input"]["run_in_background"] = True
    outcome = face.play(script(step, {"text": "It runs."}))
    assert outcome.stop == "end_turn"
    at_rest(peer, session)
    assert_works(face)
    assert_works(face)
    session.delete()


# What needs a hub of its own


@pytest.mark.parametrize("version", (NATIVE, PLAIN, OLD))
@pytest.mark.parametrize("mode", ("default", "acceptEdits", "plan"))
def test_rules_hold_also_for_what_the_cli_does_not_ask_about(version: str, mode: str, tmp_path: Path) -> None:
    with claude(version, tmp_path) as peer:
        peer.hub.wire.ask("PUT", "/policy", {"text": '[[rules]]\npath = [".env", "secrets/**"]\naction = "deny"\n'
                                                     '[[rules]]\ncommand = ["cat *", "ls *"]\naction = "deny"\n'}).expect(200)
        session = peer.session(mode=mode)
        (session.folder / ".env").write_text("TOPSECRET=1")
        (session.folder / "plain.txt").write_text("anybody may read this")
        face = PacketsFace(peer.hub, AGENT, session)
        read = tool("Read", file_path=str(session.folder / ".env"))
        write = tool("Write", file_path=str(session.folder / "secrets" / "x"), content="x")
        for step in (read, bash("cat .env"), *([write] if mode == "acceptEdits" else [])):
            outcome = face.play(script(step, {"text": "Then not."}), lambda ask: pytest.fail("a rule decides"))
            assert list(outcome.calls.values()) == ["failed"]
            assert "TOPSECRET" not in outcome.result and "TOPSECRET" not in told_to_model(peer)
        assert not (session.folder / "secrets").exists()
        outcome = face.play(script(tool("Read", file_path=str(session.folder / "plain.txt")), {"text": "Read."}),
                            lambda ask: pytest.fail("nothing is to be asked"))
        assert "anybody may read this" in told_to_model(peer)
        errors = peer.hub.wire.get(f"{session.path}/history?types=tool:error&limit=1000")["events"]
        assert {event["_meta"]["denied"]["resolvedBy"] for event in errors} == {"policy"}


@pytest.mark.parametrize("version", (NATIVE, PLAIN))
def test_a_rule_can_have_a_person_asked_about_what_the_cli_would_just_do(version: str, tmp_path: Path) -> None:
    with claude(version, tmp_path) as peer:
        peer.hub.wire.ask("PUT", "/policy", {"text": '[[rules]]\npath = ["*.key"]\naction = "ask"\n'}).expect(200)
        session = peer.session()
        (session.folder / "a.key").write_text("xyzzy")
        face = PacketsFace(peer.hub, AGENT, session)
        step = tool("Read", file_path=str(session.folder / "a.key"))
        outcome = face.play(script(step, {"text": "Then not."}), deny("not that one"))
        assert len(outcome.asks) == 1 and list(outcome.calls.values()) == ["failed"]
        assert "xyzzy" not in told_to_model(peer)
        assert len(face.play(script(step, {"text": "Thanks."})).asks) == 1
        assert "xyzzy" in told_to_model(peer)


@pytest.mark.parametrize("version", (NATIVE, PLAIN, OLD))
def test_a_cli_that_is_not_logged_in_says_how_to(version: str, tmp_path: Path) -> None:
    with claude(version, tmp_path, key="") as peer:
        outcome = PacketsFace(peer.hub, AGENT, peer.session()).play("hello")
        assert outcome.error is not None and "run `claude` once and log in" in outcome.error


@pytest.mark.parametrize("version", (NATIVE, PLAIN))
def test_a_stream_that_stalls_is_ended_and_the_session_goes_on(version: str, tmp_path: Path) -> None:
    with claude(version, tmp_path, "--idle-timeout", "3s") as peer:
        face = PacketsFace(peer.hub, AGENT, peer.session())
        outcome = face.play(script({"text": "words and words and words", "chunk": 5, "stall": 120}))
        assert outcome.error is not None and "3 s" in outcome.error
        assert_works(face)


def test_the_hub_is_killed_while_a_tool_runs_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    with claude(NATIVE, tmp_path) as peer:
        session = peer.session()
        note = session.folder / "pid"
        with session.send(script(bash(f"echo $$ > {note}; sleep 300")), wait_s=60) as stream:
            packet = stream.until("approval_requested")
            session.post(f"permissions/{packet.value['requestId']}", {"decision": "allow"})
            eventually(lambda: note.exists() and note.read_text().strip(), "the tool runs", 30)
            peer.hub.kill()
        peer.hub.start()
        assert not is_alive(int(note.read_text()))
        assert_works(PacketsFace(peer.hub, AGENT, session))


@pytest.mark.parametrize("version", (NATIVE, PLAIN, OLD))
def test_a_session_is_deleted_while_a_tool_runs_and_nothing_of_it_is_left(version: str, tmp_path: Path) -> None:
    with claude(version, tmp_path) as peer:
        session = peer.session()
        note = session.folder / "pid"
        with session.send(script(bash(f"echo $$ > {note}; sleep 300")), wait_s=60) as stream:
            packet = stream.until("approval_requested")
            session.post(f"permissions/{packet.value['requestId']}", {"decision": "allow"})
            eventually(lambda: note.exists() and note.read_text().strip(), "the tool runs", 30)
            session.delete()
        eventually(lambda: not is_alive(int(note.read_text())), "the tool's process is gone")


def test_a_full_disk_is_told_before_anything_is_lost(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("a small disk can be made by root only")
    try:
        with claude(NATIVE, tmp_path / "hub", config=disk) as peer:
            session = peer.session()
            face = PacketsFace(peer.hub, AGENT, session)
            assert_works(face)
            (disk / "filler").write_bytes(b"x" * (2 << 20))
            outcome = face.play("hello")
            assert outcome.error is not None and "free some space" in outcome.error
            told = peer.hub.wire.ask("POST", "/sessions", {"agent": AGENT, "cwd": str(session.folder)}).json()
            assert "free some space" in json.dumps(told)
            (disk / "filler").unlink()
            assert_works(face)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
