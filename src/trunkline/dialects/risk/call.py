"""One command under judgement: its options and operands, and what its judge noted about it.

Rule 1: a judge only notes. What follows from several commands together (a download piped into a shell) is decided in
``flow.py`` from the traits and files noted here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeVar

from msgspec import Struct, structs

from trunkline.dialects.calls.loaders import (
    command_of,
    installs_for_all,
    loaded_paths,
    names_file,
    names_program,
    searched_folders,
    written_paths,
)
from trunkline.dialects.calls.variables import loading_level
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.risk.levels import Finding, rank
from trunkline.dialects.risk.places import Places, look
from trunkline.dialects.shell import SimpleCommand, Values, in_full

T = TypeVar("T")
_SHOWN: Final = 200
_NO_OPTIONS: Final[frozenset[str]] = frozenset()
_WRITE_LEVELS: Final[dict[str, tuple[RiskLevel, str]]] = {
    "inside": ("medium", "writes a file of the project"),
    "temp": ("low", "writes a temporary file"),
    "null": ("low", "writes nowhere"),
    "home": ("high", "writes into the home folder"),
    "outside": ("high", "writes outside the session's folders"),
    "elsewhere": ("medium", "writes a file"),
    "system": ("high", "writes into the system"),
    "startup": ("high", "changes what runs at login or start"),
    "hook": ("high", "changes what git runs by itself"),
    "git": ("high", "changes what git keeps of the project"),
    "agent": ("high", "changes an agent's own settings"),
    "loaded": ("high", "changes what programs of the project run by themselves"),
    "device": ("high", "writes to a device"),
    "raw": ("critical", "writes to a raw device"),
    "net": ("high", "writes to the network"),
    "roaming": ("high", "writes through a process, or from a folder that only the shell knows, to any place"),
    "unknown": ("medium", "writes a file that only the run knows"),
}


FEEDERS: Final = 8
"""Commands before one that are looked at for its input; where there are as many, it is not known what that is."""

Noted = list[T] | tuple[()]
"""What was noted of one kind. Most calls have nothing of most kinds, so that a list is made only for the first."""


def _spelled_out(word: str, options: frozenset[str]) -> str:
    if word[:2] != "--":
        return word
    given, equal, value = word.partition("=")
    return f"{in_full(given, options) or given}{equal}{value}"


def _noting(noted: Noted[str], one: str) -> list[str]:
    if noted:
        noted.append(one)
        return noted
    return [one]


class Trait:
    """What a command does with data, for the flow between commands: bits of a plain number, because a line has many."""

    NONE: Final = 0
    FETCHES: Final = 1  # prints or saves what came from the network
    SENDS: Final = 2  # sends what it gets to the network
    EXECUTES: Final = 4  # runs its input, or an argument that only the run knows
    SECRET: Final = 8  # reads credentials
    DECODES: Final = 16  # turns unreadable text into readable
    PRINTS: Final = 32  # prints its arguments


class ProgramCall(Struct, eq=False, gc=False):
    """A command with its words sorted into options and operands, and the notes of its judge."""

    command: SimpleCommand
    places: Places
    name: str
    """The program without its folder, in small letters; empty where it is dynamic or there is none."""
    args: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    """What is no option. Values of options that stand apart are among them."""
    bare: bool = True
    """Whether it has no options at all, as most have none."""
    letters: str = ""
    """All short options run together: ``-rf -v`` is ``rfv``."""
    longs: frozenset[str] = _NO_OPTIONS
    """Long options without their values: ``--force``."""
    options: frozenset[str] = _NO_OPTIONS
    """Every option as it may be asked for by name: short ones without what is joined to them, long ones without values."""
    traits: int = Trait.NONE
    findings: Noted[Finding] = ()
    writes: Noted[str] = ()
    reads: Noted[str] = ()
    runs: Noted[str] = ()
    downloads: Noted[str] = ()
    builds: Noted[str] = ()
    codes: Noted[str] = ()
    """Words that are code, and no paths whatever they begin with."""
    scripts: Noted[str] = ()
    """Shell texts that it would run, found by its judge; they are judged as lines of their own."""
    brought: Noted[str] = ()
    """Words that it may run as a line, and may as well not: only what is high in them counts."""
    feeders: tuple[ProgramCall, ...] = ()
    """The commands whose output may be its input, the last ones of them (``risk/stdin.py`` says what they give)."""
    lenders: tuple[SimpleCommand, ...] = ()
    """The commands whose own input it has where it has no other: a shell around it, calls of its function."""
    judges_input: bool = False
    """Whether its input is code of its own language, all of it known, that its judge has looked at: no shell reads that."""
    sent_on: bool = False
    """Whether the line has set a variable by which requests go elsewhere than their addresses say."""
    values: Values | None = None
    """What the variables of its line may be; None where they are not looked at."""

    def __post_init__(self) -> None:
        args = self.command.sketch[1:]
        if not args:
            return
        self.args = self.operands = args
        for arg in args:
            if arg[:1] == "-":
                self._sort(args)
                return

    def reread(self, command: SimpleCommand) -> None:
        """Take the words of this command for its own: the same ones, told apart better."""
        self.command = command
        self.__post_init__()

    def _sort(self, args: tuple[str, ...]) -> None:
        """Tell short options, long options and operands apart."""
        cut = args.index("--") if "--" in args else len(args)
        letters = ""
        longs: list[str] = []
        operands: list[str] = []
        for arg in args[:cut]:
            if arg[:1] != "-" or arg == "-":
                operands.append(arg)
            elif arg[1] == "-":
                longs.append(arg.partition("=")[0])
            else:
                letters += arg[1:]
        self.bare = False
        options = [arg for arg in args if arg[:1] == "-"]
        self.options = frozenset([*options, *[arg.partition("=")[0] if arg[1:2] == "-" else arg[:2] for arg in options]])
        self.letters = letters
        self.longs = frozenset(longs) if longs else _NO_OPTIONS
        self.operands = (*operands, *args[cut + 1 :])

    def has(self, letters: str, *longs: str) -> bool:
        """Whether any of these short letters or long options is given; long ones may be cut short (``--forc``)."""
        if self.bare:
            return False
        for letter in letters:
            if letter in self.letters:
                return True
        return bool(longs) and any([in_full(given, longs) for given in self.longs])

    def value(self, *options: str) -> str | None:
        """The value of an option, joined (``--to=x``, ``-ox``) or apart, or at the end of a bundle (``-uo x``)."""
        if self.bare:
            return None
        if self.options.isdisjoint(options) and not any([in_full(given, options) for given in self.longs]):
            return self._value_in_bundle(options)
        for at, arg in enumerate(self.args):
            if arg[:1] != "-":
                continue
            option, equal, joined = arg.partition("=")
            if arg in options or (not equal and in_full(arg, options)):
                return self.args[at + 1] if at + 1 < len(self.args) else ""
            if arg[1:2] != "-":
                if arg[:2] in options:
                    return arg[2:].removeprefix("=")
            elif equal and in_full(option, options):
                return joined
        return self._value_in_bundle(options)

    def _value_in_bundle(self, options: tuple[str, ...]) -> str | None:
        """The value of a short option that stands behind others in one word; a word with ``=`` behind it is a setting."""
        letters = [option[1] for option in options if len(option) == 2 and option[1] in self.letters]
        for letter in letters:
            for at, arg in enumerate(self.args):
                if arg[:1] != "-" or arg[1:2] in ("", "-"):
                    continue
                before, found, rest = arg[1:].partition(letter)
                if found and before.isalnum() and "=" not in rest[1:]:
                    return rest.removeprefix("=") or (self.args[at + 1] if at + 1 < len(self.args) else "")
        return None

    def spell_out(self, options: Collection[str]) -> None:
        """Take long options that are cut short for those of these that they are: for judges that look at the words themselves."""
        if not self.longs or self.longs <= frozenset(options):
            return
        known = frozenset(options)
        sketch = tuple([_spelled_out(word, known) for word in self.command.sketch])
        if sketch != self.command.sketch:
            words = tuple([None if word is None else full for word, full in zip(self.command.words, sketch, strict=True)])
            self.reread(structs.replace(self.command, words=words, sketch=sketch))

    def bundled_value(self, letter: str) -> str | None:
        """The value of a short option wherever it stands in a bundle: ``-xC/srv``, ``-st ..``."""
        for at, arg in enumerate(self.args if not self.bare else ()):
            if arg[:1] == "-" and arg[1:2] not in ("", "-"):
                before, found, rest = arg[1:].partition(letter)
                if found and before.isalnum():
                    return rest or " ".join(self.args[at + 1:at + 2])
        return None

    def note(self, level: RiskLevel, reason: str, about: str = "", *, unsure: bool = False) -> None:
        """Remember one thing; ``about`` is shown behind it, shortened. ``unsure``: it may be worse."""
        shown = about if len(about) <= _SHOWN else about[: _SHOWN - 1] + "…"
        finding = Finding(level, f"{reason}: {shown}" if shown else reason, unsure)
        if self.findings:
            self.findings.append(finding)
        else:
            self.findings = [finding]

    def at_least(self, level: RiskLevel, reason: str, about: str = "") -> None:
        """Note something unless worse is noted already."""
        least = rank(level)
        for finding in self.findings:
            if rank(finding.level) >= least:
                return
        self.note(level, reason, about)

    def assign(self, assignment: str) -> None:
        """It sets a variable; some make other programs load or run something."""
        level = loading_level(assignment)
        if (command := command_of(assignment)) is not None:
            self.script(command)
        if level == "high" or (level is None and names_program(assignment)):
            self.note("high", "changes what other programs load or run", assignment)
        elif any([self.places.is_foreign(path) or (assignment[:4] == "GIT_" and self.places.holds_secrets(path))
                  for path in loaded_paths(assignment)]):
            self.note("high", "makes other programs load code from outside the session's folders", assignment)
        elif level is not None:
            self.note(level, "changes what other programs load or run", assignment)
            if any([self.places.kind(one) == "inside" for one in searched_folders(assignment)]):
                self.note("high", "has programs looked for in a folder of the project", assignment)
        if installs_for_all(assignment):
            self.note("high", "installs for the whole machine", assignment)
        for path in written_paths(assignment):
            counts = names_file(assignment) and path[:1] in "/~$"
            kinds = {self.places.kind(one) for one in self.possible(path)} - {"unknown"}
            if kinds - {"inside"} or (kinds and counts):
                self.write(path)

    def run(self, path: str) -> None:
        """It runs this file, or what this folder's files say."""
        self.runs = _noting(self.runs, look(self.places, path).path)

    def load(self, path: str) -> None:
        """It runs the code of this file."""
        self.run(path)
        is_foreign = self.places.is_foreign(path)
        self.note("high" if is_foreign else "medium",
                  "loads code from outside the session's folders" if is_foreign else "runs a script", path)

    def download(self, path: str) -> None:
        """It saves something from the network here."""
        self.downloads = _noting(self.downloads, look(self.places, path).path)

    def script(self, text: str) -> None:
        """It hands this text to a shell."""
        self.scripts = _noting(self.scripts, text)

    def bring(self, text: str) -> None:
        """It may hand this text to a shell."""
        self.brought = _noting(self.brought, text)

    def possible(self, path: str) -> Sequence[str]:
        """What a path with a variable in it may be; as it is written where that is not known."""
        if self.values is None or ("$" not in path and "`" not in path):
            return (path,)
        return list(dict.fromkeys(self.values.spelled(path)))

    def write(self, path: str) -> None:
        """It changes this file or folder."""
        for one in self.possible(path):
            resolved, kind, secret = look(self.places, one)
            self.writes = _noting(self.writes, resolved)
            level, reason = _WRITE_LEVELS[kind]
            if level != "low":
                self.note(level, reason, path, unsure=kind == "unknown")
            if secret == "own":
                self.note("high", "changes credentials", path)

    def read(self, path: str, *, contents: bool = True) -> None:
        """It reads this file, or a folder's listing."""
        for one in self.possible(path):
            self._read(one, contents)

    def _read(self, path: str, contents: bool) -> None:
        resolved, kind, secret = look(self.places, path)
        self.reads = _noting(self.reads, resolved)
        if secret:
            self.traits |= Trait.SECRET if contents else Trait.NONE
            own = secret == "own" and contents
            self.note("high" if own else "medium", "reads credentials" if contents else "looks where credentials are", path)
        elif kind == "raw":
            self.note("critical", "reads a raw device", path)
        elif kind == "roaming" or (
                kind in ("outside", "home", "startup", "loaded") and contents and not self.places.holds(resolved)):
            self.note("medium", "reads outside the session's folders", path)
        elif kind == "net":
            self.traits |= Trait.FETCHES
            self.note("high", "reads from the network", path)

    def build(self, path: str) -> None:
        """It runs what this build file, or the one in this folder, says."""
        resolved, kind, _ = look(self.places, path)
        self.builds = _noting(self.builds, resolved)
        if kind == "unknown":
            self.note("high", "builds by a file that is only known when it runs", path)
        elif kind not in ("inside", "null", "elsewhere") and not (kind == "loaded" and self.places.holds(resolved)):
            self.note("high", "runs a build from outside the session's folders", path)

    def link(self, name: str, target: str) -> None:
        """It makes a link that leads there; empty where nobody knows."""
        if not target or not self.places.holds(look(self.places, target).path):
            self.note("high", "makes a link that leads out of the session's folders" if target else
                      "makes a link of which it is not known where it leads", name)

    def remove(self, path: str) -> None:
        """It deletes this file or folder."""
        self.note("high", "deletes files", path)
        self.lose(path)
        if self.places.kind(path) == "raw":
            self.note("critical", "destroys a raw device", path)

    def lose(self, path: str) -> None:
        """This file or folder goes away from where it is."""
        if ("$" in path or "`" in path) and any([self.places.kind(one) == "unknown" for one in self.possible(path)]):
            self.note("high", "deletes or moves what only the run knows", path, unsure=True)
