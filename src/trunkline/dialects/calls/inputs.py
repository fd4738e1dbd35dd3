"""What the input of a tool call names: command lines, the folder they run in, paths, and whether there is something to write.

Rule 1: pure, and nothing is trusted: a member counts by its name and by its looks, at any depth.
Rule 2: rather one path or command too many than one too few. What is too deep or too much to look at is BEYOND_RULES.
Rule 3: the work has an end: MEMBERS members are looked at, and PATHS paths are kept, however large an input is.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.deeds import is_real_place
from trunkline.dialects.calls.patches import is_patch_line
from trunkline.dialects.calls.searches import Reading, folders_in, is_glob, reading_of, spelled_out, words_of
from trunkline.dialects.calls.variables import SHELLS, script_of
from trunkline.dialects.calls.verbs import is_verb
from trunkline.dialects.glob_tokens import remembered

PATHS = 200
"""Paths of one call that are looked at."""
MEMBERS = 5000
"""Members of one input that are looked at."""
BEYOND_RULES = "/.."
"""What stands for the rest of the paths where there are more, or where they are too deep: no rule allows it."""
DEPTH = 6

MemberRole = Literal["path", "glob", "pattern", "query", "body", "attribute", "unknown"]
_PATTERNS: frozenset[MemberRole] = frozenset({"glob", "pattern", "query"})

_COMMAND_KEYS = ("command", "cmd", "commandLine", "command_line", "shell_command", "script")
_COMMANDS = frozenset({
    "command", "commands", "cmd", "cmds", "commandline", "shellcommand", "script", "scripts", "code", "exec", "execute", "eval",
    "shell", "bash", "sh", "run", "program", "executable", "argv", "stdin",
})
_TOLD = frozenset({"command", "commands", "cmd", "cmds", "commandline", "shellcommand", "script", "argv"})
"""Names under which a command stands wherever it is told."""
_TOLD_PLACES = frozenset(
    "path paths file files filepath filepaths filename filenames fileuri uri uris targetfile targetpath absolutepath "
    "absolutefilepath relativepath notebookpath realpath destination dest outputfile outputpath".split())
"""The same for paths: words that say nothing else. A folder that is named beside a call is where it begins."""
INPUTS = frozenset({"input", "rawinput", "toolinput", "arguments", "args", "params", "parameters", "beside"})
"""Names of a record that a tool may get as its input."""
_LISTS_OF_LINES = frozenset({"commands", "cmds", "scripts"})
_FOLDER_KEYS = ("cwd", "workdir", "working_dir", "workingDir", "working_directory", "workingDirectory", "dir_path",
                "directory")
_ARGUMENTS = frozenset({"args", "arguments"})
_VARIABLES = frozenset({"env", "envs", "environ", "environment", "envvars", "environmentvariables"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_PATH_WORDS = frozenset({
    "path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "directories", "folder", "folders", "uri",
    "source", "src", "destination", "dest", "dst", "target", "output", "notebook", "location", "locations", "root", "cwd",
    "name", "names", "to", "from", "out", "into",
})
_PATH_ENDS = ("file", "files", "path", "paths", "dir", "dirs", "folder", "directory", "name", "names", "dest")
_BODY_WORDS = frozenset({
    "content", "contents", "text", "string", "str", "body", "regex", "search", "replace", "replacement",
    "description", "prompt", "explanation", "instructions", "instruction", "reason", "justification", "message", "title",
    "thought", "summary", "snippet", "patch", "diff", "question", "edit", "comment",
})
"""The last word of a name whose text is no path, whatever it looks like."""
_PATTERN_WORDS = frozenset({"pattern", "patterns"})
_GLOB_WORDS = frozenset({"glob", "globs", "globpattern", "globpatterns", "fileglob", "include", "includes"})
_LEFT_OUT = frozenset({"exclude", "excludes", "excluded", "ignore", "ignores", "ignored"})
"""What a pattern is for that finds nothing."""
_ATTRIBUTE_WORDS = frozenset({"type", "mode", "encoding", "format", "language", "kind", "id", "action", "operation", "command",
                              "tool"})
_NEW_TEXT = frozenset({"content", "contents", "diff", "patch", "edits", "changes", "replacement"})
_WEB = re.compile(r"(?:https?|wss?)://", re.IGNORECASE)
_ENDING = re.compile(r"\S*\.\w{1,8}")

_PATCH_LINE = re.compile(
    r"^(?:[ \t]*\*\*\*[ \t]*(?:(?:Add|Update|Delete) File|Move to)|\*\*\*[ \t]*[a-z][a-z ]{0,30}):[ \t]*(.+)$",
    re.MULTILINE | re.IGNORECASE)
_DIFF_LINE = re.compile(r"^(?:---|\+\+\+) (?!\d+(?:,\d+)? ----$)([^\t\n]+)", re.MULTILINE)
_INDEX_LINE = re.compile(r"^(?:Index:|Property changes on:)[ \t]*(.+)$", re.MULTILINE)
_HUNK = re.compile(r"^(?:@@|={20}|\*{15})", re.MULTILINE)
"""What makes a line of a text that begins with ``Index:`` the header of a patch."""
_CONTEXT_LINE = re.compile(r"^\*\*\* (?!\d+(?:,\d+)? \*\*\*\*$)(?=[^\n]*\n--- )([^\t\n]+)", re.MULTILINE)
_RENAME_LINE = re.compile(r"^(?:rename|copy) (?:from|to) (.+)$", re.MULTILINE)
_GIT_LINE = re.compile(r"^diff --git (.+)$", re.MULTILINE)
"""Each takes the rest of its line, which is cut to size afterwards: looking for the last character that is no blank from every
place in a line takes seconds where somebody fills it with blanks."""
_GIT_NAMES = re.compile(r"(?:a/)?([^\s\"]+) (?:b/)?([^\s\"]+)")
_IS_PATCH = re.compile(
    r"^(?:[ \t]*\*\*\*[ \t]*(?i:Add|Update|Delete|Move)[ \t]|--- |\+\+\+ |diff --git |(?:rename|copy) (?:from|to) "
    r"|Index:[ \t]*\S)", re.MULTILINE)
_OPERATOR = re.compile(r"(?<!\S)(?:[\w./-]{0,200};|;;|&&|\|\|?|\|&|&|\d?(?:>>?\|?|<{1,3}>?)|&>>?|\d?>&\d?)(?!\S)")
"""A word that ends a command, or leads its output elsewhere, to a shell."""
_ENDED = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
"""Options of find whose words end with a ``;`` of its own."""
_BREAKS_OUT = re.compile(r"\s{0,20}(?:;|&&?|\|[|&]?)\s{0,20}[\w./~$\"']|[^\s']{0,200}(?:\$\(\s{0,9}[a-z./~]|`)")
"""A word that would begin a command of its own, were the words joined for a shell: ``; rm x``, ``$(rm x)``."""
_OF_SHELL = re.compile(r"[;&|<>$`\n()]")
_NO_NAMES: frozenset[str] = frozenset()


def command_of(tool_input: Mapping[str, Any], kind: str | None = None, idle: frozenset[str] = _NO_NAMES) -> str | None:
    """Everything that an input wants run, one line each: lines, lists of words, programs with arguments and variables.

    ``idle`` are the members (as ``bare_key`` spells them) that change nothing: beside a command, nobody looks for one in them."""
    found = [line for line in dict.fromkeys(_lines(tool_input, kind, DEPTH, idle)) if line.strip()]
    if len(found) > 1:
        found = [line for line in found if line not in SHELLS] or found[:1]  # `shell: bash` says who reads the line
    if not found:
        return None
    return "\n".join((" ".join((*_variables(tool_input, DEPTH), found[0])), *found[1:]))


def command_told(key: str, value: Any, kind: str | None) -> str | None:
    """The command under a member that is no part of an input; None where its name does not say that there is one. Words in a
    list may be one where there is an option among them."""
    if bare_key(key) in _ARGUMENTS and _is_flat(value) and any(str(word)[:1] == "-" for word in value[1:]):
        return _line([str(word) for word in value])
    return command_of({key: value}, kind) if bare_key(key) in _TOLD else None


def places_told(key: str, value: Any) -> list[str]:
    """The paths under a member that is no part of an input; none where its name does not say that there are some."""
    if not value or (bare_key(key) not in _TOLD_PLACES and not is_real_place(key)):
        return []
    return [path for path in (value if _is_flat(value) else (value,)) if isinstance(path, str) and path and not _WEB.match(path)]


def is_told_text(key: str, value: Any) -> bool:
    """Whether a member that is no part of an input may be one that brings something to write: one that is named as a new text,
    a patch, or a record for a tool with such a text in it."""
    if isinstance(value, str):
        return bool(value) and (("new" in (words := words_of(key)) and words[-1] in _BODY_WORDS) or has_new_text(value))
    return isinstance(value, Mapping) and bare_key(key) in INPUTS and has_new_text(value)


def folder_of(tool_input: Mapping[str, Any]) -> str | None:
    """The folder that a command is to run in; where several are named, the others count as paths."""
    key = _folder_key(tool_input)
    return None if key is None else str(tool_input[key])


class Named(NamedTuple):
    """What an input names: paths, and globs. Those that are certain are among the paths as well, the others only may be globs."""

    paths: tuple[str, ...]
    globs: tuple[str, ...]

    def with_paths(self, more: Sequence[str]) -> Named:
        """The same with paths that are known otherwise."""
        paths = tuple(dict.fromkeys((*self.paths, *more)))
        return Named(paths if len(paths) <= PATHS else (*paths[:PATHS], BEYOND_RULES), self.globs) if more else self


def named_in(tool_input: Mapping[str, Any], known: Iterable[str] = (), *, tool: str = "", kind: str | None = None,
             is_command: bool, strict: bool, idle: frozenset[str] = _NO_NAMES) -> Named:
    """Every path in an input, after those that are known from elsewhere. ``tool`` and ``kind`` say what a pattern in it is.

    ``strict`` is for what writes: there every short text counts whose name does not say that it is something else. ``idle`` are
    members that change nothing: beside a command they name no path."""
    finder = _Finder("expression" if is_command else reading_of(tool, kind, writes=strict), kind, is_command, strict, idle)
    found: dict[str, None] = {}
    for path in itertools.chain(known, finder.top(tool_input)):
        found[path] = None
        if len(found) > PATHS:
            found = dict.fromkeys((*list(found)[:PATHS], BEYOND_RULES))
            break
    return Named(tuple(found), tuple(dict.fromkeys(finder.globs)))


_BREAKS_IN: Final = re.compile(r"(?:^|[\w.)\s])\s{0,9}(?:;|\|\|?|&&)\s{1,9}[\w./]|^\s{0,9}\||[\r\n]")
"""How a command begins behind something else."""


_RUNS_IN_SEARCH: Final = re.compile(
    r"-(?:delete|exec|execdir|ok|okdir|fprint0?|fprintf|fls)(?:\s|$)|--(?:pre|pager|hostname-bin|open-files-in-pager|exec|exec-batch)=")
"""Options of searching programs by which these run or delete something: also what is looked for may be taken for one."""


def options_in(value: Any, role: MemberRole = "unknown", depth: int = DEPTH) -> Iterator[str]:
    """What stands where an input names places to look in, and is an option to the program that looks (``--pre=x``)."""
    if isinstance(value, str):
        is_odd = (value.startswith("-") and len(value) > 1) or _BREAKS_IN.search(value) is not None
        is_odd = is_odd if role in ("path", "glob") else _RUNS_IN_SEARCH.match(value) is not None
        yield from [value] if is_odd else []
    elif isinstance(value, Mapping) and depth:
        for key, inner in itertools.islice(value.items(), MEMBERS):
            yield from options_in(inner, _role(str(key)), depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for inner in value[:MEMBERS]:
            yield from options_in(inner, role, depth - 1)


def has_new_text(value: Any, depth: int = DEPTH) -> bool:
    """Whether an input brings something to be written, whatever its tool calls itself: a text, a patch, edits."""
    if isinstance(value, str):
        return ("\n" in value or is_patch_line(value)) and _IS_PATCH.search(value) is not None
    if isinstance(value, list | tuple):
        return bool(depth) and any(has_new_text(inner, depth - 1) for inner in value[:MEMBERS])
    if isinstance(value, Mapping):
        members = itertools.islice(value.items(), MEMBERS)
        return bool(depth) and any(_is_new_text(str(key), inner) or has_new_text(inner, depth - 1) for key, inner in members)
    return False


def _is_new_text(key: str, value: Any) -> bool:
    words = words_of(key)
    if not words or not value or not isinstance(value, str | list | tuple | Mapping):
        return False
    is_new = "new" in words and words[-1] in _BODY_WORDS | _PATTERN_WORDS
    return is_new or words[-1] in _NEW_TEXT or words[-2:] == ("file", "text")


class _Arguments(NamedTuple):
    """What stands beside a program: words, and a text that a shell would split."""

    words: tuple[str, ...] = ()
    text: str = ""

    def behind(self, program: Sequence[str]) -> str:
        """The line with them at its end. Whether they are joined for a shell nobody says: where one would begin a command there,
        both readings count."""
        line = _line([*program, *self.words]) if self.words or len(program) != 1 else program[0]
        if any(map(_BREAKS_OUT.match, self.words)) and script_of([*program, *self.words]) is None:
            line = f"{line}\n{' '.join((*program, *self.words))}"
        return f"{line} {self.text}" if self.text else line


def _lines(mapping: Mapping[str, Any], kind: str | None, depth: int, idle: frozenset[str]) -> Iterator[str]:
    """The command lines in a record and in the records within it; arguments belong to the first line beside them."""
    arguments, through_shell, ran = _arguments(mapping), _is_through_shell(mapping), False
    for key in sorted(mapping, key=_rank):
        value, name = mapping[key], bare_key(key)
        if through_shell and _is_flat(value) and name not in _LISTS_OF_LINES:
            value = " ".join(map(str, value))
        if name in _COMMANDS and not (name == "command" and is_verb(value, kind)):
            for line in _lines_under(name, value, arguments if not ran else _Arguments(), kind, depth, idle):
                ran = True
                yield line
        elif not (ran and name in idle):
            yield from _nested(value, kind, depth, idle)


def _lines_under(name: str, value: Any, arguments: _Arguments, kind: str | None, depth: int,
                 idle: frozenset[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield from [arguments.behind([value])] if value.strip() else []
    elif _is_flat(value) and name in _LISTS_OF_LINES:
        yield from map(str, value)
        yield from [arguments.behind([])] if any(arguments) else []
    elif _is_flat(value):
        yield arguments.behind([str(word) for word in value])
    elif isinstance(value, list | tuple) and depth:
        for inner in value:
            yield from _lines_under(name, inner, arguments, kind, depth - 1, idle)
    elif isinstance(value, Mapping) and depth:  # odd, so every text in it may be run
        yield from _nested(value, kind, depth, idle)
        for key, inner in value.items():
            yield from _lines_under(bare_key(key), inner, arguments, kind, depth - 1, idle)


def _nested(value: Any, kind: str | None, depth: int, idle: frozenset[str]) -> Iterator[str]:
    if isinstance(value, Mapping) and depth:
        yield from _lines(value, kind, depth - 1, idle)
    elif isinstance(value, list | tuple) and depth:
        for inner in value:
            yield from _nested(inner, kind, depth - 1, idle)


def _is_flat(value: Any) -> bool:
    """Whether it is a list of words."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(word, str | int | float) for word in value)


def _rank(key: str) -> int:
    return _COMMAND_KEYS.index(key) if key in _COMMAND_KEYS else len(_COMMAND_KEYS)


def _arguments(mapping: Mapping[str, Any]) -> _Arguments:
    given = [value for key, value in mapping.items() if bare_key(key) in _ARGUMENTS]
    if _is_through_shell(mapping):
        given = [" ".join(map(str, value)) if _is_flat(value) else value for value in given]
    words = tuple(str(word) for value in given if isinstance(value, list | tuple) for word in value)
    return _Arguments(words, " ".join(value for value in given if isinstance(value, str) and value))


def _is_through_shell(mapping: Mapping[str, Any]) -> bool:
    """Whether words are put together for a shell, which takes apart again what is not quoted."""
    shell = mapping.get("shell")
    return isinstance(shell, bool | int | float) and bool(shell)


def _line(words: Sequence[str]) -> str:
    """A list of words as one line; of ``bash -lc LINE`` it is the line that counts. One with an operator among its words
    (``ls && x``) is meant for a shell; where that would find more in the others than words, both readings count."""
    script = script_of(words)
    if script is not None or (_OPERATOR.search(" ".join(words)) is None and not any(map(_is_line_end, words))):
        return script or shlex.join(words)
    bare = [_is_line_end(word) or (_OPERATOR.fullmatch(word) is not None and not (word == ";" and _ends_exec(words[:at])))
            for at, word in enumerate(words)]
    if not any(bare):
        return shlex.join(words)
    rest = list(zip(words[1:], bare[1:], strict=True))
    line = " ".join((words[0], *[word if is_bare else shlex.quote(word) for word, is_bare in rest]))
    is_more = any([_OF_SHELL.search(word) is not None for word, is_bare in rest if not is_bare])
    return f"{line}\n{' '.join(words)}" if is_more else line


def _is_line_end(word: str) -> bool:
    """Whether a word is nothing but the end of a line, which to a shell ends a command as well."""
    return "\n" in word and not word.strip()


def _ends_exec(before: Sequence[str]) -> bool:
    """Whether a ``;`` behind these words ends the command of an option of find."""
    return sum(word in _ENDED for word in before) > before.count(";")


def _variables(value: Any, depth: int) -> Iterator[str]:
    """The variables that a command gets, wherever they are given."""
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from _assignments(inner) if bare_key(key) in _VARIABLES else _variables(inner, depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for inner in value:
            yield from _variables(inner, depth - 1)


def _assignments(variables: Any) -> Iterator[str]:
    """Variables in any of the forms that agents send them in; what is none makes the line one that nobody knows."""
    if isinstance(variables, Mapping):
        variables = [f"{name}={value}" for name, value in variables.items()]
    elif isinstance(variables, str):
        variables = [variables] if variables else []
    for pair in variables if isinstance(variables, list | tuple) else ():
        if isinstance(pair, Mapping):
            pair = f"{pair.get('name', '')}={pair.get('value', '')}"
        name, equals, value = str(pair).partition("=")
        yield f"{name}={shlex.quote(value)}" if equals and _VARIABLE.fullmatch(name) else shlex.quote(str(pair))


def _folder_key(tool_input: Mapping[str, Any]) -> str | None:
    return next((key for key in _FOLDER_KEYS if isinstance(tool_input.get(key), str) and tool_input[key]), None)


class _Finder:
    """Looks for paths, and gives up with BEYOND_RULES where there is too much."""

    def __init__(self, reading: Reading, kind: str | None, is_command: bool, strict: bool, idle: frozenset[str]) -> None:
        self._reading = reading
        self._kind = kind
        self._is_command = is_command
        self._strict = strict
        self._idle = idle
        self._left = MEMBERS
        self.globs: list[str] = []

    def top(self, tool_input: Mapping[str, Any]) -> Iterator[str]:
        """The paths of an input."""
        folder = _folder_key(tool_input) if self._is_command else None
        yield from self._members({key: value for key, value in tool_input.items() if key != folder}, "", DEPTH)

    def _members(self, mapping: Mapping[str, Any], key: str, depth: int) -> Iterator[str]:
        is_table = _role(key) == "path" or key == "changes"
        folders = folders_in(mapping) if len(mapping) <= MEMBERS else []
        yield from [BEYOND_RULES] if len(mapping) > MEMBERS else []
        for name, inner in itertools.islice(mapping.items(), MEMBERS):
            if is_table or _looks_like_path(str(name)):
                yield str(name)
            if not (self._is_command and (_is_run(str(name), inner) or bare_key(name) in self._idle)):
                yield from self._under(str(name), inner, folders, depth)

    def _under(self, key: str, value: Any, folders: list[str], depth: int) -> Iterator[str]:
        self._left -= 1
        if self._left < 0:
            yield from [BEYOND_RULES] if self._left == -1 else []
        elif isinstance(value, str):
            yield from self._text(key, value, folders)
        elif not isinstance(value, Mapping | list | tuple) or not value:
            return
        elif not depth:
            yield BEYOND_RULES
        elif isinstance(value, Mapping):
            yield from self._members(value, key, depth - 1)
        else:
            for inner in value:
                yield from self._under(key, inner, folders, depth - 1)

    def _text(self, key: str, value: str, folders: list[str]) -> Iterator[str]:
        role = _role(key)
        if role in _PATTERNS:
            yield from self._pattern(role, value, folders) if value else ()
        if role == "path":
            yield value
        elif "\n" in value or is_patch_line(value):
            yield from patched_files(value)
        elif role not in _PATTERNS and role != "body" and value and not _WEB.match(value) and (
                _looks_like_path(value) or (self._strict and role == "unknown")):
            yield value

    def _pattern(self, role: MemberRole, text: str, folders: list[str]) -> Iterator[str]:
        """A glob is a path. What may be one is kept for the rules that restrict."""
        reading = "glob" if role == "glob" else self._reading
        if reading == "expression" or (role == "query" and reading != "glob"):
            return
        spelled = list(itertools.islice(spelled_out(text, folders), PATHS + 1))
        if not spelled or len(self.globs) + len(spelled) > PATHS:
            yield BEYOND_RULES
            return
        self.globs += spelled
        if reading == "glob" or is_glob(text, self._kind, folders):
            yield from spelled


def _is_run(name: str, value: Any) -> bool:
    """Whether a member is part of the command line."""
    bare = bare_key(name)
    if bare in _VARIABLES:
        return True
    return (bare in _COMMANDS or bare in _ARGUMENTS) and (isinstance(value, str) or _is_flat(value))


@remembered
def _role(key: str) -> MemberRole:
    """What the name of a member says of its text; the last word of the name counts most."""
    words = words_of(key)
    if "/" in key or not words:
        return "unknown"
    if words[-1] in _BODY_WORDS:
        return "body"
    if words[-1] in _PATTERN_WORDS | _GLOB_WORDS or not _GLOB_WORDS.isdisjoint(words):
        return _role_of_pattern(words)
    if words[-1] == "query":
        return "query"
    if words[-1] in _ATTRIBUTE_WORDS:
        return "attribute"
    return "path" if not _PATH_WORDS.isdisjoint(words) or key.lower().endswith(_PATH_ENDS) else "unknown"


def _role_of_pattern(words: tuple[str, ...]) -> MemberRole:
    """``file_pattern`` and ``glob`` are globs whatever the tool is; what ``pattern`` and ``text_pattern`` are, the tool says."""
    if not _LEFT_OUT.isdisjoint(words):
        return "body"
    if words[-1] in _PATTERN_WORDS and _GLOB_WORDS.isdisjoint(words) and (len(words) == 1 or not _BODY_WORDS.isdisjoint(words)):
        return "pattern"
    return "glob"


def takes_text(key: str) -> bool:
    """Whether what stands under a name is looked at only where it is a text: a command, a path or something to write."""
    return bare_key(key) in _COMMANDS or _role(key) in ("path", "body")


def is_place(key: str) -> bool:
    """Whether what stands under a name is a path or an address."""
    return _role(key) == "path" or "url" in words_of(key)


_ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+-]{1,30}:(?![\d\\])[^\s:*?]", re.IGNORECASE)


def is_address(path: str) -> bool:
    """Whether a path reads as an address in something else than the file system: ``vault:secret/x``. No drive, and no file with
    the number of a line behind it."""
    return _ADDRESS.match(path) is not None


def is_of_command(key: str) -> bool:
    """Whether what stands under a name is run, or given to what is run."""
    return bare_key(key) in _COMMANDS | _ARGUMENTS | _VARIABLES


def is_arguments(key: str) -> bool:
    """Whether what stands under a name is given to a program, and says nothing without one."""
    return bare_key(key) in _ARGUMENTS


def is_variables(key: str) -> bool:
    """Whether what stands under a name are variables: their names are no members."""
    return bare_key(key) in _VARIABLES


def is_folder(key: str) -> bool:
    """Whether what stands under a name is the folder that a command runs in."""
    return key in _FOLDER_KEYS


def bare_key(key: object) -> str:
    """The name of a member without regard to how its words are joined."""
    return str(key).lower().replace("_", "").replace("-", "")


def _looks_like_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.startswith((".", "~")) or _ENDING.fullmatch(text) is not None


def patched_files(text: str) -> Iterator[str]:
    """The files that a patch is about."""
    if _IS_PATCH.search(text) is None:
        return
    in_hunks = (_INDEX_LINE, _CONTEXT_LINE) if _HUNK.search(text) is not None else ()
    for pattern in (_PATCH_LINE, _DIFF_LINE, _RENAME_LINE, *in_hunks):
        yield from (path for path in map(_named_by, pattern.findall(text)) if path and path != "/dev/null")
    for both in _GIT_LINE.findall(text):
        names = _GIT_NAMES.fullmatch(both.rstrip())
        yield from names.groups() if names is not None else (BEYOND_RULES,)


def _named_by(rest: str) -> str:
    """The path that the rest of a line names, without the quotes around it and without git's ``a/`` and ``b/``."""
    path = rest.rstrip().removeprefix('"').removesuffix('"')
    return path[2:] if path.startswith(("a/", "b/")) else path
