"""What is known of a session: one serialisable struct, changed only by ``interpret``.

    state.py       the struct and its checkpoint          open_parts.py  messages and calls that are open
    asks.py        what waits for a person                kept.py        what is kept of turns, commands, files
    view.py        all of it, as clients see it           tables.py      what may have changed in a table
    steps.py       what each write changed

Rule 1: no I/O and no clock; time, ids and randomness arrive with the input.
Rule 2: everything that must outlive a crash is in ``Fold`` and in its checkpoint. What is left out of the checkpoint is
either in the journal (the text of the open message) or worthless after a restart (bodies of running calls).
Rule 3: a checkpoint is small. Its size depends on what is open and on what the session is, never on how much was said.
Rule 4: what a write changed is stored with it as a step, whose size is that of the change; the checkpoint may be older.
"""

from __future__ import annotations

from trunkline.session.fold.asks import DISK_PLACES, KEPT_DECISIONS, ApprovalView, AskedCall, Decided, Disk, QuestionView
from trunkline.session.fold.kept import (
    KEPT_ARTIFACTS,
    KEPT_COMMANDS,
    KEPT_CURRENCIES,
    KEPT_FILES,
    KEPT_KEYS,
    KEPT_RULES,
    KEPT_TOLD,
    Account,
    Ahead,
    Artifact,
    Awaited,
    Changes,
    CommandAnswer,
    Cost,
    Failure,
    FileTally,
    Pause,
    QueuedPrompt,
    Sandboxed,
    Sent,
    Todo,
    TokenReports,
    Turn,
    Usage,
    Waits,
    remember,
)
from trunkline.session.fold.open_parts import Denial, Evidence, OpenCall, OpenText, OpenUserMessage, OutputSent, SeenFile
from trunkline.session.fold.state import IS_OPEN, LIGHT_BODY, NULL, Fold, checkpoint, restore
from trunkline.session.fold.steps import Steps
from trunkline.session.fold.view import SessionView, TurnView, for_clients, view_of

__all__ = ["DISK_PLACES", "IS_OPEN", "KEPT_ARTIFACTS", "KEPT_COMMANDS", "KEPT_CURRENCIES", "KEPT_DECISIONS", "KEPT_FILES",
           "KEPT_KEYS", "KEPT_RULES", "KEPT_TOLD", "LIGHT_BODY", "NULL", "Account", "Ahead", "ApprovalView", "Artifact",
           "AskedCall", "Awaited", "Changes", "CommandAnswer", "Cost", "Decided", "Denial", "Disk", "Evidence", "Failure",
           "FileTally", "Fold", "OpenCall", "OpenText", "OpenUserMessage", "OutputSent", "Pause", "QuestionView",
           "QueuedPrompt", "Sandboxed", "SeenFile", "Sent", "SessionView", "Steps", "Todo", "TokenReports", "Turn", "TurnView",
           "Usage", "Waits", "checkpoint", "for_clients", "remember", "restore", "view_of"]
