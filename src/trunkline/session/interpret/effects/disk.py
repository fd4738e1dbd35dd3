"""What the disk says of a change that only the call's input names: some agents call a write completed that never came about.

Rule 1: pure. Who looks is the session (``looking.see``), off the loop and for a bounded time; what was seen comes in as evidence,
and is written down with the change (``_meta.seen``, ``_meta.found``), so that nobody has to look again.
Rule 2: a change that is plainly not there is not reported. What cannot be known is reported as the agent has it.
Rule 3: a file that will be overwritten is looked at when the call is announced, and nobody waits for that but the call's result.
So it may show what the call itself already wrote: that proves nothing, and nothing is taken back for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from trunkline.dialects.calls.files import ends_of_move, patch_in, replaced_in, whole_text_in
from trunkline.session.fold import OpenCall, SeenFile
from trunkline.session.interpret.calls.evidence import evidence_of
from trunkline.session.interpret.calls.facts import Facts
from trunkline.session.interpret.calls.followed import FollowedCalls
from trunkline.session.interpret.calls.outcome import failure_of, says_success
from trunkline.session.interpret.effects.patches import files_of_patch

SEEN_FILES: Final = 20
"""Files of one call that are looked at; a call that changes more is reported as the agent has it."""


class Wanted(NamedTuple):
    """A result that is emitted once it is known what of it is on the disk."""

    paths: list[str]
    call: OpenCall
    changed: frozenset[str]
    wire: bytes | None
    raw: bytes | None


class DiskLooks:
    """The looks at the disk that calls need: after a result that leaves open what it changed, and before files are overwritten.
    ``roles`` are those of calls that change files."""

    def __init__(self, calls: FollowedCalls, roles: Collection[str]) -> None:
        self._calls = calls
        self._roles = roles
        self.looks = False
        self.wanted: Wanted | None = None
        """Whether somebody looks at the disk for a result that leaves open what it changed; the result that waits for that."""
        self.is_news = True
        """Whether what is reported happens now, so that the disk before it can be looked at."""
        self._foreseen: dict[str, list[str]] = {}
        self._looked_for: set[str] = set()
        """Calls whose files are to be looked at before they are overwritten, and those for which somebody does that."""

    def must_wait(self, call: OpenCall, changed: frozenset[str], wire: bytes | None, raw: bytes | None) -> bool:
        """Whether a result is emitted later: what it changed is looked for, or the look at what was there before goes on."""
        key = call.state.tool_call_id
        self._foreseen.pop(key, None)  # it is too late for that
        paths = open_paths(self._calls.facts(call), self._roles)
        if paths or key in self._looked_for:
            self.wanted = Wanted(paths, call, changed, wire, raw)
        return self.wanted is not None

    def take_wanted(self, files: Mapping[str, SeenFile]) -> Wanted | None:
        """The result that waited for a look, which is over: ``files`` are as they were seen; none: nothing is known."""
        wanted, self.wanted, self.looks = self.wanted, None, False
        if wanted is not None:
            evidence_of(wanted.call).seen = dict(files)
        return wanted

    def foresee(self, call: OpenCall) -> None:
        """Remember what a call will overwrite, for whoever looks at the disk."""
        if not self.is_news:
            return
        key, reading = call.state.tool_call_id, self._calls.reading(call)
        changes_files = reading.role in self._roles or (call.evidence is not None and call.evidence.diffs)
        if changes_files and key not in self._looked_for and (paths := paths_before(self._calls.facts(call), self._roles)):
            self._foreseen[key] = paths

    def take_foreseen(self) -> dict[str, list[str]]:
        """The files to look at before they are overwritten, by call; who takes them reports what was ``found``."""
        foreseen, self._foreseen = self._foreseen, {}
        self._looked_for.update(foreseen)
        return foreseen

    def found(self, tool_call_id: str, files: Mapping[str, SeenFile]) -> None:
        """What was on the disk when a call was announced; it is written down with what the call changed."""
        self._looked_for.discard(tool_call_id)
        call = self._calls.get(tool_call_id)
        if call is not None and not call.finished and files:
            evidence_of(call).found.update(files)
            self._calls.weigh(call)


def open_paths(facts: Facts, roles: Collection[str]) -> list[str]:
    """The files of a completed call whose change nobody showed or confirmed, or that were only shown as new ones; none where they
    are too many."""
    if facts.state.status != "completed" or facts.call.denied or facts.evidence.seen or failure_of(facts) is not None:
        return []
    if _is_shown(facts):
        return _shown_anew(facts)
    if facts.role not in roles:
        return []
    ends = ends_of_move(facts.input) if facts.role == "move" else None
    patched = [file.path for file in files_of_patch(patch_in(facts.input))]
    paths = list(dict.fromkeys(facts.absolute(path) for path in [*facts.paths, *(ends or ()), *patched]))
    return paths if len(paths) <= SEEN_FILES else []


def _shown_anew(facts: Facts) -> list[str]:
    """The files that a call showed as new ones and then did not say a word about: whether they are there, only the disk says."""
    if _is_confirmed(facts):
        return []
    paths = list(dict.fromkeys(facts.absolute(diff.path) for diff in facts.evidence.diffs if not diff.old_text))
    return paths if len(paths) <= SEEN_FILES else []


def paths_before(facts: Facts, roles: Collection[str]) -> list[str]:
    """The files that an announced call will overwrite and whose text before nobody has; none where they are too many."""
    if facts.role not in roles and not facts.evidence.diffs:
        return []
    bare = [diff.path for diff in facts.evidence.diffs if not diff.old_text]
    whole = facts.paths[:1] if not facts.evidence.diffs and whole_text_in(facts.input) is not None else []
    known = facts.evidence.before.keys() | facts.evidence.found.keys()
    paths = [path for path in dict.fromkeys(map(facts.absolute, [*bare, *whole])) if path not in known]
    return paths if len(paths) <= SEEN_FILES else []


def found_before(facts: Facts, path: str, new: str | None) -> SeenFile | None:
    """A file as it was found when the call was announced; None where it was not there, or had the new text already."""
    found = facts.evidence.found.get(path)
    if found is None or not found.exists:
        return None
    is_done = found.text is not None and new is not None and found.text.rstrip("\n") == new.rstrip("\n")
    return None if is_done else found


def found_meta(path: str, facts: Facts) -> dict[str, Any]:
    """What ``_meta`` says of a file that was looked at beforehand."""
    found = facts.evidence.found.get(path)
    return {} if found is None else {"found": {"exists": found.exists, **({"size": found.size} if found.exists else {})}}


def _is_shown(facts: Facts) -> bool:
    """Whether the agent itself shows or confirms what it changed: by diffs, a record of it, or a flag."""
    return bool(facts.evidence.diffs) or _is_confirmed(facts)


def _is_confirmed(facts: Facts) -> bool:
    """Whether the agent says afterwards what it did: by a record of it, or a flag."""
    recorded = facts.look("files", kind=list) or facts.look("changes", kind=dict)
    return bool(facts.evidence.response or recorded) or says_success(facts)


def standing_of(path: str, kind: str, facts: Facts) -> dict[str, Any] | None:
    """What ``_meta`` says of a change that was looked at: {} where it was not, None where it is not there."""
    seen = facts.evidence.seen.get(path)
    if seen is None:
        return {}
    if (kind == "deleted") == seen.exists:
        return None
    if not seen.exists or seen.text is None or facts.evidence.diffs:
        return {"seen": {"exists": seen.exists}}
    as_reported = _has_reported_text(facts, path, seen)
    return None if as_reported is None else {"seen": {"exists": True, "size": seen.size, "asSaid": as_reported}}


def _has_reported_text(facts: Facts, path: str, seen: SeenFile) -> bool | None:
    """Whether a file has the text that the call gave; None where it has the one before."""
    text, whole = seen.text or "", whole_text_in(facts.input)
    pieces = list(replaced_in(facts.input))
    if whole is not None and not any(old for old, _ in pieces):
        return None if text != whole and text == facts.evidence.before.get(path) else text.rstrip("\n") == whole.rstrip("\n")
    if any(old and new and old in text and new not in text for old, new in pieces):
        return None
    return all(new in text for _, new in pieces if new is not None)
