"""What clients send to a session and get back: plain shapes, and what may be refused at a look.

Apart from what carries them out: a hub that starts knows what may be sent to a session before it loads one.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trunkline.errors import Invalid

Scope = Literal["once", "turn", "session", "always"]

TITLE_MOST = 500
"""Characters of a title; it is written with every change of a session and shown in every list."""


class Decision(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """An answer to an approval: one of the agent's options, or allow or deny; for how long; with which input."""

    option_id: str | None = None
    decision: Literal["allow", "deny"] | None = None
    scope: Scope = "once"
    reason: str | None = None
    updated_input: dict[str, Any] | None = None


class Answer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An answer to a question."""

    action: Literal["accept", "decline", "cancel"] = "accept"
    content: dict[str, Any] | None = None


class Accepted(msgspec.Struct, rename="camel"):
    """A prompt was taken. A reader that attaches after ``seq`` sees all of its turn."""

    turn_id: str
    seq: int
    queued: bool


def check_title(title: str) -> None:
    """Refuse a title that says nothing, or too much."""
    if not title.strip():
        raise Invalid("title must not be empty")
    if len(title) > TITLE_MOST:
        raise Invalid(f"title is longer than {TITLE_MOST} characters")
