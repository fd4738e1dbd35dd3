"""Sessions that others began, over the wire: found with their agent, joined, and gone on with."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tooling.hub_process import PUPPET, HubProcess, Session, text_of

RECORDED = Path(__file__).parents[1] / "data" / "claude" / "projects"
REAL = "11111111-2222-4333-8444-555555555555"
WATCHED = "claude-agent-acp"


def chunk(kind: str, text: str) -> dict[str, object]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[HubProcess]:
    """A hub with an agent that has three sessions of its own, told in pages of two, and with a vendor's files in its home."""
    project = tmp_path / "project"
    project.mkdir()
    sessions = [{"sessionId": f"own-{number}", "cwd": str(project), "title": f"Number {number}",
                 "updatedAt": f"2026-03-0{number + 1}T12:00:00Z"} for number in range(3)]
    told = [chunk("user_message_chunk", "What is up?"), chunk("agent_message_chunk", "The sky.")]
    path = tmp_path / "store.json"
    path.write_text(json.dumps({"offers": ["list", "load"], "sessions": sessions, "pageSize": 2,
                                "history": {info["sessionId"]: told for info in sessions}}))
    shutil.copytree(RECORDED, tmp_path / "home" / ".claude" / "projects")
    with HubProcess(tmp_path, agents={"own": f"{PUPPET} --store {shlex.quote(str(path))}"}) as hub:
        yield hub


def test_an_agents_own_sessions_are_asked_for_and_one_is_joined_and_gone_on_with(own: HubProcess) -> None:
    listed = own.wire.get("/adapters/own/sessions")["sessions"]
    assert [session["id"] for session in listed] == ["own-2", "own-1", "own-0"]
    assert listed[0]["sessionName"] == "Number 2" and listed[0]["projectName"] == "project"
    assert not [process for process in own.left() if "puppet" in process.command], "the agent that was asked is gone"

    view = own.wire.post("/adapters/own/sessions/own-1/attach", {}, 200)
    assert (view["agentSessionId"], view["agentStart"], view["status"]) == ("own-1", "loaded", "idle")
    joined = Session(own, view["id"], own.root / "project")
    packets = [json.loads(packet) for _, packet in joined.history()]
    assert text_of(packets, "user_message_chunk") == "What is up?" and text_of(packets) == "The sky."
    assert text_of(joined.say(json.dumps([["say", "Still here."]]))) == "Still here."

    again = own.wire.post("/adapters/own/sessions/own-1/attach", {}, 200)
    assert again["id"] == view["id"], "there is one session, whoever joins it"
    now = own.wire.get("/adapters/own/sessions")["sessions"]
    assert sorted(session["id"] for session in now) == sorted(["own-2", view["id"], "own-0"]), "and it is listed once"


def test_an_agent_that_lists_nothing_is_no_error_and_an_unknown_session_is(own: HubProcess) -> None:
    assert own.wire.get("/adapters/puppet/sessions") == {"sessions": []}
    own.wire.ask("POST", "/adapters/own/sessions/nothing/attach", {}).expect(404)
    own.wire.ask("GET", "/adapters/nobody/sessions").expect(404)


def test_a_session_of_another_program_is_followed_over_a_restart_of_the_hub(own: HubProcess) -> None:
    (found,) = own.wire.get(f"/adapters/{WATCHED}/sessions")["sessions"]
    assert (found["id"], found["lastMessage"]) == (REAL, "It counted.")
    view = own.wire.post(f"/adapters/{WATCHED}/sessions/{REAL}/attach", {"watch": True}, 200)
    assert view["watchOnly"] is True
    session = Session(own, view["id"], own.root)
    before = session.history()
    assert text_of([json.loads(packet) for _, packet in before]).endswith("It counted.")
    refused = own.wire.ask("POST", f"{session.path}/send-message", {"content": "hello"}).expect(501)
    assert refused["code"] == "unsupported" and "only watched" in refused["message"]

    own.restart()
    with session.attach(after=before[-1][0]) as stream:
        with next((own.home / ".claude" / "projects").rglob("*.jsonl")).open("a") as file:
            line = {"type": "user", "uuid": "u9", "timestamp": "2027-01-01T00:00:00Z", "message": {"content": "One more thing"}}
            file.write(json.dumps(line) + "\n")
        said = next(packet.value for packet in stream if packet.value["type"] == "user_message_chunk")
    assert said["content"]["text"] == "One more thing"
    assert session.history()[:len(before)] == before, "nothing is told twice, nothing is changed"
