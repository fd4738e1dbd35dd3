"""The chain of a session's approvals: each one is sealed with a key and with the seal of the one before.

    head(n) = HMAC-SHA256(key, head(n-1), session, n, record)         record = the event as JSON, without ``_meta.chain``

A stored event carries ``_meta.chain {n, head}``. Whoever changes, removes, adds or moves one has to make all later heads anew,
and needs the key for it. What was cut off at the end shows in ``log.py``, or in the last head, if somebody noted it.

Rule 1: pure. The key arrives with the call; ``key.py`` has the file.
Rule 2: a record is always in one form (``_form``), so that the same event gives the same bytes when it is read again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid

_members = decoders.of(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


class Chain(Struct, frozen=True):
    """How far a session's chain has come: ``n`` records, the last with this ``head``."""

    n: int = 0
    head: str = ""


class Verified(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a check of a chain found. ``first_bad`` is the number of the first record that does not fit, ``why`` how."""

    ok: bool
    count: int
    head: str
    first_bad: int | None = None
    why: str = ""


def extend(key: bytes, chain: Chain, session_id: str, record: bytes) -> Chain:
    """The chain with one record more."""
    n = chain.n + 1
    return Chain(n, _seal(key, chain.head, session_id, n, record))


def verify(key: bytes, session_id: str, records: Iterable[tuple[bytes, int, str]], *, start: Chain | None = None) -> Verified:
    """Check records (record, n, head) in their order, from the beginning of the chain or from ``start``."""
    chain = start or Chain()
    for record, n, head in records:
        if n != chain.n + 1:
            return Verified(False, chain.n, chain.head, chain.n + 1, f"record {n} stands where {chain.n + 1} belongs")
        expected = extend(key, chain, session_id, record)
        if not hmac.compare_digest(expected.head.encode(), head.encode("utf-8", "surrogatepass")):
            return Verified(False, chain.n, chain.head, n, f"record {n} is not what was sealed")
        chain = expected
    return Verified(True, chain.n, chain.head)


def sealed(key: bytes, chain: Chain, session_id: str, event: bytes) -> tuple[Chain, bytes]:
    """An encoded event with its place in the chain written into ``_meta``, and the chain after it."""
    members, meta = _taken_apart(event)
    meta.pop("chain", None)
    grown = extend(key, chain, session_id, _form(members, meta))
    meta["chain"] = Raw(_encode({"n": grown.n, "head": grown.head}))
    return grown, _form(members, meta)


def opened(event: bytes) -> tuple[bytes, int, str]:
    """The record, the number and the head of a sealed event; Invalid for one that has no seal or is not in our form."""
    members, meta = _taken_apart(event)
    if "chain" not in meta:
        raise Invalid("the event has no place in the chain")
    if _form(members, meta) != event:
        raise Invalid("the event is not written as it was sealed")
    try:
        link = decoders.decode(meta.pop("chain"), _Link)
    except BROKEN as error:
        raise Invalid(f"the event's place in the chain cannot be read: {error}") from error
    return _form(members, meta), link.n, link.head


class _Link(Struct, forbid_unknown_fields=True):
    n: int
    head: str


def _seal(key: bytes, before: str, session_id: str, n: int, record: bytes) -> str:
    """Every part goes in with its length before it: no two different sets of parts give the same bytes."""
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (before.encode(), session_id.encode("utf-8", "surrogatepass"), str(n).encode(), record):
        mac.update(len(part).to_bytes(8, "big"))
        mac.update(part)
    return mac.hexdigest()


def _taken_apart(event: bytes) -> tuple[dict[str, Raw], dict[str, Raw]]:
    try:
        members = _members.decode(event)
        meta = _members.decode(members.pop("_meta")) if "_meta" in members else {}
    except BROKEN as error:
        raise Invalid(f"not an event: {error}") from error
    return members, meta


def _form(members: dict[str, Raw], meta: dict[str, Raw]) -> bytes:
    """The one form of an event: its members in their order, ``_meta`` last, nothing where there is no ``_meta``."""
    return _encode({**members, "_meta": meta} if meta else members)
