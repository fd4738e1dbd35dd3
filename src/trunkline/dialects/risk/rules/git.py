"""git and its like: looking and committing are low, what leaves or is merged is medium, what is lost or rewritten is high."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.calls.names import verb_in
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.places import standing
from trunkline.dialects.risk.row_matching import by_verb, note_row, row
from trunkline.dialects.risk.rules.git_words import (
    BUNDLED,
    CHANGING_VERBS,
    FOLDER_OPTIONS,
    KNOWN_VERBS,
    QUIET_VERBS,
    RUNNING_KEYS,
    written_by,
)
from trunkline.dialects.risk.rules.github import note_bare_request
from trunkline.dialects.risk.rules.looking import only_looks
from trunkline.dialects.risk.rules.patches import note_patch
from trunkline.dialects.risk.rules.reading import note_searched
from trunkline.dialects.risk.runners.words import option_values
from trunkline.dialects.shell import in_full

_TAME: Final = re.compile(r"^(|cat|less( -\S+)*|more|true|false|:|nano|vim?|osxkeychain|store|cache|manager|libsecret)$")
_WRITING: Final = frozenset("add stage commit init fetch hash-object write-tree mktree maintenance".split())
"""Verbs that are quiet in the session's own folders, and still change the repository."""
_PREFIXES: Final = {"apply": ("--directory",), "am": ("--directory",), "checkout-index": ("--prefix",)}
"""Options that say where a verb puts files."""
_RUNS: Final = ("--upload-pack", "--receive-pack", "--exec", "--extcmd", "--open-files-in-pager", "--tool-help")
"""Options of any verb that name a program."""


_REWRITERS: Final = "filter-branch filter-repo replace fast-import"
ROWS: Final = (
    row("reset", "high", "throws away changes", "git reset --hard", given="--hard --merge --keep"),
    row("reset", "medium", "moves the branch", "git reset --soft x", given="--soft --mixed"),
    row("reset", "medium", "moves the branch", "git reset HEAD~1", word=r"^[^-].*[~^@]|^HEAD"),
    row("reset", "low", "takes out of the index", "git reset file.py"),
    row("clean", "high", "deletes files that git does not know", "git clean -fd"),
    row("checkout switch", "high", "throws away changes", "git checkout -f main",
        given="-f --force --discard-changes --ours --theirs"),
    row("checkout switch", "high", "throws away changes", "git checkout -- x", word=r"^(--|\.)$"),
    row("checkout switch", "high", "may throw away changes of a file", "git checkout a.py",
        word=r"^[^-].*(\.[A-Za-z]\w{0,4}|/|\*.*)$|^\*"),
    row("checkout", "high", "may throw away changes of a file", "git checkout --pathspec-from-file=x",
        given="--pathspec-from-file"),
    row("checkout switch", "medium", "moves a branch", "git checkout -B x", given="-B -C --force-create --orphan"),
    row("checkout switch", "low", "changes the branch", "git switch main"),
    row("restore", "high", "throws away changes", "git restore x"),
    row("branch", "high", "deletes or moves a branch by force", "git branch -D x",
        given="-D -M -C -f --force --edit-description"),
    row("branch", "medium", "deletes or renames a branch", "git branch -d x", given="-d -m -c --delete --move --copy"),
    row("branch", "low", "shows or makes a branch", "git branch x"),
    row("tag", "medium", "deletes or moves a tag", "git tag -d v1", given="-d -f --delete --force"),
    row("tag", "low", "shows or makes a tag", "git tag v1"),
    row("stash", "high", "throws away stashed changes", "git stash drop", then="drop clear"),
    row("stash", "low", "shows what is stashed", "git stash list", then="list show"),
    row("stash", "medium", "puts changes aside or back", "git stash"),
    row("commit", "medium", "rewrites the last commit", "git commit --amend", given="--amend --fixup"),
    row("commit", "medium", "leaves out the project's checks", "git commit -n -m x", given="-n --no-verify"),
    row("commit", "low", "commits", "git commit -m x"),
    row("rebase", "high", "rewrites history", "git rebase main"),
    row(_REWRITERS, "high", "rewrites history", "git filter-repo --path x"),
    row("reflog", "high", "deletes what could be recovered", "git reflog expire --all", then="expire delete"),
    row("reflog", "low", "shows what was", "git reflog"),
    row("gc", "high", "deletes what could be recovered", "git gc --prune=now", given="--prune --aggressive"),
    row("gc", "medium", "tidies the repository", "git gc"),
    row("prune prune-packed", "high", "deletes what could be recovered", "git prune"),
    row("remote", "high", "sends the repository elsewhere", "git remote set-url origin x", then="set-url"),
    row("remote", "low", "shows the remotes", "git remote show origin", then="show get-url"),
    row("remote", "low", "shows the remotes", "git remote -v", then=""),
    row("remote", "medium", "changes the remotes", "git remote add x y"),
    row("checkout-index", "high", "throws away changes", "git checkout-index -af", given="-f --force"),
    row("checkout-index", "medium", "writes files of the index", "git checkout-index -a"),
    row("read-tree", "high", "throws away changes", "git read-tree -u --reset HEAD", given="--reset -u"),
    row("read-tree", "medium", "changes the index", "git read-tree HEAD"),
    row("rm", "high", "deletes files", "git rm x"),
    row("credential credential-store credential-cache", "high", "reads or changes credentials", "git credential fill",
        effect="secret"),
    row("send-email imap-send", "high", "sends mail", "git send-email x.patch", effect="sends"),
    row("apply", "high", "may write outside the repository", "git apply --unsafe-paths x.patch", given="--unsafe-paths"),
    row("apply", "medium", "changes the repository", "git apply x.patch"),
    row("archive", "medium", "packs the repository", "git archive HEAD"),
    row("maintenance", "high", "schedules commands, or changes the user's settings", "git maintenance start",
        then="start stop register unregister"),
    row("maintenance", "low", "tidies the repository", "git maintenance run"),
    row("lfs", "high", "changes git's settings beyond this repository", "git lfs install --system", then="install",
        given="--system"),
    row("lfs", "high", "rewrites history", "git lfs migrate import", then="migrate"),
    row("lfs", "medium", "changes the repository", "git lfs pull"),
    row("update-ref", "high", "changes what branches point to", "git update-ref HEAD x"),
)
_BY_VERB: Final = by_verb(ROWS)


_MILDER: Final[dict[str, tuple[RiskLevel, str]]] = {
    "clean": ("low", "only shows"), "restore": ("low", "takes out of the index"), "rebase": ("medium", "ends a rebase"),
    "rm": ("medium", "deletes files"),
}
"""What a verb does where an option of its row in ``looking.py`` makes it milder."""


class _Git:
    """A git call taken apart: its settings, its verb, and the words behind the verb."""

    def __init__(self, call: ProgramCall) -> None:
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
            elif args[at].startswith(("--git-dir=", "--work-tree=")):
                self.folder = args[at].partition("=")[2]
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
        return bool(longs) and any([in_full(arg.partition("=")[0], longs) for arg in self.rest if arg[:2] == "--"])


def _git(call: ProgramCall) -> None:
    git = _Git(call)
    for setting in git.settings:
        key, _, value = setting.partition("=")
        _setting(call, key, value)
    if git.verb is None:
        call.note("high", "a git command that is only known when it runs", call.command.text)
        return
    if hidden := git.unalias():
        call.note("high", "hides a git command behind another name", hidden)
    if not git.folder and git.verb in _WRITING and standing(call.places) == "outside":
        call.note("high", "works in a repository outside the session's folders", call.places.cwd or "")
    elif git.folder and call.places.kind(git.folder) in ("outside", "home", "system", "temp"):
        is_quiet = git.verb in QUIET_VERBS and git.verb not in _WRITING
        is_calm = is_quiet or call.places.kind(git.folder) == "temp"
        call.note("medium" if is_calm else "high", "works in a repository outside the session's folders", git.folder)
    _programs(call, git)
    _files(call, git)
    if git.verb == "am" or (git.verb == "apply" and not only_looks("git apply", git.rest)):
        note_patch(call)
    judge = _VERBS.get(git.verb)
    if judge is not None:
        judge(call, git)
    elif git.verb in _MILDER and only_looks(f"git {git.verb}", git.rest):
        level, reason = _MILDER[git.verb]
        call.note(level, reason, call.command.text)
    elif git.verb in _BY_VERB:
        note_row(call, _BY_VERB[git.verb], git.verb, git.rest, git.has)
    elif git.verb in CHANGING_VERBS:
        call.note("medium", "changes the repository", call.command.text)
    elif git.verb and git.verb not in QUIET_VERBS:
        _unknown(call, git)


def _unknown(call: ProgramCall, git: _Git) -> None:
    """A verb of which nobody knows what it does with its words: what it names outside it may write."""
    call.note("medium", "a git command that is not known here; it may be an alias", call.command.text)
    said = [word for word in (git.verb, *git.rest[:1]) if word and word[:1] != "-"]
    if any([verb_in(word) == "destroys" for word in said]):
        call.note("high", "deletes something, by its own words", call.command.text)
    elif not _HANDS_OUT.isdisjoint(said):
        call.note("high", "reads or changes credentials", call.command.text)
    for word in git.rest:
        for value in (word, *option_values(word)):
            if value[:1] in ("/", "~", ".") and "://" not in value:
                _outside(call, git, value)


def _setting(call: ProgramCall, key: str, value: str) -> None:
    """A setting that makes git run a program."""
    if not RUNNING_KEYS.match(key.lower()) or _TAME.match(value):
        return
    if key.lower().startswith("alias.") and not value.startswith("!"):
        call.note("medium", "changes what a git command means", f"{key}={value}")
        return
    call.note("high", "makes git run a program or go elsewhere", f"{key}={value}")
    call.script(value.lstrip("!"))


def _files(call: ProgramCall, git: _Git) -> None:
    """Files that any verb may read or write, outside what git keeps."""
    for at, arg in enumerate(git.rest):
        name, _, value = arg.partition("=")
        apart = git.rest[at + 1] if arg[:1] == "-" and at + 1 < len(git.rest) else ""
        if arg[:1] == "-" and (written := written_by(git.verb or "", git.rest, at)):
            call.write(git.path(written))
        elif in_full(name, _PREFIXES.get(git.verb or "", ())):
            _outside(call, git, value or apart)
        elif git.verb not in ("add", "stage", "rm", "mv") and call.places.secret(value or arg) == "own":
            call.read(value or arg)
        elif git.verb in _SEARCHING and arg[:1] in "/~.$" and not _is_pattern(git, at) and (
                call.places.holds_secrets(git.path(arg))):
            note_searched(call, arg)


_HANDS_OUT: Final = frozenset(("secret", "crypt", "git-crypt", "reveal", "unlock"))
"""Words of programs beside git that keep credentials in a repository."""
_SEARCHING: Final = frozenset(("grep", "diff"))
"""Verbs that look into files which are not git's."""


def _is_pattern(git: _Git, at: int) -> bool:
    """Whether a word is what ``git grep`` looks for: its first one, where no option is."""
    return git.verb == "grep" and not any([arg[:2] in ("-e", "-f") for arg in git.rest]) and not any(
        [arg[:1] != "-" for arg in git.rest[:at]])


def _programs(call: ProgramCall, git: _Git) -> None:
    """Options of any verb that name a program."""
    for at, arg in enumerate(git.rest):
        if "://-" in arg:
            call.note("high", "gives an option in the place of a machine's name", arg)
        if arg[:1] != "-" and arg[:5] != "ext::":
            continue
        name, _, value = arg.partition("=")
        value = value or (git.rest[at + 1] if at + 1 < len(git.rest) else "")
        if in_full(name, _RUNS) or (name == "-x" and git.verb in ("rebase", "difftool")):
            call.script(value)
            call.note("high", "makes git run a program", value)
        elif git.verb == "clone" and in_full(name, ("-c", "--config")):
            _setting(call, *value.partition("=")[::2])
        elif git.verb in BUNDLED and BUNDLED[git.verb].fullmatch(arg) is not None:
            call.note("high", "makes git run a program", arg)
        elif arg.startswith("ext::") or (arg[:2] == "--" and value.startswith("ext::")):
            call.script((value if arg[:1] == "-" else arg).removeprefix("ext::"))
            call.note("high", "makes git run a program", arg)
        elif git.verb in ("clone", "init") and in_full(name, ("--template",)):
            call.note("high", "brings hooks that git runs", value)
        elif name.startswith("--ext-d"):
            call.note("medium", "starts a program that git's settings name", call.command.text)


_ADDRESS: Final = re.compile(r"(?:--repo=)?(?:[a-z][a-z0-9+.-]{1,20}://|[\w.-]{1,80}@[\w.-]{1,200}:|/|\.\.)")
_REMOTE_URL: Final = re.compile(r"remote\.[^=]{1,80}\.(?:push)?url(?:=|$)", re.IGNORECASE)
"""A setting that says where a remote is."""
_REMOTE_NAME: Final = re.compile(r"branch\.[^=]{1,200}\.(?:push)?remote|remote\.pushdefault", re.IGNORECASE)
"""A setting that says which remote is meant; an address in its place is one that nobody knows."""


def _push(call: ProgramCall, git: _Git) -> None:
    forced = git.has("fd", "--force", "--force-with-lease", "--force-if-includes", "--delete", "--mirror", "--prune")
    refs = git.operands[1:]
    if forced or any(ref.startswith(("+", ":")) for ref in refs):
        call.note("high", "overwrites or deletes on the remote", call.command.text)
    elif (found := next(filter(_REMOTE_URL.match, call.args), None)) is not None:
        call.note("high", "sends the repository elsewhere", found)
    elif (address := next((word for word in git.rest if _ADDRESS.match(word)), None)) is not None:
        call.note("high", "pushes to an address, not to a known remote", address)
    else:
        call.note("medium", "pushes to the remote", call.command.text)


def _fetch(call: ProgramCall, git: _Git) -> None:
    """Looking for news is low; what names where they go to moves branches."""
    if git.has("fu", "--force", "--update-head-ok", "--refmap") or any(
            ref[:1] == "+" or ":" in ref for ref in git.operands[1:]):
        call.note("medium", "moves branches to what it fetches", call.command.text)


def _merges_file(call: ProgramCall, git: _Git) -> None:
    """merge-file changes its first file, unless it prints."""
    for path in git.operands[:1] if not only_looks("git merge-file", git.rest) else ():
        call.write(git.path(path))


def _trailers(call: ProgramCall, git: _Git) -> None:
    for path in git.operands if git.has("", "--in-place") else ():
        call.write(git.path(path))


def _difftool(call: ProgramCall, git: _Git) -> None:
    """difftool and mergetool start a program: one that settings name, or that an option does."""
    if git.has("t", "--tool"):
        call.note("high", "makes git run a program", call.command.text)
    elif git.rest != ("--tool-help",):
        call.note("medium", "starts a program that git's settings name", call.command.text)


def _add(call: ProgramCall, git: _Git) -> None:
    for path in git.operands:
        if call.places.secret(path):
            call.note("high" if call.places.secret(path) == "own" else "medium", "puts credentials under version control", path)


def _config(call: ProgramCall, git: _Git) -> None:
    """Reading is low; writing is medium; for all repositories, or a program to run, is high."""
    words = [word for at, word in enumerate(git.operands) if at or word not in ("get", "set", "list", "unset", "edit", "add")]
    reads = git.rest[:1] in (("get",), ("list",)) or only_looks("git config", git.rest)
    edits = git.has("e", "--edit", "--unset", "--unset-all", "--remove-section", "--rename-section") or git.operands[:1] in (
        ["edit"],
        ["unset"],
    )
    if reads or (len(words) < 2 and not edits):
        return
    if len(words) > 1:
        _setting(call, words[0], words[1])
        if _REMOTE_URL.match(words[0]) or (_REMOTE_NAME.fullmatch(words[0]) and _ADDRESS.match(words[1])):
            call.note("high", "sends the repository elsewhere", call.command.text)
    if git.has("", "--global", "--system") or git.has("f", "--file"):
        call.note("high", "changes git's settings beyond this repository", call.command.text)
    call.at_least("medium", "changes git's settings", call.command.text)


def _submodule(call: ProgramCall, git: _Git) -> None:
    if git.rest[:1] == ("add",) and len(words := _cloned(git.rest[1:])):
        folder = words[1] if len(words) > 1 else words[0].rstrip("/").removesuffix(".git").rpartition("/")[2]
        call.download(folder)
        _outside(call, git, folder)
    if git.operands[:1] == ["foreach"]:
        call.script(" ".join(git.operands[1:]))
    quiet = git.operands[:1] in ([], ["status"], ["summary"])
    if git.operands[:1] in (["deinit"], ["update"]) and git.has("f", "--force"):
        call.note("high", "throws away changes", call.command.text)
    if not quiet:
        call.note("medium", "changes or runs something in submodules", call.command.text)


def _checkout(call: ProgramCall, git: _Git) -> None:
    """Behind a commit stand files, and so does what ``find`` hands over; what makes a branch has two words as well."""
    if "{}" in git.operands or (len(git.operands) > 1 and not git.has("bBt", "--orphan", "--track")):
        call.note("high", "may throw away changes of a file", call.command.text)
    note_row(call, _BY_VERB["checkout"], "checkout", git.rest, git.has)


def _bisect(call: ProgramCall, git: _Git) -> None:
    if git.operands[:1] == ["run"]:
        call.script(" ".join(git.rest[1:]))
    if git.operands[:1] not in (["log"], ["view"], ["visualize"]):
        call.note("medium", "checks out other commits", call.command.text)


def _worktree(call: ProgramCall, git: _Git) -> None:
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


def _bundle(call: ProgramCall, git: _Git) -> None:
    call.note("medium", "changes the repository", call.command.text)
    if git.operands[:1] == ["create"] and len(git.operands) > 1 and git.operands[1] != "-":
        call.write(git.path(git.operands[1]))


def _init(call: ProgramCall, git: _Git) -> None:
    for folder in git.operands[:1]:
        _outside(call, git, folder)


_CLONE_VALUES: Final = frozenset(
    "-b --branch -o --origin -j --jobs -c --config -u --upload-pack --depth --reference --reference-if-able --template --filter "
    "--separate-git-dir --shallow-since --shallow-exclude --server-option --bundle-uri --revision --ref-format".split())


def _cloned(words: tuple[str, ...]) -> list[str]:
    """What is cloned and where to: the words that are no options, and no values of such."""
    found: list[str] = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word[:1] != "-" and before not in _CLONE_VALUES and not re.fullmatch(r"-[a-z]{1,6}[bojcu]", before):
            found.append(word)
    return found


def _clone(call: ProgramCall, git: _Git) -> None:
    call.note("medium", "fetches a repository", call.command.text)
    words = _cloned(git.rest)
    if words:
        name = words[1] if len(words) > 1 else re.sub(r"\.git$", "", words[0].rstrip("/")).rpartition("/")[2]
        call.download(name)
        _outside(call, git, name)


def _outside(call: ProgramCall, git: _Git, folder: str) -> None:
    """A folder that git makes or fills; inside the project that is no news."""
    if call.places.kind(git.path(folder)) not in ("inside", "temp", "unknown", "elsewhere"):
        call.write(git.path(folder))


_VERBS: Final[dict[str, Callable[[ProgramCall, _Git], None]]] = {
    "push": _push, "add": _add, "stage": _add, "config": _config, "submodule": _submodule, "bisect": _bisect,
    "worktree": _worktree,
    "checkout": _checkout, "bundle": _bundle, "clone": _clone, "init": _init, "fetch": _fetch, "merge-file": _merges_file,
    "interpret-trailers": _trailers, "difftool": _difftool, "mergetool": _difftool,
}  # fmt: skip
"""What rows cannot say."""

def _hub(call: ProgramCall) -> None:
    if call.operands[:1] == ("api",):
        note_bare_request(call)
    else:
        _git(call)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {"git": _git, "hub": _hub, "yadm": _git}
