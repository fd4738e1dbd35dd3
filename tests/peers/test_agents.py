"""Real third-party agents behind a real hub, driven over HTTP, with a scripted model on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.dialects.packets.shapes_check import validate_packet
from tests.peers.recipes import TALKERS, WORKERS, Recipe
from tests.tooling.events import events_of, ways_back
from tests.tooling.hub_process import HubProcess, Session, text_of, types_of
from tests.tooling.messages_api import MessagesApi
from tests.tooling.scripted_model import ScriptedModel
from tests.tooling.wire import Stream

pytestmark = [pytest.mark.peers, pytest.mark.slow]
TURN_S = 60.0


class Peer:
    """One agent behind a hub of its own."""

    def __init__(self, recipe: Recipe, hub: HubProcess) -> None:
        self.recipe = recipe
        self.hub = hub

    def session(self) -> Session:
        """A new session with the agent."""
        return self.hub.new_session(self.recipe.name)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


def started(recipe: Recipe, model: ScriptedModel | MessagesApi, factory: pytest.TempPathFactory) -> Iterator[Peer]:
    hub = HubProcess(factory.mktemp(recipe.name))
    settings = hub.home / "config" / "trunkline" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(recipe.settings(hub.home, model.url))
    with hub:
        yield Peer(recipe, hub)


@pytest.fixture(scope="module", params=WORKERS, ids=lambda recipe: recipe.name)
def worker(request: pytest.FixtureRequest, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """An agent that uses tools."""
    yield from started(request.param, model, tmp_path_factory)


@pytest.fixture(scope="module", params=TALKERS, ids=lambda recipe: recipe.name)
def talker(request: pytest.FixtureRequest, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """An agent that only talks."""
    yield from started(request.param, model, tmp_path_factory)


def say(session: Session, prompt: str) -> list[dict[str, Any]]:
    return session.say(prompt, wait_s=TURN_S)


def play(session: Session, prompt: str, decision: str) -> list[dict[str, Any]]:
    """A turn in which every permission gets the same answer; returns its packets."""
    with session.send(prompt, wait_s=TURN_S) as stream:
        for packet in stream:
            validate_packet(packet.value)
            if packet.type == "approval_requested":
                session.post(f"permissions/{packet.value['requestId']}", {"decision": decision})
        return [packet.value for packet in stream.seen]


def to_permission(session: Session, prompt: str) -> Stream:
    """A turn, played up to its first permission."""
    stream = session.send(prompt, wait_s=TURN_S)
    stream.until("approval_requested")
    return stream


def assert_calls_are_whole(packets: list[dict[str, Any]]) -> None:
    """Every call that started also ended, and every permission was resolved."""
    started = [packet["toolCallId"] for packet in packets if packet["type"] == "tool_call_start"]
    last = {packet["toolCallId"]: packet["status"] for packet in packets if packet["type"] == "tool_call_progress"}
    assert len(set(started)) == len(started)
    assert all(last.get(call) in ("completed", "failed") for call in started), (started, last)
    asked = [packet["requestId"] for packet in packets if packet["type"] == "approval_requested"]
    assert sorted(asked) == sorted(packet["requestId"] for packet in packets if packet["type"] == "approval_resolved")


# Agents that only talk


def test_a_talker_repeats_the_prompt(talker: Peer) -> None:
    session = talker.session()
    packets = say(session, "repeat after me")
    assert "repeat after me" in text_of(packets)
    assert packets[-1]["stopReason"] == "end_turn"
    assert types_of(packets)[0] == "user_message_chunk"
    session.delete()


def test_a_talker_is_cancelled_between_turns_and_goes_on(talker: Peer) -> None:
    session = talker.session()
    say(session, "one")
    assert session.post("cancel") == {"cancelled": False}
    assert "two" in text_of(say(session, "two"))
    session.delete()


def test_a_talker_comes_back_after_a_restart_of_the_hub_and_it_is_said_how(talker: Peer) -> None:
    session = talker.session()
    say(session, "before")
    talker.hub.restart()
    assert "after" in text_of(say(session, "after"))
    assert ways_back(events_of(session)) == [talker.recipe.comes_back]
    session.delete()


# Agents that work


def test_text_streams(worker: Peer) -> None:
    session = worker.session()
    packets = say(session, "say hello")
    assert "Hello from the fake model." in text_of(packets)
    assert packets[-1]["stopReason"] == "end_turn"
    session.delete()


def test_an_allowed_tool_runs(worker: Peer) -> None:
    session = worker.session()
    made = session.folder / "made.txt"
    packets = play(session, f"run: touch {made}", "allow")
    assert made.exists()
    assert "approval_requested" in types_of(packets)
    assert_calls_are_whole(packets)
    assert packets[-1]["stopReason"] == "end_turn"
    session.delete()


def test_a_denied_tool_does_not_run(worker: Peer) -> None:
    session = worker.session()
    never = session.folder / "never.txt"
    packets = play(session, f"run: touch {never}", "deny")
    assert not never.exists()
    assert_calls_are_whole(packets)
    assert packets[-1]["stopReason"] == worker.recipe.stop_when_denied
    assert "Hello" in text_of(say(session, "say hello"))
    session.delete()


def test_a_written_file_is_an_artifact(worker: Peer) -> None:
    session = worker.session()
    note = session.folder / "note.txt"
    packets = play(session, f"write: {note} hello", "allow")
    assert note.read_text().strip() == "hello"
    # One of them has its client write without asking; then it is the hub that asks.
    assert "approval_requested" in types_of(packets)
    made = [packet["artifact"]["path"] for packet in packets if packet["type"] == "artifact_created"]
    assert "note.txt" in made
    assert_calls_are_whole(packets)
    session.delete()


def test_a_turn_is_cancelled_while_it_streams(worker: Peer) -> None:
    session = worker.session()
    with session.send("slow", wait_s=TURN_S) as stream:
        stream.until("agent_message_chunk")
        session.post("cancel")
        packets = [packet.value for packet in stream.rest()]
    assert packets[-1]["stopReason"] == "cancelled"
    assert "Hello" in text_of(say(session, "say hello"))
    session.delete()


def test_a_turn_is_cancelled_while_a_permission_is_open(worker: Peer) -> None:
    session = worker.session()
    never = session.folder / "never.txt"
    with to_permission(session, f"run: touch {never}") as stream:
        session.post("cancel")
        stream.rest()
        packets = [packet.value for packet in stream.seen]
    assert packets[-1]["stopReason"] == "cancelled"
    assert [packet["approved"] for packet in packets if packet["type"] == "approval_resolved"] == [False]
    assert_calls_are_whole(packets)
    assert not never.exists()
    assert "Hello" in text_of(say(session, "say hello"))
    session.delete()


def test_calls_in_parallel_each_get_their_decision(worker: Peer) -> None:
    session = worker.session()
    one, two = session.folder / "one.txt", session.folder / "two.txt"
    packets = play(session, f"par: touch {one} ;; touch {two}", "allow")
    assert one.exists() and two.exists()
    assert sum(packet["type"] == "tool_call_start" for packet in packets) >= 2
    assert_calls_are_whole(packets)
    assert packets[-1]["stopReason"] == "end_turn"
    session.delete()


def test_a_session_comes_back_after_a_restart_of_the_hub_and_it_is_said_how(worker: Peer) -> None:
    session = worker.session()
    say(session, "say hello")
    before = session.history()
    worker.hub.restart()
    assert "Hello" in text_of(say(session, "say hello"))
    assert session.history()[:len(before)] == before, "a replay of the past is no news"
    users = [data for _, data in session.history() if b'"user_message_chunk"' in data]
    assert len(users) == 2
    assert ways_back(events_of(session)) == [worker.recipe.comes_back]
    session.delete()


def test_a_killed_hub_finds_the_session_again_and_ends_the_agent_it_left(worker: Peer) -> None:
    session = worker.session()
    with session.send("slow", wait_s=TURN_S) as stream:
        stream.until("agent_message_chunk")
        worker.hub.kill()
    worker.hub.start()
    assert [process for process in worker.hub.left() if process.pid != worker.hub.pid] == []
    assert "Hello" in text_of(say(session, "say hello"))
    session.delete()


def test_a_fault_of_the_model_ends_the_turn_once(worker: Peer) -> None:
    session = worker.session()
    packets = say(session, "error: 400")
    ends = [packet for packet in packets if packet["type"] in ("prompt_response", "error")]
    assert len(ends) == 1 and packets[-1] is ends[0]
    assert "Hello" in text_of(say(session, "say hello"))
    session.delete()
