"""The command line at one hub of a cluster: sessions of all nodes, each with its node; a new one where it is wanted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cluster.farm import Farm, farm
from tests.aio import run
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually
from trunkline.cli.placing import Place, folder, placed
from trunkline.client import Client


def said(hub: HubProcess, *words: str, **more: Any) -> str:
    """What a command prints, that does what it should."""
    done = hub.command(*words, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def place_of(hub: HubProcess, node: str | None, cwd: str) -> Place:
    """Where the command line puts a session at this hub."""
    async def ask() -> Place:
        async with Client(hub.url, hub.token) as client:
            return await placed(client, node, cwd)

    return run(ask())


def test_sessions_of_all_nodes_are_listed_steered_and_begun_at_any_hub(nodes: Farm) -> None:
    web, den = nodes["web"], nodes["den"]
    far = den.new_session("fast", title="Far away", node="den")
    nodes.known("web", far, "den")
    check_list(web, far.id)
    assert "hello there" in said(web, "send", far.id, "/echo hello there", "--wait")
    assert "hello there" in said(web, "tail", far.id, "--no-follow", "--after", "0")
    begun = said(web, "run", "fast", "/echo begun", "--node", "den", "--cwd", str(far.folder), "--title", "By name")
    assert f"fast in {far.folder} on den (session ses_" in begun and "begun" in begun
    assert "begun" in said(web, "chat", "fast", "--node", "box", "--cwd", "~", input="/echo begun\n")
    eventually(lambda: {each["node"] for each in web.wire.get("/sessions")["sessions"]} == {"box", "den"}, "the hub has them")
    assert nodes_in(web) == {"box", "den"}
    unknown = web.command("run", "fast", "hello", "--node", "mill")
    assert unknown.returncode == 1 and "the cluster has no node mill" in unknown.stderr
    asks = den.new_session("puppet", node="den")
    nodes.known("web", asks, "den")
    check_answer(nodes, asks.id)


def nodes_in(hub: HubProcess) -> set[str]:
    """Where the sessions are that a hub lists."""
    return {each["node"] for each in json.loads(said(hub, "sessions", "list", "--here", "--json"))}


def check_list(web: HubProcess, session_id: str) -> None:
    head, *rows = said(web, "sessions", "list", "--here").splitlines()
    assert head.split()[:3] == ["ID", "NODE", "STATUS"]
    assert [row.split()[:3] for row in rows] == [[session_id, "den", "idle"]]
    assert [each["node"] for each in json.loads(said(web, "sessions", "list", "--node", "den", "--here", "--json"))] == ["den"]
    assert json.loads(said(web, "sessions", "list", "--node", "box", "--here", "--json")) == []
    assert "node         den" in said(web, "sessions", "show", session_id)


def check_answer(nodes: Farm, session_id: str) -> None:
    """What a session at another node asks is approved here."""
    web = nodes["web"]
    ask = [["request", "session/request_permission", {
        "toolCall": {"toolCallId": "c1", "title": "ls", "kind": "execute", "status": "pending", "rawInput": {"command": "ls"}},
        "options": [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]}], ["answer"], ["say", "Thank you."]]
    said(web, "send", session_id, json.dumps(ask))
    eventually(lambda: web.command("approve", session_id).returncode == 0, "the ask came, and is approved")
    eventually(lambda: "Thank you." in said(web, "tail", session_id, "--no-follow", "--after", "0"), "it went on")


@pytest.mark.slow
def test_a_session_whose_node_is_away_says_so(tmp_path: Path) -> None:
    with farm(tmp_path) as nodes:
        web, far = nodes["web"], nodes["den"].new_session("fast", node="den")
        nodes.known("web", far, "den")
        nodes["den"].stop()
        nodes.away("web", "den")
        assert said(web, "sessions", "list", "--here").splitlines()[1].split()[1:3] == ["den", "unreachable"]
        assert "unreachable  den has not been heard of since " in said(web, "sessions", "show", far.id)
        refused = web.command("send", far.id, "hello")
        assert refused.returncode == 1 and "den has not been heard of since " in refused.stderr


def test_a_session_that_names_no_node_runs_on_this_machine_where_its_folder_and_its_variables_are(
        tmp_path: Path, nodes: Farm) -> None:
    assert place_of(nodes["box"], None, "/x") == Place("box", "/x", is_here=True)
    assert place_of(nodes["box"], "box", "~") == Place("box", str(nodes["box"].home), is_here=True)
    assert place_of(nodes["box"], "den", "~") == Place("den", str(nodes["den"].home), is_here=False)
    assert place_of(nodes["web"], None, "/x") == Place(None, "/x", is_here=False)
    assert place_of(nodes["web"], "box", "/x") == Place("box", "/x", is_here=False)
    with HubProcess(tmp_path / "alone") as alone:
        assert place_of(alone, None, "/x") == Place(None, "/x", is_here=True)


def test_a_folder_below_home_is_left_to_the_node_that_is_named() -> None:
    assert folder("~/x", "den") == "~/x"
    assert folder("~/x", None) == str(Path.home() / "x")
    assert (folder(None, "den"), folder("y", None)) == (str(Path.cwd()), str(Path.cwd() / "y"))
