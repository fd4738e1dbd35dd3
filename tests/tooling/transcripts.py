"""Recorded traffic of real agents, as the signals and acts that it stands for.

Rule 1: one story per session of a run: what the hub's own driver would have made of the lines, in their order.
Rule 2: a replay during ``session/load`` is no news and is left out, as the driver leaves it out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trunkline.agents import catalog
from trunkline.dialects.acp.methods import (
    CANCEL_REQUEST,
    SESSION_CANCEL,
    SESSION_LOAD,
    SESSION_NEW,
    SESSION_PROMPT,
    SESSION_REQUEST_PERMISSION,
    SESSION_RESUME,
    SESSION_UPDATE,
    TERMINAL_OUTPUT,
)
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.dialects.acp.usage import answer_usage
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import (
    AgentFault,
    AskWithdrawn,
    Malformed,
    PermissionAsk,
    PermissionOption,
    Signal,
    StopReason,
    TurnEnd,
    Update,
)

FOLDER = Path(__file__).parents[1] / "data" / "transcripts"
AGENTS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


class Prompt(NamedTuple):
    """The client sent a prompt."""

    blocks: list[msgspec.Raw]


class Cancel(NamedTuple):
    """The client cancelled the turn."""


class Decision(NamedTuple):
    """The client answered a permission; None is the outcome ``cancelled``."""

    request_id: str
    option_id: str | None


class Printed(NamedTuple):
    """A command that the client ran for the agent has ended."""

    terminal_id: str
    output: str
    exit_code: int | None


Step = Prompt | Cancel | Decision | Printed | Signal


class Line(msgspec.Struct):
    """One line of a file."""

    t: float
    run: str
    dir: str
    raw: str


class Message(msgspec.Struct):
    """A JSON-RPC message of either side, its parts unread."""

    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    method: str | None = None
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: _Error | None = None


class _Error(msgspec.Struct):
    code: int
    message: str
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Params(msgspec.Struct, rename="camel"):
    session_id: str = ""
    update: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    prompt: list[msgspec.Raw] = []
    terminal_id: str = ""


class _Outcome(msgspec.Struct, rename="camel"):
    outcome: str
    option_id: str | None = None


class _ExitStatus(msgspec.Struct, rename="camel"):
    exit_code: int | None = None


class _Answer(msgspec.Struct, rename="camel"):
    outcome: _Outcome | None = None
    output: str = ""
    exit_status: _ExitStatus | None = None


class _Stop(msgspec.Struct, rename="camel"):
    stop_reason: StopReason


def read_lines(agent: str) -> list[Line]:
    """Every line of an agent's file."""
    decoder = msgspec.json.Decoder(Line)
    return [decoder.decode(line) for line in (FOLDER / f"{agent}.jsonl").read_bytes().splitlines()]


def read_message(raw: str) -> Message | None:
    """A line as a message; None when it is none."""
    try:
        return msgspec.json.decode(raw.encode(), type=Message)
    except msgspec.DecodeError:
        return None


@functools.cache
def stories(agent: str) -> dict[tuple[str, str], list[Step]]:
    """What happened in each session of each run, by (run, session id)."""
    found: dict[tuple[str, str], list[Step]] = {}
    lines = read_lines(agent)
    spec = catalog.load().get(agent)
    for run in dict.fromkeys(line.run for line in lines):
        teller = _Teller(spec.quirks.usage_of_session if spec is not None else False)
        for line in lines:
            if line.run == run:
                teller.hear(line)
        found |= {(run, session_id): steps for session_id, steps in teller.told.items() if steps}
    return found


class _Teller:
    """Follows one process of an agent."""

    def __init__(self, usage_of_session: bool) -> None:
        self.told: dict[str, list[Step]] = {}
        self._usage_of_session = usage_of_session
        self._prompts: dict[bytes, str] = {}
        self._loads: dict[bytes, str] = {}
        self._asks: dict[bytes, tuple[str, str]] = {}
        self._outputs: dict[bytes, tuple[str, str]] = {}
        self._last_session = ""
        self._asked = 0

    def hear(self, line: Line) -> None:
        """Take one line of the run."""
        if line.dir not in ("a>c", "c>a"):
            return
        message = read_message(line.raw)
        from_agent = line.dir == "a>c"
        if message is None:
            if from_agent:
                self._add(self._last_session, Malformed(line.raw.encode()[:4096], "not JSON", len(line.raw)))
        elif message.method is None:
            self._agent_answered(message) if from_agent else self._client_answered(message)
        else:
            self._agent_said(message, line) if from_agent else self._client_said(message)

    def _add(self, session_id: str, *steps: Step) -> None:
        self._last_session = session_id
        self.told.setdefault(session_id, []).extend(steps)

    def _client_said(self, message: Message) -> None:
        params = _params(message)
        if message.method == SESSION_PROMPT:
            self._prompts[_id(message)] = params.session_id
            self._add(params.session_id, Prompt(params.prompt))
        elif message.method == SESSION_CANCEL:
            self._add(params.session_id, Cancel())
        elif message.method in (SESSION_LOAD, SESSION_RESUME):
            self._loads[_id(message)] = params.session_id

    def _client_answered(self, message: Message) -> None:
        result = message.result if message.result is not msgspec.UNSET else msgspec.Raw(b"{}")
        shown = self._outputs.pop(_id(message), None)
        if shown is not None:
            answer = msgspec.json.decode(result, type=_Answer)
            if answer.exit_status is not None:
                self._add(shown[0], Printed(shown[1], answer.output, answer.exit_status.exit_code))
            return
        session_id, request_id = self._asks.pop(_id(message), ("", ""))
        if not request_id:
            return
        outcome = msgspec.json.decode(result, type=_Answer).outcome
        self._add(session_id, Decision(request_id, outcome.option_id if outcome else None))

    def _agent_answered(self, message: Message) -> None:
        rpc_id = _id(message)
        self._loads.pop(rpc_id, None)
        session_id = self._prompts.pop(rpc_id, None)
        if session_id is not None:
            self._add(session_id, _turn_end(message, self._usage_of_session))

    def _agent_said(self, message: Message, line: Line) -> None:
        params = _params(message)
        if message.method == SESSION_UPDATE:
            assert params.update is not msgspec.UNSET, f"an update without an update: {line.raw[:200]}"
            if params.session_id not in self._loads.values():
                self._add(params.session_id, Update(bytes(params.update)))
        elif message.method == SESSION_REQUEST_PERMISSION:
            self._add(params.session_id, self._ask(message, params.session_id))
        elif message.method == CANCEL_REQUEST:
            self._withdraw(message)
        elif message.method == TERMINAL_OUTPUT:
            self._outputs[_id(message)] = (params.session_id, params.terminal_id)
        elif message.id is msgspec.UNSET:
            self._add(params.session_id, CustomNote("notification", msgspec.json.encode({"method": message.method})))

    def _ask(self, message: Message, session_id: str) -> PermissionAsk:
        self._asked += 1
        request_id = f"req_{self._asked}"
        self._asks[_id(message)] = (session_id, request_id)
        assert message.params is not msgspec.UNSET
        ask = decode_params(SESSION_REQUEST_PERMISSION, message.params)
        options = tuple(PermissionOption(option.option_id, option.name, option.kind) for option in ask.options)
        return PermissionAsk(request_id, bytes(ask.tool_call), options)

    def _withdraw(self, message: Message) -> None:
        wanted = msgspec.json.decode(bytes(message.params or b"{}"), type=dict[str, msgspec.Raw])["requestId"]
        session_id, request_id = self._asks.pop(bytes(wanted), ("", ""))
        if request_id:
            self._add(session_id, AskWithdrawn(request_id))


def prompts_of(steps: list[Step]) -> Iterator[str]:
    """The texts of a story's prompts."""
    for step in steps:
        if isinstance(step, Prompt):
            yield " ".join(msgspec.json.decode(block).get("text", "") for block in step.blocks)


def _id(message: Message) -> bytes:
    return b"" if message.id is msgspec.UNSET else bytes(message.id)


def _params(message: Message) -> _Params:
    if message.params is msgspec.UNSET:
        return _Params()
    return msgspec.json.decode(message.params, type=_Params)


def _turn_end(message: Message, usage_of_session: bool) -> TurnEnd:
    if message.error is not None:
        data = None if message.error.data is msgspec.UNSET else bytes(message.error.data)
        return TurnEnd(error=AgentFault(message.error.code, message.error.message, data))
    assert message.result is not msgspec.UNSET
    stop = msgspec.json.decode(message.result, type=_Stop)
    return TurnEnd(stop=stop.stop_reason, usage=answer_usage(bytes(message.result)), usage_of_session=usage_of_session)


def openings(agent: str) -> dict[tuple[str, str], tuple[str, bytes]]:
    """The folder of each session and what the agent answered when it was opened, by (run, session id)."""
    found: dict[tuple[str, str], tuple[str, bytes]] = {}
    asked: dict[tuple[str, bytes], dict[str, Any]] = {}
    for line in read_lines(agent):
        message = read_message(line.raw)
        if message is None:
            continue
        if line.dir == "c>a" and message.method in (SESSION_NEW, SESSION_LOAD, SESSION_RESUME):
            asked[line.run, _id(message)] = msgspec.json.decode(message.params or b"{}")
        elif line.dir == "a>c" and message.method is None and message.result is not msgspec.UNSET:
            params = asked.pop((line.run, _id(message)), None)
            if params is not None:
                opened = msgspec.json.decode(message.result) or {}
                session_id = str(opened.get("sessionId") or params.get("sessionId"))
                found[line.run, session_id] = params.get("cwd", ""), bytes(message.result)
    return found


def greetings(agent: str) -> dict[str, bytes]:
    """What the agent answered to ``initialize``, by run."""
    found: dict[str, bytes] = {}
    for line in read_lines(agent):
        message = read_message(line.raw) if line.dir == "a>c" else None
        if message is not None and message.method is None and message.result is not msgspec.UNSET:
            if b'"protocolVersion"' in bytes(message.result):
                found.setdefault(line.run, bytes(message.result))
    return found
