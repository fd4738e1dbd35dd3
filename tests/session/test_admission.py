"""Who is let in: nobody steers a session that is closed, or that is only watched."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.errors import HubStopping, SessionDeleted, Unsupported
from trunkline.session.session import Session

STEERED = ("turns", "approvals", "settings")
METHODS_MOST = 25


@pytest.mark.parametrize("part", STEERED)
def test_nobody_reaches_what_steers_a_closed_session(tmp_path: Path, part: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        assert getattr(session, part) is not None
        await session.lifecycle.close(SessionDeleted("it was deleted"))
        await session.lifecycle.close(HubStopping("the hub stops"))
        with pytest.raises(SessionDeleted, match="it was deleted"):
            getattr(session, part)

    run(scenario())


@pytest.mark.parametrize("part", STEERED)
def test_nobody_reaches_what_steers_a_session_that_is_only_watched(tmp_path: Path, part: str) -> None:
    async def scenario() -> None:
        session = Stage(tmp_path).session
        session.fold.watches = "/somewhere/session.jsonl"
        with pytest.raises(Unsupported, match="only watched"):
            getattr(session, part)
        await session.rename("mine", by="ann")
        assert session.fold.title == "mine", "it can be named all the same"

    run(scenario())


def test_a_session_that_is_closed_meanwhile_takes_no_prompt(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        turns = session.turns
        await session.lifecycle.close(SessionDeleted("it was deleted"))
        with pytest.raises(SessionDeleted):
            await turns.send([], by="ann")

    run(scenario())


def test_rules_that_change_decide_nothing_in_a_closed_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.lifecycle.close(SessionDeleted("it was deleted"))
        before = session.fold.seq
        session.rules.on_change()
        await session.refused(b"{}", Unsupported("no"), command_id=None, by="ann")
        assert session.fold.seq == before

    run(scenario())


def test_the_facade_stays_small() -> None:
    own = [name for name, member in vars(Session).items() if inspect.isfunction(member) or isinstance(member, property)]
    assert len(own) <= METHODS_MOST, f"{len(own)} methods; what belongs together is a part that callers reach by name"
