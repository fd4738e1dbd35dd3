"""How much may wait for a person at once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.interpret.asks.confirming import confirm, runs
from tests.session.interpret.call_builders import call, listening
from tests.session.interpret.numbered import nth_ask
from tests.session.interpret.told import Told
from tests.session.script import OPTIONS, Stage
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.session.interpret.asks import requested, waiting
from trunkline.session.interpret.asks.subjects import ASKED_CALLS
from trunkline.session.interpret.asks.waiting import ASKED_BYTES
from trunkline.session.interpret.calls import followed


def test_an_ask_about_more_calls_than_can_be_shown_is_refused() -> None:
    told = listening()
    told.hear(*(runs(f"c{number}", "touch x") for number in range(ASKED_CALLS)))
    assert told.at().waiting.room_for(confirm()) is None
    told.hear(runs("one more", "touch x"))
    why = told.at().waiting.room_for(confirm())
    assert why is not None and str(ASKED_CALLS + 1) in why
    assert told.at().waiting.room_for(confirm(rawInput={"command": "ls"})) is None, "one that says something is about itself"
    told.hear(call(toolCallId="blind", title="Bash", kind="execute"))
    assert told.at().waiting.room_for(confirm(toolCallId="blind", title="Bash")) is not None
    told_so = confirm(toolCallId="blind", rawInput={"command": "touch y"})
    assert told.at().waiting.room_for(told_so) is None, "the call and the ask say it together"
    assert told.at().waiting.room_for(confirm(toolCallId="c1")) is None and told.fold.calls["c1"].state.title == "touch x"


def test_an_ask_about_calls_that_say_too_much_is_refused() -> None:
    told = listening()
    half = {"path": "/w/a", "content": "x" * (ASKED_BYTES // 2)}
    told.hear(call(toolCallId="a", kind="edit", title="Write", rawInput=half))
    assert told.at().waiting.room_for(confirm()) is None
    told.hear(call(toolCallId="b", kind="edit", title="Write", rawInput=half))
    assert "more than can be shown" in (told.at().waiting.room_for(confirm()) or "")


def test_permissions_beyond_the_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(waiting, "PENDING_PERMISSIONS", 5)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*(nth_ask(number) for number in range(12)))
        await session.agent._intake.settled()
        assert len(session.fold.approvals) == 5
        assert [told[1] for told in stage.driver.known_call("refuse")] == [f"req-{number}" for number in range(5, 12)]
        assert "5 permissions" in stage.driver.known_call("refuse")[0][2]
        await session.snapshot()
        refused = [entry for entry in await session.feed.read(after=0) if b'"permission_refused"' in entry.event]
        assert len(refused) == 7, "each is written down"

    run(play())


def test_questions_beyond_the_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(waiting, "PENDING_QUESTIONS", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*(QuestionAsk(f"q-{number}", "Which?", None) for number in range(4)))
        assert list(session.fold.questions) == ["q-0", "q-1"]
        assert [told[1] for told in stage.driver.known_call("refuse")] == ["q-2", "q-3"]

    run(play())


def test_what_waits_says_only_so_much_together() -> None:
    told = Told().turn()
    room = told.interpret.waiting.room_for
    padding = 200 << 10
    while room(nth_ask(len(told.fold.approvals), padding=padding)) is None:
        told.hear(nth_ask(len(told.fold.approvals), padding=padding))
    assert len(told.fold.approvals) == waiting.PENDING_BYTES // padding
    assert room(nth_ask(999)) is None, "a small one still fits"


def test_a_permission_says_only_so_much() -> None:
    told = Told().turn()
    assert told.interpret.waiting.room_for(PermissionAsk("r", b"x" * (waiting.ASK_BYTES + 1), OPTIONS)) is not None


def test_a_permission_offers_only_so_many_options() -> None:
    told = Told().turn()
    assert told.interpret.waiting.room_for(PermissionAsk("r", b"{}", OPTIONS[:1] * (waiting.ASK_OPTIONS + 1))) is not None


def offering(number: int, *options: PermissionOption) -> PermissionAsk:
    return PermissionAsk(f"req-{number}", msgspec.json.encode({"toolCallId": f"p{number}", "kind": "read"}), options)


def test_names_of_options_are_cut_and_too_long_ids_refused() -> None:
    told = Told().turn()
    told.hear(offering(1, PermissionOption("a", "n" * 150_000, "allow_once")))
    assert [len(option.name) for option in told.fold.approvals["req-1"].options] == [requested.OPTION_CHARS]
    too_long = PermissionOption("a" * (waiting.OPTION_ID_CHARS + 1), "A", "allow_once")
    assert "id of an option" in (told.interpret.waiting.room_for(offering(2, too_long)) or "")


def test_a_question_about_a_call_with_too_long_an_id_is_refused() -> None:
    told = Told().turn()
    assert told.interpret.waiting.room_for(QuestionAsk("q", "Which?", None, None, "i" * (followed.ID_CHARS + 1))) is not None


def test_all_that_is_kept_of_what_waits_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PENDING_BYTES", 200_000)
    told = Told().turn()
    number = 0
    options = [PermissionOption(f"a{index:0200}", "n" * 150, "allow_once") for index in range(90)]
    while told.interpret.waiting.room_for(offering(number, *options)) is None:
        told.hear(offering(number, *options))
        number += 1
    assert len(msgspec.json.encode(dict(told.fold.approvals))) < 2 * 200_000


def test_what_permissions_say_of_their_calls_is_bounded_together() -> None:
    told = Told().turn()
    number = 0
    shows = [{"type": "diff", "path": "/w/a", "newText": "x" * (6 << 20)}]
    said = msgspec.json.encode({"toolCallId": "p", "kind": "edit", "content": shows})
    while told.interpret.waiting.room_for(PermissionAsk(f"req-{number}", said, OPTIONS)) is None:
        told.hear(PermissionAsk(f"req-{number}", said, OPTIONS))
        number += 1
    assert number == waiting.HELD_BYTES // len(said)
