"""Programs that run others by an option, an argument or their input, which no reader of shells sees.

What others may import from here:

    runs_other(command)       the command lines that one simple command runs in turn; ``UNKNOWN`` where it may run what its words
                              do not say; ``()`` where it runs nothing that the table knows of
    line_runs(commands)       the same for every command of a line, in order: what an earlier one made an alias, a copy or a link
                              of is known to the later ones
    line_names(commands)      for every command of a line what it is under another name: ``git-push`` is ``git push``
    changing_options(command) the options and settings of a command that change what is run
    option_values(word)       every value that a word may give to an option: ``-rf.env`` may give ``f.env`` or ``.env``
    ROWS, Runner              the table itself (``runner_rows.py``)

Rule 1: commands that stand in the words as they are (``sudo``, ``xargs``, ``sh -c``, ``find -exec``) are commands of the line
already (``dialects/shell/wrappers.py``) and are not told again.
Rule 2: this only ever restricts. What is given here makes a rule look closer, and allows nothing.
Rule 3: a value that only the run knows, a file of commands, a configuration from elsewhere and a script on the input are UNKNOWN.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final, Literal, NamedTuple

from msgspec import structs

from trunkline.dialects.calls.variables import loading_level
from trunkline.dialects.risk.code import may_run_commands
from trunkline.dialects.risk.programs import runners_git as git
from trunkline.dialects.risk.programs.runner_rows import ROWS, SCRIPT_OPTIONS, VERBS, Runner
from trunkline.dialects.risk.sed import read_sed
from trunkline.dialects.shell import SHELLS, SimpleCommand
from trunkline.dialects.shell.wrappers import unwrap

__all__ = ["BUNDLE_LETTERS", "ROWS", "UNKNOWN", "Changing", "Ran", "Runner", "Unknown", "changing_options", "code_in",
           "line_names", "line_runs", "option_values", "runs_other"]

BUNDLE_LETTERS: Final = 64
"""Short options in one word that are tried as the last before a value; of more, the first and the last half."""
_CHARS: Final = git.CHARS


class Unknown(Enum):
    """The one value that says: it may run anything."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Ran = tuple[str, ...] | Literal[Unknown.UNKNOWN]


class Changing(NamedTuple):
    """An option, or a setting, that changes what is run."""

    name: str
    """In full: ``--compress-program``, ``-p``, ``SHELL=``."""
    folder: str | None = None
    """The folder or file of a project that it names, where it does no more than that; empty: one that only the run knows."""


TARGET: Final = "a target outside"
"""What an operand is called that names code outside the project."""

_LOADER: Final = re.compile(r"ld(-linux|-musl)?[\w.-]*\.so(\.\d+)*|ld\.so")
_RUNS_IN_CODE: Final = re.compile(
    r"!|\b(system|shell|popen|exec|eval|spawn|source|load|load_extension|pipe|program|python|perl|ruby|lua|term|terminal|make|run"
    r"|edit|editor|extld|toolexec|plugin|execute|become|linker|syscmd|esyscmd)\b"
    r"|\||\bgetline\b|@load|@\s*\w+\s*\(|call-process|start-process", re.IGNORECASE)
_SSH_RUNS: Final = re.compile(r"(?i)(proxy|local|knownhosts|permitlocal)\s{0,9}command|match\s|pkcs11provider|include")
_WHOLE: Final = frozenset("--checkpoint --test --cov --coverage --browser --typecheck --sequence --benchmark --snapshot".split())
"""Long options that are not another one cut short."""
_COPIERS: Final = frozenset("cp ln install mv link rsync ditto gcp ginstall".split())
_PRINTERS: Final = frozenset("cat tee zcat gzip xz base64".split())
_READS_SCRIPTS: Final = SHELLS | {"source", ".", "exec"}
_SHELL_VARIABLES: Final = frozenset(
    "SHELL .SHELLFLAGS MAKEFLAGS MAKE CC CXX LD AR AS RM CPP FC PYTHON NODE MAKEFILES VPATH".split())
_SHELL_SIGNS: Final = re.compile(r"[;|&`$()<>\n]")
_CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl"))
_ENDS: Final = 6
"""Words behind an entrypoint of which each may be the first of its own."""
_MODULES: Final = re.compile(r"python[\d.]*|pypy[\d.]*|coverage")
_CMAKE_PROGRAMS: Final = ("COMPILER", "LAUNCHER", "TOOLCHAIN_FILE", "MAKE_PROGRAM", "INCLUDE", "LINKER")
_JAVA_BUILDERS: Final = frozenset("mvn mvnw mvnd gradle gradlew".split())
_JAVA_PROGRAMS: Final = ("argline", "exec.", "executable", "classpath", "class.path", "jvm", "agent", "compilerarg", "plugin",
                         "script", "repo.", "settings", "extdirs", "javahome", "java.home")
"""Parts of properties that say which programs, agents or libraries a build runs."""
_FLAG_RUNS: Final = re.compile(r"(?:^|[\s,])--?(?:fplugin|wrapper|specs|plugin|load|B(?=[./~\w])|Xclang|fuse-ld|ccc-)")
"""Flags of compilers and linkers by which these load or run something."""
_LOADER_CHARS: Final = 80
_PLAIN: Final = re.compile(r"[\w-]+")
_RUN_SCRIPTS: Final = frozenset("npm pnpm yarn tox nox".split())
_IMPLICIT: Final = frozenset(
    "makefile gnumakefile package.json .npmrc .yarnrc .yarnrc.yml conftest.py setup.py setup.cfg pyproject.toml pytest.ini "
    "tox.ini build.rs cargo.toml config.toml justfile rakefile gemfile build.gradle pom.xml cmakelists.txt .gitconfig config "
    ".gitattributes dockerfile .bashrc .profile sitecustomize.py".split())
"""Files that programs run, or are told by what to run, without being given them."""
_SHELL_KEYS: Final = frozenset("script-shell shell node-options git editor userconfig globalconfig".split())
"""Settings of package managers that say what is run."""


def option_values(word: str) -> tuple[str, ...]:
    """Every value that a word may give to an option, or to a setting: ``--a=b``, ``a=b``, ``-ob``, and each end of a bundle."""
    found = [word.partition("=")[2]] if "=" in word else []
    if word[:1] == "-" and word[1:2] not in ("", "-"):
        letters = next((at for at, sign in enumerate(word[1:], 1) if not sign.isalnum()), len(word) - 1)
        ends = [*range(2, letters + 1)]
        if len(ends) > BUNDLE_LETTERS:
            ends = ends[:BUNDLE_LETTERS // 2] + ends[-BUNDLE_LETTERS // 2:]
        found += [word[at:] for at in ends]
    return tuple(dict.fromkeys(value for value in found if value))


def runs_other(command: SimpleCommand) -> Ran:
    """The command lines that a command runs in turn, beside those that the line itself shows."""
    if any(loading_level(one) == "high" for one in command.assignments):
        return UNKNOWN
    if not command.words:
        return ()
    if command.name is None:
        return UNKNOWN
    behind = _behind(command)
    if behind:
        return behind
    if command.name == "git":
        found = git.runs(command)
        return UNKNOWN if found is None else tuple([text[:_CHARS] for text in found if text])
    if _sets_what_runs(command):
        return UNKNOWN
    if command.name in ("export", "declare", "typeset", "readonly", "local"):
        return UNKNOWN if any(loading_level(word) == "high" for word in command.sketch[1:]) else ()
    inside = _entrypoint(command) if command.name in _CONTAINERS else ()
    command, row = _row_of(command)
    ran = _by_row(command, row) if row is not None else ()
    return UNKNOWN if ran is UNKNOWN or inside is UNKNOWN else (*ran, *inside)


def _entrypoint(command: SimpleCommand) -> Ran:
    """``docker run --entrypoint rm image x`` is ``rm x`` in there; where the image stands is not sure, so each end is one."""
    for at, sketch in enumerate(command.sketch):
        if sketch.partition("=")[0] != "--entrypoint":
            continue
        begin = at + (1 if "=" in sketch else 2)
        value = sketch.partition("=")[2] if "=" in sketch else " ".join(command.sketch[at + 1:at + 2])
        if command.words[at] is None or command.words[begin - 1] is None:
            return UNKNOWN
        rests = [command.sketch[end:] for end in range(begin, min(len(command.sketch), begin + _ENDS))]
        return tuple([" ".join((_base(value), *map(git.quoted, rest)))[:_CHARS] for rest in (*rests, ())])
    return ()


def code_in(command: SimpleCommand) -> list[tuple[str, str]]:
    """Code of the program's own that stands in a command's words, each with its language."""
    command, row = _row_of(command)
    if row is None or not (row.code or row.operand):
        return []
    texts = [value for option, value in _options(command, row) if option in row.code]
    if row.operand and not texts and (places := _operands(command, row)[row.operand - 1:row.operand]):
        texts.append(command.words[places[0]])
    return [(text, row.language) for text in texts if text]


def changing_options(command: SimpleCommand) -> list[Changing]:
    """The options and settings of a command that change what is run: a pattern that allows has to name them."""
    found = [Changing(one.partition("=")[0] + "=") for one in command.assignments if loading_level(one) == "high"]
    if command.name == "git":
        return found + [Changing(*one) for one in git.changing(command)]
    command, row = _row_of(command)
    if row is None:
        return found
    options = _options(command, row)
    plain = {option for option, value in options if option not in row.folders} - {
        option for option, value in options if not _is_plain(command, row, option, value)}
    for option, value in options:  # one that changes something brings the others of its name along: a pattern has to name each
        if option not in plain:
            found.append(Changing(option, (value or "") if option in row.folders else None))
    found += [Changing(word) for word in command.sketch[1:] if word in row.flags]
    if row.stdin and _has_script(command, row):
        found.append(Changing("its input"))
    found += [Changing(option) for option in _for_a_script(command)]
    found += [Changing(TARGET, path) for path in _targets(command, row)]
    return found + [Changing(name) for name in _settings(command, row)]


def _targets(command: SimpleCommand, row: Runner) -> list[str]:
    """Files and folders among a command's operands whose code it runs; a plain word is a name of the project's own."""
    words = [command.sketch[at].partition("::")[0] for at in _operands(command, row)] if row.targets else []
    return [word for word in words if word[:1] in ("/", "~") or word.startswith("..") or "/../" in word]


def _for_a_script(command: SimpleCommand) -> list[str]:
    """Options behind ``--`` that go to a script of the project; and lists of options in a file."""
    if command.name in ("pytest", "py.test"):
        return ["@"] if any(word[:1] == "@" for word in command.sketch[1:]) else []
    if command.name not in _RUN_SCRIPTS:
        return []
    at = command.sketch.index("--") if "--" in command.sketch else 0 if command.name in ("yarn", "pnpm") else len(command.sketch)
    names = [word.partition("=")[0] for word in command.sketch[at + 1:] if word[:1] == "-"]
    found = [name if name in SCRIPT_OPTIONS else name[:2] for name in names]
    known = ROWS[command.name].known
    return [name for name in found if name in SCRIPT_OPTIONS and (at or (name[:2] == "--" and name not in known))]


def _is_plain(command: SimpleCommand, row: Runner, option: str, value: str | None) -> bool:
    """Whether an option, with this value, changes nothing: code that runs nothing, a format by its name, a plugin turned off."""
    if value is None:
        return False
    if option in row.code:
        return not _may_run(value, row, command.name or "")
    if option in row.formats:
        return _PLAIN.fullmatch(value) is not None
    if command.name not in ("pytest", "py.test"):
        return False
    return value.startswith("no:") if option == "-p" else option in ("-W", "--pythonwarnings") and "." not in value


def _settings(command: SimpleCommand, row: Runner) -> list[str]:
    """``SHELL=x`` of make, ``-DCMAKE_C_COMPILER=x``: variables that say which programs are run."""
    if command.name == "cmake":
        words = [word for word in command.sketch[1:] if word[:2] == "-D" or "=" in word]
        given = [word.partition("=")[0] for word in words if word[:2] != "--"]
        return [f"{name}=" for name in given if any(program in name.upper() for program in _CMAKE_PROGRAMS)]
    if command.name in _JAVA_BUILDERS:
        given = [word.partition("=")[0] for word in command.sketch[1:] if word[:2] == "-D"]
        return [f"{name}=" for name in given if any(part in name.lower() for part in _JAVA_PROGRAMS)]
    found_names = []
    for word in command.sketch[1:] if row.sets else ():
        name, equal, value = word.partition("=")
        if equal and word[:1] != "-" and (name.rstrip(":+?!") in _SHELL_VARIABLES or _SHELL_SIGNS.search(value)
                                                or _FLAG_RUNS.search(value)):
            found_names.append(f"{name}=")
    return found_names


class _Known:
    """What the commands of a line so far have made another name of."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.copies: dict[str, str] = {}
        """The program behind a name; empty: one that nobody knows."""
        self.written: set[str] = set()
        """Files that the line itself writes."""

    def names(self, command: SimpleCommand) -> Ran:
        """What a copy, a link or an alias is really called; UNKNOWN where it is something that this line has made."""
        name = command.name
        if name is None or not command.words:
            return ()
        if self.copies.get(name, name) != name:
            words = (self.copies[name], *map(git.quoted, command.sketch[1:]))
            return (" ".join(words)[:_CHARS],) if self.copies[name] else UNKNOWN
        if self.aliases and name == "git":
            return git.aliased(command, self.aliases)
        if not _IMPLICIT.isdisjoint(self.written) and (name == "git" or name in ROWS):
            return UNKNOWN
        first = command.sketch[0]
        if self.written and (("/" in first and name in self.written) or (
                (name in _READS_SCRIPTS or name in ROWS) and any(_base(word) in self.written for word in command.sketch[1:]
                                                                 if word[:1] != "-"))):
            return UNKNOWN if name in _READS_SCRIPTS or "/" in first or ROWS[name].language == "code" else ()
        return ()

    def learn(self, command: SimpleCommand) -> None:
        """Remember what a command makes another name of, or writes."""
        words, name = command.sketch, command.name
        if name == "git" and "config" in words:
            self.aliases.update(git.aliases_set(command))
        elif name in _COPIERS:
            self._copied([word for word in words[1:] if word[:1] != "-" or word.startswith("-t")])
        elif name in ("alias", "hash"):
            self._aliased(name, words)
        elif name == "dd":
            parts = dict(word.partition("=")[::2] for word in words[1:])
            self._named(parts.get("of", ""), parts.get("if", ""))
        for redirect in command.redirects:
            if redirect.writes and redirect.sketch and not redirect.sketch.startswith("/dev/"):
                self.written.add(_base(redirect.sketch))
                self.written.add(_base(redirect.sketch).lower())
                if name in _PRINTERS and len(words) == 2:
                    self._named(redirect.sketch, words[1])
        if name == "tee":
            self.written.update(name for word in words[1:] if word[:1] != "-" for name in (_base(word), _base(word).lower()))

    def _aliased(self, name: str, words: Sequence[str]) -> None:
        if name == "hash" and "-p" in words:
            self._named(words[-1], words[words.index("-p") + 1])
        for word in words[1:]:
            alias, equal, text = word.partition("=")
            if equal:
                self.copies[alias] = text

    def _copied(self, operands: list[str]) -> None:
        for source in operands[:-1]:
            self._named(operands[-1], source)
            if _base(source) not in self.copies:
                self._named(source, source)

    def _named(self, target: str, source: str) -> None:
        if not target or not source:
            return
        opened = "$" in source or "`" in source
        self.copies[_base(target)] = "" if opened else self.copies.get(_base(source), _base(source))


def line_names(commands: Sequence[SimpleCommand]) -> list[Ran]:
    """For every command of a line what it is under its own name, with what the line has made before it; ``()``: what it says."""
    known = _Known()
    found: list[Ran] = []
    for command in commands:
        found.append(known.names(command) or _behind(command))
        known.learn(command)
    return found


def line_runs(commands: Sequence[SimpleCommand]) -> list[Ran]:
    """For every command of a line what it runs in turn, with the aliases, copies and links that the line has made before it."""
    return [names or runs_other(command) for names, command in zip(line_names(commands), commands, strict=True)]


def _behind(command: SimpleCommand) -> tuple[str, ...]:
    """The program that a program is under another name: ``git-push``, ``git send-pack``, an alias given with it, a loader."""
    name = command.name
    if not name or len(command.words) < 1:
        return ()
    if name == "git":
        return git.behind(command)
    if name.startswith("git-"):
        return git.behind_helper(command)
    if name == "hub":
        return (" ".join(("git", *map(git.quoted, command.sketch[1:])))[:_CHARS],)
    if name in VERBS and len(command.sketch) > 1 and len(command.sketch[1]) > 2:
        return tuple([" ".join((name, verb, *command.sketch[2:]))[:_CHARS] for verb in VERBS[name]
                      if verb.startswith(command.sketch[1]) and verb != command.sketch[1]])
    if name[:2] == "ld" and len(name) < _LOADER_CHARS and _LOADER.fullmatch(name):
        at = 1
        while at < len(command.sketch) and command.sketch[at][:1] == "-":
            at += 2 if command.sketch[at] in ("--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath") else 1
        joined = _joined(command, at)
        return () if joined is UNKNOWN else joined
    if name == "ip" and "exec" in command.sketch:
        joined = _joined(command, command.sketch.index("exec") + 2)
        return () if joined is UNKNOWN else joined
    return ()


def _joined(command: SimpleCommand, at: int) -> Ran:
    """The words from here on as a command line."""
    if at >= len(command.words):
        return ()
    first = command.words[at]
    if first is None:
        return UNKNOWN
    return (" ".join(map(git.quoted, (_base(first), *command.sketch[at + 1:])))[:_CHARS],)


def _row_of(command: SimpleCommand) -> tuple[SimpleCommand, Runner | None]:
    """The row of a program, and the command as the row sees it: behind ``python -m`` the module is the program, and a wrapper's
    options end where the command begins that it runs."""
    for _ in range(3):
        name = command.name or ""
        at = command.sketch.index("-m") + 1 if _MODULES.fullmatch(name) and "-m" in command.sketch[:-1] else 0
        if not at or any(word[:1] != "-" and word != "run" for word in command.sketch[1:at - 1]):
            break
        command = structs.replace(command, words=command.words[at:], sketch=command.sketch[at:])
    name = command.name or ""
    row = ROWS.get(name) or (ROWS.get(name.rstrip("0123456789.")) if name[-1:] in "0123456789" else None)
    if row is not None:
        inner = unwrap(command)
        begins = [at for words in inner.commands for at in words[:1] if isinstance(at, int)] if inner is not None else []
        if begins:
            end = min(begins)
            command = structs.replace(command, words=command.words[:end], sketch=command.sketch[:end])
    return command, row


def _by_row(command: SimpleCommand, row: Runner) -> Ran:
    found: list[str] = []
    texts: list[str | None] = []
    if (row.always and len(command.words) > 1) or any(word in row.flags for word in command.sketch[1:]):
        return UNKNOWN
    for option, value in _options(command, row):
        if option in row.loads:
            if _is_plain(command, row, option, value):
                continue
            return UNKNOWN
        if option in row.options:
            if value is None:
                return UNKNOWN
            found.append(_as_line(option, value))
        elif option in row.code:
            texts.append(value)
    places = _operands(command, row)
    operands = [command.words[at] for at in places]
    if row.operand and (not texts or row.stdin):
        texts += operands[row.operand - 1:] if row.stdin else operands[row.operand - 1:row.operand]
    if row.language == "editor":
        texts += [word[1:] for word in command.words[1:] if word is not None and word[:1] == "+"]
    if any([text is None or _may_run(text, row, command.name or "") for text in texts]) or (
            row.stdin and _has_script(command, row)) or _settings(command, row):
        return UNKNOWN
    if row.rest and len(places) >= row.rest:
        last = command.words[places[-1]]
        behind = (last,) if len(places) == row.rest and last is not None else _joined(command, places[row.rest - 1])
        if behind is UNKNOWN:
            return UNKNOWN
        found.extend(behind)
    return tuple([text[:_CHARS] for text in found if text])


def _as_line(option: str, value: str) -> str:
    """A value as the command that it is: ``exec=x`` of tar, ``a,b`` of gcc."""
    if option == "--checkpoint-action":
        return value.rpartition("exec=")[2]
    return value.replace(",", " ") if option == "-wrapper" else value


def _sets_what_runs(command: SimpleCommand) -> bool:
    """``npm config set script-shell x``, ``gh alias set x y``: what later commands run."""
    words = command.sketch[1:]
    if command.name == "gh":
        return words[:1] == ("alias",) and not {"set", "import"}.isdisjoint(words)
    return command.name in ("npm", "pnpm", "yarn") and not {"config", "c", "set"}.isdisjoint(words[:2]) and any(
        word.partition("=")[0].lower() in _SHELL_KEYS for word in words[1:])


def _may_run(code: str, row: Runner, name: str) -> bool:
    """Whether a piece of code may run a command."""
    if row.language == "sed":
        found = read_sed(code[:_CHARS * 4])
        return bool(found.runs) or found.odd or len(code) > _CHARS * 4
    if row.language == "ssh":
        return _SSH_RUNS.search(code) is not None
    if row.language == "code":
        return may_run_commands(code, name)
    return _RUNS_IN_CODE.search(code) is not None


def _has_script(command: SimpleCommand, row: Runner) -> bool:
    """Whether its input is what it does: something feeds it, and no word takes the place of that."""
    fed = command.stdin_from >= 0 or any([one.operator[:1] == "<" for one in command.redirects])
    if not fed:
        return False
    if row.language == "code":
        return all([word is not None and word[:1] in "-/" for word in command.words[1:]]) and "-c" not in command.words
    return row.language == "shell" or command.stdin_text is None or _RUNS_IN_CODE.search(command.stdin_text) is not None


def _options(command: SimpleCommand, row: Runner) -> list[tuple[str, str | None]]:
    """The options of the table that a command has, each with its value; long ones may be cut short, short ones be in a bundle."""
    known = row.known
    found: list[tuple[str, str | None]] = []
    for at, (word, sketch) in enumerate(zip(command.words, command.sketch, strict=True)):
        if at == 0 or (sketch[:1] != "-" and sketch not in known):
            continue
        if sketch == "--":
            break
        following = command.words[at + 1] if at + 1 < len(command.words) else ""
        given, equal, value = sketch.partition("=")
        full = _full_name(given, known, row)
        if full:
            found.append((full, (None if word is None else value) if equal else following))
        elif row.dashes or sketch[:3] in known:
            found += _joined_value(sketch, word, known)
        elif sketch[1:2] != "-":
            found += _bundled(sketch, word, known, following, row.language == "code")
    return found


def _full_name(given: str, known: frozenset[str], row: Runner) -> str:
    """The option that is meant: as it is, with one dash for two, or cut short (``--compress-prog`` is ``--compress-program``)."""
    if given in known:
        return given
    if row.dashes and (single := given[1:] if given[:2] == "--" else given.partition(":")[0]) in known:
        return single
    if given[:2] != "--" or given in _WHOLE or len(given) <= 4:
        return ""
    return next((option for option in sorted(known) if option.startswith(given)), "")


def _joined_value(sketch: str, word: str | None, known: frozenset[str]) -> list[tuple[str, str | None]]:
    """``-B/tmp/x`` where options are words, ``-TT./x``."""
    size = 3 if sketch[:3] in known else 2
    return [(sketch[:size], None if word is None else sketch[size:])] if len(sketch) > size and sketch[:size] in known else []


def _bundled(sketch: str, word: str | None, known: frozenset[str], following: str | None,
             is_code: bool) -> list[tuple[str, str | None]]:
    """The first letter of a bundle that takes a value, with the rest or the next word; of code, both."""
    for at, letter in enumerate(sketch[1:BUNDLE_LETTERS], 1):
        if f"-{letter}" in known:
            rest = sketch[at + 1:]
            found = [(f"-{letter}", None if word is None else rest.removeprefix("=") if rest else following)]
            return [*found, (f"-{letter}", following)] if is_code and rest else found
        if not letter.isalnum():
            break
    return []


def _operands(command: SimpleCommand, row: Runner) -> list[int]:
    """Where the words are that are no options, and no values of options of the table."""
    taking = row.known | row.takes
    found: list[int] = []
    skip = False
    for at, word in enumerate(command.words[1:], 1):
        if skip:
            skip = False
        elif word is not None and word[:1] == "-" and len(word) > 1:
            skip = word in taking
        else:
            found.append(at)
    return found


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
