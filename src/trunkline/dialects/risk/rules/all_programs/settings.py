"""Variables that a build is given in its words: ``make CC=clang``, ``./configure CC=clang``, ``cmake -DCMAKE_C_COMPILER=clang``.

Rule 1: recipes are lines for a shell, and a variable is a part of them. So a value that a shell would read as more than words may
be a command of its own: under the name of a program it is one, under another name nobody knows.
Rule 2: a value that names a program, or a line, is judged as that line; a program outside is code from outside.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.calls.loaders import FLAG_RUNS, loaded_paths, loads_in_build, searched_folders
from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.rules import is_known

WORDS: Final = 64
"""Of one call that are looked at."""
TEXTS: Final = 4
"""Of these that are judged as lines."""
_SETTING: Final = re.compile(
    r"(?:-[DP]|(?:--?|/)p(?:roperty)?:|[a-z]{1,10}\s{1,9})?([A-Za-z_.][\w.-]{0,80}?)(?::\w{1,12})?\s{0,9}[:+?!]{0,3}=\s{0,9}(.*)",
    re.DOTALL)
_PROGRAM: Final = re.compile(
    r"(?:\w{1,60}[_.])?(?:CC|CXX|CPP|LD|AR|AS|NM|FC|RM|CP|MV|LN|INSTALL|MKDIR|SHELL|MAKE|PYTHON\d?|PIP|NODE|NPM|NPX|YARN|PNPM|GO|CARGO"
    r"|RUSTC|JAVA|JAVAC|PERL|RUBY|PHP|SED|AWK|GREP|TAR|GIT|CURL|WGET|DOCKER|PYTEST|CMAKE|\w{0,60}(?:COMPILER|LINKER|LAUNCHER|WRAPPER"
    r"|COMMAND|PROGRAM|RUNNER|INTERPRETER|SHELLFLAGS"
    r"|TOOLPATH|TOOLEXE|BUILDEVENT|JAVAHOME|CROSS_COMPILE|TOOLCHAIN)|CMD|BIN|EXEC|TOOL|HOOK)", re.IGNORECASE)
"""Names of variables whose value is a program."""
_MORE_THAN_WORDS: Final = re.compile(r"[;|&`<>\n]|\$[({]\s{0,9}(?:shell|eval|file|call|foreach|guile|load)\b")
_BUILDERS: Final = frozenset(
    "make gmake bmake just task mage rake scons waf ninja cmake meson invoke fab configure autogen.sh bootstrap config dotnet "
    "msbuild gradle gradlew".split())
"""What hands such values to a shell. A script is one by its name; another program may do anything with its words."""


def note_settings(call: ProgramCall) -> None:
    """Note the variables of a build that may be commands, and those that name a program outside."""
    left = TEXTS
    for at, arg in enumerate(call.args[:WORDS], 1):
        found = _SETTING.fullmatch(arg) if "=" in arg else None
        if found is None or not found[2]:
            continue
        is_program, value = _PROGRAM.fullmatch(found[1]) is not None, found[2]
        if call.name not in _BUILDERS and not (is_program and found[1].isupper()):
            continue
        if _MORE_THAN_WORDS.search(value) is not None:
            call.note("high" if is_program else "medium", "gives the build a variable that may be a command", arg, unsure=True)
        elif is_program and call.command.words[at] is None:
            call.note("medium", "gives the build a program that is only known when it runs", arg, unsure=True)
        elif FLAG_RUNS.search(value) is not None:
            call.note("high", "makes the compiler load or run something", arg)
        if arg[:1] != "-" and (not is_program or found[1].startswith("GIT_")) and _loads(call, f"{found[1]}={value}"):
            call.note("high", "changes what other programs load or run", arg)
        if is_program and call.places.is_foreign(value.partition(" ")[0]):
            call.note("high", "makes the build run a program outside the session's folders", arg)
        if left and _may_be_line(value):
            left -= 1
            call.bring(value)


def _loads(call: ProgramCall, setting: str) -> bool:
    return loads_in_build(setting) or any([call.places.kind(one) == "inside" for one in searched_folders(setting)]) or any(
        [call.places.is_foreign(one) for one in loaded_paths(setting)])


def _may_be_line(value: str) -> bool:
    return (" " in value or ";" in value) and any(is_known(piece.split()[0]) for piece in re.split(r"[;|&]", value[:400])
                                                  if piece.strip())
