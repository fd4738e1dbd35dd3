"""What was allowed in a turn, exactly as it was when it was asked for: the agent may say otherwise later.

Rule 1: a grant is for what people were shown: a command, or texts at the places that their paths led to then. It counts once,
in its turn. A path whose place was not known is not allowed.
Rule 2: what the hub itself asks about is not kept here: its answer is for one act, which waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from trunkline.dialects.context.types import ToolCategory
from trunkline.session.fold import ApprovalView
from trunkline.session.interpret.asks.preview import TextEdit, after_edits, edits_shown
from trunkline.session.policy.decide import PolicyAsk
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import DiskLook

PREVIEW_BYTES = 64 << 10
"""A file up to this size is shown as a diff when its writing is asked about."""

NO_WRITES: frozenset[ToolCategory] = frozenset({"file_read", "search", "terminal"})
"""Categories whose approval is never one to write a file, whatever texts are in their inputs."""

KEPT_GRANTS = 512
"""Approved calls of a turn that may still allow something, the newest."""

KEPT_PENDING = 512
"""Asks that are remembered before those are looked for that their agent withdrew."""


class CallGrant:
    """What one approval allows."""

    def __init__(self, about: PolicyAsk, edits: Iterable[TextEdit], look: DiskLook, root: str) -> None:
        """``edits`` are the changes that the ask showed."""
        self.command = about.command
        self.cwd = root if about.cwd is None else look.real(about.cwd)
        self.texts: dict[str, list[TextEdit]] = {}
        if about.command is None and about.category not in NO_WRITES:
            for edit in edits:
                if (real := look.real(edit[0])) is not None:
                    self.texts.setdefault(real, []).append(edit)

    def take_write(self, real: str, content: str | msgspec.Raw, before: str | None) -> bool:
        """Whether this lets the file be written so; a path counts once."""
        edits = self.texts.get(real)
        if edits is None or not isinstance(content, str) or not _as_shown(edits, content, before):
            return False
        del self.texts[real]
        return True

    def take_run(self, folder_as: Callable[[str], str | None]) -> bool:
        """Whether this lets a command be run in its folder; it counts once. ``folder_as`` gives the folder in which the command
        runs if it is the one that it is given, and else None."""
        if self.command is None or self.cwd is None or folder_as(self.command) != self.cwd:
            return False
        self.command = None
        return True


class Grants:
    """What one session's agent may have done in the running turn."""

    def __init__(self, recorder: Recorder, workspace: Workspace) -> None:
        self._recorder = recorder
        self._workspace = workspace
        self._pending: dict[str, CallGrant] = {}
        self._granted: list[CallGrant] = []
        self._turn_id: str | None = None

    @property
    def pending(self) -> frozenset[str]:
        """The asks that are not decided yet."""
        return frozenset(self._pending)

    def on_ask(self, view: ApprovalView, look: DiskLook) -> None:
        """Something is asked for: keep it as it is now."""
        if view.about is not None:
            self._pending[view.request_id] = CallGrant(view.about, self._edits_shown(view), look, self._workspace.roots[0])
        if len(self._pending) > KEPT_PENDING:
            self._pending = {key: each for key, each in self._pending.items() if key in self._recorder.fold.approvals}

    def on_decision(self, request_id: str, *, allowed: bool) -> None:
        """It was decided."""
        grant = self._pending.pop(request_id, None)
        if grant is not None and allowed:
            granted = self.of_this_turn()
            granted.append(grant)
            del granted[:-KEPT_GRANTS]

    def of_this_turn(self) -> list[CallGrant]:
        """What was allowed since the turn began."""
        turn = self._recorder.fold.turn
        turn_id = turn.turn_id if turn is not None else None
        if turn_id != self._turn_id:
            self._turn_id, self._granted = turn_id, []
        return self._granted

    def _edits_shown(self, view: ApprovalView) -> Iterator[TextEdit]:
        """The changes that people see in an ask. One for several calls lists them, without what they write."""
        call = self._recorder.fold.calls.get(view.tool_call_id)
        if call is not None and view.request_id in self._recorder.fold.approvals:
            yield from edits_shown(self._recorder.at().tools.calls.facts(call), view.previews)


def _as_shown(edits: Sequence[TextEdit], content: str, before: str | None) -> bool:
    """Whether what is written is what a person was shown: the whole new text, or the file with the edits put in their places."""
    first = edits[0]
    if len(edits) == 1 and (not first.old or first.old == before):
        return content == first.new
    return content == after_edits(edits, before)
