"""Sessions of other nodes in a list: from the rows that their owners wrote."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from tests.aio import run
from trunkline.cluster.directory import SessionPlace
from trunkline.cluster.showing.listed import Listed
from trunkline.cluster.showing.opened import OpenSessions
from trunkline.cluster.showing.remote import RemoteSession
from trunkline.journal.base import RowFilter
from trunkline.session.fold import ApprovalView, Fold, SessionView, view_of


class Rows:
    """A directory without a cluster."""

    def __init__(self) -> None:
        self.places: dict[str, SessionPlace] = {}
        self.marked: list[str] = []
        self.listed = Listed(self, "web", lambda view: self.marked.append(view.id), OpenSessions(_none))  # type: ignore[arg-type]

    def put(self, name: str, updated_at: int, *, owner: str = "box", status: str = "idle", last_seq: int = 1,
            summary: bytes | None = None, **members: Any) -> None:
        fold = Fold(session_id=name, agent="demo", cwd="/work", created_at=1, updated_at=updated_at, status=status, title=name,
                    **members)
        self.places[name] = SessionPlace(
            id=name, pool=owner, owner=owner, epoch=1, agent="demo", cwd="/work", title=name, status=status, created_at=1,
            updated_at=updated_at, last_seq=last_seq,
            summary=msgspec.Raw(msgspec.json.encode(view_of(fold)) if summary is None else summary))
        self.listed.on_row(name, self.places[name])


def _none(session_id: str) -> RemoteSession:
    raise AssertionError("nobody follows anything")


def asked(request_id: str) -> ApprovalView:
    return ApprovalView(request_id=request_id, tool_call_id="c1", tool_name="shell", title="Run", description="",
                        risk_level="low", options=[], tool_input=msgspec.Raw(b"{}"), requested_at="2026-01-01T00:00:00.000Z",
                        expires_at="2026-01-01T00:00:00.000Z")


def names(views: list[tuple[tuple[int, str], SessionView]]) -> list[str]:
    return [view.id for _, view in views]


def test_the_newest_come_first_and_filters_and_pages_hold() -> None:
    rows = Rows()
    for number in range(10):
        rows.put(f"s{number}", number, status="running" if number % 2 else "idle")
    assert names(rows.listed.newest(RowFilter(limit=3))) == ["s9", "s8", "s7"]
    assert names(rows.listed.newest(RowFilter(limit=3, before=(7, "s7")))) == ["s6", "s5", "s4"]
    assert names(rows.listed.newest(RowFilter(status=frozenset({"running"}), limit=2))) == ["s9", "s7"]
    assert names(rows.listed.newest(RowFilter(text="S4"))) == ["s4"]
    assert rows.marked, "where each is, is said in its view"


def test_a_nodes_own_sessions_are_its_hubs_to_list_and_one_node_can_be_asked_for() -> None:
    rows = Rows()
    rows.put("mine", 3, owner="web")
    rows.put("one", 2, owner="box")
    rows.put("two", 1, owner="other")
    assert names(rows.listed.newest(RowFilter())) == ["one", "two"]
    assert names(rows.listed.newest(RowFilter(), "other")) == ["two"]


def test_a_row_shows_nothing_of_what_it_says_of_another_session() -> None:
    rows = Rows()
    forged = Fold(session_id="victim", agent="demo", cwd="/work", created_at=1, updated_at=1, status="waiting_for_approval",
                  title="forged", approvals={"r1": asked("r1")})
    rows.put("own", 1, summary=msgspec.json.encode(view_of(forged)))
    assert [(view.id, view.status) for _, view in rows.listed.newest(RowFilter())] == [("own", "error")]
    assert rows.listed.pending() == []


def test_a_row_that_cannot_be_read_hides_no_other() -> None:
    rows = Rows()
    rows.put("broken", 2, summary=b'{"id": 3}')
    rows.put("whole", 1)
    assert [(view.id, view.status) for _, view in rows.listed.newest(RowFilter())] == [("broken", "error"), ("whole", "idle")]


def test_what_waits_is_known_from_the_rows() -> None:
    rows = Rows()
    rows.put("asks", 2, status="waiting_for_approval", approvals={"r1": asked("r1")})
    rows.put("rests", 1)
    [pending] = rows.listed.pending()
    assert (pending.session_id, pending.ask_id) == ("asks", "r1")
    rows.put("asks", 3)
    assert rows.listed.pending() == []


def test_who_changed_something_waits_for_its_row_and_not_for_ever() -> None:
    async def go() -> None:
        rows = Rows()
        rows.put("s", 1, last_seq=4)
        rows.listed.expect("s", 9)
        settling = asyncio.create_task(rows.listed.settle())
        await asyncio.sleep(0)
        assert not settling.done()
        rows.put("s", 2, last_seq=9)
        await settling
        rows.listed.expect("s", 99)
        began = time.monotonic()
        await rows.listed.settle()
        assert time.monotonic() - began < 30
        await rows.listed.settle()  # an owner that is behind is waited for once

    run(go())


def test_what_was_deleted_through_this_node_is_gone_at_once() -> None:
    rows = Rows()
    rows.put("s", 1)
    rows.listed.remove("s")
    assert names(rows.listed.newest(RowFilter())) == [] and rows.listed.is_removed("s")
