"""Every decoder of a type, made by one thread at a time.

msgspec looks into a type at its first use, and shows what it has of it to other threads before it is done: one that decodes or
converts meanwhile, into that type or into one that has it in a field, reads what is not there and crashes the interpreter. So no
module makes a decoder of its own (``tests/test_decoders.py`` looks for that): types are looked into here, under one lock, each
once. Afterwards nobody waits. The largest take 5 ms, which is the longest that the loop can wait for another thread's.

What has no type (``msgspec.json.decode(raw)``), and all encoding, needs none of this."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, Final, TypeVar, overload

import msgspec

__all__ = ["convert", "decode", "of", "packed"]

_FIRST_USE: Final = threading.Lock()

T = TypeVar("T")


@cache
def _json(kind: Any, strict: bool) -> msgspec.json.Decoder[Any]:
    with _FIRST_USE:
        return msgspec.json.Decoder(kind, strict=strict)


@overload
def of(kind: type[T], *, strict: bool = ...) -> msgspec.json.Decoder[T]: ...
@overload
def of(kind: Any, *, strict: bool = ...) -> msgspec.json.Decoder[Any]: ...


def of(kind: Any, *, strict: bool = True) -> msgspec.json.Decoder[Any]:
    """What reads JSON as this type; for a module's own, at its top, and for all that is read often."""
    return _json(kind, strict)


@overload
def decode(raw: bytes | str, kind: type[T], *, strict: bool = ...) -> T: ...
@overload
def decode(raw: bytes | str, kind: Any, *, strict: bool = ...) -> Any: ...


def decode(raw: bytes | str, kind: Any, *, strict: bool = True) -> Any:
    """JSON as a value of this type, whose decoder is made with the first."""
    return _json(kind, strict).decode(raw)


@overload
def convert(value: Any, kind: type[T], *, strict: bool = ...) -> T: ...
@overload
def convert(value: Any, kind: Any, *, strict: bool = ...) -> Any: ...


def convert(value: Any, kind: Any, *, strict: bool = True) -> Any:
    """What was read without a type, as a value of this one."""
    _json(kind, True)  # for the look that it takes; msgspec converts without a decoder
    return msgspec.convert(value, kind, strict=strict)


def packed(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """What reads MessagePack as this type."""
    with _FIRST_USE:
        return msgspec.msgpack.Decoder(kind)
