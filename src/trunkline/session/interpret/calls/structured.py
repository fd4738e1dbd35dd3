"""What a tool gave back, as a program can use it: a diff, search results, a command's output, a page.

Rule 1: an exit code is reported only where the agent or the terminal gave it: in a field, or in a text that is, from beginning to
end, a report in one of the forms that agents are known to make (``_FORMS``). What a command prints of exit codes is none.
Without one there is no structured output.
Rule 2: the event's ``output`` has the whole text; what is repeated here is cut at STRUCTURED_CHARS and says so.
Rule 3: looking for a report reads the beginning and the end of a text only, so that a long output costs no more than a short one.
"""

from __future__ import annotations

import re
from typing import Any, Final

from trunkline.dialects.context.unions import CommandOutput, FileDiffOutput, ToolStructuredOutput
from trunkline.session.interpret.calls.facts import Facts, Head, unfenced
from trunkline.session.interpret.effects.changes import Change
from trunkline.session.interpret.effects.search import found_in
from trunkline.session.interpret.effects.web import page_of

STRUCTURED_CHARS: Final = 8 << 10
"""Characters of each text in a structured output; the whole is beside it."""

LOOKED_AT: Final = 600
"""Characters at either end of an output that are searched for an exit code."""

_EXIT_KEYS: Final = ("exit_code", "exitCode", "exit", "returncode", "return_code", "exitStatus", "code")
_FORMS: Final = tuple((re.compile(begins), re.compile(ends)) for begins, ends in (
    (r"\*\*(?:Command|Output):\*\*\n", r"\n\*\*Status:\*\* Command (?:succeeded|failed) with exit code (-?\d{1,5})\Z"),
    (r"terminal result\n", r"\n- \*\*exit_code:\*\* (-?\d{1,5})\Z"),
    (r"(?:Command|Output): ", r"\nExit Code: (-?\d{1,5})(?:\n(?:Signal|Background PIDs|Process Group PGID): [^\n]*)*\Z"),
    (r"(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\nProcess exited with code (-?\d{1,5})\n", r""),
))
"""How reports begin and end, as recorded of agents (``tests/data/transcripts``); the code is in one of the two."""
_REPORT = re.compile(
    r"(?:\A|\n)\W{0,4}output\W{0,4}?[ \n](?:```[^\n]*\n)?(.*?)"
    r"(?=\n```|\n\W{0,4}(?:error|status|exit[ _]code)\b[^\n]*|\Z)", re.IGNORECASE | re.DOTALL,
)
_EXIT_LINE = re.compile(r"(?:\A|\n)\W{0,6}exit[ _-]?code\W{1,6}-?\d{1,5}\W{0,3}(?=\n|\Z)", re.IGNORECASE)
_NO_OUTPUT = re.compile(r"\s*[(<\[](?:[\w ]{0,40}no output|empty|none)[)>\]]\s*", re.IGNORECASE)


def structured_of(facts: Facts, changes: list[Change]) -> tuple[ToolStructuredOutput | None, dict[str, Any]]:
    """The structured output of a completed call, and what ``_meta`` says of it."""
    if len(changes) == 1:
        change = changes[0]
        return FileDiffOutput(path=change.path, diff=change.diff or "", change_type=change.kind), {}
    if changes:
        return None, {}
    match "terminal" if facts.command else facts.role:  # what ran a command is no search, whatever it is called
        case "terminal":
            return command_output(facts)
        case "search":
            return found_in(facts)
        case "fetch":
            return page_of(facts), {}
    return None, {}


def command_output(facts: Facts) -> tuple[CommandOutput | None, dict[str, Any]]:
    """What a command printed and how it ended; None where nobody said how it ended."""
    code = exit_code(facts)
    if code is None:
        return None, {}
    stdout, stderr = _printed(facts), facts.head("stderr", chars=STRUCTURED_CHARS) or Head("", False)
    meta = {"cut": STRUCTURED_CHARS} if stdout.cut or stderr.cut else {}
    return CommandOutput(exit_code=code, stdout=stdout.text, stderr=stderr.text), meta


def run_of(facts: Facts) -> tuple[int | None, str | None]:
    """How a command ended and what it printed, out of whatever report its agent made of it; None where that is not known, and
    for a long output, which is emitted as it came."""
    printed = _printed(facts)
    return exit_code(facts), None if printed.cut else printed.text


def exit_code(facts: Facts) -> int | None:
    """How the command ended: as the agent recorded it, as the terminal gave it, as the text reports it."""
    if facts.evidence.exit_code is not None:
        return facts.evidence.exit_code
    code = facts.look(*_EXIT_KEYS, kind=int)
    return code if isinstance(code, int) else _claimed(facts)


def _claimed(facts: Facts) -> int | None:
    """The exit code that a report of the agent's names."""
    texts = [facts.text] if facts.answer is None else [facts.answer, facts.text]
    return next((code for text in texts if (code := _reported_code(text)) is not None), None)


def _reported_code(text: str) -> int | None:
    inner = unfenced(text) if len(text) <= LOOKED_AT else text
    first, last = inner[:LOOKED_AT].lstrip(), inner[-LOOKED_AT:].rstrip()
    for begins, ends in _FORMS:
        head, tail = begins.match(first), ends.search(last)
        if head is not None and tail is not None:
            return int(next(group for group in (*tail.groups(), *head.groups()) if group is not None))
    return None


def _printed(facts: Facts) -> Head:
    recorded = facts.head("stdout", chars=STRUCTURED_CHARS)
    if recorded is None and facts.evidence.printed:
        recorded = _head(facts.evidence.printed)
    if recorded is None:
        recorded = facts.head("aggregated_output", "output", chars=STRUCTURED_CHARS) or _head(_reported(facts))
    return Head("", False) if _NO_OUTPUT.fullmatch(recorded.text[:80]) else recorded


def _reported(facts: Facts) -> str:
    """What was printed, out of a text that may be a report about the run."""
    text = facts.answer if facts.answer is not None else unfenced(facts.text)
    if len(text) > STRUCTURED_CHARS or _reported_code(text) is None:
        return text
    report = _REPORT.search(text)
    return report.group(1) if report else _EXIT_LINE.sub("", text, count=1)


def _head(text: str) -> Head:
    return Head(text[:STRUCTURED_CHARS], len(text) > STRUCTURED_CHARS)
