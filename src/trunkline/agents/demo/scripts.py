"""The slash prompts: one function each, named like the prompt. ``trunkline.agents.demo.DEMO_PROMPTS`` says what they do.

Those about what happens beside the conversation are in ``asides``.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

from trunkline.agents.demo import ANSWERS, DEMO_PROMPTS, NOT_APPROVED, REJECTED, tools, tour
from trunkline.agents.demo import asides as _asides  # noqa: F401 - importing it puts its prompts on the table
from trunkline.agents.demo.registry import SCRIPTS, number, script
from trunkline.agents.demo.tools import Result, ToolFailed, text_item
from trunkline.agents.demo.turn import Ask, DemoCall, DemoTurn
from trunkline.agents.demo.wire import Json, Refused, encode
from trunkline.dialects.error_codes import ErrorCode

__all__ = ["SCRIPTS", "play"]

BLOCK = 256 * 1024
"""Bytes of one write of a burst: several pipefuls, so that the reader sets the pace."""

NUMBER = 8
"""Digits at the start of each burst chunk: chunk i starts with i, so that a reader sees what is lost or swapped."""


def play(turn: DemoTurn) -> None:
    """Play the slash prompt that the turn's text names."""
    name, _, rest = turn.text.strip()[1:].partition(" ")
    wanted = SCRIPTS.get(name)
    if wanted is None:
        turn.say(f"There is no prompt `/{name}`.\n\n{_table()}")
        return
    wanted(turn, rest.strip())


@script("help")
def _help(turn: DemoTurn, rest: str) -> None:
    turn.say(f"Any prompt without a slash plays the tour. The others:\n\n{_table()}")


@script("tour")
def _tour(turn: DemoTurn, rest: str) -> None:
    tour.play(turn, answer_s=number(rest.split(), 0, "S") if rest else None)


@script("echo")
def _echo(turn: DemoTurn, rest: str) -> None:
    turn.say(rest)


@script("burst")
def _burst(turn: DemoTurn, rest: str) -> None:
    words = rest.split()
    count, size = number(words, 0, "N"), number(words, 1, "SIZE")
    rate = number(words, 2, "RATE") if len(words) > 2 else 0
    lines = _BurstLines(turn.session.id, size)
    if rate:
        _paced_burst(turn, lines, count, rate)
        return
    step = max(1, BLOCK // lines.length)
    for first in range(0, count, step):
        turn.check()
        turn.wire.write(lines.block(first, min(first + step, count)))


@script("slow")
def _slow(turn: DemoTurn, rest: str) -> None:
    for second in range(number(rest.split(), 0, "S")):
        turn.say(f"{second + 1} ")
        turn.wait(1)


@script("ask")
def _ask(turn: DemoTurn, rest: str) -> None:
    count = number(rest.split(), 0, "N") if rest else 1
    asks = [_ask_to_run(turn, f"echo permission {number + 1} was given") for number in range(count)]
    for call, raw_input, pending in asks:
        chosen = turn.finish_permission(pending) or ""
        if chosen.startswith("allow"):
            call.start(raw_input)
            call.complete(tools.bash(Path(turn.session.cwd), raw_input["command"], raw_input["description"]))
        else:
            call.fail(REJECTED)
        turn.say(f"{ANSWERS.get(chosen, NOT_APPROVED)}\n")


@script("question")
def _question(turn: DemoTurn, rest: str) -> None:
    mode = "url" if rest == "url" else "form"
    if (turn.agent.client.get("elicitation") or {}).get(mode) is None:
        turn.say(f"Your client cannot show a question ({mode}).")
        return
    answer = turn.request("elicitation/create", _URL_QUESTION if mode == "url" else _FORM_QUESTION)
    if mode == "url":
        turn.wire.notify("elicitation/complete", {"elicitationId": _URL_QUESTION["elicitationId"]})
    turn.say(f"You answered: {json.dumps(answer.result or answer.error)}")


@script("fail")
def _fail(turn: DemoTurn, rest: str) -> None:
    root = Path(turn.session.cwd)
    missing = turn.call("read", "read")
    missing.start({"filePath": str(root / "no-such-file.txt")})
    try:
        tools.read(root, "no-such-file.txt")
    except ToolFailed as error:
        missing.fail(str(error))
    rejected = turn.call("bash", "execute")
    rejected.start({"command": "npm run build", "description": "Builds the web app"})
    rejected.fail(REJECTED)
    turn.say("One tool failed, one was rejected.")


@script("crash")
def _crash(turn: DemoTurn, rest: str) -> None:
    turn.say("I am about to crash.")
    turn.call("bash", "execute").start({"command": "crash", "description": "Crash"})
    os.write(2, b"demo: crashing in the middle of its answer, as /crash asks\n")
    os._exit(number(rest.split(), 0, "CODE") if rest else 1)


@script("silent")
def _silent(turn: DemoTurn, rest: str) -> None:
    turn.wait(math.inf)


@script("deaf")
def _deaf(turn: DemoTurn, rest: str) -> None:
    turn.is_deaf = turn.agent.is_deaf = True
    turn.say("From now on I am deaf.")
    turn.wait(math.inf)


@script("junk")
def _junk(turn: DemoTurn, rest: str) -> None:
    for noise in _noise(turn.session.id):
        turn.say("Before the noise. ")
        turn.wire.write(noise)
    unknown = turn.request("demo/no_such_request", {})
    turn.say(f"After the noise. The unknown request was answered with {(unknown.error or {}).get('code')}.")


@script("big")
def _big(turn: DemoTurn, rest: str) -> None:
    size = number(rest.split(), 0, "BYTES")
    call = turn.call("read", "read")
    call.start({"filePath": os.path.join(turn.session.cwd, "big.txt")})
    line = "0123456789abcdef" * 4 + "\n"
    output = (line * (size // len(line) + 1))[:size]
    metadata = {"preview": output[:64], "truncated": False}
    call.complete(Result({"output": output, "metadata": metadata}, [text_item(f"{size} bytes")]))


@script("late")
def _late(turn: DemoTurn, rest: str) -> None:
    call = turn.call("bash", "execute")
    call.start({"command": "true", "description": "Ends late"})
    turn.say("Before the answer. ")
    turn.end("end_turn")
    turn.say("After the answer.")
    call.complete(Result({"output": "", "metadata": {"output": "", "exit": 0, "description": "Ends late"}}, []))
    turn.update("session_info_update", title="Late title")
    turn.usage()


@script("twice")
def _twice(turn: DemoTurn, rest: str) -> None:
    turn.say("I answer twice.")
    turn.end("end_turn")
    turn.wire.answer(turn.request_id, {"stopReason": "max_tokens"})


@script("refuse")
def _refuse(turn: DemoTurn, rest: str) -> None:
    turn.end("refusal")


@script("error")
def _error(turn: DemoTurn, rest: str) -> None:
    code = number(rest.split(), 0, "CODE", least=-(2**31)) if rest else ErrorCode.INTERNAL_ERROR
    raise Refused(code, "The demo failed, as /error asks", {"details": "nothing is wrong"})


@script("spawn")
def _spawn(turn: DemoTurn, rest: str) -> None:
    null = subprocess.DEVNULL
    child = subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=null, stdout=null, stderr=null)
    turn.say(f"Started process {child.pid}")
    child.returncode = 0  # it outlives us on purpose: without this, Python would complain about it


@script("stderr")
def _stderr(turn: DemoTurn, rest: str) -> None:
    sys.stderr.write("e" * (number(rest.split(), 0, "BYTES") - 1) + "\n")
    sys.stderr.flush()
    turn.say("Written.")


@script("read")
def _read(turn: DemoTurn, rest: str) -> None:
    if not (turn.agent.client.get("fs") or {}).get("readTextFile"):
        turn.say("Your client does not read files.")
        return
    answer = turn.request("fs/read_text_file", {"path": _absolute(turn, rest)})
    turn.say(_answer_text(answer, "content"))


@script("write")
def _write(turn: DemoTurn, rest: str) -> None:
    if not (turn.agent.client.get("fs") or {}).get("writeTextFile"):
        turn.say("Your client does not write files.")
        return
    path, _, text = rest.partition(" ")
    answer = turn.request("fs/write_text_file", {"path": _absolute(turn, path), "content": text})
    turn.say("Written." if answer.error is None else _answer_text(answer, ""))


@script("terminal")
def _terminal(turn: DemoTurn, rest: str) -> None:
    if not turn.agent.client.get("terminal"):
        turn.say("Your client has no terminals.")
        return
    call = turn.call("bash", "execute")
    raw_input = {"command": rest, "description": "Runs in your terminal"}
    call.start(raw_input)
    created = turn.request("terminal/create", {"command": "/bin/sh", "args": ["-c", rest], "cwd": turn.session.cwd})
    if created.result is None:
        call.fail(_answer_text(created, ""))
        return
    handle = {"terminalId": created.result["terminalId"]}
    turn.update("tool_call_update", toolCallId=call.id, content=[{"type": "terminal", **handle}])
    ended = turn.request("terminal/wait_for_exit", handle).result or {}
    output = (turn.request("terminal/output", handle).result or {}).get("output", "")
    turn.request("terminal/release", handle)
    metadata = {"output": output, "exit": ended.get("exitCode"), "description": raw_input["description"], "truncated": False}
    call.complete(Result({"output": output, "metadata": metadata}, [{"type": "terminal", **handle}]))
    turn.say(output)


@script("raw")
def _raw(turn: DemoTurn, rest: str) -> None:
    session_id = json.dumps(turn.session.id).encode()
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":' + session_id + b',"update":'
    turn.wire.write(head + rest.replace("\n", " ").encode("utf-8", "surrogateescape") + b"}}\n")


class _BurstLines:
    """The lines of a burst: everything but the number is encoded once."""

    def __init__(self, session_id: str, size: int) -> None:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "\0"}}
        line = encode({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "update": update}})
        head, tail = line.replace(b"%", b"%%").split(b"\\u0000")
        digits = min(NUMBER, size)
        self._line = head + (b"%%0%dd" % digits if digits else b"") + b"x" * (size - digits) + tail + b"\n"
        self._wrap = 10**digits
        self.length = len(line) + size

    def block(self, first: int, end: int) -> bytes:
        """The lines from ``first`` up to ``end``."""
        if self._wrap == 1:  # no room for a number
            return self._line % () * (end - first)
        line, wrap = self._line, self._wrap
        return b"".join([line % (number % wrap) for number in range(first, end)])


def _paced_burst(turn: DemoTurn, lines: _BurstLines, count: int, rate: int) -> None:
    began, sent = time.monotonic(), 0
    while sent < count:
        due = min(count, int((time.monotonic() - began) * rate) + 1)
        if due > sent:
            turn.wire.write(lines.block(sent, due))
            sent = due
        turn.wait(max(0.0, began + sent / rate - time.monotonic()) if sent < count else 0)


def _ask_to_run(turn: DemoTurn, command: str) -> tuple[DemoCall, Json, Ask]:
    call = turn.call("bash", "execute")
    raw_input = {"command": command, "description": "Says that it was allowed"}
    return call, raw_input, turn.begin_permission(call, title=command, kind="execute", status="pending", rawInput=raw_input)


_FORM_QUESTION: Json = {
    "mode": "form",
    "message": "How shall the demo go on?",
    "requestedSchema": {
        "type": "object",
        "title": "A question of the demo",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 1, "maxLength": 40},
            "colour": {
                "type": "string",
                "title": "A colour",
                "oneOf": [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}],
                "default": "blue",
            },
            "steps": {"type": "integer", "title": "How many steps", "minimum": 1, "maximum": 9, "default": 3},
            "sure": {"type": "boolean", "title": "Are you sure?", "default": True},
        },
        "required": ["name"],
    },
}

_URL_QUESTION: Json = {
    "mode": "url",
    "elicitationId": "demo-page",
    "url": "https://example.com/demo",
    "message": "Have a look at this page.",
}


def _noise(session_id: str) -> list[bytes]:
    """Lines that are no message of the protocol, each in its own way."""
    unknown = {"sessionUpdate": "demo_unknown_update", "sessionId": session_id, "value": 1}
    batch = [{"jsonrpc": "2.0", "method": "session/cancel"}]
    return [
        b"Debugger listening on ws://127.0.0.1:9229\n",
        b"\n",
        b"   \r\n",
        b'{"jsonrpc":"2.0","method":"session/update","params":{"text":"\xff\xfe"}}\n',
        b'{"jsonrpc":"2.0","method":"session/upd\n',
        b'"just a string"\n',
        encode(batch) + b"\n",
        b'{"jsonrpc":"2.0","id":"nobody-asked","result":{}}\n',
        b'{"jsonrpc":"2.0"}\n',
        b'{"jsonrpc":"2.0","method":"_demo/unknown_notification","params":{}}\n',
        encode({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session_id, "update": unknown}}) + b"\n",
    ]


def _table() -> str:
    rows = [f"| `/{prompt.name}{' ' if prompt.arguments else ''}{prompt.arguments}` | {prompt.does} |" for prompt in DEMO_PROMPTS]
    return "\n".join(["| prompt | what I do |", "|---|---|", *rows])


def _answer_text(answer: Ask, field: str) -> str:
    """The named field of an answer, or its error."""
    if answer.error is not None:
        return f"Refused: {answer.error.get('message')} ({answer.error.get('code')})"
    return str((answer.result or {}).get(field))


def _absolute(turn: DemoTurn, path: str) -> str:
    return os.path.join(turn.session.cwd, path)
