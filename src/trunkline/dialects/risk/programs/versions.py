"""git and its like: looking and committing are low, what leaves or is merged is medium, what is lost or rewritten is high."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import Call, Trait
from trunkline.dialects.risk.programs.git_words import CHANGING_VERBS, FOLDER_OPTIONS, KNOWN_VERBS, QUIET_VERBS, RUNNING_KEYS

_TAME: Final = re.compile(r"^(|cat|less( -\S+)*|more|true|false|:|nano|vim?|osxkeychain|store|cache|manager|libsecret)$")
_OUTPUTS: Final = frozenset({"--outp", "--outpu", "--output", "--output-directory", "--output-dir"})


class _Git:
    """A git call taken apart: its settings, its verb, and the words behind the verb."""

    def __init__(self, call: Call) -> None:
        self.settings: list[str] = []
        self.verb: str | None = ""
        self.rest: tuple[str, ...] = ()
        self.folder = ""
        self.stands_in = ""
        """Where ``-C`` takes it; files that it writes are named from there."""
        args, words = call.args, call.command.words[1:]
        at = 0
        while at < len(args) and (args[at].startswith("-") and args[at] not in ("--version", "--help")):
            if args[at] in ("-c", "--config-env"):
                self.settings.extend(args[at + 1 : at + 2])
                at += 1
            elif args[at] in FOLDER_OPTIONS:
                self.folder = args[at + 1] if at + 1 < len(args) else ""
                self.stands_in = posixpath.join(self.stands_in, self.folder) if args[at] == "-C" else self.stands_in
                at += 1
            elif args[at].startswith(("--exec-path=", "--config-env=")):
                self.settings.append(f"core.hooksPath={args[at].partition('=')[2]}")
            at += 1
        if at < len(args):
            self.verb = words[at]
            self.rest = args[at + 1 :]

    def unalias(self) -> str:
        """Take the verb for what an alias in the call's own settings makes of it; gives that setting, or nothing."""
        if not self.settings:
            return ""
        for setting in self.settings:
            key, _, value = setting.partition("=")
            words = value.split()
            own_name = self.verb and self.verb not in KNOWN_VERBS and key.lower() == f"alias.{self.verb.lower()}"
            if own_name and words and value[0] != "!":
                self.verb, self.rest = words[0], (*words[1:], *self.rest)
                return setting
        return ""

    def path(self, written: str) -> str:
        """A file as seen from where the shell stands."""
        return posixpath.join(self.stands_in, written) if written[:1] not in "~$`" else written

    @property
    def operands(self) -> list[str]:
        return [arg for arg in self.rest if arg[:1] != "-"]

    def has(self, letters: str, *longs: str) -> bool:
        short = "".join([arg[1:] for arg in self.rest if arg[:1] == "-" and arg[1:2] != "-"]) if letters else ""
        for letter in letters if short else ():
            if letter in short:
                return True
        return bool(longs) and any([arg.partition("=")[0] in longs for arg in self.rest])


def _git(call: Call) -> None:
    git = _Git(call)
    for setting in git.settings:
        key, _, value = setting.partition("=")
        _setting(call, key, value)
    if git.verb is None:
        call.note("high", "a git command that is only known when it runs", call.command.text)
        return
    if hidden := git.unalias():
        call.note("high", "hides a git command behind another name", hidden)
    if git.folder and call.places.kind(git.folder) in ("outside", "home", "system"):
        call.note("medium", "works in a repository outside the session's folders", git.folder)
    _programs(call, git)
    _files(call, git)
    judge = _VERBS.get(git.verb)
    if judge is not None:
        judge(call, git)
    elif git.verb in CHANGING_VERBS:
        call.note("medium", "changes the repository", call.command.text)
    elif git.verb and git.verb not in QUIET_VERBS:
        call.note("medium", "a git command that is not known here; it may be an alias", call.command.text)


def _setting(call: Call, key: str, value: str) -> None:
    """A setting that makes git run a program."""
    if not RUNNING_KEYS.match(key.lower()) or _TAME.match(value):
        return
    if key.lower().startswith("alias.") and not value.startswith("!"):
        call.note("medium", "changes what a git command means", f"{key}={value}")
        return
    call.note("high", "makes git run a program or go elsewhere", f"{key}={value}")
    call.script(value.lstrip("!"))


def _files(call: Call, git: _Git) -> None:
    """Files that any verb may read or write, outside what git keeps."""
    for at, arg in enumerate(git.rest):
        name, _, value = arg.partition("=")
        apart = git.rest[at + 1] if arg[:1] == "-" and at + 1 < len(git.rest) else ""
        if name in _OUTPUTS and (value or apart):
            call.write(git.path(value or apart))
        elif git.verb in ("format-patch", "archive") and arg[:2] == "-o" and (arg[2:] or apart):
            call.write(git.path(arg[2:] or apart))
        elif git.verb not in ("add", "stage", "rm", "mv") and call.places.secret(value or arg) == "own":
            call.read(value or arg)


def _programs(call: Call, git: _Git) -> None:
    """Options of any verb that name a program."""
    for at, arg in enumerate(git.rest):
        if arg[:1] != "-" and arg[:5] != "ext::":
            continue
        name, _, value = arg.partition("=")
        value = value or (git.rest[at + 1] if at + 1 < len(git.rest) else "")
        if name in ("--upload-pack", "--receive-pack", "--exec", "--extcmd", "--open-files-in-pager", "--tool-help"):
            call.script(value)
            call.note("high", "makes git run a program", value)
        elif name == "-x" and git.verb in ("rebase", "difftool"):
            call.script(value)
            call.note("high", "makes git run a program", value)
        elif name in ("-c", "--config") and git.verb == "clone":
            _setting(call, *value.partition("=")[::2])
        elif (name.startswith("-O") and git.verb == "grep") or (name == "-u" and git.verb == "clone"):
            call.note("high", "makes git run a program", arg)
        elif arg.startswith("ext::"):
            call.script(arg.removeprefix("ext::"))
            call.note("high", "makes git run a program", arg)
        elif name == "--template" and git.verb in ("clone", "init"):
            call.note("high", "brings hooks that git runs", value)


def _push(call: Call, git: _Git) -> None:
    forced = git.has("fd", "--force", "--force-with-lease", "--force-if-includes", "--delete", "--mirror", "--prune")
    refs = git.operands[1:]
    if forced or any(ref.startswith(("+", ":")) for ref in refs):
        call.note("high", "overwrites or deletes on the remote", call.command.text)
    elif any(re.search(r"://|^[\w.-]+@[\w.-]+:|^/|^\.\.", target) for target in git.operands[:1]):
        call.note("high", "pushes to an address, not to a known remote", git.operands[0])
    else:
        call.note("medium", "pushes to the remote", call.command.text)


def _reset(call: Call, git: _Git) -> None:
    if git.has("", "--hard", "--merge", "--keep"):
        call.note("high", "throws away changes", call.command.text)
    elif git.has("", "--soft", "--mixed") or any(re.search(r"[~^@]|HEAD", word) for word in git.operands):
        call.note("medium", "moves the branch", call.command.text)


def _clean(call: Call, git: _Git) -> None:
    if not git.has("n", "--dry-run"):
        call.note("high", "deletes files that git does not know", call.command.text)


def _checkout(call: Call, git: _Git) -> None:
    """Switching branches keeps changes; naming files, or forcing, throws them away."""
    if git.has("f", "--force", "--discard-changes", "--ours", "--theirs") or "--" in git.rest or "." in git.rest:
        call.note("high", "throws away changes", call.command.text)
    elif any(re.search(r"\.[A-Za-z]\w{0,4}$|/$|\*", word) for word in git.operands):
        call.note("high", "may throw away changes of a file", call.command.text)
    elif git.has("B", "--force-create", "--orphan") or git.has("C"):
        call.note("medium", "moves a branch", call.command.text)


def _restore(call: Call, git: _Git) -> None:
    if not git.has("S", "--staged") or git.has("W", "--worktree"):
        call.note("high", "throws away changes", call.command.text)


def _branch(call: Call, git: _Git) -> None:
    if git.has("DMCf", "--force", "--edit-description") or (git.has("d", "--delete") and git.has("f", "--force")):
        call.note("high", "deletes or moves a branch by force", call.command.text)
    elif git.has("dmc", "--delete", "--move", "--copy"):
        call.note("medium", "deletes or renames a branch", call.command.text)


def _tag(call: Call, git: _Git) -> None:
    if git.has("df", "--delete", "--force"):
        call.note("medium", "deletes or moves a tag", call.command.text)


def _stash(call: Call, git: _Git) -> None:
    verb = git.operands[0] if git.operands else "push"
    if verb in ("drop", "clear"):
        call.note("high", "throws away stashed changes", call.command.text)
    elif verb not in ("list", "show"):
        call.note("medium", "puts changes aside or back", call.command.text)


def _commit(call: Call, git: _Git) -> None:
    if git.has("", "--amend", "--fixup"):
        call.note("medium", "rewrites the last commit", call.command.text)
    if git.has("n", "--no-verify"):
        call.note("medium", "leaves out the project's checks", call.command.text)


def _add(call: Call, git: _Git) -> None:
    for path in git.operands:
        if call.places.secret(path):
            call.note("high" if call.places.secret(path) == "own" else "medium", "puts credentials under version control", path)


def _rewrites(call: Call, git: _Git) -> None:
    if git.verb == "rebase" and git.has("", "--abort", "--show-current-patch", "--quit"):
        call.note("medium", "ends a rebase", call.command.text)
    else:
        call.note("high", "rewrites history", call.command.text)


def _reflog(call: Call, git: _Git) -> None:
    if git.operands[:1] in (["expire"], ["delete"]):
        call.note("high", "deletes what could be recovered", call.command.text)


def _gc(call: Call, git: _Git) -> None:
    if git.has("", "--prune", "--aggressive") or git.verb in ("prune", "prune-packed"):
        call.note("high", "deletes what could be recovered", call.command.text)
    else:
        call.note("medium", "tidies the repository", call.command.text)


def _remote(call: Call, git: _Git) -> None:
    verb = git.operands[0] if git.operands else ""
    if verb == "set-url":
        call.note("high", "sends the repository elsewhere", call.command.text)
    elif verb not in ("", "show", "get-url") and not (verb == "" and git.has("v")):
        call.note("medium", "changes the remotes", call.command.text)


def _config(call: Call, git: _Git) -> None:
    """Reading is low; writing is medium; for all repositories, or a program to run, is high."""
    words = [word for word in git.operands if word not in ("get", "set", "list", "unset", "edit", "add")]
    reads = git.has("l", "--get", "--get-all", "--get-regexp", "--list", "--get-urlmatch", "--show-origin") or git.operands[
        :1
    ] in (["get"], ["list"])
    edits = git.has("e", "--edit", "--unset", "--unset-all", "--remove-section", "--rename-section") or git.operands[:1] in (
        ["edit"],
        ["unset"],
    )
    if reads or (len(words) < 2 and not edits):
        return
    if len(words) > 1:
        _setting(call, words[0], words[1])
    if git.has("", "--global", "--system") or git.has("f", "--file"):
        call.note("high", "changes git's settings beyond this repository", call.command.text)
    call.at_least("medium", "changes git's settings", call.command.text)


def _submodule(call: Call, git: _Git) -> None:
    if git.operands[:1] == ["foreach"]:
        call.script(" ".join(git.operands[1:]))
    quiet = git.operands[:1] in ([], ["status"], ["summary"])
    if not quiet:
        call.note("medium", "changes or runs something in submodules", call.command.text)


def _bisect(call: Call, git: _Git) -> None:
    if git.operands[:1] == ["run"]:
        call.script(" ".join(git.rest[1:]))
    if git.operands[:1] not in (["log"], ["view"], ["visualize"]):
        call.note("medium", "checks out other commits", call.command.text)


def _worktree(call: Call, git: _Git) -> None:
    if git.operands[:1] == ["remove"]:
        call.note("high" if git.has("f", "--force") else "medium", "removes a work tree", call.command.text)
    elif git.operands[:1] != ["list"]:
        call.note("medium", "changes work trees", call.command.text)
    if git.operands[:1] in (["add"], ["move"]) and len(git.operands) > 1:
        _outside(call, git, git.operands[-1] if git.operands[0] == "move" else _added(git))


def _added(git: _Git) -> str:
    """The folder of ``git worktree add -b name folder commit``."""
    skip = {at + 1 for at, arg in enumerate(git.rest) if arg in ("-b", "-B", "--reason")}
    return next((arg for at, arg in enumerate(git.rest[1:], 1) if at not in skip and arg[:1] != "-"), "")


def _rm(call: Call, git: _Git) -> None:
    call.note("medium" if git.has("", "--cached") else "high", "deletes files", call.command.text)


def _credential(call: Call, git: _Git) -> None:
    call.traits |= Trait.SECRET
    call.note("high", "reads or changes credentials", call.command.text)


def _sends(call: Call, git: _Git) -> None:
    call.traits |= Trait.SENDS
    call.note("high", "sends mail", call.command.text)


def _archive(call: Call, git: _Git) -> None:
    call.note("medium", "packs the repository", call.command.text)


def _bundle(call: Call, git: _Git) -> None:
    call.note("medium", "changes the repository", call.command.text)
    if git.operands[:1] == ["create"] and len(git.operands) > 1 and git.operands[1] != "-":
        call.write(git.path(git.operands[1]))


def _refs(call: Call, git: _Git) -> None:
    call.note("high", "changes what branches point to", call.command.text)


def _init(call: Call, git: _Git) -> None:
    for folder in git.operands[:1]:
        _outside(call, git, folder)


def _clone(call: Call, git: _Git) -> None:
    call.note("medium", "fetches a repository", call.command.text)
    words = git.operands
    if words:
        name = words[1] if len(words) > 1 else re.sub(r"\.git$", "", words[0].rstrip("/")).rpartition("/")[2]
        call.download(name)
        _outside(call, git, name)


def _outside(call: Call, git: _Git, folder: str) -> None:
    """A folder that git makes or fills; inside the project that is no news."""
    if call.places.kind(git.path(folder)) not in ("inside", "temp", "unknown", "elsewhere"):
        call.write(git.path(folder))


_VERBS: Final[dict[str, Callable[[Call, _Git], None]]] = {
    "push": _push, "reset": _reset, "clean": _clean, "checkout": _checkout, "switch": _checkout, "restore": _restore,
    "branch": _branch,
    "tag": _tag, "stash": _stash, "commit": _commit, "add": _add, "stage": _add, "rebase": _rewrites, "filter-branch": _rewrites,
    "filter-repo": _rewrites, "replace": _rewrites, "fast-import": _rewrites, "reflog": _reflog, "gc": _gc, "prune": _gc,
    "prune-packed": _gc, "remote": _remote, "config": _config, "submodule": _submodule, "bisect": _bisect, "worktree": _worktree,
    "rm": _rm, "credential": _credential, "credential-store": _credential, "credential-cache": _credential, "send-email": _sends,
    "imap-send": _sends, "init": _init, "archive": _archive, "bundle": _bundle, "update-ref": _refs, "clone": _clone,
}  # fmt: skip

JUDGES: Final[dict[str, Callable[[Call], None]]] = {"git": _git, "hub": _git, "yadm": _git}
