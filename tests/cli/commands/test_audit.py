"""``trunkline audit``: what was done to the journal behind the hub's back shows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import msgspec
import pytest

from tests.aio import run
from tests.cli.conftest import Place
from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import ApprovalResolvedEvent, CustomEvent
from trunkline.dialects.packets.notices import approval_resolved_packet
from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.stores.sqlite.block import decode, decode_parts, encode
from trunkline.journal.stores.sqlite.store import SqliteJournal
from trunkline.session.audit.chain import Chain, opened, sealed
from trunkline.session.audit.key import audit_key
from trunkline.session.audit.log import AuditLog, Note

AT = 1_800_000_000_000_000


def approval(session: str, seq: int) -> bytes:
    return encode_event(seq, session, AT + seq, ApprovalResolvedEvent(
        request_id=f"r{seq}", tool_call_id="c", approved=True, resolved_by="user", meta={"by": "ann"}))


def told(session: str, seq: int) -> bytes:
    data = msgspec.Raw(b'{"type":"approval:resolved"}')
    return encode_event(seq, session, AT + seq, CustomEvent(namespace="trunkline", event_name="told", data=data))


def written(place: Place, session: str, count: int) -> Chain:
    """A journal with a session whose approvals are sealed, among other events."""
    place.data.make()
    key = audit_key(place.data.path / "audit.key")
    chain, entries = Chain(), []
    for seq in range(1, 2 * count + 1, 2):
        chain, event = sealed(key, chain, session, approval(session, seq))
        entries += [Entry(seq, AT + seq, event), Entry(seq + 1, AT + seq + 1, told(session, seq + 1))]
    row = SessionRow(id=session, agent="demo", cwd="/", title="", status="idle", created_at=AT, updated_at=AT, summary=b"{}",
                     checkpoint=msgspec.json.encode({"sessionId": session, "chain": chain}), checkpoint_seq=len(entries))

    async def write() -> None:
        async with SqliteJournal(place.data.path / "journal.db") as journal:
            await journal.append(Group({session: entries}, {session: row}))

    log = AuditLog(place.data.path / "audit.log", key)
    with patch("time.time_ns", return_value=AT * 1000):
        log.open()
    log.note([Note(session, chain.n, chain.head)])
    run(write())
    return chain


def tampered(place: Place, change: Callable[[list[Entry]], list[Entry]]) -> None:
    """Rewrite the entries of session aaa in the database, as somebody with an editor would."""
    with sqlite3.connect(place.data.path / "journal.db") as database:
        for first_pos, body in database.execute("SELECT first_pos, body FROM blocks WHERE session = 'aaa'").fetchall():
            changed = encode(change(decode(body)))
            database.execute("UPDATE blocks SET body = ?, crc = NULL WHERE first_pos = ?", (changed, first_pos))
        for first_pos, body in database.execute("SELECT first_pos, body FROM recent").fetchall():
            parts = {session: change(part) if session == "aaa" else part for session, part in decode_parts(body).items()}
            database.execute("UPDATE recent SET body = ?, crc = NULL WHERE first_pos = ?", (encode(parts), first_pos))
    database.close()


def edited(old: bytes, new: bytes, seq: int) -> Callable[[list[Entry]], list[Entry]]:
    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            if entry.seq == seq:
                assert old in entry.event
                entry.event = entry.event.replace(old, new)
        return entries

    return change


def test_a_journal_that_nobody_touched_is_whole_and_its_heads_are_printed(place: Place) -> None:
    chain, other = written(place, "aaa", 3), written(place, "bbb", 2)
    done = place.call_here("audit", "verify")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert lines[1:] == [["aaa", "3", "whole", chain.head], ["bbb", "2", "whole", other.head]]


@pytest.mark.parametrize(("change", "why"), [
    (edited(b'"approved":true', b'"approved":false', 3), "record 2 is not what was sealed"),
    (edited(b'"by":"ann"', b'"by":"bob"', 1), "record 1 is not what was sealed"),
    (edited(b'"approved":true', b'"approved":false,"approved":true', 3), "not written as it was sealed"),
    (lambda entries: [entry for entry in entries if entry.seq != 3], "record 3 stands where 2 belongs"),
    (lambda entries: [entry for entry in entries if entry.seq < 5], "counts 3 records, and 2 are there"),
    (lambda entries: [entry for entry in entries if entry.seq % 2 == 0], "counts 3 records, and 0 are there"),
    (lambda entries: [*entries[:2], Entry(3, AT, approval("aaa", 3), pos=entries[2].pos), *entries[3:]], "no place in the chain"),
])
def test_a_rewritten_journal_shows(place: Place, change: Callable[[list[Entry]], list[Entry]], why: str) -> None:
    written(place, "aaa", 3)
    tampered(place, change)
    done = place.call_here("audit", "verify", "aaa")
    assert done.returncode == 1
    assert "BROKEN" in done.stdout.decode() and why in done.stdout.decode()


def unsealed(entries: list[Entry]) -> list[Entry]:
    for entry in entries:
        if entry.seq % 2:
            entry.event = opened(entry.event)[0]
    return entries


def with_chain(place: Place, chain: Chain | None) -> None:
    """Rewrite what the row of session aaa says of its chain."""
    state = msgspec.json.encode({"sessionId": "aaa"} if chain is None else {"sessionId": "aaa", "chain": chain})
    with sqlite3.connect(place.data.path / "journal.db") as database:
        assert database.execute("UPDATE sessions SET checkpoint = ?, crc = NULL WHERE id = 'aaa'", (state,)).rowcount == 1
    database.close()


def test_a_session_without_any_seal_is_broken_whatever_its_row_says(place: Place) -> None:
    written(place, "aaa", 3)
    tampered(place, unsealed)
    with_chain(place, None)
    done = place.call_here("audit", "verify")
    assert done.returncode == 1
    assert "BROKEN at 1: the event has no place in the chain" in done.stdout.decode()


def test_a_cut_tail_shows_though_the_row_was_cut_with_it(place: Place) -> None:
    chain = written(place, "aaa", 3)
    assert place.call_here("audit", "verify").returncode == 0
    events: list[bytes] = []

    def cut(entries: list[Entry]) -> list[Entry]:
        events.extend(entry.event for entry in entries if entry.seq == 3)
        return [entry for entry in entries if entry.seq < 5]

    tampered(place, cut)
    with_chain(place, Chain(2, opened(events[0])[2]))
    done = place.call_here("audit", "verify")
    assert done.returncode == 1 and "the hub noted 3 records, and 2 are there" in done.stdout.decode()
    assert chain.n == 3


def test_a_session_that_is_gone_shows_and_one_that_was_deleted_does_not(place: Place) -> None:
    written(place, "aaa", 3)
    written(place, "bbb", 1)

    async def delete() -> None:
        async with SqliteJournal(place.data.path / "journal.db") as journal:
            await journal.delete("aaa")

    run(delete())
    for words in (("verify",), ("verify", "aaa")):
        done = place.call_here("audit", *words)
        assert done.returncode == 1 and "the hub noted 3 records, and 0 are there" in done.stdout.decode()
    log = AuditLog(place.data.path / "audit.log", audit_key(place.data.path / "audit.key"))
    log.open()
    log.delete("aaa")
    done = place.call_here("audit", "verify")
    assert done.returncode == 0 and "aaa" not in done.stdout.decode(), done.stdout


def test_another_chain_than_the_noted_one_shows(place: Place) -> None:
    written(place, "aaa", 2)
    log = AuditLog(place.data.path / "audit.log", audit_key(place.data.path / "audit.key"))
    log.open()
    log.note([Note("aaa", 1, "0" * 64)])
    done = place.call_here("audit", "verify")
    assert done.returncode == 1 and "record 1 is not the one that the hub noted" in done.stdout.decode()


@pytest.mark.parametrize(("change", "why"), [
    (lambda path: path.unlink(), b"there is no log"),
    (lambda path: path.write_bytes(b""), b"has no beginning"),
    (lambda path: path.write_bytes(path.read_bytes().replace(b'"n":3', b'"n":2')), b"line 2 of"),
    (lambda path: path.write_bytes(path.read_bytes().split(b"\n", 1)[1]), b"line 1 of"),
])
def test_a_log_that_was_touched_shows(place: Place, change: Callable[[Path], object], why: bytes) -> None:
    written(place, "aaa", 3)
    change(place.data.path / "audit.log")
    done = place.call_here("audit", "verify")
    assert done.returncode == 1 and why in done.stderr


def test_a_log_that_was_begun_anew_shows(place: Place) -> None:
    written(place, "aaa", 3)
    path = place.data.path / "audit.log"
    path.unlink()
    with patch("time.time_ns", return_value=(AT + 60_000_000) * 1000):
        AuditLog(path, audit_key(place.data.path / "audit.key")).open()
    done = place.call_here("audit", "verify")
    assert done.returncode == 1 and b"was begun after the first approval" in done.stderr


def test_a_packet_that_says_something_else_than_its_approval_shows(place: Place) -> None:
    written(place, "aaa", 1)

    def with_packet(approved: bool) -> Callable[[list[Entry]], list[Entry]]:
        def change(entries: list[Entry]) -> list[Entry]:
            for entry in entries:
                if entry.seq == 1:
                    entry.packet = approval_resolved_packet(at_us=AT, request_id="r1", tool_call_id="c", approved=approved,
                                                            resolved_by="user")
            return entries

        return change

    tampered(place, with_packet(True))
    assert place.call_here("audit", "verify").returncode == 0
    tampered(place, with_packet(False))
    done = place.call_here("audit", "verify")
    assert done.returncode == 1 and "the packet of record 1 says something else" in done.stdout.decode()


def test_a_noted_head_must_still_be_in_the_chain(place: Place) -> None:
    chain = written(place, "aaa", 3)
    assert place.call_here("audit", "verify", "a", "--head", chain.head).returncode == 0
    done = place.call_here("audit", "verify", "--head", "0" * 64)
    assert done.returncode == 1 and b"no record has the head" in done.stderr


def test_another_key_breaks_every_chain(place: Place) -> None:
    written(place, "aaa", 2)
    (place.data.path / "audit.key").write_text("00" * 32)
    done = place.call_here("audit", "verify", "--json")
    assert done.returncode == 1
    assert msgspec.json.decode(done.stdout) == [
        {"sessionId": "aaa", "ok": False, "count": 0, "head": "", "firstBad": 1,
         "why": "record 1 is not what was sealed"}]


def test_an_export_has_every_approval_on_a_line_of_its_own(place: Place) -> None:
    chain = written(place, "aaa", 2)
    written(place, "bbb", 1)
    done = place.call_here("audit", "export", "aaa")
    assert done.returncode == 0, done.stderr
    lines = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert [(line["seq"], line.get("n"), line["fits"]) for line in lines] == [(1, 1, True), (3, 2, True)]
    assert lines[-1]["head"] == chain.head == lines[-1]["event"]["_meta"]["chain"]["head"]
    tampered(place, edited(b'"approved":true', b'"approved":false', 1))
    done = place.call_here("audit", "export", "aaa")
    assert done.returncode == 1
    assert [msgspec.json.decode(line)["fits"] for line in done.stdout.splitlines()] == [False, False]


@pytest.mark.parametrize("words", [("verify",), ("export",), ("verify", "zzz")])
def test_where_there_is_nothing_it_says_so_and_makes_nothing(place: Place, words: tuple[str, ...]) -> None:
    done = place.call_here("audit", *words)
    assert done.returncode == 1 and b"there is no journal" in done.stderr
    assert not place.data.path.exists() or not list(place.data.path.iterdir())


def test_without_the_key_nothing_can_be_checked(place: Place) -> None:
    written(place, "aaa", 1)
    (place.data.path / "audit.key").unlink()
    done = place.call_here("audit", "verify")
    assert done.returncode == 1 and b"there is no key" in done.stderr
    assert not (place.data.path / "audit.key").exists()


def test_a_session_is_named_by_the_beginning_of_its_id(place: Place) -> None:
    written(place, "abc", 1)
    written(place, "abd", 1)
    assert place.call_here("audit", "verify", "abc").returncode == 0
    assert b"2 sessions" in place.call_here("audit", "verify", "ab").stderr
    assert b"no session" in place.call_here("audit", "verify", "x").stderr


def test_checking_leaves_the_database_as_it_is(place: Place) -> None:
    written(place, "aaa", 2)
    path: Path = place.data.path / "journal.db"
    before = path.read_bytes()
    assert place.call_here("audit", "verify").returncode == 0
    assert path.read_bytes() == before


def test_a_journal_can_be_read_while_it_is_written(place: Place) -> None:
    chain = written(place, "aaa", 3)
    key = audit_key(place.data.path / "audit.key")

    async def write() -> None:
        grown, event = sealed(key, chain, "aaa", approval("aaa", 7))
        async with SqliteJournal(place.data.path / "journal.db") as journal:
            await journal.append(Group({"aaa": [Entry(7, AT, event)]}, {}))
            done = place.call_here("audit", "verify")
            assert done.returncode == 0, done.stderr
            assert grown.head in done.stdout.decode()
            await journal.append(Group({"aaa": [Entry(8, AT, told("aaa", 8))]}, {}))

    run(write())
