"""Whose turn it is: which result ends a prompt of ours, and which what the CLI began itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from tests.tooling.rows import every_row
from trunkline.dialects.signals import TurnEnd


def test_a_prompt_ends_with_its_result_behind_everything_that_was_said() -> None:
    told = f.hear(f.prompted("p"), f.init(), f.begin("m"), f.block(0), f.say(0, "Hi"), f.whole("m", f.text("Hi")), f.stop(),
                  f.result(result="Hi", user_message_uuids=["p"]))
    assert isinstance(told[-1], TurnEnd) and f.ends(told) == ["end_turn"]


def test_a_turn_that_nobody_asked_for_is_told_and_ends_in_a_note() -> None:
    translate = translator()
    told = f.hear(translate, f.init(), f.whole("m", f.text("Your task is done.")))
    assert (f.notes(told, "background_turn"), translate.working) == ([{"state": "started"}], True)
    told = f.hear(translate, f.result(origin={"kind": "task-notification"}))
    assert (f.ends(told), translate.working) == ([], False)
    assert f.notes(told, "background_turn") == [{"state": "ended", "stopReason": "end_turn", "origin": "task-notification"}]


def test_a_cli_that_has_not_answered_yet_begins_no_turn_of_its_own() -> None:
    translate = translator()
    translate.opening(is_opening=True)
    assert (f.notes(f.hear(translate, f.init()), "background_turn"), translate.working) == ([], False)
    translate.prompted("p")
    assert (f.ends(f.hear(translate, f.result())), translate.working) == (["end_turn"], False)
    translate.opening(is_opening=False)
    assert f.notes(f.hear(translate, f.init()), "background_turn") == [{"state": "started"}]


def test_a_prompt_that_was_sent_into_a_turn_of_the_clis_own_ends_with_its_own_result() -> None:
    translate = translator()
    f.hear(translate, f.init())
    translate.prompted("p")
    assert (f.ends(f.hear(translate, f.result())), translate.working) == ([], True)
    assert (f.ends(f.hear(translate, f.init(), f.result())), translate.working) == (["end_turn"], False)


@pytest.mark.parametrize("sign", [
    f.frame("command_lifecycle", command_uuid="p", state="started"),
    f.system("status", status="requesting", user_message_uuids=["p"]),
    f.frame("user", uuid="p", message={"content": "hello"}, isReplay=True),
])
def test_a_prompt_that_the_cli_took_into_its_own_turn_ends_with_that(sign: bytes) -> None:
    translate = translator()
    f.hear(translate, f.init())
    translate.prompted("p")
    assert f.ends(f.hear(translate, sign, f.result())) == ["end_turn"]


@pytest.mark.parametrize("fields", [{"origin": {"kind": "task-notification"}}, {"user_message_uuids": ["another"]}])
def test_a_result_of_something_else_does_not_end_a_prompt(fields: dict[str, Any]) -> None:
    translate = f.prompted("p")
    assert f.ends(f.hear(translate, f.init(), f.result(**fields))) == []
    assert f.ends(f.hear(translate, f.result(user_message_uuid="p"))) == ["end_turn"]


def became(state: str, uuid: str = "p") -> bytes:
    return f.frame("command_lifecycle", command_uuid=uuid, state=state)


def interrupted(*uuids: str) -> bytes:
    response = {"still_queued": [], "cancelled": list(uuids)}
    return f.frame("control_response", response={"subtype": "success", "request_id": "r", "response": response})


@every_row("frames", [
    [became("queued"), became("cancelled"), interrupted("p")], [became("queued"), interrupted("p"), became("cancelled")],
    [became("cancelled")], [interrupted("p")], [became("started"), became("cancelled")],
])
def test_a_prompt_that_an_interrupt_took_out_of_the_queue_was_cancelled_and_once(frames: list[bytes]) -> None:
    translate = f.prompted("p")
    assert (f.ends(f.hear(translate, frames)), translate.working) == (["cancelled"], False)
    assert f.hear(translate, frames) == []
    translate.prompted("next")
    assert f.ends(f.hear(translate, frames, f.init(), f.result(user_message_uuids=["next"]))) == ["end_turn"]


@pytest.mark.parametrize("state", ["discarded", "refused"])
def test_a_prompt_that_the_cli_does_not_want_is_an_error_that_says_so(state: str) -> None:
    translate = f.prompted("p")
    (end,) = f.hear(translate, became("queued"), became(state))
    assert isinstance(end, TurnEnd) and end.error is not None and state in end.error.message
    assert not translate.working


@pytest.mark.parametrize("state", ["cancelled", "discarded", "refused"])
def test_what_becomes_of_a_prompt_after_its_result_ends_nothing(state: str) -> None:
    translate = f.prompted("p")
    told = f.hear(translate, became("started"), f.init(), f.result(terminal_reason="aborted_streaming", user_message_uuids=["p"]))
    translate.prompted("next")
    assert (f.ends(told), f.hear(translate, became(state)), translate.working) == (["cancelled"], [], True)


def test_a_result_that_comes_after_its_prompt_was_taken_back_ends_nothing_else() -> None:
    translate = f.prompted("p")
    f.hear(translate, became("started"), f.init(), became("cancelled"))
    translate.prompted("next")
    assert f.ends(f.hear(translate, f.result(terminal_reason="aborted_streaming", user_message_uuids=["p"]))) == []
    assert f.ends(f.hear(translate, f.result(user_message_uuids=["next"]))) == ["end_turn"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_turn_of_the_clis_own_goes_on_when_the_prompt_behind_it_is_taken_back(is_first: bool) -> None:
    """It may have begun before the prompt was written, or while the prompt was on its way."""
    translate = translator()
    if is_first:
        f.hear(translate, f.init())
    translate.prompted("p")
    if not is_first:
        f.hear(translate, f.init())
    assert (f.ends(f.hear(translate, became("queued"), became("cancelled"))), translate.working) == (["cancelled"], True)
    told = f.hear(translate, f.result(origin={"kind": "task-notification"}))
    assert (f.ends(told), len(f.notes(told, "background_turn")), translate.working) == ([], 1, False)


@every_row("response", [
    {"cancelled": True}, {"cancelled": [1]}, {"cancelled": ["other"]}, {"cancelled": None}, [], None])
def test_the_answer_to_another_request_takes_no_prompt_back(response: Any) -> None:
    translate = f.prompted("p")
    f.hear(translate, f.frame("control_response", response={"subtype": "success", "request_id": "r", "response": response}))
    assert translate.working
