"""Commands within a command that no parser of shells sees: in options, behind a program's own verbs, in what a shell reads.

Rule 1: pure. This only ever restricts: what is found here makes a person decide, and allows nothing.
Rule 2: a program may run its words unless it is known not to. Those that are known are few and plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.texts import lines_in
from trunkline.session.policy.commands import VALUES, values

if TYPE_CHECKING:
    from trunkline.dialects.risk.runners.evaluating import Given
    from trunkline.dialects.shell import SimpleCommand
    from trunkline.session.policy.behind import Behind

WORDS = 300
"""Words of one command that are looked at; what has more may run anything."""
CHARS = 300
"""Of a command within a command; a pattern that needs more of it is nobody's."""
TEXTS = 1000
"""Texts of one line that are looked at; what has more may run anything."""

_TALKERS = frozenset("echo printf grep egrep fgrep cat ls head tail wc test [ cd pwd mkdir touch cp mv rm ln diff".split())
"""They never run their words."""
_GIT_TALKS = frozenset(
    "commit add log diff show status tag branch checkout switch stash restore reset rm mv merge".split())
_WITH_VERBS = frozenset("npm pnpm yarn bun cargo pip brew apt docker podman kubectl aws gsutil gcloud hg svn".split())
"""Their second word is a verb of their own: `npm rm x` runs no `rm`."""
_RUN_VERBS = frozenset("run run-script exec x dlx ssh watch debug attach --".split())
"""Verbs of theirs behind which a command may stand."""
_VERB_AMONG = 4
_TAILS = 40
"""Ends of one command that are looked at with the options before their verb left out."""
_CODE_READERS = frozenset(
    "sh bash dash zsh ksh mksh ash rbash fish csh tcsh python python3 perl ruby node php lua parallel xargs source . eval".split()
)
_RENAMERS = frozenset({"alias", "hash", "enable"})
_GIT_VALUES = frozenset("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source".split())
_OPTIONS = r"(?:-\S{1,80}\s(?:[^-\s]\S{0,200}\s)?){0,8}"
_STEERING_VERBS = (rf"policy\s+{_OPTIONS}(?!show\b|explain\b|-)|agents\s+{_OPTIONS}(?:add|import|remove)\b|"
                   r"approve\b|answer\b|pair\b")
_STEERS = re.compile(
    r"(?:^|[\s/#]|\s-[A-Za-z]{0,20}m)trunkline(?:\[[\w,]{1,40}\])?(?:[@=]{1,2}\S{1,40})?\s"
    rf"{_OPTIONS}(?:{_STEERING_VERBS}|[$`])",
    re.IGNORECASE)
"""What changes the rules or what is run, answers for a person or lets somebody in; what only the run knows may."""
_STEERING = re.compile(rf"{_OPTIONS}(?:{_STEERING_VERBS})")
"""The words of such a command behind its program."""
_TEXTS = re.compile(r"[;&|\n(){}`'\"]+")


def git_verb(command: SimpleCommand) -> int:
    """The index of the verb of a git command, behind git's own options; past the end where there is none."""
    at = 1
    while at < len(command.sketch) and command.sketch[at].startswith("-"):
        at += 2 if command.sketch[at] in _GIT_VALUES else 1
    return at


def without_options(command: SimpleCommand, *, sure: bool = True) -> list[str]:
    """`git -C x push` as `git push`, `docker compose -p x down` as `docker compose down`; nothing where there is nothing to leave
    out. Not ``sure``: what else it may be, where a word may be an option's value as well as the verb."""
    name = command.name
    if not name or len(command.sketch) < 3:
        return []
    from trunkline.dialects.shell import readings  # as heavy as the parser

    words = (name, *command.sketch[1:])
    return [" ".join([words[at] for at in one.places]) for one in readings(words) if one.is_sure is sure]


def options_behind(command: SimpleCommand) -> list[str]:
    """The same with the options before the verb behind all others: `npm -g install x` as `npm install x -g`."""
    name = command.name
    if not name or len(command.sketch) < 3 or command.sketch[1][:1] != "-":
        return []
    from trunkline.dialects.shell import readings  # as heavy as the parser

    words = (name, *command.sketch[1:])
    return [" ".join([words[at] for at in (*one.places, *[at for at in range(len(words)) if at not in one.places])])
            for one in readings(words) if one.is_sure]


def runs_unknown(command: SimpleCommand) -> bool:
    """Whether it may run what its words do not say: a shell that reads its input, a new name for a program, too many words."""
    name, words = command.name, command.sketch
    if command.computes:
        return True
    if name in _TALKERS:
        return False
    if len(words) > WORDS or (name in _RENAMERS and len(words) > 1):
        return True
    if any(word.count("=") >= VALUES for word in words):
        return True
    if name == "git" and any("alias." in word.lower() for word in words[1:git_verb(command)]):
        return True
    if code_of_unknown(command):
        return True
    return name in _CODE_READERS and (_script_is_open(command) or (_reads_input(command) and _has_no_script(command)))


def _script_is_open(command: SimpleCommand) -> bool:
    """`sh -c "$X"`, `eval $X`, `source $X`: only the shell knows what that runs."""
    operand = next((at for at, word in enumerate(command.sketch[1:], 1) if not word.startswith(("-", "+"))), None)
    if operand is None:
        return False
    return None in (command.words if command.name == "eval" else command.words[operand:operand + 1])


def _reads_input(command: SimpleCommand) -> bool:
    return command.stdin_from >= 0 or any(one.operator.startswith("<") for one in command.redirects)


def _has_no_script(command: SimpleCommand) -> bool:
    """Whether nothing but options, `-` and devices follow the program, so that its input is what it runs."""
    words = command.sketch[1:]
    if "-s" in words:
        return True
    return "-c" not in words and all(word.startswith(("-", "+", "/dev/", "/proc/")) for word in words)


def hidden(command: SimpleCommand) -> Iterator[str]:
    """Every text in a command that it may run: the words from each on, texts in quotes, values of options, here-docs."""
    name = command.name
    if name not in _TALKERS:
        words = command.sketch[:WORDS]
        if name == "git" and (at := git_verb(command)) < len(words) and words[at] in _GIT_TALKS:
            words = words[:at]
        else:
            yield from _tails(command, words)
        if len(words) > 1 and words[1].startswith("-"):
            yield from (f"{name} {' '.join(words[at:])}"[:CHARS] for at in range(2, min(len(words), 12)))
        yield from (text[:CHARS] for text in without_options(command, sure=False))
        for value in values(words[1:]):
            yield from _texts(value)
        for word in words[1:]:
            yield from (text[:CHARS] for text in lines_in(word))
    else:
        for word in command.sketch[1:WORDS]:
            if "[$(" in word or "[`" in word:  # in an index of an array, `test -v`, `[` and `printf -v` run it
                yield from _texts(word)
    for assignment in command.assignments:
        if "$(" in assignment or "`" in assignment:
            yield from _texts(assignment)
    for redirect in command.redirects:
        yield from _texts(redirect.body or "")


def printed_into(commands: Sequence[SimpleCommand], index: int) -> list[str]:
    """The texts that a pipe prints into a program which nobody here knows, or into a file that somebody made: it may run them."""
    from trunkline.dialects.risk.rules import program_of  # as heavy as the parser

    command = commands[index]
    program = program_of(command.words[0]) if command.words and command.words[0] is not None else None
    if program is not None and not program.is_unknown and not program.runs_script:
        return []
    found: list[str] = []
    for feeder in commands[command.stdin_from:index]:
        for word in feeder.sketch[1:WORDS] if feeder.name in _TALKERS else ():
            found += _texts(word)
        for redirect in feeder.redirects:
            found += _texts(redirect.body or "")
    return found[:TEXTS]


def quoted_lines(command: SimpleCommand) -> Iterator[str]:
    """Words, and values of options, that may be lines of their own: they have a blank in them, so they stood in quotes."""
    words = command.sketch[:WORDS]
    name = command.name
    if name in _TALKERS or (name == "git" and (at := git_verb(command)) < len(words) and words[at] in _GIT_TALKS):
        return
    for word in words[1:]:
        if " " in word or "\t" in word or "\n" in word:
            yield (word.partition("=")[2] if word[:1] == "-" and "=" in word else word)[:CHARS]


def steers_hub(command: SimpleCommand) -> bool:
    """Whether a command may be the hub's own command line, however it is started, changing what the hub allows."""
    if not any("trunkline" in word.lower() for word in command.sketch):
        return False
    own = (command.plain,) if command.name not in _TALKERS and command.name != "git" else ()
    return any(_STEERS.search(text) is not None for text in (*own, *hidden(command)))


def line_steers_hub(commands: Sequence[tuple[SimpleCommand, Behind]]) -> bool:
    """The same for a line, with what stands behind its commands: copies, links and other names count, and where the hub's name
    stands anywhere in it, so does a program that only the run knows, or a file, with such words."""
    if not any("trunkline" in word.lower() for one, _ in commands for word in (*one.sketch, *one.sets)):
        return False
    for one, behind in commands:
        if steers_hub(one) or any(_STEERS.search(text) is not None for text in (*behind.names, *behind.texts)):
            return True
        if (one.name or "").lower() == "trunkline" and "{}" in one.sketch:  # its words come from a pipe
            return True
        if one.words and (one.words[0] is None or "/" in one.words[0]) and _STEERING.match(" ".join(one.sketch[1:])[:CHARS]):
            return True
    return False


def brings_code_in(command: SimpleCommand) -> bool:
    """Whether a command has code in its words or on its input, also as a program that nobody knows takes it."""
    from trunkline.dialects.risk.inline.awk import AWKS  # as heavy as the parser
    from trunkline.dialects.risk.inline.plain_code import brings_code

    return command.name in AWKS or brings_code(command) or bool(code_of_unknown(command))


def code_of_unknown(command: SimpleCommand) -> list[Given]:
    """The code that a program is given that nobody here knows."""
    from trunkline.dialects.risk.rules.all_programs.evaluated import unknown_code  # as heavy as the parser

    return unknown_code(command)


def _tails(command: SimpleCommand, words: Sequence[str]) -> Iterator[str]:
    """The words from each on, where a command may begin: as they are, by the program's own name, without its options."""
    first = 1
    if command.name in _WITH_VERBS:
        first = next((at + 1 for at, word in enumerate(words[1:_VERB_AMONG], 1) if word in _RUN_VERBS), len(words))
        first = min(first, words.index("--") + 1 if "--" in words else first)
    for at in range(first, len(words)):
        yield " ".join(words[at:])[:CHARS]
        word = words[at]
        if "/" in word and word[-1] != "/" and word[:1] != "-":
            yield " ".join((word.rpartition("/")[2], *words[at + 1:]))[:CHARS]
        elif word[:2] == "--" and "=" in word:  # `--pre=rm x`
            yield " ".join((word.partition("=")[2].rpartition("/")[2], *words[at + 1:]))[:CHARS]
        if at < _TAILS and at + 2 < len(words):
            tail = replace(command, words=command.words[at:], sketch=command.sketch[at:])
            yield from (text[:CHARS] for sure in (True, False) for text in without_options(tail, sure=sure))


def _texts(value: str) -> Iterator[str]:
    """The pieces of a text that may be commands."""
    for piece in _TEXTS.split(value):
        found = " ".join(piece.split())[:CHARS]
        if found:
            yield found
            if found[0] in "!%":  # how consoles and editors start a command
                yield found.lstrip("!% ")
