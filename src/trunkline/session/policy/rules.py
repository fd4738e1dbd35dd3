"""One rule of the policy, and whether it is about what an agent wants to do.

Rule 1: pure. Time arrives with the question; paths are judged by their spelling.
Rule 2: allow is read narrowly, ask and deny broadly. To be allowed, *every* command of a line and *every* path must fit, and what
only the shell can know (variables, substitutions, redirections into files) never does. To be denied, *one* is enough.
Rule 3: an allow rule covers low and medium risk; high and critical only where it names them.
Rule 4: what touches the hub's own files (``guarded``) is never allowed by a rule.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.errors import Invalid
from trunkline.session.policy import globs
from trunkline.session.policy.behind import Behind, behind
from trunkline.session.policy.commands import (
    ANYTHING,
    as_written,
    behind_variables,
    bundle_ends,
    doubt,
    glob_outline,
    inside,
    mentions,
    moves,
    only_reads_line,
    outline,
    path_outline,
    pieces,
    spellings,
    values,
)
from trunkline.session.policy.globs import Place
from trunkline.session.policy.hidden import TEXTS, hidden, runs_unknown, without_options
from trunkline.session.policy.names import fed_outlines
from trunkline.session.policy.options import changing, unnamed

if TYPE_CHECKING:
    from trunkline.dialects.shell import ParsedLine, SimpleCommand

Action = Literal["allow", "ask", "deny"]
UNNAMED_RISKS: tuple[RiskLevel, ...] = ("low", "medium")
"""What an allow rule covers that names no risk."""

COMMAND_CHARS = 64 << 10
"""A longer command is not parsed: nothing but its exact text allows it."""


WORDS = 300
"""Words of a command that are looked at as paths; what has more may be about any path."""
BASES = 9
"""Folders that a line goes to, one after the other; what goes to more may be about any path."""
BUNDLE_ENDS = 600
"""Ends of bundles of short options that are looked at as paths; what has more may be about any path."""
_SHOWN = 80
CHANGES = "changes what is run, and its pattern does not name that"
"""Said of an option that no pattern covers by a wildcard."""
_FED = "it takes names that come from elsewhere, and one of them may match"
_OPEN = "only what runs it knows whether it matches"


class PolicyAsk(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What an agent wants to do, as far as a policy cares. ``paths`` are as the agent wrote them, or real ones."""

    tool: str
    category: ToolCategory
    told_as: ToolCategory | None = None
    """The category that events tell, where rules hold another one against the call as well."""
    """The category in the call's events, where it is another than what the call is judged as."""
    agent: str
    risk: RiskLevel
    paths: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    """Globs among the paths, and patterns that may be globs: what they find is not named, but a rule may be about it."""
    command: str | None = None
    claimed: str = ""
    """What only a title says that it runs: rules that ask or deny look at it, no rule allows by it."""
    root: str
    session_id: str = ""
    turn_id: str | None = None
    cwd: str | None = None
    """Where a command runs; the root, where absent."""
    roots: tuple[str, ...] = ()
    """Further folders of the session: inside, but no pattern is relative to them."""
    home: str | None = None
    guarded: tuple[str, ...] = ()
    """The hub's own folders, which no rule opens."""
    risk_reason: str = ""
    """Why the risk is what it is, for people."""
    doubts: tuple[str, ...] = ()
    """What is not sure about it, for people: no rule allows it then but one that is this very command."""
    only_looks: bool = False
    """Whether nothing in it contradicts that it reads or searches."""
    input: str = ""
    """The exact input (``asks.input_print``), where neither a command nor paths say all that is asked for."""


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
    expires_at: str | None = None
    session: str | None = None
    turn: str | None = None
    saved_by: str | None = None
    """Who decided it for longer than once; limits nothing."""
    reason: str | None = None
    id: str | None = None


class Fit(NamedTuple):
    """Whether a rule is about an ask; ``why`` says what stands against it. ``maybe``: only the shell knows."""

    ok: bool
    why: str = ""
    maybe: bool = False


class Subject:
    """An ask, looked at once for all rules: its places and its parsed command."""

    def __init__(self, ask: PolicyAsk) -> None:
        self.ask = ask

    @cached_property
    def claimed(self) -> Subject | None:
        """The ask as its title has it, where only that says what it runs."""
        return Subject(replace(self.ask, command=self.ask.claimed, claimed="")) if self.ask.claimed else None

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where the paths of the ask lie, and the folder its command runs in."""
        ask = self.ask
        folder = () if ask.command is None else (ask.cwd or ask.root,)
        return tuple(globs.place(path, ask.root, ask.home) for path in (*ask.paths, *folder))

    @cached_property
    def parsed(self) -> ParsedLine | None:
        """The command line's simple commands; None without a command, or with one too long to look at."""
        if self.ask.command is None or len(self.ask.command) > COMMAND_CHARS:
            return None
        from trunkline.dialects.shell import parse_shell  # only who asks for a command needs the parser

        return parse_shell(self.ask.command)

    @cached_property
    def commands(self) -> tuple[SimpleCommand, ...]:
        """The simple commands that could be read."""
        return self.parsed.commands if self.parsed is not None else ()

    @cached_property
    def is_whole(self) -> bool:
        """Whether ``commands`` is all that the line runs."""
        return self.ask.command is None or (self.parsed is not None and self.parsed.complete)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        """Every word of the command that may be a path."""
        ask = self.ask
        found = [*mentions(self.commands, ask.home), *(self.parsed.tested if self.parsed is not None else ())]
        if not self.is_whole and ask.command is not None:
            found += ask.command[:COMMAND_CHARS].split()
        return tuple(dict.fromkeys(values(found)))[:WORDS + 1]

    @cached_property
    def base(self) -> str:
        """Where a relative path in the command begins."""
        return posixpath.join(self.ask.root, self.ask.cwd or "")

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """Where relative paths in the command may begin: where it runs, and each folder that it goes to."""
        ask, found = self.ask, [self.base]
        for folder in moves(self.commands):
            gone = [globs.place(folder, ask.root, ask.home, base).absolute for base in found]
            found = list(dict.fromkeys((*found, *gone)))[:BASES]
            if len(found) == BASES:
                break
        return tuple(found)

    @cached_property
    def mentioned(self) -> tuple[Place, ...]:
        """Every place that is named: by the paths, and by each word of the command read as a path."""
        ask, elsewhere = self.ask, self.bases[1:]
        named = [globs.place(word, ask.root, ask.home, self.base) for word in self._words]
        relative = [word for word in self._words if word[:1] not in ("/", "~", "-", "")] if elsewhere else ()
        return (*self.places, *named, *(globs.place(word, ask.root, ask.home, base) for base in elsewhere for word in relative))

    @cached_property
    def may_be_named(self) -> tuple[Place, ...]:
        """Places that the end of a bundle of options may be (``-czfsecrets``)."""
        ask = self.ask
        return tuple(globs.place(end, ask.root, ask.home, self.base) for end in dict.fromkeys(self._ends))

    @cached_property
    def _ends(self) -> list[str]:
        """Ends of bundles, each as often as it stands there: of those that are the same, the last may not be looked at."""
        return list(islice(bundle_ends(self._words), BUNDLE_ENDS))

    @cached_property
    def fed(self) -> tuple[str, ...]:
        """Patterns of the names that come out of a pipe, a list or ``find``."""
        return tuple(dict.fromkeys(fed_outlines(self.commands, self.base, self.ask.home)))

    @cached_property
    def path_outlines(self) -> tuple[str, ...]:
        """Patterns of the places that are not named but may be meant."""
        ask = self.ask
        hidden = list(dict.fromkeys(piece for word in self._words for piece in inside(word)))
        if not self.is_whole or len(self._words) + len(hidden) > WORDS or len(self._ends) >= BUNDLE_ENDS:
            return (ANYTHING,)
        with_hidden = any("dotglob" in word or "globdots" in word.replace("_", "").lower() for word in self._words)
        if len(self.bases) >= BASES:
            return (ANYTHING,)
        found = [path_outline(word, base, ask.home, with_hidden) for base in self.bases for word in self._words]
        found += self._glob_outlines
        named = [globs.escape(globs.place(piece, ask.root, ask.home, self.base).absolute) for piece in hidden]
        return tuple(dict.fromkeys((*(one for one in found if one is not None), *named)))

    @cached_property
    def _glob_outlines(self) -> list[str | None]:
        """What the globs may find, and what only may be a glob as it is written."""
        ask = self.ask
        unsure = [globs.escape(path) for path in ask.globs if path not in ask.paths]
        return [*unsure, *(glob_outline(globs.place(path, ask.root), ask.root) for path in ask.globs)]

    @cached_property
    def behind(self) -> dict[int, Behind]:
        """What stands behind the commands, by their identity."""
        return dict(zip(map(id, self.commands), behind(self.commands), strict=True))

    def runs_unknown(self, one: SimpleCommand) -> bool:
        """Whether a command of the line may run what its words do not say."""
        return runs_unknown(one) or self.behind[id(one)].unknown

    def hidden_in(self, one: SimpleCommand) -> Iterator[str]:
        """What a command of the line may run in turn."""
        yield from hidden(one)
        yield from self.behind[id(one)].texts

    @cached_property
    def outlines(self) -> tuple[str, ...]:
        """Patterns of the commands that only the shell knows in full."""
        if not self.is_whole or len(self.hidden) > TEXTS or any(map(self.runs_unknown, self.commands)):
            return ("*",)
        found = [outline(one) for one in self.commands]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """What the commands of the line may run in turn, as far as it is in their words."""
        return tuple(islice((text for one in self.commands for text in self.hidden_in(one)), TEXTS + 1))

    @cached_property
    def spellings(self) -> tuple[list[str], ...]:
        """Each simple command in every way that a rule may have written it; the whole line comes last."""
        line = self.ask.command
        if line is None:
            return ()
        rough = [] if self.is_whole else [[piece] for piece in dict.fromkeys(pieces(line[:COMMAND_CHARS]))]
        return (*map(self.every_spelling, self.commands), *rough, [" ".join(line.split()), line])

    def every_spelling(self, one: SimpleCommand) -> list[str]:
        """A command of the line in every way that a rule may have written it, other names of it included."""
        bare = without_options(one)
        return [*spellings(one), *([bare] if bare is not None else []), *self.behind[id(one)].names]

    @cached_property
    def guarded(self) -> str:
        """The hub's own folder that this touches, or nothing. Who changes a folder above it changes it as well."""
        ask = self.ask
        changes = ask.category not in ("file_read", "search")
        named = self.mentioned if ask.command is None else (*self.places[:-1], *self.mentioned[len(self.places):])
        for folder in map(globs.clean, ask.guarded):
            pattern = [globs.escape(folder)]
            if any(globs.path_concerned(pattern, where) or (changes and _holds(where.absolute, folder)) for where in named):
                return folder
            if any(globs.path_may_match(pattern, one, ask.root) for one in self.path_outlines if one != ANYTHING):
                return folder
        return ""


def _holds(folder: str, path: str) -> bool:
    return globs.relative_to(globs.folded(path), globs.folded(folder)) is not None


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
        return Fit(False, "it is for another turn")
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
    return (ask.category,) if ask.told_as is None else (ask.category, ask.told_as)


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
    if any(globs.text_concerned(rule.command, spelled) for spelled in subject.spellings):
        return Fit(True)
    for text in subject.hidden:
        if globs.text_concerned(rule.command, [text]):
            return Fit(False, f"it may run `{text[:_SHOWN]}`", True)
    if any(globs.text_may_match(rule.command, one) for one in subject.outlines):
        return Fit(False, _OPEN, True)
    return Fit(False, "no command in it matches")


def _path_concerned(rule: Rule, subject: Subject) -> Fit:
    """One path is enough, wherever it is named; what is not named may be it."""
    ask = subject.ask
    if any(globs.path_concerned(rule.path, where, ask.home) for where in subject.mentioned):
        return Fit(True)
    if any(globs.path_may_match(rule.path, one, ask.root, ask.home) for one in subject.fed):
        return Fit(False, _FED, True)
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
    if subject.guarded:
        return Fit(False, f"it touches the hub's own {subject.guarded}, which no rule allows")
    return Fit(not subject.ask.doubts, f"it is not sure what this does: {', '.join(subject.ask.doubts[:2])}")


def _says_less(rule: Rule, ask: PolicyAsk) -> bool:
    """Whether a rule by tools or paths says nothing of what the call does beside what its tool is for: a read with a command."""
    if rule.category or rule.command or ask.only_looks or "*" in rule.tool or not (rule.tool or rule.path):
        return False
    return ask.told_as is not None and ask.told_as != ask.category


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
    for index, one in enumerate(commands):
        unsure = doubt(one)
        if unsure:
            return Fit(False, unsure)
        if only_reads_line(commands, index) and not _excludes(excluded, one, subject):
            continue  # what it reads is in the line, and has to be covered
        fit = _command_allowed(patterns, one, subject)
        if not fit.ok:
            return fit
    return Fit(True)


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
        globs.text_matches(pattern, text, fold=True) for text in (*subject.every_spelling(one), *subject.hidden_in(one))
        for pattern in excluded))


def _covered_by(patterns: list[str], one: SimpleCommand, subject: Subject) -> Fit:
    """Whether one of the patterns matches a command and names each option in it that changes what is run."""
    text, missing = as_written(one), ""
    written = {text, behind_variables(one)}
    for pattern in patterns:
        if any(globs.text_matches(pattern, each) for each in written):
            absent = unnamed(pattern, changing(one, subject.ask.root, subject.base, subject.ask.home))
            if not absent:
                return Fit(True)
            missing = missing or absent
    return Fit(False, f"`{missing}` {CHANGES}: `{text}`" if missing else f"`{text}` is not in its commands")


def paths_inside(subject: Subject) -> bool:
    """Whether every path is beyond doubt in a folder of the session."""
    ask = subject.ask
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
