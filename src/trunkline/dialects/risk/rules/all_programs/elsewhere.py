"""Commands that stand in a folder outside the session's, where a ``cd`` or the call itself put them.

Rule 1: what only looks is judged as anywhere. What changes something there changes what is not the session's.
Rule 2: what builds, tests or checks runs what that folder says: code from outside, also in a folder for temporary files.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.places import standing
from trunkline.dialects.risk.rules import reading
from trunkline.dialects.shell import module_at

_ONLY_READ: Final = frozenset(
    "shellcheck hadolint yamllint markdownlint cspell codespell actionlint typos taplo vale proselint pycodestyle pydocstyle "
    "pyflakes gofmt shfmt depcheck madge cppcheck".split())
"""Of what checks: what reads files, and loads nothing that they say."""

_RUN_WHAT_IS_HERE: Final = frozenset(reading.TESTERS) - _ONLY_READ | {"prettier", "pre-commit"}
_RUN_BY_VERB: Final[dict[str, frozenset[str]]] = {
    "go": frozenset("test build vet run generate install tool".split()),
    "cargo": frozenset("check clippy test build run bench doc nextest t b r c".split()),
    "npx": frozenset(reading.TESTERS) - _ONLY_READ,
    "bunx": frozenset(reading.TESTERS) - _ONLY_READ,
}
_LOOKING: Final = ("reads", "looks", "searches", "prints", "talks", "asks", "works in a repository", "changes what other")
"""How the reasons begin of what changes nothing where it stands."""


def note_elsewhere(call: ProgramCall) -> None:
    """Note what a call does where it stands, if that is outside."""
    if not call.name:
        return
    kind = standing(call.places)
    if not kind:
        return
    if _runs_what_is_here(call):
        call.at_least("high", "runs what a folder outside the session's folders says", call.places.cwd or "")
    elif kind == "outside" and any(finding.level == "medium" and not finding.reason.startswith(_LOOKING)
                                   for finding in call.findings):
        call.at_least("high", "changes or runs something outside the session's folders", call.places.cwd or "")


def _runs_what_is_here(call: ProgramCall) -> bool:
    if call.places.cwd in call.runs:
        return True
    name, words = call.name, call.operands
    if at := module_at(call.command):
        name, words = call.args[at - 1], tuple([arg for arg in call.args[at:] if arg[:1] != "-"])
    if call.args in (("--version",), ("--help",)):
        return False
    return name in _RUN_WHAT_IS_HERE or (name in _RUN_BY_VERB and not _RUN_BY_VERB[name].isdisjoint(words[:3]))
