"""git's own words: its verbs, the options before them, and the settings that make it run a program.

Pure data, for the judge of git and for whoever asks what a git command runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trunkline.dialects.shell.options import in_full
from trunkline.dialects.shell.verbs import VERBS

QUIET_VERBS: Final = frozenset(
    """
    status log diff show rev-parse ls-files ls-tree ls-remote describe shortlog blame annotate grep cat-file rev-list name-rev
    merge-base for-each-ref show-ref count-objects fsck help version var check-ignore check-attr check-ref-format diff-tree
    diff-index diff-files whatchanged range-diff cherry add stage commit init fetch show-branch verify-commit verify-tag
    get-tar-commit-id column interpret-trailers stripspace patch-id merge-tree merge-file mktree hash-object write-tree
    commit-graph maintenance diagnose bugreport request-pull format-patch --version --help
    """.split()
)
CHANGING_VERBS: Final = frozenset(
    """
    pull merge cherry-pick revert am apply mv submodule subtree sparse-checkout notes lfs bundle pack-refs repack read-tree
    checkout-index
    update-index symbolic-ref switch clone push reset rebase bisect worktree remote config tag branch checkout restore stash
    archive rerere fast-export unpack-objects init-db annex flow daemon instaweb gui citool gc
    """.split()
)
RUNNING_KEYS: Final = re.compile(
    r"^(core\.(pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass|alternaterefscommand|worktree)|pager\.\w+|diff\.external"
    r"|(diff|merge|difftool|mergetool|filter|guitool|man|browser|trailer|tar)\..*(command|cmd|textconv|driver|clean|smudge|process|path)"
    r"|credential(\..*)?\.helper|gpg(\..*)?\.program|alias\..*|sequence\.editor|uploadpack\..*|remote\..*\.(uploadpack|receivepack|vcs|proxy)"
    r"|protocol\..*allow|interactive\.difffilter|sendemail\..*cmd|init\.templatedir|include(if)?\..*|submodule\..*\.update|url\..*insteadof"
    r"|http\.(proxy|sslverify|curloptresolve)|web\.browser|ssh\.variant|commit\.template|instaweb\..*|receive\..*|hook\..*)$"
)
GRAVE_VERBS: Final = frozenset(
    """
    clean filter-branch filter-repo replace fast-import reflog prune prune-packed rm credential credential-store
    credential-cache send-email imap-send update-ref
    """.split()
)
"""What is lost, rewritten or sent, and is in neither of the others."""
KNOWN_VERBS: Final = QUIET_VERBS | CHANGING_VERBS | GRAVE_VERBS | frozenset(("difftool", "mergetool"))
"""Every verb that is git's own: it takes no alias for these."""
GIT_VALUES: Final = VERBS["git"].takes
"""Options before the verb that take the next word."""
FOLDER_OPTIONS: Final = GIT_VALUES - {"-c", "--config-env"}

_OUTPUTS: Final = ("--output", "--output-directory", "--export-marks", "--export-pack-edges", "--pid-file", "--object-dir")
_SHORT_OUTPUTS: Final = frozenset(("format-patch", "archive", "bugreport", "diagnose", "index-pack", "mailsplit"))
"""Verbs whose ``-o`` names what they write."""


def written_by(verb: str, words: Sequence[str], at: int) -> str:
    """The file or folder that the option in this place, behind a verb, has git write; empty: none."""
    name, equal, value = words[at].partition("=")
    apart = words[at + 1] if at + 1 < len(words) else ""
    if in_full(name, _OUTPUTS):
        return value if equal else apart
    return (words[at][2:] or apart) if verb in _SHORT_OUTPUTS and name[:2] == "-o" else ""


BUNDLED: Final[dict[str, re.Pattern[str]]] = {
    "grep": re.compile(r"-[ivwhHEFGPnlLzcpWqoar]{0,16}(O)(.*)", re.DOTALL),
    "clone": re.compile(r"-[lnqsv46]{0,12}(u)(.*)", re.DOTALL),
    "rebase": re.compile(r"-[fikmnqrv]{0,12}(x)(.*)", re.DOTALL),
}
"""Short options that name a program, wherever they stand in a bundle; the value of the first is joined to it."""
