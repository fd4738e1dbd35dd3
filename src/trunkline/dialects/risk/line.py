"""The risk of one shell line: each command by its own judge, then what they do together.

Rule 1: what cannot be read is high: syntax errors, names that only the run knows, invisible or look-alike characters.
Rule 2: a program that nobody here knows is medium.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import structs

from trunkline.dialects.risk.call import FEEDERS, ProgramCall, Trait
from trunkline.dialects.risk.flow import flow_findings, piped_scripts
from trunkline.dialects.risk.levels import Finding, Risk, rank, worst
from trunkline.dialects.risk.places import Places
from trunkline.dialects.risk.rules import Program, may_run_words, program_of
from trunkline.dialects.risk.rules.all_programs.brought import note_brought
from trunkline.dialects.risk.rules.all_programs.consoles import note_console
from trunkline.dialects.risk.rules.all_programs.elsewhere import note_elsewhere
from trunkline.dialects.risk.rules.all_programs.evaluated import note_evaluated
from trunkline.dialects.risk.rules.all_programs.frameworks import note_lost
from trunkline.dialects.risk.rules.all_programs.handed import note_handed
from trunkline.dialects.risk.rules.all_programs.loading import note_debugger, note_loaded
from trunkline.dialects.risk.rules.all_programs.losses import note_emptied, note_losses
from trunkline.dialects.risk.rules.all_programs.outputs import note_outputs
from trunkline.dialects.risk.rules.all_programs.paths import note_outside
from trunkline.dialects.risk.rules.all_programs.raised import note_raised
from trunkline.dialects.risk.rules.all_programs.releases import note_released
from trunkline.dialects.risk.rules.all_programs.settings import note_settings
from trunkline.dialects.risk.rules.docker import CONTAINERS
from trunkline.dialects.risk.rules.network import sends_on
from trunkline.dialects.risk.rules.running import run_file
from trunkline.dialects.risk.runners.names import UNKNOWN
from trunkline.dialects.risk.runners.runs import line_runs
from trunkline.dialects.risk.standing import Standing
from trunkline.dialects.risk.stdin import lenders
from trunkline.dialects.shell import ParsedLine, Redirect, SimpleCommand, apart, goes_elsewhere, parse_shell, readings
from trunkline.dialects.shell.grammar import MAX_LINE_BYTES
from trunkline.dialects.shell.verbs import VERBS
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
_GRAVE: Final = rank("high")
_STARTS_IN: Final[dict[str, tuple[str, ...]]] = {
    "env": ("-C", "-iC", "-vC", "-0C", "-ivC", "-viC", "--chdir"),
    "sudo": ("-D", "--chdir", "-R", "--chroot"),
    "run0": ("-D", "--chdir"),
    "bwrap": ("--chdir",),
    "nsenter": ("--wd", "--wdns"),
    "unshare": ("-w", "--wd"),
    "systemd-run": ("--working-directory",),
    "start-stop-daemon": ("-d", "--chdir"),
    "uv": ("--directory",),
    "poetry": ("-C", "--directory"),
    "pdm": ("-p", "--project"),
    "conda": ("--cwd",),
    "pnpm": ("-C", "--dir"),
    "yarn": ("--cwd",),
    **dict.fromkeys((*CONTAINERS, "buildah", "ctr", "crictl"), ()),
}
"""Options by which a program that starts another chooses its folder; none: it is a container's."""
_UNSHARED: Final = 4
_CONTAINER: Final = Places.of("/", ("/",), None)
"""Where a container's program stands: all that it sees is the container's."""
_SUBSTITUTED_IN: Final = frozenset(("$(…)", "<(…)", ">(…)"))
_SUBSCRIPT: Final = re.compile(r"\[[^\[\]]*(\$\(|`)")
_SUBSTITUTED: Final = re.compile(r"\$\(\s*([\w/.][^()]*)|`\s*([\w/.][^`]*)")
_SUBSTITUTIONS: Final = 16
"""Of a line that are looked at."""
_EVALUATES_NAMES: Final = frozenset(
    {"let", "((", "test", "[", "[[", "printf", "declare", "typeset", "local", "read", "unset", "export", "readonly", "wait",
     "mapfile", "readarray", "getopts", "print", "vared", "ulimit", "return", "shift", "exit"}
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
        scripts = [(script, call.places) for call in calls for script in call.scripts]
        scripts += [(script, places) for script in piped_scripts(calls)]
        for script, where in dict.fromkeys(scripts[:_MAX_SCRIPTS]):
            findings.extend(finding for finding in line_findings(script, where, depth + 1)
                            if finding.level != "medium" or finding.unsure)
        findings.extend(finding for call in calls for text in call.brought for finding in _brought(text, call.places, depth + 1))
    return findings


def _brought(text: str, places: Places, depth: int) -> list[Finding]:
    """What is high, or not sure, in words that may be a line. That they cannot be read as one says nothing."""
    calls = _calls(parse_shell(text), places)
    found = [finding for call in calls if call.name for finding in call.findings] + flow_findings(calls)
    if depth < _MAX_SCRIPTS_DEPTH:
        scripts = [script for call in calls for script in call.scripts][:_MAX_SCRIPTS]
        found += [finding for script in scripts for finding in line_findings(script, places, depth + 1)]
        found += [one for call in calls for inner in call.brought for one in _brought(inner, call.places, depth + 1)]
    return [finding for finding in found if rank(finding.level) >= _GRAVE or finding.unsure]


def _calls(parsed: ParsedLine, places: Places) -> list[ProgramCall]:
    """The commands of a line, each judged where it stands."""
    calls: list[ProgramCall] = []
    standing = Standing(places, parsed.bound, moves=goes_elsewhere(parsed.commands))
    moved: dict[int, Places] = {}
    lent = lenders(parsed.commands)
    sent_on = False
    for command, ran in zip(parsed.commands, line_runs(parsed.commands), strict=True):
        if command.parent in moved and command.inside not in _SUBSTITUTED_IN:
            standing.begin(command.scope, moved[command.parent])
        feeders = tuple(calls[max(command.stdin_from, len(calls) - FEEDERS):]) if command.stdin_from >= 0 else ()
        call = _judged(command, standing, feeders, lent.get(len(calls), ()), sent_on)
        sent_on = sent_on or any(map(sends_on, command.sets))
        for text in ran if ran is not UNKNOWN else ():
            call.script(text)
        if (there := _starts_in(call)) is not None:
            moved[len(calls)] = there
        calls.append(call)
        standing.follow(call)
    return calls


def _starts_in(call: ProgramCall) -> Places | None:
    """Where a command starts what it runs (``env -C x ls``), if that is not where it stands itself. A container that is given
    nothing of the machine has paths of its own."""
    options = _STARTS_IN.get(call.name)
    if options == ():
        if "unshare" in call.args[:_UNSHARED]:
            return None  # it only takes other rights, and stays where it is
        return _CONTAINER if not any([rank(finding.level) >= _GRAVE for finding in call.findings]) else None
    if options is None or call.bare:
        return None
    folder = call.value(*options)
    if folder is None:
        return None
    return call.places.moved(folder if folder and folder[:1] not in ("$", "`") else None)


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


def _read_otherwise(call: ProgramCall, program: Program) -> None:
    """The call again, without the options before its sub-command: which word that is may not be sure, and the worst counts."""
    command = call.command
    for reading in readings((program.name, *command.sketch[1:])):
        read = structs.replace(command, words=tuple([command.words[at] for at in reading.places]),
                               sketch=tuple([command.sketch[at] for at in reading.places]))
        other = ProgramCall(read, call.places, call.name, feeders=call.feeders, lenders=call.lenders, sent_on=call.sent_on,
                            values=call.values)
        program.judge(other)
        known = max([rank(finding.level) for finding in call.findings], default=-1)
        for finding in other.findings:
            if rank(finding.level) > known:
                call.note(finding.level, finding.reason)
        call.traits |= other.traits


def _judged(command: SimpleCommand, standing: Standing, feeders: tuple[ProgramCall, ...], lent: tuple[SimpleCommand, ...],
            sent_on: bool) -> ProgramCall:
    """One command with the notes of its judge."""
    command = standing.settled(command)
    if len(command.words) > 1 and (first := command.words[0]) is not None and (first[:1] in "pPiI" or "/" in first):
        command = apart(command)
    words, places = command.words, standing.at(command.scope)
    first = words[0] if words else None
    if first is None:
        call = ProgramCall(command, places, "", values=standing.values)
        for assignment in command.assignments:
            call.assign(assignment)
        if words:
            call.traits |= Trait.EXECUTES
            call.note("high", "the command's name is only known when it runs", command.text)
    else:
        program = program_of(first)
        call = ProgramCall(command, places, program.name, feeders=feeders, lenders=lent, sent_on=sent_on,
                           values=standing.values)
        for assignment in command.sets:
            call.assign(assignment)
        if not program.is_ascii:
            call.note("high", "the command's name has unusual letters", command.name or "")
        elif call.name in _EVALUATES_NAMES and any(_SUBSCRIPT.search(word) for word in (
                command.sketch[1:] if command.computes else words) if word):
            call.note("high", "hides a command in an array index", command.text)
        program.judge(call)
        if len(words) > 2 and program.name in VERBS:
            _read_otherwise(call, program)
        note_raised(call)
        note_handed(call, program.is_unknown)
        names_path = _may_name_path(call)
        if names_path:
            note_outside(call, program.judge is not run_file)
        if program.runs_tasks:
            note_lost(call)
            if program.empties:
                note_emptied(call, not program.runs_script)
            note_console(call)
            note_released(call)
        if program.takes_lines and (len(words) > 1 or program.is_unknown or command.stdin_from >= 0 or command.redirects):
            _note_words(call, program)
        if names_path:
            note_loaded(call, program.may_build, program.runs_script)
        if not call.bare:
            note_debugger(call)
            note_outputs(call)
        if not places.calm:
            note_elsewhere(call)
        if command.computes:
            call.at_least("medium", "computes what only the run knows, which may run commands", command.text)
    for redirect in command.redirects:
        _note_redirect(call, redirect)
    return call


def _note_words(call: ProgramCall, program: Program) -> None:
    """Note what a program may do with its words of which nobody here knows what it does with them."""
    if program.may_build or program.judge is run_file:
        note_settings(call)
    if may_run_words(program, call.args):
        note_brought(call)
        note_losses(call)
        if program.is_unknown:
            note_evaluated(call)
    elif program.runs_script and call.runs and (
            program.judge is run_file or len(call.args) > 1 or call.command.redirects or call.command.stdin_from >= 0):
        note_brought(call)


def _may_name_path(call: ProgramCall) -> bool:
    """Whether a word of a call can be a path that leads out of its folder: whoever looks for one need not look at the others."""
    words = " ".join(call.args)
    return "/" in words or "~" in words or ".." in words or "$" in words


def _note_redirect(call: ProgramCall, redirect: Redirect) -> None:
    if redirect.writes or redirect.reads:
        (call.write if redirect.writes else call.read)(redirect.sketch)
    if redirect.sketch.startswith(("/dev/tcp/", "/dev/udp/")):
        call.traits |= Trait.SENDS | Trait.FETCHES
