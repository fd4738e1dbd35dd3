"""An editor without a socket: it speaks the Agent Client Protocol to a served hub, and keeps all that it hears, in order."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.server.context.ws.socket import Closed, Socket
from tests.server.site import TOKEN, Site
from trunkline.agents.catalog import spec_from_table
from trunkline.hub import Hub, HubOptions, Session
from trunkline.server.app import build_app
from trunkline.server.options import ServerOptions

Json = dict[str, Any]

PUPPET = [sys.executable, str(Path(__file__).parents[2] / "tooling" / "puppet.py")]
TRUSTED = """\
[[rules]]
agent = ["trusted"]
risk = ["low", "medium", "high", "critical"]
action = "allow"
"""


class Refused(Exception):
    """The hub answered with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error['code']} {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Json = error.get("data", {})


class Editor:
    """One connection. ``heard`` is every message of the hub's, in order; ``asks`` those of its requests that wait."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.heard: list[Json] = []
        self.asks: list[Json] = []
        self.serves: dict[str, Callable[[Json], Any]] = {}
        """Requests that are answered at once, by method."""
        self._answers: dict[Any, asyncio.Future[Json]] = {}
        self._ids = 0
        self._news = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while True:
            try:
                self._take(await self.socket.hear())
            except (Closed, AssertionError):
                return

    def _take(self, message: Json) -> None:
        assert message["jsonrpc"] == "2.0"
        self.heard.append(message)
        if "method" not in message:
            waiting = self._answers.pop(message["id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif "id" in message and message["method"] in self.serves:
            self.answer(message, self.serves[message["method"]](message["params"]))
        elif "id" in message:
            self.asks.append(message)
        self._news.set()

    def say(self, message: Json) -> None:
        """Send a message as it is."""
        self.socket.say_text(json.dumps({"jsonrpc": "2.0", **message}))

    def begin(self, method: str, params: Json | None = None) -> asyncio.Future[Json]:
        """Send a request; its answer comes later."""
        self._ids += 1
        self.say({"id": self._ids, "method": method, "params": params or {}})
        return self.expect(self._ids)

    def expect(self, request_id: Any) -> asyncio.Future[Json]:
        """The answer to a request of that id."""
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[request_id] = answer
        return answer

    @property
    def last_id(self) -> int:
        """The id of the newest request."""
        return self._ids

    async def ask(self, method: str, params: Json | None = None) -> Any:
        """Send a request and wait for its result, or Refused."""
        return result_of(await self.begin(method, params))

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self.say({"method": method, "params": params})

    def answer(self, ask: Json, result: Any) -> None:
        """Answer a request of the hub's."""
        if ask in self.asks:
            self.asks.remove(ask)
        self.say({"id": ask["id"], **({"error": result.args[0]} if isinstance(result, Exception) else {"result": result})})

    async def asked(self, method: str = "session/request_permission") -> Json:
        """The hub's next request of that method."""
        found: Json = await self.until(lambda: next((ask for ask in self.asks if ask["method"] == method), None))
        return found

    async def until(self, found: Callable[[], Any]) -> Any:
        """What ``found`` finds, as soon as it does."""
        while not (value := found()):
            self._news.clear()
            await self._news.wait()
        return value

    def notified(self, method: str) -> list[Json]:
        """The params of all notifications of that method."""
        return [message["params"] for message in self.heard if message.get("method") == method and "id" not in message]

    def updates(self, session_id: str | None = None, kind: str | None = None) -> list[Json]:
        """Every update so far, of a session, of a kind."""
        return [params["update"] for params in self.notified("session/update")
                if session_id in (None, params["sessionId"]) and kind in (None, params["update"]["sessionUpdate"])]

    def text(self, session_id: str | None = None, kind: str = "agent_message_chunk") -> str:
        """What was said, in one piece."""
        return "".join(update["content"]["text"] for update in self.updates(session_id, kind))

    async def initialize(self, **capabilities: Any) -> Json:
        """The handshake."""
        hello: Json = await self.ask("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities,
                                                    "clientInfo": {"name": "test", "version": "1"}})
        return hello

    async def new(self, folder: Path, **more: Any) -> str:
        """A new session."""
        made: Json = await self.ask("session/new", {"cwd": str(folder), "mcpServers": [], **more})
        session_id: str = made["sessionId"]
        return session_id

    def prompt(self, session_id: str, text: str, **more: Any) -> asyncio.Future[Json]:
        """Begin a prompt."""
        return self.begin("session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}], **more})

    async def turn(self, session_id: str, text: str) -> str:
        """Send a prompt and wait for the end of its turn; returns the stop reason."""
        stop: str = result_of(await self.prompt(session_id, text))["stopReason"]
        return stop

    def play(self, session_id: str, *steps: Any) -> asyncio.Future[Json]:
        """Have the puppet do something."""
        return self.prompt(session_id, json.dumps(steps))

    async def leave(self) -> None:
        """Hang up."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self.socket.leave()


def result_of(answer: Json) -> Any:
    """The result of an answer, or Refused."""
    if "error" in answer:
        raise Refused(answer["error"])
    return answer["result"]


async def when(session: Session, found: Callable[[], Any]) -> Any:
    """What ``found`` finds in a session, as soon as it does."""
    while not (value := found()):
        await session.feed.wait(session.feed.last_seq)
    return value


async def at_rest(session: Session) -> None:
    """No turn runs, and what the last one said is stored."""
    await when(session, lambda: session.fold.turn is None)
    await session.snapshot()


def text_update(words: str) -> Json:
    """One chunk of the agent's text."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}


@asynccontextmanager
async def hub_site(folder: Path, **agents: str) -> AsyncIterator[Site]:
    """A hub in memory with the demo agent at full speed and the puppet, served."""
    work, data = folder / "work", folder / "data"
    work.mkdir(parents=True, exist_ok=True)
    commands = {"fast": [sys.executable, "-m", "trunkline.agents.demo", "--fast"], "puppet": PUPPET, "trusted": PUPPET,
                **{name: shlex.split(command) for name, command in agents.items()}}
    specs = {name: spec_from_table(name, {"command": command}) for name, command in commands.items()}
    async with Hub(HubOptions(data=data, store="memory:", agents=specs)) as hub:
        hub.policies.replace(TRUSTED)
        yield Site(hub, build_app(hub, ServerOptions(data=data, port=7420, token=TOKEN)), work)


@asynccontextmanager
async def editor(site: Site, agent: str = "fast", *, token: str = TOKEN, headers: Mapping[str, str] | None = None,
                 greet: bool = True, **capabilities: Any) -> AsyncIterator[Editor]:
    """An editor that is connected, and greeted unless it should not be."""
    socket = Socket(site, f"/acp?agent={agent}", {"authorization": f"Bearer {token}", **(headers or {})})
    await socket.accepted()
    made = Editor(socket)
    try:
        if greet:
            await made.initialize(**capabilities)
        yield made
    finally:
        await made.leave()


async def new_token(site: Any, scope: str) -> str:
    """A token of that scope."""
    made = await site.ask("POST", "/auth/tokens", json_body={"name": "t", "scope": scope})
    secret: str = made.json()["secret"]
    return secret
