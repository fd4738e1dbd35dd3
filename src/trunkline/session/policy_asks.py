"""What a tool call is about, for the policy: its category, its command, every path in its input.

Rule 1: pure. ``resolve`` is given by who knows the disk; with it, real paths stand beside the spelled ones.
Rule 2: rather one path too many than one too few: a pattern has to cover all of them.
Rule 3: what has a command line is a command, whatever the tool calls itself, and is judged as one.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trunkline.dialects.context import ToolCategory, categorize_tool
from trunkline.session import globs
from trunkline.session.policy_inputs import BEYOND_RULES, PATHS, command_of, folder_of, has_new_text, named_in
from trunkline.session.policy_rules import PolicyAsk

if TYPE_CHECKING:
    from trunkline.dialects.risk import Risk

__all__ = ["BEYOND_RULES", "PATHS", "policy_ask"]

_WRITES: frozenset[ToolCategory] = frozenset({"file_write", "file_edit"})
_READS: frozenset[ToolCategory] = frozenset({"file_read", "search"})


def policy_ask(tool: str, kind: str | None, tool_input: Mapping[str, Any], *, agent: str, cwd: str, roots: Sequence[str] = (),
               home: str | None = None, session_id: str = "", turn_id: str | None = None, locations: Sequence[str] = (),
               category: ToolCategory | None = None, resolve: Callable[[str], str] | None = None,
               guarded: Sequence[str] = (), writes: bool = False, guessed: bool = False, at_once: bool = False) -> PolicyAsk:
    """The ask behind a tool call. ``locations`` are paths known from elsewhere (the call's locations and diffs); ``writes``
    says that it brings changes of files beside its input, whatever it calls itself; ``guessed`` that its name is by its input;
    ``at_once`` that who wants to know must not wait (a long command is then judged as it was when it was read ahead)."""
    root = roots[0] if roots else cwd
    command = command_of(tool_input, kind)
    folder = folder_of(tool_input) if command is not None else None
    told_as = category or categorize_tool(tool, kind)
    category = _category(told_as, kind, command, writes or has_new_text(tool_input))
    spelled, patterns = named_in(tool_input, locations, tool="" if guessed else tool, kind=kind, is_command=command is not None,
                                 strict=command is None and category in _WRITES)
    risk = _risk(tool, kind, tool_input, command, folder, spelled,
                 {"cwd": cwd, "roots": list(roots) or [cwd], "home": home, "at_once": at_once})
    paths = tuple(dict.fromkeys(_with_real(spelled, cwd, root, home, resolve)))
    return PolicyAsk(
        tool=tool, category=category, told_as=told_as if told_as != category else None, agent=agent, command=command,
        risk=risk.level, risk_reason=risk.reason,
        paths=paths if len(paths) <= PATHS else (*paths[:PATHS], BEYOND_RULES),
        globs=tuple(_in_full(path, cwd, root, home, resolve) for path in patterns),
        root=resolve(root) if resolve is not None else root, session_id=session_id, turn_id=turn_id,
        cwd=_run_in(folder, cwd, root, resolve), roots=tuple(roots[1:]), home=home, guarded=tuple(guarded),
    )


def _category(named: ToolCategory, kind: str | None, command: str | None, writes: bool) -> ToolCategory:
    """The category by what the call brings; its name alone could say anything."""
    if command is not None:
        return named if named in ("git", "mcp", "agent") else "terminal"
    if named in _READS and writes:
        return "file_edit"
    if named == "file_read" and kind == "search":
        return "search"  # by their names some are reads, but which files they read is not known beforehand
    return named


def _risk(tool: str, kind: str | None, tool_input: Mapping[str, Any], command: str | None, folder: str | None,
          paths: Sequence[str], where: dict[str, Any]) -> Risk:
    """The worst that can be said of the call: by its name and input, by its command, by every path that we found in it."""
    from trunkline.dialects.risk import explain_risk, rank  # only a call that asks needs the shell's parser

    views: list[tuple[str, Mapping[str, Any], str | None]] = [(tool, tool_input, kind)]
    if command is not None:
        views.append(("terminal", {"command": command, **({"cwd": folder} if folder else {})}, "execute"))
    elif paths:
        views.append((tool, {"paths": [path for path in paths if path != BEYOND_RULES]}, kind))
    risks = [explain_risk(name, seen, kind=of_kind, **where) for name, seen, of_kind in views]
    return max(risks, key=lambda risk: rank(risk.level))


def _run_in(folder: str | None, cwd: str, root: str, resolve: Callable[[str], str] | None) -> str | None:
    where = posixpath.join(cwd, folder) if folder else cwd
    if ".." not in where.split("/") and globs.clean(where) == globs.clean(root):
        return None
    return resolve(where) if resolve is not None and globs.place(where, root).plain else where


def _with_real(spelled: Sequence[str], cwd: str, root: str, home: str | None,
               resolve: Callable[[str], str] | None) -> Iterator[str]:
    """Each path, absolute where it is relative to another folder than the root; with ``resolve`` the real one as well."""
    for path in spelled:
        where = globs.place(path, root, home, cwd)
        if resolve is None:
            yield where.absolute if where.plain else path
        elif where.plain:
            yield _in_full(path, cwd, root, home, resolve)
            yield resolve(where.absolute)
        elif globs.only_climbs(path) and not path.startswith("~"):
            full = posixpath.join(cwd, path)
            yield posixpath.join(resolve(posixpath.dirname(full)), posixpath.basename(full))
            yield resolve(full)
        else:
            yield path


def _in_full(path: str, cwd: str, root: str, home: str | None, resolve: Callable[[str], str] | None) -> str:
    """The absolute spelling of a path; inside the root, from where that really is."""
    where = globs.place(path, root, home, cwd)
    if resolve is None or where.relative is None:
        return where.absolute
    return posixpath.join(resolve(root), where.relative)
