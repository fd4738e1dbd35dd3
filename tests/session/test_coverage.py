"""All 37 event types are really told: by a recorded agent or, failing that, by the demo. Its tour alone shows most of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.golden import events_of
from tests.tooling.transcripts import AGENTS, stories
from trunkline.agents.catalog import AgentSpec, adhoc
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.commands import PauseCommand
from trunkline.dialects.context.events import EVENTS
from trunkline.hub import Answer, Decision, Hub, HubOptions, NewSession, Session

TOUR_LEAST = 25
"""What the tour alone has to show, of 37."""

def fast_demo() -> AgentSpec:
    return adhoc("fast", f"{sys.executable} -m trunkline.agents.demo --fast")


class Visit:
    """A session with the demo, whose asks are all answered with yes."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seen = 0
        self.events: list[dict[str, Any]] = []

    async def prompt(self, text: str) -> list[dict[str, Any]]:
        """Send a prompt; the events up to the end of its turn."""
        accepted = await self.session.send([TextContent(text=text)], by="test")
        await self.until(lambda event: event["seq"] > accepted.seq and event.get("to") in ("idle", "error"))
        return [event for event in self.events if event["seq"] > accepted.seq]

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        while not any(wanted(event) for event in self.events):
            await self.session.feed.wait(self.seen)
            entries = await self.session.feed.read(after=self.seen)
            for event in [msgspec.json.decode(entry.event) for entry in entries]:
                self.seen = event["seq"]
                self.events.append(event)
                await self._answer(event)

    async def _answer(self, event: dict[str, Any]) -> None:
        if event["type"] == "approval:requested" and event["requestId"] in self.session.fold.approvals:
            await self.session.decide(event["requestId"], Decision(decision="allow"), by="test")
        if event["type"] == "interaction:question" and event["questionId"] in self.session.fold.questions:
            await self.session.answer(event["questionId"], Answer(content={"name": "x"}), by="test")


def visited(tmp_path: Path, *prompts: str) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Everything a session with the demo told, and what it told of each prompt."""
    told: dict[str, list[dict[str, Any]]] = {}

    async def scenario() -> Visit:
        async with Hub(HubOptions(data_dir=tmp_path / "data", memory=True, agents={"fast": fast_demo()})) as hub:
            (tmp_path / "work").mkdir()
            (tmp_path / "work" / "pyproject.toml").write_text("[project]\ndependencies = ['flask']\n")
            visit = Visit(await hub.create(NewSession(agent="fast", cwd=str(tmp_path / "work")), by="test"))
            for prompt in prompts:
                told[prompt] = await visit.prompt(prompt)
                if prompt == "/leave":
                    await visit.until(lambda event: event["type"] == "session:completed")
            if prompts[-1] != "/leave":
                await visit.session.execute(PauseCommand(), command_id=None, by="test")
                await visit.until(lambda event: event["type"] == "session:paused")
            return visit

    return run(scenario(), 60).events, told


def types_of(events: list[dict[str, Any]]) -> set[str]:
    return {event["type"] for event in events}


@pytest.fixture(scope="module")
def recorded() -> set[str]:
    return {event["type"] for agent in AGENTS for (run_, session_id), steps in stories(agent).items()
            for event in events_of(agent, run_, session_id, steps)}


def test_the_tour_alone_shows_most_of_the_protocol_asks_no_question_and_ends_well(tmp_path: Path) -> None:
    events, told = visited(tmp_path, "Show me around")
    shown = types_of(events)
    assert events[0]["type"] == "session:started", "nothing is told before the session is there"
    assert len(shown) >= TOUR_LEAST, sorted(shown)
    assert "interaction:question" not in shown
    assert told["Show me around"][-1]["_meta"]["stopReason"] == "end_turn"
    assert "session:error" not in shown and "tool:error" not in shown


def test_the_demo_shows_what_the_tour_leaves_out(tmp_path: Path) -> None:
    events, told = visited(tmp_path, "/question", "/error", "/fail", "/limit 0", "/plan", "/leave", "/echo again")
    assert "interaction:question" in types_of(told["/question"])
    assert "session:error" in types_of(told["/error"])
    assert "tool:error" in types_of(told["/fail"])
    assert {"resource:rate_limit", "interaction:notification", "resource:cost"} <= types_of(told["/limit 0"])
    plans = [event for event in told["/plan"] if event["type"] == "progress:plan_mode"]
    assert [(event["active"], "plan" in event) for event in plans] == [(True, False), (True, True), (False, True)]
    assert "session:completed" in types_of(events), "an agent that leaves in good order has completed the session"
    assert "session:resumed" in types_of(told["/echo again"]), "and the next prompt takes it up again"


def test_every_event_type_is_told_by_a_recorded_agent_or_by_the_demo(tmp_path: Path, recorded: set[str]) -> None:
    events, _ = visited(tmp_path, "Show me around", "/question", "/limit 0", "/leave", "/echo again")
    missing = set(EVENTS) - recorded - types_of(events)
    assert not missing


def test_the_summary_at_the_end_says_what_the_session_really_did(tmp_path: Path) -> None:
    events, _ = visited(tmp_path, "Show me around", "/fail", "/leave")
    (completed,) = [event for event in events if event["type"] == "session:completed"]
    summary = completed["summary"]
    count = {kind: sum(event["type"] == kind for event in events) for kind in types_of(events)}
    assert summary["toolCallsCount"] == count["tool:start"]
    assert summary["messagesCount"] == count["message:complete"]
    assert summary["errorCount"] == count["tool:error"] == 2
    spent = [event for event in events if event["type"] == "resource:token_usage"]
    assert summary["tokenUsage"] == spent[-1]["cumulative"]
    assert summary["tokenUsage"]["outputTokens"] == sum(event["delta"]["outputTokens"] for event in spent)
    changed = {Path(file["path"]).name: (file["changeType"], file["linesAdded"]) for file in summary["filesChanged"]}
    assert changed["hello.md"] == ("created", 3) and changed["hello.py"][0] == "created"
    assert 0 < summary["duration"] < 60_000
