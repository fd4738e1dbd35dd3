"""From bytes to typed messages: updates, params, results.

Rule 1: an update never raises; what cannot be read is an ``UnknownUpdate``.
Rule 2: ``read_update`` gives the bytes to pass on beside the typed view: the very same object where the agent wrote what
the schema says, else the schema's form of what it meant.
Rule 3: params and results raise: ``Invalid`` for what a peer asks (answer -32602), ``AgentError`` for what an agent answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Literal, Union, get_args

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.structs import astuple, replace

from trunkline import decoders
from trunkline.dialects import signals
from trunkline.dialects.acp.client import RequestPermissionRequest
from trunkline.dialects.acp.methods import METHODS
from trunkline.dialects.acp.permission import CancelledOutcome, PermissionOption, RequestPermissionOutcome, SelectedOutcome
from trunkline.dialects.acp.reading import aliases
from trunkline.dialects.acp.reading.aliases.tables import ENVELOPE_FIELDS
from trunkline.dialects.acp.reading.lenient import read_lenient, read_members
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.tools import ToolKind
from trunkline.dialects.acp.updates import SessionUpdate, ToolCall, ToolCallUpdate, UnknownUpdate
from trunkline.dialects.calls.inputs import is_place
from trunkline.dialects.outside import BROKEN
from trunkline.errors import AgentError, Invalid, NotFound

_TOOL_CALL_UPDATE = decoders.of(ToolCallUpdate)
_KINDS: dict[str, Any] = {kind.__struct_config__.tag: kind for kind in get_args(SessionUpdate)}

# -- the hot path ------------------------------------------------------------------------------------------------------


class TextChunk(Struct, frozen=True, gc=False):
    """A piece of plain text. ``text`` is the JSON string token as it was sent, quotes included: never decoded here."""

    kind: str
    text: bytes
    message_id: str | None


class _PlainText(Struct, gc=False, tag_field="type", tag="text"):
    """A text block that says nothing but its text."""

    text: Raw
    annotations: None = None
    _meta: None = None


class _PlainChunk(Struct, gc=False):
    """A chunk that says nothing but its text and message id, and is no packet."""

    sessionUpdate: Literal["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]
    content: _PlainText
    messageId: str | None = None
    _meta: None = None
    type: None = None
    timestamp: None = None


decode_plain_chunk = decoders.of(_PlainChunk).decode
_QUOTE = ord('"')
USUAL_CHUNK = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'
"""How half of the agents begin nearly every line that they write."""
_USUAL_LENGTH = len(USUAL_CHUNK)


def usual_text(raw: bytes) -> bytes | None:
    """The text token of an update that is ``USUAL_CHUNK``, a string and nothing else; None for any other."""
    # Valid JSON that begins so and whose next quote is the third byte from its end can be nothing but this one string.
    if raw.startswith(USUAL_CHUNK) and raw.find(b'"', _USUAL_LENGTH) == len(raw) - 3 and raw.endswith(b"}}"):
        return raw[_USUAL_LENGTH - 1 : -2]
    return None


def text_chunk(raw: bytes) -> TextChunk | None:
    """The text of a plain, schema-true message chunk; None for every other update, which ``read_update`` then reads.

    ``raw`` must be valid JSON and UTF-8, as everything is that a ``jsonrpc.Peer`` hands out: the text is not looked at.
    """
    usual = usual_text(raw)
    if usual is not None:
        return TextChunk("agent_message_chunk", usual, None)
    try:
        chunk = decode_plain_chunk(raw)
    except BROKEN:
        return None
    text = bytes(chunk.content.text)
    return TextChunk(chunk.sessionUpdate, text, chunk.messageId) if text[0] == _QUOTE else None


# -- updates -----------------------------------------------------------------------------------------------------------


class _PacketMembers(Struct, gc=False):
    """What makes an update a packet."""

    type: Raw | UnsetType = UNSET
    timestamp: Raw | UnsetType = UNSET


class _CallMembers(_PacketMembers, gc=False):
    """Members of a tool call that mean something to us and nothing to the schema."""

    id: Raw | UnsetType = UNSET
    input: Raw | UnsetType = UNSET
    args: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    raw_input: Raw | UnsetType = UNSET
    raw_output: Raw | UnsetType = UNSET


def _as_sent(kind: type[Any]) -> type[Any]:
    """That kind of call with those members: one decoding shows both what a call has and whether it has it in our words."""
    foreign = [(f"_{name}", Raw | UnsetType, field(default=UNSET, name=name)) for name in _CallMembers.__struct_fields__]
    config = kind.__struct_config__
    return msgspec.defstruct(f"_{kind.__name__}AsSent", foreign, bases=(kind,), frozen=True, kw_only=True, tag=config.tag)


class _Block(Struct, gc=False):
    text: Raw | UnsetType = UNSET


class _Item(Struct, gc=False):
    content: _Block | UnsetType = UNSET


class _Shown(Struct, gc=False):
    """The texts that a call shows, as they stand in it."""

    content: list[_Item] | UnsetType = UNSET


class _NotNull(Struct, gc=False):
    """Members that a ``tool_call`` may lack but not have as null."""

    kind: Raw | UnsetType = UNSET
    status: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET
    locations: Raw | UnsetType = UNSET


_AS_SENT: Final = {_as_sent(kind): kind for kind in (ToolCall, ToolCallUpdate)}
_PLAIN = tuple(kind for kind in get_args(SessionUpdate) if kind not in _AS_SENT.values())
_packet_members = decoders.of(_PacketMembers).decode
_call_members = decoders.of(_CallMembers).decode
_not_null = decoders.of(_NotNull).decode
_NO_PACKET = _PacketMembers()
_NO_ALIAS = _CallMembers()
_shown = decoders.of(_Shown).decode
_SHOWS = b',"content":[{"type":"content","content":{"type":"text","text":"'
_SHOWN = b'"}}]'
_AROUND_TOKEN: Final = len(_SHOWS) - 1 + len(_SHOWN)
"""Bytes from where the text's member begins to the update's end, without the text and its quotes."""
_BACKSLASH = ord("\\")


@cache
def _update() -> msgspec.json.Decoder[Any]:
    return decoders.of(Union[(*_PLAIN, *_AS_SENT)])  # made of what is known only here, with the first update


def decode_update(raw: bytes) -> SessionUpdate | UnknownUpdate:
    """An update, read by the schema's policy and with the aliases applied."""
    return read_update(raw)[0]


def normalise_update(raw: bytes) -> bytes:
    """``raw`` itself when it is schema-true, or when it cannot be made so; else the schema's form of it."""
    return read_update(raw)[1]


def read_update(raw: bytes) -> tuple[SessionUpdate | UnknownUpdate, bytes]:
    """An update as ``decode_update`` and as ``normalise_update`` give it, in one go."""
    why = ""
    try:
        update = _schema_true(raw, _update().decode(raw))
        if update is not None:
            return update, raw
    except BROKEN as error:
        why = str(error)
    repaired = _repair(raw, why)
    if isinstance(repaired, UnknownUpdate):
        return repaired, raw
    return repaired, encode_acp(repaired)


def _schema_true(raw: bytes, update: Any) -> SessionUpdate | None:
    """An update that the schema accepts; None if it says more than it may, or says null where it may not."""
    kind = _AS_SENT.get(type(update))
    if kind is None:
        return update if _packet_members(raw) == _NO_PACKET else None
    names = kind.__struct_fields__
    values = astuple(update)
    if any(value is not UNSET for value in values[len(names):]) or (kind is ToolCall and _has_null(raw)):
        return None
    return kind(**dict(zip(names, values, strict=False)))


def shown_token(update: bytes) -> memoryview | None:
    """The text that a good update shows, as the JSON string that stands in it; None unless it shows one text and nothing else."""
    return _usual_token(update) or _only_text(_shown(update).content)


def without_text(update: bytes) -> bytes:
    """An update without the text that it shows, where that is all it shows and comes last, as usual; else as it is."""
    token = _usual_token(update)
    at = update.find(_SHOWS)
    if token is None or len(update) - at - _AROUND_TOKEN != len(token):
        return update
    return update[:at] + b"}"


def _usual_token(update: bytes) -> memoryview | None:
    # The first brace, then no other before the comma and the quote: this is the update's own ``content``. The next quote ends the
    # text, unless a backslash is before it. Whatever is not so plain is decoded.
    at = update.find(_SHOWS)
    start = at + len(_SHOWS) - 1
    if at < 0 or update.count(b"{", 0, at) != 1:
        return None
    end = update.find(b'"', start + 1)
    return memoryview(update)[start:end + 1] if update.startswith(_SHOWN, end) and update[end - 1] != _BACKSLASH else None


def _only_text(items: list[_Item] | UnsetType) -> memoryview | None:
    if items is UNSET or len(items) != 1 or items[0].content is UNSET or items[0].content.text is UNSET:
        return None
    return memoryview(items[0].content.text)


def _has_null(raw: bytes) -> bool:
    # Nearly no call has a null anywhere: one search spares a second decoding.
    if b"null" not in bytes(raw):
        return False
    return any(member is not UNSET and bytes(member) == b"null" for member in astuple(_not_null(raw)))


def _repair(raw: bytes, why: str) -> SessionUpdate | UnknownUpdate:
    members = aliases.members_of(raw)
    kind = "" if members is None else aliases.update_kind(members) or ""
    if members is None or kind not in _KINDS:
        return UnknownUpdate(bytes(raw), kind, why)
    try:
        update: SessionUpdate = read_members(aliases.strip_envelope(members, kind), _KINDS[kind])
    except Invalid as error:
        return UnknownUpdate(bytes(raw), kind, error.message)
    return update


def decode_tool_call_update(raw: bytes) -> ToolCallUpdate:
    """The ``toolCall`` of a permission request; raises Invalid."""
    call = read_lenient(raw, ToolCallUpdate)
    if _call_members(raw) == _NO_ALIAS:
        return call
    members = aliases.members_of(raw) or {}
    again: ToolCallUpdate = read_members(aliases.strip_envelope(members, "tool_call_update"), ToolCallUpdate)
    return again


def stray_members(raw: bytes, most_bytes: int | None = None) -> aliases.Members:
    """Members of a call that neither the schema nor we know: another name of one that it has is one of them, and so are a kind
    that is nobody's (``KIND_SAID``) and places that its locations name beside their paths (``ADDRESSES``): a call has no other
    place for these. Of more than ``most_bytes`` it is only said that they are there (``UNREAD``)."""
    members = aliases.members_of(raw) or {}
    meant = aliases.FIELDS[ToolCallUpdate]
    strays = {name: value for name, value in members.items() if name not in _CALL_NAMES and (
        name not in meant or meant[name] in members)}
    located = members.get("locations", _NOWHERE)
    if most_bytes is not None and sum(map(_length, (*strays.values(), located))) > most_bytes:
        return {UNREAD: aliases.as_raw(True)}
    if beside := _beside_paths(located):
        strays[ADDRESSES] = aliases.as_raw(beside)
    said = members.get("kind")
    if said is None or bytes(said) == b"null" or aliases.text_of(said) in _KNOWN_KINDS:
        return strays
    return {**strays, KIND_SAID: said}


def _length(value: Raw) -> int:
    return len(memoryview(value))


_NOWHERE: Final = Raw(b"[]")


def _beside_paths(locations: Raw) -> list[str]:
    """What locations say of where they are in other members than their paths, where that is somewhere else."""
    items = aliases.items_of(locations)
    places = [aliases.members_of(item) or {} for item in items or ()]
    known = {aliases.path_of_uri(text) for place in places
             if (text := aliases.text_of(place.get("path")) or aliases.text_of(place.get("uri")))}
    alone = [aliases.members_of(locations) or {}] if items is None else []  # no list: nobody else looks at it
    records = [*places, *alone, *(inner for place in places for value in place.values() if (inner := aliases.members_of(value)))]
    texts = [aliases.text_of(value) for record in records for name, value in record.items() if is_place(name)]
    texts += [aliases.text_of(locations)] if items is None else []
    return [path for path in dict.fromkeys(aliases.path_of_uri(text) for text in texts if text) if path not in known]


ADDRESSES: Final = "uris"
"""The member that they are put into."""
KIND_SAID: Final = "kindSaid"
UNREAD: Final = "unread"
"""The member that says that there is more than is looked at."""
_KNOWN_KINDS: Final = frozenset((*get_args(ToolKind), *aliases.VALUES[ToolCallUpdate]["kind"], "file", ""))


_CALL_NAMES: Final = frozenset(
    one.encode_name for one in msgspec.structs.fields(ToolCallUpdate)) | {"sessionUpdate", "session_update", *ENVELOPE_FIELDS}


# -- params and results ------------------------------------------------------------------------------------------------


def decode_params(method: str, params: bytes | None) -> Any:
    """The params of a request or notification, as its type in ``METHODS`` (absent and null count as {}); raises Invalid."""
    value = read_lenient(_object(params), METHODS[method].params)
    if isinstance(value, RequestPermissionRequest):
        return replace(value, tool_call=Raw(_schema_true_call(value.tool_call)))
    return value


def decode_result(method: str, result: bytes | None) -> Any:
    """An agent's answer to ``method``, as its type in ``METHODS`` (null counts as {}); raises AgentError."""
    try:
        return read_lenient(_object(result), METHODS[method].result)
    except Invalid as error:
        raise AgentError(f"The agent's answer to {method} cannot be read: {error.message}") from None


def _object(raw: bytes | None) -> bytes:
    return b"{}" if raw is None or (len(memoryview(raw)) == 4 and bytes(raw) == b"null") else raw


def _schema_true_call(raw: bytes) -> bytes:
    """A permission request's call: as it is if the schema accepts it, else in the schema's form."""
    call = decode_tool_call_update(raw)
    try:
        _TOOL_CALL_UPDATE.decode(raw)
        if _call_members(raw) == _NO_ALIAS:
            return raw
    except msgspec.ValidationError:
        # Readable, but not as the schema has it.
        pass
    strays = stray_members(raw)
    known = tool_call_members(call)
    return known if not strays else encode_acp({**strays, **(aliases.members_of(known) or {})})


def tool_call_members(update: ToolCallUpdate) -> bytes:
    """A tool call as a permission request carries it: the update without its ``sessionUpdate``."""
    members = decoders.decode(encode_acp(update), aliases.Members)
    del members["sessionUpdate"]
    return encode_acp(members)


def read_outcome(result: bytes | None, options: Sequence[signals.PermissionOption]) -> RequestPermissionOutcome:
    """A client's answer to a permission request, which may name an option by its id or kind alone; raises Invalid, NotFound."""
    outcome = (aliases.members_of(result) or {}).get("outcome")
    members = aliases.members_of(outcome) or {}
    name = aliases.text_of(members.get("optionId")) or aliases.text_of(members.get("outcome", outcome))
    if name is None or name == "selected":
        raise Invalid("outcome or optionId is missing")
    if name in ("cancelled", "canceled"):
        return CancelledOutcome()
    return SelectedOutcome(option_id=_option_named(name, options))


def _option_named(name: str, options: Sequence[signals.PermissionOption]) -> str:
    kinds = aliases.VALUES[PermissionOption]["kind"]
    for option in options:
        if option.option_id == name:
            return option.option_id
    for option in options:
        if option.kind == kinds.get(name, name):
            return option.option_id
    raise NotFound(f"no option {name}")
