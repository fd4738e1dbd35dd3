"""Arbitrary values of our protocol types, made from their annotations."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from msgspec import UNSET, Raw, UnsetType

from trunkline.dialects.acp.client import RequestPermissionRequest, SessionNotification
from trunkline.dialects.acp.content import ResourceContents
from trunkline.dialects.acp.elicitation import ElicitationSchema, EnumOption, FormElicitation, MultiSelectItems, UrlElicitation
from trunkline.dialects.acp.initialize import CancelRequestNotification
from trunkline.dialects.acp.options import SessionConfigSelect, SessionConfigSelectEntry
from trunkline.dialects.acp.reading.decode import tool_call_members
from trunkline.dialects.acp.sessions import SetSessionConfigOptionRequest
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import SessionUpdate, ToolCallUpdate

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
"""Strings without lone surrogates, which JSON cannot carry."""

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)

_SPECIAL: dict[tuple[Any, str], st.SearchStrategy[Any]] = {
    (FormElicitation, "requested_schema"): st.deferred(lambda: instances(ElicitationSchema)).map(encode_acp).map(Raw),
    (SessionNotification, "update"): st.deferred(lambda: instances(SessionUpdate)).map(encode_acp).map(Raw),
    (RequestPermissionRequest, "tool_call"): st.deferred(lambda: instances(ToolCallUpdate)).map(
        tool_call_members).map(Raw),
    (CancelRequestNotification, "request_id"): st.sampled_from([Raw(b"1"), Raw(b'"a"'), Raw(b"null")]),
    (UrlElicitation, "url"): st.just("https://example.org/login"),
}
"""Members whose type says less than the protocol."""

_ENTRY = st.builds(SessionConfigSelectEntry, name=texts, value=texts, description=st.none() | texts)
_GROUP = st.builds(SessionConfigSelectEntry, name=texts, group=texts, options=st.lists(_ENTRY, max_size=2))

_SETTING = {"session_id": texts, "config_id": texts}

_MADE: dict[Any, st.SearchStrategy[Any]] = {
    SessionConfigSelectEntry: _ENTRY | _GROUP,
    SetSessionConfigOptionRequest: st.one_of(
        st.builds(SetSessionConfigOptionRequest, **_SETTING, value=texts),
        st.builds(SetSessionConfigOptionRequest, **_SETTING, value=st.booleans(), type=st.just("boolean")),
    ),
    ResourceContents: st.builds(ResourceContents, uri=texts, text=texts)
    | st.builds(ResourceContents, uri=texts, blob=texts, mime_type=st.none() | texts),
    MultiSelectItems: st.builds(MultiSelectItems, type=st.just("string"), enum=st.lists(texts, max_size=2))
    | st.builds(MultiSelectItems, any_of=st.lists(st.deferred(lambda: instances(EnumOption)), max_size=2)),
    SessionConfigSelect: st.builds(
        SessionConfigSelect, id=texts, name=texts, current_value=texts,
        options=st.lists(_ENTRY, max_size=2) | st.lists(_GROUP, max_size=2), category=st.none() | texts),
}
"""Types whose members depend on each other."""


def instances(annotation: Any) -> st.SearchStrategy[Any]:
    """Arbitrary values of a type."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _constrained(args[0], annotation.__metadata__)
    if origin in (Union, types.UnionType):
        return st.one_of([instances(kind) for kind in args])
    if origin is Literal:
        return st.sampled_from(args)
    if origin is list:
        return st.lists(instances(args[0]), max_size=2)
    if origin is dict:
        return st.dictionaries(texts, instances(args[1]), max_size=2)
    if annotation in _MADE:
        return _MADE[annotation]
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return _structs(annotation)
    return _PLAIN[annotation]


def _constrained(annotation: Any, marks: Any) -> st.SearchStrategy[Any]:
    values = instances(annotation)
    for mark in marks:
        if mark.ge is not None:
            values = st.integers(mark.ge, 2**31 if mark.le is None else mark.le)
        if mark.min_length is not None:
            values = st.text(st.characters(exclude_categories=["Cs"]), min_size=mark.min_length, max_size=20)
    return values


def _structs(kind: Any) -> st.SearchStrategy[Any]:
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for field in msgspec.structs.fields(kind):
        special = _SPECIAL.get((kind, field.name))
        values = instances(field.type) if special is None else special
        (required if field.required else optional)[field.name] = values
    if kind in (FormElicitation, UrlElicitation):
        required["session_id"] = texts
        optional.pop("session_id")
        optional.pop("request_id")
    return st.fixed_dictionaries(required, optional=optional).map(lambda values: kind(**values))


_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**31), 2**31),
    float: st.floats(allow_nan=False, allow_infinity=False, width=32),
    bool: st.booleans(),
    type(None): st.none(),
    Any: json_values,
    Raw: json_values.map(lambda value: Raw(msgspec.json.encode(value))),
    UnsetType: st.just(UNSET),
}
