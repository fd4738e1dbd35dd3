"""GitHub's and other forges' command lines, and version control that is not git: rows, and code for what rows cannot say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.row_matching import note_row, row

_PUBLISHED: Final = (
    "gist release releases secret variable ssh-key gpg-key extension deploy-key token snippet login logins schedule")
_LOOKS: Final = "view list status diff checks browse search ls version help watch"
_GRAVE: Final = (
    "delete archive rename transfer remove set unlock revoke lock disable item-delete "
    "field-delete item-archive unlink rm del")
_FOR_ALL: Final = "changes the repository for everybody"
_REQUESTS: Final = "pr mr pulls merge-request"
ROWS: Final = (
    row("auth", "high", "prints a credential", "gh auth token", then="token git-credential", effect="secret"),
    row("auth", "high", "prints a credential", "gh auth status -t", then="status", given="-t --show-token", effect="secret"),
    row("auth", "low", "shows who is logged in", "gh auth status", then="status"),
    row("release run gist attestation job", "medium", "downloads from the forge", "gh release download v1",
        then="download clone artifact", effect="fetches"),
    row("attestation", "low", "looks", "gh attestation verify x", then="verify trusted-root"),
    row("gist snippet", "low", "looks", "gh gist view x", then="view", effect="fetches"),
    row(_PUBLISHED, "low", "looks", "gh release list", then=_LOOKS),
    row(_PUBLISHED, "high", "publishes, or changes keys and secrets", "gh release create v1", effect="sends"),
    row("alias", "high", "makes an alias that runs a command", "gh alias set x 'pr view'", then="set import"),
    row("config", "high", "prints a credential", "glab config get token", then="get",
        word="(?i)token|password|secret", effect="secret"),
    row("config", "high", "changes what it runs and where it looks", "gh config set pager x", then="set"),
    row("auth", "high", "changes who is logged in", "gh auth logout", then="login logout refresh switch setup-git"),
    row("", "high", _FOR_ALL, "gh repo delete x", then=_GRAVE),
    row(_REQUESTS, "high", _FOR_ALL, "gh pr merge 1", then="merge accept"),
    row(_REQUESTS, "high", "approves for the user", "glab mr approve 1", then="approve"),
    row(_REQUESTS, "high", "approves for the user", "gh pr review 1 --approve", then="review", given="-a --approve"),
    row(_REQUESTS, "high", "deletes a branch", "gh pr close 1 --delete-branch", then="close", given="-d --delete-branch"),
    row(_REQUESTS, "high", "throws away changes", "gh pr checkout 1 --force", then="checkout co", given="-f --force"),
    row("repo project", "high", "changes who sees the repository", "gh repo edit --visibility public", then="edit",
        given="--visibility --default-branch --accept-visibility-change-consequences"),
    row("repo project", "high", "publishes the project", "gh repo create x --push", then="create",
        given="--push --public --source"),
    row("repo label", "high", _FOR_ALL, "gh repo sync --force", then="sync clone", given="--force"),
    row("workflow", "high", "runs a workflow on the forge", "gh workflow run deploy.yml", then="run"),
    row("ci", "high", "runs a workflow on the forge", "glab ci trigger x", then="trigger"),
    row("codespace", "high", "runs commands on another machine", "gh codespace ssh -- ls", then="ssh cp jupyter code"),
    row("ports", "high", "opens a machine to the network", "gh codespace ports visibility 80:public", then="visibility forward"),
    row("", "low", "looks", "gh pr view 1", then=f"{_LOOKS} get"),
    row("status search version help browse completion", "low", "looks", "gh search repos x"),
)
LEFT: Final = row("", "medium", "changes something on the forge", "gh pr create")
_CALLED: Final[dict[str, str]] = {
    "ext": "extension", "extensions": "extension", "cs": "codespace", "rs": "ruleset", "at": "attestation", "pipeline": "ci",
    "pipe": "ci", "var": "variable", "new": "create", "ls": "list",
}
"""Other names of nouns and verbs."""
_WITHIN: Final = frozenset(
    (("repo", "deploy-key"), ("repo", "autolink"), ("repo", "license"), ("repo", "gitignore"), ("codespace", "ports")))
"""Nouns within nouns: what is done stands behind them."""
_NOUNS: Final = frozenset(
    """
    agent-task alias api attestation auth browse cache ci cluster codespace co completion config copilot deploy-key
    extension gist gpg-key help incident iteration issue issues job label labels licenses login logins logout milestones mr
    mcp notifications opentofu org organizations open pr preview project pulls release releases repo repos ruleset
    runner-controller schedule search secret securefile skill snippet ssh-key stack status time token times user variable
    version webhooks whoami workflow work-items duo changelog check-update merge-request merge-requests branches actions
    comment admin clone run
    """.split())
"""What else a forge's command line is told is the name of an extension, or of an alias."""
_OTHER_LOOKS: Final = "status st log diff show info cat blame annotate id summary heads branches"
OTHER_ROWS: Final = (
    row("", "high", "makes it run a program", "hg --config alias.x=y status", word=r"hooks\.|alias\.|--config"),
    row("strip purge revert rollback delete rm remove abandon histedit rebase", "high", "deletes or throws away changes",
        "hg strip x"),
    row(_OTHER_LOOKS, "low", "looks", "svn status"),
)
OTHER_LEFT: Final = row("", "medium", "changes the repository", "hg commit")


def _hosted(call: ProgramCall) -> None:
    """gh, glab: a forge's own command line."""
    words = [_CALLED.get(word, word) for word in call.operands[:3]]
    behind = call.operands[2:]
    if tuple(words[:2]) in _WITHIN:
        words, behind = words[1:], call.operands[3:]
    noun, verb = (*words[:2], "", "")[:2]
    if noun == "co":
        noun, verb = "pr", "checkout"
    if noun == "api":
        _api(call)
        return
    if noun in _PUBLISHED.split() and verb not in _LOOKS.split():
        for path in behind:
            call.read(path)
    elif (noun, verb) == ("alias", "set"):
        for word in call.operands[3:4]:
            call.script(word.lstrip("!"))
    elif noun and noun not in _NOUNS:
        call.bring(shlex.join(call.operands))
    _note_files(call, verb, behind)
    note_row(call, (*ROWS, LEFT) if noun else ROWS, noun, (verb, *call.operands[2:]), call.has)


_SENT: Final = frozenset("-F --body-file --notes-file --input --env-file --template --recover --attach --assets-links".split())
"""Options that name a file whose text goes to the forge."""
_SAVED: Final = frozenset("-D --dir -O --output --path --clone-dir".split())
"""Options that name where a download is put."""


def _note_files(call: ProgramCall, verb: str, behind: Sequence[str]) -> None:
    """Note the files that a call sends, and where it puts what it fetches."""
    if verb in _LOOKS.split():
        return
    for option, value in _values(call):
        if option in _SENT:
            call.traits |= Trait.SENDS
            if value != "-":
                call.read(value)
        elif option in _SAVED and verb in _FETCHING:
            call.write(value)
            call.download(value)
    if None in call.command.words or call.command.stdin_from >= 0:
        call.traits |= Trait.SENDS
    if verb == "clone" and behind:
        target = behind[1] if len(behind) > 1 and behind[1][:1] != "-" else behind[0].rstrip("/").rpartition("/")[2]
        call.download(target.removesuffix(".git"))
        if call.places.kind(target) not in ("inside", "temp"):
            call.write(target)


_FETCHING: Final = frozenset(("download", "clone", "artifact", "archive"))


def _values(call: ProgramCall) -> Iterator[tuple[str, str]]:
    """The options of a call with their values, joined or apart; of a field, the file that it is taken from (``x=@file``)."""
    for at, arg in enumerate(call.args):
        if arg[:1] != "-":
            continue
        option, equal, value = arg.partition("=")
        if arg[1:2] != "-":
            option, value = arg[:2], arg[2:].removeprefix("=")
            equal = value
        value = value if equal else " ".join(call.args[at + 1:at + 2])
        if option in ("-F", "--field", "-f", "--form") and "=@" in value:
            yield "--input", value.partition("=@")[2]
        elif not (option == "-F" and "=" in value):
            yield option, value


_MUTATION: Final = re.compile(
    r"^\s{0,20}(?:query=)?@?\s{0,20}(?:mutation\b|[\w./-]{1,200}\.(?:graphql|gql)$)|\bmutation\b[^{]{0,80}\{|^query=@")
"""A query that changes something, or one in a file."""
_EASY: Final = re.compile(
    r"(?:^|/)(?:issues|pulls|comments|labels|reactions|assignees|replies|notes|merge_requests|discussions|milestones|statuses)"
    r"(?:/\d{1,20})?/?$")
"""What may be made or changed by a request as by a sub-command that is not grave: an issue, a comment, a label."""
_OVERRIDES: Final = re.compile(r"^x-(?:http-)?method(?:-override)?\s{0,9}:\s{0,9}(\w{1,20})", re.IGNORECASE)


_API_TAKES: Final = frozenset(
    "-X --method -f -F --field --raw-field --input -H --header -q --jq -t --template --hostname --cache -p --preview".split())


def _asked(call: ProgramCall) -> str:
    """The path of a bare request: the first word behind ``api`` that is no option and no value of one."""
    at = call.args.index("api") + 1
    while at < len(call.args):
        if call.args[at][:1] != "-":
            return call.args[at].removeprefix("/")
        at += 2 if call.args[at] in _API_TAKES else 1
    return ""


def _api(call: ProgramCall) -> None:
    """A bare request: grave unless it asks, or makes what a sub-command makes as well."""
    sends = call.has("fF", "--field", "--raw-field", "--input")
    method = (call.value("-X", "--method") or ("POST" if sends else "GET")).upper()
    overrides = [found[1].upper() for arg in call.args if (found := _OVERRIDES.match(arg.removeprefix("-H"))) is not None]
    path = _asked(call).partition("?")[0]
    call.traits |= Trait.FETCHES
    _note_files(call, "api", ())
    if path == "graphql":
        is_grave = any(map(_MUTATION.search, call.args)) or call.value("--input") is not None
    else:
        is_grave = any(one == "DELETE" or (one not in ("GET", "HEAD") and _EASY.search(path) is None)
                       for one in (method, *overrides))
    call.note("high" if is_grave else "medium",
              "changes something on the forge" if sends or method != "GET" else "asks the forge", call.command.text)


def note_bare_request(call: ProgramCall) -> None:
    """``hub api``: the same request of another command line."""
    _api(call)


def _other(call: ProgramCall) -> None:
    """hg, svn, jj."""
    verb = call.operands[0] if call.operands else ""
    if verb in _BRINGS and (source := next((word for word in call.operands[1:] if "://" in word or "@" in word), None)):
        call.traits |= Trait.FETCHES
        last = call.operands[-1]
        call.download(last if last != source else source.rstrip("/").rpartition("/")[2])
    note_row(call, (*OTHER_ROWS, OTHER_LEFT) if verb else OTHER_ROWS, verb, call.args, call.has)


_BRINGS: Final = frozenset(("clone", "checkout", "co", "export", "branch", "open"))
"""Verbs that bring a whole project from elsewhere."""


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(("gh", "glab", "tea"), _hosted),
    **dict.fromkeys(("hg", "svn", "jj", "bzr", "fossil"), _other),
}
