"""The tables and reshapes, applied to what came."""

from __future__ import annotations

from typing import Any, get_args

from msgspec import Raw

from trunkline.dialects.acp.reading.aliases.members import Members, as_raw, rename, text_of
from trunkline.dialects.acp.reading.aliases.reshapes import RESHAPES, VALUE_RESHAPES
from trunkline.dialects.acp.reading.aliases.tables import ENVELOPE_FIELDS, FIELDS, UPDATE_TAGS, UPDATES, VALUES
from trunkline.dialects.acp.updates import SessionUpdate


def revalue(kind: Any, members: Members) -> Members:
    """Right values for wrong ones."""
    for name, table in VALUES.get(kind, {}).items():
        right = table.get(text_of(members.get(name)) or "")
        if right is not None:
            members[name] = as_raw(right)
    return members


def reshape(kind: Any, members: Members) -> Members:
    """The members of an object of type ``kind`` as the schema would have them."""
    members = revalue(kind, rename(FIELDS.get(kind, {}), members))
    function = RESHAPES.get(kind)
    return members if function is None else function(members)


def reshape_value(kind: Any, raw: Raw) -> Raw:
    """A value of type ``kind`` (a union or a marker) that is not even the right sort of JSON, or of the wrong variant."""
    function = VALUE_RESHAPES.get(kind)
    return raw if function is None else function(raw)


def update_kind(members: Members) -> str | None:
    """The ``sessionUpdate`` value an update means, wherever and however it says so."""
    for name in UPDATE_TAGS:
        value = text_of(members.get(name))
        if value is not None and (name == "sessionUpdate" or value in UPDATES or value in _KNOWN_UPDATES):
            return UPDATES.get(value, value)
    return None


def strip_envelope(members: Members, kind: str) -> Members:
    """An update's own members, without those that declared what it is or came with a packet."""
    other = {"sessionUpdate", "session_update", *ENVELOPE_FIELDS}
    if text_of(members.get("kind")) in {kind, *(wrong for wrong, right in UPDATES.items() if right == kind)}:
        other.add("kind")
    return {name: value for name, value in members.items() if name not in other}


_KNOWN_UPDATES = frozenset(kind.__struct_config__.tag for kind in get_args(SessionUpdate))
