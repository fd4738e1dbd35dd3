"""The agent that is examined: a process, what is sent to it, and everything that it sends, judged as it comes.

Rule 1: whatever is wrong with a line is wrong for the case in which it came, whatever the case is about.
Rule 2: nothing is forgiven that the schema does not forgive.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from trunkline.agents.process import AgentProcess, Exit
from trunkline.dialects.acp.initialize import PROTOCOL_VERSION
from trunkline.dialects.acp.methods import (
    ELICITATION_CREATE,
    FS_READ_TEXT_FILE,
    FS_WRITE_TEXT_FILE,
    INITIALIZE,
    SESSION_NEW,
    SESSION_PROMPT,
    SESSION_REQUEST_PERMISSION,
    SESSION_UPDATE,
    TERMINAL_CREATE,
)
from trunkline.dialects.acp.reading.decode import read_update
from trunkline.dialects.acp.updates import UnknownUpdate
from trunkline.dialects.jsonrpc import LineSplitter

QUIET_S = 0.3
"""How long is listened for what must not come."""

Json = dict[str, Any]
Scope = Literal["session", "fs", "terminal", "elicitation"]

_MEANS = {FS_READ_TEXT_FILE: "fs", FS_WRITE_TEXT_FILE: "fs", TERMINAL_CREATE: "terminal",
          ELICITATION_CREATE: "elicitation"}


class Failed(Exception):
    """The agent does not do what it must."""


class Skipped(Exception):
    """The agent does not offer what the case is about."""


class AgentRefused(Exception):
    """The agent answered with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")


class CheckPrompts(msgspec.Struct, frozen=True):
    """What to say to an agent so that it does something; empty where there is no way."""

    say: str
    """It says something."""
    says: str = ""
    """What that is, where it is known."""
    long: str = ""
    """It works until it is cancelled, and says so."""
    ask: str = ""
    """It asks for a permission."""
    burst: str = ""
    """It says much, fast."""
    burst_chars: int = 0
    """How much that is, where it is known."""
    question: str = ""
    read: str = ""
    terminal: str = ""


class Examinee:
    """One process of the agent."""

    def __init__(self, folder: Path, prompts: CheckPrompts) -> None:
        self.folder = folder
        self.prompts = prompts
        self.hello: Json = {}
        self.received: list[Json] = []
        self.permit: Callable[[Json], Json | None] = allow
        """How permissions are answered; None: not yet."""
        self._faults: list[str] = []
        self._ids = 0
        self._open: dict[Any, str] = {}
        self._news = asyncio.Event()
        self._splitter = LineSplitter()
        self._process: AgentProcess | None = None
        self.exit: Exit | None = None

    @classmethod
    async def start(cls, command: Sequence[str], env: Mapping[str, str], folder: Path, prompts: CheckPrompts) -> Examinee:
        """Start the agent."""
        made = cls(folder, prompts)
        made._process = await AgentProcess.spawn(
            command, cwd=str(folder), env=env, on_data=made._received, on_exit=made._exited)
        return made

    async def stop(self, close_stdin_s: float = 5.0) -> Exit:
        """Close its stdin and wait; what does not end then is ended."""
        assert self._process is not None, "it was started"
        return await self._process.stop(close_stdin_s=close_stdin_s)

    def judge(self) -> None:
        """Failed, if anything that came was wrong in itself."""
        if self._faults:
            raise Failed(self._faults[0])

    def last_words(self) -> str:
        """What came last, for a person."""
        last = json.dumps(self.received[-1])[:200] if self.received else "nothing"
        stderr = self._process.stderr_tail(3).strip() if self._process is not None else ""
        return f"{last}; stderr: {stderr[-300:]}" if stderr else last

    # -- saying

    def raw(self, line: bytes) -> None:
        """Send bytes as they are."""
        assert self._process is not None, "it was started"
        self._process.write(line)

    def say(self, message: Json) -> None:
        """Send a message."""
        self.raw(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n")

    def begin(self, method: str, params: Json | None = None, request_id: Any = None) -> Any:
        """Send a request; returns its id."""
        self._ids += 1
        number = self._ids if request_id is None else request_id
        self._open[_key(number)] = method
        self.say({"id": number, "method": method, "params": params or {}})
        return number

    async def answer(self, request_id: Any) -> Any:
        """The result of a request, or Refused."""
        found = await self.until(lambda: next((each for each in self.received if "method" not in each
                                               and _key(each.get("id")) == _key(request_id)), None))
        if "error" in found:
            raise AgentRefused(found["error"])
        return found["result"]

    async def ask(self, method: str, params: Json | None = None, request_id: Any = None) -> Any:
        """Send a request and wait for its result."""
        return await self.answer(self.begin(method, params, request_id))

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self.say({"method": method, "params": params})

    async def until(self, found: Callable[[], Any]) -> Any:
        """What ``found`` finds, as soon as it does; Failed when the agent ends before."""
        while not (value := found()):
            if self.exit is not None:
                raise Failed(f"the agent ended ({self.exit}); heard last: {self.last_words()}")
            self._news.clear()
            await self._news.wait()
        return value

    async def quiet(self) -> None:
        """Listen for a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_S):
                await self.until(lambda: None)

    # -- what most cases begin with

    async def greet(self, **capabilities: Any) -> Json:
        """The handshake."""
        self.hello = await self.ask(INITIALIZE, {
            "protocolVersion": PROTOCOL_VERSION, "clientCapabilities": capabilities,
            "clientInfo": {"name": "trunkline-check", "version": "1"}})
        return self.hello

    async def new(self) -> str:
        """A new session."""
        answer = await self.ask(SESSION_NEW, {"cwd": str(self.folder), "mcpServers": []})
        session_id: str = answer["sessionId"]
        return session_id

    def prompt(self, session_id: str, text: str) -> Any:
        """Begin a turn; returns the request's id."""
        if not text:
            raise Skipped("there is no prompt that makes this agent do it")
        return self.begin(SESSION_PROMPT, {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]})

    async def turn(self, session_id: str, text: str) -> str:
        """One turn; returns its stop reason."""
        answer = await self.answer(self.prompt(session_id, text))
        stop: str = answer["stopReason"]
        return stop

    def can(self, name: str) -> None:
        """Skipped, unless the agent offers a session method."""
        offered = self.hello.get("agentCapabilities", {})
        if not (offered.get("loadSession") if name == "load" else name in offered.get("sessionCapabilities", {})):
            raise Skipped(f"it does not offer session/{name}")

    # -- hearing

    def updates(self, session_id: str | None = None) -> list[Json]:
        """Every update so far, of a session."""
        found = [each["params"] for each in self.received if each.get("method") == SESSION_UPDATE]
        return [params["update"] for params in found if session_id in (None, params["sessionId"])]

    def text(self, session_id: str | None = None) -> str:
        """The text of its messages."""
        return "".join(update["content"].get("text", "") for update in self.updates(session_id)
                       if update["sessionUpdate"] == "agent_message_chunk")

    def place(self, request_id: Any) -> int:
        """Where among all messages a request was answered."""
        return next(index for index, each in enumerate(self.received)
                    if "method" not in each and _key(each.get("id")) == _key(request_id))

    def requests_for(self, means: Scope) -> list[Json]:
        """The agent's requests of a kind."""
        return [each for each in self.received if "id" in each and _MEANS.get(each.get("method", "")) == means]

    def _received(self, data: bytes) -> None:
        for line in self._splitter.feed(data):
            self._take(line)
        self._news.set()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8"))
        except (UnicodeDecodeError, ValueError) as error:
            self._faults.append(f"a line of stdout is no JSON in UTF-8 ({error}): {line[:100]!r}")
            return
        fault = _fault(message)
        if fault is not None:
            self._faults.append(f"{fault}: {line[:200].decode()}")
            return
        self.received.append(message)
        if "method" in message and "id" in message:
            self._serve(message)

    def _serve(self, message: Json) -> None:
        if message["method"] != SESSION_REQUEST_PERMISSION:
            self.say({"id": message["id"], "error": {"code": -32601, "message": "not offered"}})
            return
        outcome = self.permit(message)
        if outcome is not None:
            self.say({"id": message["id"], "result": {"outcome": outcome}})

    def _exited(self, exit: Exit) -> None:
        self.exit = exit
        self._news.set()


def allow(ask: Json) -> Json | None:
    """Answer a permission by its first option that allows once."""
    options = ask["params"]["options"]
    chosen = next((option for option in options if option["kind"] == "allow_once"), options[0])
    return {"outcome": "selected", "optionId": chosen["optionId"]}


def wait(ask: Json) -> Json | None:
    """Do not answer a permission."""
    return None


def _key(request_id: Any) -> tuple[type, Any]:
    """An id with its type: 1 is not "1"."""
    return type(request_id), request_id


def _fault(message: Any) -> str | None:
    """What is wrong with a message in itself."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return "a line of stdout is no JSON-RPC 2.0 message"
    if "method" in message:
        return _bad_update(message) if message["method"] == SESSION_UPDATE else None
    if "id" not in message or ("result" in message) == ("error" in message):
        return "an answer needs an id and exactly one of result and error"
    return None


def _bad_update(message: Json) -> str | None:
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("sessionId"), str) or "update" not in params:
        return "session/update needs sessionId and update"
    raw = json.dumps(params["update"]).encode()
    update, wire = read_update(raw)
    if isinstance(update, UnknownUpdate) or wire is not raw:
        return "an update is not what the schema says"
    return None
