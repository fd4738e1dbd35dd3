"""One prompt being answered: what it says, the calls it shows, what it asks, and its end.

A turn runs in a thread of its own; answers and cancels come from the thread that reads stdin.

Rule 1: whatever waits (a pause, a permission, a question) ends at once when the turn is cancelled, by ``TurnCancelled``.
Rule 2: the prompt is answered once, after everything the turn sent; open calls are closed and open requests taken back before.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from trunkline.agents.demo import REJECTED
from trunkline.agents.demo.wire import Json, Refused
from trunkline.dialects.error_codes import ErrorCode

if TYPE_CHECKING:
    from trunkline.agents.demo.agent import Agent, DemoSession
    from trunkline.agents.demo.tools import Result

OPTIONS = (
    {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
    {"optionId": "reject-always", "name": "Never allow", "kind": "reject_always"},
)

CANCELLED_CALL = "Error: This was cancelled before the tool call ended."


class TurnCancelled(Exception):
    """The client cancelled the turn."""


class Ask:
    """A request of ours that the client has not answered yet."""

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.result: Json | None = None
        self.error: Json | None = None

    @property
    def is_answered(self) -> bool:
        """Whether a result or an error came."""
        return self.result is not None or self.error is not None


class DemoTurn:
    """One running prompt."""

    def __init__(self, agent: Agent, session: DemoSession, request_id: object, text: str, attachments: int, speed: float) -> None:
        self.agent = agent
        self.wire = agent.wire
        self.session = session
        self.request_id = request_id
        self.text = text
        self.attachments = attachments
        self.is_deaf = False
        self._speed = speed
        self._changed = threading.Condition()
        self._is_cancelled = False
        self._is_answered = False
        self._asks: dict[str, Ask] = {}
        self._open: dict[str, DemoCall] = {}

    def run(self, play: Callable[[DemoTurn], None]) -> None:
        """Play the prompt to its end; whatever happens, it is answered once (unless the script answered it itself)."""
        try:
            play(self)
            self.end("end_turn")
        except TurnCancelled:
            self._take_back()
            self.end("cancelled")
        except Refused as refused:
            self.end_with_error(refused)
        except Exception as error:  # the end of a thread: a fault of ours must not leave the client waiting
            self.end_with_error(Refused(ErrorCode.INTERNAL_ERROR, f"the demo broke: {error}"))
            raise

    def _take_back(self) -> None:
        """Withdraw what was asked and is not answered, and close the calls that are open."""
        for ask_id in list(self._asks):
            self.wire.notify("$/cancel_request", {"requestId": ask_id})
        for call in list(self._open.values()):
            call.fail(CANCELLED_CALL)

    def end(self, stop_reason: str) -> None:
        """Answer the prompt, once; what is sent later comes late."""
        if self._may_answer():
            self.wire.answer(self.request_id, {"stopReason": stop_reason})

    def end_with_error(self, refused: Refused) -> None:
        """Answer the prompt with an error, once."""
        if self._may_answer():
            self.wire.fail(self.request_id, refused.code, refused.message, refused.data)

    def _may_answer(self) -> bool:
        if self._is_answered:
            return False
        self._is_answered = True
        # Before the answer is out: the client may send its next prompt the moment it reads it.
        self.session.turn = None
        return True

    def cancel(self) -> None:
        """End what waits, and the turn."""
        with self._changed:
            self._is_cancelled = not self.is_deaf
            self._changed.notify_all()

    def settle(self, message: Json) -> bool:
        """Take the client's answer to an ask of this turn; False when it is not one."""
        with self._changed:
            ask = self._asks.pop(str(message.get("id")), None)
            if ask is None:
                return False
            ask.error = message.get("error")
            if ask.error is None:
                ask.result = message.get("result") or {}
            self._changed.notify_all()
            return True

    def check(self) -> None:
        """Raise TurnCancelled if the turn was cancelled."""
        if self._is_cancelled:
            raise TurnCancelled

    def pause(self, seconds: float) -> None:
        """Let time pass, divided by the speed."""
        self.wait(seconds / self._speed)

    def wait(self, seconds: float) -> None:
        """Let exactly this much time pass (``math.inf``: until cancelled)."""
        with self._changed:
            if seconds > 0:
                self._changed.wait_for(lambda: self._is_cancelled, None if math.isinf(seconds) else seconds)
            self.check()

    def update(self, session_update: str, /, **fields: object) -> None:
        """Send one ``session/update``."""
        update = {"sessionUpdate": session_update, **fields}
        self.wire.notify("session/update", {"sessionId": self.session.id, "update": update})

    def say(self, text: str, message_id: str | None = None) -> None:
        """Send one chunk of message."""
        self._chunk("agent_message_chunk", text, message_id)

    def think(self, text: str, message_id: str | None = None) -> None:
        """Send one chunk of thought."""
        self._chunk("agent_thought_chunk", text, message_id)

    def stream(self, send: Callable[[str, str | None], None], text: str, pause_s: float) -> None:
        """Send a text word by word as one message."""
        message_id = f"msg_{_token()}"
        for word in _words(text):
            send(word, message_id)
            self.pause(pause_s)

    def usage(self) -> None:
        """Report how much context is used: a quarter token a character, and it costs nothing."""
        self.update("usage_update", used=self.session.characters // 4, size=200_000, cost={"amount": 0, "currency": "USD"})

    def tokens(self) -> None:
        """Report what this took in tokens since the last report: the prompt was read, what is new was written, and all that was
        there before came from a cache."""
        session = self.session
        new = session.characters - session.reported_characters
        self.note("tokens", input=session.unread_characters // 4, output=(new - session.unread_characters) // 4,
                  cacheRead=session.reported_characters // 4)
        session.reported_characters, session.unread_characters = session.characters, 0

    def mode(self, mode_id: str) -> None:
        """Report that it works in this mode now."""
        self.update("current_mode_update", currentModeId=mode_id)

    def notice(self, severity: str, title: str, description: str) -> None:
        """Send a person a notice, if the client shows such notices."""
        if (self.agent.client.get("session") or {}).get("notices") is not None:
            self.update("notice", severity=severity, title=title, description=description)

    def note(self, kind: str, /, **data: object) -> None:
        """Send what the protocol has no word for, if the client takes such notes."""
        if ((self.agent.client.get("_meta") or {}).get("trunkline") or {}).get("notes"):
            self.wire.notify("_trunkline/note", {"sessionId": self.session.id, "kind": kind, "data": data})

    def call(self, tool: str, kind: str) -> DemoCall:
        """Announce a tool call."""
        call = DemoCall(self, tool, kind)
        self._open[call.id] = call
        return call

    def closed(self, call: DemoCall) -> None:
        """Forget a call that ended."""
        self._open.pop(call.id, None)

    def begin(self, method: str, params: Json) -> Ask:
        """Send a request; ``finish`` waits for its answer."""
        ask = Ask(f"demo-{_token()}")
        with self._changed:
            self._asks[ask.id] = ask
        self.wire.send({"id": ask.id, "method": method, "params": {"sessionId": self.session.id, **params}})
        return ask

    def finish(self, ask: Ask, within_s: float | None = None) -> Ask:
        """Wait for the answer; an ask that is not answered ``within_s`` seconds is taken back."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_cancelled or ask.is_answered, within_s)
            if self._is_cancelled and not ask.is_answered:
                raise TurnCancelled
            if not ask.is_answered:
                self._asks.pop(ask.id, None)
                self.wire.notify("$/cancel_request", {"requestId": ask.id})
        return ask

    def request(self, method: str, params: Json) -> Ask:
        """Send a request and wait for its answer."""
        return self.finish(self.begin(method, params))

    def begin_permission(self, call: DemoCall, options: Sequence[Mapping[str, str]] = OPTIONS, **fields: object) -> Ask:
        """Ask for permission to go on with a call; ``fields`` are what the person should see of it."""
        return self.begin("session/request_permission", {"toolCall": {"toolCallId": call.id, **fields}, "options": list(options)})

    def finish_permission(self, ask: Ask, within_s: float | None = None) -> str | None:
        """The id of the chosen option, or None when nobody chose; a cancelled outcome ends the turn."""
        outcome = (self.finish(ask, within_s).result or {}).get("outcome") or {}
        if outcome.get("outcome") == "cancelled":
            raise TurnCancelled
        return outcome.get("optionId")

    def _chunk(self, kind: str, text: str, message_id: str | None) -> None:
        self.session.characters += len(text)
        mark = {} if message_id is None else {"messageId": message_id}
        self.update(kind, content={"type": "text", "text": text}, **mark)


class DemoCall:
    """One tool call as the client sees it: pending, in progress, then completed or failed."""

    def __init__(self, turn: DemoTurn, tool: str, kind: str) -> None:
        self.id = f"call_{_token()}"
        self.tool = tool
        self._turn = turn
        turn.update("tool_call", toolCallId=self.id, title=tool, name=tool, kind=kind, status="pending", rawInput={})

    def start(self, raw_input: Json, locations: Sequence[str] = ()) -> None:
        """Announce what it is about to do."""
        where = {"locations": [{"path": path} for path in locations]} if locations else {}
        self._turn.update("tool_call_update", toolCallId=self.id, status="in_progress", rawInput=raw_input, **where)

    def complete(self, result: Result) -> None:
        """Report what came of it."""
        self._turn.closed(self)
        fields: Json = {"rawOutput": result.raw_output, "content": result.content}
        if result.locations:
            fields["locations"] = [{"path": path} for path in result.locations]
        self._turn.update("tool_call_update", toolCallId=self.id, status="completed", title=result.title or self.tool, **fields)

    def fail(self, error: str = REJECTED) -> None:
        """Report that it did not work, or was not allowed to."""
        self._turn.closed(self)
        content = [{"type": "content", "content": {"type": "text", "text": error}}]
        self._turn.update("tool_call_update", toolCallId=self.id, status="failed", rawOutput={"error": error}, content=content)


def _token() -> str:
    return os.urandom(8).hex()


def _words(text: str) -> list[str]:
    """The text in pieces that each end where a word ends; together they are the text."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        words = line.split(" ")
        pieces += [word + " " for word in words[:-1]] + [words[-1]]
    return [piece for piece in pieces if piece]
