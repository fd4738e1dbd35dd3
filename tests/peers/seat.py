"""Somebody at a terminal, with a real program in it, a scripted model behind it and a hub beside it: one for all programs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.tmux import SEES_S, Terminal

Json = dict[str, Any]

READ_S = 1.0
"""Programs take no key for a moment after they have asked: what somebody was typing is no answer."""
SENT_S = 5.0
SENT_TRIES = 8
"""How long a prompt may take to reach the model before its key is pressed once more, and how often."""


class Model(Protocol):
    """What answers the program."""

    @property
    def told(self) -> list[str]:
        """All that it was sent, request by request."""


class Seat:
    """What such a person sees and does."""

    def __init__(self, hub: HubProcess, model: Model, terminal: Terminal, work: Path, agent: str, prompt: str, *,
                 ready: str = "") -> None:
        """``prompt`` is in the program's own question, ``ready`` where prompts are typed."""
        self.hub = hub
        self.model = model
        self.terminal = terminal
        self.work = work
        self.agent = agent
        self.prompt = prompt
        self.ready = ready

    def says(self, text: str) -> None:
        """Type a prompt, until the model has it. A program that is just starting takes the text, and not always the key."""
        self.terminal.unsees(self.prompt)
        if self.ready:
            self.terminal.sees(self.ready)
        before, words = len(self.model.told), json.dumps(text)[1:-1]
        self.terminal.type(text)
        for _ in range(SENT_TRIES):
            try:
                eventually(lambda: any(words in told for told in self.model.told[before:]), "the model is asked", SENT_S)
                return
            except AssertionError:
                if self.prompt not in self.terminal.screen:
                    self.terminal.key("Enter")
        raise AssertionError(f"the prompt is not sent\n{self.terminal.screen}")

    def presses(self, key: str) -> None:
        """Answer the program's own question."""
        self.terminal.sees(self.prompt)
        time.sleep(READ_S)
        self.terminal.key(key)

    def pending(self) -> list[Any]:
        """What waits in the hub."""
        return list(self.hub.wire.get("/approvals")["pending"])

    def asked(self) -> Any:
        """The one ask that waits in the hub."""
        self._until(self.pending, "the hub shows the ask")
        (ask,) = self.pending()
        return ask

    def decide(self, ask: Any, **decision: Any) -> None:
        """Answer it in the hub."""
        self.hub.wire.post(f"/sessions/{ask['sessionId']}/permissions/{ask['approval']['requestId']}", decision, 200)

    def answer(self, ask: Any, **content: Any) -> None:
        """Answer its question in the hub."""
        path = f"/sessions/{ask['sessionId']}/questions/{ask['question']['questionId']}"
        self.hub.wire.post(path, {"action": "accept", "content": content}, 200)

    def ended(self, ask: Any) -> Json:
        """How an approval ended, as its event says."""
        def found() -> list[Json]:
            events = self.events("approval:resolved", ask["sessionId"])
            return [event for event in events if event["requestId"] == ask["approval"]["requestId"]]

        self._until(found, "the approval has ended")
        return found()[0]

    def sessions(self) -> list[Any]:
        """The sessions that the hub has of the program, in this folder."""
        listed = self.hub.wire.get("/sessions")["sessions"]
        return [each for each in listed if each["agent"] == self.agent and each["cwd"] == str(self.work)]

    def session(self) -> Any:
        """The one session that the hub has of it."""
        self._until(self.sessions, "the hub has the session")
        (session,) = self.sessions()
        return session

    def is_idle(self) -> None:
        """Wait until nothing runs, and the hub has all of it."""
        self._until(lambda: self.session()["turn"] is None, "the turn is over")

    def events(self, kinds: str = "", session_id: str = "") -> list[Json]:
        """What happened in its session, or in that one: events of these kinds."""
        types = f"&types={kinds}" if kinds else ""
        return list(self.hub.wire.get(f"/sessions/{session_id or self.session()['id']}/history?limit=1000{types}")["events"])

    def messages(self, session_id: str = "") -> list[tuple[str, str]]:
        """Who said what, in the hub's history."""
        return [(event["role"], text_in(event)) for event in self.events("message:complete", session_id)]

    def said(self, role: str = "assistant", session_id: str = "") -> list[str]:
        """What one of them said."""
        return [text for who, text in self.messages(session_id) if who == role]

    def made(self, name: str) -> None:
        """Wait until a command has made this file."""
        self._until((self.work / name).exists, f"{name} is made")

    def is_told(self, words: str) -> None:
        """Wait until the model was sent these words."""
        self._until(lambda: any(words in told for told in self.model.told), f"the model is told {words!r}")

    def _until(self, holds: Callable[[], object], what: str, wait_s: float = SEES_S) -> None:
        try:
            eventually(holds, what, wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}\n{self.hub.log()}") from None


def text_in(event: Any) -> str:
    """What a message says."""
    content = event["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
