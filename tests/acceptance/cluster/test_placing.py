"""Where a new session runs: at the node, pool or labels that it names, or where there is least to do; else it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.acceptance.cluster.farm import Farm, farm
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually


def start(hub: HubProcess, folder: Path, **where: Any) -> Any:
    """Ask for a session; the answer, whatever it is."""
    return hub.wire.ask("POST", "/sessions", {"agent": "fast", "cwd": str(folder), **where})


def placed(hub: HubProcess, folder: Path, **where: Any) -> str:
    answer = start(hub, folder, **where)
    assert answer.status == 201, answer.body
    return str(answer.json()["node"])


def refused(hub: HubProcess, folder: Path, **where: Any) -> tuple[int, str, str]:
    answer = start(hub, folder, **where)
    told = answer.json()
    return answer.status, told["code"], told["message"]


def test_a_session_runs_where_it_asks_to(nodes: Farm) -> None:
    web, folder = nodes["web"], nodes["box"].new_folder()
    assert placed(web, folder, node="den") == "den"
    assert placed(web, folder, labels={"disk": "den"}) == "den"
    assert placed(web, folder, pool="farm", labels={"disk": "box"}) == "box"
    assert placed(nodes["box"], folder, node="den") == "den"
    assert web.wire.ask("POST", "/sessions?node=den", {"agent": "fast", "cwd": str(folder)}).json()["node"] == "den"
    assert refused(web, folder, node="mill")[:2] == (404, "node_unknown")
    assert refused(web, folder, node="web")[:2] == (400, "invalid")
    assert refused(web, folder, pool="mill") == (503, "no_node_fits", "no node that is there is of pool mill")
    assert refused(web, folder, labels={"disk": "tape"}) == (503, "no_node_fits", "no node that is there is of disk=tape")
    assert refused(web, folder, node="den", labels={"disk": "box"})[:2] == (503, "no_node_fits")


def test_where_nothing_is_said_the_load_decides_and_a_hub_prefers_itself(tmp_path: Path) -> None:
    with farm(tmp_path) as nodes:
        folder = nodes["box"].new_folder()
        assert placed(nodes["den"], folder) == "den"
        eventually(lambda: nodes.node("web", "den")["running"] == 1, "the gateway knows its load")
        assert placed(nodes["web"], folder) == "box"
        alone = nodes.add("mill")
        with alone:
            nodes.all_there("mill", "box", "den")
            assert [placed(alone, folder) for _ in range(3)] == ["mill"] * 3  # its folders are those of its own pool


def test_a_key_starts_one_session_at_whichever_gateway(nodes: Farm) -> None:
    folder = nodes["box"].new_folder()
    # Whose key it is belongs to it: only a token that counts everywhere is the same caller at both.
    token = nodes["web"].wire.post("/auth/tokens", {"name": "phone", "scope": "control"}, 201)["secret"]
    eventually(lambda: nodes["box"].wire.with_token(token).ask("GET", "/agents").status == 200, "the token counts everywhere")
    body = {"agent": "fast", "cwd": str(folder)}
    headers = {"Idempotency-Key": "once"}
    told = [nodes[name].wire.with_token(token).ask("POST", "/sessions", body, headers).expect(201)
            for name in ("web", "box", "den", "web")]
    assert len({each["id"] for each in told}) == 1
    other = nodes["den"].wire.with_token(token).ask("POST", "/sessions", {**body, "title": "another"}, headers)
    assert (other.status, other.json()["code"]) == (409, "key_reused")


def test_a_node_that_is_away_or_drains_takes_none_and_says_so(nodes: Farm) -> None:
    web, den, folder = nodes["web"], nodes["den"], nodes["box"].new_folder()
    session = den.new_session(node="den")
    nodes.known("web", session, "den")
    drained = web.wire.post("/cluster/nodes/den/drain", {"draining": True})
    assert next(each for each in drained["nodes"] if each["node"] == "den")["draining"] is True
    check_drained(nodes, folder)
    den.restart()
    nodes.all_there("web", "den")
    check_drained(nodes, folder)  # it outlives the node
    assert session.say("/echo still here")[-1]["type"] == "prompt_response"  # what is there goes on
    web.wire.post("/cluster/nodes/den/drain", {"draining": False})
    assert placed(web, folder, node="den") == "den"
    there = web.wire.ask("DELETE", "/cluster/nodes/den")
    assert (there.status, there.json()["code"]) == (409, "node_there")
    den.stop()
    nodes.away("web", "den")
    status, code, why = refused(web, folder, node="den")
    assert (status, code) == (503, "node_away") and why.startswith("den has not been heard of since ")
    prompt = web.wire.ask("POST", f"{session.path}/send-message", {"content": "hello"})
    assert (prompt.status, prompt.json()["code"]) == (503, "node_away")
    assert "den has not been heard of since" in prompt.json()["message"]
    forgotten = web.wire.ask("DELETE", "/cluster/nodes/den").expect(200)
    assert next(each for each in forgotten["nodes"] if each["node"] == "den")["away"] == "den is gone for good"
    den.start()
    nodes.all_there("web", "den")
    assert placed(web, folder, node="den") == "den"  # it came back all the same


def check_drained(nodes: Farm, folder: Path) -> None:
    web, den = nodes["web"], nodes["den"]
    eventually(lambda: nodes.node("den", "den").get("draining"), "the node knows it as well")
    assert refused(web, folder, node="den")[:2] == (503, "node_draining")
    assert refused(den, folder, node="den")[:2] == (503, "node_draining")
    assert refused(web, folder, labels={"disk": "den"}) == (
        503, "node_draining", "every node that fits is being drained: den")
    assert {placed(web, folder) for _ in range(2)} == {"box"}
    assert placed(den, folder) == "box"


def test_a_hub_of_its_own_has_no_cluster(tmp_path: Path) -> None:
    with HubProcess(tmp_path / "alone") as hub:
        for method, path in (("GET", "/cluster"), ("POST", "/cluster/nodes/x/drain"), ("DELETE", "/cluster/nodes/x")):
            answer = hub.wire.ask(method, path)
            assert (answer.status, answer.json()["code"]) == (404, "not_clustered")
        assert refused(hub, hub.new_folder(), node="box")[:2] == (404, "not_clustered")
        assert "node" not in hub.new_session().view()
