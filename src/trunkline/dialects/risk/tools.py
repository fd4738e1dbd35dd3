"""The risk of any tool call: the worst that its reading says (``dialects/calls``).

Rule 1: what a call runs, reads, writes, deletes or moves is judged, each by itself; the worst of it is the level and the reason.
Rule 2: an input that is missing or not an object is no error. A tool that does nothing known is low; one that changes things is
medium without its input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trunkline.dialects.answer_cache import AnswerCache
from trunkline.dialects.calls import CallReading, read_call
from trunkline.dialects.calls.inputs import BEYOND_RULES
from trunkline.dialects.calls.names import usual_name, verb_in
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.risk.call import Noted, ProgramCall
from trunkline.dialects.risk.levels import Finding, Risk, rank, worst
from trunkline.dialects.risk.line import judge_line, recent_line
from trunkline.dialects.risk.places import Places
from trunkline.dialects.shell import READ_AT_ONCE_CHARS, SimpleCommand, is_long
from trunkline.dialects.shell.grammar import MAX_LINE_BYTES

_SHOWN: Final = 60


def assess_risk(name: str, input: object = None) -> RiskLevel:
    """The level alone, where nothing is known of the session: low, medium, high or critical."""
    return explain_risk(name, input).level


def explain_risk(
    name: str,
    input: Mapping[str, Any] | object | None,
    *,
    cwd: str | None = None,
    roots: Sequence[str] = (),
    home: str | None = None,
    kind: str | None = None,
    at_once: bool = False,
) -> Risk:
    """How dangerous a call of the tool ``name`` is, and why. ``kind`` is the Agent Client Protocol's; ``cwd``, ``roots``
    and ``home`` are those of the session. ``at_once``: see ``judge``."""
    reading = read_call(usual_name(name, None) if isinstance(name, str) else "", kind, input)
    return judge(reading, Places.of(cwd, roots, home), at_once=at_once)


def judge(reading: CallReading, places: Places, *, at_once: bool = False) -> Risk:
    """How dangerous a call is, and why. ``at_once``: for somebody who must not wait. A long line is then judged as it was lately
    judged without that, and is high where it was not."""
    risks = [] if reading.command is None else [_terminal(reading.command, reading.folder, places, at_once)]
    if reading.claimed:
        risks.append(_terminal(reading.claimed, None, places, at_once))
    if reading.queries:
        risks.append(Risk(level="high", reason=f"changes a database: {reading.queries[0].strip()[:_SHOWN]}"))
    if reading.said_to_run:
        risks.append(Risk(level="high", reason=f"is said to run something, and not what: {reading.said_to_run}"))
    if reading.unseen:
        risks.append(Risk(level="high", reason=reading.unseen))
    if "unknown" in reading.acts:
        risks.append(_other(reading.tool))
    touches = reading.acts - {"run", "unknown", "delegate"}
    if touches or (reading.paths and "unknown" in reading.acts):
        risks.append(worst(_touching(touches or frozenset({"read"}), reading, places), "reads only"))
    return max(risks, key=lambda risk: rank(risk.level)) if risks else Risk(level="low", reason="runs nothing")


def _terminal(command: str, folder: str | None, places: Places, at_once: bool) -> Risk:
    """A shell line, in the folder that the call names."""
    places = places if folder is None else places.moved(folder)
    if not is_long(command):
        return recent_line(command, places) if len(command) <= MAX_LINE_BYTES else judge_line(command, places)
    known = _read_ahead.get((command, places))
    if known is not None:
        return known
    return _UNREAD if at_once else _read_ahead.put((command, places), judge_line(command, places))


def unsure_line(command: str, places: Places) -> str:
    """What a line changes of which only the run knows where it is; a line that was not read ahead may be that."""
    risk = _terminal(command, None, places, at_once=True)
    return risk.reason if risk is _UNREAD else risk.unsure


_read_ahead: Final[AnswerCache[tuple[str, Places], Risk]] = AnswerCache(64)
_UNREAD: Final = Risk(level="high", reason=f"a command of more than {READ_AT_ONCE_CHARS} characters that was not read ahead")


def _touching(acts: frozenset[str], reading: CallReading, places: Places) -> Noted[Finding]:
    """What reads or changes files itself."""
    call, paths = ProgramCall(SimpleCommand(text="", words=()), places, ""), reading.paths
    if "delete" in acts and not reading.deleted:
        call.note("high", "deletes files")
    for path in reading.deleted:
        call.remove(path)
    for source, target in reading.moved:
        call.note("medium", "moves a file", f"{source} to {target}")
    for name, target in reading.linked:
        call.link(name, target)
    for path in paths:
        if path == BEYOND_RULES or path in reading.deleted:
            continue
        if "delete" in acts and not reading.deleted:
            call.remove(path)
        if acts & {"write", "move"}:
            call.write(path)
        elif "delete" not in acts:
            call.read(path)
    if "write" in acts or "move" in acts:
        call.at_least("medium", "writes a file" if "write" in acts else "moves a file", paths[0] if paths else "")
    return call.findings


def _other(name: str) -> Risk:
    """A tool that nothing is known of but its name."""
    verb, bare = verb_in(name), name.rpartition("__")[2]
    if verb == "destroys":
        return Risk(level="high", reason=f"an unknown tool that by its name destroys or runs something: {bare[:_SHOWN]}")
    if verb == "changes":
        return Risk(level="medium", reason=f"an unknown tool that by its name changes something: {bare[:_SHOWN]}")
    return Risk(level="low", reason="an unknown tool")
