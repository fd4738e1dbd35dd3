"""What a session keeps of its turns, its commands and its work, small and by the piece."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trunkline.dialects.context.types import ChangeType, TokenUsage

KEPT_COMMANDS = 256
"""Commands whose answers are remembered by id; the same reasoning as for keys."""

KEPT_CURRENCIES = 8
"""Currencies in which a session's cost is summed, beside the one that is reported now."""

KEPT_FILES = 2000
"""Changed files counted per session; a summary of more would be no summary."""

KEPT_ARTIFACTS = 2000
"""Artifacts of a session that are known again; of older ones the files and their entries stay."""

KEPT_RULES = 500
"""Rules of one session, and options that were set in it."""

KEPT_TOLD = 64
"""Texts told by a live line that the session's file has not said yet, and prompts that it was sent: a file is behind by a few."""

KEPT_KEYS = 256
"""Idempotency keys remembered per session, beside those of prompts that wait or run; a client retries within seconds, not after
256 prompts."""


class QueuedPrompt(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A prompt that waits for its turn. ``content`` are ACP content blocks."""

    turn_id: str
    content: list[msgspec.Raw]
    queued_at: str
    by: str


class Turn(msgspec.Struct, rename="camel", kw_only=True):
    """The prompt being worked on."""

    turn_id: str
    started_at: str
    by: str
    seq: int
    """The entry before the turn's first: a reader that attaches after it sees the whole turn."""
    cancelled: bool = False
    showed_work: bool = msgspec.field(default=False, name="saidSomething")
    """The agent wrote something or called a tool; stored under the name that it had first."""
    tokens: TokenUsage | None = None
    """What the agent reported while the turn ran; its end may report all of it again."""


class Sent(msgspec.Struct, rename="camel"):
    """What an idempotency key was answered with."""

    turn_id: str
    seq: int
    queued: bool


class Usage(msgspec.Struct, rename="camel", omit_defaults=True):
    """Context tokens in use and the window's size, as the agent reports them."""

    used: int = 0
    size: int = 0


class TokenReports(msgspec.Struct, rename="camel", omit_defaults=True):
    """What the agent reported at the ends of turns, summed in both ways that it can be meant (``interpret/token_reports.py``)."""

    last: TokenUsage | None = None
    as_turns: TokenUsage | None = None
    as_session: TokenUsage | None = None
    of_session: bool = False
    """The counts are of the whole session, as far as is known by now."""
    found_out: bool = False
    """Which of the two they are is proven."""
    rose: int = 0
    """How often they rose by the earlier total."""
    grew: int = 0
    """What the last of them was more than the one before; the first as a whole."""
    began_anew: bool = False
    """The agent was started again since the last of them."""
    spent: TokenUsage | None = None
    """How much of the session's tokens comes from them."""


class Cost(msgspec.Struct, rename="camel", omit_defaults=True):
    """Money spent in all; ``input`` and ``output`` are what is known of its parts."""

    amount: float
    currency: str
    input: float = 0
    output: float = 0


class Account(msgspec.Struct):
    """What was spent in a currency that the agent no longer reports, and the agent's own last total in it."""

    cost: Cost
    reported: float = 0


class FileTally(msgspec.Struct, rename="camel"):
    """What became of one file so far, for the summary of the session."""

    change_type: ChangeType
    lines_added: int = 0
    lines_removed: int = 0


class Changes(msgspec.Struct, rename="camel"):
    """What the session has changed so far, all its files together."""

    files: int = 0
    lines_added: int = 0
    lines_removed: int = 0


class Todo(msgspec.Struct, rename="camel"):
    """One line of the agent's plan."""

    content: str
    status: str
    priority: str = "medium"


class Awaited(msgspec.Struct, rename="camel", frozen=True):
    """A prompt that went out by a live line, and comes back by the session's file."""

    turn_id: str
    by: str
    digest: str
    """Of its words, by which it is known again."""


class Ahead(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """What a live line is ahead of the file of a session that is followed."""

    telling: bool = False
    """Whether the open text is told by the line."""
    told: tuple[str, ...] = ()
    """Digests of texts that were told to their end, and that the file has not said yet."""
    prompts: tuple[Awaited, ...] = ()


class Artifact(msgspec.Struct, rename="camel", kw_only=True):
    """A file or app folder that the agent made. ``path`` is absolute; ``version`` rises when it changes."""

    id: str
    type: str
    name: str
    path: str
    relative_path: str
    version: int = 1
    created_at: str
    updated_at: str
    fingerprint: str = ""


class CommandAnswer(msgspec.Struct):
    """What a command was answered with: ``{"ok": true, "result"}`` or ``{"ok": false, "error"}``."""

    digest: str
    """Of the command: the same id with another command is a mistake."""
    outcome: msgspec.Raw


class Pause(msgspec.Struct, rename="camel"):
    """Somebody holds the session. ``held`` says what waits: the next permission, the queue, the turn."""

    since: str
    by: str
    reason: str | None
    held: list[str]


class Failure(msgspec.Struct, rename="camel"):
    """How the last turn broke off."""

    code: str
    message: str
    at: str


class Waits(msgspec.Struct, rename="camel", omit_defaults=True):
    """How long this session's approvals wait, and what the agent is told when nobody answered."""

    approval_s: float | None = None
    """None: as long as the hub's setting says."""
    on_timeout: Literal["reject", "cancel"] = "reject"


class Sandboxed(msgspec.Struct, rename="camel", frozen=True):
    """The sandbox that a session's agent and commands run in."""

    kind: Literal["bwrap"] = "bwrap"
    network: bool = True
    """Whether programs in it reach the network."""


def remember(table: dict[str, Any], key: str, value: Any, limit: int) -> None:
    """Put a value into an insertion-ordered table and forget the oldest beyond ``limit``."""
    table[key] = value
    while len(table) > limit:
        del table[next(iter(table))]


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """A session came here from another hub of its cluster."""

    epoch: int
    """The how manieth owner this hub is."""
    after: int
    """The last entry that came."""
    came_from: str
    to: str
    hole: int = 0
    """So many numbers are left out, where the hub before may have written entries that nobody else has."""
    by: str = ""
