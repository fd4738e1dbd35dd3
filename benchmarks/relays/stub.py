"""The agent of every relay: hundreds of them have to fit beside what is measured, so it imports nothing that must be loaded.

Its prompt says what to write: ``paced N SIZE PER_SECOND BEGIN_NS`` (chunks of SIZE bytes of text, evenly from that time on, each
with the time of its write), ``burst N SIZE`` (the same, flat out) or anything else, which is answered with one chunk. Times are
of the clock that all processes of the machine share.

Requests are searched, not parsed: all that asks here is known, and a parser would be half of the start.
"""

from __future__ import annotations

import posix
import time

HEAD = (b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%b","update":'
        b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"')
TAIL = b'"}}}}\n'
STAMP = b"@%019d@"
PER_WRITE = 200
"""Chunks of a burst that are written together: some 50 KB, as a busy pipe carries them."""


def main() -> None:
    """Serve one client on stdio until it goes."""
    sessions, pending = 0, b""
    while data := posix.read(0, 1 << 16):
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            if b'"session/prompt"' in line:
                play(value(line, b'"sessionId":').strip(b'"'), value(line, b'"text":').strip(b'"').split())
                answer(line, b'{"stopReason":"end_turn"}')
            elif b'"session/new"' in line:
                sessions += 1
                answer(line, b'{"sessionId":"bench-%d"}' % sessions)
            elif b'"initialize"' in line:
                answer(line, b'{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}')
            elif b'"id":' in line and b'"method":' in line:
                answer(line, b"{}")


def play(session_id: bytes, words: list[bytes]) -> None:
    """Write what the prompt asks for."""
    head = HEAD % session_id
    if words[0] == b"paced":
        paced(head, b"x" * int(words[2]) + TAIL, int(words[1]), float(words[3]), int(words[4]))
    elif words[0] == b"burst":
        burst(head, b"x" * int(words[2]) + TAIL, int(words[1]))
    else:
        write(head + STAMP % time.monotonic_ns() + TAIL)


def paced(head: bytes, tail: bytes, count: int, per_second: float, begin_ns: int) -> None:
    """One write per chunk, each at its own time; the stamp is the moment of the write."""
    begin = begin_ns / 1e9
    for index in range(count):
        wait = begin + index / per_second - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        write(head + STAMP % time.monotonic_ns() + tail)


def burst(head: bytes, tail: bytes, count: int) -> None:
    """As fast as they are taken; those of one write have one stamp."""
    while count > 0:
        many = min(count, PER_WRITE)
        write((head + STAMP % time.monotonic_ns() + tail) * many)
        count -= many


def answer(line: bytes, result: bytes) -> None:
    """Answer a request, with its own id."""
    write(b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (value(line, b'"id":'), result))


def value(line: bytes, key: bytes) -> bytes:
    """The number or the plain string behind a key, as it is written."""
    rest = line.partition(key)[2].lstrip()
    if rest.startswith(b'"'):
        return rest[:rest.index(b'"', 1) + 1]
    return rest[:min(place for place in (rest.find(b","), rest.find(b"}"), len(rest)) if place >= 0)].strip()


def write(data: bytes) -> None:
    """Write all of it to stdout."""
    while data:
        data = data[posix.write(1, data):]


if __name__ == "__main__":
    main()
