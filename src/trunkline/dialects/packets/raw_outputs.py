"""What a packet's ``rawOutput`` says: ``{output, metadata}`` of the tools that the documents know, ``{error}`` of a failed call.

Rule 1: an output that has the documents' shape is passed on as it came.
Rule 2: a long text goes from the agent's line into the packet unread: from READ_BYTES on nothing is counted or numbered in it.
Rule 3: nothing is made up. An exit code that nobody reported is null; whether a file was there before is given where it is known.
Rule 4: while a call runs it has the output that its agent sent, and else null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from trunkline import decoders
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.tools import Content, Diff
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.contents import on_one_line
from trunkline.dialects.packets.detect import ToolName
from trunkline.dialects.packets.numbered import CLOSED, OPENED, read_file_text
from trunkline.dialects.packets.raw_inputs import Beside, beginning_of, first_line_of, todos_of
from trunkline.dialects.packets.shapes import NULL

READ_BYTES: Final = 64 << 10
"""Bytes of an output up to which it is decoded to be counted or numbered. Files that agents read are nearly all shorter."""

REPEATED_BYTES: Final = 16 << 10
"""Bytes of a command's output up to which ``metadata.output`` repeats it, as the documents have it; then its beginning."""

PREVIEW_CHARS: Final = 500
"""Characters of what was read that ``metadata.preview`` shows: some ten lines."""

_TEXT_KEYS: Final = ("output", "aggregated_output", "stdout", "text", "content", "result", "message")
_WROTE: Final = b'"Wrote file successfully."'
_EMPTY: Final = b'""'
_NOTHING_FOUND: Final = ("no files found", "no matches found", "no results found", "no matches", "")

_members: msgspec.json.Decoder[dict[str, Raw]] = decoders.of(dict[str, Raw])
_encode = msgspec.json.Encoder().encode

Token = bytes | memoryview
Record = Mapping[str, Raw]


def own_output(call: CallState) -> Raw:
    """The output as its agent sent it."""
    return NULL if call.raw_output is None else on_one_line(call.raw_output)


def documented_output(call: CallState, tool: ToolName | None, made_input: Raw, beside: Beside, text: Token | None) -> Raw:
    """The output as a packet carries it. ``made_input`` is the packet's input, ``text`` what the call shows, where it is long."""
    own = own_output(call)
    if (tool is None and call.status != "failed") or (call.raw_output is None and not call.finished):
        return own
    record = _record(call.raw_output)
    shown = None if beside.shows_ask else text if text is not None else _shown_text(call)
    text = _text_of(call, record, shown)
    if tool is None or call.status == "failed":
        return _failed(record, text) or own
    if _has_shape(record, tool):
        return own
    return _Output(call, record, made_input, beside, text).of(tool)


def _record(raw: bytes | None) -> Record:
    if raw is None or raw[:1] != b"{":
        return {}
    try:
        return _members.decode(raw)
    except BROKEN:
        return {}


def _has_shape(record: Record, tool: ToolName) -> bool:
    output, metadata = record.get("output"), record.get("metadata")
    if output is None or metadata is None or not _begins(output, b'"') or not _begins(metadata, b"{"):
        return False
    return tool != "read" or bytes(memoryview(output)[:7]) == b'"<file>'


def _begins(value: Raw, sign: bytes) -> bool:
    return bytes(memoryview(value)[:1]) == sign


def _failed(record: Record, text: Token | None) -> Raw | None:
    error = record.get("error")
    message = memoryview(error) if error is not None and _begins(error, b'"') else text
    return None if message is None or bytes(message[:3]) == _EMPTY else Raw(b"".join((b'{"error":', message, b"}")))


def _text_of(call: CallState, record: Record, shown: Token | None) -> Token | None:
    """What the tool gave back, as a JSON string: its output, a member of that, or else what the call shows."""
    raw = call.raw_output
    found: list[Token] = [raw] if raw is not None and raw[:1] == b'"' else []
    found += [memoryview(record[key]) for key in _TEXT_KEYS if key in record and _begins(record[key], b'"')]
    text = next((each for each in found if bytes(each[:3]) != _EMPTY), None)
    return text if text is not None else shown if shown is not None else next(iter(found), None)


def _shown_text(call: CallState) -> bytes | None:
    blocks = [item.content for item in call.content or () if isinstance(item, Content)]
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    return _encode("\n".join(texts)) if texts else None


class _Output:
    """One output on its way into the documents' shape."""

    def __init__(self, call: CallState, record: Record, made_input: Raw, beside: Beside, text: Token | None) -> None:
        self._call = call
        self._record = record
        self._input = made_input
        self._beside = beside
        self._text: Token = _EMPTY if text is None else text

    def of(self, tool: ToolName) -> Raw:
        """The shape of this tool."""
        match tool:
            case "glob" | "grep":
                return self._made(self._text, {"count": self._count(), "truncated": self._truncated()})
            case "read":
                return self._read()
            case "bash":
                return self._ran()
            case "write" | "edit":
                return self._wrote()
            case "todowrite":
                todos = todos_of(_list(_record(bytes(self._input)).get("todos")))
                return self._made(_encode(_encode(todos).decode()), {"todos": todos, "truncated": False})
        return self._made(self._text, _value(self._record.get("metadata")) or {})

    def _made(self, output: Token, metadata: Any) -> Raw:
        return Raw(b"".join((b'{"output":', output, b',"metadata":', _encode(metadata), b"}")))

    def _truncated(self) -> bool:
        return _value(self._record.get("truncated")) is True

    def _count(self) -> int:
        """How many lines were found; in a long text, by its line ends."""
        if len(self._text) > READ_BYTES:
            return bytes(self._text).count(b"\\n") + 1
        lines = str(_value(self._text)).strip().split("\n")
        return 0 if len(lines) == 1 and lines[0].strip().rstrip(".").lower() in _NOTHING_FOUND else len(lines)

    def _read(self) -> Raw:
        if len(self._text) > READ_BYTES:
            wrapped = b"".join((b'"%b\\n' % OPENED.encode(), self._text[1:-1], b'\\n%b"' % CLOSED.encode()))
            preview = beginning_of(self._text, PREVIEW_CHARS)
            return self._made(wrapped, {"preview": preview, "truncated": self._truncated()})
        text = str(_value(self._text))
        if text.startswith(OPENED):
            return self._made(self._text, {"preview": text[:PREVIEW_CHARS], "truncated": self._truncated()})
        read = read_file_text(text)
        return self._made(_encode(read.tagged), {"preview": read.plain[:PREVIEW_CHARS], "truncated": self._truncated()})

    def _ran(self) -> Raw:
        printed = self._text if self._beside.printed is None else _encode(self._beside.printed)
        again = bytes(printed) if len(printed) <= REPEATED_BYTES else _encode(beginning_of(printed, REPEATED_BYTES))
        given = _record(bytes(self._input))
        return self._made(printed, {
            "output": Raw(again), "exit": self._beside.exit_code, "description": _value(given.get("description"))
            or first_line_of(given.get("command")), "truncated": self._truncated(),
        })

    def _wrote(self) -> Raw:
        diff = next((item for item in self._call.content or () if isinstance(item, Diff)), None)
        path = diff.path if diff is not None else _value(_record(bytes(self._input)).get("filePath"))
        was_there = {} if diff is None else {"exists": bool(diff.old_text)}
        body = _WROTE if bytes(self._text[:3]) == _EMPTY else self._text
        return self._made(body, {"diagnostics": {}, "filepath": path or "", **was_there, "truncated": False})


def _value(raw: Raw | Token | None) -> Any:
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except BROKEN:
        return None


def _list(raw: Raw | None) -> list[Any]:
    value = _value(raw)
    return value if isinstance(value, list) else []
