"""What was claimed of a call beside what names it, or before: other names and kinds, commands and paths that are gone.

Rule 1: it can only make a call worse. What was announced and taken back still counts until somebody has decided.
Rule 2: a name is held against a kind: one that says more harm than the other is a doubt.
Rule 3: bounded: KEPT of each are kept. That there was more is known, and is a doubt: what was left out could say anything.
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
    if not name or tool in (name, names.usual(name)):
        return claims
    if is_title and not (is_name(name) and (_act_of(name, names) in _GRAVE or verb_in(name) == "destroys")):
        return claims
    return _with(claims, "names", name)


def with_kind(claims: Claims, kind: str) -> Claims:
    """Said to be of another kind before."""
    return claims if kind == "other" else _with(claims, "kinds", kind)


def with_reading(claims: Claims, reading: CallReading, cwd: str) -> Claims:
    """Announced with another input before. That it would run in ``cwd`` says nothing else than where it runs by itself."""
    folder = reading.folder or ""
    claims = _with_last(claims, "commands", [reading.command] if reading.command else ())
    claims = _with_last(claims, "paths", reading.paths)
    return _with_last(claims, "folders", [folder] if folder and is_elsewhere(folder, cwd) else ())


def is_elsewhere(folder: str, cwd: str) -> bool:
    """Whether a folder is another than the session's."""
    return posixpath.normpath(posixpath.join(cwd, folder)) != posixpath.normpath(cwd)


def with_told(claims: Claims, command: str) -> Claims:
    """Said in ``_meta`` to run something."""
    return _with(claims, "told", command[:CHARS])


def with_title(claims: Claims, title: str) -> Claims:
    """Titled so; what a title says that is done is held against what the call is."""
    title = title[:TITLE_CHARS]
    return _with(claims, "titles", title) if may_tell(title) else claims


def with_announced(claims: Claims, command: str) -> Claims:
    """Said in words to run something."""
    return _with(claims, "announced", command[:CHARS])


def with_named(claims: Claims, name: str) -> Claims:
    """Said in ``_meta`` to delete something."""
    return _with(claims, "named", name[:_SHOWN])


def with_deed(claims: Claims, act: Act, name: str) -> Claims:
    """Said in ``_meta`` to do this, too."""
    return _with(claims, "deeds", (act, name[:_SHOWN]))


def with_place(claims: Claims, path: str) -> Claims:
    """Said beside its input to be about this path."""
    return _with(claims, "places", path[:CHARS])


def with_folder(claims: Claims, folder: str) -> Claims:
    """Said beside its input to run in this folder."""
    return _with(claims, "folders", folder[:CHARS])


def with_text(claims: Claims) -> Claims:
    """Brings something to write beside its input."""
    return claims if claims.brings else structs.replace(claims, brings=True)


def with_more(claims: Claims) -> Claims:
    """Says more than is looked at."""
    return claims if claims.more else structs.replace(claims, more=True)


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
    if claims.more:
        yield "more was said of it than is looked at"
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


def _with(claims: Claims, which: str, said: object) -> Claims:
    """With this as well, where there is room for it."""
    known: tuple[object, ...] = getattr(claims, which)
    if said in known:
        return claims
    return structs.replace(claims, **{which: (*known, said)}) if len(known) < KEPT else with_more(claims)


def _with_last(claims: Claims, which: str, said: Sequence[str]) -> Claims:
    """With these as well, the last ones where there is no room for all. Of what had none, one that a later one goes on with is no
    loss: an input that grows is told again with every piece."""
    known = tuple(dict.fromkeys((*getattr(claims, which), *(each[:CHARS] for each in said))))
    claims = structs.replace(claims, **{which: known[-KEPT:]})
    is_lost = any(not any(later.startswith(each) for later in known[at + 1:]) for at, each in enumerate(known[:-KEPT]))
    return with_more(claims) if is_lost else claims
