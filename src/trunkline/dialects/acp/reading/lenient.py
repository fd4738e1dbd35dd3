"""Reading the way the schema's parsing policy says: forgiving on optional fields, strict on required ones.

A bad optional value counts as absent, bad items of a marked list are dropped, a missing or bad required member refuses
the object. What is well formed is decoded in one go; only what is refused there is taken apart, member by member, with
the aliases applied, and only as deep as the fault lies. Raw members keep their bytes either way.

Rule 1: the only exception that leaves here is ``Invalid``; its message names the member.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, overload

import msgspec
from msgspec import Raw, UnsetType

from trunkline import decoders
from trunkline.dialects.acp.reading import aliases
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid

T = TypeVar("T")
Reader = Callable[[bytes], Any]


@overload
def read_lenient(raw: bytes, kind: type[T]) -> T: ...
@overload
def read_lenient(raw: bytes, kind: Any) -> Any: ...
def read_lenient(raw: bytes, kind: Any) -> Any:
    """``raw`` as a ``kind``, which may be a union; raises Invalid."""
    return _reader(kind)(raw)


def read_members(members: aliases.Members, kind: Any) -> Any:
    """An object of type ``kind`` out of members that are already taken apart; aliases apply."""
    members = aliases.reshape(kind, members)
    values: dict[str, Any] = {}
    for field in _fields(kind):
        field.read_into(values, members)
    try:
        return kind(**values)
    except (ValueError, TypeError) as error:
        raise Invalid(str(error)) from None


class _Field:
    """How one member of an object is read, and what becomes of it when it is bad."""

    def __init__(self, info: msgspec.structs.FieldInfo) -> None:
        marks = _marks(info.type)
        self.name = info.name
        self.member = info.encode_name
        self.required = info.required
        self.forgiving = "skip_invalid_items" in marks if info.required else "strict" not in marks
        self.is_list = get_origin(_bare(info.type)) is list
        self.read = _reader(info.type)

    def read_into(self, values: dict[str, Any], members: aliases.Members) -> None:
        raw = members.get(self.member, members.get(self.name))
        if raw is None:
            if self.required:
                raise Invalid(f"{self.member} is missing")
            return
        try:
            values[self.name] = self.read(raw)
        except Invalid as error:
            self._forgive(values, raw, error)

    def _forgive(self, values: dict[str, Any], raw: Raw, error: Invalid) -> None:
        null_list = self.is_list and bytes(raw) == b"null"
        if self.required and (self.forgiving or null_list):
            values[self.name] = []
        elif self.required or not (self.forgiving or null_list):
            raise Invalid(f"{self.member}: {error.message}") from None


@functools.cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    return tuple(_Field(info) for info in msgspec.structs.fields(kind))


@functools.cache
def _reader(annotation: Any) -> Reader:
    """The reader of a type: strict first, and where that refuses, taken apart."""
    bare = _bare(annotation)
    strict = None if bare in aliases.HIDDEN else _strict_decoder(annotation)
    if bare is int and strict is not None:
        return functools.partial(_read_int, strict)
    take_apart = _taking_apart(bare, "skip_invalid_items" in _marks(annotation))

    def read(raw: bytes) -> Any:
        if strict is not None:
            try:
                return strict.decode(raw)
            except msgspec.ValidationError as error:
                refused: Exception = error
            except BROKEN as error:
                raise Invalid(str(error)) from None
        else:
            refused = Invalid("refused")
        return take_apart(raw, refused)

    return read


def _strict_decoder(annotation: Any) -> msgspec.json.Decoder[Any] | None:
    try:
        return decoders.of(annotation)
    except TypeError:
        # A union of objects of which one has no tag is beyond msgspec; it is taken apart always.
        return None


def _taking_apart(bare: Any, skip: bool) -> Callable[[bytes, Exception], Any]:
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        return functools.partial(_take_object_apart, bare)
    if get_origin(bare) is list:
        return functools.partial(_take_list_apart, get_args(bare)[0], skip)
    if isinstance(bare, types.UnionType) or get_origin(bare) is Union:
        if all(isinstance(kind, type) and issubclass(kind, msgspec.Struct) for kind in get_args(bare)):
            return functools.partial(_take_union_apart, bare)
    return _refuse


def _take_object_apart(kind: Any, raw: bytes, refused: Exception) -> Any:
    members = aliases.members_of(aliases.reshape_value(kind, Raw(raw)))
    if members is None:
        raise Invalid(f"expected an object: {refused}")
    return read_members(members, kind)


def _take_list_apart(item: Any, skip: bool, raw: bytes, refused: Exception) -> list[Any]:
    items = aliases.items_of(raw)
    if items is None:
        raise Invalid(f"expected an array: {refused}")
    read = _reader(item)
    values = []
    for index, value in enumerate(items):
        try:
            values.append(read(value))
        except Invalid as error:
            if not skip:
                raise Invalid(f"[{index}]: {error.message}") from None
    return values


def _take_union_apart(union: Any, raw: bytes, refused: Exception) -> Any:
    raw = aliases.reshape_value(union, Raw(raw))
    members = aliases.members_of(raw)
    if members is None:
        raise Invalid(f"expected an object: {refused}")
    untagged = None
    for kind in get_args(union):
        config = kind.__struct_config__
        if config.tag is None:
            untagged = kind
        elif aliases.text_of(members.get(config.tag_field)) == config.tag:
            return _reader(kind)(raw)
    if untagged is None:
        raise Invalid(str(refused))
    return _reader(untagged)(raw)


def _read_int(strict: msgspec.json.Decoder[Any], raw: bytes) -> Any:
    """A whole number; 1.0 is one to JSON Schema."""
    try:
        return strict.decode(raw)
    except BROKEN as error:
        refused = Invalid(str(error))
    try:
        number = decoders.decode(raw, float)
        return strict.decode(b"%d" % number if number.is_integer() else raw)
    except BROKEN:
        raise refused from None


def _refuse(raw: bytes, refused: Exception) -> Any:
    raise Invalid(str(refused))


def _bare(annotation: Any) -> Any:
    """A type without its marks and without null and absent."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if isinstance(annotation, types.UnionType) or get_origin(annotation) is Union:
        kinds = [kind for kind in get_args(annotation) if kind not in (types.NoneType, UnsetType)]
        return _bare(kinds[0]) if len(kinds) == 1 else functools.reduce(operator.or_, kinds)
    return annotation


def _marks(annotation: Any) -> dict[str, Any]:
    if get_origin(annotation) is not Annotated:
        return {}
    return {name: value for mark in annotation.__metadata__ for name, value in (getattr(mark, "extra", None) or {}).items()}
