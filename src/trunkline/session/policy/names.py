"""Names that a command gets from elsewhere: out of a pipe, a list, or what ``find`` finds. The line does not spell them out.

Rule 1: pure. What comes out are outlines (patterns of absolute paths) of what the names may be.
Rule 2: what nothing is known of may be any path. Only ``find`` and words that are printed say more.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.session.policy import globs
from trunkline.session.policy.commands import ANYTHING, quoted_patterns
from trunkline.session.policy.skipped import leaving_out, skipped_folders

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

_SLOT: Final = "{}"
_FINDERS: Final = frozenset({"find", "gfind"})
_PRINTERS: Final = frozenset({"printf", "echo"})
_LISTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys("tar gtar bsdtar star".split(), ("-T", "--files-from")),
    "rsync": ("--files-from",),
    **dict.fromkeys("wc du sort find gfind".split(), ("--files0-from", "-files0-from")),
    "git": ("--pathspec-from-file", "--stdin"),
    **dict.fromkeys("xargs gxargs parallel".split(), ("-a", "--arg-file", "::::", ":::+")),
    "zip": ("-@",),
    "file": ("-f", "--files-from"),
    "ctags": ("-L",),
    "cscope": ("-i",),
    "exiftool": ("-@",),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "b2sum"), ("-c", "--check")),
}
"""Options whose value is a list of names, by program."""
_FROM_INPUT: Final = frozenset({"cpio", "pax", "entr", "afio"})
"""They take the names that they read."""
_RESPONSE_FILES: Final = frozenset(
    "gcc g++ cc c++ clang clang++ ld ar javac java 7z 7za rustc swiftc ctags mogrify convert".split())
"""A word ``@x`` of theirs is a list of words in a file."""
_OPEN_TESTS: Final = frozenset("-o -or ! -not , ( ) -prune -path -ipath -wholename -iwholename -regex -iregex -samefile".split())


_GO_THROUGH: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        "tar gtar bsdtar zip 7z 7za rar cp gcp ditto rsync scp rclone restic borg duplicity grep egrep fgrep rgrep rg ripgrep ag "
        "ack ugrep ug mv chmod chown chgrp gsutil gzip bzip2 xz zstd unzip".split(), ()),
    **dict.fromkeys(("find", "gfind"), tuple("-delete -exec -execdir -ok -okdir".split())),
    "fd": tuple("-x -X --exec --exec-batch".split()),
    "git": tuple("grep --no-index --work-tree checkout restore rm mv stash archive log show".split()),
    **dict.fromkeys(("docker", "podman", "nerdctl"), ("build", "cp")),
    "diff": tuple("-r --recursive -ru -ur -rq -qr -ruN -urN -Nur".split()),
    "kubectl": ("cp", "--from-file"), "aws": ("s3",), "gcloud": ("storage",), "az": ("storage",), "svn": ("import", "add"),
    **dict.fromkeys(("python", "python3"), ("zipfile", "tarfile")),
}
"""They read, copy or change all that is below a folder which they name; some only with one of these words."""
_BY_DEFAULT: Final = frozenset(
    "foreman honcho dotenv dotenvx dotenv-cli env-cmd godotenv forego overmind hivemind nf pipenv".split())
_COMPOSERS: Final = frozenset(("docker-compose", "podman-compose"))
"""Programs that take a project's variables from their file without being given it, and hand them on."""


def read_by_default(commands: Sequence[SimpleCommand]) -> Iterator[str]:
    """Files that no word names, and that a program is there to read."""
    for command in commands:
        words = command.sketch
        composes = command.name in _COMPOSERS or words[1:2] == ("compose",)
        if command.name in _BY_DEFAULT or words[1:3] == ("-m", "dotenv") or (
                command.name == "heroku" and " ".join(words[1:2]).startswith("local")) or (
                command.name == "deno" and "--env-file" in words) or (
                composes and not {"config", "convert"}.isdisjoint(words[1:6])):
            yield ".env"
        yield from _of_logins(command)


_LOGS_IN: Final = re.compile(r"-[A-Za-z]{0,20}n[A-Za-z]{0,20}|--netrc(?:-optional)?")


def _of_logins(command: SimpleCommand) -> Iterator[str]:
    """The files with passwords, and with what is encrypted, that a program reads when it is told to."""
    words = command.sketch[1:]
    if command.name == "curl" and any(_LOGS_IN.fullmatch(word) for word in words):
        yield "~/.netrc"
    if any(word.startswith(("credentials:", "encrypted:")) for word in words[:4]):
        yield from ("config/credentials.yml.enc", "config/master.key")
    for word in words:
        if word[:5] == "file:" and word[5:6] != "/":  # as sqlite takes it
            yield word[5:].partition("?")[0]


class Tree(NamedTuple):
    """A folder with all that is below it."""

    folder: str
    without: frozenset[str] = frozenset()
    """Names of folders that are left out, wherever they are below."""


def whole_folders(commands: Sequence[SimpleCommand], bases: Sequence[str], root: str, home: str | None) -> Iterator[Tree]:
    """The folders outside the root that a command goes through: what is denied may be below them. Of one inside the root that is
    not asked, or every search of the project would be."""
    patterns = quoted_patterns(commands)
    for command in commands:
        wanted = _GO_THROUGH.get(command.name or "")
        trees = [one for one in command.assignments if one.startswith("GIT_WORK_TREE=")]
        yield from map(Tree, _emptied(command, bases, root, home))
        if wanted is None or (wanted and not trees and not any([word.partition("=")[0] in wanted for word in command.sketch])):
            continue
        without, left_out = skipped_folders(command), leaving_out(command)
        for word in (*command.sketch[1:], *trees):
            if word in left_out:
                continue
            path = word.partition("=")[2] if word[:1] == "-" or word in trees else word
            for base in bases if path and word not in patterns and "://" not in word else ():
                where = globs.place(path, root, home, base)
                if where.relative is None or (where.relative != "." and not is_pattern_of(command, word)):
                    yield Tree(where.absolute, without)


def is_pattern_of(command: SimpleCommand, word: str) -> bool:
    """Whether a word is what a search looks for, and no folder."""
    named = [one for one in command.sketch[1:] if one[:1] != "-"]
    return command.name in _SEARCHES and named[:1] == [word]


_SEARCHES: Final = frozenset("grep egrep fgrep rgrep rg ripgrep ag ack ugrep ug".split())


def put_into(commands: Sequence[SimpleCommand]) -> Iterator[str]:
    """The paths that files get which are copied or moved into a folder: ``cp x data`` may write ``data/x``."""
    for command in commands:
        if command.name not in _PUT:
            continue
        words = command.sketch[1:]
        at = next((at for at, word in enumerate(words[:-1]) if word in ("-t", "--target-directory")), -1)
        named = [word for place, word in enumerate(words) if word[:1] != "-" and (at < 0 or place != at + 1)]
        folder, files = (words[at + 1], named) if at >= 0 else (named[-1], named[:-1]) if len(named) > 1 else ("", [])
        folder = next((word.partition("=")[2] for word in words if word.startswith("--target-directory=")), folder)
        yield from (posixpath.join(folder, posixpath.basename(one.rstrip("/"))) for one in files if folder and one.rstrip("/"))


_PUT: Final = frozenset("cp gcp mv gmv ln install rsync scp ditto".split())


def _emptied(command: SimpleCommand, bases: Sequence[str], root: str, home: str | None) -> Iterator[str]:
    """The folders that a command removes with all that is in them, and the whole one where git removes what it does not know."""
    if command.name in _REMOVERS:
        for word in command.sketch[1:]:
            if word[:1] != "-" and not any(sign in word for sign in "$`*?["):
                yield from (globs.place(word, root, home, base).absolute for base in bases)
    elif command.name == "git" and "clean" in command.sketch[1:_VERB_AMONG]:
        yield from [root] if any(map(_IGNORED_TOO.fullmatch, command.sketch[1:])) else ()


_REMOVERS: Final = frozenset("rm rmdir rimraf trash trash-put shred srm wipe".split())
_IGNORED_TOO: Final = re.compile(r"-[A-Za-z]{0,12}[xX][A-Za-z]{0,12}")
_VERB_AMONG: Final = 6


def fed_outlines(commands: Sequence[SimpleCommand], base: str, home: str | None) -> Iterator[str]:
    """Outlines of the names that the commands of a line get from elsewhere."""
    for index, command in enumerate(commands):
        if None in command.words and _SLOT in command.sketch and command.parent >= 0:
            yield from _through(commands, command.parent, index, base, home)
        if _takes_a_list(command):
            yield ANYTHING


def _through(commands: Sequence[SimpleCommand], parent: int, index: int, base: str, home: str | None) -> Iterator[str]:
    """What stands for ``{}``: what ``find`` finds, or what is piped into ``xargs``."""
    feeder = commands[parent]
    if feeder.name in _FINDERS:
        yield from _found_by(feeder, base, home)
        return
    before = [one for one in commands[max(feeder.stdin_from, 0):parent] if one.pipeline == feeder.pipeline]
    last = before[-1] if before and feeder.stdin_from >= 0 else None
    if last is not None and last.name in _FINDERS and "-exec" not in last.sketch:
        yield from _found_by(last, base, home)
    elif last is not None and last.name in _PRINTERS and None not in last.words and not _builds_names(last):
        names = [name for word in last.sketch[1:] for name in word.replace("\\n", " ").split()]
        yield from (globs.escape(globs.place(name, base, home).absolute) for name in names)
    else:
        yield ANYTHING


def _builds_names(printer: SimpleCommand) -> bool:
    """Whether what is printed is put together of several words, or of signs that stand for others."""
    words = printer.sketch[1:]
    if printer.name == "printf" and words and "%" in words[0].replace("%s\\n", "").replace("%s\\0", ""):
        return True
    return any("\\" in word.replace("\\n", "").replace("\\0", "") for word in words)


def _found_by(find: SimpleCommand, base: str, home: str | None) -> Iterator[str]:
    """The pattern of what a ``find`` may find: what lies in its folders and has the name that it looks for."""
    words = find.sketch[1:]
    at = next((at for at, word in enumerate(words) if word[:1] in "-(!,"), len(words))
    folders, tests = words[:at] or (".",), words[at:]
    names = [tests[place + 1] for place, word in enumerate(tests[:-1]) if word in ("-name", "-iname")]
    name = names[0] if len(names) == 1 and _OPEN_TESTS.isdisjoint(tests) and None not in find.words else "**"
    for folder in folders:
        if "$" in folder or "`" in folder or any(sign in folder for sign in "*?["):
            yield ANYTHING
            continue
        top = globs.escape(globs.place(folder, base, home).absolute)
        yield posixpath.join(top, "**", "**" if name.strip("*") == "" else name)


def _takes_a_list(command: SimpleCommand) -> bool:
    """Whether a command reads the names that it works on from a file or its input."""
    name, words = command.name or "", command.sketch[1:]
    if name in _RESPONSE_FILES and any(word[:1] == "@" for word in words):
        return True
    if name in _FROM_INPUT and (command.stdin_from >= 0 or any(one.operator[:1] == "<" for one in command.redirects)):
        return True
    return any(_is_list_option(word, option) for option in _LISTS.get(name, ()) for word in words)


def _is_list_option(word: str, option: str) -> bool:
    """Also joined (``-Tx``), cut short (``--files-f``) and, for one letter, in a bundle (``-cT``)."""
    head = word.partition("=")[0]
    if head == option or (option[:2] == "--" and len(head) > 5 and option.startswith(head)):
        return True
    letter = option[1:] if len(option) == 2 and option[0] == "-" else ""
    return bool(letter) and word[:1] == "-" and word[1:2] != "-" and letter in word[1:]
