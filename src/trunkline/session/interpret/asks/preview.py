"""What a person is shown before they decide: every act of a call, the worst first. Its command and where that runs, each change
in its place, the paths that it names beside these; else its words.

Rule 1: an edit of a file is shown where it stands in the file, with the lines around it. The texts of ``changed_files`` are an
input, gathered before by who may look at the disk; without them the edits are shown alone.
Rule 2: there is always something to show; what is too long is given in numbers, and that not all is shown (``NOT_ALL``).
Rule 3: what is shown is what is granted: a change counts only where all of its file is shown as a diff (``edits_shown``).
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.tools import Content, Diff
from trunkline.dialects.calls.files import Replaced, ends_of_move, files_in, is_result, patch_in, replaced_in, whole_text_in
from trunkline.dialects.calls.inputs import BEYOND_RULES
from trunkline.dialects.context.unions import ApprovalPreview, CommandPreview, DescriptionPreview, DiffPreview
from trunkline.dialects.visible import one_line
from trunkline.session.interpret.calls.facts import Facts, name_of
from trunkline.session.interpret.effects.diff import compare

TEXT_MOST = 64 << 10
"""Characters of a description, a command or all diffs of one ask."""

COMPARED_MOST = 4 * TEXT_MOST
"""Characters of all texts of one ask that are compared, on the loop."""

FILES_MOST: Final = 50
"""Files whose changes one ask shows: more nobody looks through."""

NOT_ALL: Final = "not all of it is shown"
NO_TEXT: Final = "what it writes is not shown"
_TALKS: Final = frozenset({"plan", "think", "ask_user", "todos"})
"""Roles whose words are all that there is to them."""
_EVERY: Final = ("replace_all", "replaceAll", "all_occurrences", "allOccurrences")


class TextEdit(NamedTuple):
    """A change of a file: the text that is there (None: nothing is) and the one that shall be; ``every``: wherever that is."""

    path: str
    old: str | None
    new: str
    every: bool = False


class CallPreview(NamedTuple):
    """What people see of a call."""

    acts: tuple[ApprovalPreview, ...]
    """All that it does, the worst first; never empty."""
    is_words: bool = False
    """They are nothing but the agent's own words."""
    doubts: tuple[str, ...] = ()
    """What is not shown, or contradicts itself."""


def shown_of(facts: Facts, command: str | None, cwd: str, texts: Mapping[str, str],
             real: Mapping[str, str] | None = None) -> CallPreview:
    """What the call would do, for people; ``texts`` are files as they are, by path, ``real`` says where paths lead elsewhere."""
    acts: list[ApprovalPreview] = [CommandPreview(command=_beginning(command), working_dir=cwd)] if command else []
    is_cut = bool(command) and not is_shown_whole(command or "")
    groups = _by_place(facts)
    for change in _changes(groups, texts):
        acts.append(change)
        is_cut = is_cut or not isinstance(change, DiffPreview)
    if (patch := _patch(facts)) and not groups:
        acts.append(DescriptionPreview(text=patch[:TEXT_MOST]))
        is_cut = is_cut or len(patch) > TEXT_MOST
    lines = list(_lines(facts, [*groups], real or {}, is_alone=not acts))
    if lines:
        text = "\n".join(lines)
        acts.append(DescriptionPreview(text=text[:TEXT_MOST]))
        is_cut = is_cut or len(text) > TEXT_MOST
    words = _words(facts)
    is_unseen = facts.role in ("write", "edit") and not groups and not patch and not command
    doubts = (*((NOT_ALL,) if is_cut or len(words) > TEXT_MOST else ()), *((NO_TEXT,) if is_unseen else ()),
              *_contradictions(facts, groups, real or {}))
    if not acts:
        text = words[:TEXT_MOST] or facts.state.title or name_of(facts.state)
        return CallPreview((DescriptionPreview(text=text),), is_words=bool(words), doubts=doubts)
    if words and all(isinstance(act, DescriptionPreview) for act in acts):
        acts.append(DescriptionPreview(text=words[:TEXT_MOST]))
    return CallPreview(tuple(acts), doubts=doubts)


def changed_files(facts: Facts) -> tuple[str, ...]:
    """The files whose texts are read to show changes in their places."""
    return tuple(_by_place(facts))[:FILES_MOST]


def is_shown_whole(command: str) -> bool:
    """Whether a command is short enough that all of it is shown."""
    return len(command) <= TEXT_MOST


def edits_shown(facts: Facts, acts: Collection[ApprovalPreview]) -> Iterator[TextEdit]:
    """The changes of a call that people see in ``acts``."""
    shown = {act.path for act in acts if isinstance(act, DiffPreview)}
    for edits in _by_place(facts).values():
        if edits[0].path in shown:
            yield from edits


def after_edits(edits: Sequence[TextEdit], text: str | None) -> str | None:
    """A text with the edits put in their places; None where they do not fit."""
    for edit in edits:
        if text is None or not edit.old or edit.old not in text:
            return None
        text = text.replace(edit.old, edit.new, -1 if edit.every else 1)
    return text


def _beginning(command: str) -> str:
    """As much of a command as is shown; whoever decides has to see that there is more."""
    return command if is_shown_whole(command) else f"{command[:TEXT_MOST]}\n… and {len(command) - TEXT_MOST} more characters"


def _by_place(facts: Facts) -> dict[str, list[TextEdit]]:
    """The changes of a call by the file that they are of, however it is spelled."""
    groups: dict[str, list[TextEdit]] = {}
    for edit in _edits(facts):
        groups.setdefault(_place(facts, edit.path), []).append(edit)
    return groups


def _place(facts: Facts, path: str) -> str:
    return posixpath.normpath(posixpath.join(facts.cwd, path))


def _edits(facts: Facts) -> Iterator[TextEdit]:
    """The changes of files that a call shows, else those that its input names, whatever the tool is."""
    every = any(facts.input.get(key) is True for key in _EVERY)
    shown = [item for item in facts.state.content or [] if isinstance(item, Diff)]
    yield from (TextEdit(item.path, item.old_text, item.new_text, every) for item in shown)
    if shown or not facts.paths:
        return
    for old, new in replaced_in(facts.input):
        if new is not None:
            yield TextEdit(facts.paths[0], old, new, every)


def _changes(groups: Mapping[str, list[TextEdit]], texts: Mapping[str, str]) -> Iterator[ApprovalPreview]:
    """Each file that is changed: as diffs of all of its edits or, where there is no room for them, in numbers."""
    room, to_compare = TEXT_MOST, COMPARED_MOST
    for number, (place, edits) in enumerate(groups.items()):
        if number == FILES_MOST:
            yield DescriptionPreview(text=f"… and changes of {len(groups) - FILES_MOST} more files")
            return
        pairs = _in_place(edits, texts.get(place))
        to_compare -= sum(len(before or "") + len(after) for before, after in pairs)
        changes = _diffs(edits[0].path, pairs, room) if to_compare >= 0 else [_measured(edits)]
        room -= sum(len(change.diff) for change in changes if isinstance(change, DiffPreview))
        yield from changes


def _measured(edits: Sequence[TextEdit]) -> DescriptionPreview:
    return DescriptionPreview(text=f"{edits[0].path}: a text of {sum(len(edit.new) for edit in edits)} characters")


def _diffs(path: str, pairs: Sequence[tuple[str | None, str]], room: int) -> list[ApprovalPreview]:
    """All changes of a file as diffs, or none of them: what is not shown whole is given in numbers."""
    compared = [compare(before, after, path.lstrip("/")) for before, after in pairs]
    texts = [each.text for each in compared if each.text is not None]
    if len(texts) == len(compared) and sum(map(len, texts)) <= room:
        return [DiffPreview(path=path, diff=text) for text in texts]
    added, removed = sum(each.added for each in compared), sum(each.removed for each in compared)
    return [DescriptionPreview(text=f"{path}: {added} lines added, {removed} removed")]


def _in_place(edits: Sequence[TextEdit], text: str | None) -> list[tuple[str | None, str]]:
    """The file before and after; each edit alone where their places are not known."""
    if len(edits) == 1 and not edits[0].old:
        return [(text, edits[0].new)]
    after = after_edits(edits, text)
    return [(text, after)] if after is not None else [(edit.old, edit.new) for edit in edits]


def _patch(facts: Facts) -> str:
    """A patch as it was given; nothing says what it makes of the files but itself."""
    if patch := patch_in(facts.input):
        return patch
    return facts.look_in(facts.input, ("input", "content")) if facts.role == "patch" else ""


def _lines(facts: Facts, shown: Sequence[str], real: Mapping[str, str], *, is_alone: bool) -> Iterator[str]:
    """What is moved and deleted, and the paths that no change and no description shows."""
    reading = facts.reading
    if reading.role in _TALKS:
        return
    ends = ends_of_move(facts.input) if "move" in reading.acts else None
    if ends is not None:
        yield f"Moves {one_line(ends[0])} to {one_line(ends[1])}"
    located = [place.path for place in facts.state.locations or []] if reading.command is not None else []
    covered = {*shown, *(_place(facts, end) for end in (*(ends or ()), *located))}  # what a command touches is in its words
    yield from (f"Deletes {one_line(path)}" for path in reading.deleted)
    yield from (f"Moves {one_line(both[0])} to {one_line(both[1])}" for both in reading.moved if both != ends)
    gone = {_place(facts, path) for path in (*reading.deleted, *(end for both in reading.moved for end in both))}
    covered |= gone
    changes = bool(reading.acts & {"delete", "move"}) and not gone
    named = [*reading.paths, *(reading.globs if changes else ())]
    left = list(dict.fromkeys(path for path in named if path != BEYOND_RULES and not (
        {_place(facts, path), real.get(path, "")} & covered)))
    if is_alone and not changes and len(left) == 1 and reading.description.endswith(f": {left[0]}"):
        return  # its description is its heading everywhere
    if not left and BEYOND_RULES not in reading.paths:
        return
    if left:
        yield "Deletes:" if changes and "delete" in reading.acts else "Moves:" if changes and ends is None else "Names:"
    yield from (f"  {one_line(path)}" for path in left)
    if BEYOND_RULES in reading.paths:
        yield "  … and more than is known"


def _contradictions(facts: Facts, groups: Mapping[str, list[TextEdit]], real: Mapping[str, str]) -> Iterator[str]:
    """Where the input would write something else than the changes that the call shows."""
    brought = [one for one in replaced_in(facts.input) if one.new is not None]
    if not any(isinstance(item, Diff) for item in facts.state.content or []) or not brought:
        return
    for path in files_in(facts.input):
        if not {_place(facts, path), real.get(path, "")} & groups.keys():
            yield f"its input writes a file whose change it does not show: {one_line(path)[:200]}"
    is_whole = whole_text_in(facts.input) is not None
    if not _show_result(brought, [edit for edits in groups.values() for edit in edits], is_whole):
        yield "its input writes a text that its changes do not show"


def _show_result(brought: Sequence[Replaced], shown: Sequence[TextEdit], is_whole: bool) -> bool:
    """Whether the changes are what the input makes of the files: all of it in one, or each piece in one of its own. Where either
    does not tell what was there, a piece is to be in the new text; ``is_whole``: it is all of that."""
    def has(edit: TextEdit, piece: Replaced) -> bool:
        is_open = not is_whole and not (piece.old and edit.old)
        return is_result([piece], edit.old, edit.new) or (is_open and (piece.new or "").strip() in edit.new)

    return any(is_result(brought, edit.old, edit.new) for edit in shown) or all(
        any(has(edit, piece) for edit in shown) for piece in brought)


def _words(facts: Facts) -> str:
    return "\n".join(item.content.text for item in facts.state.content or []
                     if isinstance(item, Content) and isinstance(item.content, TextContent))
