"""The git commands that a forge's own command line runs: ``gh repo clone x -- --depth 1`` is ``git clone x --depth 1``.

Rule: only what git is told is given here. What the forge itself is asked for is judged in ``risk/rules/github.py``.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.risk.runners import git
from trunkline.dialects.shell import SimpleCommand

FORGES: Final = frozenset(("gh", "glab", "tea"))
_NAMES: Final = ("-R", "--repo", "--hostname")
"""Options that may stand before the sub-command, with a word of their own."""
_WORDS: Final = 24
_REQUESTS: Final = ("pr", "mr", "pulls", "co")


def runs(command: SimpleCommand) -> tuple[str, ...]:
    """The git commands that a forge's command line runs in turn."""
    words = command.sketch[1:_WORDS]
    verbs = [at for at, word in enumerate(words) if word[:1] != "-" and (at == 0 or words[at - 1] not in _NAMES)][:2]
    noun, verb = ([words[at] for at in verbs] + ["", ""])[:2]
    if verb == "clone" or noun == "clone":
        behind = [word for word in words[verbs[-1 if verb == "clone" else 0] + 1:] if word != "--"]
        return (" ".join(("git", "clone", *map(git.quoted, behind)))[:git.CHARS],)
    if noun in _REQUESTS and (verb in ("checkout", "co") or noun == "co"):
        return ("git fetch", "git reset --hard" if not {"-f", "--force"}.isdisjoint(words) else "git checkout x")
    if verb in ("create", "new") and any(word.partition("=")[0] == "--push" for word in words):
        return ("git push",)
    return ()
