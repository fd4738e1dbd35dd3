"""The options, settings and operands of a command that change what is run: a pattern that allows has to name them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from trunkline.dialects.calls.loaders import FLAG_RUNS, loaded_paths, loads_in_build
from trunkline.dialects.calls.variables import is_never_harmless, loading_level
from trunkline.dialects.risk.inline.awk import AWKS, given_values, read_awk
from trunkline.dialects.risk.inline.plain_code import is_plain as is_plain_code
from trunkline.dialects.risk.inline.sed import read_sed
from trunkline.dialects.risk.output_options import is_expected, unexpected_outputs
from trunkline.dialects.risk.runners import git
from trunkline.dialects.risk.runners.code import code_in, has_script, may_run
from trunkline.dialects.risk.runners.scripts import changing_for_scripts, values_handed_on
from trunkline.dialects.risk.runners.table import Runner
from trunkline.dialects.risk.runners.words import operands_of, options_of, row_of, without_settings
from trunkline.dialects.shell import SimpleCommand


class Changing(NamedTuple):
    """An option, or a setting, that changes what is run."""

    name: str
    """In full: ``--compress-program``, ``-p``, ``SHELL=``."""
    folder: str | None = None
    """The folder or file of a project that it names, where it does no more than that; empty: one that only the run knows."""


TARGET: Final = "a target outside"
"""What an operand is called that names code outside the project."""
COMPUTED: Final = "a file that only the run knows"
"""What code writes to that puts the name together."""

_SHELL_VARIABLES: Final = frozenset(
    "SHELL .SHELLFLAGS MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKE CC CXX LD AR AS RM CPP FC PYTHON NODE MAKEFILES VPATH".split())

_SHELL_SIGNS: Final = re.compile(r"[;|&`$()<>\n]")

_CMAKE_PROGRAMS: Final = ("COMPILER", "LAUNCHER", "TOOLCHAIN_FILE", "MAKE_PROGRAM", "INCLUDE", "LINKER")

_JAVA_BUILDERS: Final = frozenset("mvn mvnw mvnd gradle gradlew".split())

_JAVA_PROGRAMS: Final = ("argline", "exec.", "executable", "classpath", "class.path", "jvm", "agent", "compilerarg", "plugin",
                         "script", "repo.", "settings", "extdirs", "javahome", "java.home")
"""Parts of properties that say which programs, agents or libraries a build runs."""

_PLAIN: Final = re.compile(r"[\w-]+")

_REPLACERS: Final = {"hash": "p", "enable": "f"}
"""Builtins that make a name stand for another program, each with the letter that does."""

def changing_options(command: SimpleCommand) -> list[Changing]:
    """The options and settings of a command that change what is run: a pattern that allows has to name them."""
    found = [Changing(one.partition("=")[0] + "=") for one in command.assignments if loading_level(one) == "high"]
    found += [Changing(one.partition("=")[0] + "=") for one in command.binds if _changes(one)]
    if command.name in _REPLACERS:
        letter = _REPLACERS[command.name]
        found += [Changing(f"-{letter}") for word in command.sketch[1:] if word[:1] == "-" and letter in word]
    if command.name == "git":
        return found + [Changing(*one) for one in git.changing(command)]
    found += [Changing(option) for option in (*unexpected_outputs(command), *_written_by_lookers(command))]
    command, row = row_of(command)
    if row is None:
        return found + [Changing(path) for path in statement_files(command)]
    if command.name in ("cargo", "go"):
        found += [Changing(option) for option in _of_compilers(command)]
    options = options_of(without_settings(command) if command.name == "cmake" else command, row)
    plain = {option for option, value in options if option not in row.folders} - {
        option for option, value in options if not is_plain(command, row, option, value)}
    for option, value in options:  # one that changes something brings the others of its name along: a pattern has to name each
        if option not in plain:
            found.append(Changing(option, _folder(value or "") if option in row.folders else None))
    found += [Changing(word) for word in command.sketch[1:] if word in row.flags]
    if row.stdin and has_script(command, row):
        found.append(Changing("its input"))
    found += [Changing(path) for path in statement_files(command)]
    found += [Changing(name) for name in _of_awk(command)] if command.name in AWKS else ()
    found += [Changing(option) for option in _for_a_script(command)]
    handed = [value for option, value in values_handed_on(command) if not option]
    found += [Changing(TARGET, path) for path in (*target_paths(command, row), *filter(_leads_out, handed))]
    return found + [Changing(name) for name in settings_of(command, row)]


def _of_compilers(command: SimpleCommand) -> list[str]:
    """A toolchain by its path (``cargo +./x build``), and words for a compiler or a linker by which that runs something."""
    words = command.sketch
    found = [words[1]] if words[1:2] and words[1][:1] == "+" and "/" in words[1] else []
    handed = words[words.index("--") + 1:] if "--" in words and not _TO_COMPILERS.isdisjoint(words[1:4]) else ()
    handed = words[3:] if words[:2] == ("go", "tool") else handed
    return found + [word.partition("=")[0] for word in handed if _COMPILER_RUNS.search(word)]


_TO_COMPILERS: Final = frozenset(("rustc", "rustdoc", "clippy"))
_COMPILER_RUNS: Final = re.compile(
    r"linker|link-arg|codegen-backend|^-Z|^-?-?(?:extld|toolexec|extldflags|plugin|wrapper)|sysroot")
"""Words for a compiler or a linker that say what it runs or loads."""


def _folder(value: str) -> str | None:
    """The folder that an option names, without what pip adds to it (``.[dev]``); None where it is an address."""
    return None if "://" in value else value.partition("[")[0] if value[:1] == "." else value


def _of_awk(command: SimpleCommand) -> list[str]:
    """What a script of awk does that no pattern covers: it loads more of it, or writes files whose names it puts together."""
    values = given_values(command.sketch[1:])
    scripts = [read_awk(text[:git.CHARS], values) for text, _ in code_in(command)]
    return [name for one in scripts for name, is_so in ((COMPUTED, one.opens), ("@include", bool(one.includes))) if is_so]


def _written_by_lookers(command: SimpleCommand) -> list[str]:
    """What a program that looks and prints writes by its own language, its operands or in place: ``sed -n -i p x``,
    ``uniq a b``, ``awk '{print > "x.py"}'``. A report by its name is what such a pattern means."""
    name, words = command.name or "", command.sketch[1:]
    if name == "uniq":
        operands = [word for word in words if word[:1] != "-" or word == "-"]
        return [path for path in operands[1:2] if path != "-" and not is_expected(path)]
    if name in _SEDS:
        is_quiet = any(_QUIET_SED.fullmatch(word) for word in words)
        in_place = [word for word in words if _IN_PLACE.match(word)] if is_quiet else []
        texts = [path for text, _ in code_in(command) for path in read_sed(text[:git.CHARS * 4]).writes]
        return (["-i"] if in_place else []) + ["w" for path in texts if not _is_report(path)]
    if name in AWKS:
        values = given_values(words)
        texts = [path for text, _ in code_in(command) for path in read_awk(text[:git.CHARS], values).writes]
        return ["print >" for path in texts if not _is_report(path)]
    return []


def _is_report(path: str) -> bool:
    return path.startswith("/dev/") or is_expected(path)


_SEDS: Final = frozenset(("sed", "gsed", "ssed"))
_QUIET_SED: Final = re.compile(r"-[Ersuz]{0,5}n[A-Za-z]{0,9}|--quiet|--silent")
_IN_PLACE: Final = re.compile(r"-[EnrsuzE]{0,6}i|--in-place")


def _changes(assignment: str) -> bool:
    """Whether a name that a command sets says which code is loaded, which program runs or where one looks."""
    return is_never_harmless(assignment.partition("=")[0].partition("[")[0]) or loading_level(assignment) is not None


def target_paths(command: SimpleCommand, row: Runner) -> list[str]:
    """Files and folders among a command's operands whose code it runs; a plain word is a name of the project's own."""
    end = command.sketch.index("-args") if command.name == "go" and "-args" in command.sketch else len(command.sketch)
    words = [command.sketch[at].partition("::")[0] for at in operands_of(command, row) if at < end] if row.targets else []
    return [word for word in words if _leads_out(word)]


def statement_files(command: SimpleCommand) -> list[str]:
    """What operands of a database's client name as files of statements: ``mongosh x.js``, ``sqlplus @x``, ``.read x``."""
    words, name = command.sketch[1:], command.name or ""
    if name in ("mongo", "mongosh"):
        return [word for word in words if word[:1] != "-" and word.endswith((".js", ".mjs", ".cjs", ".mongodb"))]
    if name in ("sqlplus", "sqlcl", "sql"):
        return [word.lstrip("@") for word in words if word[:1] == "@" and word.strip("@")]
    if name in ("sqlite3", "sqlite", "duckdb"):
        statements = [word.split(maxsplit=1) for word in words if ".read" in word]
        return [parts[1] for parts in statements if parts[0] == ".read" and len(parts) > 1]
    return []


def _leads_out(word: str) -> bool:
    return word[:1] in ("/", "~") or word.startswith("..") or "/../" in word


def _for_a_script(command: SimpleCommand) -> list[str]:
    """Options that go to a script of the project; and lists of options in a file."""
    if command.name in ("pytest", "py.test"):
        return ["@"] if any(word[:1] == "@" for word in command.sketch[1:]) else []
    return changing_for_scripts(command)


def is_plain(command: SimpleCommand, row: Runner, option: str, value: str | None) -> bool:
    """Whether an option, with this value, changes nothing: code that runs nothing, a format by its name, a plugin turned off."""
    if value is None:
        return False
    if option in row.code:
        name = command.name or ""
        return not may_run(value, row, name) and (row.language != "code" or is_plain_code(value, name))
    if option in row.formats:
        return _PLAIN.fullmatch(value) is not None
    if command.name not in ("pytest", "py.test"):
        return False
    return value.startswith("no:") if option == "-p" else option in ("-W", "--pythonwarnings") and "." not in value


def settings_of(command: SimpleCommand, row: Runner) -> list[str]:
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
                                                or FLAG_RUNS.search(value) or loads_in_build(word)
                                                or any(map(_leads_out, loaded_paths(word)))):
            found_names.append(f"{name}=")
    return found_names
