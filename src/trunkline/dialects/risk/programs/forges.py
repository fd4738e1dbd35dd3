"""Command lines of forges, and version control that is not git."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import Call, Trait

_GH_QUIET: Final = frozenset("view list status diff checks browse search ls version help".split())
_GH_GRAVE: Final = frozenset(
    "delete archive rename transfer remove set unlock revoke lock disable logout login refresh setup-git".split()
)


def _hosted(call: Call) -> None:
    """gh, glab: a forge's own command line."""
    noun = call.operands[0] if call.operands else ""
    verb = call.operands[1] if len(call.operands) > 1 else ""
    if noun == "auth" and verb in ("token", "status"):
        if verb == "token" or call.has("t", "--show-token"):
            call.traits |= Trait.SECRET
            call.note("high", "prints a credential", call.command.text)
    elif noun == "api":
        method = (call.value("-X", "--method") or "GET").upper()
        sends = method != "GET" or call.has("fF", "--field", "--raw-field", "--input")
        call.traits |= Trait.FETCHES
        call.note(
            "high" if method == "DELETE" else "medium",
            "changes something on the forge" if sends else "asks the forge",
            call.command.text,
        )
    elif noun in ("gist", "release", "secret", "variable", "ssh-key", "gpg-key", "extension") and verb not in _GH_QUIET:
        call.traits |= Trait.SENDS
        for path in call.operands[2:]:
            call.read(path)
        call.note("high", "publishes, or changes keys and secrets", call.command.text)
    elif noun == "alias" and verb == "set":
        for word in call.operands[3:4]:
            call.script(word.lstrip("!"))
        call.note("high", "makes an alias that runs a command", call.command.text)
    elif verb in _GH_GRAVE or (noun == "pr" and verb == "merge"):
        call.note("high", "changes the repository for everybody", call.command.text)
    elif verb not in _GH_QUIET and noun not in ("", "status", "search", "version", "help", "browse"):
        call.note("medium", "changes something on the forge", call.command.text)


def _other(call: Call) -> None:
    """hg, svn, jj."""
    verb = call.operands[0] if call.operands else ""
    if any("hooks." in arg or "alias." in arg or "--config" in arg for arg in call.args):
        call.note("high", "makes it run a program", call.command.text)
    elif verb in ("strip", "purge", "revert", "rollback", "delete", "rm", "remove", "abandon", "histedit", "rebase"):
        call.note("high", "deletes or throws away changes", call.command.text)
    elif verb not in (
        "status",
        "st",
        "log",
        "diff",
        "show",
        "info",
        "cat",
        "blame",
        "annotate",
        "id",
        "summary",
        "heads",
        "branches",
        "",
    ):
        call.note("medium", "changes the repository", call.command.text)


JUDGES: Final[dict[str, Callable[[Call], None]]] = {
    **dict.fromkeys(("gh", "glab", "tea"), _hosted),
    **dict.fromkeys(("hg", "svn", "jj", "bzr", "fossil"), _other),
}
