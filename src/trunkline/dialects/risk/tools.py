"""The risk of any tool call: which kind of tool it is, and which parts of its input matter.

Rule 1: a name is matched without regard to case, so that ``bash``, ``Bash`` and ``BASH`` are the same tool.
Rule 2: a call that has a command is judged by it, whatever the tool is called. Names of vendors' tools are hints.
Rule 3: an input that is missing or not an object is no error. A tool that does nothing known is low; one that changes
things is medium without its input.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.kept import Kept
from trunkline.dialects.risk.call import Call, Noted
from trunkline.dialects.risk.levels import Finding, Risk, worst
from trunkline.dialects.risk.line import line_findings
from trunkline.dialects.risk.places import Places
from trunkline.dialects.shell import READ_AT_ONCE_CHARS, SimpleCommand, is_long
from trunkline.dialects.shell.grammar import MAX_LINE_BYTES

Role = Literal["terminal", "write", "delete", "move", "read", "fetch", "harmless", "other"]

_ROLE_NAMES: Final[dict[Role, frozenset[str]]] = {
    "terminal": frozenset(
        "bash shell sh zsh terminal exec execute executecommand runcommand runterminalcmd runshellcommand runinterminal "
        "shellcommand "
        "localshell runbash bashtool powershell developershell commandexecution executebash terminalcreate runcommands "
        "runinbackground execcommand sendcommand".split()
    ),
    "write": frozenset(
        "write edit multiedit notebookedit writefile editfile createfile strreplace strreplaceeditor strreplacebasededittool "
        "applypatch applydiff replace replaceinfile writetofile inserttext insert insertcontent patch filewrite fileedit "
        "searchreplace "
        "editnotebook createdirectory mkdir texteditor editor update fswritetextfile writetextfile fswrite append "
        "savefile".split()
    ),
    "delete": frozenset("delete deletefile remove removefile rm deletedirectory trash".split()),
    "move": frozenset("move rename movefile renamefile mv copyfile".split()),
    "read": frozenset(
        "read readfile readmanyfiles view viewfile cat openfile glob grep ls list listdirectory listdir listfiles search "
        "searchfiles "
        "find filesearch grepsearch codebasesearch notebookread readtextfile ripgrep searchtext fsread".split()
    ),
    "fetch": frozenset("webfetch fetch websearch urlfetch browse httprequest googlewebsearch fetchurl readurl".split()),
    "harmless": frozenset(
        "task agent todowrite todoread think plan updateplan exitplanmode enterplanmode askuserquestion askuser skill toolsearch "
        "bashoutput taskoutput".split()
    ),
}
_ROLES: Final[dict[str, Role]] = {name: role for role, names in _ROLE_NAMES.items() for name in names}
_ROLE_BY_KIND: Final[dict[str, Role]] = {
    "read": "read",
    "search": "read",
    "edit": "write",
    "delete": "delete",
    "move": "move",
    "execute": "terminal",
    "fetch": "fetch",
    "think": "harmless",
    "switch_mode": "harmless",
}
_COMMAND_KEYS: Final = ("command", "cmd", "commands", "commandLine", "command_line", "script")
_PATH_KEYS: Final = (
    "file_path", "path", "filePath", "absolute_path", "notebook_path", "file", "filename", "target_file", "paths", "source",
    "destination", "old_path", "new_path", "from", "to", "uri", "abs_path", "relative_workspace_path", "directory", "dir_path",
)  # fmt: skip
_CWD_KEYS: Final = ("cwd", "workdir", "working_directory", "workingDirectory", "directory")
_PATCH_FILE: Final = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b/)?|--- (?:a/)?)(\S.*)$", re.MULTILINE
)
_CHANGES_NAME: Final = re.compile(
    r"create|update|delete|remove|write|push|merge|send|post|exec|run|deploy|set|put|insert|drop", re.IGNORECASE
)
_DELETES_NAME: Final = re.compile(r"delete|remove|drop|destroy|force|exec|shell|eval|terminal", re.IGNORECASE)
_MAX_PATHS: Final = 200


def assess_risk(name: str, input: object = None) -> RiskLevel:
    """The level alone, where nothing is known of the session: low, medium, high or critical."""
    return explain_risk(name, input).level


def explain_risk(
    name: str,
    input: Mapping[str, Any] | object | None,
    *,
    cwd: str | None = None,
    roots: Sequence[str] = (),
    home: str | None = None,
    kind: str | None = None,
    at_once: bool = False,
) -> Risk:
    """How dangerous a call of the tool ``name`` is, and why. ``kind`` is the Agent Client Protocol's, used when the name says
    nothing; ``cwd``, ``roots`` and ``home`` are those of the session. ``at_once``: by somebody who must not wait. A long line is
    then judged as it was lately judged without that, and is high where it was not."""
    places = Places.of(cwd, roots, home)
    role = role_of(name, kind)
    if role == "write" and isinstance(input, Mapping) and input.get("command") in ("view", "read", "open"):
        role = "read"
    command = command_of(input, bare=role == "terminal")
    if command is not None and role in ("terminal", "other"):
        return _terminal(command, input, places, at_once)
    if role in ("terminal", "harmless"):
        return Risk(level="low", reason="runs nothing")
    if role == "other":
        return _other(name)
    return worst(_touching(role, paths_of(input), places), "reads only")


def role_of(name: str, kind: str | None) -> Role:
    """What a tool does, by its name if that says something, else by its kind."""
    plain = re.sub(r"[^a-z]", "", name.lower()) if isinstance(name, str) else ""
    known = _ROLES.get(plain)
    if known is not None:
        return known
    return _ROLE_BY_KIND.get(kind or "", "other")


def command_of(input: object, *, bare: bool = True) -> str | None:
    """The shell line in a tool's input; a list of words becomes one. With ``bare``, a plain string is one too."""
    if isinstance(input, str):
        return input if bare and input.strip() else None
    if not isinstance(input, Mapping):
        return None
    for key in _COMMAND_KEYS:
        line = _as_line(input.get(key))
        if line is not None:
            arguments = input.get("args")
            return f"{line} {shlex.join(map(str, arguments))}" if isinstance(arguments, list) and arguments else line
    return None


def _as_line(value: object) -> str | None:
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, list) and value:
        return shlex.join(str(part) for part in value)
    return None


def paths_of(input: object) -> list[str]:
    """The files that a tool's input names, patches included."""
    if isinstance(input, str):
        return _PATCH_FILE.findall(input)[:_MAX_PATHS]
    if not isinstance(input, Mapping):
        return []
    found: list[str] = []
    for key in _PATH_KEYS:
        value = input.get(key)
        found.extend(
            [value]
            if isinstance(value, str)
            else [part for part in value if isinstance(part, str)]
            if isinstance(value, list)
            else []
        )
    for key in ("patch", "diff", "input", "patchText"):
        value = input.get(key)
        if isinstance(value, str):
            found.extend(_PATCH_FILE.findall(value))
    changes = input.get("changes")
    if isinstance(changes, Mapping):
        found.extend(str(path) for path in changes)
    return [path for path in found if path and path != "/dev/null"][:_MAX_PATHS]


def _terminal(command: str, input: object, places: Places, at_once: bool) -> Risk:
    """A shell line, in the folder that the call names."""
    if isinstance(input, Mapping):
        folder = next((input[key] for key in _CWD_KEYS if isinstance(input.get(key), str) and input[key]), None)
        places = places if folder is None else places.moved(folder)
    if not is_long(command):
        return _recent(command, places) if len(command) <= MAX_LINE_BYTES else _line(command, places)
    known = _read_ahead.get((command, places))
    if known is not None:
        return known
    return _UNREAD if at_once else _read_ahead.put((command, places), _line(command, places))


def _line(command: str, places: Places) -> Risk:
    return worst(line_findings(command, places), "nothing dangerous in it")


_recent: Final = lru_cache(maxsize=64)(_line)
"""Lines judged lately: a call is judged when it is announced, when it is asked for and when a rule decides it."""
_read_ahead: Final[Kept[tuple[str, Places], Risk]] = Kept(64)
_UNREAD: Final = Risk(level="high", reason=f"a command of more than {READ_AT_ONCE_CHARS} characters that was not read ahead")


def _touching(role: Role, paths: list[str], places: Places) -> Noted[Finding]:
    """A tool that reads or changes files itself."""
    call = Call(SimpleCommand(text="", words=()), places, "")
    if role == "delete":
        call.note("high", "deletes files")
    for path in paths:
        if role in ("read", "fetch"):
            call.read(path)
        elif role == "delete":
            call.remove(path)
        else:
            call.write(path)
    if role in ("write", "move"):
        call.at_least("medium", "writes a file" if role == "write" else "moves a file", paths[0] if paths else "")
    return call.findings


def _other(name: str) -> Risk:
    """A tool that nothing is known of but its name."""
    bare = posixpath.basename(str(name)).rpartition("__")[2]
    if _DELETES_NAME.search(bare):
        return Risk(level="high", reason=f"an unknown tool that by its name destroys or runs something: {bare[:60]}")
    if _CHANGES_NAME.search(bare):
        return Risk(level="medium", reason=f"an unknown tool that by its name changes something: {bare[:60]}")
    return Risk(level="low", reason="an unknown tool")
