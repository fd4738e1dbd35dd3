"""The benchmark's agent. Its prompt says what to write: ``burst N SIZE``, ``pace N SIZE PER_SECOND``, ``count N SIZE`` (chunks
that begin with their number), ``stamp N PER_SECOND`` (chunks that say when they were written), ``ticks N PER_SECOND`` (the same,
for a page that shows them), ``line MIB`` (one result of so many MiB), ``asks N`` (permissions, all at once), ``story N``
(thoughts, text and commands, N of each), ``essay N SIZE`` (N characters of Markdown in such pieces, and its end) or ``echo``.

Everything but stamps is encoded before the first byte is written, so that a run measures the reader and not this process.
"""

from __future__ import annotations

import json
import os
import sys
import time

BLOCK = 64 << 10
PART = "## Part {n}\n\nSome *words* of part {n}, `code`, a [link](https://example.org/{n}) " + "and more of them " * 40 + """

- one of {n}
- two of {n}

```python
def part_{n}() -> int:
    return {n}
```

"""
THE_END = "The very end."
PENDING = 200
"""Permissions that wait for a person; the others are answered at once."""


def main() -> None:
    """Serve one client on stdio."""
    session = 0
    for line in sys.stdin.buffer:
        ask = json.loads(line)
        method = ask.get("method")
        if method == "initialize":
            answer(ask["id"], {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []})
        elif method == "session/new":
            session += 1
            answer(ask["id"], {"sessionId": f"bench-{session}"})
        elif method == "session/prompt":
            play(ask["params"]["sessionId"], ask["params"]["prompt"][0]["text"].split())
            answer(ask["id"], {"stopReason": "end_turn"})
        elif "id" in ask:
            answer(ask["id"], {})


def play(session_id: str, words: list[str]) -> None:
    """Write the chunks that the prompt asks for."""
    if words[0] == "burst":
        burst(session_id, int(words[1]), int(words[2]))
    elif words[0] == "pace":
        pace(session_id, int(words[1]), int(words[2]), float(words[3]))
    elif words[0] == "count":
        write(b"".join(chunk(session_id, f"{index:08d}{'x' * int(words[2])}") for index in range(int(words[1]))))
    elif words[0] == "stamp":
        stamp(session_id, int(words[1]), float(words[2]))
    elif words[0] == "ticks":
        stamp(session_id, int(words[1]), float(words[2]), "t{}t ")
    elif words[0] == "line":
        write(long_line(session_id, int(words[1])))
    elif words[0] == "asks":
        write(b"".join(ask(session_id, number) for number in range(int(words[1]))))
        for _ in range(int(words[1]) - PENDING):
            sys.stdin.buffer.readline()
    elif words[0] == "story":
        story(session_id, int(words[1]))
    elif words[0] == "essay":
        essay(session_id, int(words[1]), int(words[2]))
    else:
        write(chunk(session_id, " ".join(words)))


def long_line(session_id: str, mib: int) -> bytes:
    """A call's result, as one line of so many MiB, its end included."""
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "long", "status": "completed",
              "content": [{"type": "content", "content": {"type": "text", "text": "@"}}]}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "update": update}}
    frame = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    size = (mib << 20) - len(frame) + 1
    return frame.replace(b"@", b"lorem ip" * (size // 8) + b"." * (size % 8))


def ask(session_id: str, number: int) -> bytes:
    """One permission."""
    call = {"toolCallId": f"ask-{number}", "title": f"Run {number}", "kind": "execute", "rawInput": {"command": f"echo {number}"}}
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    params = {"sessionId": session_id, "toolCall": call, "options": options}
    message = {"jsonrpc": "2.0", "id": f"ask-{number}", "method": "session/request_permission", "params": params}
    return json.dumps(message).encode() + b"\n"


def burst(session_id: str, count: int, size: int) -> None:
    """Flat out, in blocks as a busy pipe carries them."""
    line = chunk(session_id, "x" * size)
    per_block = max(1, BLOCK // len(line))
    block = line * per_block
    for _ in range(count // per_block):
        write(block)
    write(line * (count % per_block))


def pace(session_id: str, count: int, size: int, per_second: float) -> None:
    """One write per chunk, evenly over time."""
    line = chunk(session_id, "x" * size)
    begin = time.monotonic()
    for index in range(count):
        wait = begin + index / per_second - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        write(line)


def stamp(session_id: str, count: int, per_second: float, form: str = "{}") -> None:
    """One write per chunk, which says when it was made, by the clock that all processes of the machine share."""
    for _ in range(count):
        time.sleep(1 / per_second)
        write(chunk(session_id, form.format(time.monotonic_ns())))


def story(session_id: str, beats: int) -> None:
    """What a long session is made of: thoughts, paragraphs, commands with their output."""
    for beat in range(beats):
        call = {"toolCallId": f"call-{beat}-{time.monotonic_ns()}"}
        command = {"command": f"make part-{beat}"}
        output = {"type": "content", "content": {"type": "text", "text": f"part {beat} is made\n" * 5}}
        write(b"".join([
            update(session_id, "agent_thought_chunk", content={"type": "text", "text": f"Now part {beat}. "}),
            *(chunk(session_id, f"Paragraph {beat} has **some** words, sentence {part}. ") for part in range(5)),
            chunk(session_id, "\n\n"),
            update(session_id, "tool_call", **call, title=command["command"], kind="execute", status="pending", rawInput=command),
            update(session_id, "tool_call_update", **call, status="in_progress"),
            update(session_id, "tool_call_update", **call, status="completed", content=[output]),
        ]))


def essay(session_id: str, length: int, size: int) -> None:
    """One long message, flat out."""
    text = "".join(PART.format(n=number) for number in range(length // len(PART))) + THE_END
    write(b"".join(chunk(session_id, text[start:start + size]) for start in range(0, len(text), size)))


def chunk(session_id: str, text: str) -> bytes:
    """One ``agent_message_chunk`` line."""
    return update(session_id, "agent_message_chunk", content={"type": "text", "text": text})


def update(session_id: str, what: str, **fields: object) -> bytes:
    """One ``session/update`` line."""
    told = {"sessionUpdate": what, **fields}
    return encode({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "update": told}})


def answer(request_id: object, result: object) -> None:
    """Answer a request."""
    write(encode({"jsonrpc": "2.0", "id": request_id, "result": result}))


def encode(message: object) -> bytes:
    """One line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def write(data: bytes) -> None:
    """Write all of it to stdout."""
    while data:
        data = data[os.write(1, data):]


if __name__ == "__main__":
    main()
