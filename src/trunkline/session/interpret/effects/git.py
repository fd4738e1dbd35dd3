"""What a command did to a git repository: from the commands that were run and from what they printed.

Rule 1: what was printed decides. A commit is reported with the hash that git showed, a switch when git said that it switched.
Rule 2: what git says nothing about is reported only of a command that succeeded, by the words of the command itself.
Rule 3: a line without ``git`` or ``gh`` in it is never parsed, and nothing is reported of a long one that was not read ahead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from trunkline.dialects.context.unions import (
    GitBranchCreate,
    GitBranchSwitch,
    GitCommit,
    GitOperation,
    GitPrCreate,
    GitPush,
    GitStash,
)
from trunkline.session.interpret.calls.facts import Facts
from trunkline.session.interpret.calls.structured import exit_code

LINE_CHARS: Final = 16 << 10
PRINTED_CHARS: Final = 64 << 10
OPERATIONS: Final = 20

_MENTIONED = re.compile(r"\b(?:git|gh|glab|hub)\b")
_COMMITTED = re.compile(r"^\[(?:[^\]\n]*?) ?\b(?P<hash>[0-9a-f]{7,40})\] (?P<message>[^\n]*)", re.MULTILINE)
_FILES = re.compile(r"^ (\d{1,9}) files? changed", re.MULTILINE)
_LOGGED = re.compile(r"^(?:commit )?(?P<hash>[0-9a-f]{7,40}) (?:\([^)\n]*\) )?(?P<message>[^\n]+)$", re.MULTILINE)
_SWITCHED = re.compile(r"^Switched to (?:a new |and reset )?branch '([^'\n]+)'", re.MULTILINE)
_PUSHED = re.compile(r"^ [^\n]*\S -> (?P<to>[^\s(]+)", re.MULTILINE)
_PULL_REQUEST = re.compile(r"https?://\S{1,300}?/(?:pull|pulls|merge_requests)/(\d{1,9})(?!\d)")
_VALUE_OPTIONS: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_START = "HEAD"


class GitRun(NamedTuple):
    """One command of a line: what follows the program's name and its global options, and what was printed by the line."""

    verb: str
    args: tuple[str, ...]
    printed: str
    ok: bool

    def options(self, *names: str) -> list[str]:
        """The values of an option, in either form."""
        found = [after for word, after in zip(self.args, self.args[1:], strict=False) if word in names]
        return found + [word.partition("=")[2] for word in self.args if word.partition("=")[0] in names and "=" in word]

    def plain(self, *valued: str) -> list[str]:
        """The words that are no options, nor the values of ``valued`` ones."""
        words = zip(("", *self.args), self.args, strict=False)
        return [word for before, word in words if not word.startswith("-") and before not in valued]


def operations_of(facts: Facts) -> list[GitOperation]:
    """What a finished call did to repositories, in order."""
    line = facts.command
    if facts.role != "terminal" or len(line) > LINE_CHARS or not _MENTIONED.search(line):
        return []
    code = exit_code(facts)
    ok = facts.state.status == "completed" and code in (0, None)
    found = [operation for ran in _commands(line, facts.text[:PRINTED_CHARS], ok) for operation in _OPERATIONS[ran.verb](ran)]
    return found[:OPERATIONS]


def _commands(line: str, printed: str, ok: bool) -> Iterator[GitRun]:
    from trunkline.dialects.shell import known_line  # a hub whose agents run nothing needs no parser

    parsed = known_line(line)
    for command in parsed.commands if parsed is not None else ():
        words = tuple(word if word is not None else "" for word in command.words)
        program = words[0].rsplit("/", 1)[-1] if words else ""
        if program == "git":
            verb, args = _verb(words[1:])
        elif program in ("gh", "hub") and words[1:3] == ("pr", "create"):
            verb, args = "pr", words[3:]
        elif program == "glab" and words[1:3] == ("mr", "create"):
            verb, args = "pr", words[3:]
        else:
            continue
        if verb in _OPERATIONS:
            yield GitRun(verb, args, printed, ok)


def _verb(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The sub-command of git, behind its global options."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUE_OPTIONS else 1
    return (words[at], words[at + 1:]) if at < len(words) else ("", ())


def _commit(ran: GitRun) -> Iterator[GitOperation]:
    messages = ran.options("-m", "--message", "-am")
    printed = list(_COMMITTED.finditer(ran.printed))
    # One line may commit twice: the message says which of the printed commits is this one.
    mine = [match for match in printed if messages and match["message"] == messages[0].split("\n")[0]] or printed[:1]
    if not mine and ran.ok and messages:
        mine = [match for match in _LOGGED.finditer(ran.printed) if match["message"] == messages[0].split("\n")[0]][:1]
    for match in mine[:1]:
        files = _FILES.search(ran.printed, match.end())
        yield GitCommit(hash=match["hash"], message=match["message"], files_changed=int(files.group(1)) if files else 0)


def _checkout(ran: GitRun) -> Iterator[GitOperation]:
    new = ran.options("-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan")
    switched = _SWITCHED.findall(ran.printed)
    if new:
        if ran.ok or new[0] in switched:
            rest = [word for word in ran.plain() if word != new[0]]
            yield GitBranchCreate(name=new[0], from_=rest[0] if rest else _START)
            yield GitBranchSwitch(name=new[0])
        return
    wanted = ran.plain()
    if "--" not in ran.args and wanted and (wanted[0] in switched or (ran.verb == "switch" and ran.ok)):
        yield GitBranchSwitch(name=wanted[0])
    elif wanted == [] and "-" in ran.args and switched:
        yield GitBranchSwitch(name=switched[0])


def _branch(ran: GitRun) -> Iterator[GitOperation]:
    names = ran.plain("-u", "--set-upstream-to", "--sort", "--format", "--contains", "--points-at", "--merged", "--no-merged")
    asks = {word for word in ran.args if word.startswith("-")} - {"-f", "--force", "-t", "--track", "--no-track", "-q", "--quiet"}
    if ran.ok and names and not asks:
        yield GitBranchCreate(name=names[0], from_=names[1] if len(names) > 1 else _START)


def _push(ran: GitRun) -> Iterator[GitOperation]:
    if not ran.ok or "Everything up-to-date" in ran.printed or {"-n", "--dry-run", "-d", "--delete"} & set(ran.args):
        return
    words = ran.plain("-o", "--push-option", "--repo", "--receive-pack", "--exec")
    remote = words[0] if words else "origin"
    pushed = _PUSHED.search(ran.printed)
    branch = pushed["to"] if pushed else words[1].lstrip("+").rpartition(":")[2] if len(words) > 1 else _START
    yield GitPush(remote=remote, branch=branch)


def _stash(ran: GitRun) -> Iterator[GitOperation]:
    action = next(iter(ran.plain("-m", "--message")), "push")
    if ran.ok and action in ("push", "save") and "No local changes to save" not in ran.printed:
        yield GitStash(action="push")
    elif ran.ok and action == "pop" and "No stash entries found" not in ran.printed:
        yield GitStash(action="pop")


def _pull_request(ran: GitRun) -> Iterator[GitOperation]:
    made = _PULL_REQUEST.search(ran.printed)
    if made:
        title = next(iter(ran.options("-t", "--title")), "")
        yield GitPrCreate(number=int(made.group(1)), title=title, url=made.group())


_OPERATIONS: Final[dict[str, Callable[[GitRun], Iterator[GitOperation]]]] = {
    "commit": _commit, "checkout": _checkout, "switch": _checkout, "branch": _branch, "push": _push, "stash": _stash,
    "pr": _pull_request,
}
