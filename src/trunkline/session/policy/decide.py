"""The policy: who decides when an agent wants to do something. A pure function of the ask, the rules and the time.

    deny rules, of the session and of the file     one that fits is the end of it
    the session's rules, in order                  the first that fits allows, or asks a person
    the file's rules, in order                     the same
    the permission policy                          the session's, else the file's: reads, writes, commands, searches
    nobody                                         a person is asked

In a cluster the rules are the cluster's, and those of the node's own file come behind them (``stricter``): they can turn what was
allowed into an ask or a denial, and never the other way. What they say nothing about is as the cluster says.

Rule 1: no I/O and no clock (``file.py`` has the file, ``rules.py`` what fits, ``asks.py`` what is asked).
Rule 2: in doubt a person is asked. Nothing here allows what it does not understand.
Rule 3: every verdict says which rule decided, and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from trunkline.dialects.context.types import PermissionPolicy, ToolCategory
from trunkline.errors import Invalid
from trunkline.session.policy import globs
from trunkline.session.policy.asks import policy_ask
from trunkline.session.policy.rules import (
    CHANGES,
    UNNAMED_RISKS,
    UNSURE,
    Action,
    Fit,
    Rule,
    command_covered,
    expired,
    fits,
    paths_inside,
)
from trunkline.session.policy.subject import PolicyAsk, Subject

__all__ = [
    "Action",
    "Considered",
    "Policy",
    "PolicyAsk",
    "Rule",
    "Scope",
    "Verdict",
    "VerdictSource",
    "always_rule",
    "expired",
    "policy_ask",
]

VerdictSource = Literal["policy file", "cluster policy", "session", "permission policy", "default"]
Scope = Literal["turn", "session", "always"]
_NAMES_SOMETHING: frozenset[ToolCategory] = frozenset({"terminal", "git", "file_write", "file_edit", "other"})
_WRITES: frozenset[ToolCategory] = frozenset({"file_write", "file_edit"})
_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}


class Verdict(Struct, frozen=True):
    """What happens now, which rule says so, and why, in words for people."""

    action: Action
    rule: Rule | None
    source: VerdictSource
    why: str


class Considered(NamedTuple):
    """One rule that was looked at, for ``trunkline policy explain``."""

    rule: Rule
    source: VerdictSource
    fit: Fit


class Policy(Struct, frozen=True):
    """The rules of the file.

    ``problem`` says why the file cannot be read where no older rules are known either: then everything is asked.
    ``stale`` says why these are older rules than the file's."""

    rules: tuple[Rule, ...] = ()
    auto_approve: PermissionPolicy | None = None
    problem: str | None = None
    stale: str | None = None
    source: VerdictSource = "policy file"
    """Whose rules these are."""
    node: str = ""
    """In a cluster: the node that decides."""
    stricter: Policy | None = None
    """In a cluster: the node's own rules, where these are the cluster's."""

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The node's own as well."""
        return self.rules if self.stricter is None else (*self.rules, *self.stricter.rules)

    def decide(self, ask: PolicyAsk, *, session_rules: Sequence[Rule] = (), session_policy: PermissionPolicy | None = None,
               now_us: int) -> Verdict:
        """Allow it, ask a person, or deny it."""
        subject = Subject(ask)
        verdict = self._said(subject, session_rules, session_policy, now_us)
        if self.stricter is None:
            return verdict
        own = self.stricter._said(subject, session_rules, None, now_us)
        if own.source == "default" or _STRICTNESS[own.action] <= _STRICTNESS[verdict.action]:
            return verdict
        return replace(own, why=f"{own.why} (at the node {self.node}, whose own file is stricter than the cluster's policy)")

    def _said(self, subject: Subject, session_rules: Sequence[Rule], session_policy: PermissionPolicy | None,
              now_us: int) -> Verdict:
        verdict = self._decide(subject, session_rules, session_policy, now_us)
        return verdict if self.stale is None else replace(verdict, why=f"{verdict.why} ({self.stale})")

    def _decide(self, subject: Subject, session_rules: Sequence[Rule], session_policy: PermissionPolicy | None,
                now_us: int) -> Verdict:
        looked_at = list(self._consider(subject, session_rules, now_us))
        denying = [one for one in looked_at if one.rule.action == "deny" and (one.fit.ok or one.fit.maybe)]
        for one in sorted(denying, key=lambda one: one.fit.maybe):
            return _by_rule(one) if one.fit.ok else _perhaps(one)
        if self.problem is not None:
            return Verdict("ask", None, self.source, f"the rules cannot be read, so nothing is allowed by them: {self.problem}")
        for one in looked_at:
            if one.fit.ok or one.fit.maybe:
                return _by_rule(one) if one.fit.ok else _perhaps(one)
        return _by_permission_policy(session_policy or self.auto_approve, subject) or _nobody(looked_at, subject)

    def consider(self, ask: PolicyAsk, *, session_rules: Sequence[Rule] = (), now_us: int) -> list[Considered]:
        """Every rule in the order in which it counts, with what stands against it."""
        subject = Subject(ask)
        looked_at = list(self._consider(subject, session_rules, now_us))
        if self.stricter is not None:
            looked_at += self.stricter._consider(subject, (), now_us)
        return sorted(looked_at, key=lambda one: one.rule.action != "deny")

    def without_allowing(self) -> Policy:
        """Only what restricts: for a file that has gone away."""
        return Policy(tuple(rule for rule in self.rules if rule.action != "allow"), source=self.source, node=self.node)

    def for_node(self, node: str) -> Policy:
        """Without the rules that name other nodes. Without a cluster (``""``) a rule that names one allows nothing, and the rest
        of them stand."""
        if not any(rule.node for rule in self.rules):
            return self
        return replace(self, rules=tuple(rule for rule in self.rules if not rule.node or (
            globs.text_listed(rule.node, node) if node else rule.action != "allow")))

    def _consider(self, subject: Subject, session_rules: Sequence[Rule], now_us: int) -> Iterator[Considered]:
        for rule in session_rules:
            yield Considered(rule, "session", fits(rule, subject, now_us))
        for rule in self.rules:
            yield Considered(rule, self.source, fits(rule, subject, now_us))


def always_rule(ask: PolicyAsk, *, allow: bool, scope: Scope, session_id: str, turn_id: str | None, reason: str | None,
                expires_at: str | None = None, rule_id: str | None = None) -> Rule:
    """The rule that a person means by "always" or "never": exactly this command or these paths, in this folder.

    Always is for this tool of this agent at this risk, never for all of them. Where neither a command nor paths say all that was
    asked (a server's tool, an address, a task, a move) it is for exactly this input. Invalid where the tool is of a kind that
    should name one: a rule about a shell that does not say which command would open everything. Invalid, too, where no rule can
    allow such a thing."""
    if ask.command is None and not ask.paths and ask.category in _NAMES_SOMETHING:
        raise Invalid(f"{ask.tool} names no command and no path, so there is nothing that a rule could be about")
    if allow and ask.command is None and not ask.paths and not ask.input:
        raise Invalid(f"what {ask.tool} is given is more than a rule can name, so it can be approved only once")
    if scope == "turn" and turn_id is None:
        raise Invalid("the agent is not at work, so a rule until it is done would never count")
    by_command, subject = ask.command is not None, Subject(ask)
    rule = Rule(
        action="allow" if allow else "deny",
        tool=[globs.escape(ask.tool)] if allow or not by_command else [],
        agent=[globs.escape(ask.agent)] if allow else [],
        command=[globs.escape(ask.command)] if ask.command is not None else [],
        path=_exact_paths(subject) if allow or not by_command else [],
        risk=[ask.risk] if allow and ask.risk not in UNNAMED_RISKS else [],
        input=ask.input or None if allow else None,
        root=globs.escape(globs.clean(ask.root)), expires_at=expires_at,
        session=session_id if scope != "always" else None, turn=turn_id if scope == "turn" else None,
        reason=reason, id=rule_id,
    )
    return _that_fits(rule, subject) if allow else rule


def _that_fits(rule: Rule, subject: Subject) -> Rule:
    """The rule itself, or Invalid where it would not be about the same ask the next time (a path with a backslash, say)."""
    fit = fits(replace(rule, session=None, turn=None, expires_at=None), subject, now_us=0)
    if not fit.ok:
        raise Invalid(f"no rule can allow this, so it can be approved only once: {fit.why}", details={"why": fit.why})
    return rule


def _exact_paths(subject: Subject) -> list[str]:
    """The paths of an ask as patterns, each for itself alone: relative inside the root, in full outside it."""
    return [globs.escape(where.absolute if where.relative is None else where.relative) for where in subject.places]


def _by_rule(one: Considered) -> Verdict:
    rule = one.rule
    does = {"allow": "allows it", "ask": "wants a person to decide", "deny": "denies it"}[rule.action]
    name = f"rule {rule.id}" if rule.id else "a rule"
    where = {"session": "of this session", "cluster policy": "of the cluster's policy"}.get(one.source, "of the policy file")
    return Verdict(rule.action, rule, one.source, f"{name} {where} {does}" + (f": {rule.reason}" if rule.reason else ""))


def _perhaps(one: Considered) -> Verdict:
    """A rule that asks or denies, and may be about this: a person has to look."""
    name = f"rule {one.rule.id}" if one.rule.id else f"a rule to {one.rule.action}"
    return Verdict("ask", one.rule, one.source, f"{name} may be about this: {one.fit.why}, so a person decides")


def _by_permission_policy(policy: PermissionPolicy | None, subject: Subject) -> Verdict | None:
    """What the protocol's own policy allows; it can only allow, and never more than medium risk."""
    if policy is None:
        return None
    name = _approved_as(policy, subject)
    if not name or subject.ask.risk not in UNNAMED_RISKS or not paths_inside(subject) or subject.guarded:
        return None
    return Verdict("allow", None, "permission policy", f"the permission policy approves {name} of {subject.ask.risk} risk")


def _approved_as(policy: PermissionPolicy, subject: Subject) -> str:
    """The name under which the permission policy approves this, or nothing. A command is a command, whatever it calls itself."""
    auto, category = policy.auto_approve, subject.ask.category
    if subject.ask.doubts:
        return ""
    if subject.ask.command is not None:
        if isinstance(auto.commands, bool):
            return "commands" if auto.commands and not subject.unsure else ""
        covered = command_covered(auto.commands, subject).ok
        return "commands" if covered else ""
    if category == "file_read" and subject.places:
        return "reads" if auto.reads and subject.ask.only_looks else ""
    if category == "search":
        return "searches" if auto.searches and subject.ask.only_looks else ""
    if category in _WRITES and subject.places:
        return "writes" if _write_covered(auto.writes, subject) else ""
    return ""


def _write_covered(writes: bool | list[str], subject: Subject) -> bool:
    if isinstance(writes, bool):
        return writes
    return all(globs.path_allowed(writes, where) for where in subject.places)


def _nobody(looked_at: Sequence[Considered], subject: Subject) -> Verdict:
    """Nothing fits: a person decides, and sees what the hub guards, or the rule that came close."""
    ask = subject.ask
    if subject.guard:
        return Verdict("ask", None, "default", f"this touches {subject.guard}, which no rule allows, so a person decides")
    for one in looked_at:
        if one.rule.action == "allow" and (one.fit.why.startswith(("the risk is", UNSURE)) or CHANGES in one.fit.why):
            name = f"rule {one.rule.id}" if one.rule.id else "an allow rule"
            return Verdict("ask", None, "default", f"{name} is about this, but {one.fit.why}")
    return Verdict("ask", None, "default", f"no rule is about this ({ask.category}, {ask.risk} risk), so a person decides")
