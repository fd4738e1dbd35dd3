"""``trunkline policy``: the rules that answer for you, and which of them decides what. Needs no hub.

Rule 1: what is written passes ``PolicyBook``, as what the hub writes does: checked first, then put in place in one step.
Rule 2: in a cluster the cluster's policy comes first, as this node last knew it; the file is edited here, and that only.
Rule 3: where the file cannot be read, or is gone, a hub that runs goes on with rules that it knows: it is asked for them.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import click
import msgspec
from msgspec import structs

from trunkline import decoders
from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import output, print_json, setting_flags
from trunkline.cli.hosting.datadir import DataDir
from trunkline.cli.read_settings import load
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.calls.names import name_of_kind
from trunkline.dialects.context.types import PermissionPolicy
from trunkline.dialects.visible import one_line
from trunkline.errors import Invalid, TrunklineError
from trunkline.session.policy.cluster import CLUSTER_POLICY_FILE, ClusterPolicy, kept_policy
from trunkline.session.policy.decide import Considered, Policy, PolicyAsk, Rule, Verdict, expired, policy_ask
from trunkline.session.policy.explain import pieces_of, remarks_on
from trunkline.session.policy.file import POLICY_FILE, PolicyBook
from trunkline.session.policy.text import parse_policy
from trunkline.settings import Settings

STARTER = """\
# Which asks of your agents are answered without you. See docs/reference/policy.md.
# Deny rules always win. Of the others the first that fits decides. What no rule is about, you are asked.
#
# [[rules]]
# command = ["npm test*", "git status", "git diff*"]
# action = "allow"
#
# [[rules]]
# path = [".env", "secrets/**"]
# reason = "nobody's business"
# action = "deny"
#
# [auto_approve]
# reads = true
# searches = true
"""


DECIDED_BY = {"policy file": "its own file", "cluster policy": "the cluster's policy",
              "permission policy": "what is approved without asking"}
"""In a cluster: whose rules said so."""


class _Group(GuessingGroup):
    """Knows what others call its commands."""

    synonyms: ClassVar = {"list": ("show",), "ls": ("show",), "rm": ("remove",), "delete": ("remove",), "add": ("edit",)}


@click.group(cls=_Group, invoke_without_command=True, short_help="See, explain and edit the rules that answer for you.")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """See, explain and edit the rules that answer for you.

    They are in policy.toml in the data folder, and count for all agents.
    """
    ctx.obj = flags
    if ctx.invoked_subcommand is None:
        ctx.invoke(show)


@command.command()
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def show(as_json: bool = False, **flags: Any) -> None:
    """Show the rules in the order in which they count, each with its number in the file."""
    settings = _settings(flags)
    book = _book(settings)
    policy, problem = (book.own, book.problem) if book.cluster is not None else _in_force(book, settings)
    if as_json:
        print_json({"path": str(book.path), "rules": policy.rules, "autoApprove": policy.auto_approve and
                    policy.auto_approve.auto_approve, "problem": problem, **_clusters(book)})
        return
    _print_clusters(book)
    missing = "it is empty" if book.path is not None and book.path.exists() else "not there"
    click.echo(f"{book.path}" + ("" if problem or book.shown().text else f"  ({missing}: {_without_rules(book)})"))
    _print_problem(problem)
    numbered = enumerate(policy.rules, 1)
    for number, rule in sorted(numbered, key=lambda each: each[1].action != "deny"):
        click.echo(f"  {number:2}  {_rule_line(rule)}")
    if policy.auto_approve is not None:
        auto = policy.auto_approve.auto_approve
        for name in ("reads", "searches", "writes", "commands"):
            given = getattr(auto, name)
            if given:
                which = "" if given is True else f": {', '.join(given)}"
                click.echo(f"      allow  {name}{which}  (low and medium risk)")


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", metavar="COMMAND|PATH", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--agent", "agent_name", metavar="NAME", help="as if this agent asked  [one that no rule names]")
@click.option("--tool", metavar="NAME", help="as if this tool asked; a file tool such as edit or read makes it a path")
@click.option("--title", default="", metavar="TEXT", help="as if the agent had titled the call so")
@click.option("--cwd", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="as if the session were there  [here]")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def explain(words: tuple[str, ...], agent_name: str | None, tool: str | None, title: str, cwd: Path | None, as_json: bool,
            **flags: Any) -> None:
    """Say which rule decides about a command or a path, and why.

    Several words are one command. A single word is a path if there is such a file, if it looks like one, or if --tool is a file
    tool. Rules of single sessions are not known here. Without --agent, it is also said for which agents the answer is another.
    """
    settings = _settings(flags)
    book = _book(settings)
    policy, problem = _in_force(book, settings)
    root = str((cwd or Path.cwd()).absolute())
    ask = _ask(words, agent_name or "", tool, root, guarded=settings.data,
               names=_tool_names(agent_name, settings), title=title)
    now_us = time.time_ns() // 1000
    verdict, looked_at = policy.decide(ask, now_us=now_us), policy.consider(ask, now_us=now_us)
    others = _for_agents(policy, ask, verdict, now_us) if agent_name is None else {}
    if as_json:
        about = {"tool": ask.tool, "category": ask.shown_category or ask.category, "risk": ask.risk,
                 "riskReason": ask.risk_reason, "command": ask.command, "paths": ask.paths, "doubts": ask.doubts,
                 "pieces": pieces_of(ask)}
        print_json({"action": verdict.action, "source": verdict.source, "why": verdict.why, "rule": verdict.rule, "ask": about,
                    **({"node": policy.node} if policy.node else {}),
                    "rules": [{"rule": one.rule, "fits": one.fit.ok, "why": one.fit.why} for one in looked_at],
                    "agents": {name: {"action": one.action, "source": one.source, "why": one.why, "rule": one.rule}
                               for name, one in others.items()}})
        return
    _print_problem(problem)
    _print_verdict(ask, verdict, looked_at, policy.node)
    for name, other in others.items():
        click.echo(f"{other.action:6} where {one_line(name)} asks: {one_line(other.why)} (--agent {one_line(name)})")


@command.command()
@setting_flags("clients")
def edit(**flags: Any) -> None:
    """Edit the rules in your editor; they are checked before they count."""
    book = _book(_settings(flags))
    assert book.path is not None
    DataDir(book.path.parent).make()
    before = text = book.text()
    while True:
        edited = click.edit(text or STARTER, extension=".toml")
        if edited is None or edited == before:
            click.echo("nothing changed")
            return
        try:
            parse_policy(edited)
            break
        except Invalid as error:
            click.echo(f"trunkline: {one_line(error.message)}", err=True)
            if not click.confirm("Edit again?", default=True, err=True):
                raise Invalid("nothing was changed") from error
            text = edited
    if book.text() != before:
        raise Invalid(f"{book.path} was changed by somebody else meanwhile; nothing was written")
    policy = book.replace(edited)
    click.echo(f"{len(policy.rules)} rules are in force")


@command.command()
@click.argument("number", metavar="NUMBER", type=click.IntRange(min=1))
@setting_flags("clients")
def remove(number: int, **flags: Any) -> None:
    """Take a rule out of the file, by the number that `policy show` gives it."""
    rule = _book(_settings(flags)).remove(number)
    click.echo(f"removed: {_rule_line(rule)}")


def _settings(flags: Mapping[str, Any]) -> Settings:
    """Flags count behind the subcommand and before it."""
    output()
    before = click.get_current_context().find_object(dict) or {}
    return load({**before, **{key: value for key, value in flags.items() if value is not None}})


def _book(settings: Settings) -> PolicyBook:
    """The file, and before it the cluster's policy where this is a node of one."""
    book, kept = PolicyBook(settings.data / POLICY_FILE), kept_policy(settings.data / CLUSTER_POLICY_FILE)
    if kept is not None:
        book.join(ClusterPolicy(None, kept.node, kept))
    return book


def _clusters(book: PolicyBook) -> dict[str, Any]:
    """The cluster's policy as this node last knew it, for programs."""
    if book.cluster is None:
        return {}
    return {"cluster": {"node": book.cluster.node, "number": book.cluster.known.number, "rules": book.cluster.policy.rules}}


def _print_clusters(book: PolicyBook) -> None:
    if book.cluster is None:
        return
    click.echo(f"the cluster's policy, as the node {book.cluster.node} last knew it (number {book.cluster.known.number})")
    for rule in sorted(book.cluster.policy.rules, key=lambda rule: rule.action != "deny"):
        click.echo(f"      {_rule_line(rule)}")
    click.echo("this node's own file, which may only be stricter:")


def _without_rules(book: PolicyBook) -> str:
    return "everything is asked" if book.cluster is None else "all is as the cluster says"


class _InForce(NamedTuple):
    """The rules that count, and what is wrong with the file where they are not its own."""

    policy: Policy
    problem: str | None


def _in_force(book: PolicyBook, settings: Settings) -> _InForce:
    """The rules of the file, or those that a running hub goes on with where there is none that can be read."""
    known = _InForce(book.policy, book.problem)
    if book.cluster is not None or (known.problem is None and book.shown().text) or settings.url is not None:
        return known
    return asyncio.run(_kept_by_hub(settings)) or known


async def _kept_by_hub(settings: Settings) -> _InForce | None:
    from trunkline.cli.hosting.locate import connected, find  # only who has to ask a hub needs all that talks to one

    try:
        endpoint = await find(settings)
        if endpoint is None:
            return None
        async with connected(endpoint, settings) as hub:
            view = await hub.policy()
    except TrunklineError:
        return None
    rules, auto = msgspec.to_builtins(view.rules), msgspec.to_builtins(view.auto_approve)
    return _InForce(Policy(decoders.convert(rules, tuple[Rule, ...]), decoders.convert(auto, PermissionPolicy | None),
                           stale=view.problem), view.problem)


def _for_agents(policy: Policy, ask: PolicyAsk, verdict: Verdict, now_us: int) -> dict[str, Verdict]:
    """What is decided otherwise where one of those asks whom rules name; a pattern of names stands for itself."""
    named = dict.fromkeys(name for rule in policy.rules for name in rule.agent if not name.startswith("!"))
    verdicts = {name: policy.decide(structs.replace(ask, agent=name), now_us=now_us) for name in named}
    return {name: other for name, other in verdicts.items() if other.rule is not verdict.rule}


def _tool_names(agent: str | None, settings: Settings) -> ToolNames:
    """What an agent calls its tools, where one is named that is known."""
    if agent is None:
        return ToolNames()
    from trunkline.cli.naming import known_agents  # only who names an agent pays for the catalog

    spec = known_agents(settings).get(agent)
    return spec.tool_names if spec is not None else ToolNames()


def _ask(words: Sequence[str], agent: str, tool: str | None, root: str, guarded: Path, names: ToolNames, title: str) -> PolicyAsk:
    """What the words mean: a path for a file tool, else a command line. The tool has its usual name, as in events and rules."""
    home = os.path.expanduser("~")
    line = words[0] if len(words) == 1 else " ".join(words)
    kind = _file_kind(line, len(words) == 1, tool, root)
    given = {"command": line} if kind is None else {"path": line}
    name = names.usual(tool) if tool else name_of_kind(kind or "execute") or ""
    return policy_ask(name, kind or "execute", given, agent=agent, cwd=root, roots=[root], home=home,
                      resolve=os.path.realpath, guarded=[str(guarded), os.path.realpath(guarded)], names=names,
                      title=title)


def _file_kind(line: str, single: bool, tool: str | None, root: str) -> str | None:
    """The kind of the file tool that is meant; None where a command is."""
    named = {"read": "read", "edit": "edit", "write": "edit", "delete": "delete", "move": "move"}.get((tool or "").lower())
    if named is not None:
        return named
    looks = single and not any(char.isspace() for char in line) and (
        line.startswith(("/", "./", "../", "~/", ".")) or os.path.exists(os.path.join(root, line)) or "/" in line)
    return "edit" if looks and tool is None else None


def _print_problem(problem: str | None) -> None:
    if problem is not None:
        click.echo(f"trunkline: {one_line(problem)}", err=True)


def _print_verdict(ask: PolicyAsk, verdict: Verdict, looked_at: Sequence[Considered], node: str) -> None:
    about = ask.command if ask.command is not None else ", ".join(ask.paths)
    click.echo(f"{verdict.action:6} {one_line(about)}")
    click.echo(f"       {one_line(verdict.why)}")
    if node:
        click.echo(f"       decided on the node {node}, by {DECIDED_BY.get(verdict.source, 'no rule')}")
    category = ask.shown_category or ask.category
    click.echo(f"       {ask.risk} risk: {one_line(ask.risk_reason)} (tool {ask.tool}, category {category})")
    for why in ask.doubts:
        click.echo(f"       not sure: {one_line(why)}")
    for piece in pieces_of(ask) if ask.command is not None else ():
        for line in remarks_on(piece):
            click.echo(f"       `{one_line(piece.text)}` {one_line(line)}")
    for one in looked_at:
        mark = "*" if one.rule is verdict.rule else " "
        what = "fits" if one.fit.ok else one_line(one.fit.why)
        click.echo(f"     {mark} {_rule_line(one.rule)}: {what}")


def _rule_line(rule: Rule) -> str:
    """A rule on one line."""
    lists = [f"{name} {', '.join(getattr(rule, name))}"
             for name in ("category", "tool", "command", "path", "agent", "risk", "node") if getattr(rule, name)]
    single = [f"{name} {getattr(rule, name)}" for name in ("root", "session", "turn") if getattr(rule, name)]
    if rule.expires_at:
        over = expired(rule, time.time_ns() // 1000)
        single.append(f"{'expired' if over else 'until'} {rule.expires_at}")
    about = one_line("; ".join((*lists, *single))) or "everything"
    return f"{rule.action:6} {about}" + (f"  ({one_line(rule.reason)})" if rule.reason else "")
