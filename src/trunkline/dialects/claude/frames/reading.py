"""A line of the CLI's stdout as a frame.

Rule 1: one member of another shape than expected costs that member, not the frame: a ``result`` always ends its turn.
Rule 2: nothing raises: a line that is no frame is ``Broken``.
"""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec

from trunkline import decoders
from trunkline.dialects.claude.frames.types import SYSTEM, Broken, Frame, Known, System, SystemFrame, UnknownFrame
from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.dialects.outside import BROKEN, Json

_read = decoders.of(Known).decode
_read_system = {subtype: decoders.of(kind).decode for subtype, kind in SYSTEM.items()}
_BY_TYPE: Final[dict[str, type[Frame]]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Known)}


def read_frame(line: bytes) -> tuple[str, Known | System | UnknownFrame | Broken]:
    """One line, and what it is called: its type, or the subtype of a ``system`` frame."""
    if (why := utf8_fault(line)) is not None:  # what is kept as it came would not notice
        return "", Broken(why)
    try:
        frame = _read(line)
    except BROKEN:
        return _forgiven(line)
    if type(frame) is SystemFrame:
        return frame.subtype, _system(frame.subtype, line)
    return str(frame.__struct_config__.tag), frame


def _system(subtype: str, line: bytes) -> Known | System | UnknownFrame | Broken:
    read = _read_system.get(subtype)
    if read is None:
        return UnknownFrame(subtype or "system")
    try:
        return read(line)
    except BROKEN:
        return _forgiven(line)[1]


def _forgiven(line: bytes) -> tuple[str, Known | System | UnknownFrame | Broken]:
    """A line that no frame's shape fits: the frame without what does not fit, else what it calls itself."""
    try:
        fields = msgspec.json.decode(line)
    except BROKEN as error:
        return "", Broken(f"not a line of JSON: {error}")
    if not isinstance(fields, dict):
        return "", Broken("not a JSON object")
    kind, subtype = fields.get("type"), fields.get("subtype")
    if not isinstance(kind, str) or not kind:
        return "", Broken("a frame without a type")
    if kind == "system":
        name = subtype if isinstance(subtype, str) and subtype else "system"
        return name, _whatever_fits(SYSTEM[name], fields) if name in SYSTEM else UnknownFrame(name)
    shape = _BY_TYPE.get(kind)
    if shape is None:
        return kind, UnknownFrame(kind)
    frame: Known = _whatever_fits(shape, fields)
    return kind, frame


def _whatever_fits(shape: type[Any], fields: Json) -> Any:
    """A frame with the members that have the right shape; the others as if they were not there."""
    found: Json = {}
    for field in msgspec.structs.fields(shape):
        if field.encode_name not in fields:
            continue
        value, wanted = fields[field.encode_name], field.type
        try:
            found[field.name] = _as_came(value) if wanted is msgspec.Raw else decoders.convert(value, wanted, strict=False)
        except BROKEN:
            inner = wanted if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct) else None
            if inner is not None and isinstance(value, dict):
                found[field.name] = _whatever_fits(inner, value)
    return shape(**found)


def _as_came(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
