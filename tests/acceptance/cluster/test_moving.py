"""A session that goes on at another node: handed over by its owner, or taken from one that is away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cluster.farm import Farm, farm
from tests.tooling.hub_process import HubProcess, Session, text_of
from tests.tooling.nats import until
from tests.tooling.processes import eventually


def move(hub: HubProcess, session: Session, to: str, status: int = 200, **more: Any) -> Any:
    return hub.wire.ask("POST", f"{session.path}/move", {"node": to, **more}).expect(status)


def events(session: Session, name: str) -> list[Any]:
    """What a session's events of one of our own kinds say."""
    page = session.wire.get(f"{session.path}/history?limit=5000")
    return [each["data"] for each in page["events"] if each["type"] == "custom" and each["eventName"] == name]


def approve(session: Session) -> None:
    """A turn with an approval in it, by somebody at a gateway."""
    with session.send("/ask") as turn:
        asked = turn.until("approval_requested").value
        session.post(f"permissions/{asked['requestId']}", {"decision": "allow"})
        assert turn.rest()[-1].type == "prompt_response"


def test_the_chain_of_approvals_goes_on_where_a_session_is_moved_to(tmp_path: Path) -> None:
    with farm(tmp_path, gateway=False) as nodes:
        box, den = nodes["box"], nodes["den"]
        session = box.new_session(node="box")
        approve(session)
        move(box, session, "den")
        here = nodes.known("den", session, "den")
        approve(here)
        nodes.known("box", session, "den")
        den.stop()
        told = json.loads(den.command("audit", "verify", "--json").stdout)
        [chain] = [each for each in told if each["sessionId"] == session.id]
        assert (chain["ok"], chain["count"], chain["sealedElsewhere"]) == (True, 5, 2)
        shown = den.command("audit", "verify", session.id)
        assert shown.returncode == 0 and "whole from 3 on; sealed by other nodes before" in shown.stdout
        assert box.command("audit", "verify").returncode == 0  # where it went away nobody misses it


def test_an_owner_hands_a_session_over_and_it_goes_on_elsewhere(nodes: Farm) -> None:
    session = nodes["box"].new_session(node="box")
    session.say("/echo at the first")
    before = session.history()
    at_web = nodes.known("web", session, "box")
    view = move(nodes["web"], session, "den")
    assert (view["node"], view["status"]) == ("den", "idle")
    for name in ("web", "den", "box"):
        nodes.known(name, session, "den")
    here = Session(nodes["den"], session.id, session.folder)
    assert here.history()[:len(before)] == before  # the same entries, under the same numbers
    [moved] = events(here, "session_moved")
    assert (moved["from"], moved["to"], moved["epoch"]) == ("box", "den", 2)
    assert moved["after"] >= before[-1][0] and events(here, "gap") == []
    assert text_of(at_web.say("/echo at the second")) == "at the second"
    assert here.view()["agentStart"] in ("resumed", "loaded", "new")
    assert not (nodes["box"].data / "quarantine").exists()
    assert move(nodes["web"], session, "box")["node"] == "box"  # and back
    nodes.known("web", session, "box")
    assert text_of(at_web.say("/echo at home")) == "at home"
    assert [each["epoch"] for each in events(at_web, "session_moved")] == [2, 3]


def test_what_cannot_be_moved_is_refused_and_stays(nodes: Farm) -> None:
    with nodes.add("loft"):
        nodes.all_there("web", "loft")
        box, web = nodes["box"], nodes["web"]
        session = box.new_session("puppet", node="box")
        nodes.known("web", session, "box")
        assert "is on box already" in move(web, session, "box", 400)["message"]
        assert "only nodes of one --pool" in move(web, session, "loft", 400)["message"]
        assert move(web, session, "barn", 404)["code"] == "node_unknown"
        assert move(web, session, "web", 400)["code"] == "invalid"
        direct = box.wire.ask("POST", f"/cluster/sessions/{session.id}/let-go", {"to": "den"})
        assert (direct.status, direct.json()["code"]) == (403, "forbidden")
        with session.send(json.dumps([["say", "busy"], ["wait"]])) as turn:
            turn.until("agent_message_chunk")
            assert move(web, session, "den", 409)["code"] == "turn_in_progress"
            assert session.view()["status"] in ("running", "thinking")
            assert move(web, session, "den", force=True)["node"] == "den"
            assert turn.rest()[-1].type in ("error", "prompt_response")
        gone = box.new_session(cwd=box.new_folder(), node="box")
        nodes.known("web", gone, "box")
        gone.folder.rmdir()
        assert str(gone.folder) in move(web, gone, "den", 400)["message"]
        assert nodes["den"].wire.ask("GET", "/sessions").json()["sessions"]  # it goes on


@pytest.mark.slow
def test_a_session_is_adopted_from_a_node_that_is_away_and_its_tail_is_put_aside(tmp_path: Path) -> None:
    with farm(tmp_path) as nodes:
        box, web = nodes["box"], nodes["web"]
        session = box.new_session(node="box")
        approve(session)
        session.say("/echo shipped")
        nodes.known("web", session, "box")
        until(lambda: nodes.node("web", "box")["lag"] == 0, "all of it is in the stream")
        # The servers stop, so that what box says now is its alone; then box dies, and the servers come back.
        nodes.server.kill()
        session.say("/echo only here")
        tail = session.view()["lastSeq"]
        box.kill()
        nodes.server.start()
        nodes.server.wait_ready()
        nodes.away("web", "box")
        assert move(web, session, "den")["node"] == "den"
        here = nodes.known("den", session, "den")
        [moved], [gap] = events(here, "session_moved"), events(here, "gap")
        assert gap["from"] == moved["after"] + 1 and gap["to"] > tail > moved["after"]
        with here.attach(after=tail) as stream:  # a reader who had seen what is lost
            assert next(iter(stream)).type == "gap"
        assert text_of(here.say("/echo adopted")) == "adopted"
        approve(here)
        box.start()
        aside = box.data / "quarantine"
        eventually(lambda: list(aside.glob("*.jsonl")), "what only box had is put aside")
        [file] = aside.glob("*.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert [each["seq"] for each in lines][-1] == tail and "only here" in file.read_text()
        eventually(lambda: nodes.node("web", "box").get("aside") == len(lines), "the cluster is told of it")
        eventually(lambda: events(here, "session_tail_aside") == [{"node": "box", "epoch": 2, "entries": len(lines)}],
                   "and so is the session")
        nodes.known("box", session, "den")
        assert "was taken over by another node" in box.log()
        nodes["den"].stop()
        verified = nodes["den"].command("audit", "verify", session.id)
        assert verified.returncode == 0 and "sealed by other nodes before" in verified.stdout
