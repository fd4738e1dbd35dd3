"""How a call went that its agent calls completed: some say so and report in the same breath that it failed.

Rule 1: only what the agent says counts: a flag, an error, an exit code, or a text that begins as a failure.
Rule 2: a text is looked at in its first line, and only of calls that change files: what others print may say anything.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.session.interpret.calls.facts import Facts

LINE_CHARS: Final = 300
"""Characters of a text's first line that are looked at."""

_GOOD: Final = ("success", "succeeded", "ok")
_BAD: Final = ("isError", "is_error", "failed")
_WRONG: Final = ("error", "errorMessage", "error_message")
_BAD_STATUS: Final = frozenset({"error", "failed", "failure", "rejected", "denied", "cancelled", "canceled", "aborted"})
_FAILED = re.compile(
    r"\W{0,8}(?:(?:tool )?(?:call |execution |use )?(?:error|failed|failure)\b|(?:could not|couldn't|cannot|can't|unable to|"
    r"failed to)\b|no changes (?:were )?made|permission denied|(?:file|path) (?:was )?not found|"
    r"(?:edit|write|patch|command|operation) (?:was )?(?:failed|rejected|denied|not applied))", re.IGNORECASE)


def failure_of(facts: Facts) -> str | None:
    """What says that a completed call failed; None where nothing does."""
    return _recorded(facts) or _shown(facts)


def says_success(facts: Facts) -> bool:
    """Whether a call says by a flag that it went well; a status alone says only that it is over."""
    return any(facts.look(key, kind=bool) is True for key in _GOOD)


def _recorded(facts: Facts) -> str | None:
    for key in _GOOD:
        if facts.look(key, kind=bool) is False:
            return f"{key} is false"
    for key in _BAD:
        if facts.look(key, kind=bool) is True:
            return f"{key} is true"
    if facts.look(*_WRONG) or facts.look(*_WRONG, kind=dict):
        return "it has an error"
    status = facts.look("status", "state", "outcome")
    if isinstance(status, str) and status.lower() in _BAD_STATUS:
        return f"its status is {status}"
    code = facts.look("exit_code", "exitCode", kind=int)
    return f"it ended with exit code {code}" if code else None


def _shown(facts: Facts) -> str | None:
    first = facts.text.lstrip()[:LINE_CHARS].split("\n", 1)[0]
    is_record = first[:1] in ("{", "[")  # which has members, and these were looked at
    return "its text says so" if not is_record and _FAILED.match(first) else None
