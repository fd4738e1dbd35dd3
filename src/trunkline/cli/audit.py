"""``trunkline audit``: is the record of approvals as it was written? It reads the journal's file itself and believes no hub.

Rule 1: it changes nothing and makes no key. A hub may run meanwhile.
Rule 2: every approval has a seal. One without it was not written by a hub, or lost it behind the hub's back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from trunkline.cli.command import output, print_json, print_table, setting_flags
from trunkline.cli.exits import EXIT_ERROR
from trunkline.cli.settings import load
from trunkline.errors import Invalid, NotFound, SessionNotFound
from trunkline.journal.base import Entry
from trunkline.journal.look import Look, looking_into
from trunkline.session.chain import Chain, Verified, opened, verify
from trunkline.session.chain_key import AUDIT_KEY_FILE, read_audit_key

JOURNAL_FILE = "journal.db"
_APPROVAL = "approval:"


class Trail:
    """The chain of one session, checked record by record."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.found = Verified(True, 0, "")

    def take(self, key: bytes, event: bytes) -> bool:
        """Check the next approval; False where it, or one before it, does not fit."""
        if not self.found.ok:
            return False
        try:
            record = opened(event)
        except Invalid as error:
            self._fail(error.message)
            return False
        self.found = verify(key, self.session_id, [record], start=Chain(self.found.count, self.found.head))
        return self.found.ok

    def compare(self, stored: Chain) -> None:
        """What the session's own row says of its chain: entries that are missing at the end show here."""
        if self.found.ok and stored.n > self.found.count:
            self._fail(f"the session counts {stored.n} records, and {self.found.count} are there")

    def _fail(self, why: str) -> None:
        self.found = Verified(False, self.found.count, self.found.head, self.found.count + 1, why)


class _Stored(msgspec.Struct):
    """The part of a session's checkpoint that is of interest here."""

    chain: Chain = msgspec.field(default_factory=Chain)


class _Typed(msgspec.Struct):
    type: str = ""


_typed = msgspec.json.Decoder(_Typed)


@click.group(short_help="Check or export the record of approvals.")
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
    trails, heads = _checked(_data(flags), session)
    if head is not None and head not in heads:
        raise NotFound(f"no record has the head {head}: the chain is not the one it was noted from")
    if as_json:
        print_json([{"sessionId": trail.session_id, **msgspec.to_builtins(trail.found)} for trail in trails])
    else:
        print_table(("SESSION", "SEALED", "CHAIN", "HEAD"), [_row(trail) for trail in trails])
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
    with looking_into(data / JOURNAL_FILE) as look:
        key = _key(data)
        for session_id, entry in _approvals(look, session):
            fits = trails.setdefault(session_id, Trail(session_id)).take(key, entry.event)
            link = _link(entry.event)
            out.write(msgspec.json.encode({"sessionId": session_id, "seq": entry.seq, **link, "fits": fits,
                                           "event": msgspec.Raw(entry.event)}) + b"\n")
    out.flush()
    if not all(trail.found.ok for trail in trails.values()):
        raise click.exceptions.Exit(EXIT_ERROR)


def _checked(data: Path, session: str | None) -> tuple[list[Trail], set[str]]:
    """The trails of the sessions asked for, and every head in them that fits."""
    trails: dict[str, Trail] = {}
    heads: set[str] = set()
    with looking_into(data / JOURNAL_FILE) as look:
        stored = {name: _stored(look, name) for name in look.named(session or "")}
        key = _key(data)
        for session_id, entry in _approvals(look, session):
            trail = trails.setdefault(session_id, Trail(session_id))
            if trail.take(key, entry.event):
                heads.add(trail.found.head)
    for session_id, chain in stored.items():
        if chain.n or session_id in trails:
            trails.setdefault(session_id, Trail(session_id)).compare(chain)
    return list(trails.values()), heads


def _approvals(look: Look, session: str | None) -> Iterator[tuple[str, Entry]]:
    """The approvals of all sessions, or of the one whose id begins so."""
    wanted = _one(look, session) if session is not None else None
    for session_id, entry in look.entries():
        if wanted in (None, session_id) and _is_approval(entry.event):
            yield session_id, entry


def _is_approval(event: bytes) -> bool:
    """An event may tell of an approval without being one, so a look at its bytes only saves reading most of them."""
    if _APPROVAL.encode() not in event:
        return False
    try:
        return _typed.decode(event).type.startswith(_APPROVAL)
    except msgspec.DecodeError:
        return True  # it was written by no hub, and the chain will say so


def _one(look: Look, beginning: str) -> str:
    found = look.named(beginning)
    if beginning in found:
        return beginning
    if not found:
        raise SessionNotFound(f"no session has an id that begins with {beginning!r}")
    if len(found) > 1:
        raise Invalid(f"{len(found)} sessions have an id that begins with {beginning!r}")
    return found[0]


def _stored(look: Look, session_id: str) -> Chain:
    """The chain as the session's row has it; an older row has none."""
    row = look.row(session_id)
    if row is None:
        return Chain()
    try:
        return msgspec.json.decode(row.checkpoint, type=_Stored).chain
    except msgspec.DecodeError as error:
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
    return trail.session_id, str(found.count), state, found.head or "–"
