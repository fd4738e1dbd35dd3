"""One rule of the policy, and whether it is about what an agent wants to do.

Rule 1: pure. Time arrives with the question; paths are judged by their spelling.
Rule 2: allow is read narrowly, ask and deny broadly. To be allowed, *every* command of a line and *every* path must fit, and what
only the shell can know (variables, substitutions, redirections into files) never does. To be denied, *one* is enough.
Rule 3: an allow rule covers low and medium risk; high and critical only where it names them.
Rule 4: what touches the hub's own files (``guarded``) is never allowed by a rule.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec import Struct

from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.errors import Invalid
from trunkline.session.policy import globs
from trunkline.session.policy.commands import (
    as_written,
    behind_variables,
    doubt,
    goes_back,
    only_prints,
    only_reads_line,
)
from trunkline.session.policy.options import changing, unnamed
from trunkline.session.policy.subject import PolicyAsk, Subject
from trunkline.session.policy.synonyms import is_meant

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

Action = Literal["allow", "ask", "deny"]
UNNAMED_RISKS: tuple[RiskLevel, ...] = ("low", "medium")
"""What an allow rule covers that names no risk."""

_SHOWN = 80
CHANGES = "changes what is run, and its pattern does not name that"
"""Said of an option that no pattern covers by a wildcard."""
UNSURE = "only a rule that names the command allows what is not sure"
"""Said of a change of which only the run knows where it is."""
_FED = "it takes names that come from elsewhere, and one of them may match"
_BELOW = "it goes through all of a folder, and what may match is below that"
_OPEN = "only what runs it knows whether it matches"


class Rule(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Allow, ask or deny what fits every list that is not empty; ``session``, ``turn`` and ``expires_at`` bound its life."""

    action: Action
    category: list[ToolCategory] = []
    tool: list[str] = []
    path: list[str] = []
    command: list[str] = []
    agent: list[str] = []
    risk: list[RiskLevel] = []
    input: str | None = None
    """Only a call with exactly this input: what people allowed for longer that has no command and no path of its own."""
    root: str | None = None
    node: list[str] = []
    """Only at these nodes of a cluster; which those are is known before rules are held against anything (``Policy.for_node``)."""
    expires_at: str | None = None
    session: str | None = None
    turn: str | None = None
    saved_by: str | None = None
    """Who decided it for longer than once; limits nothing."""
    reason: str | None = None
    id: str | None = None


_OF_FILES: Final = frozenset(("file_read", "file_write", "file_edit"))


class Fit(NamedTuple):
    """Whether a rule is about an ask; ``why`` says what stands against it. ``maybe``: only the shell knows."""

    ok: bool
    why: str = ""
    maybe: bool = False


def fits(rule: Rule, subject: Subject, now_us: int) -> Fit:
    """Whether this rule, in force now, is about this ask."""
    in_force = _in_force(rule, subject.ask, now_us)
    if not in_force.ok:
        return in_force
    return _allows(rule, subject) if rule.action == "allow" else _concerns(rule, subject)


def expiry_us(stamp: str) -> int:
    """A time of the policy in microseconds; it must say its time zone."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        raise Invalid(f"{stamp!r} is not a time such as 2026-01-31T18:00:00Z") from None
    if moment.tzinfo is None:
        raise Invalid(f"{stamp!r} does not say its time zone; write Z or an offset at its end")
    try:
        return round(moment.astimezone(UTC).timestamp() * 1_000_000)
    except (OverflowError, ValueError):
        raise Invalid(f"{stamp!r} is no time that a clock can show") from None


def expired(rule: Rule, now_us: int) -> bool:
    """Whether the rule's time is over. One whose time cannot be read is over if it allows, and stands if it does not."""
    if rule.expires_at is None:
        return False
    try:
        return expiry_us(rule.expires_at) <= now_us
    except Invalid:
        return rule.action == "allow"


def _in_force(rule: Rule, ask: PolicyAsk, now_us: int) -> Fit:
    if expired(rule, now_us):
        return Fit(False, f"it expired at {rule.expires_at}")
    if rule.session is not None and rule.session != ask.session_id:
        return Fit(False, "it is for another session")
    if rule.turn is not None and rule.turn != ask.turn_id:
        return Fit(False, "it is for another message")
    if rule.root is not None and not _is_root(rule.root, ask):
        return Fit(False, f"it is for sessions in {rule.root}")
    if rule.category and not _is_category(rule, ask):
        return Fit(False, f"it is about {_listed(rule.category)}, not {_listed(_categories(ask))}")
    if rule.tool and not globs.text_listed(rule.tool, ask.tool):
        return Fit(False, f"it is about the tool {_listed(rule.tool)}")
    if rule.agent and not globs.text_listed(rule.agent, ask.agent):
        return Fit(False, f"it is about the agent {_listed(rule.agent)}")
    if rule.input is not None and rule.input != ask.input:
        return Fit(False, "it is about another input of this tool")
    return Fit(True)


def _is_category(rule: Rule, ask: PolicyAsk) -> bool:
    """Whoever writes a rule may have either category in mind: one is enough to restrict, and to allow it must be both."""
    return (all if rule.action == "allow" else any)(category in rule.category for category in _categories(ask))


def _categories(ask: PolicyAsk) -> tuple[ToolCategory, ...]:
    return (ask.category,) if ask.shown_category is None else (ask.category, ask.shown_category)


def _is_root(pattern: str, ask: PolicyAsk) -> bool:
    """The session's folder itself, or, with a wildcard, what the pattern says."""
    absolute = globs.place(pattern, "/", ask.home).absolute
    if globs.literal(pattern) is not None:
        return absolute == globs.clean(ask.root)
    return globs.path_allowed([absolute], globs.place(ask.root, "/"))


def _concerns(rule: Rule, subject: Subject) -> Fit:
    """Ask and deny: one command and one path are enough, also where only a title claims them."""
    fit = _concerns_ask(rule, subject)
    if fit.ok or subject.claimed is None:
        return fit
    by_title = _concerns_ask(rule, subject.claimed)
    return by_title if by_title.ok or not fit.maybe else fit


def _concerns_ask(rule: Rule, subject: Subject) -> Fit:
    ask = subject.ask
    if rule.risk and ask.risk not in rule.risk:
        return Fit(False, f"it is about {_listed(rule.risk)} risk, and this is {ask.risk}")
    found = [part for part in (_command_concerned(rule, subject) if rule.command else Fit(True),
                               _path_concerned(rule, subject) if rule.path else Fit(True)) if not part.ok]
    return next((part for part in found if not part.maybe), found[0] if found else Fit(True))


def _command_concerned(rule: Rule, subject: Subject) -> Fit:
    """One command is enough, in any of its spellings; what may be run in turn may be it."""
    *each, whole = subject.spellings or ([],)
    if any(_means(rule.command, one) for one in each) or (whole and globs.text_concerned(rule.command, whole)):
        return Fit(True)
    for text in subject.hidden:
        if _means(rule.command, [text, *subject.in_other_words([text])]):
            return Fit(False, f"it may run `{text[:_SHOWN]}`", True)
    if any(globs.text_may_match(rule.command, one) for one in subject.outlines):
        return Fit(False, _OPEN, True)
    return Fit(False, "no command in it matches")


def _means(patterns: list[str], spelled: list[str]) -> bool:
    """Whether a pattern is about a command in one of these spellings, or with its options in another order."""
    if globs.text_concerned(patterns, spelled):
        return True
    included, excluded = globs.split(patterns)
    return any(is_meant(pattern, text) for pattern in included for text in spelled) and not any(
        globs.text_matches(pattern, spelled[0]) for pattern in excluded)


def _path_concerned(rule: Rule, subject: Subject) -> Fit:
    """One path is enough, wherever it is named; what is not named may be it."""
    ask = subject.ask
    if any(globs.path_concerned(rule.path, where, ask.home) for where in subject.mentioned):
        return Fit(True)
    if any(globs.path_may_match(rule.path, one, ask.root, ask.home) for one in subject.fed):
        return Fit(False, _FED, True)
    if any(globs.begins_below(rule.path, one.folder, ask.root, ask.home, one.without) for one in subject.gone_through):
        return Fit(False, _BELOW, True)
    if any(globs.path_concerned(rule.path, where, ask.home) for where in subject.may_be_named) or any(
            globs.path_may_match(rule.path, one, ask.root, ask.home) for one in subject.path_outlines):
        return Fit(False, _OPEN, True)
    return Fit(False, "no path in it matches")


def _allows(rule: Rule, subject: Subject) -> Fit:
    """Allow: every command, every path, the risk by its name where it is high."""
    for part in (command_covered(rule.command, subject) if rule.command else Fit(True),
                 _paths_covered(rule.path, subject), _risk_covered(rule, subject.ask)):
        if not part.ok:
            return part
    if _says_less(rule, subject.ask):
        return Fit(False, "it names a tool or paths, and this is a call that does more than that tool is for")
    if _names_no_file(rule, subject):
        return Fit(False, "it does not say which file it is about")
    if subject.guard:
        return Fit(False, f"it touches {subject.guard}, which no rule allows")
    if subject.unsure and not rule.command:
        return Fit(False, f"{UNSURE}: {subject.unsure}")
    return Fit(not subject.ask.doubts, f"it is not sure what this does: {', '.join(subject.ask.doubts[:2])}")


def _names_no_file(rule: Rule, subject: Subject) -> bool:
    """Whether a read or a write names nothing; a rule for exactly this input is about it all the same."""
    ask = subject.ask
    return ask.category in _OF_FILES and ask.command is None and rule.input is None and not subject.places and not ask.globs


def _says_less(rule: Rule, ask: PolicyAsk) -> bool:
    """Whether a rule by tools or paths says nothing of what the call does beside what its tool is for: a read with a command."""
    if rule.category or rule.command or ask.only_looks or "*" in rule.tool or not (rule.tool or rule.path):
        return False
    return ask.shown_category is not None and ask.shown_category != ask.category


def _risk_covered(rule: Rule, ask: PolicyAsk) -> Fit:
    if ask.risk in (rule.risk or UNNAMED_RISKS):
        return Fit(True)
    if rule.risk:
        return Fit(False, f"it is about {_listed(rule.risk)} risk, and this is {ask.risk}")
    return Fit(False, f"the risk is {ask.risk}, and only a rule that names it (risk = [\"{ask.risk}\"]) allows that")


def command_covered(patterns: list[str], subject: Subject) -> Fit:
    """Whether every simple command of the line is in the patterns, or the whole line is one of them, word for word."""
    ask = subject.ask
    if ask.command is None:
        return Fit(False, "it is about commands, and this is none")
    included, excluded = globs.split(patterns)
    if any(globs.literal_text(pattern) == ask.command for pattern in included):
        return Fit(not _is_excluded(excluded, subject), "it excludes a command in it")
    if subject.parsed is None or not subject.parsed.complete or not subject.parsed.commands:
        return Fit(False, "the command cannot be read for sure")
    commands = subject.parsed.commands
    is_more = not all([only_prints(commands, index) for index in range(len(commands))])
    behind: dict[int, list[str]] = {}
    """By the place of a command that another one starts: what the patterns for that one say of it."""
    for index, one in enumerate(commands):
        known = [*patterns, *behind.setdefault(index, _behind_starter(included, behind, commands, index))]
        if is_more and only_prints(commands, index) and not _excludes(excluded, one, subject):
            continue
        unsure = doubt(one)
        if unsure:
            return Fit(False, unsure)
        if goes_back(commands, index):
            return Fit(False, "it goes to a folder that only the shell knows")
        if only_reads_line(commands, index) and not _excludes(excluded, one, subject):
            continue  # what it reads is in the line, and has to be covered
        fit = _command_allowed(known, one, subject)
        if not fit.ok:
            return fit
    return Fit(True)


def _behind_starter(patterns: list[str], behind: dict[int, list[str]], commands: Sequence[SimpleCommand],
                    index: int) -> list[str]:
    """What patterns for a command that starts this one say of it: of ``npx jest*`` it is ``jest*``. One that does not have its
    name in it (``npx *``) says nothing of it."""
    one = commands[index]
    if one.parent < 0 or not one.text or not commands[one.parent].text.endswith(f" {one.text}"):
        return []
    starter = commands[one.parent].text[:-len(one.text) - 1]
    name = one.text.partition(" ")[0]
    ends = [(pattern[:at], pattern[at + 1:]) for pattern in (*patterns, *behind.get(one.parent, ()))
            for at, sign in enumerate(pattern) if sign == " "]
    return [end for begin, end in ends if end.startswith(name) and globs.text_matches(begin, starter)]


def _is_excluded(excluded: list[str], subject: Subject) -> bool:
    """Whether an exclusion is about the line or, as far as that is known, about a command in it."""
    return any(globs.text_matches(pattern, one, fold=True) for pattern in excluded for spelled in subject.spellings
               for one in spelled)


def _command_allowed(patterns: list[str], one: SimpleCommand, subject: Subject) -> Fit:
    """The text as written, or behind harmless variables, is in the patterns, and so is each option that changes what is run;
    neither a spelling of it nor what it may run in turn is excluded."""
    included, excluded = globs.split(patterns)
    covered = _covered_by(included, one, subject)
    if covered.ok and _excludes(excluded, one, subject):
        return Fit(False, f"`{as_written(one)}` may be what it excludes")
    return covered


def _excludes(excluded: list[str], one: SimpleCommand, subject: Subject) -> bool:
    """Whether an exclusion is about a command, or may be about what that runs in turn."""
    return bool(excluded) and (subject.runs_unknown(one) or any(
        globs.text_matches(pattern, text, fold=True) or is_meant(pattern, text)
        for text in (*subject.every_spelling(one), *subject.hidden_in(one)) for pattern in excluded))


def _covered_by(patterns: list[str], one: SimpleCommand, subject: Subject) -> Fit:
    """Whether one of the patterns matches a command and names each option in it that changes what is run."""
    text, missing = as_written(one), ""
    written, climbs = {text, behind_variables(one)}, _worked_out(one)
    for pattern in patterns:
        if any(globs.text_matches(pattern, each) for each in written) and (not climbs or globs.text_matches(pattern, climbs)):
            absent = unnamed(pattern, changing(one, subject.ask.root, subject.base, subject.ask.home))
            if not absent:
                return Fit(True)
            missing = missing or absent
    return Fit(False, f"`{missing}` {CHANGES}: `{text}`" if missing else f"`{text}` is not in its commands")


def _worked_out(one: SimpleCommand) -> str:
    """A command with its paths worked out, where one of them goes up again: to ``scripts/*`` a ``scripts/../x`` is ``x``. Empty
    where none does."""
    words = [word or "" for word in one.words]
    if not any("/.." in word for word in words):
        return ""
    return " ".join(f"./{clear}" if word.startswith("./") and clear[:2] != ".." else clear
                    for word in words for clear in [posixpath.normpath(word) if "/.." in word else word])


def paths_inside(subject: Subject) -> bool:
    """Whether every path is beyond doubt in a folder of the session."""
    ask = subject.ask
    if not all(where.inside for where in subject.within_paths):
        return False
    return all(where.inside or (where.plain and any(globs.relative_to(where.absolute, root) is not None for root in ask.roots))
               for where in subject.places)


def _paths_covered(patterns: list[str], subject: Subject) -> Fit:
    if not patterns:
        return Fit(True) if paths_inside(subject) else Fit(False, "a path in it is outside the session's folders")
    if not subject.places:
        return Fit(False, "it is about paths, and none is known")
    for where in subject.places:
        if not (globs.path_allowed(patterns, where) or globs.path_named(patterns, where)):
            return Fit(False, f"{where.relative or where.absolute} is not in its paths")
    return Fit(True)


def _listed(words: Iterable[str]) -> str:
    return " or ".join(words)
