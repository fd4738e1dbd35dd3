"""The policy over HTTP: read it, replace it, ask it.

Rule 1: who may write the policy may let an agent do anything: that takes ``admin``.
Rule 2: a policy is taken whole or not at all, and a key that it does not know is an error: it may have been what limited a rule.
Rule 3: in a cluster there are two: the cluster's, which is read and written unless ``?of=node`` is asked for or nobody has
written one yet, and the node's own file, which may only be stricter. Every view says which of them it is.
Rule 4: to explain is to decide without doing anything: the same function, the same words.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from trunkline.dialects.calls import ToolNames
from trunkline.dialects.calls.names import name_of_kind
from trunkline.dialects.context.types import PermissionPolicy, RiskLevel, ToolCategory
from trunkline.errors import Invalid
from trunkline.hub import Hub, guarded_folders
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.session.policy.decide import Action, Considered, Policy, PolicyAsk, Rule, VerdictSource, policy_ask
from trunkline.session.policy.explain import Piece, pieces_of
from trunkline.session.policy.text import parse_policy, written_auto_approve, written_rule

if TYPE_CHECKING:
    from trunkline.session.policy.cluster import ClusterPolicy

Whose = Literal["node", "cluster"]


class NewRule(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule as a client sends it."""


class NewPolicy(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """The policy to be: the file's text, or its rules and the protocol's own policy."""

    text: str | None = None
    rules: list[NewRule] | None = None
    auto_approve: PermissionPolicy | None = None


class PolicyView(msgspec.Struct, rename="camel", kw_only=True):
    """The policy in force and the file as it is. ``problem`` says why these are not the same, null when they are; ``text`` is
    empty where the file cannot be read at all. ``lastGood`` is the text to go back to then, where this hub has read a good one.

    ``version`` is the file's, and the answer's ETag. ``of`` says whose policy it is, the cluster's or this node's own file;
    ``node`` is this node's name in its cluster, null without one. Both together are in force, the own where it is stricter."""

    text: str
    rules: list[Rule]
    auto_approve: PermissionPolicy | None
    problem: str | None
    path: str | None
    version: str
    last_good: str | None
    of: Whose = "node"
    node: str | None = None


class Question(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """What an agent might want: a command, a change of a path, or a call of a tool with its input.

    With ``sessionId`` it is that session's agent and folder that ask, and its own rules count."""

    command: str | None = None
    path: str | None = None
    tool: str | None = None
    kind: str | None = None
    input: dict[str, Any] | None = None
    title: str = ""
    """What the agent calls it for people; what it says that is done counts as in a session."""
    agent: str = ""
    cwd: str | None = None
    session_id: str | None = None


class RuleLookedAt(msgspec.Struct, rename="camel", kw_only=True):
    """A rule in the order in which it counts; ``why`` says what stands against it."""

    rule: Rule
    source: VerdictSource
    fits: bool
    why: str


class Explanation(msgspec.Struct, rename="camel", kw_only=True):
    """What would happen, which rule says so, and why; and how the call was read: its tool and category as in events, its command,
    what is not sure about it (``doubts``), and each command of its line (``pieces``). ``node`` is the node of a cluster that
    decides, empty without one; ``source`` says whether the cluster's policy or the node's own file does."""

    action: Action
    source: VerdictSource
    why: str
    rule: Rule | None
    risk: RiskLevel
    risk_reason: str
    considered: list[RuleLookedAt]
    tool: str
    category: ToolCategory
    command: str | None
    paths: list[str]
    doubts: list[str]
    pieces: list[Piece]
    node: str = ""


async def show(call: HttpCall) -> Reply:
    """The policy that is in force."""
    return await _shown(call)


async def replace(call: HttpCall) -> Reply:
    """Put another policy in its place; with ``If-Match``, only where nobody did since."""
    text = _text(await call.body(NewPolicy))
    book = _clusters(call) or call.hub.policies
    await asyncio.to_thread(partial(book.replace, text, versions=_versions(call.request.headers.get("if-match"))))
    return await _shown(call)


async def preview(call: HttpCall) -> Reply:
    """What a policy would answer of all that waits, before it is put in the place of the one in force."""
    text = _text(await call.body(NewPolicy))
    policy = await asyncio.to_thread(partial(call.hub.policies.with_text, text, is_clusters=_clusters(call) is not None))
    return reply(await call.hub.preview_policy(policy))


async def explain(call: HttpCall) -> Reply:
    """What the policy would say, and why."""
    question = await call.body(Question)
    return reply(await _explained(call, question))


async def _shown(call: HttpCall) -> Reply:
    view = await asyncio.to_thread(_view, call)
    return reply(view, headers={"ETag": f'"{view.version}"'})


def _versions(header: str | None) -> list[str] | None:
    """The versions that ``If-Match`` names; None: whatever is there. A weak one names none, as the standard has it."""
    if header is None or header.strip() == "*":
        return None
    return [tag.strip().strip('"') for tag in header.split(",") if not tag.strip().startswith("W/")]


def _clusters(call: HttpCall) -> ClusterPolicy | None:
    """The cluster's policy, where that is asked for; None: the node's own file."""
    cluster, wanted = call.hub.policies.cluster, call.request.query_params.get("of")
    if wanted not in ("cluster", "node", None):
        raise Invalid("of must be cluster or node", details={"field": "of"})
    if wanted == "cluster" and cluster is None:
        raise Invalid("this hub is in no cluster", details={"field": "of"})
    is_own = wanted == "node" or (wanted is None and cluster is not None and cluster.absent)
    return None if is_own else cluster


def _view(call: HttpCall) -> PolicyView:
    cluster, book = _clusters(call), call.hub.policies
    if cluster is not None:
        return _clusters_view(cluster)
    policy, (text, version) = book.own, book.shown()
    return PolicyView(text=text, version=version, rules=_rules_of(policy, text, book.problem), auto_approve=policy.auto_approve,
                      problem=book.problem, path=str(book.path) if book.path is not None else None, last_good=book.last_good,
                      node=None if book.cluster is None else book.cluster.node)


def _clusters_view(cluster: ClusterPolicy) -> PolicyView:
    policy, (text, version) = cluster.policy, cluster.shown()
    rules, problem = _rules_of(policy, text, cluster.problem), cluster.problem
    return PolicyView(text=text, version=version, rules=rules, auto_approve=policy.auto_approve, problem=problem, path=None,
                      last_good=text if problem is not None else None, of="cluster", node=cluster.node)


def _rules_of(policy: Policy, text: str, problem: str | None) -> list[Rule]:
    """The rules as they stand in the text, those for other nodes too: people find them there by their place."""
    return list(policy.rules if problem is not None or "node" not in text else parse_policy(text).rules)


def _text(new: NewPolicy) -> str:
    if (new.text is None) == (new.rules is None):
        raise Invalid("exactly one of text and rules is needed", details={"field": "text"})
    if new.text is not None:
        if new.auto_approve is not None:
            raise Invalid("autoApprove goes with rules; beside text it stands in the text", details={"field": "autoApprove"})
        return new.text
    parts = [written_auto_approve(new.auto_approve)] if new.auto_approve is not None else []
    return "\n".join([*parts, *(written_rule(rule) for rule in new.rules or [])])


async def _explained(call: HttpCall, question: Question) -> Explanation:
    fold = (await call.hub.session(question.session_id)).fold if question.session_id is not None else None
    rules, own = (list(fold.rules), fold.permission_policy) if fold is not None else ([], None)
    agent, cwd = (fold.agent, fold.cwd) if fold is not None else (question.agent, _folder(question.cwd))
    posed = _PolicyQuestion(call.hub, question, agent=agent, cwd=cwd, session_id=fold.session_id if fold is not None else "",
                   turn_id=fold.turn.turn_id if fold is not None and fold.turn is not None else None)
    return await call.hub.lane.run(posed.answer, rules, own)


class _PolicyQuestion:
    """A question with everything that the policy wants to know; the rest of the work looks at the disk, so a lane does it."""

    def __init__(self, hub: Hub, question: Question, *, agent: str, cwd: str, session_id: str, turn_id: str | None) -> None:
        self._hub = hub
        spec = hub.agents.get(agent)
        self._names = spec.tool_names if spec is not None else ToolNames()
        self._tool, self._kind, self._input = call_of(question, self._names)
        self._title = question.title
        self._agent = agent
        self._cwd = cwd
        self._session_id = session_id
        self._turn_id = turn_id
        self._home = hub.environ.get("HOME")

    def answer(self, rules: list[Rule], own: PermissionPolicy | None) -> Explanation:
        """What the policy says."""
        policy: Policy = self._hub.policies.policy
        ask, now_us = self._ask(), time.time_ns() // 1000
        verdict = policy.decide(ask, session_rules=rules, session_policy=own, now_us=now_us)
        looked_at = policy.consider(ask, session_rules=rules, now_us=now_us)
        return Explanation(
            action=verdict.action, source=verdict.source, why=verdict.why, rule=verdict.rule, risk=ask.risk,
            risk_reason=ask.risk_reason, considered=[_looked_at(each) for each in looked_at], tool=ask.tool,
            category=ask.shown_category or ask.category, command=ask.command, paths=list(ask.paths), doubts=list(ask.doubts),
            pieces=pieces_of(ask), node="" if self._hub.policies.cluster is None else self._hub.policies.cluster.node)

    def _ask(self) -> PolicyAsk:
        return policy_ask(
            self._tool, self._kind, self._input, agent=self._agent, cwd=self._cwd, roots=[self._cwd], home=self._home,
            session_id=self._session_id, turn_id=self._turn_id, resolve=os.path.realpath,
            guarded=guarded_folders(self._hub.options), names=self._names, title=self._title)


def _looked_at(one: Considered) -> RuleLookedAt:
    return RuleLookedAt(rule=one.rule, source=one.source, fits=one.fit.ok, why=one.fit.why)


def call_of(question: Question, names: ToolNames) -> tuple[str, str | None, dict[str, Any]]:
    """The tool call that a question is about: its usual name, as in events and rules, its kind, its input."""
    given = [name for name in ("command", "path", "input") if getattr(question, name) is not None]
    if len(given) != 1:
        raise Invalid("exactly one of command, path and input is needed", details={"field": given[1] if given else "command"})
    if question.command is not None:
        kind = question.kind or "execute"
        return _name(question.tool, kind, names), kind, {"command": question.command}
    if question.path is not None:
        kind = question.kind or "edit"
        return _name(question.tool, kind, names), kind, {"path": question.path}
    if question.tool is None:
        raise Invalid("tool is needed beside input", details={"field": "tool"})
    return _name(question.tool, "", names), question.kind, question.input or {}


def _name(tool: str | None, kind: str, names: ToolNames) -> str:
    return names.usual(tool) if tool else name_of_kind(kind) or kind


def _folder(cwd: str | None) -> str:
    if cwd is not None and not os.path.isabs(cwd):
        raise Invalid(f"cwd must be an absolute path, not {cwd[:200]!r}", details={"field": "cwd"})
    return cwd or str(Path.home())
