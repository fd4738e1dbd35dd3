"""``trunkline audit``: is the record of approvals as it was written? It reads the journal's file itself and believes no hub.

Rule 1: it changes nothing and makes no key. A hub may run meanwhile.
Rule 2: the journal must have at least what ``audit.log`` says. The log is read first, so the journal is never behind it.
Rule 3: every approval has a seal. One without it was not written by a hub, or lost it behind the hub's back.
Rule 4: of a session that came from another node of a cluster, what that node sealed is not checked here: its key is not here. The
        record with which it came is sealed over the last of those.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from trunkline import decoders
from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import output, print_json, print_table, setting_flags
from trunkline.cli.exits import EXIT_ERROR
from trunkline.cli.read_settings import load
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.visible import escaped
from trunkline.errors import Invalid, NotFound, SessionNotFound, StorageError
from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite.read_only import JournalFile, open_read_only
from trunkline.session.audit.chain import Chain, Verified, opened, verify
from trunkline.session.audit.key import AUDIT_KEY_FILE, read_audit_key
from trunkline.session.audit.log import AUDIT_LOG_FILE, AuditNotes, Note, read_log

JOURNAL_FILE = "journal.db"
_APPROVAL = "approval:"
_MOVE = b'"eventName":"session_moved"'


class Trail:
    """The chain of one session, checked record by record."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.found = Verified(True, 0, "")
        self.heads: list[str] = []
        self.elsewhere = 0
        """So many records were sealed by other hubs of a cluster, before the session came here."""
        self._links: list[tuple[int, str]] = []
        """Number and head of every record, as they stand there."""

    def take(self, key: bytes, entry: Entry) -> bool:
        """Check the next record; False where it, or one before it, does not fit."""
        try:
            record = opened(entry.event)
        except Invalid as error:
            if self.found.ok:
                self._fail(error.message)
            return False
        before, self._links = self._links, [*self._links, record[1:]]
        if _is_move(entry.event) and self._came_here(key, record, before):
            return True
        return self.found.ok and self._take(key, entry, record)

    def _came_here(self, key: bytes, record: tuple[bytes, int, str], before: list[tuple[int, str]]) -> bool:
        """The session came here with this record, which this hub sealed over the head of the last one before it: those it cannot
        check, but nobody can change them any more without that head."""
        _, n, head = record
        last = before[-1][1] if before else ""
        if [number for number, _ in before] != list(range(1, n)):
            return False
        if not verify(key, self.session_id, [record], start=Chain(n - 1, last)).ok:
            return False
        self.found, self.elsewhere = Verified(True, n, head), n - 1
        self.heads = [*(each for _, each in before), head]
        return True

    def _take(self, key: bytes, entry: Entry, record: tuple[bytes, int, str]) -> bool:
        found = verify(key, self.session_id, [record], start=Chain(self.found.count, self.found.head))
        if found.ok and not _is_consistent(entry):
            self._fail(f"the packet of record {found.count} says something else than the record")
            return False
        self.found = found
        if found.ok:
            self.heads.append(found.head)
        return found.ok

    def compare(self, stored: Chain) -> None:
        """What the session's own row says of its chain: entries that are missing at the end show here."""
        if self.found.ok and stored.n > self.found.count:
            self._fail(f"the session counts {stored.n} records, and {self.found.count} are there")

    def compare_note(self, note: Note) -> None:
        """What the hub noted outside the database."""
        if not self.found.ok:
            return
        if note.n > len(self.heads):
            self._fail(f"the hub noted {note.n} records, and {len(self.heads)} are there")
        elif note.n and self.heads[note.n - 1] != note.head:
            self._fail(f"record {note.n} is not the one that the hub noted")

    def _fail(self, why: str) -> None:
        self.found = Verified(False, self.found.count, self.found.head, self.found.count + 1, why)


class _StoredChain(msgspec.Struct):
    """The part of a session's checkpoint that is of interest here."""

    chain: Chain = msgspec.field(default_factory=Chain)


class _EventKind(msgspec.Struct, rename="camel"):
    type: str = ""
    namespace: str = ""
    event_name: str = ""


class _Decision(msgspec.Struct, rename="camel"):
    """What both an approval's event and its packet say."""

    request_id: str | None = None
    tool_call_id: str | None = None
    approved: bool | None = None
    resolved_by: str | None = None
    reason: str | None = None


_typed = decoders.of(_EventKind)
_decision = decoders.of(_Decision)


@click.group(cls=GuessingGroup, short_help="Check or export the record of approvals.")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """Check or export the record of approvals.

    Every approval is sealed with the key in the data folder (audit.key) and with the seal of the one before it. Note a session's
    head somewhere else: whoever rewrites the journal cannot make the same head again.
    """
    ctx.obj = flags


@command.command("verify")
@click.argument("session", required=False)
@click.option("--head", metavar="HEAD", help="a head noted earlier, which must be in the session's chain")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def verify_command(session: str | None, head: str | None, as_json: bool, **flags: Any) -> None:
    """Check every approval, of one session or of all.

    The exit code is 0 when all seals fit, 1 when one does not.
    """
    output()
    trails, heads, wrong = _checked(_data(flags), session)
    if head is not None and head not in heads:
        raise NotFound(f"no record has the head {head}: the chain is not the one it was noted from")
    if as_json:
        print_json([{"sessionId": trail.session_id, **msgspec.to_builtins(trail.found),
                     **({"sealedElsewhere": trail.elsewhere} if trail.elsewhere else {})} for trail in trails])
    else:
        print_table(("SESSION", "SEALED", "CHAIN", "HEAD"), [_row(trail) for trail in trails])
    if wrong:
        raise StorageError(wrong)
    if not all(trail.found.ok for trail in trails):
        raise click.exceptions.Exit(EXIT_ERROR)


@command.command()
@click.argument("session", required=False)
@setting_flags("clients")
def export(session: str | None, **flags: Any) -> None:
    """Print every approval as one JSON object a line, with its seal and whether it fits."""
    out = output().buffer
    data = _data(flags)
    trails: dict[str, Trail] = {}
    with open_read_only(data / JOURNAL_FILE) as file:
        key = _key(data)
        for session_id, entry in _approvals(file, _one(file.named(""), session) if session is not None else None):
            fits = trails.setdefault(session_id, Trail(session_id)).take(key, entry)
            link = _link(entry.event)
            line = msgspec.json.encode({"sessionId": session_id, "seq": entry.seq, **link, "fits": fits,
                                        "event": msgspec.Raw(entry.event)})
            out.write(escaped(line) + b"\n")
    out.flush()
    if not all(trail.found.ok for trail in trails.values()):
        raise click.exceptions.Exit(EXIT_ERROR)


def _checked(data: Path, session: str | None) -> tuple[list[Trail], set[str], str]:
    """The trails of the sessions asked for, every head in them that fits, and what is wrong with the log."""
    trails: dict[str, Trail] = {}
    oldest = sys.maxsize
    with open_read_only(data / JOURNAL_FILE) as file:
        key = _key(data)
        noted = _noted(data, key)
        kept = noted.kept()
        wanted = _one([*file.named(""), *kept], session) if session is not None else None
        stored = {name: _stored(file, name) for name in file.named("") if wanted in (None, name)}
        begins: dict[str, int] = {}
        for session_id, entry in _approvals(file, wanted):
            trail = trails.setdefault(session_id, Trail(session_id))
            elsewhere = trail.elsewhere
            trail.take(key, entry)
            if trail.elsewhere != elsewhere:
                begins[session_id] = entry.at  # what is older came with it
            begins.setdefault(session_id, entry.at)
        oldest = min(begins.values(), default=oldest)
    for session_id, chain in stored.items():
        if chain.n or session_id in trails:
            trails.setdefault(session_id, Trail(session_id)).compare(chain)
    gone = kept.keys() - _noted(data, key).kept().keys()  # somebody deleted these while we looked
    for session_id, notes in kept.items():
        if session_id not in gone and wanted in (None, session_id):
            for note in notes:
                trails.setdefault(session_id, Trail(session_id)).compare_note(note)
    heads = {head for trail in trails.values() for head in trail.heads}
    return list(trails.values()), heads, noted.wrong or _too_young(noted, oldest)


def _noted(data: Path, key: bytes) -> AuditNotes:
    try:
        return read_log(data / AUDIT_LOG_FILE, key)
    except NotFound as error:
        return AuditNotes(wrong=error.message)


def _too_young(noted: AuditNotes, oldest: int) -> str:
    """A log is begun with the first hub. One that is younger than an approval stands in another one's place."""
    return f"{AUDIT_LOG_FILE} was begun after the first approval: somebody took the old one away" if noted.since > oldest else ""


def _is_consistent(entry: Entry) -> bool:
    """Whether an approval's packet, where it has one, says what the sealed event says."""
    if entry.packet is None:
        return True
    try:
        return _decision.decode(entry.packet) == _decision.decode(entry.event)
    except BROKEN:
        return False


def _approvals(file: JournalFile, wanted: str | None) -> Iterator[tuple[str, Entry]]:
    """The approvals of all sessions, or of one."""
    for session_id, entry in file.entries():
        if wanted in (None, session_id) and _is_approval(entry.event):
            yield session_id, entry


def _is_move(event: bytes) -> bool:
    """Whether a record says that the session came from another hub."""
    if _MOVE not in event:
        return False
    try:
        kind = _typed.decode(event)
    except BROKEN:
        return False
    return (kind.type, kind.namespace, kind.event_name) == ("custom", "trunkline", "session_moved")


def _is_approval(event: bytes) -> bool:
    """An event may tell of an approval without being one, so a look at its bytes only saves reading most of them."""
    if _is_move(event):
        return True
    if _APPROVAL.encode() not in event:
        return False
    try:
        return _typed.decode(event).type.startswith(_APPROVAL)
    except BROKEN:
        return True  # it was written by no hub, and the chain will say so


def _one(known: Iterable[str], beginning: str) -> str:
    found = sorted({name for name in known if name.startswith(beginning)})
    if beginning in found:
        return beginning
    if not found:
        raise SessionNotFound(f"no session has an id that begins with {beginning!r}")
    if len(found) > 1:
        raise Invalid(f"{len(found)} sessions have an id that begins with {beginning!r}")
    return found[0]


def _stored(file: JournalFile, session_id: str) -> Chain:
    """The chain as the session's row has it; an older row has none."""
    row = file.row(session_id)
    if row is None:
        return Chain()
    try:
        return decoders.decode(row.checkpoint, _StoredChain).chain
    except BROKEN as error:
        raise Invalid(f"the state of session {session_id} cannot be read: {error}") from error


def _link(event: bytes) -> dict[str, Any]:
    try:
        _, n, head = opened(event)
    except Invalid:
        return {}
    return {"n": n, "head": head}


def _key(data: Path) -> bytes:
    return read_audit_key(data / AUDIT_KEY_FILE)


def _data(flags: Mapping[str, Any]) -> Path:
    """Flags count behind the subcommand and before it."""
    before = click.get_current_context().find_object(dict) or {}
    return load({**before, **{key: value for key, value in flags.items() if value is not None}}).data


def _row(trail: Trail) -> tuple[str, ...]:
    found = trail.found
    state = "whole" if found.ok else f"BROKEN at {found.first_bad}: {found.why}"
    if found.ok and trail.elsewhere:
        state = f"whole from {trail.elsewhere + 1} on; sealed by other nodes before"
    return trail.session_id, str(found.count), state, found.head or "–"
