"""What waits for a person: how much of it may wait, until when, and how many bytes it holds, kept as a sum: an agent may ask ten
thousand times at once.

Rule 1: what waits is bounded (``room_for``). What is beyond is refused by whoever is asked for it, and written down.
Rule 2: each is weighed once, when it is next asked for: whoever is answered at once is never weighed.
"""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.dialects.acp.reading.decode import decode_tool_call_update
from trunkline.dialects.acp.updates import ToolCallUpdate
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.errors import Invalid
from trunkline.session.interpret.asks.subjects import ASKED_CALLS, says_nothing
from trunkline.session.interpret.calls.evidence import with_strays
from trunkline.session.interpret.calls.followed import ID_CHARS, FollowedCalls
from trunkline.session.interpret.lifecycle import standing
from trunkline.session.interpret.writer import TEXT_LIMIT, Writer

PENDING_PERMISSIONS: Final = 200
"""Permissions of one session that wait at once: more than a person could look through before their time is up."""

PENDING_QUESTIONS: Final = 50
"""Questions of one session that wait at once."""

PENDING_BYTES: Final = 4 << 20
"""What all that waits in a session may say together: it is in the session's row, and in every list of what is pending."""

ASK_BYTES: Final = 8 << 20
"""What one permission may say of its call: rules and people look at all of it."""

ASK_OPTIONS: Final = 100
"""Answers that one permission may offer."""

OPTION_ID_CHARS: Final = 256
"""Characters of such an answer's id, which the agent gets back."""

HELD_BYTES: Final = 32 << 20
"""What all permissions that wait may say of their calls: changes are kept until they are decided, to be held against writes."""

ASKED_BYTES: Final = 1 << 20
"""What the inputs of all calls say together that one ask may be about (``subjects.ASKED_CALLS``): it is kept with the ask."""

_TOO_MUCH: Final = f"what waits for a person in this session would say more than {PENDING_BYTES >> 20} MiB"

_encode = msgspec.json.Encoder().encode


class WaitingAsks:
    """What waits for a person in one session; whoever puts something before people or takes it back says so here."""

    def __init__(self, writer: Writer, calls: FollowedCalls, timeout_us: int) -> None:
        self._writer = writer
        self._calls = calls
        self._timeout_us = timeout_us
        self._held: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._to_weigh: list[str] | None = None
        """What is not weighed yet; None before anything is, when all that waits is what the session began with."""
        self.held = 0
        """Bytes that the permissions hold of their calls."""

    def add(self, key: str, held: int = 0) -> None:
        """This waits from now on."""
        self.remove(key)
        self._held[key] = held
        self.held += held
        if self._to_weigh is not None:
            self._to_weigh.append(key)

    def remove(self, key: str) -> None:
        """This no longer waits."""
        self.held -= self._held.pop(key, 0)
        self._total -= self._sizes.pop(key, 0)

    def total(self) -> int:
        """The bytes of all that waits."""
        fold = self._writer.fold
        for key in (*fold.approvals, *fold.questions) if self._to_weigh is None else self._to_weigh:
            view = fold.approvals.get(key) or fold.questions.get(key)
            if view is not None and key not in self._sizes:
                self._sizes[key] = len(_encode(view))
                self._total += self._sizes[key]
        self._to_weigh = []
        return self._total

    def room_for(self, ask: PermissionAsk | QuestionAsk) -> str | None:
        """Why one more ask cannot wait for a person; None where it can."""
        fold = self._writer.fold
        if isinstance(ask, QuestionAsk):
            if len(fold.questions) >= PENDING_QUESTIONS:
                return f"{PENDING_QUESTIONS} questions of this session wait for a person already"
            if len(ask.tool_call_id or "") > ID_CHARS:
                return f"the id of a call has at most {ID_CHARS} characters"
            size = len(ask.message) + len(ask.schema or b"") + len(ask.url or "")
        else:
            if len(fold.approvals) >= PENDING_PERMISSIONS:
                return f"{PENDING_PERMISSIONS} permissions of this session wait for a person already"
            if len(ask.tool_call) > ASK_BYTES:
                return f"a permission says at most {ASK_BYTES >> 20} MiB of its call, and this one {len(ask.tool_call) >> 20}"
            if len(ask.options) > ASK_OPTIONS:
                return f"a permission offers at most {ASK_OPTIONS} options, and this one has {len(ask.options)}"
            if any(len(option.option_id) > OPTION_ID_CHARS for option in ask.options):
                return f"the id of an option has at most {OPTION_ID_CHARS} characters"
            size = min(len(ask.tool_call), TEXT_LIMIT)
            if self.held + len(ask.tool_call) > HELD_BYTES:
                return _TOO_MUCH
            if (why := self._room_for_calls(ask)) is not None:
                return why
        return None if size + self.total() <= PENDING_BYTES else _TOO_MUCH

    def _room_for_calls(self, ask: PermissionAsk) -> str | None:
        """Why an ask that says nothing itself cannot be about all that waits to run; None where it can, or says something."""
        waiting = self._calls.waiting(in_background=ask.beyond_turn)
        size = sum(len(call.state.raw_input or b"") for call in waiting)
        if len(waiting) <= ASKED_CALLS and size <= ASKED_BYTES:
            return None
        own = self._calls.call_with_ask(asked_for(ask))
        if not says_nothing(own.state, self._calls.reading(own)):
            return None
        return f"a permission that names no call would be about {len(waiting)} calls of {size} bytes, more than can be shown"

    def expiry(self) -> str:
        """Until when somebody who is asked now may answer."""
        own = self._writer.fold.waits.approval_s
        return iso_ms(self._writer.at + (int(own * 1e6) if own is not None else self._timeout_us))

    def back_to_work(self) -> None:
        """The status that what is open now calls for."""
        fold = self._writer.fold
        self._writer.status("paused" if fold.paused is not None else standing(fold))


def asked_for(ask: PermissionAsk) -> ToolCallUpdate:
    """The call that is asked for; an ask that names none, or by an id that nobody could keep, stands for itself."""
    try:
        asked = decode_tool_call_update(ask.tool_call)
    except Invalid:
        return ToolCallUpdate(tool_call_id=ask.request_id)
    asked = with_strays(asked, ask.tool_call)
    return asked if len(asked.tool_call_id) <= ID_CHARS else msgspec.structs.replace(asked, tool_call_id=ask.request_id)
