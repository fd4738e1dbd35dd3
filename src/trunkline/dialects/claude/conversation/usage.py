"""What the CLI says a conversation takes: tokens by message, turn and model, money, and room in the model's context.

Rule 1: tokens of a message are emitted when it is complete, once. What a turn took beyond that (sub-agents, answers that were not
streamed) is emitted with its end: the end carries the whole turn, and whoever folds it knows what came before.
Rule 2: the CLI counts models and money from the conversation's beginning, over resumes too; ``/clear`` begins at zero again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from trunkline.dialects.notes import AgentNote, CostSpent, CustomNote, TokensSpent
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, Update

if TYPE_CHECKING:
    from trunkline.dialects.claude.frames.types import ResultFrame  # a transcript is counted without the frames of the CLI

MOST: Final = 1 << 53
"""No count of tokens is as high; what is was not counted."""

_encode = msgspec.json.Encoder().encode


class Count(msgspec.Struct, frozen=True):
    """Tokens."""

    input: int = 0
    output: int = 0
    read: int = 0
    written: int = 0
    thought: int = 0

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self.input or self.output or self.read or self.written)

    @property
    def room(self) -> int:
        """What they take up of the model's context."""
        return self.input + self.output + self.read + self.written

    def as_spent(self, message_id: str | None = None) -> TokensSpent:
        """What one answer of the model took, or the rest of a turn."""
        return TokensSpent(input=min(self.input, MOST), output=min(self.output, MOST), cache_read=min(self.read, MOST),
                           cache_write=min(self.written, MOST), message_id=message_id)

    def plus(self, more: Count) -> Count:
        """Both together."""
        return Count(self.input + more.input, self.output + more.output, self.read + more.read, self.written + more.written,
                     self.thought + more.thought)

    def beyond(self, known: Count) -> Count:
        """What of these is not known yet."""
        return Count(max(0, self.input - known.input), max(0, self.output - known.output), max(0, self.read - known.read),
                     max(0, self.written - known.written), max(0, self.thought - known.thought))


class TokenAccount:
    """The account of one CLI process."""

    def __init__(self) -> None:
        self._counted = Count()
        """What was emitted of the turn that runs."""
        self._models: Json = {}
        """The CLI's last count by model."""
        self._windows: dict[str, int] = {}
        self._model = ""
        self._used: int | None = None
        self._window_sent: tuple[int, int, float | None] | None = None
        self._cost: float | None = None

    def message(self, message_id: str, model: str, usage: Any) -> list[Signal]:
        """An answer of the main conversation is complete."""
        count = count_of(usage)
        if not count.any:
            return []
        self._counted = self._counted.plus(count)
        self._used, self._model = count.room, model or self._model
        return [AgentNote(count.as_spent(message_id)), *self._window()]

    def compacted(self, left: int | None) -> list[Signal]:
        """The conversation was summed up; so much of the context is taken now."""
        self._used = left if left is not None else 0
        return self._window()

    def cleared(self) -> None:
        """The conversation begins anew."""
        self._models, self._used = {}, 0

    def turn(self, result: ResultFrame) -> tuple[bytes | None, list[Signal]]:
        """A turn is over: what it took (the ``usage`` of its end), and what is new about models, money and context."""
        took = self._took(result)
        signals: list[Signal] = []
        models = result.model_usage if isinstance(result.model_usage, dict) else {}
        if models and models != self._models:
            signals.append(CustomNote("model_usage", _encode(models)))
        self._models = models or self._models
        self._windows |= {name: size for name, usage in models.items() if (size := _count(usage, "contextWindow"))}
        if result.total_cost_usd is not None:
            self._cost = result.total_cost_usd
        self._counted = Count()
        return _as_usage(took) if took.any else None, signals + self._window(at_end=True)

    def rest(self, result: ResultFrame) -> Count:
        """What a turn took beyond what was emitted while it ran. Asked before ``turn``."""
        return self._took(result).beyond(self._counted)

    def _took(self, result: ResultFrame) -> Count:
        since = result.model_usage_since_last_result
        if isinstance(since, dict):
            return _sum_of(since)
        main = count_of(result.usage)
        if not isinstance(result.model_usage, dict) or not self._models:
            return main
        # What grew since the last turn has the sub-agents in it; the turn's own usage has not.
        grown = _sum_of(result.model_usage).beyond(_sum_of(self._models))
        return grown if grown.room >= main.room else main

    def _window(self, *, at_end: bool = False) -> list[Signal]:
        size = self._windows.get(self._model) or next(iter(self._windows.values()), None) if self._windows else None
        if size is None or self._used is None:
            return self._cost_alone() if at_end else []
        state = (self._used, size, self._cost)
        if state == self._window_sent:
            return []
        self._window_sent = state
        update: Json = {"sessionUpdate": "usage_update", "used": self._used, "size": size}
        if self._cost is not None:
            update["cost"] = {"amount": self._cost, "currency": "USD"}
        return [Update(_encode(update))]

    def _cost_alone(self) -> list[Signal]:
        """The money, where no size of the context is known."""
        return [AgentNote(CostSpent(self._cost, is_total=True))] if self._cost else []


def count_of(usage: Any) -> Count:
    """A usage of the Messages API."""
    if not isinstance(usage, dict):
        return Count()
    return Count(_count(usage, "input_tokens"), _count(usage, "output_tokens"), _count(usage, "cache_read_input_tokens"),
                 _count(usage, "cache_creation_input_tokens"), _count(usage.get("output_tokens_details"), "thinking_tokens"))


def _sum_of(models: Json) -> Count:
    whole = Count()
    for usage in models.values():
        whole = whole.plus(Count(
            _count(usage, "inputTokens"), _count(usage, "outputTokens"), _count(usage, "cacheReadInputTokens"),
            _count(usage, "cacheCreationInputTokens"), _count(usage, "thinkingTokens")))
    return whole


def _as_usage(count: Count) -> bytes:
    usage: Json = {"inputTokens": count.input, "outputTokens": count.output, "cachedReadTokens": count.read,
                   "cachedWriteTokens": count.written}
    return _encode({**usage, "thoughtTokens": count.thought} if count.thought else usage)


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 < value < MOST else 0
