"""The risk of one shell line: each command by its own judge, then what they do together.

Rule 1: what cannot be read is high: syntax errors, names that only the run knows, invisible or look-alike characters.
Rule 2: a program that nobody here knows is medium.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.flow import flow_findings, piped_scripts
from trunkline.dialects.risk.levels import Finding, Risk, worst
from trunkline.dialects.risk.places import Places
from trunkline.dialects.risk.programs import program_of, runs_tasks
from trunkline.dialects.risk.programs.frameworks import note_lost
from trunkline.dialects.risk.programs.paths import note_outside
from trunkline.dialects.risk.programs.runners import UNKNOWN, line_runs
from trunkline.dialects.risk.programs.running import run_file
from trunkline.dialects.shell import ParsedLine, SimpleCommand, parse_shell
from trunkline.dialects.shell.grammar import MAX_LINE_BYTES
from trunkline.dialects.visible import looks_alike, unseen_in

_SMELLS: Final = re.compile(r"/dev/(tcp|udp)/|\b(of=|>\s{0,20})/dev/(sd|nvme|disk|hd|vd|mmcblk)|:\(\)\s{0,20}\{")
_FETCHER: Final = re.compile(r"\b(curl|wget)\b")
_SHELL: Final = re.compile(r"\b(ba|z|da|k|)sh\b")
"""What is looked for in a line that cannot be parsed. Repetitions have an end: a regular expression keeps all threads waiting."""
_SMELLED: Final = 32768
_TWIN_CHARS: Final = 40
"""Shown of a word that is not what it looks like."""
_MAX_SCRIPTS: Final = 16
_MAX_SCRIPTS_DEPTH: Final = 2
"""Shell texts found inside code are judged too, so many and so deep; what runs them is noted as high anyway."""
_MOVING: Final = frozenset({"cd", "pushd"})
_SUBSCRIPT: Final = re.compile(r"\[[^\[\]]*(\$\(|`)")
_SUBSTITUTED: Final = re.compile(r"\$\(\s*([\w/.][^()]*)|`\s*([\w/.][^`]*)")
_SUBSTITUTIONS: Final = 16
"""Of a line that are looked at."""
_EVALUATES_NAMES: Final = frozenset(
    {"let", "test", "[", "printf", "declare", "typeset", "local", "read", "unset", "export", "readonly"}
)


def judge_line(line: str, places: Places) -> Risk:
    """The risk of a line, and why."""
    return worst(line_findings(line, places), "nothing dangerous in it")


recent_line: Final = lru_cache(maxsize=128)(judge_line)
"""Lines judged lately: a call is judged when it is announced, when it is asked for and when a rule decides it, and whoever is
asked is shown which part of its line is dangerous."""


def line_findings(line: str, places: Places, depth: int = 0) -> list[Finding]:
    """Everything that was noticed about a line."""
    parsed = parse_shell(line.replace("\r\n", "\n") if len(line) <= MAX_LINE_BYTES else line)
    findings = _unreadable(line, parsed) + _hidden_in_values(parsed)
    calls = _calls(parsed, places)
    findings.extend(finding for call in calls for finding in call.findings)
    findings.extend(flow_findings(calls))
    if depth < _MAX_SCRIPTS_DEPTH:
        scripts = [script for call in calls for script in call.scripts] + piped_scripts(calls)
        for script in dict.fromkeys(scripts[:_MAX_SCRIPTS]):
            findings.extend(finding for finding in line_findings(script, places, depth + 1) if finding.level != "medium")
    return findings


def _calls(parsed: ParsedLine, places: Places) -> list[ProgramCall]:
    """The commands of a line, each judged where it stands: ``cd`` moves what follows in the same shell, and no other."""
    calls: list[ProgramCall] = []
    where: dict[tuple[int, ...], Places] = {(): places}
    for command, ran in zip(parsed.commands, line_runs(parsed.commands), strict=True):
        scope = command.scope
        while scope not in where:
            scope = scope[:-1]
        here = where[scope]
        call = _judged(command, here)
        for text in ran if ran is not UNKNOWN else ():
            call.script(text)
        calls.append(call)
        if call.name in _MOVING:
            where[command.scope] = _after(call)
        elif scope is not command.scope:
            where[command.scope] = here
    return calls


def _after(call: ProgramCall) -> Places:
    """Where the next command stands behind a ``cd``."""
    operand = call.operands[0] if call.operands else "~"
    return call.places.moved(None if operand == "-" or call.command.words[-1] is None else operand)


def _unreadable(line: str, parsed: ParsedLine) -> list[Finding]:
    """What keeps a person, or us, from seeing what the line does."""
    found: list[Finding] = []
    if not parsed.complete:
        found.append(Finding("high", f"cannot be read as a shell command: {parsed.problem}"))
        if _smells(line[:_SMELLED]) or _smells(line[-_SMELLED:]):
            found.append(Finding("critical", "cannot be read, and looks like fetched code, a raw device or a shell for others"))
    seen = line if parsed.complete else line[:_SMELLED]
    if unseen_in(seen.replace("\r\n", "\n")):
        found.append(Finding("high", "has characters that cannot be seen and may hide parts of it"))
    if twin := looks_alike(seen):
        found.append(Finding("high", f"has letters that look like others: {twin[:_TWIN_CHARS]}"))
    return found


def _smells(text: str) -> bool:
    if _SMELLS.search(text):
        return True
    for line in text.split("\n"):
        fetches = False
        for stage in line.split("|"):
            if fetches and _SHELL.search(stage, 0, 200):
                return True
            fetches = _FETCHER.search(stage) is not None
    return False


def _hidden_in_values(parsed: ParsedLine) -> list[Finding]:
    """Commands in quoted values of variables: arithmetic (``((x))``, ``${y:x}``) and ``${x@P}`` run what stands there."""
    values = [one for command in parsed.commands for one in command.assignments if "$(" in one or "`" in one]
    if not values:
        return []
    texts = [command.text for command in parsed.commands if command.text][:_SUBSTITUTIONS * 4]
    inner = [found[1] or found[2] for value in values[:_SUBSTITUTIONS] for found in _SUBSTITUTED.finditer(value)][:_SUBSTITUTIONS]
    return [Finding("high", f"hides a command in the value of a variable: {text[:60]}")
            for text in inner if not any(known in text for known in texts)][:1]


def _judged(command: SimpleCommand, places: Places) -> ProgramCall:
    """One command with the notes of its judge."""
    words = command.words
    first = words[0] if words else None
    if first is None:
        call = ProgramCall(command, places, "")
        for assignment in command.assignments:
            call.assign(assignment)
        if words:
            call.traits |= Trait.EXECUTES
            call.note("high", "the command's name is only known when it runs", command.text)
    else:
        program = program_of(first)
        call = ProgramCall(command, places, program.name)
        for assignment in command.assignments:
            call.assign(assignment)
        if not program.is_ascii:
            call.note("high", "the command's name has unusual letters", command.name or "")
        elif call.name in _EVALUATES_NAMES and any(_SUBSCRIPT.search(word) for word in words if word):
            call.note("high", "hides a command in an array index", command.text)
        program.judge(call)
        note_outside(call, program.judge is not run_file)
        if runs_tasks(program):
            note_lost(call)
    for redirect in command.redirects:
        if redirect.writes:
            call.write(redirect.sketch)
        elif redirect.reads:
            call.read(redirect.sketch)
        if redirect.sketch.startswith(("/dev/tcp/", "/dev/udp/")):
            call.traits |= Trait.SENDS | Trait.FETCHES
    return call
