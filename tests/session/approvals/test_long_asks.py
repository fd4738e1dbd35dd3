"""What the rules say of a long command: found out off the loop, and a person decides until then."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.aio import run
from trunkline.session.approvals.long_asks import WORK_AT_ONCE, LongAsks, RulesNow
from trunkline.session.policy.decide import Policy, PolicyAsk, Rule, Verdict

DENY = Rule(action="deny", command=["forbidden *"], id="no")


def ask(command: str) -> PolicyAsk:
    return PolicyAsk(tool="bash", category="terminal", agent="a", risk="low", command=command, root="/work")


def rules(*session_rules: Rule, policy: Policy | None = None, now_us: int = 1) -> RulesNow:
    return RulesNow(policy or POLICY, session_rules, None, now_us)


POLICY = Policy((DENY,))
LONG = "".join(f"w{number:x};" for number in range(1000)) + "forbidden thing"


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where rules were asked."""
    found: list[str] = []
    decide = Policy.decide

    def noted(self: Policy, *args: Any, **how: Any) -> Verdict:
        found.append(threading.current_thread().name)
        return decide(self, *args, **how)

    monkeypatch.setattr(Policy, "decide", noted)
    return found


def test_a_short_command_is_decided_on_the_spot(threads: list[str]) -> None:
    assert LongAsks().decide(rules(), ask("forbidden thing")).action == "deny"
    assert threads == ["MainThread"]


def test_a_long_command_is_for_a_person_until_a_thread_has_found_out(threads: list[str]) -> None:
    async def scenario() -> None:
        asks, found = LongAsks(), asyncio.Event()
        first = asks.decide(rules(), ask(LONG), found.set)
        assert first.action == "ask" and first.source == "policy file", "an agent that asks by rule only asks about this"
        assert asks.decide(rules(), ask(LONG)).action == "ask"
        await found.wait()
        assert asks.decide(rules(), ask(LONG)).action == "deny"
        assert len(threads) == 1 and "MainThread" not in threads

    run(scenario())


def test_many_short_commands_that_are_decided_as_one_are_found_out_off_the_loop(threads: list[str]) -> None:
    async def scenario() -> None:
        asks, several = LongAsks(), [ask(f"w{number} " + "x " * 100) for number in range(50)]
        together = sum(len(one.command or "") for one in several)
        for one in several:
            await asks.read(rules(), one, together)
        assert {asks.decide(rules(), one, together=together).action for one in several} == {"ask"}
        assert len(threads) == 50 and "MainThread" not in threads

    run(scenario())


def test_whoever_can_wait_finds_the_answer_there() -> None:
    async def scenario() -> None:
        asks = LongAsks()
        await asks.read(rules(), ask(LONG))
        assert asks.decide(rules(), ask(LONG)).action == "deny"

    run(scenario())


def test_an_answer_holds_only_for_the_rules_that_gave_it() -> None:
    async def scenario() -> None:
        asks = LongAsks()
        expires = Rule(action="deny", command=["forbidden *"], expires_at="1970-01-01T00:00:10Z")
        for now in (rules(), rules(Rule(action="ask", tool=["x"])), rules(policy=Policy()), rules(expires, policy=Policy())):
            assert asks.decide(now, ask(LONG)).action == "ask"
            await asks.read(now, ask(LONG))
        assert asks.decide(rules(expires, policy=now.policy), ask(LONG)).action == "deny"
        later = rules(expires, policy=now.policy, now_us=11_000_000)
        assert asks.decide(later, ask(LONG)).why.startswith("the command is long")
        await asks.read(later, ask(LONG))
        assert asks.decide(later, ask(LONG)).source == "default"

    run(scenario())


def test_many_rules_make_a_command_long_sooner() -> None:
    many = Policy(tuple(Rule(action="deny", command=[f"x{number} *"]) for number in range(100)))
    assert rules(policy=many).take_long(ask("a" * (WORK_AT_ONCE // 100 + 1)))
    assert not rules(policy=many).take_long(ask("a" * (WORK_AT_ONCE // 100)))
    assert not rules(policy=many).take_long(ask("a")) and not rules().take_long(ask("a" * 4096))
