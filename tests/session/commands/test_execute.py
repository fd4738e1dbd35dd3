"""The nine commands, on a session with a scripted agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage, text
from trunkline.dialects.context.events import UserQuestionEvent
from trunkline.dialects.context.unions import DescriptionPreview
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import AlreadyResolved, Expired, Invalid, NotFound, TrunklineError, Unsupported
from trunkline.session.services import Limits

ALLOW_READS = {"autoApprove": {"reads": True, "writes": False, "commands": ["make *", "make"], "searches": True}}


async def commands_written(stage: Stage) -> list[Any]:
    events = [msgspec.json.decode(entry.event) for entry in await stage.session.feed.read(after=0)]
    return [event for event in events if event["type"] == "custom" and event["eventName"] == "command"]


def test_send_message_starts_a_turn_and_is_written_down_with_its_sender(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        result = await stage.execute("send_message", "c-1", message="hello")
        assert (result["queued"], len(stage.driver.known_call("prompt"))) == (False, 1)
        (written,) = await commands_written(stage)
        assert written["data"]["command"] == {"command": "send_message", "message": "hello"}
        assert (written["data"]["id"], written["data"]["ok"], written["_meta"]["by"]) == ("c-1", True, "ann")
        queued = await stage.execute("send_message", message="and then")
        assert queued["queued"] is True

    run(scenario())


def test_a_command_that_comes_again_is_answered_and_not_carried_out_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        both = await asyncio.gather(*(stage.execute("send_message", "same", message="once") for _ in range(2)))
        again = await stage.execute("send_message", "same", message="once")
        assert both[0] == both[1] == again
        assert len(stage.driver.known_call("prompt")) == 1
        assert len(await commands_written(stage)) == 1
        with pytest.raises(Invalid, match="used for another command"):
            await stage.execute("cancel", "same")

    run(scenario())


def test_an_error_is_remembered_under_its_id_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        for _ in range(2):
            with pytest.raises(NotFound, match="no approval"):
                await stage.execute("approve_tool_call", "c-1", requestId="nope", toolCallId="x")
        (written,) = await commands_written(stage)
        assert (written["data"]["ok"], written["data"]["error"]["code"]) == (False, "not_found")

    run(scenario())


def test_an_image_goes_with_a_message_as_data_or_as_a_file_of_the_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "shot.png").write_bytes(b"\x89PNG")
        address = f"/sessions/{stage.session.id}/files/content?path=shot.png"
        await stage.execute("send_message", message="look", attachments=[
            {"type": "image", "url": "data:image/png;base64,aGk="}, {"type": "image", "url": address}])
        (prompt,) = stage.driver.known_call("prompt")
        blocks = [msgspec.json.decode(block) for block in prompt[1]]
        assert [(block["type"], block.get("data")) for block in blocks] == [
            ("text", None), ("image", "aGk="), ("image", "iVBORw==")]
        for url in ("https://example.org/x.png", "data:text/html;base64,aGk=", "data:image/png;base64,!!",
                    f"/sessions/{stage.session.id}/files/content?path=../x.png", "file:///etc/passwd"):
            with pytest.raises((Invalid, NotFound, Exception), match=r"attachment|outside|data:"):
                await stage.execute("send_message", message="look", attachments=[{"type": "image", "url": url}])

    run(scenario())


@pytest.mark.parametrize("url", [
    "http://[::1", "/sessions/{id}/files/content?path=http://[::1.png", "data:image/png;base64,\xe9"])
def test_a_broken_address_of_an_attachment_is_refused_like_any_other(tmp_path: Path, url: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        url_here = url.replace("{id}", stage.session.id)
        with pytest.raises((Invalid, NotFound)):
            await stage.execute("send_message", "c", message="look", attachments=[{"type": "image", "url": url_here}])
        (written,) = await commands_written(stage)
        assert (written["data"]["id"], written["data"]["ok"]) == ("c", False)

    run(scenario())


def test_an_answer_that_is_nested_too_deeply_is_refused_and_the_question_stays_open(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        schema = b'{"type":"object","properties":{"name":{"type":"string"}}}'
        await stage.send("hi")
        stage.driver.say(QuestionAsk("q", "who?", schema, None, None))
        with pytest.raises(Invalid, match="JSON object of: name"):
            await stage.execute("answer_question", "c", questionId="q", answer='{"a":' * 3000)
        assert list(stage.session.fold.questions) == ["q"]
        assert len(await commands_written(stage)) == 1

    run(scenario())


def test_a_command_that_the_hub_fails_to_carry_out_is_written_down_and_remembered(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()

        async def broken(**_: Any) -> bool:
            raise ZeroDivisionError

        monkeypatch.setattr(stage.session.turns, "cancel", broken)
        with pytest.raises(ZeroDivisionError):
            await stage.execute("cancel", "c")
        with pytest.raises(TrunklineError, match="failed to carry it out") as again:
            await stage.execute("cancel", "c")
        assert again.value.code == "internal"
        (written,) = await commands_written(stage)
        assert written["data"]["error"]["code"] == "internal"

    run(scenario())


def test_an_option_of_an_unknown_kind_is_chosen_by_its_name_and_never_a_yes(tmp_path: Path) -> None:
    odd = PermissionOption("odd", "Allow for a day", "other")

    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(PermissionAsk("r", msgspec.json.encode({"toolCallId": "c", "rawInput": {"command": "ls"}}), (odd,)))
        about = {"requestId": "r", "toolCallId": "c"}
        with pytest.raises(Invalid, match="no option that allows"):
            await stage.execute("approve_tool_call", **about)
        with pytest.raises(Invalid, match="not what the command says"):
            await stage.execute("approve_tool_call", **about, _meta={"optionId": "odd"})
        with pytest.raises(Invalid, match="decide once"):
            await stage.execute("deny_tool_call", **about, _meta={"optionId": "odd", "scope": "session"})
        assert await stage.execute("deny_tool_call", **about, _meta={"optionId": "odd"}) == {"approved": False}
        assert stage.driver.known_call("permission") == [("permission", "r", "odd")]
        assert session.fold.calls["c"].denied is False, "what it lets the agent do is the agent's own"

    run(scenario())


def test_approve_and_deny_name_the_call_that_they_are_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        with pytest.raises(Invalid, match="about tool call call-1, not call-9"):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-9")
        await stage.execute("deny_tool_call", requestId="req-1", toolCallId="call-1", reason="not now")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")]
        assert stage.driver.reasons == ["not now"]
        with pytest.raises(AlreadyResolved, match="ann"):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1", by="bob")

    run(scenario())


def test_an_answer_after_the_time_is_up_has_expired(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(approval_timeout=0.04))
        await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_resolved")
        with pytest.raises(Expired):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1")
        assert "interaction:notification" in await stage.types(), "at three quarters of its time it was called to mind"

    run(scenario())


def test_an_edited_input_is_unsupported_where_the_agent_cannot_take_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        with pytest.raises(Unsupported):
            await stage.execute("approve_tool_call", requestId="req-1", toolCallId="call-1",
                                _meta={"updatedInput": {"command": "make safe"}})
        assert stage.driver.known_call("permission") == []

    run(scenario())


def test_what_we_do_not_know_in_meta_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        with pytest.raises(Invalid, match="_meta of cancel"):
            await stage.execute("cancel", _meta={"gently": True})

    run(scenario())


def test_a_question_is_answered_by_a_plain_string_or_an_object(tmp_path: Path) -> None:
    schema = msgspec.json.encode({"type": "object", "properties": {"colour": {
        "type": "string", "enum": ["red", "blue"], "default": "blue"}}})

    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(QuestionAsk("q-1", "Which colour?", schema))
        await stage.packets("question_requested")
        (asked,) = [event for event in await stage.events() if isinstance(event, UserQuestionEvent)]
        assert (asked.options, asked.default_value) == (["red", "blue"], "blue")
        with pytest.raises(Invalid, match="red, blue"):
            await stage.execute("answer_question", questionId="q-1", answer="green")
        await stage.execute("answer_question", questionId="q-1", answer="red")
        assert stage.driver.known_call("question") == [("question", "q-1", "accept", {"colour": "red"})]

    run(scenario())


def test_pause_holds_rules_and_the_queue_until_resume(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.execute("set_permission_policy", policy=ALLOW_READS)
        await stage.send()
        held = await stage.execute("pause")
        assert held == {"held": ["approvals", "queue"]}
        view = session.view()
        assert view.status == "paused" and view.paused is not None and view.paused.reason is None, "nobody gave a reason"
        await stage.send("second", when_busy="queue")
        stage.driver.ask()
        await stage.packets("approval_requested")
        assert session.view().status == "paused"
        stage.driver.say(text("still talking"))
        assert stage.driver.known_call("permission") == [], "a rule allows it, but the session is held"
        await stage.execute("resume")
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]
        await stage.execute("pause")
        stage.driver.end()
        await stage.packets("prompt_response")
        assert len(stage.driver.known_call("prompt")) == 1, "the queue waits"
        assert session.view().status == "paused"
        await stage.execute("resume", prompt="third")
        await stage.until(lambda: len(stage.driver.known_call("prompt")) == 2)
        assert [prompt.content for prompt in session.view().queue] != []
        types = await stage.types()
        assert types.count("session:paused") == 2 and types.count("session:resumed") == 2

    run(scenario())


async def failed_before(stage: Stage, *waiting: str) -> None:
    """The agent died in a turn behind which prompts wait."""
    await stage.send("it fails")
    for words in waiting:
        await stage.send(words, when_busy="queue")
    stage.driver.die()
    await stage.packets("error")


def prompts_told(stage: Stage) -> list[str]:
    """What all agents of the session were prompted with, in order."""
    told = [each for driver in stage.drivers for each in driver.known_call("prompt")]
    return [msgspec.json.decode(content[0])["text"] for _, content in told]


def test_a_queue_that_a_failure_held_back_goes_on_by_resume(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await failed_before(stage, "one", "two")
        assert (prompts_told(stage), len(session.view().queue)) == (["it fails"], 2)
        assert await stage.execute("resume") == {"resumed": True}
        await stage.until(lambda: len(prompts_told(stage)) == 2)
        assert await stage.execute("resume") == {"resumed": False}, "a turn runs, and the rest waits for that one alone"
        stage.driver.end()
        await stage.until(lambda: prompts_told(stage) == ["it fails", "one", "two"])

    run(scenario())


@pytest.mark.parametrize(("when_busy", "order"), [("queue", ["one", "later"]), ("reject", ["later", "one"])])
def test_a_prompt_that_may_wait_overtakes_none_that_a_failure_held_back(tmp_path: Path, when_busy: Any, order: list[str]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await failed_before(stage, "one")
        accepted = await stage.send("later", when_busy=when_busy)
        assert accepted.queued is (when_busy == "queue")
        await stage.until(lambda: prompts_told(stage)[1:] == order[:1])
        stage.driver.end()
        await stage.until(lambda: prompts_told(stage)[1:] == order)
        assert session.view().queue == []

    run(scenario())


def test_pause_can_end_the_turn_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        assert await stage.execute("pause", _meta={"interrupt": True}) == {"held": ["approvals", "queue", "turn"]}
        assert stage.driver.known_call("cancel") == [("cancel",)]
        stage.driver.end("cancelled")
        await stage.packets("prompt_response")
        assert session.view().status == "paused"

    run(scenario())


def test_a_prompt_to_a_held_session_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.execute("pause")
        assert (await stage.execute("send_message", message="later"))["queued"] is True
        assert session.view().status == "paused" and stage.driver.known_call("prompt") == []
        await stage.execute("resume")
        await stage.until(lambda: bool(stage.driver.known_call("prompt")))

    run(scenario())


def test_terminate_ends_turn_and_agent_and_tells_a_true_summary(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        await stage.send("queued", when_busy="queue")
        stage.driver.ask()
        await stage.packets("approval_requested")
        await stage.execute("terminate")
        assert stage.driver.known_call("stop") and not session.agent.running
        assert (session.view().status, session.view().queue) == ("completed", [])
        types = await stage.types()
        assert types.index("session:completed") > types.index("approval:resolved")
        ends = [packet for packet in await stage.packets() if packet["type"] in ("prompt_response", "error")]
        assert [packet.get("stopReason") for packet in ends] == ["cancelled"]
        await stage.execute("terminate")
        assert (await stage.types()).count("session:completed") == 1
        await stage.send("again")
        await stage.until(lambda: len(stage.drivers) == 2)
        assert session.view().status == "running"

    run(scenario())


def test_a_permission_policy_decides_also_what_waits_already(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        await stage.execute("set_permission_policy", policy=ALLOW_READS)
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]
        stage.driver.ask("req-2", toolCallId="call-2", rawInput={"command": "make && rm -rf x"})
        await stage.packets("approval_requested", 2)
        assert [view.request_id for view in session.view().pending_approvals] == ["req-2"]

    run(scenario())


def test_a_command_whose_option_says_the_opposite_is_refused_and_the_answer_is_the_truth(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        ids = {"requestId": "req-1", "toolCallId": "call-1"}
        with pytest.raises(Invalid, match="option yes means allow_once"):
            await stage.execute("deny_tool_call", _meta={"optionId": "yes"}, **ids)
        with pytest.raises(Invalid, match="option no means reject_once"):
            await stage.execute("approve_tool_call", _meta={"optionId": "no"}, **ids)
        assert stage.driver.known_call("permission") == []
        assert await stage.execute("deny_tool_call", _meta={"optionId": "no"}, **ids) == {"approved": False}

    run(scenario())


def test_one_id_is_for_one_command_also_while_the_first_is_at_work(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        ids = {"requestId": "req-1", "toolCallId": "call-1"}
        outcomes = await asyncio.gather(
            stage.execute("approve_tool_call", "one", **ids), stage.execute("deny_tool_call", "one", **ids),
            stage.execute("cancel", "one"), return_exceptions=True)
        assert outcomes[0] == {"approved": True}
        assert [type(outcome) for outcome in outcomes[1:]] == [Invalid, Invalid]
        with pytest.raises(Invalid, match="another command"):
            await stage.execute("approve_tool_call", "one", requestId="req-2", toolCallId="call-1")

    run(scenario())


def test_an_agent_that_allows_only_for_good_is_not_answered_so_by_a_plain_approval(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        options = (PermissionOption("ever", "Always", "allow_always"), PermissionOption("no", "No", "reject_once"))
        call = {"toolCallId": "call-1", "kind": "execute", "rawInput": {"command": "make"}}
        stage.driver.say(PermissionAsk("req-1", msgspec.json.encode(call), options))
        await stage.packets("approval_requested")
        ids = {"requestId": "req-1", "toolCallId": "call-1"}
        await stage.execute("set_permission_policy", policy=ALLOW_READS)
        with pytest.raises(Unsupported, match="ever"):
            await stage.execute("approve_tool_call", **ids)
        assert stage.driver.known_call("permission") == [] and session.view().pending_approvals
        await stage.execute("deny_tool_call", **ids)

    run(scenario())


def test_the_preview_names_the_folder_in_which_the_command_runs(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(rawInput={"command": "make", "cwd": "sub"})
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.preview is not None and view.preview.working_dir == str(tmp_path / "sub")  # type: ignore[union-attr]

    run(scenario())


def test_an_ask_outside_of_a_turn_is_denied_by_the_hub_and_says_why(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        stage.driver.ask()
        (resolved,) = [p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved"]
        assert (resolved["resolvedBy"], resolved["reason"]) == ("policy", "the agent is not at work")

    run(scenario())


@pytest.mark.parametrize("call", [
    {"rawInput": {}, "content": [{"type": "diff", "path": "a.txt", "oldText": "line 30", "newText": "LINE 30"}]},
    {"rawInput": {"file_path": "a.txt", "old_string": "line 30", "new_string": "LINE 30"}}])
def test_a_piece_of_a_file_is_shown_in_its_place_with_the_lines_around_it(tmp_path: Path, call: dict[str, Any]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        (tmp_path / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 61)))
        await stage.send()
        stage.driver.ask(kind="edit", title="Edit a.txt", **call)
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        shown = view.preview.diff.splitlines()  # type: ignore[union-attr]
        assert shown[2:] == ["@@ -27,7 +27,7 @@", " line 27", " line 28", " line 29", "-line 30", "+LINE 30", " line 31",
                             " line 32", " line 33"]

    run(scenario())


def test_there_is_always_something_to_show(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        huge = "x\n" * 200_000
        stage.driver.ask(kind="edit", rawInput={}, content=[{"type": "diff", "path": "a.txt", "oldText": "y", "newText": huge}])
        stage.driver.ask("req-2", toolCallId="call-2", title="Call the server", kind="other", rawInput={"a": 1})
        await stage.packets("approval_requested", 2)
        first, second = session.view().pending_approvals
        assert isinstance(first.preview, DescriptionPreview) and "a.txt" in first.preview.text
        assert second.preview.text == "Call the server"  # type: ignore[union-attr]

    run(scenario())


def test_an_input_that_no_event_could_carry_is_left_out_and_said_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(kind="edit", rawInput={"file_path": "a.txt", "content": "x" * 400_000})
        await stage.packets("approval_requested")
        entries = await session.feed.read(after=0, max_bytes=1 << 30)
        assert max(len(entry.event) for entry in entries) < 100_000
        executing = next(event for entry in entries if (event := msgspec.json.decode(entry.event))["type"] == "tool:executing")
        assert executing["input"] == {} and executing["_meta"]["truncated"]["bytes"] > 400_000
        (view,) = session.view().pending_approvals
        assert view.about is not None and view.about.paths, "the rules saw all of it"

    run(scenario())


def test_a_glob_that_only_looks_like_an_expression_is_not_approved_as_a_search(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.execute("set_permission_policy", policy=ALLOW_READS)
        await stage.send()
        given = [{"pattern": "foo|bar", "path": "."}, {"pattern": "/root/.ssh", "path": "."},
                 {"pattern": "/etc/@(passwd|shadow)"}]
        for number, one in enumerate(given):
            stage.driver.ask(f"req-{number}", toolCallId=f"call-{number}", title="Search", kind="search", rawInput=one)
        await stage.packets("approval_requested", 3)
        assert {view.tool_name for view in session.view().pending_approvals} == {"Search"}, "as it is titled"
        assert list(session.fold.approvals) == ["req-1", "req-2"]

    run(scenario())
