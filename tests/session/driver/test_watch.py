"""A session that somebody else's agent writes into a file: followed as the turns that it was, and never steered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage, text
from tests.tooling.rows import every_row
from trunkline.dialects.signals import Signal, TurnEnd
from trunkline.errors import Unsupported
from trunkline.session.driver.elsewhere import Answered, AsksElsewhere, Decided
from trunkline.session.driver.watch import ELSEWHERE, WatchDriver

AT = 1_780_000_000_000_000


class Source:
    """A file that is read when the test says so."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def start(self) -> None:
        self.told.append("start")

    def look_again(self) -> None:
        self.told.append("look again")

    async def caught_up(self) -> None:
        self.told.append("caught up")

    def hold(self, hold: bool) -> None:
        self.told.append(hold)

    async def stop(self) -> None:
        self.told.append("stop")


def asked(words: str, message_id: str = "") -> Signal:
    return text(words, "user_message_chunk", **({"messageId": message_id} if message_id else {}))


@every_row("order", [
    lambda driver: driver.prompt([]), lambda driver: driver.check_prompt([]), lambda driver: driver.cancel()])
def test_who_is_only_watched_takes_no_orders(order: Callable[[WatchDriver], None]) -> None:
    with pytest.raises(Unsupported, match="only watched"):
        order(WatchDriver(Source(), AsksElsewhere()))


def test_answers_go_to_whoever_asked_elsewhere_once_and_to_nobody_who_is_gone() -> None:
    asks, got = AsksElsewhere(), list[Decided | Answered]()
    driver = WatchDriver(Source(), asks)
    asks.open("r", got.append)
    asks.open("q", got.append)
    asks.open("gone", got.append)
    asks.close("gone")
    for _ in range(2):
        driver.answer_permission("r", "yes", reason="why", updated_input=msgspec.Raw(b"{}"))
        driver.answer_question("q", "accept", msgspec.Raw(b"1"))
        driver.answer_permission("gone", "yes")
        driver.refuse("unknown", "no room")
    assert got == [Decided("yes", "why", b"{}"), Answered("accept", b"1")]


def test_a_file_is_read_from_its_start_held_and_let_go() -> None:
    async def check() -> None:
        source = Source()
        driver = WatchDriver(source, AsksElsewhere())
        started = await driver.start("theirs", adopt=True)
        assert (started.how, started.agent_session_id) == ("loaded", "theirs")
        assert (await driver.start("theirs")).how == "resumed"
        driver.pause_reading()
        driver.resume_reading()
        driver.look_again()
        await driver.stop()
        assert source.told == ["start", "start", True, False, "look again", "stop"]
        with pytest.raises(Unsupported):
            await driver.set_mode("plan")

    run(check())


async def followed(tmp_path: Path, *signals: tuple[int, Signal]) -> Stage:
    stage = Stage(tmp_path)
    stage.session.agent.followed(list(signals), 120)
    await stage.session.snapshot()
    return stage


def test_what_the_file_says_is_a_turn_of_its_own_time(tmp_path: Path) -> None:
    async def check() -> None:
        stage = await followed(tmp_path, (AT, asked("hello")), (AT + 1_000_000, text("good day")),
                               (AT + 2_000_000, TurnEnd(stop="end_turn")))
        entries = await stage.session.feed.read(after=0)
        assert entries[0].at == AT and stage.session.fold.turn is None
        packets = await stage.packets()
        assert [packet["type"] for packet in packets] == ["user_message_chunk", "agent_message_chunk", "prompt_response"]
        assert stage.session.fold.watch_position == 120

    run(check())


def test_a_stop_sequence_that_the_file_tells_reaches_the_packet(tmp_path: Path) -> None:
    async def check() -> None:
        stage = await followed(tmp_path, (AT, asked("hello")), (AT + 1, TurnEnd(stop="end_turn", agent_stop="stop_sequence")))
        assert (await stage.packets())[-1]["stopReason"] == "stop_sequence"

    run(check())


def test_the_next_prompt_ends_a_turn_whose_end_the_file_does_not_have(tmp_path: Path) -> None:
    async def check() -> None:
        stage = await followed(tmp_path, (AT, asked("one")), (AT + 1, text("so")), (AT + 2, asked("two")))
        turn = stage.session.fold.turn
        assert turn is not None and turn.by == ELSEWHERE
        packets = await stage.packets()
        assert [packet["type"] for packet in packets] == [
            "user_message_chunk", "agent_message_chunk", "prompt_response", "user_message_chunk"]

    run(check())


def test_the_blocks_of_one_message_are_one_prompt_and_those_of_two_are_two(tmp_path: Path) -> None:
    async def check() -> None:
        stage = await followed(tmp_path, (AT, asked("a", "1")), (AT, asked("b", "1")), (AT, asked("c", "2")))
        assert stage.session.fold.turns == 2

    run(check())
