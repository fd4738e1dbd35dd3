"""What a tool call is about, for the policy: its category, its command, every path in its input.

Rule 1: pure. ``resolve`` is given by who knows the disk; with it, real paths stand beside the spelled ones.
Rule 2: rather one path too many than one too few: a pattern has to cover all of them.
Rule 3: what has a command line is a command, whatever the tool calls itself, and is judged as one.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trunkline.dialects.context import ToolCategory, categorize_tool
from trunkline.session import globs
from trunkline.session.policy_rules import PolicyAsk

if TYPE_CHECKING:
    from trunkline.dialects.risk import Risk

PATHS = 200
"""Paths of one call that are looked at."""
BEYOND_RULES = "/.."
"""What stands for the rest of the paths where there are more: no rule allows it."""
DEPTH = 6

_COMMAND_KEYS = ("command", "cmd", "commandLine", "command_line", "shell_command", "script")
_FOLDER_KEYS = ("cwd", "workdir", "working_dir", "workingDir", "working_directory", "workingDirectory", "dir_path")
_PATH_WORDS = frozenset({
    "path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "directories", "folder", "folders", "uri",
    "source", "src", "destination", "dest", "dst", "target", "output", "notebook", "location", "locations", "root", "cwd",
})
_BODY_WORDS = frozenset({"content", "contents", "text", "string", "str", "body", "type", "mode", "pattern", "query", "encoding"})
_PATCH_LINE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_DIFF_LINE = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+?)\s*$", re.MULTILINE)
_EDITOR_VERBS = frozenset({"view", "create", "str_replace", "insert", "undo_edit", "read", "write", "edit", "delete", "rename"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_FILE_KINDS = frozenset({"read", "edit", "delete", "move", "search"})


def policy_ask(tool: str, kind: str | None, tool_input: Mapping[str, Any], *, agent: str, cwd: str, roots: Sequence[str] = (),
               home: str | None = None, session_id: str = "", turn_id: str | None = None, locations: Sequence[str] = (),
               category: ToolCategory | None = None, resolve: Callable[[str], str] | None = None,
               guarded: Sequence[str] = ()) -> PolicyAsk:
    """The ask behind a tool call. ``locations`` are paths known from elsewhere (the call's locations and diffs)."""
    root = roots[0] if roots else cwd
    command = command_of(tool_input, kind)
    folder = _folder(tool_input) if command is not None else None
    spelled = tuple(dict.fromkeys((*locations, *_paths(tool_input, command is not None))))
    if category is None:
        category = categorize_tool(tool, kind)
    if command is not None and category not in ("git", "mcp", "agent"):
        category = "terminal"
    elif category == "file_read" and kind == "search":
        category = "search"  # by their names some are reads, but which files they read is not known beforehand
    risk = _risk(tool, kind, tool_input, command, folder, spelled, {"cwd": cwd, "roots": list(roots) or [cwd], "home": home})
    paths = tuple(dict.fromkeys(_with_real(spelled, cwd, root, home, resolve)))
    return PolicyAsk(
        tool=tool, category=category, agent=agent, command=command, risk=risk.level, risk_reason=risk.reason,
        paths=paths if len(paths) <= PATHS else (*paths[:PATHS], BEYOND_RULES),
        root=resolve(root) if resolve is not None else root, session_id=session_id, turn_id=turn_id,
        cwd=_run_in(folder, cwd, root, resolve), roots=tuple(roots[1:]), home=home, guarded=tuple(guarded),
    )


def _risk(tool: str, kind: str | None, tool_input: Mapping[str, Any], command: str | None, folder: str | None,
          paths: Sequence[str], where: dict[str, Any]) -> Risk:
    """The worst that can be said of the call: by its name and input, by its command, by every path that we found in it."""
    from trunkline.dialects.risk import explain_risk, rank  # only a call that asks needs the shell's parser

    views: list[tuple[str, Mapping[str, Any], str | None]] = [(tool, tool_input, kind)]
    if command is not None:
        views.append(("terminal", {"command": command, **({"cwd": folder} if folder else {})}, "execute"))
    elif paths:
        views.append((tool, {"paths": list(paths)}, kind))
    risks = [explain_risk(name, seen, kind=of_kind, **where) for name, seen, of_kind in views]
    return max(risks, key=lambda risk: rank(risk.level))


def command_of(tool_input: Mapping[str, Any], kind: str | None = None) -> str | None:
    """The command line of an input: a line, a list of words, or a program with its arguments and variables."""
    raw = next((tool_input[key] for key in _COMMAND_KEYS if tool_input.get(key)), None)
    lines = tool_input.get("commands")
    if raw is None and isinstance(lines, list | tuple) and lines:
        return "\n".join(map(str, lines))
    if isinstance(raw, list | tuple):
        return _line([str(word) for word in raw])
    if not isinstance(raw, str) or not raw.strip() or (kind in _FILE_KINDS and raw in _EDITOR_VERBS):
        return None
    arguments = tool_input.get("args")
    if isinstance(arguments, list | tuple) and arguments:
        raw = _line([raw, *map(str, arguments)])
    elif isinstance(arguments, str) and arguments:
        raw = f"{raw} {arguments}"
    return " ".join((*_assignments(tool_input.get("env")), raw))


def _line(words: list[str]) -> str:
    """A list of words as one line; of ``bash -lc LINE`` it is the line that counts."""
    if len(words) == 3 and posixpath.basename(words[0]) in _SHELLS and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def _assignments(variables: Any) -> Iterator[str]:
    """Variables that a command gets, in either of the forms that agents send them in."""
    if isinstance(variables, Mapping):
        variables = [{"name": name, "value": value} for name, value in variables.items()]
    for pair in variables if isinstance(variables, list) else ():
        if isinstance(pair, Mapping) and pair.get("name"):
            yield f"{pair['name']}={shlex.quote(str(pair.get('value', '')))}"


def _folder(tool_input: Mapping[str, Any]) -> str | None:
    return next((tool_input[key] for key in _FOLDER_KEYS if isinstance(tool_input.get(key), str) and tool_input[key]), None)


def _run_in(folder: str | None, cwd: str, root: str, resolve: Callable[[str], str] | None) -> str | None:
    where = posixpath.join(cwd, folder) if folder else cwd
    if ".." not in where.split("/") and globs.clean(where) == globs.clean(root):
        return None
    return resolve(where) if resolve is not None and globs.place(where, root).plain else where


def _paths(value: Any, is_command: bool) -> Iterator[str]:
    """Every path in an input, found by the names of its fields and the headers of its patches."""
    skipped = frozenset((*_COMMAND_KEYS, *_FOLDER_KEYS, "commands", "args", "env")) if is_command else frozenset[str]()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in skipped:
                yield from _paths_under(str(key), inner, DEPTH)


def _paths_under(key: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if _names_a_path(key):
            yield value
        elif "\n" in value:
            yield from _patched(value)
    elif isinstance(value, Mapping) and depth:
        for name, inner in value.items():
            if "/" in str(name) or _names_a_path(key) or key == "changes":
                yield str(name)  # a table by path
            yield from _paths_under(str(name), inner, depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for inner in value:
            yield from _paths_under(key, inner, depth - 1)


def _names_a_path(key: str) -> bool:
    if "/" in key:
        return False  # it is a path, and what is in it is something else
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", key)}
    return bool(words & _PATH_WORDS) and not words & _BODY_WORDS


def _patched(text: str) -> Iterator[str]:
    """The files that a patch is about."""
    if "*** Begin Patch" in text:
        for added, moved in _PATCH_LINE.findall(text):
            yield added or moved
    elif text.startswith(("--- ", "diff --git ")) or "\n--- " in text:
        yield from (path for path in _DIFF_LINE.findall(text) if path != "/dev/null")


def _with_real(spelled: Sequence[str], cwd: str, root: str, home: str | None,
               resolve: Callable[[str], str] | None) -> Iterator[str]:
    """Each path, absolute where it is relative to another folder than the root; with ``resolve`` the real one as well."""
    for path in spelled:
        where = globs.place(path, root, home, cwd)
        if resolve is None:
            yield where.absolute if where.plain else path
        elif where.plain:
            yield where.absolute if where.relative is None else posixpath.join(resolve(root), where.relative)
            yield resolve(where.absolute)
        elif globs.only_climbs(path) and not path.startswith("~"):
            full = posixpath.join(cwd, path)
            yield posixpath.join(resolve(posixpath.dirname(full)), posixpath.basename(full))
            yield resolve(full)
        else:
            yield path
