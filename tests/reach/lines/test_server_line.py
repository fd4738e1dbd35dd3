"""The line to a program's socket, with a small daemon that does what programs should not: hang up, talk nonsense, stall."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import Server, ServerConnection, unix_serve

from tests.aio import eventually, run
from tests.reach.lines.lined import AGENT, ENDED, OWN, Lined, called, data_folder, lined, prompted, said
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import Unsupported
from trunkline.hub import Decision
from trunkline.reach.door import Door
from trunkline.reach.lines.consent import LineConsent
from trunkline.reach.lines.line_sessions import SessionLines, text_of
from trunkline.reach.lines.live import LOST
from trunkline.reach.lines.server_line import MESSAGE_MOST, OUT_MOST, STOPPED


class Daemon:
    """Answers as the real one does, as far as it is asked."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.heard: list[Any] = []
        self.clients: list[ServerConnection] = []
        self.server: Server | None = None
        self.answers = True
        self.refusals = 0
        """How often it refuses that somebody joins."""

    async def start(self) -> None:
        self.place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.server = await unix_serve(self._serve, str(self.place))

    async def stop(self) -> None:
        if self.server is not None:
            self.server.close()
            await self.server.wait_closed()
            self.place.unlink(missing_ok=True)

    async def says(self, method: str, number: int | None = None, /, **params: Any) -> None:
        about = {"method": method, "params": {"threadId": OWN, **params}, **({} if number is None else {"id": number})}
        await self.clients[-1].send(json.dumps(about))

    def calls(self, method: str) -> list[Any]:
        return [each for each in self.heard if each.get("method") == method]

    def was_called(self, method: str, times: int) -> bool:
        return len(self.calls(method)) == times

    async def _serve(self, client: ServerConnection) -> None:
        self.clients.append(client)
        async for raw in client:
            message = json.loads(raw)
            self.heard.append(message)
            if message.get("method") == "thread/resume" and self.refusals:
                self.refusals -= 1
                await client.send(json.dumps({"id": message["id"], "error": {"code": -32600, "message": "no rollout found"}}))
            elif self.answers and "method" in message and "id" in message:
                await client.send(json.dumps({"id": message["id"], "result": self._result(message["method"])}))

    def _result(self, method: str) -> Any:
        return {"thread/loaded/list": {"data": [OWN]}, "thread/list": {"data": [{"id": OWN}]}}.get(method, {})


class Scene(Lined):
    """A hub that may listen, and a daemon."""

    daemon: Daemon
    door: Door

    async def is_listened_to(self) -> None:
        await eventually(lambda: self.daemon.calls("thread/resume"))
        await self.follows()
        await eventually(lambda: self.session.fold.line)


@asynccontextmanager
async def scene(root: Path, agreed: bool = True, **options: Any) -> AsyncIterator[Scene]:
    async with lined(root, **options) as there:
        one = Scene(root, there.hub)
        one.daemon = Daemon(root / ".codex" / "app-server-control" / "app-server-control.sock")
        consent = LineConsent(there.hub.agents[AGENT], root / "data")
        if agreed:
            consent.give()
        one.door = Door(there.hub, root / "data")
        await one.door.open()
        try:
            yield one
        finally:
            await one.door.close()
            await one.daemon.stop()


def check(scenario: Callable[[Scene], Any], *, agreed: bool = True, policy: str = "", **options: Any) -> None:
    async def within(root: Path) -> None:
        async with scene(root, agreed, **options) as there:
            await scenario(there)

    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        data_folder(Path(name), policy)
        run(within(Path(name)))


async def asks(there: Scene, number: int = 0) -> None:
    there.writes(called("touch a", "call_1"))
    await there.daemon.says("item/commandExecution/requestApproval", number, itemId="call_1", command="touch a",
                            availableDecisions=["accept", "cancel"])


def test_a_daemon_that_comes_is_listened_to_and_answered() -> None:
    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        await asks(there, 7)
        ask = await there.asked()
        await there.session.approvals.decide(ask.approval.request_id, Decision(decision="allow"), by="somebody")
        await eventually(lambda: {"id": 7, "result": {"decision": "accept"}} in there.daemon.heard)

    check(scenario)


def test_a_rule_allows_where_that_is_wanted_and_not_beside_a_hook_of_somebody_elses() -> None:
    allow = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'
    hook = '[[hooks.PermissionRequest]]\n[[hooks.PermissionRequest.hooks]]\ntype = "command"\ncommand = "theirs"\n'

    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        await asks(there, 7)
        await eventually(lambda: {"id": 7, "result": {"decision": "accept"}} in there.daemon.heard)
        (there.root / ".codex" / "config.toml").write_text(hook)
        await asks(there, 8)
        await there.asked()
        assert not [said for said in there.daemon.heard if said.get("id") == 8 and "result" in said]

    check(scenario, policy=allow, terminal_rules=True)


def test_a_thread_that_has_no_file_yet_is_joined_when_it_has_one() -> None:
    async def scenario(there: Scene) -> None:
        written = there.file.read_text()
        there.file.unlink()
        there.daemon.refusals = 2
        await there.daemon.start()
        for joins in (1, 2, 3):
            await eventually(partial(there.daemon.was_called, "thread/resume", joins))
            await there.daemon.says("thread/status/changed", status={"type": "active", "activeFlags": []})
        there.file.write_text(written)
        await there.is_listened_to()
        await asks(there)
        await there.asked()
        assert len(there.daemon.calls("thread/resume")) == 3

    check(scenario)


def test_nothing_connects_before_somebody_agreed_and_removing_hangs_up() -> None:
    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await asyncio.sleep(0.2)
        assert there.daemon.clients == []
        consent = LineConsent(there.hub.agents[AGENT], there.root / "data")
        consent.give()
        await there.door._lines.look()
        await there.is_listened_to()
        await asks(there)
        await there.asked()
        consent.take_back()
        await there.door._lines.look()
        assert there.hub.pending() == [] and not there.session.fold.line
        (end,) = await there.events("ApprovalResolvedEvent")
        assert end.reason == STOPPED
        await eventually(lambda: there.daemon.clients[0].state.name == "CLOSED")

    check(scenario, agreed=False)


def test_a_daemon_that_dies_leaves_the_file_and_comes_back() -> None:
    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        await asks(there)
        await there.asked()
        await there.daemon.stop()
        await eventually(lambda: not there.session.fold.line)
        (end,) = await there.events("ApprovalResolvedEvent")
        assert end.reason == LOST
        there.writes(said("By the file.", "m1"), ENDED)
        await eventually(lambda: there.session.fold.turn is None)
        there.daemon.heard.clear()
        await there.daemon.start()
        await there.is_listened_to()

    check(scenario)


def test_nonsense_is_nothing_and_what_is_too_long_ends_the_line() -> None:
    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        client = there.daemon.clients[-1]
        for junk in ("", "{", "[]", '{"method":1}', '{"method":"item/started","params":[]}', "\u0000", b"\xff\xfe"):
            await client.send(junk)
        await asks(there)
        await there.asked()
        await client.send("x" * (MESSAGE_MOST + 1))
        await eventually(lambda: len(there.daemon.clients) > 1)

    check(scenario)


def test_a_line_that_fails_in_a_way_that_nobody_foresaw_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = SessionLines.take, iter([True])

    def take(lines: SessionLines, event: Any) -> None:
        if next(failures, False):
            raise KeyError("nobody foresaw this")
        real(lines, event)

    monkeypatch.setattr(SessionLines, "take", take)

    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        await asks(there, 7)
        await there.asked()

    check(scenario)


def test_a_daemon_that_stalls_holds_nobody_up() -> None:
    async def scenario(there: Scene) -> None:
        there.daemon.answers = False
        await there.daemon.start()
        await eventually(lambda: there.daemon.calls("initialize"))
        there.writes(said("By the file.", "m1"), ENDED)
        await there.follows()
        await there.has_read()
        assert not there.session.fold.line
        assert ("assistant", "By the file.") in await there.messages()

    check(scenario)


def test_no_websocket_is_no_line() -> None:
    async def scenario(there: Scene) -> None:
        met = asyncio.Event()

        async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            met.set()
            writer.write(b"what?\n")
            writer.close()

        there.daemon.place.parent.mkdir(mode=0o700, parents=True)
        server = await asyncio.start_unix_server(rude, str(there.daemon.place))
        await met.wait()
        await there.follows()
        assert not there.session.fold.line
        server.close()

    check(scenario)


def test_a_session_that_the_hub_runs_itself_is_left_alone() -> None:
    async def scenario(there: Scene) -> None:
        await there.follows()
        found = there.session.fold.watches
        there.session.fold.watches = None  # as if its agent were ours
        await there.daemon.start()
        await eventually(lambda: there.daemon.calls("thread/resume"))
        await asks(there)
        await asyncio.sleep(0.1)
        assert there.hub.pending() == [] and not there.session.fold.line
        there.session.fold.watches = found

    check(scenario)


def test_prompts_and_interrupts_go_out_and_words_come_in() -> None:
    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        await there.daemon.says("turn/started", turn={"id": "t1"})
        await there.daemon.says("item/started", item={"type": "agentMessage", "id": "m1"})
        await there.daemon.says("item/agentMessage/delta", itemId="m1", delta="Live.")
        await eventually(lambda: there.session.fold.text is not None)
        await there.session.turns.cancel(by="somebody")
        await eventually(lambda: there.daemon.calls("turn/interrupt"))
        there.writes(ENDED)
        await eventually(lambda: there.session.fold.turn is None)
        await there.session.turns.send([TextContent(text="hello")], by="somebody")
        await eventually(lambda: there.daemon.calls("turn/start"))
        there.writes(prompted("hello"))
        await eventually(lambda: there.session.fold.turn is not None)

    check(scenario)


def test_a_daemon_that_does_not_read_is_hung_up_on() -> None:
    async def scenario(there: Scene) -> None:
        await there.daemon.start()
        await there.is_listened_to()
        send = there.session.agent.line.line._out
        for _ in range(OUT_MOST + 1):
            send(b"{}")
        await eventually(lambda: not there.session.fold.line)

    check(scenario)


def test_only_text_is_taken() -> None:
    assert text_of([msgspec.Raw(b'{"type":"text","text":"a"}'), msgspec.Raw(b'{"type":"text","text":"b"}')]) == "a\nb"
    with pytest.raises(Unsupported):
        text_of([msgspec.Raw(b'{"type":"image","data":"","mimeType":"image/png"}')])
