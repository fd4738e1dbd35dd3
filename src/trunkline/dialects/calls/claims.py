"""What was claimed of a call beside what names it, or before: other names and kinds, commands and paths that are gone.

Rule 1: it can only make a call worse. What was announced and taken back still counts until somebody has decided.
Rule 2: a name is held against a kind: one that says more harm than the other is a doubt.
Rule 3: bounded: KEPT of each are kept.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import structs

from trunkline.dialects.calls.files import ends_of_move, files_in
from trunkline.dialects.calls.names import ToolNames, is_name, role_of_kind, verb_in
from trunkline.dialects.calls.titles import TITLE_CHARS, may_tell, told_by
from trunkline.dialects.calls.types import ACT_OF_ROLE, Act, CallReading, Claims, ToolRole
from trunkline.dialects.calls.variables import bare_line, is_same
from trunkline.dialects.calls.words import is_in_command

KEPT: Final = 8
"""Names, kinds, commands and paths of one call that are kept of each."""
CHARS: Final = 1_000
"""Characters of such a command or path: its beginning shows whether the next one goes on with it."""

_HARMS: Final[frozenset[Act]] = frozenset({"run", "delete", "move", "write"})
_GRAVE: Final[frozenset[Act]] = frozenset({"run", "delete", "move"})
_CHANGES: Final[frozenset[Act]] = frozenset({"write", "delete", "move"})
_LOOKS: Final[frozenset[Act]] = frozenset({"read", "search"})
_SHOWN: Final = 60


def with_name(claims: Claims, name: str, tool: str, names: ToolNames, *, is_title: bool) -> Claims:
    """Also called ``name``. A title counts where it reads as the name of a tool that does grave harm: others sum a call up."""
    name = name[:200]
    if not name or tool in (name, names.usual(name)) or name in claims.names or len(claims.names) >= KEPT:
        return claims
    if is_title and not (is_name(name) and (_act_of(name, names) in _GRAVE or verb_in(name) == "destroys")):
        return claims
    return _replace(claims, names=(*claims.names, name))


def with_kind(claims: Claims, kind: str) -> Claims:
    """Said to be of another kind before."""
    return claims if kind in claims.kinds or kind == "other" else _replace(claims, kinds=(*claims.kinds, kind)[:KEPT])


def with_reading(claims: Claims, reading: CallReading, cwd: str) -> Claims:
    """Announced with another input before. That it would run in ``cwd`` says nothing else than where it runs by itself."""
    commands = (*claims.commands, *([reading.command[:CHARS]] if reading.command else ()))
    paths = (*claims.paths, *(path[:CHARS] for path in reading.paths))
    folder = reading.folder or ""
    is_elsewhere = folder and posixpath.normpath(posixpath.join(cwd, folder)) != posixpath.normpath(cwd)
    folders = (*claims.folders, *([folder[:CHARS]] if is_elsewhere else ()))
    return _replace(claims, commands=tuple(dict.fromkeys(commands))[-KEPT:], paths=tuple(dict.fromkeys(paths))[-KEPT:],
                    folders=tuple(dict.fromkeys(folders))[-KEPT:])


def with_told(claims: Claims, command: str) -> Claims:
    """Said in ``_meta`` to run something."""
    command = command[:CHARS]
    return claims if command in claims.told else _replace(claims, told=(*claims.told, command)[:KEPT])


def with_title(claims: Claims, title: str) -> Claims:
    """Titled so; what a title says that is done is held against what the call is."""
    title = title[:TITLE_CHARS]
    return claims if title in claims.titles or not may_tell(title) else _replace(claims, titles=(*claims.titles, title)[:KEPT])


def with_announced(claims: Claims, command: str) -> Claims:
    """Said in words to run something."""
    command = command[:CHARS]
    return claims if command in claims.announced else _replace(claims, announced=(*claims.announced, command)[:KEPT])


def with_named(claims: Claims, name: str) -> Claims:
    """Said in ``_meta`` to delete something."""
    name = name[:_SHOWN]
    return claims if name in claims.named else _replace(claims, named=(*claims.named, name)[:KEPT])


def with_deed(claims: Claims, act: Act, name: str) -> Claims:
    """Said in ``_meta`` to do this, too."""
    deed = (act, name[:_SHOWN])
    if deed in claims.deeds or len(claims.deeds) >= KEPT:
        return claims
    return structs.replace(claims, deeds=(*claims.deeds, deed))


def with_place(claims: Claims, path: str) -> Claims:
    """Said beside its input to be about this path."""
    path = path[:CHARS]
    return claims if path in claims.places else _replace(claims, places=(*claims.places, path)[:KEPT])


def with_folder(claims: Claims, folder: str) -> Claims:
    """Said beside its input to run in this folder."""
    folder = folder[:CHARS]
    return claims if folder in claims.folders else _replace(claims, folders=(*claims.folders, folder)[:KEPT])


def with_text(claims: Claims) -> Claims:
    """Brings something to write beside its input."""
    return claims if claims.brings else structs.replace(claims, brings=True)


def with_terminal(claims: Claims) -> Claims:
    """Shows a terminal."""
    return claims if claims.terminal else structs.replace(claims, terminal=True)


def told_beside(claims: Claims, command: str | None, *, own_words: bool) -> list[str]:
    """The commands in ``_meta`` and in its words that are not the one of the input. ``own_words``: these tell its command."""
    announced = () if own_words else claims.announced
    words = [told for told in announced if command is None or not is_in_command(told, command)]
    return [told for told in (*claims.told, *words) if command is None or not _goes_on(command, told)]


def claimed_acts(claims: Claims, names: ToolNames) -> frozenset[Act]:
    """What a call does by these."""
    found: set[Act] = {"unknown" for name in claims.names if names.role_of(name) is None}
    acts = [*(_act_of(name, names) for name in claims.names), *(_act_of_kind(kind) for kind in claims.kinds)]
    acts += ["delete" if claims.named else None, "run" if claims.terminal else None, "write" if claims.brings else None]
    acts += [act for act, _ in claims.deeds]
    return frozenset(found.union(act for act in acts if act is not None))


def claimed_doubts(claims: Claims, command: str | None, paths: Sequence[str], acts: frozenset[Act]) -> Iterator[str]:
    """Why these make a call one that is not sure."""
    for name in claims.names:
        yield f"it is also called {name[:_SHOWN]}"
    for name in claims.named:
        yield f"something beside its input is named after a deletion: {name}"
    for act, name in claims.deeds:
        yield f"something beside its input says {'how it is run' if act == 'unknown' else f'that it does more ({act})'}: {name}"
    if claims.terminal:
        yield "it shows a terminal, and is nothing that runs something"
    if claims.brings:
        yield "something to write stands beside its input"
    for place in claims.places:
        if not any(_is_same_place(place, path) for path in paths):
            yield f"a path stands beside its input: {place[:_SHOWN]}"
    for kind in claims.kinds:
        if _act_of_kind(kind) in _HARMS:
            yield f"it was announced as of another kind: {kind[:_SHOWN]}"
    for earlier in claims.commands:
        if command is None or not _goes_on(command, earlier):
            yield f"it was announced to run something else: {earlier[:_SHOWN]}"
    for earlier in claims.paths if acts & _CHANGES or acts <= _LOOKS else ():
        if not any(path.startswith(earlier) or (acts <= _LOOKS and _is_same_place(earlier, path)) for path in paths):
            yield f"it was announced for another path: {earlier[:_SHOWN]}"


def titled_otherwise(titles: Sequence[str], role: ToolRole | None, members: Mapping[str, Any]) -> list[tuple[Act, str, str]]:
    """What titles say that is done and the call does not say: the act, the title, and the command that it reads as."""
    found = [(told_by(title, role, members), title) for title in dict.fromkeys(titles) if title]
    return [(told.act, title[:_SHOWN], told.command) for told, title in found if told.act is not None]


def contradictions(role: ToolRole | None, kind: str, acts: frozenset[Act], members: Mapping[str, Any]) -> Iterator[str]:
    """What a call says against itself: by its name something milder than by its kind, or a move from or to nowhere."""
    by_name, by_kind = ACT_OF_ROLE[role] if role is not None else None, _act_of_kind(kind)
    if role is not None and by_kind in _HARMS and by_name != by_kind and not (by_name in _GRAVE and by_kind == "write"):
        yield f"its kind is {kind[:_SHOWN]}, which its name does not say"
    if kind == "switch_mode" and by_name is not None:
        yield "its kind is switch_mode, which its name does not say"
    if "move" in acts and ends_of_move(members) is None and len(files_in(members)) != 2:
        yield "where it moves something to is not known"


def _is_same_place(told: str, path: str) -> bool:
    """Whether one of two paths is the end of the other: agents tell the whole path of what their tools name by its end."""
    short, long = sorted((told.removeprefix("file://").removeprefix("./"), path.removeprefix("./")), key=len)
    return short == long or (bool(short) and long.endswith(f"/{short}"))


def _goes_on(command: str, earlier: str) -> bool:
    """Whether a command is what was claimed of it before, or goes on with it, also behind harmless variables or a shell."""
    return command.startswith(earlier) or (len(earlier) < CHARS and is_same(bare_line([earlier]), bare_line([command])))


def _act_of(name: str, names: ToolNames) -> Act | None:
    role = names.role_of(name)
    return ACT_OF_ROLE[role] if role is not None else None


def _act_of_kind(kind: str) -> Act | None:
    role = role_of_kind(kind)
    return ACT_OF_ROLE[role] if role is not None else None


def _replace(claims: Claims, **news: tuple[str, ...]) -> Claims:
    return structs.replace(claims, **news)
