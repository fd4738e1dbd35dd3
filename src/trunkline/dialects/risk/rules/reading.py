"""Programs that look and change nothing, as long as no option makes them."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final

from trunkline.dialects.risk import secrets_list
from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.rules.looking import asks_about_itself, only_looks
from trunkline.dialects.risk.runners.words import option_values, options_of, row_of

_SILENT: Final = """
    true false : test [ [[ pwd whoami id uname arch which whereis type hash basename dirname realpath readlink seq sleep wait jobs
    nproc getconf groups users w who last uptime free vmstat lscpu lsusb lspci locale tput clear cal expr factor numfmt
    cd pushd popd dirs shift return exit break continue logout umask ulimit times getopts help tldr let
    shopt unalias lsblk
    mktemp mkfifo stty tty nl yes sw_vers ps pgrep pstree pidof htop
    top df findmnt local readonly unset caller suspend bg fg disown command builtin
    lsb_release ((
""".split()
"""Their operands are no files worth a look."""

_READERS: Final = """
    cat head tail bat batcat tac rev nl fold fmt column paste join comm diff colordiff delta difft sdiff wdiff
    md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum strings hexdump hd od expand unexpand
    cut wc zcat bzcat xzcat gzcat cmp bc look pr tsort hexyl iconv sdiff
""".split()
_LISTERS: Final = "ls dir vdir ll la exa eza lsd stat du namei".split()
_PATTERN_FIRST: Final = "grep egrep fgrep rgrep zgrep rg ripgrep ag ack git-grep jq yq gron xq pup".split()


def silent(call: ProgramCall) -> None:
    """Nothing to note."""


def _prints(call: ProgramCall) -> None:
    """echo and printf: what they print matters when it goes somewhere."""
    call.traits |= Trait.PRINTS
    found = next((hit for arg in call.args if (hit := secrets_list.VARIABLE.search(arg))), None)
    if found is not None:
        call.traits |= Trait.SECRET
        call.note("medium", "prints a credential", f"${found[1]}")


_PROGRAMS: Final = ("--pager", "--pre", "--hostname-bin", "--preprocessor")
"""Options of searchers and viewers that name a program."""
_TAME_PAGER: Final = re.compile(r"(?:less|more|most|cat|bat|never|always|auto|true|false)?(?: -[\w+=-]+)*")


def _names_program(call: ProgramCall) -> None:
    """A pager, or a program that every file goes through."""
    if not call.has("", *_PROGRAMS):
        return
    value = call.value(*_PROGRAMS) or ""
    if _TAME_PAGER.fullmatch(value) is None or call.has("", *_PROGRAMS[1:]):
        call.script(value)
        call.note("high", "runs a program that an option names", value)


def _reads(call: ProgramCall) -> None:
    _names_program(call)
    if any(arg.startswith("+") and "!" in arg for arg in call.args):
        call.note("high", "runs a command inside a program", call.command.text)
    for path in call.operands:
        if path != "-":
            call.read(path)
    _read_by_option(call)


def _read_by_option(call: ProgramCall) -> None:
    """Files that an option names, where they hold credentials: ``--to-file=x``, ``-fx``."""
    for arg in call.args if not call.bare else ():
        for value in option_values(arg) if arg[:1] == "-" and ("/" in arg or "." in arg or "~" in arg) else ():
            if call.places.secret(value):
                call.read(value)


def _getent(call: ProgramCall) -> None:
    """Lists of the system; one of them is of passwords."""
    if not {"shadow", "gshadow"}.isdisjoint(call.operands):
        call.traits |= Trait.SECRET
        call.note("high", "reads credentials", call.command.text)


def _lists(call: ProgramCall) -> None:
    for path in call.operands:
        call.read(path, contents=False)
    _read_by_option(call)


def _searches(call: ProgramCall) -> None:
    """The first operand is a pattern unless an option gives one."""
    explicit = any(
        arg in ("-e", "-f", "--regexp", "--file", "--from-file") or arg.startswith(("-e", "--regexp=")) for arg in call.args
    )
    _names_program(call)
    for path in call.operands[0 if explicit else 1 :]:
        call.read(path)
        if call.places.holds_secrets(path):
            note_searched(call, path)
    _read_by_option(call)
    if call.name in ("jq", "yq", "gron"):
        _filters(call)


def note_searched(call: ProgramCall, path: str) -> None:
    """It reads every file of a folder in which credentials are. Those of the system are not everybody's to read."""
    call.traits |= Trait.SECRET
    is_of_system = call.places.resolve(path).startswith("/etc")
    call.note("medium" if is_of_system else "high", "searches where credentials are", path)


_LOADED: Final = re.compile(r"\bload(?:_\w{1,12})?\s*\(\s*[\"']([^\"']{1,400})")
_LOADS_COMPUTED: Final = re.compile(r"\bload(?:_\w{1,12})?\s{0,9}\((?!\s{0,9}(?:\"[^\"\\]{1,400}\"|'[^'\\]{1,400}')\s{0,9}\))")
_CODE_CHARS: Final = 8192
_QUOTED_PATH: Final = re.compile(r"[\"']((?:[/~]|\.\.)[^\"']{1,400})")


def loads_computed(text: str) -> bool:
    """Whether an expression of yq opens a file whose name it puts together."""
    return "load" in text and _LOADS_COMPUTED.search(text[:_CODE_CHARS]) is not None


def _filters(call: ProgramCall) -> None:
    """jq and yq: they can print the environment, and yq can write in place."""
    if any(re.search(r"\benv\b|\$ENV", arg) for arg in call.operands[:1]):
        call.traits |= Trait.SECRET
        call.note("medium", "reads the environment, which may hold credentials", call.command.text)
    for path in [path for arg in call.operands[:1] for path in _LOADED.findall(arg[:_CODE_CHARS])]:
        call.read(path)
    if call.name == "yq" and any(map(loads_computed, call.args)):
        call.note("medium", "reads a file that only the run knows", call.command.text, unsure=True)
    named = call.value("-s", "--split-exp") if call.name == "yq" else None
    for path in _QUOTED_PATH.findall(named or ""):
        call.write(path)
    if call.name == "yq" and call.has("i", "--inplace"):
        for path in call.operands[1:]:
            call.write(path)
        call.at_least("medium", "rewrites files", call.command.text)


def _sort(call: ProgramCall) -> None:
    target = call.value("-o", "--output")
    if target:
        call.write(target)
    if call.value("--compress-program") is not None:
        call.note("high", "runs a program", call.command.text)
    for path in call.operands:
        if path != target:
            call.read(path)
    _read_by_option(call)


def _uniq(call: ProgramCall) -> None:
    for path in call.operands[:1]:
        call.read(path)
    for path in call.operands[1:2]:
        call.write(path)


def _date(call: ProgramCall) -> None:
    if call.has("s", "--set") or any(arg.isdigit() and len(arg) >= 8 for arg in call.operands):
        call.note("high", "sets the clock")
    for path in call.operands if call.has("f", "--file") else ():
        call.read(path)
    _read_by_option(call)


def _hostname(call: ProgramCall) -> None:
    if call.operands:
        call.note("high", "renames the machine")


def _environment(call: ProgramCall) -> None:
    """env and printenv without a command print every variable."""
    if call.name == "env" and (call.operands or any(arg.startswith("-S") or arg == "--split-string" for arg in call.args)):
        return
    if call.name == "printenv" and call.operands:
        if any(secrets_list.VARIABLE.search("$" + name) for name in call.operands):
            call.traits |= Trait.SECRET
            call.note("medium", "prints a credential", " ".join(call.operands))
        return
    call.traits |= Trait.SECRET
    call.note("medium", "prints the environment, which may hold credentials")


def _declares(call: ProgramCall) -> None:
    """set, export, declare: print everything without operands."""
    if call.name == "set" and call.args:
        return
    if not call.operands and (call.name in ("set", "export") or call.has("px")):
        call.traits |= Trait.SECRET
        call.note("medium", "prints all variables, which may hold credentials")


def _hooks(call: ProgramCall) -> None:
    """enable: it can load a builtin from a file."""
    if call.has("f"):
        call.note("high", "makes the shell load or run something", call.command.text)


def _decodes(call: ProgramCall) -> None:
    """uudecode: into the file that an option names, else into one that its input names."""
    call.traits |= Trait.DECODES
    target = call.value("-o", "--output-file")
    if target is None:
        call.note("medium", "writes the file that its input names", call.command.text)
    elif target not in ("-", "/dev/stdout"):
        call.write(target)
    for path in call.operands:
        if path != target:
            call.read(path)


def _hash(call: ProgramCall) -> None:
    if call.has("p"):
        call.note("high", "makes a name stand for another program", call.command.text)


def _takes_lines(call: ProgramCall) -> None:
    """mapfile: it can run a command for the lines that it reads."""
    runs = call.value("-C") or call.bundled_value("C")
    if runs:
        call.script(runs)
        call.note("high", "makes the shell load or run something", runs)


def _controls(call: ProgramCall) -> None:
    """hostnamectl and its like: they look, until they set."""
    if any(word.startswith(("set", "terminate", "kill", "lock", "enable", "disable")) for word in call.operands):
        call.note("high", "changes how the system runs", call.command.text)


def _find(call: ProgramCall) -> None:
    """find and fd: listing, deleting, writing lists; what they execute is judged by itself."""
    if "-delete" in call.args:
        call.note("high", "deletes what it finds", call.command.text)
    for option in ("-fprint", "-fprint0", "-fprintf", "-fls"):
        target = call.value(option) if option in call.args else None
        if target:
            call.write(target)
    for path in call.args:
        if path.startswith("-") or path in ("(", "!"):
            break
        call.read(path, contents=False)
        if call.places.holds_secrets(path):
            call.traits |= Trait.SECRET
        if call.places.secret(path) == "own" and not call.options.isdisjoint(_EXECUTES) and _starts_reader(call):
            call.note("high", "reads credentials", path)
    if call.name in ("fd", "fdfind") and not call.options.isdisjoint(_EXECUTES) and looks_for_credentials(call) and (
            _starts_reader(call)):
        call.note("high", "reads credentials", call.command.text)
    for option in _BY_NAME:
        pattern = call.value(option) if option in call.args else None
        if pattern and _is_secret(call, pattern):
            call.traits |= Trait.SECRET
            reads = not call.options.isdisjoint(_EXECUTES) and _starts_reader(call)
            call.note("high" if reads and _is_abroad(call, pattern) else "medium",
                      "reads credentials" if reads else "looks for credentials", pattern)


_OWN: Final = frozenset(("inside", "temp", "null"))
_EXECUTES: Final = frozenset("-exec -execdir -ok -okdir -x -X --exec --exec-batch".split())
LISTERS: Final = frozenset("ls stat file wc echo dirname basename realpath readlink du printf test chmod".split())
"""What shows no more of a file than that it is there."""


def _starts_reader(call: ProgramCall) -> bool:
    at = next(at for at, arg in enumerate(call.args) if arg in _EXECUTES)
    return " ".join(call.args[at + 1:at + 2]).rpartition("/")[2] not in LISTERS


def _is_abroad(call: ProgramCall, pattern: str) -> bool:
    """Whether credentials are looked for that are not the project's own."""
    folders = itertools.takewhile(lambda word: word[:1] not in ("-", "(", "!"), call.args)
    return call.places.secret(pattern) == "own" or any(call.places.kind(folder) not in _OWN for folder in folders)


def looks_for_credentials(call: ProgramCall) -> bool:
    """Whether a finder's names are those of credentials that are not the project's own."""
    if call.name in _INDEXES:
        return any(_is_secret(call, word) for word in call.operands)
    if call.name in ("fd", "fdfind"):
        return any(_is_secret(call, word) for word in call.operands[:1]) or _seeks_in_all(call, call.operands[1:])
    if call.name in ("find", "gfind"):
        named = [call.value(option) for option in _BY_NAME if option in call.args]
        return any(pattern and _is_secret(call, pattern) and _is_abroad(call, pattern) for pattern in named) or (
            not any(pattern and _OF_ONE_KIND.fullmatch(pattern) for pattern in named) and _seeks_in_all(call, call.args[:1]))
    if call.name == "ls":
        return _seeks_in_all(call, call.operands)
    return call.name in _GREPS and call.has("l", "--files-with-matches", "--files") and _seeks_in_all(call, call.operands)


_OF_ONE_KIND: Final = re.compile(r"\*\.[A-Za-z]{1,5}")
"""A pattern for files of one kind (``*.py``), which are no credentials by their names."""


_INDEXES: Final = frozenset(("locate", "plocate", "mlocate", "mdfind"))
_BY_NAME: Final = ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex")
_GREPS: Final = frozenset("grep egrep fgrep rg ag ack ugrep".split())
FINDERS: Final = _INDEXES | _GREPS | {"find", "gfind", "fd", "fdfind", "ls"}
"""What prints the names of files."""


def _is_secret(call: ProgramCall, pattern: str) -> bool:
    """Whether a name, or what is left of it without wildcards around it, is one of credentials."""
    return bool(call.places.secret(pattern) or call.places.secret(pattern.strip("*.^$\\")))


def _seeks_in_all(call: ProgramCall, folders: Sequence[str]) -> bool:
    return any(map(call.places.holds_secrets, folders))


def _pager(call: ProgramCall) -> None:
    """man: its pager is a program."""
    if call.has("PH", "--pager", "--html"):
        call.note("high", "runs a program", call.command.text)


def _encodes(call: ProgramCall) -> None:
    """base64 and its like: both ways."""
    if call.has("dD", "--decode") or (call.name == "xxd" and call.has("r")):
        call.traits |= Trait.DECODES
    if call.name == "xxd" and len(call.operands) > 1:
        call.write(call.operands[1])
    for path in call.operands[:1]:
        if path != "-":
            call.read(path)


def _translates(call: ProgramCall) -> None:
    call.traits |= Trait.DECODES


_REWRITES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("gofmt", "shfmt", "codespell", "typos"), ("w", "--write-changes")),
    "rubocop": ("aA", "--autocorrect", "--autocorrect-all", "--auto-correct", "--auto-gen-config"),
    "ktlint": ("F", "--format"),
    "psalm": ("", "--alter", "--set-baseline"),
    **dict.fromkeys(("jest", "vitest"), ("u", "--updateSnapshot", "--update", "--ci=false")),
    **dict.fromkeys(("pyright", "basedpyright"), ("", "--createstub", "--writebaseline")),
    "tsc": ("", "--init"),
    "flake8": ("", "--install-hook"),
    "swiftlint": ("", "--autocorrect"),
}
"""Letters and options by which what checks also changes."""
_PYTHONS: Final = re.compile(r"(?:.*/)?python[\d.]*")


def _starts(call: ProgramCall) -> None:
    """Programs that the options of a tester name."""
    command, row = row_of(call.command)
    for option, value in options_of(command, row) if row is not None else ():
        if row is not None and option in row.options:
            is_python = value is not None and _PYTHONS.fullmatch(value) is not None and not call.places.is_foreign(value)
            call.note("medium" if is_python else "high", "runs a program that an option names", value or "")
        elif option in ("--tx", "--px") and "python=" in (value or ""):
            call.note("high", "runs a program that an option names", value or "")
        elif row is not None and option in row.loads and call.name in _LOADING:
            call.note("medium", "loads code that an option names", value or "")


_LOADING: Final = frozenset(("ctest", "cppcheck", "clang-tidy"))
_SUBMITS: Final = frozenset("Submit Experimental ExperimentalSubmit Nightly NightlySubmit Continuous ContinuousSubmit".split())


def _tests(call: ProgramCall) -> None:
    """Test runners, type checkers, linters: they run the project's own tests."""
    letters, *longs = _REWRITES.get(call.name, ("",))
    if call.has(letters, "--fix", "--write", "--unsafe-fixes", "--fix-only", *longs) or (
            call.name == "taplo" and call.operands[:1] in (("fmt",), ("format",)) and not only_looks("taplo", call.args)):
        call.note("medium", "rewrites files of the project", call.command.text)
    if not call.bare:
        _starts(call)
    if call.has("", "--pastebin"):
        call.traits |= Trait.SENDS
        call.note("high", "sends what it prints to a public place", call.command.text)
    if call.has("", "--allow-remove-files"):
        call.note("high", "deletes files", call.command.text)
    if call.has("", "--install-types"):
        call.note("medium", "installs packages", call.command.text)
    if call.name == "coverage" and call.operands[:1] == ("run",):
        _covers(call)
    if call.name == "ctest" and not _SUBMITS.isdisjoint(call.operands):
        call.traits |= Trait.SENDS
        call.note("medium", "sends its results to a server", call.command.text)
    if call.name == "pylint" and call.has("", "--init-hook"):
        call.note("medium", "runs code that is given with it", call.command.text)
    if call.has("", "--apply", "--write-baseline"):
        call.note("medium", "writes a file of the project", call.command.text)


def _covers(call: ProgramCall) -> None:
    """``coverage run -m x`` runs the module as ``python -m`` does."""
    at = next((at for at, arg in enumerate(call.args) if arg in ("-m", "--module")), -1)
    if (settings := call.value("--rcfile")) and call.places.is_foreign(settings):  # it names plugins
        call.load(settings)
    if at < 0:
        call.note("medium", "runs a script", call.command.text)
    else:
        call.bring(shlex.join(call.args[at + 1:]))


def _formats(call: ProgramCall) -> None:
    if not only_looks(call.name, call.args) and not asks_about_itself(call):
        call.note("medium", "rewrites files of the project", call.command.text)


def _prettier(call: ProgramCall) -> None:
    if call.has("w", "--write") or (call.name == "biome" and call.has("", "--apply", "--apply-unsafe", "--fix", "--unsafe")):
        call.note("medium", "rewrites files of the project", call.command.text)


def _ruff(call: ProgramCall) -> None:
    formats = "format" in call.operands[:_VERB_AMONG] and call.operands[0] not in _RUFF_VERBS
    if call.operands[:1] == ("clean",):
        for path in call.operands[1:]:
            call.write(path)
    if (formats and not only_looks("ruff format", call.args)) or call.has("", "--fix", "--add-noqa"):
        call.note("medium", "rewrites files of the project", call.command.text)


_VERB_AMONG: Final = 3
_RUFF_VERBS: Final = frozenset("check rule config linter clean server analyze version help".split())


TESTERS: Final = """
    pytest py.test unittest nosetests mypy pyright basedpyright pyre pytype flake8 pylint pyflakes bandit vulture pycodestyle
    pydocstyle jest vitest mocha ava tap tsc vue-tsc eslint stylelint jshint tslint oxlint rspec phpunit phpstan psalm ctest
    gtest golint staticcheck golangci-lint govulncheck shellcheck hadolint yamllint markdownlint cspell codespell actionlint
    rubocop checkstyle ktlint swiftlint clang-tidy cppcheck gofmt shfmt coverage lint-imports import-linter vale proselint
    typos taplo tsd depcheck knip madge size-limit ty c8 nyc
""".split()
_FORMATTERS: Final = "black isort autopep8 yapf clang-format rustfmt gofumpt goimports autoflake pyupgrade docformatter".split()

ONLY_LOOK: Final = frozenset((
    *_SILENT, *_READERS, *_LISTERS, *_PATTERN_FIRST, "echo", "printf", "print", "env", "printenv", "set", "export", "declare",
    "typeset", "find", "gfind", "fd", "fdfind", "locate", "mdfind", "tr", "read", "mapfile", "readarray", "date", "man", "bind",
    "complete", "enable", "base32", "basenc", "history", "alias", "trap", "getent", "compgen", "zmore", "dc", "mlr",
    "ldd", "file",
)) - {"mktemp", "mkfifo", "iconv", "sdiff"}
"""Whatever they name they only read; where an option of theirs writes, their judge says so."""

JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(_SILENT, silent),
    **dict.fromkeys(_READERS, _reads),
    **dict.fromkeys(_LISTERS, _lists),
    **dict.fromkeys(_PATTERN_FIRST, _searches),
    **dict.fromkeys(TESTERS, _tests),
    **dict.fromkeys(_FORMATTERS, _formats),
    **dict.fromkeys(("echo", "printf", "print", "say"), _prints),
    **dict.fromkeys(("env", "printenv"), _environment),
    **dict.fromkeys(("set", "export", "declare", "typeset"), _declares),
    **dict.fromkeys(("find", "gfind", "fd", "fdfind", "locate", "mdfind"), _find),
    **dict.fromkeys(("base64", "base32", "basenc", "xxd", "openssl-base64"), _encodes),
    "tr": _translates,
    "enable": _hooks,
    **dict.fromkeys(("hostnamectl", "timedatectl", "localectl", "loginctl"), _controls),
    "sort": _sort,
    "uniq": _uniq,
    "date": _date,
    "getent": _getent,
    "hostname": _hostname,
    "man": _pager,
    "prettier": _prettier,
    "biome": _prettier,
    "ruff": _ruff,
    "read": silent,
    "mapfile": _takes_lines,
    "readarray": _takes_lines,
    "hash": _hash,
    "uudecode": _decodes,
}
