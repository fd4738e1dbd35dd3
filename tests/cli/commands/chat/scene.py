"""A conversation with a hub that only notes what it is told, and asks for it."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, cast

from tests.cli.commands.chat.test_cards import Clock
from trunkline.cli.commands.chat.conversation import Conversation
from trunkline.cli.commands.chat.paint import Paint
from trunkline.cli.commands.chat.show import ChatShow
from trunkline.cli.terminal.card import REST_S
from trunkline.cli.terminal.screen import Screen
from trunkline.client import (
    Accepted,
    ApprovalView,
    Client,
    FileEntry,
    FilesFound,
    Packet,
    PolicyRule,
    QuestionView,
    SessionView,
)
from trunkline.client.calls.turns import MessagePage
from trunkline.client.http import Endpoint
from trunkline.client.hub_views import RulePreview
from trunkline.client.views import Code
from trunkline.errors import Forbidden, TrunklineError


class Hub:
    """Has one session; ``told`` is what it was asked to do."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.told: list[Any] = []
        self.refuses: TrunklineError | None = None
        self.endpoint = Endpoint("http://127.0.0.1:1")
        self.may_let_in = True
        self.said: list[tuple[int, Packet]] = []
        """What the session has by now; nothing comes after it."""

    async def new_code(self) -> Code:
        if not self.may_let_in:
            raise Forbidden("only an admin lets others in")
        return Code(code="secret", path="/#code=secret")

    async def session(self, session_id: str) -> SessionView:
        return self.view

    async def send(self, session_id: str, text: str, *, when_busy: str) -> Accepted:
        self.told.append(("send", text, when_busy))
        return Accepted(turn_id="t", seq=1, queued=self.view.turn is not None)

    async def decide(self, session_id: str, request_id: str, **how: Any) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.told.append((request_id, {name: value for name, value in how.items() if value is not None}))

    async def answer_question(self, session_id: str, question_id: str, content: Any, *, action: str = "accept") -> None:
        self.told.append((question_id, content, action))

    async def preview_rule(self, request_id: str, *, allow: bool) -> RulePreview:
        return RulePreview(rule=PolicyRule(action="allow", command=["npm test"]))

    async def messages(self, session_id: str, *, after: int) -> MessagePage:
        return MessagePage(self.said, None)

    async def packets(self, session_id: str, *, after: int) -> AsyncIterator[tuple[int, Packet]]:
        for each in self.said:
            if each[0] > after:
                yield each

    async def set_mode(self, session_id: str, mode: str) -> None:
        self.told.append(("mode", mode))

    async def cancel(self, session_id: str) -> bool:
        self.told.append("cancel")
        return True

    async def find_files(self, session_id: str, query: str, *, limit: int) -> FilesFound:
        return FilesFound(query=query, files=[FileEntry(name="main.py", path="src/main.py")])


class Scene:
    """A conversation, its line and its clock."""

    def __init__(self, **view: Any) -> None:
        self.hub = Hub(SessionView(id="ses_1", agent="demo", **view))
        self.clock = Clock()
        self.line = ""
        self.has_left = False
        self.out = io.StringIO()
        screen = Screen(self.out, terminal=True, colour=False)
        self.talk = Conversation(cast("Client", self.hub), self.hub.view, screen, ChatShow(screen, Paint(colour=False)),
                                 line_text=lambda: self.line, clear_line=self._clear, leave=self._leave, clock=self.clock,
                                 pause=self._pause)
        self.meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None
        """What happens while a key that was pressed waits for others."""

    async def _pause(self, seconds: float) -> None:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()

    def _clear(self) -> None:
        self.line = ""

    def _leave(self) -> None:
        self.has_left = True

    async def wait(self, *asks: ApprovalView | QuestionView) -> None:
        """These wait from now on."""
        self.hub.view.pending_approvals = [ask for ask in asks if isinstance(ask, ApprovalView)]
        self.hub.view.pending_questions = [ask for ask in asks if isinstance(ask, QuestionView)]
        await self.talk.renew()
        self.talk.mode()

    async def press(self, *letters: str, after_s: float = REST_S) -> None:
        """Press keys, the first of them after a while."""
        self.clock.now += after_s
        for letter in letters:
            await self.talk.press(letter)
            self.talk.mode()


RUN = ApprovalView(request_id="req_1", description="Run: npm test", risk_level="medium", editable=True,
                   tool_input={"command": "npm test", "cwd": "/w"}, preview={"type": "command", "command": "npm test"})

WRITE = ApprovalView(request_id="req_3", description="Write a.txt", editable=True, tool_input={"path": "a.txt"})

OTHER = ApprovalView(request_id="req_2", description="Run: make")

FORM = QuestionView(question_id="q_1", question="Who?", schema={"properties": {
    "name": {"type": "string"}, "steps": {"type": "integer", "default": 3}}, "required": ["name"]})

MODES = {"availableModes": [{"id": "ask", "name": "Ask"}, {"id": "auto", "name": "Auto"}], "currentModeId": "ask"}
