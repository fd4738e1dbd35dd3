"""Asks and rules, in few words."""

from __future__ import annotations

from typing import Any

from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.session.policy.decide import Policy, PolicyAsk, Rule, Verdict

ROOT = "/home/ann/app"
HOME = "/home/ann"
NOW_US = 1_800_000_000_000_000  # 2027-01-15T08:00:00Z
DATA = "/home/ann/.local/share/trunkline"


def running(command: str, **more: Any) -> PolicyAsk:
    return PolicyAsk(**{"tool": "Bash", "category": "terminal", "agent": "demo", "risk": "low", "command": command, "root": ROOT,
                        "home": HOME, "session_id": "s1", "turn_id": "t1", **more})


def touching(*paths: str, **more: Any) -> PolicyAsk:
    return PolicyAsk(**{"tool": "Edit", "category": "file_edit", "agent": "demo", "risk": "low", "paths": paths, "root": ROOT,
                        "only_looks": more.get("category") in ("file_read", "search"), "home": HOME, "session_id": "s1",
                        "turn_id": "t1", **more})


def decided(ask: PolicyAsk, *rules: Rule, **more: Any) -> Verdict:
    return Policy(rules).decide(ask, **{"now_us": NOW_US, **more})


def allow(**what: Any) -> Rule:
    return Rule(action="allow", **what)


def deny(**what: Any) -> Rule:
    return Rule(action="deny", **what)


def ask_first(**what: Any) -> Rule:
    return Rule(action="ask", **what)


def auto(*, reads: bool = False, writes: bool | list[str] = False, commands: bool | list[str] = False,
         searches: bool = False) -> PermissionPolicy:
    return PermissionPolicy(auto_approve=AutoApprove(reads=reads, writes=writes, commands=commands, searches=searches))
