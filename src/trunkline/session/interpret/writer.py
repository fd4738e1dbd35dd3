"""The page that a session's entries are written on: it numbers them and knows the fold they change.

Rule 1: ``seq`` is counted here and nowhere else.
Rule 2: whatever changes the fold beyond growing text marks the page dirty, so that the checkpoint is stored with the entry.
Rule 3: no entry's event carries more than TEXT_LIMIT bytes of text; the whole is in the update or packet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import CustomEvent, Event, SessionStatusChangedEvent
from trunkline.dialects.context.types import SessionStatus, to_raw
from trunkline.journal.base import Entry
from trunkline.session.fold import Fold
from trunkline.session.interpret.capability_flags import SHOWING, flag_of

TEXT_LIMIT = 256 << 10
"""Bytes of text in one event; a phone must be able to take any event whole."""

SECOND_US = 1_000_000
THINKING_CHANGES = 4
"""Changes to and from ``thinking`` in any second, at most; quicker ones are of use to nobody."""

_WHY: dict[str, str] = {
    "running": "the agent goes on",
    "thinking": "the agent thinks",
    "waiting_for_approval": "a tool call needs a decision",
    "waiting_for_input": "the agent asked a question",
    "idle": "ready for a prompt",
}
"""The reason of a change of status where whoever made it has none of its own."""


class Carried(NamedTuple):
    """What an entry carries beside its event: the update, the packet, the agent's own bytes where the update is not them."""

    update: bytes | None = None
    packet: bytes | None = None
    raw: bytes | None = None


NOTHING_CARRIED = Carried()


class Writer:
    """Turns events into numbered entries."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.at = 0
        self.dirty = False
        self.still = False
        """Whether the status stands still: what happens is part of something that will move it once."""
        self.size = 0
        """Bytes of the entries that wait to be taken."""
        self._out: list[Entry] = []

    def take(self) -> list[Entry]:
        """The entries written since the last take, in order."""
        out, self._out, self.size = self._out, [], 0
        return out

    def add(self, event: Event, *, update: bytes | None = None, packet: bytes | None = None,
            raw: bytes | None = None, output: bytes | memoryview | None = None,
            seal: Callable[[bytes], bytes] | None = None) -> int:
        """Write one entry that changes the fold; returns its seq. ``output`` is the event's output as a JSON string; ``seal``
        gets the encoded event and gives what is written."""
        fold = self.fold
        fold.seq += 1
        fold.updated_at = self.at
        self.dirty = True
        if type(event) in SHOWING:
            self._show(event)
        body = encode_event(fold.seq, fold.session_id, self.at, event)
        if output is not None:
            before, after = body.split(b'"output":""', 1)
            body = b"".join((before, b'"output":', output, after))
        if seal is not None:
            body = seal(body)
        self.size += len(body) + len(update or b"") + len(packet or b"") + len(raw or b"")  # as ``Entry.size``, without a call
        self._out.append(Entry(fold.seq, self.at, body, update, packet, raw))
        return fold.seq

    def _show(self, event: Event) -> None:
        flag = flag_of(event)
        if flag is not None and flag not in self.fold.shown:
            self.fold.shown = [*self.fold.shown, flag]

    def add_encoded(self, event: bytes, update: bytes | None, packet: bytes | None = None, raw: bytes | None = None) -> None:
        """Write an entry that is encoded already (a text delta); the caller has counted ``seq`` up for it."""
        self.size += len(event) + len(update) if update is not None else len(event)
        self._out.append(Entry(self.fold.seq, self.at, event, update, packet, raw))

    def custom(self, name: str, data: Any, *, namespace: str = "trunkline", update: bytes | None = None,
               packet: bytes | None = None, raw: bytes | None = None, meta: dict[str, Any] | None = None,
               seal: Callable[[bytes], bytes] | None = None) -> int:
        """Write what the Agent Context Protocol has no event for."""
        body = data if isinstance(data, msgspec.Raw) else to_raw(data)
        event = CustomEvent(namespace=namespace, event_name=name, data=body, meta=meta or msgspec.UNSET)
        return self.add(event, update=update, packet=packet, raw=raw, seal=seal)

    def status(self, to: SessionStatus, *, reason: str | None = None, packet: bytes | None = None,
               meta: dict[str, Any] | None = None) -> None:
        """Move the status. Without a change there is no entry, unless it has a packet to carry."""
        before = self.fold.status
        if packet is None and (before == to or self.still):
            return
        if "thinking" in (before, to):
            self.fold.thinking_changes = [*self._recent_changes(), self.at]
        self.fold.status = to
        event = SessionStatusChangedEvent(
            from_=before, to=to, reason=reason or _WHY.get(to, msgspec.UNSET), meta=meta or msgspec.UNSET,  # type: ignore[arg-type]
        )
        self.add(event, packet=packet)

    def thinking(self, active: bool) -> bool:
        """Follow the agent between thinking and running; False: it thinks, and it is too soon to say so again.

        That it stopped is always emitted at once: there is room for it, since none begins to think without it."""
        to: SessionStatus = "thinking" if active else "running"
        if self.fold.status == to or self.fold.status not in ("running", "thinking"):
            return True
        if active and len(self._recent_changes()) > THINKING_CHANGES - 2:
            return False
        self.status(to)
        return True

    def _recent_changes(self) -> list[int]:
        return [changed for changed in self.fold.thinking_changes if self.at - changed < SECOND_US]

    def cut(self, text: str, seq_ahead: int = 1) -> tuple[str, dict[str, Any] | None]:
        """Text that fits an event, and the ``_meta`` that says where the rest is."""
        if len(text) * 4 <= TEXT_LIMIT:
            return text, None
        whole = text.encode("utf-8", errors="replace")
        if len(whole) <= TEXT_LIMIT:
            return text, None
        return whole[:TEXT_LIMIT].decode("utf-8", errors="ignore"), self.truncated(len(whole), seq_ahead)

    def truncated(self, size: int, seq_ahead: int = 1, *, has_packet: bool = True) -> dict[str, Any]:
        """What ``_meta`` says of something that was cut: how long it is, and where the packet is that has it whole."""
        if not has_packet:
            return {"truncated": {"bytes": size}}
        seq = self.fold.seq + seq_ahead
        url = f"/sessions/{self.fold.session_id}/messages?after={seq - 1}&before={seq + 1}"
        return {"truncated": {"bytes": size, "url": url}}
