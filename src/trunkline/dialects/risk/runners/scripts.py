"""Words that a runner of scripts hands on to a script of the project: ``npm test -- x``. Which program gets them is not known.

Rule: npm keeps options for itself that stand before ``--``; others hand on all that follows the script's name.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.output_options import SCRIPT_OUTPUTS, is_expected
from trunkline.dialects.risk.runners.table import ROWS, SCRIPT_FORMATS, SCRIPT_OPTIONS
from trunkline.dialects.shell import SimpleCommand

NODE_RUNNERS: Final = frozenset("npm cnpm pnpm yarn bun".split())
_DASHED: Final = frozenset("tox nox turbo nx lerna composer".split())
"""They hand on what follows ``--``."""
_RUN: Final = frozenset("run run-script rum urn".split())
_SCRIPTS: Final = frozenset("test t tst start stop restart".split())
_OWN: Final = frozenset(
    "add install i ci remove rm uninstall up upgrade update link unlink init create dlx exec x why list ls info audit outdated "
    "publish pack config cache store import dedupe patch npm workspaces plugin set bin prune rebuild root licenses login "
    "logout version "
    "view".split())
"""Verbs of package managers behind which no script stands."""
_PLAIN: Final = re.compile(r"[\w-]+")
_FILE: Final = re.compile(r"[/\\]|\.(?:[cm]?[jt]sx?|py|rb|so|json|ya?ml)$|^~")
_NAMES: Final = frozenset("-t -g -k -m --grep --fgrep --testNamePattern --test-name-pattern --filter --match".split())
"""Options whose value is the name of a test."""


def handed_on(command: SimpleCommand) -> list[int]:
    """Where the words are that go to a script of the project."""
    words, name = command.sketch, command.name or ""
    if name not in NODE_RUNNERS and name not in _DASHED:
        return []
    dashes = words.index("--") if "--" in words else len(words)
    if name in _DASHED:
        return list(range(dashes + 1, len(words)))
    first = _behind_script(words, ROWS[name].taking if name in ROWS else frozenset())
    if name not in ("npm", "cnpm"):
        return [at for at in range(first, len(words)) if at != dashes]
    own = [at for at in range(first, min(dashes, len(words))) if words[at][:1] != "-" and words[at - 1] not in ROWS["npm"].taking]
    return [*own, *range(max(first, dashes + 1), len(words))]


def _behind_script(words: tuple[str, ...], taking: frozenset[str]) -> int:
    """Where the words behind the script's name begin; past the end where no script is run."""
    at, wanted = 1, 1
    while at < len(words):
        word = words[at]
        if word[:1] == "-" or word == "workspace":
            at += 2 if word in taking or word == "workspace" else 1
            continue
        if wanted == 1 and word in _OWN:
            break
        wanted += word in _RUN and wanted == 1
        wanted -= 1
        at += 1
        if not wanted:
            return at
    return len(words)


def values_handed_on(command: SimpleCommand) -> list[tuple[str, str]]:
    """Options that go to a script with their values, and operands, with an empty option; names of tests are left out."""
    found: list[tuple[str, str]] = []
    words = command.sketch
    for at in handed_on(command):
        option, equal, value = words[at].partition("=")
        before = words[at - 1] if words[at - 1][:1] == "-" and "=" not in words[at - 1] else ""
        if words[at][:1] != "-":
            if before not in _NAMES and " " not in words[at]:
                found.append((before if before in SCRIPT_OPTIONS or before in SCRIPT_FORMATS else "", words[at]))
        elif equal and option not in _NAMES:
            found.append((option, value))
        elif words[at][1:2] != "-" and len(words[at]) > 2:
            found.append((words[at][:2], words[at][2:]))
    return found


def changing_for_scripts(command: SimpleCommand) -> list[str]:
    """Options among these that say which code is run, or that write what is no report."""
    handed = [command.sketch[at].partition("=")[0] for at in handed_on(command) if command.sketch[at][:1] == "-"]
    named = [name if name in SCRIPT_OPTIONS else name[:2] for name in handed]
    found = [name for name in named if name in SCRIPT_OPTIONS]
    for option, value in values_handed_on(command):
        if option in SCRIPT_FORMATS and (_FILE.search(value) if len(option) == 2 else _PLAIN.fullmatch(value) is None):
            found.append(option)
        elif option in SCRIPT_OUTPUTS and not is_expected(value):
            found.append(option)
    return found
