"""Sessions of real agents' own stores, after the hub has forgotten them: listed by the agent, joined, and gone on with."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.peers.recipes import DEEP, WORKERS
from tests.peers.test_agents import TURN_S, Peer, model, say, started
from tests.tooling.hub_process import Session, text_of
from tests.tooling.scripted_model import ScriptedModel

pytestmark = [pytest.mark.peers, pytest.mark.slow]
__all__ = ["model"]

FORKS = {"opencode-peer"}


@pytest.fixture(scope="module", params=WORKERS, ids=lambda recipe: recipe.name)
def peer(request: pytest.FixtureRequest, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    yield from started(request.param, model, tmp_path_factory)


def test_a_session_that_the_hub_forgot_is_listed_by_its_agent_and_joined_with_its_history(peer: Peer) -> None:
    first = peer.session()
    answered = text_of(say(first, "say hello"))
    own_id = first.view()["agentSessionId"]
    first.delete()
    beside = peer.hub.new_session("fast", first.folder)  # some agents list the sessions of folders that the hub knows, no others
    listed = peer.hub.wire.ask("GET", f"/adapters/{peer.recipe.name}/sessions", wait_s=TURN_S).expect(200)["sessions"]
    if peer.recipe is DEEP:
        assert listed == [], "it does not list its sessions, which is no error"
        return beside.delete()
    (found,) = [session for session in listed if session["id"] == own_id]
    assert found["projectPath"] == str(first.folder)
    view = peer.hub.wire.ask("POST", f"/adapters/{peer.recipe.name}/sessions/{own_id}/attach", {}, wait_s=TURN_S).expect(200)
    assert (view["agentSessionId"], view["agentStart"]) == (own_id, "loaded")
    joined = Session(peer.hub, view["id"], first.folder)
    told = [json.loads(packet) for _, packet in joined.history()]
    assert "say hello" in text_of(told, "user_message_chunk") and answered.strip() in text_of(told)
    assert text_of(say(joined, "say hello"))
    joined.delete()
    beside.delete()


def test_a_session_is_forked_where_its_agent_can_and_both_go_on_by_themselves(peer: Peer) -> None:
    source = peer.session()
    answered = text_of(say(source, "say hello"))
    asked = peer.hub.wire.ask("POST", f"{source.path}/fork", {}, wait_s=TURN_S)
    if peer.recipe.name not in FORKS:
        assert asked.status == 501, "it does not offer to"
        return source.delete()
    view = asked.expect(201)
    assert (view["agentStart"], view["agentSessionId"] != source.view()["agentSessionId"]) == ("forked", True)
    branch = Session(peer.hub, view["id"], source.folder)
    told = [json.loads(packet) for _, packet in branch.history()]
    assert answered.strip() in text_of(told), "what was said before is in the branch"
    assert text_of(say(branch, "say hello")) and text_of(say(source, "say hello"))
    branch.delete()
    source.delete()
