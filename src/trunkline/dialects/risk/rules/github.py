"""GitHub's and other forges' command lines, and version control that is not git: rows, and code for what rows cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.row_matching import note_row, row

_PUBLISHED: Final = "gist release secret variable ssh-key gpg-key extension"
_LOOKS: Final = "view list status diff checks browse search ls version help"
_GRAVE: Final = "delete archive rename transfer remove set unlock revoke lock disable logout login refresh setup-git"
ROWS: Final = (
    row("auth", "high", "prints a credential", "gh auth token", then="token", effect="secret"),
    row("auth", "high", "prints a credential", "gh auth status -t", then="status", given="-t --show-token", effect="secret"),
    row("auth", "low", "shows who is logged in", "gh auth status", then="status"),
    row(_PUBLISHED, "low", "looks", "gh release list", then=_LOOKS),
    row(_PUBLISHED, "high", "publishes, or changes keys and secrets", "gh release create v1", effect="sends"),
    row("alias", "high", "makes an alias that runs a command", "gh alias set x 'pr view'", then="set"),
    row("", "high", "changes the repository for everybody", "gh repo delete x", then=_GRAVE),
    row("pr", "high", "changes the repository for everybody", "gh pr merge 1", then="merge"),
    row("pr", "high", "deletes a branch", "gh pr close 1 --delete-branch", then="close", given="-d --delete-branch"),
    row("repo", "high", "changes who sees the repository", "gh repo edit --visibility public", then="edit", given="--visibility"),
    row("codespace cs", "high", "runs commands on another machine", "gh codespace ssh -- ls", then="ssh cp jupyter code"),
    row("", "low", "looks", "gh pr view 1", then=_LOOKS),
    row("status search version help browse", "low", "looks", "gh search repos x"),
)
LEFT: Final = row("", "medium", "changes something on the forge", "gh pr create")
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
    noun, verb = (*call.operands[:2], "", "")[:2]
    if noun == "api":
        _api(call)
        return
    if noun in _PUBLISHED.split() and verb not in _LOOKS.split():
        for path in call.operands[2:]:
            call.read(path)
    elif (noun, verb) == ("alias", "set"):
        for word in call.operands[3:4]:
            call.script(word.lstrip("!"))
    note_row(call, (*ROWS, LEFT) if noun else ROWS, noun, call.operands[1:], call.has)


_MUTATION: Final = re.compile(
    r"^\s{0,20}(?:query=)?@?\s{0,20}(?:mutation\b|[\w./-]{1,200}\.(?:graphql|gql)$)|\bmutation\b[^{]{0,80}\{")
"""A query that changes something, or one in a file."""


def _api(call: ProgramCall) -> None:
    method = (call.value("-X", "--method") or "GET").upper()
    sends = method != "GET" or call.has("fF", "--field", "--raw-field", "--input")
    call.traits |= Trait.FETCHES
    mutates = call.operands[1:2] == ("graphql",) and any(map(_MUTATION.search, call.args))
    call.note("high" if method == "DELETE" or mutates else "medium",
              "changes something on the forge" if sends else "asks the forge", call.command.text)


def _other(call: ProgramCall) -> None:
    """hg, svn, jj."""
    verb = call.operands[0] if call.operands else ""
    note_row(call, (*OTHER_ROWS, OTHER_LEFT) if verb else OTHER_ROWS, verb, call.args, call.has)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(("gh", "glab", "tea"), _hosted),
    **dict.fromkeys(("hg", "svn", "jj", "bzr", "fossil"), _other),
}
