"""What stands in front of a command and is not part of it: harmless variables, a shell that only reads one line, a folder.

Rule 1: pure, and one definition: who asks whether two commands are the same, or what a rule's pattern has to match, asks here.
Rule 2: harmless is what is listed, with a value that is listed. Any other may change what a program loads, runs or finds.
Rule 3: a command is bared only where that is certain. A line in which a shell does more than split words stays as it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from trunkline.dialects import late_re as re

PLAIN_CHARS: Final = 4 << 10
"""Characters of a line that is taken apart into its words, on the loop: 1 ms."""
SHELLS_DEEP: Final = 4
"""Shells within shells that are looked through; nobody writes more."""

SHELLS: Final = frozenset(folder + name for name in ("sh", "bash", "zsh", "dash", "ksh") for folder in ("", "/bin/", "/usr/bin/"))
"""The shells that are what they are called; ``./bash`` may be anything."""
_READS_ONE_LINE: Final = frozenset({("-c",), ("-lc",), ("-l", "-c"), ("--login", "-c")})
"""The options of a shell that only reads the line behind them. A login shell reads the person's own profile first."""

_SWITCH: Final = re.compile(r"[A-Za-z0-9_.-]{0,32}")
_NUMBER: Final = re.compile(r"\d{1,5}")
_LOCALE: Final = re.compile(r"[A-Za-z0-9_.@-]{0,64}")
_HARMLESS: Final[dict[str, re.Pattern[str]]] = {
    **dict.fromkeys("CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM".split(), _SWITCH),
    **dict.fromkeys(("COLUMNS", "LINES"), _NUMBER),
    "LANG": _LOCALE,
    "TERM": re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}"),  # the name of a description, not a path to one
    "TZ": re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(?:/[A-Za-z0-9_+-]{1,31}){0,2}"),  # behind ``:`` or ``/`` it is a file
    "SHELL": re.compile(r"(?:/usr)?/bin/(?:sh|bash|zsh|dash|ksh)"),  # a shell where shells are
    "PAGER": re.compile("cat"),  # any other is a program that is run
    "DEBIAN_FRONTEND": re.compile("noninteractive"),
    "RUST_BACKTRACE": re.compile("0|1|full"),
    "CARGO_TERM_COLOR": re.compile("auto|always|never"),
}
_LOCALES: Final = re.compile(r"LC_[A-Z]{1,20}")

_NEVER: Final = frozenset(
    "PATH HOME USER PWD TMPDIR IFS CDPATH ENV SHELLOPTS BASHOPTS PROMPT_COMMAND FPATH ZDOTDIR GCONV_PATH LOCPATH NLSPATH "
    "TERMCAP VIRTUAL_ENV CLASSPATH CC CXX LD AR CFLAGS CXXFLAGS LDFLAGS EDITOR VISUAL BROWSER ZIPOPT WGETRC CURL_HOME INPUTRC "
    "KUBECONFIG _JAVA_OPTIONS OLDPWD path cdpath fpath".split())
_NEVER_BEGINS: Final = tuple(
    "BASH_ PS LD_ DYLD_ TERMINFO GLIBC_ MALLOC_ GIT_ SSH_ HG SVN_ NODE_ npm_ NPM_ YARN_ PYTHON PIP_ UV_ PYTEST_ PERL RUBY GEM_ "
    "BUNDLE_ JAVA JDK_ MAVEN_ GRADLE_ GO RUSTC RUSTFLAGS MAKE CMAKE_ PKG_CONFIG PHP LUA_ DOTNET_ LESS GREP_ TAR_ UNZIP XDG_ SSL_ "
    "OPENSSL_ AWS_ DOCKER_ SUDO_".split())
_NEVER_ENDS: Final = ("_PRELOAD", "_ASKPASS", "_RSH", "_PROXY", "_proxy", "_WRAPPER", "_CA_BUNDLE", "_PATH", "_OPTIONS",
                      "_OPTS", "_HOME")
"""Names that are never harmless, whoever lists them: they say which code is loaded, which program runs, where it looks."""

_ASKS_NOBODY: Final = frozenset({"GIT_TERMINAL_PROMPT=0"})
"""Of the names that are never harmless: what an agent's catalog entry may list all the same, with this value."""

_LOADERS: Final = re.compile(
    r"(LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|PATH|PYTHONSTARTUP|PYTHONPATH"
    r"|PERL5OPT|PERL5LIB|RUBYOPT|NODE_OPTIONS|JAVA_TOOL_OPTIONS|GIT_\w*COMMAND|GIT_PAGER|GIT_EDITOR|GIT_EXTERNAL_DIFF|GIT_CONFIG\w*"
    r"|GIT_EXEC_PATH|GIT_PROXY_COMMAND|GIT_SSH|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL"
    r"|BROWSER|RUSTC_WRAPPER|CARGO_TARGET_\w+_RUNNER|MAKEFLAGS|MAKESHELL|npm_config_\w+|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|TAR_OPTIONS|GOPROXY|GONOSUMDB"
    r"|RSYNC_RSH|GREP_OPTIONS|LESS|GCONV_PATH|GOFLAGS|CC|CXX|LD|GIT_SEQUENCE_EDITOR|GIT_TEMPLATE_DIR|PYTHONBREAKPOINT|PYTHONHOME"
    r"|PYTHONUSERBASE|PYTEST_PLUGINS|PYTEST_ADDOPTS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|RUSTC|RUSTC_WORKSPACE_WRAPPER|RUSTFLAGS|LUA_INIT"
    r"|VIMINIT|EXINIT|LESSKEY|FZF_DEFAULT_COMMAND|FZF_DEFAULT_OPTS|RIPGREP_CONFIG_PATH|BAT_PAGER|SYSTEMD_PAGER|HGRCPATH|HGEDITOR"
    r"|SVN_SSH|PHPRC|PHP_INI_SCAN_DIR|PERL5DB|ERL_[AZ]?FLAGS|GNUMAKEFLAGS|MFLAGS|MAKEFILES|PIP_CONFIG_FILE|UV_(DEFAULT_)?INDEX"
    r"|BUNDLE_MIRROR\w*|\w+_(PAGER|EDITOR|ASKPASS|BROWSER|RSH|LAUNCHER|CONNECT_PROG|INDEX_URL|FIND_LINKS|GIT_REMOTE))")
"""By their names, or by what these end with: a program, or where packages come from, whichever program reads it."""
_SAYS_WHERE: Final = frozenset(("CDPATH", "OLDPWD", "cdpath"))
"""Where ``cd`` goes: what stands behind it in the line is then somewhere else than its words say."""
_REPLACES: Final = frozenset(("BASH_CMDS", "BASH_ALIASES", "aliases", "galiases", "saliases", "functions", "commands"))
"""Tables of a shell: an entry makes a name stand for another program. Those of zsh have names that others give to lists."""
_ELEMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?\+?", re.ASCII)
UNKNOWN_VALUE: Final = "…"
"""A value that only the run knows (``shell.UNKNOWN_VALUE``)."""
_LOADING: Final = {
    "NODE_OPTIONS": re.compile(r"(^|[\s'\"])(-r|--require|--import|--loader|--experimental-loader)\b"),
    "GOFLAGS": re.compile(r"-(tool)?exec\b"),
    "RUSTFLAGS": re.compile(r"\blinker\b|-Z|-B"),
    "PYTEST_ADDOPTS": re.compile(r"(^|\s)-\w?[pco]|--(config|override|rootdir|confcut)"),
    **dict.fromkeys(("ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS"), re.compile(
        r"(^|\s)-(eval|run|s|pa|pz|path|boot|config|args_file|loader|remsh|mode|init_debug|home)\b")),
    **dict.fromkeys(("MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS"), re.compile(
        r"--eval\b|\bSHELL=|(^|\s)-\w{0,20}[fIEC]|--(file|makefile|include-dir|directory)\b")),
    "MAKEFILES": re.compile(r"(^|\s)(/|~|\.\.)"),
    "PATH": re.compile(r"(^|:)(\.|(/tmp|/var/tmp|/dev/shm)(/[^:]*)?)?(:|$)"),  # an empty folder is the one that it stands in
    "PYTHONPATH": re.compile(r"(^|:)(/tmp|/var/tmp|/dev/shm)(/[^:]*)?(:|$)"),
}
"""In variables that builds set every day: what makes them load a file, or find programs where anybody can put some."""
_QUIET_LOADERS: Final = re.compile(
    r"(?:cat|less|more|most|bat|delta|true|:|none|vi|vim|nano|emacs|echo|gcc|clang|cc|g\+\+|c\+\+|clang\+\+|ccache|sccache|distcc|)"
    r"|-[A-Za-z]+")
_LOADS_MODULES: Final = frozenset(("PERL5OPT", "RUBYOPT"))

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT: Final = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_]*)=")
_BLANKS: Final = re.compile(r"[ \t]+")
_GOES_TO: Final = re.compile(r"cd[ \t]+(?:--[ \t]+)?")
_AND_THEN: Final = re.compile(r"[ \t]*&&[ \t]*")
_PIECE: Final = re.compile(
    r"""'([^']*)'|"((?:[^"$`\\!]|\\["\\])*)"|\\([^\n])|([^\s'"\\$`|&;()<>{}*?\[\]~#!]+)""")
"""A piece of a word with which a shell does nothing: in quotes, behind a backslash, or without a sign of the shell's."""
_ESCAPED: Final = re.compile(r'\\(["\\])')
_KEYWORDS: Final = frozenset("if then else elif fi for select while until do done case esac in function time coproc".split())
_NO_LETTERS: Final = str.maketrans("", "", "'\"\\ \t\r\n")
"""What a shell takes away when it makes words of a line."""


def is_never_harmless(name: str) -> bool:
    """Whether a variable says which code is loaded, which program runs or where one looks: nobody may call it harmless."""
    return name in _NEVER or name.startswith(_NEVER_BEGINS) or name.endswith(_NEVER_ENDS)


def is_harmless(name: str, value: str) -> bool:
    """Whether a variable changes nothing but how a program prints, or that it asks nobody."""
    if is_never_harmless(name):
        return False
    allowed = _HARMLESS.get(name) or (_LOCALE if _LOCALES.fullmatch(name) else None)
    return allowed is not None and allowed.fullmatch(value) is not None


def why_not_listed(pair: str) -> str | None:
    """Why a catalog entry may not list ``NAME=value`` as one that its agent gives to every command; None where it may."""
    name, equals, value = pair.partition("=")
    if not equals or not _NAME.fullmatch(name):
        return "that is not NAME=value"
    if pair not in _ASKS_NOBODY and (is_never_harmless(name) or loads(name, value) is not None):
        return "it says which code is loaded, which program runs, or where one looks"
    return None


def is_harmless_assignment(assignment: str) -> bool:
    """The same for ``NAME=value``; a value that only a shell knows has a sign in it that no harmless value has."""
    name, equals, value = assignment.partition("=")
    return equals == "=" and is_harmless(name, value)


def loads(name: str, value: str) -> Literal["high", "medium"] | None:
    """How bad it is that a variable makes other programs load or run something; None where it does not. Of an array any element
    counts as the whole."""
    if name == UNKNOWN_VALUE:
        return "high"
    element = _ELEMENT.fullmatch(name)
    if element is None:
        return None
    name, index = element[1], element[2]
    if name in _REPLACES:
        return "high" if name.isupper() or _NUMBER.fullmatch(index or "0") is None else None
    if name in _SAYS_WHERE:
        return "high" if value else None
    if not _LOADERS.fullmatch(name) or (
            name not in _LOADS_MODULES and name != "PATH" and _QUIET_LOADERS.fullmatch(value)):
        return None
    loading = _LOADING.get(name)
    return "high" if loading is None or value == UNKNOWN_VALUE or loading.search(value) else "medium"


def replaced(assignment: str) -> tuple[str, str] | None:
    """The name that an assignment makes stand for another program, and what for; None where it does not."""
    name, _, value = assignment.partition("=")
    element = _ELEMENT.fullmatch(name)
    return (element[2].strip("'\""), value) if element is not None and element[1] in _REPLACES and element[2] else None


def loading_level(assignment: str) -> Literal["high", "medium"] | None:
    """The same for ``NAME=value``."""
    name, equals, value = assignment.partition("=")
    return loads(name, value) if equals else None


def script_of(words: Sequence[str | None]) -> str | None:
    """The line that a shell reads and does nothing else: ``/bin/bash -lc LINE``; None where these words are no such shell."""
    return words[-1] if len(words) > 2 and words[0] in SHELLS and tuple(words[1:-1]) in _READS_ONE_LINE else None


class Bare(NamedTuple):
    """A command without what stands in front of it."""

    line: str
    """As a shell would read it."""
    variables: frozenset[str] = frozenset()
    """``NAME=value`` of those that are not harmless. A line that is more than words keeps its own in front."""
    words: tuple[str, ...] | None = None
    """Its words, where it is run without a shell."""
    folder: str | None = None
    """Where it goes first: ``cd FOLDER && …``."""

    @property
    def letters(self) -> str:
        """What is left of it whatever way its words are quoted."""
        return self.line.translate(_NO_LETTERS)


def bare_line(words: Sequence[str], env: Mapping[str, str] | None = None, own: frozenset[str] = frozenset()) -> Bare:
    """The command that these words run, with these variables. A single word is a line: agents send whole lines as a program.
    ``own`` are the variables that the agent is known to give to every command."""
    given = {f"{name}={value}": is_harmless(name, value) for name, value in (env or {}).items()}
    strange = frozenset(pair for pair, harmless in given.items() if not harmless and pair not in own)
    script = words[0] if len(words) == 1 else script_of(words)
    if script is None:
        return Bare(shlex.join(words), strange, tuple(words))
    found = _read(script, SHELLS_DEEP)
    return found._replace(variables=found.variables | strange)


def is_same(one: Bare, other: Bare) -> bool:
    """Whether two commands are the same, wherever they run: as lines, else word for word."""
    if one.variables != other.variables:
        return False
    if one.line == other.line:
        return not one.variables or _words_of(one) is not None
    if max(len(one.line), len(other.line)) > PLAIN_CHARS or one.letters != other.letters:
        return False
    words = _words_of(one)
    return words is not None and words == _words_of(other)


def plain_words(line: str) -> tuple[str, ...] | None:
    """The words of a line with which a shell does nothing but split it; None where it does more, or where the line is long."""
    if len(line) > PLAIN_CHARS:
        return None
    words: list[str] = []
    at, end = 0, len(line.rstrip())
    while at < end:
        blank = _BLANKS.match(line, at)
        at = blank.end() if blank else at
        found = _word(line, at, end)
        if found is None:
            return None
        word, at = found
        words.append(word)
    if not words or words[0] in _KEYWORDS or _ASSIGNMENT.match(line):
        return None
    return tuple(words)


def _words_of(bare: Bare) -> tuple[str, ...] | None:
    return bare.words if bare.words is not None else plain_words(bare.line)


def _word(line: str, at: int, end: int) -> tuple[str, int] | None:
    """The word that begins here, and where it ends."""
    start, pieces = at, []
    while at < end and line[at] not in " \t":
        found = _PIECE.match(line, at)
        if found is None:
            return None
        quoted, double, escaped, bare = found.groups()
        pieces.append(_ESCAPED.sub(r"\1", double) if double is not None else next(
            piece for piece in (quoted, escaped, bare) if piece is not None))
        at = found.end()
    return ("".join(pieces), at) if at > start else None


def _read(line: str, depth: int) -> Bare:
    """A line without the harmless variables and the shells in front of it."""
    rest, strange = _without_assignments(line.strip())
    if strange is None:
        return Bare(rest)
    words = plain_words(rest) if rest.partition(" ")[0] in SHELLS else None
    script = script_of(words) if words is not None and depth else None
    if script is not None:
        inner = _read(script, depth - 1)
        return inner._replace(variables=inner.variables | strange)
    folder, behind = _in_folder(rest) if depth and not strange else (None, rest)
    return _read(behind, 0)._replace(folder=folder) if folder is not None else Bare(rest, strange)


def _in_folder(line: str) -> tuple[str | None, str]:
    """The folder that a line goes to before anything else, and the rest of it; only a full path is one."""
    found = _GOES_TO.match(line)
    word = _word(line, found.end(), len(line)) if found is not None else None
    then = _AND_THEN.match(line, word[1]) if word is not None else None
    if word is None or then is None or not word[0].startswith("/"):
        return None, line
    return word[0], line[then.end():]


def _without_assignments(line: str) -> tuple[str, frozenset[str] | None]:
    """A line without the variables in front of it, and those that are not harmless. None in their place: the line is more than
    words, so that it keeps them, all but the harmless ones at its very front."""
    at, kept_from, strange, end = 0, 0, [], len(line)
    while (found := _ASSIGNMENT.match(line, at)) is not None:
        value = _word(line, found.end(), end) if found.end() < end and line[found.end()] not in " \t" else ("", found.end())
        if value is None or value[1] >= end:
            break
        text, at = value
        if not is_harmless(found[1], text):
            strange.append(f"{found[1]}={text}")
        elif not strange:
            kept_from = at
    if not strange:
        return line[at:].lstrip(), frozenset()
    rest = line[at:].lstrip()
    return (rest, frozenset(strange)) if plain_words(rest) is not None else (line[kept_from:].lstrip(), None)
