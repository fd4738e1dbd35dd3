"""Two agents written to mislead, as real agents of a real hub, under a policy of somebody who wants to be asked little.

Nothing that a person would call dangerous is approved by a rule that does not name it. The calls are in
tests/session/misleading.toml; tests/session/test_misleading.py holds all of them against the rules without a hub.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.session.misleading import POLICY, TABLE, Case, cases
from tests.tooling.hub_process import PYTHON, HubProcess, Session, text_of

NewHub = Callable[..., HubProcess]
TOOLING = Path(__file__).parents[1] / "tooling"
SAMPLE = 9
"""Each so many-th play is in the quick test."""


def agent(name: str) -> str:
    return f"{PYTHON} {shlex.quote(str(TOOLING / f'misleading_{name}.py'))} {shlex.quote(str(TABLE))}"


def sessions(hub: HubProcess) -> dict[str, Session]:
    """A session of each agent, in a folder with something in it."""
    found = {}
    for name in ("names", "order"):
        folder = hub.new_folder()
        (folder / "src").mkdir()
        for path in ("a.py", "src/a.py", "install.sh"):
            (folder / path).write_text("a\n")
        found[name] = hub.new_session(name, cwd=folder)
    return found


def approved_by_rule(session: Session, number: int) -> list[bool]:
    """Play one; which of its asks a rule approved. What waits for a person is denied."""
    approved: list[bool] = []
    with session.send(str(number)) as stream:
        for packet in stream:
            if packet.type == "approval_requested":
                request_id = packet.value["requestId"]
                waits = any(ask["requestId"] == request_id for ask in session.view()["pendingApprovals"])
                approved.append(not waits)
                if waits:
                    session.post(f"permissions/{request_id}", {"decision": "deny"})
    said = json.loads(text_of(packet.value for packet in stream.seen))
    assert [answer == "yes" for answer in said] == approved, "the agent was told what the hub says that it was told"
    return approved


def wrong(hub: HubProcess, played: Sequence[Case]) -> list[str]:
    """The plays in which a rule approved something else than what it may."""
    by_agent = sessions(hub)
    return [f"{case.agent} {case.number}: {case.about}: {case.play}" for case in played
            if approved_by_rule(by_agent[case.agent], case.number) != case.asks]


def test_a_rule_approves_no_misleading_call_of_a_sample(some_hub: NewHub) -> None:
    hub = some_hub(agents={name: agent(name) for name in ("names", "order")}, policy=POLICY)
    assert wrong(hub, cases()[::SAMPLE]) == []


@pytest.mark.slow
def test_a_rule_approves_none_of_two_hundred_misleading_calls(some_hub: NewHub) -> None:
    hub = some_hub(agents={name: agent(name) for name in ("names", "order")}, policy=POLICY)
    assert wrong(hub, cases()) == []
