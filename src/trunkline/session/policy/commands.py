"""What a policy sees of one simple command: how it is written, how else it could be written, and what makes it unsure.

Rule 1: pure, and it never runs anything.
Rule 2: what is unsure is never covered by a pattern. Only a rule that is the whole line, word for word, allows it.
Rule 3: an outline is a pattern of everything that a command or a word could turn out to be: ``git $X`` is ``git *``.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.variables import is_harmless_assignment, script_of
from trunkline.dialects.glob_tokens import PATTERN_CHARS, alternatives
from trunkline.session.policy import globs
from trunkline.session.policy.globs import Place
from trunkline.session.policy.skipped import leaving_out

if TYPE_CHECKING:
    from trunkline.dialects.shell import Redirect, SimpleCommand

ANYTHING = "/**"
"""The outline of a path of which nothing is known."""
VALUES = 16
"""Values within values (``a=b=c``) that are looked at; what has more may be about any path."""

_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_HOME = re.compile(r"\$HOME(?![A-Za-z0-9_])|\$\{HOME\}")
_DYNAMIC = re.compile(r"[$`]")
_NUMBERS = re.compile(r"\$[?#]|\$\{[?#]\}")
"""How the last command ended, how many words there are."""
_QUIET = frozenset({"true", "false", ":", "echo"})
_HERE_DOC = re.compile(r"\$\(\s{0,20}cat\s{1,20}<<-?\s{0,20}(['\"])(\w{1,80})\1[ \t]*\n.*\n[ \t]*\2\s*\)", re.DOTALL)
"""``$(cat <<'END' …)``: what stands between is a text, and no shell reads it."""
_GH_TEXTS = frozenset({"--body", "-b", "--title", "-t", "--notes"})
"""Options of ``gh`` whose value is a text."""
_WILD = re.compile(r"[*?\[]|[@+!]\(|\{[^{}/]*\.\.")
_PLAIN_CLASS = re.compile(r"\[[\w.-]+\]|\[\[\.\.\.[\w-]+\]\]", re.ASCII)
"""A class that stands for one character and nothing else, like ``[id]``, ``[...slug]`` and ``[[...slug]]`` in names of files."""
_CLASS = re.compile(r"\[[^/]*")
"""A class of characters and, since where it ends is hard to say, the rest of its part of the path."""
_CHOICE = re.compile(r"[@+!*?]\([^/]*")
"""The same for a choice (``@(a|b)``)."""
_STARS = re.compile(r"(?<![^/])\*+(?![^/])")
_FOLDER_OPTIONS = frozenset("-C --directory --cwd --chdir --work-tree --git-dir --prefix --dir --working-directory -D".split())
_TARS = frozenset("tar gtar bsdtar star".split())
_LEAVES_FOLDERS = frozenset(
    "mkdir ls cd pushd popd cat head tail wc grep egrep fgrep rg du df stat file tree test [ pwd realpath readlink basename "
    "dirname cp touch diff sort uniq cut nl less more which type true false".split())
"""What leaves a folder that it names where it is."""
_MOVERS = frozenset("mv rm rmdir ln install rsync rename unlink".split())
_STANDS_IN = frozenset({"$PWD", "${PWD}", "$(pwd)", "`pwd`"})
GREPS = frozenset("grep egrep fgrep rg".split())
FINDERS = frozenset({"find", "gfind", "fd"})
FINDS_ONLY = frozenset(
    "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -print -print0 -not -o -a -empty -prune "
    "-H -L -P -regex -iregex -ls -quit -perm -user -group -depth".split())
"""Options of ``find`` that do nothing with what it finds."""
_TAKES_TEXT = frozenset("cat tee read git grep wc head tail sort echo".split())
"""What they read is text to them: no path in it is opened."""
_APPLIES = frozenset(("apply", "am"))
"""What git reads then is a patch, with the paths of files that are written."""
_VERB_AMONG = 6
_BUNDLE = 64
"""Letters of one option that are looked at; what has more may be about any path."""
_INSIDE = re.compile(r"[\s'\"(),;:<>|&=`@{}!]+")
_BRACE_RANGE = re.compile(r"\{[^{}/]*+\}")
_CODE_CHARS = 8192
_OPENS_LITERAL = re.compile(
    r"(?<!\w)\w*+\(\s*+(?:'[^']*+'|\"[^\"]*+\")\s*+(?:\)\.read_(?:text|bytes)\b|(?=[,)]))"
    r"|<\s*+\"[^\"]*+\"(?!\s*[\"\w(])")
_COMPUTES = re.compile(
    r"\bopen\b|[rR]ead_?(?:[Ff]ile|[Tt]ext|[Bb]ytes|[Ll]ines)|File\.|fopen|file_get_contents|glob|listdir|scandir|readdir|walk\("
    r"|iterdir|getline\s*<|getline\s+\w+\s*<|\bARGV\b|io\.|IO\.|createReadStream|read_csv|loadtxt"
    r"|\bload_file\b|\bfile\s{0,9}\(\s{0,9}(?:concat|char)\b")
"""Words of code that read files, beside those whose name is in the code as it is."""
_WILD_PART = re.compile(r"[*?]|\[[^\[\]]+\]")
_TAKES_EXPRESSIONS = frozenset(
    "grep egrep fgrep rg ag ack sed gsed awk gawk mawk perl jq yq echo printf tr expr find gfind fd ctags".split())
"""What has wildcards in a word of theirs is an expression, or a name that they only look for."""
_CODE_SIGNS = re.compile(r"[\s;()\"']")
_MANY_WORDS = 12
_PIECES = re.compile(r"[;&|\n(){}`]+")


def as_written(command: SimpleCommand) -> str:
    """What a pattern has to match: the command with the assignments in front of it, without its redirections."""
    return " ".join((*command.assignments, command.text))


def behind_variables(command: SimpleCommand) -> str:
    """The same without the variables that change nothing of what it does: ``CI=true npm test`` is ``npm test``."""
    return " ".join((*(one for one in command.assignments if not is_harmless_assignment(one)), command.text))


def only_reads_line(commands: Sequence[SimpleCommand], index: int) -> bool:
    """Whether a command is a shell that does nothing but read a line (``bash -lc 'npm test'``) whose commands are known too."""
    command = commands[index]
    if script_of(command.words) is None or not all(map(is_harmless_assignment, command.assignments)):
        return False
    return any(one.parent == index for one in commands)


def goes_back(commands: Sequence[SimpleCommand], index: int) -> bool:
    """Whether a command goes to where the shell was before the line: only it knows which folder that is."""
    command = commands[index]
    if command.name not in ("cd", "pushd", "popd") or not (command.name == "popd" or "-" in command.sketch[1:]):
        return False
    return not any(one.name in ("cd", "pushd") for one in commands[:index])


def only_prints(commands: Sequence[SimpleCommand], index: int) -> bool:
    """Whether a command does nothing (``true``), or prints a text that is in the line and nobody is given: ``echo "exit $?"``, a
    here-doc that becomes the message of a commit."""
    one = commands[index]
    if one.assignments or not one.words or one.words[0] != one.name:
        return False
    if one.name == "cat" and one.inside == "$(…)" and len(one.words) == 1:
        return 0 <= one.parent < index and len(one.redirects) == 1 and one.redirects[0].body is not None and any(
            _is_message(commands[one.parent], at) for at in range(len(commands[one.parent].words)))
    if one.name not in _QUIET or doubt(one) or (one.parent >= 0 and not only_reads_line(commands, one.parent)):
        return False
    return one.name != "echo" or not any(0 <= each.stdin_from <= index < place for place, each in enumerate(commands))


def _is_message(command: SimpleCommand, at: int) -> bool:
    """Whether a word is nothing but a text in quotes, by way of a here-doc, where a text belongs."""
    return command.words[at] is None and is_only_text(command, at) and _HERE_DOC.fullmatch(command.sketch[at]) is not None


def _is_known(command: SimpleCommand, at: int) -> bool:
    """Whether a word is known, or what is not known of it is a number that is printed (``$?``), or a text."""
    if command.words[at] is not None:
        return True
    number, times = _NUMBERS.subn("0", command.sketch[at]) if command.name == "echo" else ("", 0)
    return (times > 0 and not _DYNAMIC.search(number)) or _is_message(command, at)


def spellings(command: SimpleCommand) -> list[str]:
    """The ways in which a rule may have meant this command: bare, without its quotes, as written."""
    found = [command.plain, " ".join(command.sketch), command.text, as_written(command)]
    if "@" in (name := command.name or "")[1:]:  # as a registry has it: ``npx npm@latest``
        found.append(" ".join((name[:1] + name[1:].partition("@")[0], *command.sketch[1:])))
    if len(command.words) > 1 and "python" in name:
        from trunkline.dialects.shell import apart  # as heavy as the parser

        found.append(apart(command).plain)
    return list(dict.fromkeys(" ".join(one.split()) for one in found))


def pieces(line: str) -> Iterator[str]:
    """The parts of a line that could not be parsed, cut at every operator."""
    yield from (" ".join(piece.split()) for piece in _PIECES.split(line) if piece.strip())


def outline(command: SimpleCommand) -> str | None:
    """The pattern of what this command may turn out to be, case folded; None where nothing in it is open."""
    open_words = [word is None or _WILD.search(word) for word in command.words]
    if _may_be_any_verb(command):
        return globs.folded(f"{globs.escape(command.name or '')} *")
    if not any(open_words):
        return None
    first = command.name if command.words and command.words[0] else None
    words = [_opened(word) for word in (first, *command.words[1:])]
    return globs.folded(" ".join(words))


def _may_be_any_verb(command: SimpleCommand) -> bool:
    """Whether a program has so many options that nobody knows before its sub-command that it may be any."""
    if len(command.sketch) < _MANY_WORDS or command.name is None:
        return False
    from trunkline.dialects.shell import has_more_readings  # as heavy as the parser

    return has_more_readings((command.name, *command.sketch[1:]))


def _opened_path(word: str) -> str:
    """The same for a path, in which a plain class of characters is one of them."""
    if "[" not in word:
        return _opened(word)
    found, at = "", 0
    for plain in _PLAIN_CLASS.finditer(word):
        found += _opened(word[at:plain.start()]) if not _is_open_class(word[at:plain.start()]) else "\0"
        one = "?" if "-" in plain[0] else plain[0] if plain[0][1] != "[" else r"?\]"
        found, at = found + one, plain.end()
    return _opened(word) if "\0" in found else found + _opened(word[at:])


def _is_open_class(text: str) -> bool:
    """Whether a class or a choice begins here that ends elsewhere."""
    return "[" in text or "(" in text


def _opened(word: str | None) -> str:
    if word is None:
        return "*"
    word = _CLASS.sub("?*", _CHOICE.sub("*", _BRACE_RANGE.sub(_ranged, word)))
    return "".join(char if char in "*?" else globs.escape(char) for char in word)


def _ranged(braces: re.Match[str]) -> str:
    """``{a..c}`` as what it may become; other braces as they are."""
    return "?*" if ".." in braces[0] else braces[0]


def mentions(commands: Iterable[SimpleCommand], home: str | None, known: frozenset[str] = frozenset()) -> Iterator[str]:
    """Everything in a line that may be a path: words, values of options and assignments, targets; ANYTHING where unknown.
    ``known`` are words that only the shell knows and whose values somebody else holds against rules."""
    line = tuple(commands)
    for index, command in enumerate(line):
        pairs, left_out = enumerate(zip(command.words, command.sketch, strict=True)), leaving_out(command)
        yield from (_known(word, sketch, home) for at, (word, sketch) in pairs
                    if sketch not in left_out and not _is_message_of(command, at) and (
                        word is not None or not (sketch in known or is_only_text(command, at))))
        if any(map(_puts_names_together, _code_on_input(line, index))):
            yield ANYTHING
        yield from (_known(redirect.target, redirect.sketch, home) for redirect in command.redirects)
        yield from (_known(None if _DYNAMIC.search(one) else one, one, home) for one in command.assignments
                    if command.words or not _DYNAMIC.search(one))  # who uses a variable has a word that nobody knows
        yield from _read_in_code(command)
        if command.redirects and (command.name not in _TAKES_TEXT or not _APPLIES.isdisjoint(command.sketch[1:_VERB_AMONG])):
            yield from (redirect.body for redirect in command.redirects if redirect.body is not None)


def is_only_text(command: SimpleCommand, at: int) -> bool:
    """Whether a word is printed or kept as a text, and never opened: what ``echo`` prints, the message of a commit."""
    if command.name in ("echo", "printf"):
        return True
    if command.name == "gh":
        return command.sketch[at - 1] in _GH_TEXTS
    return command.name == "git" and "commit" in command.sketch[:at] and command.sketch[at - 1] in ("-m", "-am", "--message")


def _is_message_of(command: SimpleCommand, at: int) -> bool:
    """Whether a word is a sentence that is printed or kept as a text, which may well speak of files."""
    return command.name in ("git", "gh", "echo") and " " in command.sketch[at] and is_only_text(command, at)


def _read_in_code(command: SimpleCommand) -> Iterator[str]:
    """Files that code in a command reads: those of a sed script by name; ANYTHING where code puts names together."""
    from trunkline.dialects.risk.inline.sed import read_sed
    from trunkline.dialects.risk.runners.code import code_in  # as heavy as the parser

    if command.name == "yq":
        from trunkline.dialects.risk.rules.reading import loads_computed

        if any(map(loads_computed, command.sketch)):
            yield ANYTHING
    for text, language in code_in(command):
        if language == "sed":
            yield from read_sed(text).reads
        elif _puts_names_together(text):
            yield ANYTHING


def _puts_names_together(code: str) -> bool:
    """Whether code reads files whose names do not stand in it."""
    return len(code) > _CODE_CHARS or _COMPUTES.search(_OPENS_LITERAL.sub(" ", code)) is not None


def _code_on_input(commands: Sequence[SimpleCommand], index: int) -> Iterator[str]:
    """The code that an interpreter reads on its input, as far as the line has it: its own here-doc, that of whoever starts it
    (``uv run python - <<E``), or what is printed into it."""
    from trunkline.dialects.risk.runners.code import takes_script  # as heavy as the parser

    command = commands[index]
    if not takes_script(command):
        return
    while True:
        yield from (redirect.body or redirect.sketch for redirect in command.redirects if redirect.operator[:2] == "<<")
        for feeder in commands[command.stdin_from:index] if 0 <= command.stdin_from < index else ():
            yield " ".join(feeder.sketch[1:])
            yield from (redirect.body for redirect in feeder.redirects if redirect.body is not None)
        if not 0 <= command.parent < index:
            return
        index = command.parent
        command = commands[index]


def _known(word: str | None, sketch: str, home: str | None) -> str:
    if word is not None:
        return word
    settled = _HOME.sub(lambda _: home or "~", sketch)
    return ANYTHING if _DYNAMIC.search(settled) else settled


def moves(commands: Iterable[SimpleCommand]) -> Iterator[str]:
    """The folders that a line goes to, or has a program go to: a relative path behind that begins there."""
    for command in commands:
        words = command.sketch
        if command.name in ("cd", "pushd"):
            yield _HOME.sub("~", next((word for word in words[1:] if word[:1] != "-"), "~"))
            continue
        for at, word in enumerate(words[1:], 1):
            name, equal, value = word.partition("=")
            if name in _FOLDER_OPTIONS:
                yield _HOME.sub("~", value if equal else " ".join(words[at + 1:at + 2]))
            elif word[:2] == "-C" and len(word) > 2:
                yield _HOME.sub("~", word[2:])
        if command.name in _TARS:
            yield from _behind_letters(words)


def _behind_letters(words: Sequence[str]) -> Iterator[str]:
    """Every word that may be the folder of a tar whose letters stand together (``tar cC ~ x``, ``tar -xzC ~``)."""
    for at, word in enumerate(words[1:], 1):
        is_cluster = word[:2] != "--" and (at == 1 or word[:1] == "-") and word.lstrip("-").isalpha()
        if is_cluster and "C" in word:
            yield from (_HOME.sub("~", one) for one in words[at + 1:at + 4] if one[:1] != "-")


def other_names(commands: Iterable[SimpleCommand]) -> Iterator[tuple[str, str]]:
    """Names under which a line makes a folder known once more, and which that is: by a link, to a container, by a mount."""
    for command in commands:
        words = [_HOME.sub("~", word) for word in command.sketch[1:]]
        named = [word for word in words if word[:1] != "-"]
        if command.name in _LINKERS and len(named) > 1:
            made = named[-1].rstrip("/")
            yield from ((name, target) for target in named[:-1]
                        for name in (made, f"{made}/{posixpath.basename(target.rstrip('/'))}"))
        elif command.name in _LINKERS and named:
            yield posixpath.basename(named[0].rstrip("/")), named[0]
        elif command.name in _MOUNTERS:
            yield from ((to.partition(":")[0], target) for word in named for target, colon, to in [word.partition(":")] if colon)
            yield from zip(named[1:], named, strict=False)
            yield from (pair for word in words if (pair := _mounted(word)) is not None)


def _mounted(word: str) -> tuple[str, str] | None:
    """What ``--mount type=bind,src=~,dst=/h`` makes known, and under which name."""
    given = dict(part.partition("=")[::2] for part in word.removeprefix("--mount=").split(",") if "=" in part)
    source = given.get("src") or given.get("source")
    target = given.get("dst") or given.get("target") or given.get("destination")
    return (target, source) if source and target else None


_LINKERS = frozenset("ln link symlink cp gcp mv gmv rsync install ditto".split())
_MOUNTERS = frozenset("docker podman nerdctl mount bwrap firejail systemd-nspawn proot bindfs sshfs".split())


def quoted_patterns(commands: Iterable[SimpleCommand]) -> frozenset[str]:
    """Words that no shell takes for a glob: they stand in quotes, and only before programs that look for what they say."""
    quoted: set[str] = set()
    others: set[str] = set()
    for command in commands:
        looks = command.name in FINDERS or command.name in GREPS
        for word in command.sketch[1:]:
            written = command.text.count(f"'{word}'") + command.text.count(f'"{word}"') if looks else 0
            (quoted if written and written == command.text.count(word) else others).add(word)
    return frozenset(quoted - others)


def entries_named(name: str, commands: Iterable[SimpleCommand], home: str | None) -> Iterator[str]:
    """Words that may be the path of a folder of this name to whoever moves, removes or replaces it. A folder cannot be moved as
    ``.``, and who looks, goes there, makes it or puts something into it leaves it where it is."""
    for command in commands:
        entered = set(moves([command])) if command.name not in _MOVERS else ()
        if command.name in _LEAVES_FOLDERS or (command.name in FINDERS and FINDS_ONLY.issuperset(_options(command))):
            continue
        for word in values(mentions([command], home)):
            if word not in entered:
                yield from (one for one in (word, *path_like_parts(word)) if posixpath.basename(one.rstrip("/")) == name)


def moves_where_it_stands(commands: Iterable[SimpleCommand]) -> bool:
    """Whether a command moves or replaces the folder that it stands in, by the name that the shell has for it."""
    return any(command.name in _MOVERS and not _STANDS_IN.isdisjoint(word.rstrip("/") for word in command.sketch)
               for command in commands)


def _options(command: SimpleCommand) -> list[str]:
    return [word for word in command.sketch[1:] if word[:1] == "-"]


def path_outline(word: str, base: str, home: str | None = None, hidden: bool = False) -> str | None:
    """The pattern of the absolute paths that a word with wildcards may stand for, and of all below; None where it has none.
    ``hidden``: a star stands for hidden names as well."""
    if word == ANYTHING:
        return ANYTHING
    if not _WILD.search(word):
        return None
    at_home = word.startswith("~/") and home is not None
    opened = _opened_path(word[2:] if at_home else word).replace("**", "*")
    if hidden:
        opened = _STARS.sub("?*", opened)
    return globs.clean(posixpath.join(globs.escape(home or "" if at_home else base), opened)).rstrip("/") + "/"


def glob_outline(where: Place, root: str) -> str | None:
    """The pattern of the names that a glob says something of; None where it says nothing, like a search of everything.

    ``**`` counts as no folder at all, and a name that begins with a star as the folder that it is in."""
    parts = [part for part in (where.relative or where.absolute).split("/") if part not in ("", "**")]
    while parts and parts[-1].startswith("*"):
        parts.pop()
    base, path = root if where.relative is not None else "/", "/".join(parts)
    return (path_outline(path, base) or globs.escape(globs.clean(posixpath.join(base, path)))) if parts else None


def values(words: Iterable[str]) -> Iterator[str]:
    """Each word, and what stands behind the ``=``, the ``@`` or the letter of an option in it: ``--out=x``, ``-ox``, ``a=@x``."""
    for word in words:
        for _ in range(VALUES):
            yield from _read_as_value(word)
            word = word.partition("=")[2]
            if not word:
                break
        else:
            yield ANYTHING


def _read_as_value(word: str) -> Iterator[str]:
    yield word
    if word[:1] == "@" and len(word) > 1:
        yield word[1:]
    if word[:1] == "-" and word[1:2] not in ("", "-") and len(word) > 2:
        yield from _with_sign(word[2:])
        letters = _letters(word)
        if 2 < letters < len(word):
            yield from _with_sign(word[letters:])
        if letters > _BUNDLE:
            yield ANYTHING


def _with_sign(value: str) -> Iterator[str]:
    yield value
    if value[:1] in "@=" and len(value) > 1:
        yield value[1:]


def _letters(word: str) -> int:
    """Where the letters of a bundle of short options end."""
    return next((at for at, sign in enumerate(word) if at and not sign.isalnum()), len(word))


def bundle_ends(words: Iterable[str]) -> Iterator[str]:
    """What a bundle of short options may end with, beside what its signs show: ``-czfsecrets`` may give ``secrets``."""
    for word in words:
        if word[:1] == "-" and word[1:2] not in ("", "-"):
            yield from (word[at:] for at in range(3, min(_letters(word), _BUNDLE)))


def path_like_parts(word: str) -> Iterator[str]:
    """What may be a path within a word that is code or prose: ``open('.env')``, ``.env:/app/.env``."""
    found = [piece for piece in _INSIDE.split(word) if piece]
    if found != [word]:
        yield from found


def wild_parts(commands: Iterable[SimpleCommand]) -> Iterator[str]:
    """Paths with wildcards within a word, for programs that look for files themselves: ``':(top).e*'``, ``"from 's*/x'"``. What
    looks for text has expressions there."""
    for command in commands:
        if command.name in _TAKES_EXPRESSIONS:
            continue
        for word in command.sketch[1:]:
            if _WILD.search(word):
                yield from (part for part in path_like_parts(word) if _WILD_PART.search(part) and part.strip("*/.?+$^"))


def braced(words: Iterable[str]) -> Iterator[str]:
    """What programs make of braces that no shell has expanded: ``'file:///x/{a,b}'``."""
    for word in words:
        if "{" in word and "," in word and len(word) <= PATTERN_CHARS and not _CODE_SIGNS.search(word):
            found = alternatives(word)
            yield from found if len(found) != 1 else ()
            yield from (ANYTHING,) if not found else ()


def doubt(command: SimpleCommand) -> str:
    """Why no pattern covers this command, or nothing."""
    if not command.text or not command.words:
        return "it does more than run commands"
    if not all([_is_known(command, at) for at in range(len(command.words))]):
        return f"`{command.text}` has a part that only the shell knows"
    for redirect in command.redirects:
        if not _is_harmless(redirect):
            return f"`{command.text}` is redirected"
    return ""


def _is_harmless(redirect: Redirect) -> bool:
    """Into nothing, or from one of the command's own streams to another."""
    if redirect.body is not None or redirect.operator.startswith("<<"):
        return False
    return redirect.target in _HARMLESS_TARGETS or not (redirect.writes or redirect.reads)
