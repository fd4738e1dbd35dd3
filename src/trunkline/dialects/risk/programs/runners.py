"""Programs that run others by an option, an argument or their input, which no reader of shells sees: the table of them.

What others may import from here:

    runs_other(command)       the command lines that one simple command runs in turn; ``UNKNOWN`` where it may run what its words
                              do not say; ``()`` where it runs nothing that the table knows of
    line_runs(commands)       the same for every command of a line, in order: what an earlier one made an alias, a copy or a link
                              of is known to the later ones
    option_values(word)       every value that a word may give to an option: ``-rf.env`` may give ``f.env`` or ``.env``
    ROWS, Runner              the table itself

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

from trunkline.dialects.risk.programs.git_words import GIT_VALUES, KNOWN_VERBS, RUNNING_KEYS
from trunkline.dialects.shell import SimpleCommand

BUNDLE_LETTERS: Final = 64
"""Short options in one word that are tried as the last before a value; of more, the first and the last half."""
_CHARS: Final = 400
"""Of a command within a command; a pattern that needs more of it is nobody's."""


class Unknown(Enum):
    """The one value that says: it may run anything."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Ran = tuple[str, ...] | Literal[Unknown.UNKNOWN]


class Runner(NamedTuple):
    """How a program runs others."""

    options: frozenset[str] = frozenset()
    """Their value is a program or a command line."""
    loads: frozenset[str] = frozenset()
    """Their value is a file, or a setting, that says what is run."""
    code: frozenset[str] = frozenset()
    """Their value is code of the program's own, which may run commands."""
    operand: int = 0
    """This operand, from 1, is such code, unless an option gave it; 0: none is."""
    stdin: bool = False
    """Its input is such code."""
    rest: int = 0
    """From this operand on, from 1, its words are a command; 0: none are."""


def _row(options: str = "", loads: str = "", code: str = "", operand: int = 0, stdin: bool = False, rest: int = 0) -> Runner:
    return Runner(frozenset(options.split()), frozenset(loads.split()), frozenset(code.split()), operand, stdin, rest)


_EDITOR: Final = _row(loads="-S -s -u --rcfile -l --load --script", code="-c --cmd --eval --execute -f --funcall", stdin=True)
_AWK: Final = _row(loads="-f --file -i --include -l --load -E --exec", code="-e --source", operand=1)
_SED: Final = _row(loads="-f --file", code="-e --expression", operand=1)
_SSH: Final = _row("-S", loads="-F", code="-o", rest=0)
_DEBUGGER: Final = _row(loads="-x --command -s --source", code="-ex -iex --eval-command -o --one-line -O", stdin=True)
_DATABASE: Final = _row(loads="-f --file -init", code="-c --command -e --execute -cmd", stdin=True)
_INTERPRETER: Final = _row(stdin=True)
_BUILD: Final = _row(loads="-f --file --makefile --justfile --rakefile -I --include-dir --eval -E")
_PAGER: Final = _row("--pager --pre --preview --hostname-bin")
_WRAPPER: Final = _row(rest=1)

ROWS: Final[dict[str, Runner]] = {
    **dict.fromkeys("ed ex vi vim nvim view emacs red".split(), _EDITOR),
    **dict.fromkeys("awk gawk mawk nawk original-awk".split(), _AWK),
    **dict.fromkeys("sed gsed ssed".split(), _SED),
    **dict.fromkeys("gdb lldb".split(), _DEBUGGER),
    **dict.fromkeys("sqlite3 sqlite psql mysql mariadb mongo mongosh duckdb usql".split(), _DATABASE._replace(operand=2)),
    "dc": _row(loads="-f --file", code="-e --expression", stdin=True),
    **dict.fromkeys(
        "python python2 python3 pypy perl ruby node nodejs php lua tclsh expect octave gnuplot r irb julia guile".split(),
        _INTERPRETER),
    **dict.fromkeys("at batch ftp lftp mail mailx telnet".split(), _row(stdin=True)),
    "crontab": _row(stdin=True),
    **dict.fromkeys("tar gtar bsdtar star".split(), _row(
        "--to-command --use-compress-program --rsh-command --info-script --new-volume-script --checkpoint-action -I -F")),
    "sort": _row("--compress-program"),
    "cpio": _row("--rsh-command"),
    "zip": _row("--unzip-command -TT"),
    "split": _row("--filter"),
    "rsync": _row("-e --rsh --rsync-path"),
    **dict.fromkeys("ssh scp sftp autossh slogin".split(), _SSH),
    "man": _row("-P --pager -H --html"),
    **dict.fromkeys("rg ripgrep bat batcat delta ag ack fzf".split(), _PAGER),
    **dict.fromkeys("make gmake bmake just rake ninja".split(), _BUILD),
    **dict.fromkeys("npm pnpm yarn bun".split(), _row("--script-shell", loads="--userconfig --globalconfig --node-options")),
    "cargo": _row(loads="--config --manifest-path -Z"),
    **dict.fromkeys(("pytest", "py.test"), _row(
        loads="-p -c --config-file --rootdir --confcutdir --import-mode -o --override-ini")),
    "go": _row("-exec -toolexec -vettool", loads="-C -overlay -modfile"),
    **dict.fromkeys("gcc g++ cc c++ clang clang++".split(), _row("-wrapper", loads="-B -fplugin -specs")),
    **dict.fromkeys("hg svn".split(), _row("--editor-cmd --diff-cmd --diff3-cmd", loads="--config --config-option --config-dir")),
    **dict.fromkeys("xterm konsole gnome-terminal alacritty kitty".split(), _row("-e --command -x")),
    "screen": _row("-X", rest=1),
    **dict.fromkeys("wget wget2".split(), _row("--use-askpass", loads="-e --execute --config")),
    "curl": _row(loads="-K --config --engine"),
    "tcpdump": _row("-z"),
    "nmap": _row(loads="--script --datadir --servicedb"),
    "run-parts": _row(loads="--arg"),
    "start-stop-daemon": _row("--exec --startas -x -a"),
    "hyperfine": _row("--prepare --setup --cleanup -p -s -c", rest=1),
    **dict.fromkeys(
        "valgrind catchsegv setpriv gosu runcon eatmydata fakeroot proot rlwrap prlimit cgexec numactl daemonize setuidgid tini "
        "dumb-init dbus-launch ssh-agent gtime".split(), _WRAPPER),
    "ip": _row(),
}
"""One row per program. ``git``, loaders and ``git-*`` are code, below: their words are not options."""

_LOADER: Final = re.compile(r"ld(-linux|-musl)?[\w.-]*\.so(\.\d+)*|ld\.so")
_RUNS_IN_CODE: Final = re.compile(
    r"!|\b(system|shell|popen|exec|eval|spawn|source|load|load_extension|pipe|program|python|perl|ruby|lua|term|terminal|make|run"
    r"|edit)\b|\||\bgetline\b|@load|call-process|start-process", re.IGNORECASE)
_SED_RUNS: Final = re.compile(r"(?:^|[;\n{}/\d$])\s?e(?:\s|$|;|\})|[/|#,:][gpiImM0-9]{0,9}e[gpiImM0-9]{0,9}\s?(?:$|[;\n}])")
_SSH_RUNS: Final = re.compile(r"(?i)(proxy|local|knownhosts|permitlocal)\s{0,9}command|match\s|pkcs11provider|include")
_GIT_PUSHES: Final = {"send-pack": "push", "http-push": "push", "fetch-pack": "fetch", "http-fetch": "fetch",
                      "remote-http": "fetch"}
_GIT_OPTIONS: Final = frozenset("--upload-pack --receive-pack --exec --extcmd --open-files-in-pager -x".split())
_WHOLE: Final = frozenset(("--checkpoint",))
"""Long options that are not another one cut short."""
_COPIERS: Final = frozenset("cp ln install mv link".split())


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
    name = command.name
    if not command.words:
        return ()
    if name is None:
        return UNKNOWN
    if name == "git":
        return _git(command)
    if name.startswith("git-") and name[4:] in KNOWN_VERBS | _GIT_PUSHES.keys():
        return (_git_line((name[4:], *command.sketch[1:])),)
    if name[:2] == "ld" and _LOADER.fullmatch(name):
        return _loader(command)
    if name == "ip":
        at = command.sketch.index("exec") + 2 if "exec" in command.sketch else len(command.sketch)
        return _joined(command, at)
    row = ROWS.get(name) or (ROWS.get(name.rstrip("0123456789.")) if name[-1:] in "0123456789" else None)
    return _by_row(command, row) if row is not None else ()


def line_runs(commands: Sequence[SimpleCommand]) -> list[Ran]:
    """For every command of a line what it runs in turn, with the aliases, copies and links that the line has made before it."""
    aliases: dict[str, str] = {}
    copies: dict[str, str] = {}
    found: list[Ran] = []
    for command in commands:
        other = (_renamed(command, copies) if copies else ()) or (_aliased(command, aliases) if aliases else ())
        found.append(other or runs_other(command))
        _learn(command, aliases, copies)
    return found


def _learn(command: SimpleCommand, aliases: dict[str, str], copies: dict[str, str]) -> None:
    """Remember what a command makes another name of."""
    words, name = command.sketch, command.name
    if name == "git" and "config" in words:
        for at, word in enumerate(words[:-1]):
            if word.lower().startswith("alias."):
                aliases[word[6:].lower()] = words[at + 1]
    elif name in _COPIERS:
        operands = [word for word in words[1:] if word[:1] != "-"]
        for source in operands[:-1]:
            copies[_base(operands[-1])] = copies[_base(source)] = copies.get(_base(source), _base(source))
    elif name in ("alias", "hash"):
        for word in words[1:]:
            alias, equal, text = word.partition("=")
            if equal:
                copies[alias] = text


def _renamed(command: SimpleCommand, copies: dict[str, str]) -> Ran:
    """What a copy, a link or an alias is really called."""
    name = command.name
    if name is None or copies.get(name, name) == name:
        return ()
    return (" ".join((copies[name], *command.sketch[1:]))[:_CHARS],)


def _aliased(command: SimpleCommand, aliases: dict[str, str]) -> Ran:
    if command.name != "git":
        return ()
    at = _git_verb(command)
    text = aliases.get(command.sketch[at].lower(), "") if at < len(command.sketch) else ""
    if not text:
        return ()
    rest = " ".join(command.sketch[at + 1:])
    return (f"{text[1:] if text[0] == '!' else 'git ' + text} {rest}".strip()[:_CHARS],)


def _git_verb(command: SimpleCommand) -> int:
    at = 1
    while at < len(command.sketch) and command.sketch[at][:1] == "-":
        at += 2 if command.sketch[at] in GIT_VALUES else 1
    return at


def _git(command: SimpleCommand) -> Ran:
    """git: programs behind its settings, its verbs and their options."""
    at = _git_verb(command)
    own, words = command.sketch[1:at], command.sketch[at:]
    found: list[str] = []
    for place, word in enumerate(own):
        if word.startswith(("--exec-path=", "--config-env")):
            return UNKNOWN
        setting = own[place + 1] if word == "-c" and place + 1 < len(own) else word[2:] if word[:2] == "-c" else ""
        key, _, value = setting.partition("=")
        if key.lower().startswith("alias."):
            if words[:1] == (key[6:],):
                found.append(value[1:] if value[:1] == "!" else _git_line((value, *words[1:])))
        elif setting and RUNNING_KEYS.match(key.lower()):
            found.append(value)
    verb = words[0] if words else ""
    if at < len(command.words) and command.words[at] is None:
        return UNKNOWN
    if verb in _GIT_PUSHES:
        found.append(_git_line((_GIT_PUSHES[verb], *words[1:])))
    elif verb and verb not in KNOWN_VERBS and verb[:1] != "-" and not found:
        return UNKNOWN
    return _git_options(command, at, found)


def _git_options(command: SimpleCommand, at: int, found: list[str]) -> Ran:
    """Programs in the words behind the verb."""
    words = command.sketch[at:]
    for place, word in enumerate(words[1:], 1):
        name, equal, value = word.partition("=")
        if name in _GIT_OPTIONS and (name != "-x" or words[0] in ("rebase", "difftool")):
            found.append(value if equal else " ".join(words[place + 1:place + 2]))
        elif word.startswith("ext::"):
            found.append(word[5:])
        elif word.startswith("-O") and words[0] == "grep" and len(word) > 2:
            found.append(word[2:])
    verb, second = (*words[:2], "", "")[:2]
    if (verb, second) in (("bisect", "run"), ("submodule", "foreach")):
        found.append(" ".join([word for word in words[2:] if word[:2] != "--"]))
    elif verb == "filter-branch":
        return UNKNOWN
    elif verb == "config" and any([RUNNING_KEYS.match(word.lower()) and not word.lower().startswith("alias.") for word in words]):
        return UNKNOWN
    return tuple([text[:_CHARS] for text in found if text])


def _git_line(words: Sequence[str]) -> str:
    return " ".join(("git", *words))[:_CHARS]


def _loader(command: SimpleCommand) -> Ran:
    """``ld.so /usr/bin/git push``: the program that it loads, and its words."""
    at = 1
    while at < len(command.sketch) and command.sketch[at][:1] == "-":
        at += 2 if command.sketch[at] in ("--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath") else 1
    return _joined(command, at)


def _joined(command: SimpleCommand, at: int) -> Ran:
    """The words from here on as a command line."""
    if at >= len(command.words):
        return ()
    first = command.words[at]
    return UNKNOWN if first is None else (" ".join((_base(first), *command.sketch[at + 1:]))[:_CHARS],)


def _by_row(command: SimpleCommand, row: Runner) -> Ran:
    found: list[str] = []
    texts: list[str | None] = []
    for option, value in _options(command, row):
        if option in row.loads:
            return UNKNOWN
        if option in row.options:
            if value is None:
                return UNKNOWN
            found.append(value.rpartition("exec=")[2] if option == "--checkpoint-action" else value)
        else:
            texts.append(value)
    places = _operands(command, row)
    operands = [command.words[at] for at in places]
    if row.operand and (not texts or row.stdin):
        texts += operands[row.operand - 1:] if row.stdin else operands[row.operand - 1:row.operand]
    texts += [word[1:] for word in command.words[1:] if word is not None and word[:1] == "+" and row is _EDITOR]
    if any([text is None or _may_run(text, row) for text in texts]) or (row.stdin and _has_script(command, row)):
        return UNKNOWN
    if row.rest and len(places) >= row.rest:
        behind = _joined(command, places[row.rest - 1])
        if behind is UNKNOWN:
            return UNKNOWN
        found.extend(behind)
    return tuple([text[:_CHARS] for text in found if text])


def _may_run(code: str, row: Runner) -> bool:
    """Whether a piece of code may run a command."""
    if row is _SED:
        return _SED_RUNS.search(code[:_CHARS * 4]) is not None or len(code) > _CHARS * 4
    if row is _SSH:
        return _SSH_RUNS.search(code) is not None
    return _RUNS_IN_CODE.search(code) is not None


def _has_script(command: SimpleCommand, row: Runner) -> bool:
    """Whether its input is what it does: something feeds it, and no word takes the place of that."""
    fed = command.stdin_from >= 0 or any([one.operator[:1] == "<" for one in command.redirects])
    if not fed:
        return False
    if row is _INTERPRETER:
        return all([word is not None and word[:1] in "-/" for word in command.words[1:]]) and "-c" not in command.words
    return command.stdin_text is None or _RUNS_IN_CODE.search(command.stdin_text) is not None


def _options(command: SimpleCommand, row: Runner) -> list[tuple[str, str | None]]:
    """The options of the table that a command has, each with its value; long ones may be cut short, short ones be in a bundle."""
    known = row.options | row.loads | row.code
    found: list[tuple[str, str | None]] = []
    for at, (word, sketch) in enumerate(zip(command.words, command.sketch, strict=True)):
        if at == 0 or sketch[:1] != "-":
            continue
        following = command.words[at + 1] if at + 1 < len(command.words) else ""
        given, equal, value = sketch.partition("=")
        full = given if given in known else _in_full(given, known) if given[:2] == "--" and given not in _WHOLE else ""
        if full:
            found.append((full, (None if word is None else value) if equal else following))
        elif sketch[1:2] != "-":
            found += _bundled(sketch, word, known, following)
    return found


def _in_full(given: str, known: frozenset[str]) -> str:
    """``--compress-prog`` is ``--compress-program``."""
    return next((option for option in sorted(known) if len(given) > 4 and option.startswith(given)), "")


def _bundled(sketch: str, word: str | None, known: frozenset[str], following: str | None) -> list[tuple[str, str | None]]:
    """The first letter of a bundle that takes a value, with the rest or the next word."""
    for at, letter in enumerate(sketch[1:BUNDLE_LETTERS], 1):
        if f"-{letter}" in known:
            rest = sketch[at + 1:]
            return [(f"-{letter}", None if word is None else rest.removeprefix("=") if rest else following)]
        if not letter.isalnum():
            break
    return []


def _operands(command: SimpleCommand, row: Runner) -> list[int]:
    """Where the words are that are no options, and no values of options of the table."""
    taking = row.options | row.loads | row.code | _TAKING
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


_TAKING: Final = frozenset("-F -v --assign --field-separator -p -h -U -d -n -t".split())
"""Options of these programs whose value is a word of its own and no code."""


def _base(path: str) -> str:
    return path.rpartition("/")[2] or path
