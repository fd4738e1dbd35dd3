"""One tool call over time: what its announcement and its updates add up to.

Agents announce late, twice or never, send only what changed, and re-order. The rules of merging:

Rule 1: a status never goes back. ``pending`` does not undo ``in_progress``, and nothing but another end undoes an end.
Rule 2: arrays replace, but an empty ``content`` keeps the last one that had something to show.
Rule 3: of very many places the first are kept; whoever judges the call asks ``names_too_much``.
Rule 4: raw input and output are the agent's bytes, copied so that they do not hold the line they came in.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from trunkline.dialects.acp.tools import Diff, ToolCallContent, ToolCallLocation
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate

TITLE_CHARS = 4096
"""Characters of a call's title and name that are kept; the update has them whole."""

LOCATIONS = 1000
"""Places of a call that are kept; whoever has more is not known in all. Agents name a few."""

PATH_CHARS = 4096
"""Characters of such a place's path: no system takes a longer one."""

_RANK = {"pending": 0, "in_progress": 1, "completed": 2, "failed": 2}


class CallState(msgspec.Struct, kw_only=True):
    """The merged state of one tool call. ``raw_input`` and ``raw_output`` are encoded JSON."""

    tool_call_id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    status: str = "pending"
    content: list[ToolCallContent] | None = None
    locations: list[ToolCallLocation] | None = None
    raw_input: bytes | None = None
    raw_output: bytes | None = None
    first_title: str = ""
    """The title when the call was first seen: later ones are often a path or a summary."""
    tool: str | None = None
    """What events call the tool: decided when the call is first emitted, and the same from then on."""
    named_by: Literal["", "name", "catalog", "title", "kind", "input", "content", "meta"] = ""
    """By what it is called so (``calls.Source``)."""

    @property
    def finished(self) -> bool:
        """Whether the call has come to its end."""
        return _RANK[self.status] == 2


def merge_call(call: CallState, update: ToolCall | ToolCallUpdate) -> frozenset[str]:
    """Take an announcement or update into ``call``; returns the names of the fields that it changed."""
    news: dict[str, object] = {
        "title": (update.title or "")[:TITLE_CHARS] or None,
        "name": (update.name or "")[:TITLE_CHARS] or None,
        "kind": update.kind,
        "status": _next_status(call.status, update.status),
        "content": update.content or None,
        "locations": _places(update.locations),
        "raw_input": _json(update.raw_input),
        "raw_output": _json(update.raw_output),
    }
    if not call.first_title and update.title:
        call.first_title = update.title[:TITLE_CHARS]
    changed = [name for name, value in news.items() if value is not None and value != getattr(call, name)]
    for name in changed:
        setattr(call, name, news[name])
    return frozenset(changed)


def names_too_much(update: ToolCall | ToolCallUpdate) -> bool:
    """Whether an update names more places than are kept of it."""
    located = update.locations or ()
    shown = sum(isinstance(item, Diff) for item in update.content or ())
    return len(located) > LOCATIONS or shown > LOCATIONS or any(len(place.path) > PATH_CHARS for place in located)


def _places(located: list[ToolCallLocation] | None) -> list[ToolCallLocation] | None:
    if located is None or (len(located) <= LOCATIONS and all(len(place.path) <= PATH_CHARS for place in located)):
        return located
    return [place for place in located[:LOCATIONS] if len(place.path) <= PATH_CHARS]


def _next_status(now: str, new: str | None) -> str | None:
    return new if new is not None and _RANK[new] >= _RANK[now] else None


def _json(raw: Raw | UnsetType) -> bytes | None:
    """The bytes of a raw member; null says nothing."""
    if raw is UNSET:
        return None
    body = bytes(raw)
    return None if body == b"null" else body
