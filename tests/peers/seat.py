"""Somebody at a terminal, with a real program in it, a scripted model behind it and a hub beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.tmux import Terminal

Json = dict[str, Any]

READ_S = 1.0
"""Programs take no key for a moment after they have asked: what somebody was typing is no answer."""


class Seat:
    """What such a person sees and does."""

    def __init__(self, hub: HubProcess, model: ScriptedModel, terminal: Terminal, work: Path, prompt: str) -> None:
        """``prompt`` is in the program's own question."""
        self.hub = hub
        self.model = model
        self.terminal = terminal
        self.work = work
        self.prompt = prompt

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
        try:
            eventually(self.pending, "the hub shows the ask", 30)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}\n{self.hub.log()}") from None
        (ask,) = self.pending()
        return ask

    def decide(self, ask: Any, **decision: Any) -> None:
        """Answer it in the hub."""
        self.hub.wire.post(f"/sessions/{ask['sessionId']}/permissions/{ask['approval']['requestId']}", decision, 200)

    def ended(self, ask: Any) -> Json:
        """How an approval ended, as its event says."""
        def found() -> list[Json]:
            events = self.events(ask["sessionId"], "approval:resolved")
            return [event for event in events if event["requestId"] == ask["approval"]["requestId"]]

        eventually(found, "the approval has ended", 20)
        return found()[0]

    def events(self, session_id: str, kinds: str) -> list[Json]:
        """Events of a session, of these kinds."""
        return list(self.hub.wire.get(f"/sessions/{session_id}/history?types={kinds}&limit=500")["events"])

    def made(self, name: str, wait_s: float = 30.0) -> None:
        """Wait until a command has made this file."""
        try:
            eventually((self.work / name).exists, f"{name} is made", wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}\n{self.hub.log()}") from None

    def is_told(self, words: str, wait_s: float = 30.0) -> None:
        """Wait until the model was sent these words."""
        try:
            eventually(lambda: any(words in told for told in self.model.heard), f"the model is told {words!r}", wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen}") from None
