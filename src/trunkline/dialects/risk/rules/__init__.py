"""The rules of risk, a file per program or family of programs: its rows, and one judge for what rows cannot express.

    reading.py   programs that look                    lookers.py   programs that look and can more
    running.py   shells, interpreters, build tools     editors.py   editors and debuggers
    files.py     programs that change files            archives.py  tar and its like
    git.py       git; its words in git_words.py        github.py    gh, glab, hg
    packages.py  package managers                      network.py   programs that talk to other machines
    machine.py   processes, services, disks, users     docker.py    containers
    clouds.py    kubectl, terraform, aws               databases.py psql, sqlite3
    clients.py   which words of a client are statements requests.py requests that change something
    patches.py   patches in words, or on the input

What holds for whatever program there is stands in ``all_programs/``.

A new rule is a row in the file of its program (``ROWS``); how rows are matched is ``risk/row_matching.py``.

Rule 1: a judge is a function from a call to nothing; it notes on the call.
Rule 2: a name counts only where the shell would find that program. ``./ls`` and ``/tmp/git`` are files that somebody made.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.rules import (
    archives,
    clouds,
    databases,
    docker,
    editors,
    files,
    git,
    github,
    lookers,
    machine,
    network,
    packages,
    patches,
    reading,
    running,
)
from trunkline.dialects.shell import WRAPPERS

Judge = Callable[[ProgramCall], None]

_JUDGES: Final[dict[str, Judge]] = {
    **dict.fromkeys(WRAPPERS, reading.silent),
    **reading.JUDGES,
    **lookers.JUDGES,
    **files.JUDGES,
    **patches.JUDGES,
    **archives.JUDGES,
    **git.JUDGES,
    **github.JUDGES,
    **packages.JUDGES,
    **running.JUDGES,
    **editors.JUDGES,
    **network.JUDGES,
    **machine.JUDGES,
    **docker.JUDGES,
    **clouds.JUDGES,
    **databases.JUDGES,
}
_BINARIES: Final = re.compile(
    r"(/usr|/usr/local|/opt/homebrew|/opt/local|/run/current-system/sw|/snap)?/s?bin/[^/]+"
    r"|(.*/)?(node_modules/\.bin|\.?venv/bin|\.cargo/bin|vendor/bin|\.tox/[^/]+/bin|\.local/bin|go/bin)/[^/]+"
)
_NAME_CHARS: Final = 255
"""No file has a longer name."""
_VERSION: Final = re.compile(r"-?\d+(\.\d+)*t?$")


class Program(NamedTuple):
    """All that is known by the word which starts a program."""

    name: str
    """Without its folder, in small letters; where it is known, as it is known: without a version and a suffix."""
    judge: Judge
    is_ascii: bool
    is_unknown: bool = False
    """Nobody here knows what it does, nor which of its words are code."""
    may_build: bool = False
    """It runs what a folder's files say, as far as anybody here knows."""
    runs_script: bool = False
    """It is a file that somebody made, or runs one: what that does with its words nobody here knows."""
    runs_tasks: bool = False
    """It runs tasks of a project that its words name."""
    empties: bool = False
    """Its words may say that it empties something, as those of no project's own task do."""
    takes_lines: bool = False
    """Some of its words may be command lines: all that is known of them is looked at."""


def _program(name: str, judge: Judge, is_ascii: bool) -> Program:
    is_unknown, may_build = judge is _unknown or name == "swift", judge is _unknown or judge is _JUDGES["make"]
    runs_script = judge is running.run_file or judge in (_JUDGES["python"], _JUDGES["bash"])
    return Program(name, judge, is_ascii, is_unknown, may_build, runs_script, judge in _TASK_RUNNERS,
                   is_unknown or runs_script or judge is _JUDGES["npx"],
                   is_unknown or may_build or runs_script or name in _RUN_THEIR_WORDS)


@lru_cache(maxsize=1024)
def program_of(first: str) -> Program:
    """The program that a word starts."""
    if "@" in first or first in machine.PACKAGES:  # as a registry has it: ``npx @scope/name@1.2``
        package = first[:1] + first[1:].partition("@")[0].partition("[")[0]
        first = machine.PACKAGES.get(package.lower(), package if "/" not in package else first)
    name = first.rpartition("/")[2] or first
    is_ascii, name = name.isascii(), name.lower()
    if "/" in first and not _BINARIES.fullmatch(posixpath.normpath(first)):
        return _program(name, running.run_file, is_ascii)
    plain = name.removesuffix(".exe").removesuffix(".cmd")
    for known in (plain, _VERSION.sub("", plain) if len(plain) <= _NAME_CHARS else plain):
        if known in _JUDGES:
            return _program(known, _JUDGES[known], is_ascii)
    return _program(name, _JUDGES.get(plain.partition(".")[0] + ".*", _unknown), is_ascii)


def is_known(name: str) -> bool:
    """Whether a word is the name of a program that has a judge, as a line would write it."""
    return name.rpartition("/")[2] in _JUDGES


def may_run_words(program: Program, args: Sequence[str]) -> bool:
    """Whether nobody here knows that a program, called with these words, does not run some of them."""
    return program.is_unknown or (
        program.name in _RUN_THEIR_WORDS and not _RUN_THEIR_WORDS[program.name].isdisjoint(args[:_VERB_AMONG]))


def _unknown(call: ProgramCall) -> None:
    if call.args in (("--version",), ("--help",)):
        return
    call.note("medium", "runs a program that is not known here", call.command.text)


_VERB_AMONG: Final = 4
_EXECUTING: Final = frozenset("exec run ssh shell debug rsh attach x -x -c --".split())
_RUN_THEIR_WORDS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys("heroku fly flyctl railway bun vagrant lxc wsl gcloud kubectl oc vercel supabase".split(), _EXECUTING),
    "tmux": frozenset("if-shell if run-shell run pipe-pane set-hook bind-key bind confirm-before display-popup popup".split()),
    **dict.fromkeys("stack cabal dune".split(), _EXECUTING),
    "cargo": frozenset(("watch",)),
    "gh": frozenset(("codespace", "cs")),
    **dict.fromkeys(("screen", "zellij"), frozenset(("--", "-c", "-X", "-e", "run", "--exec"))),
}
"""Programs with judges that run some of their words behind one of these."""

_TASK_RUNNERS: Final = frozenset(
    {_unknown, running.run_file, *(_JUDGES[name] for name in ("make", "npx", "python", "bun", "npm", "supabase", "bq"))})
