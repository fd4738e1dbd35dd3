"""The frames of ``/ws``: what a client may say and what the hub says, as types and as bytes.

Rule 1: every frame is one JSON object in one text message, distinguished by ``type``. Fields that we do not know are skipped, a
frame that we do not know is refused.
Rule 2: these types are the protocol: its JSON Schema is generated from them, and nothing is sent that they do not describe.
Rule 3: an event goes out as the bytes that the journal has; only its frame is put around them.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, inspect

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid, TrunklineError
from trunkline.hub import PendingAsk, SessionView
from trunkline.journal.base import Entry
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.context.snapshot import SessionState
from trunkline.server.openapi import ErrorBody, error_body

HUB = "*"
"""Stands where a session id stands, for the whole hub; positions are then ``pos``, not ``seq``."""


class ClientFrame(Struct, kw_only=True, frozen=True, rename="camel", tag_field="type"):
    """What a client says."""


class Hello(ClientFrame, tag="hello", kw_only=True, frozen=True):
    """The first frame: the versions of the Agent Context Protocol that the client speaks, and what lets it in."""

    versions: list[str]
    token: str | UnsetType = UNSET


class Subscribe(ClientFrame, tag="subscribe", kw_only=True, frozen=True):
    """Show me these sessions, or all of them (``*``), after what I know already.

    ``after`` is a seq, a seq by session id, or, for all sessions, a pos. Without it a snapshot comes first. ``types`` leaves out
    all other events."""

    id: str
    sessions: list[str] | Literal["*"]
    after: int | dict[str, int] | UnsetType = UNSET
    types: str | UnsetType = UNSET


class Unsubscribe(ClientFrame, tag="unsubscribe", kw_only=True, frozen=True):
    """Show me that no more: ``subscription`` is the id of the ``subscribe``."""

    id: str
    subscription: str


class CommandFrame(ClientFrame, tag="command", kw_only=True, frozen=True):
    """Do this. The same ``id`` twice, also over another connection, is done once."""

    id: str
    session_id: str
    command: Raw


class Ping(ClientFrame, tag="ping", kw_only=True, frozen=True):
    """Are you there?"""

    id: str | UnsetType = UNSET


ClientFrames = Hello | Subscribe | Unsubscribe | CommandFrame | Ping


class ServerFrame(Struct, kw_only=True, frozen=True, rename="camel", tag_field="type"):
    """What the hub says."""


class HubInfo(Struct, kw_only=True, frozen=True, rename="camel"):
    """Who speaks."""

    name: str
    version: str


class Welcome(ServerFrame, tag="welcome", kw_only=True, frozen=True):
    """The client is let in. ``pending`` is what waits for somebody, in every session, as of ``pos``.

    What comes of it, and what is asked later, arrives as events, whatever is subscribed to. ``tokenId`` says under which login:
    what was written under another is not to be sent under this one. ``name`` is what the journal calls it (``_meta.by``);
    ``node`` what the hub is called in its cluster, absent without one."""

    version: str
    hub: HubInfo
    scope: TokenScope
    token_id: str
    name: str
    pos: int
    pending: list[PendingAsk]
    node: str | UnsetType = UNSET


class HubState(Struct, kw_only=True, frozen=True, rename="camel"):
    """The hub as a client finds it: what waits for somebody, and, for a subscription to all sessions, the newest of these."""

    pending: list[PendingAsk]
    sessions: list[SessionView] | UnsetType = UNSET


class SnapshotFrame(ServerFrame, tag="snapshot", kw_only=True, frozen=True):
    """The state after the entry ``seq``: forget what you knew. Of the whole hub (``sessionId`` is ``*``) ``seq`` is a pos."""

    subscription: str | UnsetType = UNSET
    session_id: str
    seq: int
    state: Raw
    """A ``SessionState`` or a ``HubState``."""


class Resumed(ServerFrame, tag="resumed", kw_only=True, frozen=True):
    """The stream goes on after ``seq``, with no gap and no duplicate."""

    subscription: str
    session_id: str
    seq: int


class Gap(ServerFrame, tag="gap", kw_only=True, frozen=True):
    """The hub cannot go on after ``from``: it has what comes after ``floor``, up to ``seq``. A snapshot follows."""

    subscription: str | UnsetType = UNSET
    session_id: str
    from_: int = msgspec.field(name="from")
    floor: int
    seq: int


class EventFrame(ServerFrame, tag="event", kw_only=True, frozen=True):
    """One event. Without a ``subscription`` it is an approval or a question of a session that was not subscribed to."""

    subscription: str | UnsetType = UNSET
    pos: int
    event: Raw


class Deleted(ServerFrame, tag="deleted", kw_only=True, frozen=True):
    """A session was deleted: forget it. Sent only to a subscription to all sessions."""

    subscription: str
    session_id: str


class Ack(ServerFrame, tag="ack", kw_only=True, frozen=True):
    """What came of a frame. ``ok`` false with the id of a subscription that was taken before: it has ended."""

    id: str | UnsetType = UNSET
    ok: bool
    error: ErrorBody | UnsetType = UNSET
    result: dict[str, Any] | UnsetType = UNSET


class Pong(ServerFrame, tag="pong", kw_only=True, frozen=True):
    """I am here."""

    id: str | UnsetType = UNSET


ServerFrames = Welcome | SnapshotFrame | Resumed | Gap | EventFrame | Deleted | Ack | Pong

_decoder: msgspec.json.Decoder[ClientFrames] = decoders.of(ClientFrames)
_encoder = msgspec.json.Encoder()


class _FrameId(Struct):
    """The least that an answer to a broken frame needs."""

    id: str | UnsetType = UNSET


_frame_id = decoders.of(_FrameId)


def decode(text: str) -> ClientFrames:
    """Read a client's frame, or Invalid that says what is wrong with it."""
    try:
        return _decoder.decode(text)
    except BROKEN as error:
        raise Invalid(f"not a frame: {error}") from error


def id_of(text: str) -> str | UnsetType:
    """The id of a frame that could not be read, where it has one: its sender waits for an answer."""
    try:
        return _frame_id.decode(text).id
    except BROKEN:
        return UNSET


def encode(frame: ServerFrames) -> str:
    """A frame as it is sent."""
    return _encoder.encode(frame).decode()


def refusal(frame_id: str | UnsetType, error: TrunklineError) -> Ack:
    """The answer to a frame that could not be carried out."""
    return Ack(id=frame_id, ok=False, error=error_body(error))


def event_prefix(subscription: str | None) -> bytes:
    """What stands before the pos in all event frames of a subscription."""
    if subscription is None:
        return b'{"type":"event","pos":'
    return b'{"type":"event","subscription":%b,"pos":' % _encoder.encode(subscription)


def event_frame(prefix: bytes, entry: Entry) -> bytes:
    """An entry's event in its frame."""
    return b'%b%d,"event":%b}' % (prefix, entry.pos, entry.event)


def state(of: SessionState | HubState) -> Raw:
    """What a snapshot carries."""
    return Raw(_encoder.encode(of))


def _always_there() -> dict[str, list[str]]:
    """The fields that every object of a type has when it is sent. Who reads one may leave out what has a default, so the
    generated schema calls that optional; we write it, unless it is unset or the type leaves its defaults out."""
    found: dict[str, list[str]] = {}
    waiting: list[Any] = [inspect.type_info(kind) for kind in (ServerFrames, SessionState, HubState)]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect.StructType) and kind.cls.__name__ not in found:
            omits = kind.cls.__struct_config__.omit_defaults
            names = [field.encode_name for field in kind.fields if field.required or (not omits and _has_default(field))]
            found[kind.cls.__name__] = [*([kind.tag_field] if kind.tag_field else []), *names]
            waiting += [field.type for field in kind.fields]
        elif isinstance(kind, inspect.UnionType):
            waiting += kind.types
        elif isinstance(kind, inspect.CollectionType):
            waiting.append(kind.item_type)
        elif isinstance(kind, inspect.DictType):
            waiting.append(kind.value_type)
    return found


def _has_default(field: inspect.Field) -> bool:
    """Whether a field that may be left out has a value all the same: those that are unset have none."""
    return field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT


CONTEXT_SCHEMA = "agent-context.schema.json#/$defs"
"""Where the events and commands themselves are described."""


def schema() -> dict[str, Any]:
    """JSON Schema of both directions: ``$defs.Said`` is what a client may send, ``$defs.Told`` what it gets."""
    types = [ClientFrames, ServerFrames, SessionState, HubState]
    (client, server, *states), defs = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for name, fields in _always_there().items():
        defs[name]["required"] = fields
    defs["CommandFrame"]["properties"]["command"] = {"$ref": f"{CONTEXT_SCHEMA}/ACPCommand"}
    defs["EventFrame"]["properties"]["event"] = {"$ref": f"{CONTEXT_SCHEMA}/ACPEvent"}
    defs["SnapshotFrame"]["properties"]["state"] = {"anyOf": states}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Frames of the Trunkline WebSocket",
            "$defs": {"Said": client, "Told": server, **dict(sorted(defs.items()))}}
