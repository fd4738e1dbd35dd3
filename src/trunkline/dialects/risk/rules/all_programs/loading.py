"""Options and arguments that name code to be loaded: configurations, plugins, tests. Outside the session's folders it is code
from outside.

Rule 1: which options those are says ``risk/runners/table.py``, which policies go by as well; here is only what it leaves out.
Rule 2: what is installed with the system is no code that somebody put there, and a file in a folder above the session's is what
these programs find by themselves.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final

from msgspec import structs

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.output_options import SCRIPT_OUTPUTS
from trunkline.dialects.risk.places import Places, look
from trunkline.dialects.risk.runners.changing import target_paths
from trunkline.dialects.risk.runners.scripts import values_handed_on
from trunkline.dialects.risk.runners.table import ROWS, Runner
from trunkline.dialects.risk.runners.words import options_of, row_of
from trunkline.dialects.shell import SimpleCommand

_NOT_CODE: Final = frozenset(
    "ruff black isort rustfmt golangci-lint tsc bandit docker podman nerdctl apt apt-get "
    "aptitude dpkg pip pip3 git curl wget ssh scp sftp rsync ansible ansible-playbook tar gtar bsdtar man less more "
    "rg ripgrep psql mysql mariadb sqlite3 sqlite mongo mongosh duckdb usql awk gawk mawk nawk original-awk sed gsed ssed gcc "
    "g++ cc c++ clang clang++ ld virtualenv dotnet nano emacs ftp ssh-keygen ssh-add".split())
"""Programs of the table whose files there are settings or data, or whose own judges look at them."""

_MORE: Final[dict[str, frozenset[str]]] = {
    "java": frozenset("-cp -classpath --class-path -jar -p --module-path".split()),
    "javac": frozenset("-processorpath --processor-path".split()),
}
_AGENTS: Final = re.compile(r"-(javaagent|agentpath|Xbootclasspath/[ap]|Xplugin):")
_ANY_FILE: Final = frozenset(("coverage", "nodemon", "tsx", "ts-node"))
"""What they run is an operand."""
_CONFIGURATIONS: Final = frozenset("-c --config --config-file --rcfile --project -p --root --rootDir --rootdir".split())
"""What programs look for by themselves, in the folders above as well."""
_FOLDERS: Final = frozenset("--root --rootDir --rootdir".split())
"""Of these: what is a folder. That one lies beside the session's does not make it one above."""
_WORK_IN: Final = frozenset(
    "--rootdir --root-dir --root --chdir -chdir --cwd --working-dir --working-directory --project-dir --project-directory "
    "--project-root --workspace-root --manifest-path --package-path --rulesdir --plugin".split())
"""Options of whatever program by which it works in another folder, or takes code from there."""
_FLAGS: Final = frozenset(("go", "rustc"))
"""Their code is flags for other programs, which may be named there."""
_IN_FOLDER: Final = frozenset("uv uvx poetry pdm pipenv".split())
"""Their project is the folder that they are given, and not one that they find in a folder above."""
_ONLY_READ: Final = {"go": frozenset("vet list doc fmt version env".split())}
"""Sub-commands that run nothing of what they name."""
_SIGNS: Final = re.compile(r"[/~]|\.\.")
_BETWEEN: Final = re.compile(r"[,;:=\"'{}\[\]]")
_PIECES: Final = 32
_NO_ABOVE: Final = frozenset(("/", "/tmp", "/var/tmp", "/dev/shm"))


def note_loaded(call: ProgramCall, builds: bool = False) -> None:
    """Note code from outside that a call names. ``builds``: it is a program that runs what a folder says, or may be."""
    for option, value in (*_named(call), *(_worked_in(call.command) if builds else ())):
        for piece in (value, *[part.strip("\"' ") for part in _BETWEEN.split(value, maxsplit=_PIECES)]):
            if _SIGNS.search(piece) and _is_from_outside(call.places, piece, option):
                call.at_least("high", "loads code from outside the session's folders", value)
                return


def _is_from_outside(places: Places, path: str, option: str) -> bool:
    """Whether a path names code that is neither the session's nor installed."""
    if path[:1] not in "/~." and "../" not in path:
        return False
    path = path.partition("::")[0]
    if not places.is_foreign(path) or (option == "--kubeconfig" and "/.kube/" in path):
        return False
    above = places.resolve(path)
    above = above if option in _FOLDERS else posixpath.dirname(above)
    is_above = above not in _NO_ABOVE and any([root.startswith(f"{above}/") for root in places.roots])
    return not (is_above and option in _CONFIGURATIONS)


def _named(call: ProgramCall) -> Iterator[tuple[str, str]]:
    """The options that name code, with their values, and the operands that do."""
    command = call.command
    name = command.name or ""
    yield from _for_a_script(call)
    if name in ("npx", "bunx") and command.sketch[1:2] and command.sketch[1] in ROWS:
        command = structs.replace(command, words=command.words[1:], sketch=command.sketch[1:])
    command, row = row_of(command)
    name = command.name or ""
    if name in _MORE:
        yield from _more(command, _MORE[name])
    if row is None or name in _NOT_CODE:
        return
    if name == "cmake":
        command = _without_settings(command)
    for option, value in options_of(command, row):
        if value and (_names_code(row, option) or (name in _FLAGS and option in row.code)):
            yield "" if name in _IN_FOLDER else option, value
    operands = [word for word in command.sketch[1:] if word[:1] != "-"] if name in _ANY_FILE else target_paths(command, row)
    for operand in operands if _ONLY_READ.get(name, frozenset()).isdisjoint(command.sketch[1:2]) else ():
        yield "", operand


def _worked_in(command: SimpleCommand) -> Iterator[tuple[str, str]]:
    """The folders that any program is told to work in."""
    for at, word in enumerate(command.sketch[1:], 1):
        option, equal, value = word.partition("=")
        if option in _WORK_IN:
            yield "", value if equal else " ".join(command.sketch[at + 1:at + 2])


def _without_settings(command: SimpleCommand) -> SimpleCommand:
    """cmake without its ``-DNAME=value``, which are no options in a bundle."""
    kept = [at for at, word in enumerate(command.sketch) if word[:2] != "-D"]
    return structs.replace(command, words=tuple([command.words[at] for at in kept]),
                           sketch=tuple([command.sketch[at] for at in kept]))


def _names_code(row: Runner, option: str) -> bool:
    return option in row.loads or option in row.changes or option in row.folders or option in row.options


def _more(command: SimpleCommand, options: frozenset[str]) -> Iterator[tuple[str, str]]:
    for at, word in enumerate(command.sketch[1:], 1):
        option, equal, value = word.partition("=")
        if option in options:
            yield option, value if equal else " ".join(command.sketch[at + 1:at + 2])
        elif (agent := _AGENTS.match(word)) is not None:
            yield agent[0], word[agent.end():]


def _for_a_script(call: ProgramCall) -> Iterator[tuple[str, str]]:
    """What goes to a script of the project: options with their values, and operands. What is written to a folder for temporary
    files is no code, nor is an address."""
    for option, value in values_handed_on(call.command):
        if "://" not in value and not (option in SCRIPT_OUTPUTS and look(call.places, value).kind == "temp"):
            yield option, value


_DEBUGGED: Final = re.compile(r"--inspect[\w-]{0,20}=(?!(?:127\.|localhost|\[?::1)[\w.:\]]*$|\d+$).+")


def note_debugger(call: ProgramCall) -> None:
    """Note a debugger that other machines can reach."""
    if any([arg[:9] == "--inspect" and _DEBUGGED.fullmatch(arg) for arg in call.args]):
        call.note("high", "opens this machine to the network", call.command.text)
