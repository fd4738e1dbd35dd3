"""Recorded sessions of real agents, replayed into a real hub: the page shows each without an error, live and after a reload."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import MakePerson
from tests.page.journal import texts
from tests.page.person import sideways
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.processes import eventually
from tests.tooling.transcripts import AGENTS, Cancel, Decision, Prompt, Step, stories
from trunkline.dialects.signals import PermissionAsk, TurnEnd


def first_story(agent: str, run: str) -> list[Step]:
    """What happened in the first session that the agent made in this run."""
    told = [steps for (name, _), steps in stories(agent).items() if name == run]
    return next(steps for steps in told if any(isinstance(step, Prompt) for step in steps))


def replay(session: Session, steps: list[Step]) -> None:
    """Prompt, decide and cancel as the recorded client did."""
    asked = 0
    for step in steps:
        if isinstance(step, Prompt):
            session.post("send-message", {"content": [json.loads(bytes(block)) for block in step.blocks]}, 202)
        elif isinstance(step, PermissionAsk):
            asked += 1
            eventually(lambda: session.view()["pendingApprovals"], "somebody is asked")
        elif isinstance(step, Decision) and step.option_id is not None:
            pending = session.view()["pendingApprovals"]
            if pending:
                session.post(f"permissions/{pending[0]['requestId']}", {"optionId": step.option_id})
        elif isinstance(step, Cancel):
            session.post("cancel")
        elif isinstance(step, TurnEnd):
            eventually(lambda: is_over(session), "the turn is over", 30)


def is_over(session: Session) -> bool:
    """Whether the turn is. What the hub asks about, where the agent asked nobody, is allowed: the recorded client just did it."""
    view = session.view()
    for ask in view["pendingApprovals"]:
        session.post(f"permissions/{ask['requestId']}", {"decision": "allow"})
    return view["turn"] is None


def said_last(page: Page) -> str:
    """What the last message of the agent's on the page says."""
    page.get_by_role("feed").focus()
    page.keyboard.press("End")
    messages = page.get_by_role("article", name="Agent said")
    return str(messages.last.evaluate("message => message.innerText")) if messages.count() else ""


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_a_real_agents_session_is_shown_live_and_after_a_reload(hub: HubProcess, make_person: MakePerson, agent: str) -> None:
    for run, size in (("allow", "desk"), ("reject", "phone")):
        session = hub.new_session(f"{agent}-{run}")
        person = make_person(hub.url, size)
        page = person.log_in(hub, f"#/s/{session.id}")
        replay(session, first_story(agent, run))
        expect(page.get_by_role("status").filter(has_text=re.compile("Ready|Failed"))).to_be_visible()
        assert sideways(page) == 0
        live = said_last(page)
        assert live or not texts(session) or page.get_by_role("article").count()
        page.reload()
        expect(page.get_by_role("status").filter(has_text=re.compile("Ready|Failed"))).to_be_visible()
        eventually(lambda page=page, live=live: said_last(page) == live,  # type: ignore[misc]
                   "it reads the same after a reload")
        page.get_by_role("feed").evaluate("""feed => {
          for (const each of feed.querySelectorAll('[aria-expanded=false]')) each.click();
        }""")
        assert sideways(page) == 0
        person.leave()
        person.assert_no_faults()
        session.delete()
