"""The peer: numbers its requests, matches answers, and answers itself what has only one right answer."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, Raw, Struct

from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.jsonrpc.broken import concerned
from trunkline.dialects.jsonrpc.envelope import (
    ENVELOPE,
    Envelope,
    addressed,
    is_array,
    is_id,
    present,
    read_error,
    reason_of,
    shortened,
)
from trunkline.dialects.jsonrpc.lines import KEPT_OF_MALFORMED, LARGE_LINE, MAX_LINE, LineSplitter, Utf8Check, utf8_fault
from trunkline.dialects.jsonrpc.messages import (
    CANCEL_REQUEST,
    ID_BYTES,
    NULL,
    Message,
    Notification,
    Request,
    Response,
    RpcError,
)
from trunkline.dialects.outside import BROKEN, is_whole_number
from trunkline.dialects.signals import Malformed

_BOM = codecs.BOM_UTF8
_NAMED_CHARS = 200
_encode = msgspec.json.Encoder().encode


class Peer:
    """One end of a JSON-RPC connection.

    ``methods`` names the requests that we serve: any other is answered -32601 at once and never shown. None serves all.
    ``complains``: noise is answered, too, and so is a request with an id that cannot be one. ``last_id`` is the id after which
    ours begin.
    """

    def __init__(self, *, methods: Iterable[str] | None = None, limit: int = MAX_LINE, complains: bool = False,
                 last_id: int = 0) -> None:
        self._served = None if methods is None else frozenset(methods)
        self._complains = complains
        self._splitter = LineSplitter(limit, lends=True)
        self._messages: list[Message] = []
        self._writes: list[bytes] = []
        self._pending: dict[int, str] = {}
        self._last_id = last_id
        self._ascii = True
        self._text = Utf8Check()

    @property
    def pending(self) -> Mapping[int, str]:
        """Our requests that wait for an answer: id to method, in the order they were sent."""
        return self._pending

    # -- in --------------------------------------------------------------------------------------------------------

    def receive_data(self, data: bytes) -> None:
        """Take bytes as they came, cut anywhere."""
        lines = self._splitter.feed(data)
        # One look at the block spares one look per line. The first line may have begun in an earlier block.
        ascii = data.isascii()
        clean = ascii and self._ascii
        if not lines:
            self._ascii = clean
            if not clean:
                self._text.go_on(data)  # a long line is looked at as it comes: at its end it would take too long
            return
        if not self._ascii:
            self._text.go_on(data[:data.index(b"\n")], last=True)
            if self._text.is_good and self._splitter.had_large and not self._splitter.cut:
                self._receive_lines([lines.pop(0)], True)  # a second look at all of it would take too long
                clean = ascii or not lines
        self._ascii = ascii
        self._receive_lines(lines, clean)
        if not ascii:
            self._text.begin(data[data.rindex(b"\n") + 1:])

    def receive_message(self, data: bytes) -> None:
        """Take one whole message, as a frame or a body brought it: a line break within is white space."""
        self._receive_lines([data], data.isascii() or utf8_fault(data) is None)

    def receive_eof(self) -> None:
        """The stream has ended; a last line without newline still counts."""
        lines = self._splitter.flush()
        self._receive_lines(lines, self._ascii)
        self._ascii = True

    @property
    def had_large_line(self) -> bool:
        """Whether what came last completed a line that took long to read."""
        return self._splitter.had_large

    def messages_received(self) -> list[Message]:
        """What has arrived since the last call, in order."""
        messages, self._messages = self._messages, []
        return messages

    def _receive_lines(self, lines: list[bytes], clean: bool) -> None:
        if self._splitter.cut or not clean:
            self._receive_suspect_lines(lines)
            return
        decode = ENVELOPE.decode
        append = self._messages.append
        for line in lines:
            try:
                envelope = decode(line)
            except BROKEN as error:
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
                self._unreadable(line, self._splitter.why_cut, ErrorCode.INVALID_REQUEST, cut[index])
            elif (why := utf8_fault(line)) is not None:
                self._unreadable(line, why, ErrorCode.PARSE_ERROR)
            else:
                self._receive_lines([line], True)

    def _receive_envelope(self, line: bytes, envelope: Envelope) -> None:
        if envelope.method is UNSET:
            self._receive_answer(line, envelope)
        elif envelope.id is UNSET:
            self._messages.append(Notification(envelope.method, present(envelope.params)))
        elif self._complains and not is_id(envelope.id):
            self._malformed(line, "an id is a string, a number or null", code=ErrorCode.INVALID_REQUEST)
        elif len(memoryview(envelope.id)) > ID_BYTES:
            self._refuse_id(line)
        elif self._served is None or envelope.method in self._served:
            self._messages.append(Request(Raw(bytes(envelope.id)), envelope.method, present(envelope.params)))
        else:
            self.send_error(envelope.id, ErrorCode.METHOD_NOT_FOUND, f"Method not found: {envelope.method[:_NAMED_CHARS]}")

    def _refuse_id(self, line: bytes) -> None:
        """A request whose id is too long to be kept, and to be sent back in an answer."""
        why = f"an id has at most {ID_BYTES} bytes"
        self._malformed(line, why)
        self.send_error(NULL, ErrorCode.INVALID_REQUEST, why[:1].upper() + why[1:])

    def _receive_answer(self, line: bytes, envelope: Envelope) -> None:
        if envelope.id is UNSET:
            why = "neither request, notification nor answer" if envelope.error is UNSET else "error without id"
            self._malformed(line, why, code=ErrorCode.INVALID_REQUEST if envelope.error is UNSET else None)
            return
        our_id = self._our_id(envelope.id)
        if our_id is None:
            self._malformed(line, f"answer to an unknown request: id {shortened(envelope.id)}")
            return
        del self._pending[our_id]
        if envelope.error is UNSET or bytes(envelope.error) == b"null":
            self._messages.append(Response(our_id, result=present(envelope.result) or NULL))
        else:
            self._messages.append(Response(our_id, error=read_error(envelope.error)))

    def _our_id(self, raw: Raw) -> int | None:
        """The id of a pending request of ours that these bytes spell; 1 is not "1" and not 1.0."""
        token = bytes(raw)
        if not is_whole_number(token) or (our_id := int(token)) not in self._pending:
            return None
        return our_id

    def _receive_broken(self, line: bytes, error: Exception, *, marked: bool = False) -> None:
        if len(line) > LARGE_LINE:
            self._unreadable(line, reason_of(error), ErrorCode.PARSE_ERROR)  # not worth a look at all of it
            return
        text = line.strip()
        if not text:
            return
        if text.startswith(_BOM) and not marked:
            self._receive_marked(text)
            return
        if text.startswith(b"[") and is_array(text):
            self._malformed(line, "batches are not supported")
            self.send_error(NULL, ErrorCode.INVALID_REQUEST, "Batches are not supported")
            return
        if not isinstance(error, msgspec.ValidationError):
            self._unreadable(line, reason_of(error), ErrorCode.PARSE_ERROR)
            return
        wrong = addressed(text)
        self._malformed(line, reason_of(error), code=ErrorCode.INVALID_REQUEST if wrong is None else None)
        if wrong is not None:
            known = wrong.id if len(memoryview(wrong.id)) <= ID_BYTES else NULL
            self.send_error(known, ErrorCode.INVALID_REQUEST, "The method must be a string")

    def _receive_marked(self, text: bytes) -> None:
        """A line behind a byte order mark. RFC 8259 lets a parser skip it: the mark is reported, the message is not lost."""
        self._malformed(_BOM, "byte order mark", len(_BOM))
        line = text[len(_BOM) :]
        try:
            envelope = ENVELOPE.decode(line)
        except BROKEN as error:
            self._receive_broken(line, error, marked=True)
        else:
            self._receive_envelope(line, envelope)

    def _unreadable(self, line: bytes, why: str, code: ErrorCode, size: int | None = None) -> None:
        """A line that nobody can read: whoever waits for it, the peer or we, gets an error."""
        whom = concerned(line)
        our_id = None if whom is None or whom.asks else self._our_id(whom.id)
        self._malformed(line, why, size, code=code if whom is None or not whom.asks else None)
        if whom is not None and whom.asks:
            self.send_error(whom.id, code, f"The request cannot be read, {why}")
        elif our_id is not None:
            del self._pending[our_id]
            self._messages.append(Response(our_id, error=RpcError(code, f"its answer cannot be read, {why}")))

    def _malformed(self, line: bytes, why: str, size: int | None = None, *, code: ErrorCode | None = None) -> None:
        """Something that is no message; ``code`` is what its sender may be answered."""
        kept = line if len(line) <= KEPT_OF_MALFORMED else bytes(line[:KEPT_OF_MALFORMED])
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
        """Send the peer a notification."""
        self._write(b'{"jsonrpc":"2.0","method":%b' % _encode(method), params)

    def send_result(self, request_id: bytes, result: bytes | Struct | None = None) -> None:
        """Answer the peer's request ``request_id`` (the ``id`` of its ``Request``)."""
        body = b"null" if result is None else _body(result)
        head = b'{"jsonrpc":"2.0","id":%b,"result":' % request_id
        if len(body) > LARGE_LINE:
            self._writes += [head, body, b"}\n"]  # a copy of it would be work of its own
        else:
            self._writes.append(b"%b%b}\n" % (head, body))

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
        """What must be written, in order: whole lines, a long one in parts."""
        writes, self._writes = self._writes, []
        return writes

    def _write(self, head: bytes, params: bytes | Struct | None) -> None:
        tail = b"}\n" if params is None else b',"params":%b}\n' % _body(params)
        self._writes.append(head + tail)


def _body(value: bytes | Struct) -> bytes:
    if not isinstance(value, bytes | Raw):
        return _encode(value)
    body = bytes(value)
    # Line breaks are legal between JSON tokens but end a message here.
    return msgspec.json.format(body, indent=-1) if b"\n" in body else body
