"""What the CLI says, line by line, as signals; and the lines that answer what it asks. One translator per CLI process.

Rule 1: pure and stateful: no I/O, no clock. What has to be written is returned, or waits in ``take_output``.
Rule 2: nothing that the CLI sends raises. A line that is no object is ``Malformed``; a type that nobody knows is a ``Note``.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trunkline.dialects.signals import AgentFault, Malformed, Signal


class ControlAnswer(msgspec.Struct, frozen=True):
    """What the CLI answered to a control request of ours; ``body`` is the answer's own JSON, ``null`` where it has none."""

    request_id: str
    ok: bool
    body: bytes = b"null"
    error: str | None = None


class Translator:
    """Translates one CLI process."""

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
        self._answers: list[ControlAnswer] = []
        self._output: list[bytes] = []
        self.session_id: str | None = None
        """The CLI's id of the conversation; another one after ``/clear``."""
        self.failure: AgentFault | None = None
        """The newest error result that ended no prompt: why a start failed (an unknown id to resume, no login)."""

        self.working = False
        """The CLI began a turn that no prompt of ours asked for, and has not ended it (asked by the driver, which holds prompts
        meanwhile: one that is sent now would be folded into that turn)."""

    def receive(self, line: bytes) -> list[Signal]:
        """What one line of stdout means."""
        return [Malformed(line[:4096], "not translated yet", len(line))]

    def prompted(self, uuid: str | None = None) -> None:
        """A user message was written, with this uuid: the next turn is its own, and its result is heard as TurnEnd.

        A result that ends no prompt (a background task woke the agent) is a Note instead."""

    def greeted(self, body: bytes) -> list[Signal]:
        """The answer to ``initialize``: commands, models and modes are known from now on."""
        return []

    def modes(self, *, bypass: bool = False) -> msgspec.Raw:
        """SessionModeState of the Agent Client Protocol; ``bypass`` where the CLI was launched so that it may be chosen."""
        return msgspec.Raw(b"null")

    def options(self) -> msgspec.Raw:
        """The list of config options: model, thinking, effort, as far as this CLI has them."""
        return msgspec.Raw(b"[]")

    def option_request(self, request_id: str, config_id: str, value: str | bool) -> bytes:
        """The line that sets an option; Invalid where there is no such option or value."""
        return b""

    def option_set(self, config_id: str, value: str | bool, body: bytes) -> msgspec.Raw:
        """The CLI took it (``body`` is its answer): all options now."""
        return self.options()

    def take_answers(self) -> list[ControlAnswer]:
        """Answers to our control requests since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def take_output(self) -> list[bytes]:
        """Lines to write that nobody has to decide on (a control request that we do not serve)."""
        output, self._output = self._output, []
        return output

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: bytes | None = None) -> bytes | None:
        """The line that answers an ask; None where it is no longer open. ``option_id`` None denies."""
        return None

    def answer_question(self, request_id: str, action: str, content: bytes | None) -> bytes | None:
        """The line that answers a question (accept, decline, cancel); None where it is no longer open."""
        return None
