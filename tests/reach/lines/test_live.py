"""A session's live line: what it tells and the file tells is told once; asks go in, answers and prompts go out."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.aio import eventually, run
from tests.reach.lines.lined import ENDED, Lined, called, check, lined, prompted, said
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.elsewhere.lines import AskOver, Asks, NotTaken, Said, Says, WaitsThere
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import AlreadyResolved, TurnInProgress, Unsupported
from trunkline.hub import Answer, Decision
from trunkline.reach.lines import live
from trunkline.reach.lines.live import EVENTS_MOST, LOST, TOLD_BYTES

DENY = '[[rules]]\ncommand = ["touch forbidden"]\nreason = "not that one"\naction = "deny"\n'
ALLOW = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'
OPTIONS = (PermissionOption("allow", "Allow", "allow_once"), PermissionOption("deny", "Deny", "reject_once"))


def asks(command: str = "touch a", call_id: str = "call_1", key: str = "7") -> Asks:
    call = f'{{"toolCallId":"{call_id}","kind":"execute","title":"{command}","rawInput":{{"command":"{command}"}}}}'
    return Asks(key, PermissionAsk("", call.encode(), OPTIONS, beyond_turn=True))


async def send(there: Lined, text: str, **more: str) -> None:
    await there.session.turns.send([TextContent(text=text)], by="somebody", **more)


def test_words_are_there_before_the_file_has_them_and_once_when_it_has() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(Says("m1", "Hel"))
        there.line.take(Says("m1", "lo."))
        await there.has_read()
        assert await there.deltas() == "Hello."
        there.line.take(Said("Hello."))
        there.writes(said("Hello.", "m1"), said("And more.", "m2"), ENDED)
        await there.has_read()
        assert await there.messages() == [("user", "Please."), ("assistant", "Hello."), ("assistant", "And more.")]

    check(scenario)


def test_a_text_that_the_file_says_while_it_is_told_gets_its_rest_from_there() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(Says("m1", "Hel"))
        await there.has_read()
        there.writes(said("Hello.", "m1"), ENDED)
        await there.has_read()
        assert await there.messages() == [("user", "Please."), ("assistant", "Hello.")]
        assert await there.deltas() == "Hello."
        there.line.take(Says("m1", "lo."))  # of which the line is told a moment later
        there.line.take(Said("Hello."))
        await there.has_read()
        assert await there.deltas() == "Hello."

    check(scenario)


def test_words_that_come_late_are_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "WRITTEN_S", 0.2)  # it waits for words that the file does not have

    async def scenario(there: Lined) -> None:
        there.writes(said("Done.", "m1"))
        await there.has_read()
        there.line.take(Says("m1", "Do"))
        there.line.take(Says("m1", "ne."))
        there.line.take(Said("Done."))
        there.line.take(Says("another-id", "Done."))  # where the file has other ids, the words count
        there.line.take(Said())
        there.writes(ENDED)
        await there.has_read()
        assert await there.messages() == [("user", "Please."), ("assistant", "Done.")]

    check(scenario)


def test_a_text_that_was_broken_off_stays_and_what_comes_next_is_whole() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(Says("m1", "Do"))
        await there.has_read()
        there.writes(ENDED, prompted("Again."), said("Done.", "m2"), ENDED)
        await there.has_read()
        assert await there.messages() == [("user", "Please."), ("assistant", "Do"), ("user", "Again."), ("assistant", "Done.")]

    check(scenario)


def test_a_line_that_is_lost_leaves_no_gap_and_nothing_twice() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(Says("m1", "Hel"))
        await there.has_read()
        await there.line.close()
        there.line = None
        assert not there.session.fold.line
        there.writes(said("Hello.", "m1"), said("More.", "m2"), ENDED)
        await there.has_read()
        assert await there.deltas() == "Hello.More."

    check(scenario)


@given(st.lists(st.sampled_from(["Hello there.", "Done.", "Done. Really.", "I think."]), min_size=1, max_size=4),
       st.lists(st.integers(0, 12), min_size=8, max_size=8), st.integers(0, 4), st.booleans())
def test_whoever_is_first_all_is_told_once(texts: list[str], cuts: list[int], lost: int, ids: bool) -> None:
    """The line tells each text in pieces, up to where it is lost; the file says them one after the other, in between."""
    async def scenario(there: Lined) -> None:
        for number, text in enumerate(texts):
            if number < lost:
                cut = cuts[number] % (len(text) + 1)
                for piece in filter(None, (text[:cut], text[cut:])):
                    there.line.take(Says(f"m{number}" if ids else f"x{number}", piece))
                    if cuts[number + 4] % 3 == 0:
                        await there.has_read()
                if cuts[number + 4] % 2:
                    there.line.take(Said(text))
            there.writes(said(text, f"m{number}"))
            await there.has_read()
        there.writes(ENDED)
        await there.has_read()
        assert await there.messages() == [("user", "Please."), *(("assistant", text) for text in texts)]

    check(scenario)


def test_after_a_restart_it_goes_on_where_it_was() -> None:
    async def scenario() -> None:
        with tempfile.TemporaryDirectory(prefix="tl-") as name:
            async with lined(Path(name)) as there:
                await there.connects()
                there.line.take(Says("m1", "Told."))
                there.line.take(Said("Told."))
                there.line.take(Says("m2", "Half "))
                await there.has_read()
                await there.session.snapshot()
                before = there.session.fold.seq
                first = there.session.id
            async with lined(Path(name)) as there:
                there.writes(said("Told.", "m1"), said("Half told.", "m2"), ENDED)
                await there.follows()
                await there.has_read()
                assert there.session.id == first and there.session.fold.seq > before
                assert not there.session.fold.line
                assert await there.deltas() == "Told.Half told."
                assert await there.messages() == [("user", "Please."), ("assistant", "Told."), ("assistant", "Half told.")]

    run(scenario())


def test_an_ask_is_answered_here_and_its_answer_goes_out() -> None:
    async def scenario(there: Lined) -> None:
        there.writes(called("touch a", "call_1"))
        there.line.take(asks())
        ask = await there.asked()
        assert (ask.approval.tool_call_id, ask.approval.about.command) == ("call_1", "touch a")
        await there.decide(decision="allow")
        await eventually(lambda: there.program.decisions)
        (key, decided), = there.program.decisions
        assert (key, decided.option_id) == ("7", "allow")

    check(scenario)


@pytest.mark.parametrize(("approved", "reason"), [(True, "answered in the terminal: allowed"), (None, "answered in the terminal"),
                                                  (False, "answered in the terminal: not allowed")])
def test_an_answer_there_withdraws_it_here(approved: bool | None, reason: str) -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(asks())
        await there.asked()
        there.line.take(AskOver("7", approved))
        await eventually(lambda: not there.hub.pending())
        (end,) = await there.events("ApprovalResolvedEvent")
        assert (end.approved, end.reason, end.meta["by"]) == (bool(approved), reason, "terminal")
        assert there.program.decisions == []

    check(scenario)


def test_an_ask_that_comes_again_with_another_command_is_another() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(asks("touch a"))
        first = await there.asked()
        there.line.take(asks("touch a"))
        await there.has_read()
        assert (await there.asked()).approval.request_id == first.approval.request_id
        there.line.take(asks("touch b", "call_2"))
        await there.has_read()
        second = await there.asked()
        assert second.approval.about.command == "touch b" and second.approval.request_id != first.approval.request_id
        with pytest.raises(AlreadyResolved):
            await there.session.approvals.decide(first.approval.request_id, Decision(decision="allow"), by="somebody")
        assert there.program.decisions == []

    check(scenario)


def test_a_yes_to_what_was_asked_before_is_none_to_what_has_come_in_its_place() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(asks("touch a"))
        first = await there.asked()
        await there.has_read()
        changed = asks("touch b", "call_2")
        there.line.take(Asks(changed.key, changed.ask, "call_of_tomorrow"))  # its call is waited for
        with pytest.raises(AlreadyResolved):
            await there.session.approvals.decide(first.approval.request_id, Decision(decision="allow"), by="somebody")
        there.line.take(asks("touch c", "call_3"))
        there.writes(called("touch b", "call_of_tomorrow"))
        await there.has_read()
        assert (await there.asked()).approval.about.command == "touch c" and there.program.decisions == []
        asked = [event.preview for event in await there.events("ApprovalRequestedEvent")]
        assert len(asked) == 2, "what was changed again before it could be shown is not shown"

    check(scenario)


def test_what_only_the_terminal_can_answer_is_told_as_a_notice() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(WaitsThere("Which password?"))
        await there.has_read()
        (told,) = await there.events("NotificationEvent")
        assert "waits for you in its terminal" in str(told) and "Which password?" in str(told)
        assert not there.hub.pending()

    check(scenario)


def test_a_call_that_was_allowed_there_and_failed_is_told_as_allowed() -> None:
    async def scenario(there: Lined) -> None:
        there.writes(called("touch a", "call_1"))
        there.line.take(asks())
        ask = await there.asked()
        await there.has_read()
        there.line.take(AskOver("7", True))
        there.session.fold.calls["call_1"].state.status = "failed"
        there.session.fold.calls["call_1"].finished = True
        there.line.settle()  # the file was quicker than the line
        await eventually(lambda: not there.hub.pending())
        (end,) = await there.events("ApprovalResolvedEvent")
        assert ask.approval.request_id and (end.approved, end.reason) == (True, "answered in the terminal: allowed")

    check(scenario)


def test_a_line_that_is_lost_takes_its_asks_with_it() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(asks())
        await there.asked()
        await there.line.close()
        (end,) = await there.events("ApprovalResolvedEvent")
        assert (end.approved, end.reason) == (False, LOST)
        assert there.program.decisions == []

    check(scenario)


def test_what_a_line_tells_of_a_session_that_was_taken_over_is_nobodys() -> None:
    async def scenario(there: Lined) -> None:
        there.line.take(asks())
        await there.asked()
        there.session.lifecycle._close_followed()
        there.session.agent._recorder.at().lifecycle.taken_over()
        before = len(await there.events())
        told = AskOver("7", True), Says("m2", "Words."), Said("Words."), asks("touch b", "call_2", "8"), NotTaken("turn_1", "no")
        assert all(map(there.line.take, told))
        await there.line._at_rest.wait()
        assert not there.hub.pending() and len(await there.events()) == before

    check(scenario)


def test_an_ask_whose_session_is_taken_over_while_its_call_is_looked_for_is_nobodys() -> None:
    async def scenario(there: Lined) -> None:
        await there.has_read()
        there.line.take(Asks("7", asks().ask, "call_of_tomorrow"))
        await asyncio.sleep(0)  # it waits for the file
        there.session.agent._recorder.at().lifecycle.taken_over()
        there.writes(called("touch a", "call_of_tomorrow"))
        await there.line.close()
        assert not there.hub.pending() and await there.events("ApprovalRequestedEvent") == []

    check(scenario)


def test_a_deny_rule_answers_at_once_and_an_allow_rule_only_where_that_is_wanted() -> None:
    async def denied(there: Lined) -> None:
        there.line.take(asks("touch forbidden"))
        await eventually(lambda: there.program.decisions)
        assert there.program.decisions[0][1].option_id == "deny"
        assert "not that one" in (there.program.decisions[0][1].reason or "")

    async def asked(there: Lined) -> None:
        there.line.take(asks())
        await there.asked()

    async def allowed(there: Lined) -> None:
        there.line.take(asks())
        await eventually(lambda: there.program.decisions)
        assert there.program.decisions[0][1].option_id == "allow"

    check(denied, DENY)
    check(asked, ALLOW)
    check(allowed, ALLOW, terminal_rules=True)


def test_a_reason_that_no_answer_carries_is_the_next_prompt() -> None:
    async def scenario(there: Lined) -> None:
        there.program.words = "That was not allowed: no"
        there.line.take(asks())
        await there.decide(decision="deny", reason="no")
        await eventually(lambda: there.session.fold.queue)
        assert there.program.prompts == []
        there.writes(ENDED)
        await eventually(lambda: there.program.prompts)
        assert there.program.prompts[0][1] == "That was not allowed: no"

    check(scenario)


def test_a_question_is_answered_here() -> None:
    async def scenario(there: Lined) -> None:
        schema = b'{"type":"object","properties":{"color":{"type":"string"}}}'
        there.line.take(Asks("9", QuestionAsk("", "Which?", schema, beyond_turn=True)))
        ask = await there.asked()
        answer_here = Answer(action="accept", content={"color": "Blue"})
        await there.session.approvals.answer(ask.question.question_id, answer_here, by="me")
        await eventually(lambda: there.program.answers)
        key, answer = there.program.answers[0]
        assert (key, answer.action, answer.content) == ("9", "accept", b'{"color":"Blue"}')

    check(scenario)


def test_a_prompt_goes_out_and_comes_back_as_the_senders_turn() -> None:
    async def scenario(there: Lined) -> None:
        there.writes(ENDED)
        await there.has_read()
        await send(there, "say  hello", idempotency_key="k")
        ((turn_id, text),) = there.program.prompts
        assert text == "say  hello" and there.session.fold.turn is None
        await send(there, "say  hello", idempotency_key="k")
        assert len(there.program.prompts) == 1
        there.writes(prompted("say hello"))
        await there.has_read()
        turn = there.session.view().turn
        assert (turn.turn_id, turn.by) == (turn_id, "somebody")
        assert [said for said in await there.messages() if said[0] == "user"] == [("user", "Please."), ("user", "say hello")]

    check(scenario)


def test_while_a_turn_runs_a_prompt_waits_or_is_refused() -> None:
    async def scenario(there: Lined) -> None:
        await there.has_read()
        with pytest.raises(TurnInProgress):
            await send(there, "now")
        await send(there, "first", when_busy="queue")
        await send(there, "second", when_busy="queue")
        assert there.program.prompts == []
        there.writes(ENDED)
        await eventually(lambda: there.program.prompts)
        await there.has_read()
        assert [text for _, text in there.program.prompts] == ["first"]
        there.writes(prompted("first"), ENDED)
        await eventually(lambda: len(there.program.prompts) == 2)
        assert there.session.fold.queue == []

    check(scenario)


def test_a_prompt_that_is_not_taken_is_told_to_people() -> None:
    async def scenario(there: Lined) -> None:
        there.writes(ENDED)
        await there.has_read()
        await send(there, "hello")
        there.line.take(NotTaken(there.program.prompts[0][0], "the thread is closed"))
        await there.has_read()
        (note,) = await there.events("NotificationEvent")
        assert "the thread is closed" in note.message
        await send(there, "again")
        await there.line.close()
        assert "may have it" in (await there.events("NotificationEvent"))[-1].message

    check(scenario)


def test_the_turn_is_interrupted_when_somebody_says_so() -> None:
    async def scenario(there: Lined) -> None:
        await there.has_read()
        assert await there.session.turns.cancel(by="somebody")
        assert there.program.cancels == 1
        there.writes(ENDED)
        await there.has_read()
        assert not await there.session.turns.cancel(by="somebody")

    check(scenario)


def test_what_only_its_person_may_do_is_refused_and_all_of_it_without_a_line() -> None:
    async def scenario(there: Lined) -> None:
        for act in (there.session.turns.pause, there.session.turns.resume, there.session.turns.terminate):
            with pytest.raises(Unsupported):
                await act(by="somebody")
        assert there.session.view().watch_only and there.session.view().line
        await there.line.close()
        assert not there.session.view().line
        with pytest.raises(Unsupported):
            await send(there, "hello")

    check(scenario)


def test_a_line_that_tells_too_much_is_told_so() -> None:
    async def scenario(there: Lined) -> None:
        there.line._task.cancel()
        assert all(there.line.take(Says("m", "x")) for _ in range(EVENTS_MOST))
        assert not there.line.take(Says("m", "x"))
        there.line._events.clear()
        there.line._told_bytes = 0
        long = Said("x" * (TOLD_BYTES // 2))
        assert [there.line.take(long) for _ in range(3)] == [True, True, False]
        there.line._events.clear()
        there.line._at_rest.set()
        await asyncio.sleep(0)

    check(scenario)
