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
from trunkline.dialects.risk.runners.words import options_of, row_of, without_settings
from trunkline.dialects.shell import SimpleCommand

_NOT_CODE: Final = frozenset(
    "ruff black isort rustfmt golangci-lint bandit docker podman nerdctl apt apt-get "
    "aptitude dpkg pip pip3 git curl wget ssh scp sftp rsync ansible ansible-playbook tar gtar bsdtar man less more "
    "rg ripgrep psql mysql mariadb sqlite3 sqlite mongo mongosh duckdb usql awk gawk mawk nawk original-awk sed gsed ssed gcc "
    "g++ cc c++ clang clang++ ld virtualenv dotnet nano emacs ftp ssh-keygen ssh-add".split())
"""Programs of the table whose files there are settings or data, or whose own judges look at them."""

_MORE: Final[dict[str, frozenset[str]]] = {
    "java": frozenset("-cp -classpath --class-path -jar -p --module-path --patch-module --upgrade-module-path".split()),
    "javac": frozenset("-processorpath --processor-path".split()),
    "rustc": frozenset(("--extern",)),
    **dict.fromkeys("gcc g++ cc c++ ld".split(), frozenset[str]()),
    **dict.fromkeys(("clang", "clang++"), frozenset(("--config",))),
}
"""Further options that name code, or a file of further options; such a file is also what these name behind ``@``."""
_PASSES_ON: Final = {"rustc": "rustc", "rustdoc": "rustc"}
"""Sub-commands of cargo whose words behind ``--`` are those of a compiler."""
_AGENTS: Final = re.compile(r"(?:-J)?-(javaagent|agentpath|Xbootclasspath/[ap]|Xplugin):")
_ANY_FILE: Final = frozenset(("coverage", "nodemon", "tsx", "ts-node"))
"""What they run is an operand."""
_CONFIGURATIONS: Final = frozenset("-c --config --config-file --rcfile --project -p --root --rootDir --rootdir".split())
"""What programs look for by themselves, in the folders above as well."""
_FOLDERS: Final = frozenset("--root --rootDir --rootdir".split())
"""Of these: what is a folder. That one lies beside the session's does not make it one above."""
_PROJECTS: Final = frozenset(("-p", "--project"))
"""Of these: what is a folder where its name has no ending."""
_WORK_IN: Final = frozenset(
    "--rootdir --root-dir --root --chdir -chdir --cwd --working-dir --working-directory --project-dir --project-directory "
    "--project-root --workspace-root --manifest-path --package-path --rulesdir --plugin --load-extension --lua-filter "
    "--pdf-engine --preload --pythonpath".split())
"""Options of whatever program by which it works in another folder, or takes code from there."""
_CODE_OF_SCRIPTS: Final = tuple(
    "--pythonpath --python-path --include-path --load-path --app-dir --plugin-path --plugins-dir --plugin-dir --plugin --preload "
    "--load-extension".split())
"""Options of whatever script by which it takes code from a folder; of another folder nobody knows what a script does there."""
_SHORTEST: Final = 8
"""Characters of such an option that is cut short."""
_FLAGS: Final = frozenset(("go", "rustc"))
"""Their code is flags for other programs, which may be named there."""
_IN_FOLDER: Final = frozenset("uv uvx poetry pdm pipenv".split())
"""Their project is the folder that they are given, and not one that they find in a folder above."""
_ONLY_READ: Final = {"go": frozenset("vet list doc fmt version env".split())}
"""Sub-commands that run nothing of what they name."""
_SIGNS: Final = re.compile(r"[/~]|\.\.")
_BETWEEN: Final = re.compile(r"[,;:=\"'{}\[\]]")
_PIECES: Final = 32
_CODE: Final = re.compile(r"\.(?:[cm]?[jt]sx?|py|rb|lua|php)$", re.IGNORECASE)
_CONFIGURES: Final = re.compile(r"conf|rc\b|setup|settings|file\.", re.IGNORECASE)
"""Code that programs look for by itself is named after what it is; another file is one that somebody chose."""
_NO_ABOVE: Final = frozenset(("/", "/tmp", "/var/tmp", "/dev/shm"))


def note_loaded(call: ProgramCall, builds: bool = False, is_script: bool = False) -> None:
    """Note code from outside that a call names. ``builds``: it is a program that runs what a folder says, or may be;
    ``is_script``: it is a file that somebody made."""
    _note_addresses(call)
    for option, value in (*_named(call), *_libraries(call), *(_worked_in(call.command) if builds else ()),
                          *(_loaded_by_script(call.command) if is_script else ())):
        for piece in (value, *[part.strip("\"' ") for part in _BETWEEN.split(value, maxsplit=_PIECES)]):
            if _SIGNS.search(piece) and _is_from_outside(call.places, piece, option):
                call.at_least("high", "loads code from outside the session's folders", value)
                return


_FROM: Final = re.compile(
    r"(?:-{1,2}[\w.:-]{0,60}(?:template|distribution-url|catalog|repositor|source)[\w.:-]{0,20}|location|-m)", re.IGNORECASE)
"""What is given where code comes from: a template is a program where it is made into a project."""
_ADDRESS: Final = re.compile(r"['\"]?(?:https?|ftp|git|ssh)://|git@|github:")
_LIBRARY: Final = re.compile(r"(?:^|[=:,])((?:/|~|\.\.)[^=:,\s]{0,1000}\.(?:so|dylib|dll|jar)(?:\.\d{1,4}){0,3})$")
_LOAD_LIBRARIES: Final = frozenset(
    "java javac javaw kotlin kotlinc scala scalac groovy clang clang++ gcc g++ cc c++ swift swiftc rustc ghc openssl dotnet "
    "ctest node ruby perl php lua luajit gdb lldb sqlite3 psql mysql nginx gradle gradlew mvn mvnw ant sbt".split())
"""Programs that load a library which they are given, whatever the option is called."""
_KEPT_FOR_BUILDS: Final = ("/.m2/", "/.gradle/", "/.ivy2/", "/.nuget/", "/.sdkman/", "/.cache/coursier/")


def _note_addresses(call: ProgramCall) -> None:
    """Note an address that a program takes its code from: ``rails new x -m https://y``."""
    for at, arg in enumerate(call.args if any(["://" in arg or ":" in arg for arg in call.args]) else ()):
        option, equal, value = arg.partition("=")
        if _FROM.fullmatch(option) is None or (option == "-m" and call.name != "rails"):
            continue
        value = value if equal else " ".join(call.args[at + 1:at + 2])
        if _ADDRESS.match(value) is not None:
            call.at_least("high", "takes its code from an address", value)


def _libraries(call: ProgramCall) -> Iterator[tuple[str, str]]:
    for arg in call.args if call.name in _LOAD_LIBRARIES else ():
        if (found := _LIBRARY.search(arg)) is not None and not any([part in found[1] for part in _KEPT_FOR_BUILDS]):
            yield "", found[1]


def _is_from_outside(places: Places, path: str, option: str) -> bool:
    """Whether a path names code that is neither the session's nor installed."""
    if path[:1] not in "/~." and "../" not in path:
        return False
    path = path.partition("::")[0]
    if not places.is_foreign(path) or (option == "--kubeconfig" and "/.kube/" in path):
        return False
    above = places.resolve(path)
    names_folder = option in _FOLDERS or (option in _PROJECTS and "." not in posixpath.basename(above))
    above = above if names_folder else posixpath.dirname(above)
    is_above = above not in _NO_ABOVE and any([root.startswith(f"{above}/") for root in places.roots])
    is_found = _CODE.search(path) is None or _CONFIGURES.search(posixpath.basename(path)) is not None
    return not (is_above and option in _CONFIGURATIONS and is_found)


def _named(call: ProgramCall) -> Iterator[tuple[str, str]]:
    """The options that name code, with their values, and the operands that do."""
    command = call.command
    name = command.name or ""
    yield from _for_a_script(call)
    if name in ("npx", "bunx") and command.sketch[1:2] and command.sketch[1] in ROWS:
        command = structs.replace(command, words=command.words[1:], sketch=command.sketch[1:])
    command, row = row_of(command)
    name = command.name or ""
    if name == "cargo":
        yield from _of_cargo(command)
    if name in _MORE:
        yield from _more(command, _MORE[name])
    if row is None or name in _NOT_CODE:
        return
    if name == "cmake":
        command = without_settings(command)
    for option, value in options_of(command, row):
        if value and (_names_code(row, option) or (name in _FLAGS and option in row.code)):
            yield "" if name in _IN_FOLDER else option, value
    operands = [word for word in command.sketch[1:] if word[:1] != "-"] if name in _ANY_FILE else target_paths(command, row)
    for operand in operands if _ONLY_READ.get(name, frozenset()).isdisjoint(command.sketch[1:2]) else ():
        yield "", operand


_OF_CARGO: Final = frozenset(
    "--target --config-file --tool-config-file --archive-file --workspace-remap --makefile --lockfile-path --binaries-metadata "
    "--cargo-metadata".split())
"""Options of cargo, and of programs that it starts, whose file says which linker or which scripts run, or is run itself."""


_RUST_AMONG: Final = 12
"""Words of cargo in which a file of code is looked for."""


def _of_cargo(command: SimpleCommand) -> Iterator[tuple[str, str]]:
    """A toolchain by its path (``cargo +/x build``), files that say what is run, and what is handed to the compiler."""
    words = command.sketch
    yield from [("", word[1:]) for word in words[1:2] if word[:1] == "+"]
    yield from [("", word) for word in words[1:_RUST_AMONG] if word[:1] != "-" and word.endswith(".rs")]
    yield from [("", value) for option, value in _more(command, _OF_CARGO) if option]
    if "--" in words and (compiler := next((_PASSES_ON[word] for word in words[1:4] if word in _PASSES_ON), "")):
        at = words.index("--")
        handed = structs.replace(command, words=(compiler, *command.words[at + 1:]), sketch=(compiler, *words[at + 1:]))
        yield from [(option, value) for option, value in options_of(handed, ROWS[compiler]) if value]


def _worked_in(command: SimpleCommand) -> Iterator[tuple[str, str]]:
    """The folders that any program is told to work in."""
    for at, word in enumerate(command.sketch[1:], 1):
        option, equal, value = word.partition("=")
        if option in _WORK_IN:
            yield "", value if equal else " ".join(command.sketch[at + 1:at + 2])


def _loaded_by_script(command: SimpleCommand) -> Iterator[tuple[str, str]]:
    """The folders that a script is told to take code from: ``python manage.py --pythonpath=../x``, also cut short."""
    for at, word in enumerate(command.sketch[1:], 1):
        option, equal, value = word.partition("=")
        if option[:2] == "--" and len(option) >= _SHORTEST and any([one.startswith(option) for one in _CODE_OF_SCRIPTS]):
            yield "", value if equal else " ".join(command.sketch[at + 1:at + 2])


def _names_code(row: Runner, option: str) -> bool:
    return option in row.loads or option in row.changes or option in row.folders or option in row.options


def _more(command: SimpleCommand, options: frozenset[str]) -> Iterator[tuple[str, str]]:
    for at, word in enumerate(command.sketch[1:], 1):
        option, equal, value = word.partition("=")
        if option in options:
            yield option, value if equal else " ".join(command.sketch[at + 1:at + 2])
        elif word[:1] == "@":
            yield "", word[1:]
        elif (agent := _AGENTS.match(word)) is not None:
            yield agent[0], word[agent.end():]


def _for_a_script(call: ProgramCall) -> Iterator[tuple[str, str]]:
    """What goes to a script of the project: options with their values, and operands. What is written to a folder for temporary
    files is no code, nor is an address."""
    for option, value in values_handed_on(call.command):
        if "://" not in value and not (option in SCRIPT_OUTPUTS and look(call.places, value).kind == "temp"):
            yield option, value


_DEBUGGED: Final = re.compile(
    r"--(?:inspect[\w-]{0,20}|remote-debugging-address)=(?!(?:127\.|localhost|\[?::1)[\w.:\]]*$|\d+$).+")

_DEBUGGING: Final = ("--inspect", "--remote-")


_LOCAL: Final = re.compile(r"127\.|localhost|\[?::1|unix:|\d+$")
_UNGUARDED: Final = re.compile(r"--\w{1,30}\.(?:token|password)=(?:''|\"\")?")
"""A server that asks nobody who he is: ``jupyter lab --ServerApp.token=``."""


def note_debugger(call: ProgramCall) -> None:
    """Note a debugger that other machines can reach."""
    listens = call.value("--listen", "-l") if call.name in ("dlv", "debugpy") else None
    if listens and not _LOCAL.match(listens):
        call.note("high", "opens this machine to the network", call.command.text)
    if any([(arg[:9] in _DEBUGGING and _DEBUGGED.fullmatch(arg)) or _UNGUARDED.fullmatch(arg) for arg in call.args]):
        call.note("high", "opens this machine to the network", call.command.text)
