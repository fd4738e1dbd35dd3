"""What other programs wrote at a node, in terminals there, is in everybody's list, and is joined from anywhere."""

from __future__ import annotations

from pathlib import Path

from tests.aio import eventually, run
from tests.cluster.showing.world import node
from tests.tooling.nats import NatsServer
from tests.tooling.stores import STORES


def test_what_was_found_on_one_node_is_listed_at_all_of_them_and_joined_from_there(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        home = tmp_path / "home"
        for make in STORES.values():
            make(home)
        async with node(stream.url, "web4", tmp_path, "gateway") as web:
            async with node(stream.url, "desk", tmp_path, home=home) as desk, node(stream.url, "other", tmp_path):
                await eventually(lambda: {"desk", "other"} <= set(web.cluster.nodes.rows))
                there = (await desk.get("/found?node=desk"))["sessions"]
                assert len(there) == len(STORES) and {each["node"] for each in there} == {"desk"}
                for path in ("/found", "/found?node=desk"):
                    assert ids((await web.get(path))["sessions"]) == ids(there)
                assert ids((await web.get("/sessions?found=true"))["found"]) == ids(there)
                assert (await web.get("/found?node=other"))["sessions"] == []
                one = next(each for each in there if each["agent"] == "codex-acp")
                attach = f"/adapters/codex-acp/sessions/{one['id']}/attach?node=desk"
                joined = await web.ask("POST", attach, json_body={"watch": True})
                assert (joined.status, joined.json()["node"]) == (200, "desk"), joined.body
                await eventually(lambda: web.sight.shows(joined.json()["id"]))
            await eventually(lambda: web.cluster.standing.away("desk"))
            left = await web.get("/found")
            assert left["sessions"] == [] and set(left["missing"]) >= {"desk"}

    run(go())


def ids(found: list[dict[str, str]]) -> list[tuple[str, str]]:
    return sorted((each["node"], each["id"]) for each in found)
