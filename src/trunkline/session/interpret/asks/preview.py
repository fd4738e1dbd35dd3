"""What a person is shown before they decide: the change in its place, the command and where it runs, or a description.

Rule 1: a piece of a file is shown where it stands in the file, with the lines around it. Reading the file is the caller's:
it reads ``changed_file`` beforehand, and ``read`` gives that text, or None where it cannot be shown.
Rule 2: there is always something to show; what is too long is told in numbers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.tools import Content, Diff
from trunkline.dialects.calls.files import replaced_in
from trunkline.dialects.context.unions import ApprovalPreview, CommandPreview, DescriptionPreview, DiffPreview
from trunkline.session.interpret.calls.facts import Facts, name_of
from trunkline.session.interpret.effects.diff import compare

TEXT_MOST = 64 << 10
"""Characters of a description or a command; also of the texts that are compared on the loop."""

ReadText = Callable[[str], str | None]
Piece = tuple[str, str | None, str]
"""A path, the text that is there (None: nothing is), and the text that shall be."""


def preview_of(facts: Facts, command: str | None, cwd: str, read: ReadText) -> ApprovalPreview:
    """What the call would do, for people."""
    pieces = list(_pieces(facts))
    if pieces:
        return _change(pieces, facts.cwd, read)
    if command:
        return CommandPreview(command=_beginning(command), working_dir=cwd)
    texts = [item.content.text for item in facts.state.content or []
             if isinstance(item, Content) and isinstance(item.content, TextContent)]
    return DescriptionPreview(text="\n".join(texts)[:TEXT_MOST] or facts.state.title or name_of(facts.state))


def changed_file(facts: Facts) -> str | None:
    """The file whose text is read to show a change in its place; None where no change is shown."""
    first = next(_pieces(facts), None)
    return posixpath.join(facts.cwd, first[0]) if first is not None else None


def is_shown_whole(command: str) -> bool:
    """Whether a command is short enough that all of it is shown."""
    return len(command) <= TEXT_MOST


def _beginning(command: str) -> str:
    """As much of a command as is shown; whoever decides has to see that there is more."""
    return command if is_shown_whole(command) else f"{command[:TEXT_MOST]}\n… and {len(command) - TEXT_MOST} more characters"


def _change(pieces: list[Piece], cwd: str, read: ReadText) -> ApprovalPreview:
    """The first file that is changed, whole: all of its pieces in their places."""
    path = pieces[0][0]
    own = [piece for piece in pieces if piece[0] == path]
    before, after = _in_place(own, read(posixpath.join(cwd, path)))  # as ``changed_file`` names it
    if len(before or "") + len(after) > 4 * TEXT_MOST:
        return DescriptionPreview(text=f"{path}: a text of {len(after)} characters")
    compared = compare(before, after, path.lstrip("/"))
    if compared.text is None:
        return DescriptionPreview(text=f"{path}: {compared.added} lines added, {compared.removed} removed")
    return DiffPreview(path=path, diff=compared.text)


def _in_place(pieces: list[Piece], text: str | None) -> tuple[str | None, str]:
    """The file before and after; the pieces alone where their place is not known."""
    if not pieces[0][1]:
        return text, pieces[0][2]
    before, after = text, text
    for _, old, new in pieces:
        if after is None or not old or old not in after:
            return pieces[0][1], pieces[0][2]
        after = after.replace(old, new, 1)
    assert after is not None, "there is a piece, and it was found"
    return before, after


def _pieces(facts: Facts) -> Iterator[Piece]:
    """The changes that are shown in their places: those that the call shows, else those that the input of a write names."""
    if facts.role in ("write", "edit") or any(isinstance(item, Diff) for item in facts.state.content or ()):
        yield from pieces_of(facts)


def pieces_of(facts: Facts) -> Iterator[Piece]:
    """The changes of files that a call shows, else those that its input names, whatever the tool is."""
    shown = [(item.path, item.old_text, item.new_text) for item in facts.state.content or [] if isinstance(item, Diff)]
    yield from shown
    if shown or not facts.paths:
        return
    for old, new in replaced_in(facts.input):
        if new is not None:
            yield facts.paths[0], old, new
