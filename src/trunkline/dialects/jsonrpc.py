"""A newline-delimited JSON-RPC 2.0 peer: bytes in, messages out, and the other way round.

The contract is four verbs and no I/O: ``receive_data(bytes)``, ``messages_received()``, ``send_*()``, ``data_to_send()``,
plus ``receive_eof()``. Whoever owns the pipe or socket pumps the bytes.

Rule 1: nothing here raises at the driver. A line that is no message becomes a ``Malformed`` value at its place in the
order, and the lines around it survive.
Rule 2: a line is decoded once, as an envelope; params, results and ids stay the peer's own bytes.
Rule 3: an id is opaque. The peer's are echoed byte for byte; ours are integers, and the two never meet in one table.
Rule 4: what has only one right answer is answered here: requests we do not serve (-32601), batches and requests
without a method name (-32600). Noise from an agent is never answered: agents log on stdout and would answer the answers.
Where we are the agent (``complains``), noise is answered as JSON-RPC says (-32700, -32600, id null).

Two leniencies, both because the alternative is a dead session: the ``jsonrpc`` member is not looked at, and an answer
with neither ``result`` nor ``error`` counts as ``result: null`` (what JavaScript writes for an undefined result).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from trunkline.dialects.codes import ErrorCode
from trunkline.dialects.signals import Malformed

__all__ = [
    "CANCEL_REQUEST",
    "MAX_LINE",
    "NULL",
    "LineSplitter",
    "Malformed",
    "Message",
    "Notification",
    "Peer",
    "Request",
    "Response",
    "RpcError",
]

MAX_LINE = 64 * 1024 * 1024
"""Longest line taken, in bytes. Agents really send lines of half a megabyte; embedded images make some of 20."""

KEPT_OF_MALFORMED = 4096

CANCEL_REQUEST = "$/cancel_request"

NULL = Raw(b"null")

_BOM = codecs.BOM_UTF8
_UTF8_STEP = 1 << 20


class RpcError(Struct, frozen=True, gc=False):
    """The ``error`` member of an answer."""

    code: int
    message: str
    data: Raw | None = None


class Request(Struct, frozen=True, gc=False):
    """The peer wants an answer; hand ``id`` back to ``send_result`` or ``send_error`` as it is."""

    id: Raw
    method: str
    params: Raw | None


class Notification(Struct, frozen=True, gc=False):
    """The peer tells us something and wants no answer."""

    method: str
    params: Raw | None


class Response(Struct, frozen=True, gc=False):
    """The answer to our request ``id``: exactly one of ``result`` and ``error`` is set."""

    id: int
    result: Raw | None = None
    error: RpcError | None = None


Message = Request | Notification | Response | Malformed


class _Envelope(Struct, gc=False):
    """All that a line may carry; which members are there tells what it is."""

    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Addressed(Struct, gc=False):
    """The least a wrong request must have to be answered."""

    id: Raw
    method: Raw


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ADDRESSED = msgspec.json.Decoder(_Addressed)
_ARRAY = msgspec.json.Decoder(list[Raw])
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_STRING = msgspec.json.Decoder(str)
_INTEGER = msgspec.json.Decoder(int, strict=False)
_encode = msgspec.json.Encoder().encode

_BROKEN = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class LineSplitter:
    """Cuts a byte stream into lines, at a cost linear in its length however it was cut before.

    A line over ``limit`` is thrown away up to its end; a stub of it is returned in its place, and ``cut`` maps the stub's
    index in the list returned last to the line's true size.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._held = bytearray()
        self._size = 0
        self.cut: dict[int, int] = {}

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes, without their newline."""
        if self.cut:
            self.cut = {}
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines:
            if self._size:
                lines[0] = self._finish(lines[0])
            if len(data) > self._limit:
                self._cut_overlong(lines)
        if rest:
            self._hold(rest)
        return lines

    def flush(self) -> list[bytes]:
        """What stands after the last newline, as a line, when the stream has ended."""
        self.cut = {}
        return [self._finish(b"")] if self._size else []

    def _hold(self, piece: bytes) -> None:
        # A bytearray grows by an eighth at a time: linear in total even when fed byte by byte.
        self._size += len(piece)
        if self._size <= self._limit:
            self._held += piece
        else:
            del self._held[KEPT_OF_MALFORMED:]
            self._held += piece[: KEPT_OF_MALFORMED - len(self._held)]

    def _finish(self, piece: bytes) -> bytes:
        self._hold(piece)
        line = bytes(self._held)
        if self._size > self._limit:
            self.cut[0] = self._size
        self._held = bytearray()
        self._size = 0
        return line

    def _cut_overlong(self, lines: list[bytes]) -> None:
        for index, line in enumerate(lines):
            if len(line) > self._limit:
                self.cut[index] = len(line)
                lines[index] = line[:KEPT_OF_MALFORMED]


class Peer:
    """One end of a JSON-RPC connection.

    ``methods`` names the requests that we serve: any other is answered -32601 at once and never shown. None serves all.
    ``complains``: noise is answered, too. ``last_id`` is the id after which ours begin.
    """

    def __init__(self, *, methods: Iterable[str] | None = None, limit: int = MAX_LINE, complains: bool = False,
                 last_id: int = 0) -> None:
        self._served = None if methods is None else frozenset(methods)
        self._complains = complains
        self._splitter = LineSplitter(limit)
        self._messages: list[Message] = []
        self._writes: list[bytes] = []
        self._pending: dict[int, str] = {}
        self._last_id = last_id
        self._ascii = True

    @property
    def pending(self) -> Mapping[int, str]:
        """Our requests that wait for an answer: id to method, in the order they were sent."""
        return self._pending

    # -- in --------------------------------------------------------------------------------------------------------

    def receive_data(self, data: bytes) -> None:
        """Take bytes as they came, cut anywhere."""
        lines = self._splitter.feed(data)
        # One look at the block spares one look per line. The first line may have begun in an earlier block.
        clean = data.isascii() and self._ascii
        self._ascii = clean if not lines else data.isascii()
        if lines:
            self._receive_lines(lines, clean)

    def receive_message(self, data: bytes) -> None:
        """Take one whole message, as a frame or a body brought it: a line break within is white space."""
        self._receive_lines([data], data.isascii() or _utf8_fault(data) is None)

    def receive_eof(self) -> None:
        """The stream has ended; a last line without newline still counts."""
        lines = self._splitter.flush()
        self._receive_lines(lines, self._ascii)
        self._ascii = True

    def messages_received(self) -> list[Message]:
        """What has arrived since the last call, in order."""
        messages, self._messages = self._messages, []
        return messages

    def _receive_lines(self, lines: list[bytes], clean: bool) -> None:
        if self._splitter.cut or not clean:
            self._receive_suspect_lines(lines)
            return
        decode = _ENVELOPE.decode
        append = self._messages.append
        for line in lines:
            try:
                envelope = decode(line)
            except _BROKEN as error:
                self._receive_broken(line, error)
                continue
            if envelope.id is UNSET and envelope.method is not UNSET:
                params = envelope.params
                append(Notification(envelope.method, None if params is UNSET else params))
            else:
                self._receive_envelope(line, envelope)

    def _receive_suspect_lines(self, lines: list[bytes]) -> None:
        """Lines of which some may be over-long or no UTF-8; the Raw parts of an envelope would not notice the latter."""
        cut = self._splitter.cut
        self._splitter.cut = {}
        for index, line in enumerate(lines):
            if index in cut:
                self._malformed(line, f"longer than {self._splitter._limit} bytes", cut[index], code=ErrorCode.INVALID_REQUEST)
            elif (why := _utf8_fault(line)) is not None:
                self._malformed(line, why, code=ErrorCode.PARSE_ERROR)
            else:
                self._receive_lines([line], True)

    def _receive_envelope(self, line: bytes, envelope: _Envelope) -> None:
        if envelope.method is UNSET:
            self._receive_answer(line, envelope)
        elif envelope.id is UNSET:
            self._messages.append(Notification(envelope.method, _present(envelope.params)))
        elif self._served is None or envelope.method in self._served:
            self._messages.append(Request(envelope.id, envelope.method, _present(envelope.params)))
        else:
            self.send_error(envelope.id, ErrorCode.METHOD_NOT_FOUND, f"Method not found: {envelope.method}")

    def _receive_answer(self, line: bytes, envelope: _Envelope) -> None:
        if envelope.id is UNSET:
            why = "neither request, notification nor answer" if envelope.error is UNSET else "error without id"
            self._malformed(line, why, code=ErrorCode.INVALID_REQUEST if envelope.error is UNSET else None)
            return
        our_id = self._our_id(envelope.id)
        if our_id is None:
            self._malformed(line, f"answer to an unknown request: id {_shown(envelope.id)}")
            return
        del self._pending[our_id]
        if envelope.error is UNSET or bytes(envelope.error) == b"null":
            self._messages.append(Response(our_id, result=_present(envelope.result) or NULL))
        else:
            self._messages.append(Response(our_id, error=_read_error(envelope.error)))

    def _our_id(self, raw: Raw) -> int | None:
        """The id of a pending request of ours that these bytes spell; 1 is not "1" and not 1.0."""
        token = bytes(raw)
        if not token.isdigit() or len(token) > 18 or (our_id := int(token)) not in self._pending:
            return None
        return our_id

    def _receive_broken(self, line: bytes, error: Exception, *, marked: bool = False) -> None:
        text = line.strip()
        if not text:
            return
        if text.startswith(_BOM) and not marked:
            self._receive_marked(text)
            return
        if text.startswith(b"[") and _is_array(text):
            self._malformed(line, "batches are not supported")
            self.send_error(NULL, ErrorCode.INVALID_REQUEST, "Batches are not supported")
            return
        wrong = _addressed(text)
        code = ErrorCode.INVALID_REQUEST if isinstance(error, msgspec.ValidationError) else ErrorCode.PARSE_ERROR
        self._malformed(line, _reason(error), code=code if wrong is None else None)
        if wrong is not None:
            self.send_error(wrong.id, ErrorCode.INVALID_REQUEST, "The method must be a string")

    def _receive_marked(self, text: bytes) -> None:
        """A line behind a byte order mark. RFC 8259 lets a parser skip it: the mark is reported, the message is not lost."""
        self._malformed(_BOM, "byte order mark", len(_BOM))
        line = text[len(_BOM) :]
        try:
            envelope = _ENVELOPE.decode(line)
        except _BROKEN as error:
            self._receive_broken(line, error, marked=True)
        else:
            self._receive_envelope(line, envelope)

    def _malformed(self, line: bytes, why: str, size: int | None = None, *, code: ErrorCode | None = None) -> None:
        """Something that is no message; ``code`` is what its sender may be told of it."""
        kept = line if len(line) <= KEPT_OF_MALFORMED else line[:KEPT_OF_MALFORMED]
        self._messages.append(Malformed(kept, why, len(line) if size is None else size))
        if self._complains and code is not None:
            self.send_error(NULL, code, why[:1].upper() + why[1:])

    # -- out -------------------------------------------------------------------------------------------------------

    def send_request(self, method: str, params: bytes | Struct | None = None) -> int:
        """Ask the peer; its answer will be a ``Response`` with the id returned here."""
        self._last_id += 1
        self._pending[self._last_id] = method
        self._write(b'{"jsonrpc":"2.0","id":%d,"method":%b' % (self._last_id, _encode(method)), params)
        return self._last_id

    def send_notification(self, method: str, params: bytes | Struct | None = None) -> None:
        """Tell the peer."""
        self._write(b'{"jsonrpc":"2.0","method":%b' % _encode(method), params)

    def send_result(self, request_id: bytes, result: bytes | Struct | None = None) -> None:
        """Answer the peer's request ``request_id`` (the ``id`` of its ``Request``)."""
        body = b"null" if result is None else _body(result)
        self._writes.append(b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (request_id, body))

    def send_error(self, request_id: bytes, code: int, message: str, data: bytes | Struct | None = None) -> None:
        """Refuse the peer's request ``request_id``."""
        detail = b"" if data is None else b',"data":' + _body(data)
        error = b'{"code":%d,"message":%b%b}' % (code, _encode(message), detail)
        self._writes.append(b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (request_id, error))

    def send_cancel(self, our_id: int) -> None:
        """Take our request back, unless it was answered. The peer still answers it, perhaps with -32800."""
        if our_id in self._pending:
            self.send_notification(CANCEL_REQUEST, b'{"requestId":%d}' % our_id)

    @property
    def has_output(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._writes)

    def data_to_send(self) -> list[bytes]:
        """What must be written, in order, each a whole line."""
        writes, self._writes = self._writes, []
        return writes

    def _write(self, head: bytes, params: bytes | Struct | None) -> None:
        tail = b"}\n" if params is None else b',"params":%b}\n' % _body(params)
        self._writes.append(head + tail)


def _present(raw: Raw | UnsetType) -> Raw | None:
    return None if raw is UNSET else raw


def _body(value: bytes | Struct) -> bytes:
    if not isinstance(value, bytes | Raw):
        return _encode(value)
    body = bytes(value)
    # Line breaks are legal between JSON tokens but end a message here.
    return msgspec.json.format(body, indent=-1) if b"\n" in body else body


def _read_error(raw: Raw) -> RpcError:
    """An error in whatever shape it came: the request that it answers must not stay open."""
    try:
        members = _MEMBERS.decode(raw)
    except _BROKEN:
        return RpcError(ErrorCode.INTERNAL_ERROR, _shown(raw), raw)
    message = members.get("message")
    return RpcError(_error_code(members.get("code")), _error_text(raw if message is None else message), members.get("data"))


def _error_code(raw: Raw | None) -> int:
    try:
        return ErrorCode.INTERNAL_ERROR if raw is None else _INTEGER.decode(raw)
    except _BROKEN:
        return ErrorCode.INTERNAL_ERROR


def _error_text(raw: Raw) -> str:
    try:
        return _STRING.decode(raw)
    except _BROKEN:
        return _shown(raw)


def _addressed(text: bytes) -> _Addressed | None:
    """Id and method of a line that is a request but for the type of its method."""
    try:
        return _ADDRESSED.decode(text)
    except _BROKEN:
        return None


def _is_array(text: bytes) -> bool:
    try:
        _ARRAY.decode(text)
    except _BROKEN:
        return False
    return True


def _utf8_fault(line: bytes) -> str | None:
    """Why ``line`` is not UTF-8, looking at a megabyte at a time: a decoded copy of 64 MiB may take 256."""
    if line.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(line)
    try:
        for start in range(0, len(view), _UTF8_STEP):
            decoder.decode(view[start : start + _UTF8_STEP])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error.reason}"
    return None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, msgspec.ValidationError):
        return f"not a message: {error}"
    # msgspec says "truncated" for half a surrogate pair, too.
    return f"not JSON: {str(error).replace('truncated', 'truncated, or has half a surrogate pair')}"


def _shown(raw: Raw) -> str:
    return bytes(raw)[:200].decode("utf-8", "replace")
