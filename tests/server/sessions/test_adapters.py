"""Agents as adapters over HTTP: a real agent process that lists, loads and refuses sessions of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.server.site import TOKEN, Site, site
from tests.tooling import puppet
from tests.tooling.stores import STORES
from trunkline.adapters.found import found_sessions
from trunkline.agents import catalog
from trunkline.hub import Hub, HubOptions
from trunkline.server.app import build_app
from trunkline.server.options import ServerOptions

STAMP = "2026-01-02T03:04:05.000Z"


def text(kind: str, said: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": said}}


@asynccontextmanager
async def puppet_site(folder: Path, *offers: str) -> AsyncIterator[Site]:
    """A served hub with an agent ``puppet`` that has two sessions in its store, of which one can be loaded."""
    work, data = folder / "work", folder / "data"
    work.mkdir()
    store = folder / "store.json"
    store.write_text(json.dumps({
        "offers": list(offers), "pageSize": 1,
        "sessions": [{"sessionId": "one", "cwd": str(work), "title": "The first", "updatedAt": STAMP},
                     {"sessionId": "two", "cwd": str(work), "updatedAt": "2026-01-03T00:00:00Z"}],
        "history": {"one": [text("user_message_chunk", "hello there"), text("agent_message_chunk", "general answer")]},
    }))
    spec = catalog.adhoc("puppet", f"{sys.executable} {puppet.__file__} --store {store}")
    async with Hub(HubOptions(data=data, store="memory:", agents={"puppet": spec})) as hub:
        yield Site(hub, build_app(hub, ServerOptions(data=data, port=7420, token=TOKEN)), work)


def test_every_agent_of_the_catalog_is_an_adapter(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            listed = {each["name"]: each for each in (await hub.ask("GET", "/adapters")).json()}
            assert set(listed) == set(catalog.load())
            assert listed["demo"]["installed"] is True
            assert listed["demo"]["capabilities"]["agent"]["integrationMethod"] == "sdk"
            assert all(set(each) >= {"name", "installed", "capabilities", "dataPaths"} for each in listed.values())

    run(check(), timeout_s=60)


def test_sessions_that_the_agent_lists_are_offered_page_by_page_read_together(tmp_path: Path) -> None:
    async def check() -> None:
        async with puppet_site(tmp_path, "list") as hub:
            answer = await hub.ask("GET", "/adapters/puppet/sessions")
            assert answer.status == 200, answer.body
            assert [(each["id"], each["lastActivity"]) for each in answer.json()["sessions"]] == [
                ("two", "2026-01-03T00:00:00.000Z"), ("one", STAMP)]
            assert answer.json()["sessions"][1]["sessionName"] == "The first"

    run(check())


def test_an_agent_that_does_not_list_its_sessions_still_has_the_hubs(tmp_path: Path) -> None:
    async def check() -> None:
        async with puppet_site(tmp_path) as hub:
            assert (await hub.ask("GET", "/adapters/puppet/sessions")).json() == {"sessions": []}
            made = await hub.ask("POST", "/sessions", json_body={"agent": "puppet", "cwd": str(hub.folder)})
            listed = (await hub.ask("GET", "/adapters/puppet/sessions")).json()["sessions"]
            assert [each["id"] for each in listed] == [made.json()["id"]]

    run(check())


def test_attaching_takes_a_session_over_with_its_history_and_attaching_again_joins_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with puppet_site(tmp_path, "list", "load") as hub:
            answer = await hub.ask("POST", "/adapters/puppet/sessions/one/attach")
            assert answer.status == 200, answer.body
            view = answer.json()
            assert answer.header("location") == f"/sessions/{view['id']}"
            assert (view["agent"], view["cwd"], view["title"]) == ("puppet", str(hub.folder.resolve()), "The first")
            history = (await hub.ask("GET", f"/sessions/{view['id']}/history?types=message:complete")).json()["events"]
            assert [(each["role"], each["content"][0]["text"]) for each in history] == [
                ("user", "hello there"), ("assistant", "general answer")]
            again = await hub.ask("POST", "/adapters/puppet/sessions/one/attach", json_body={})
            assert again.json()["id"] == view["id"]
            listed = (await hub.ask("GET", "/adapters/puppet/sessions")).json()["sessions"]
            assert sorted(each["id"] for each in listed) == sorted([view["id"], "two"])

    run(check())


def test_the_latest_session_of_a_folder_can_be_joined_without_its_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with puppet_site(tmp_path, "list", "resume") as hub:
            path = "/adapters/puppet/sessions/latest/attach"
            made = (await hub.ask("POST", "/sessions", json_body={"agent": "puppet", "cwd": str(hub.folder)})).json()
            joined = await hub.ask("POST", path, json_body={"projectPath": str(hub.folder)})
            assert (joined.status, joined.json()["id"]) == (200, made["id"]), "the hub's own is the newest"
            assert (await hub.ask("POST", path, json_body={"projectPath": "/"})).status == 404
            assert (await hub.ask("POST", path, json_body={})).status == 400

    run(check())


def test_what_cannot_be_attached_says_why(tmp_path: Path) -> None:
    async def check() -> None:
        async with puppet_site(tmp_path, "list") as hub:
            for path, body, status, code in [
                ("/adapters/nobody/sessions/one/attach", None, 404, "not_found"),
                ("/adapters/puppet/sessions/three/attach", None, 404, "not_found"),
                ("/adapters/puppet/sessions/one/attach", None, 501, "unsupported"),
                ("/adapters/puppet/sessions/one/attach", {"watch": True}, 501, "unsupported"),
                ("/adapters/puppet/sessions/one/attach", {"follow": True}, 400, "invalid"),
            ]:
                answer = await hub.ask("POST", path, json_body=body)
                assert (answer.status, answer.json()["code"]) == (status, code), (path, body, answer.body)
            assert (await hub.ask("GET", "/adapters/nobody/sessions")).status == 404
            assert (await hub.ask("GET", "/sessions")).json()["sessions"] == []

    run(check())


def test_looking_into_an_agents_sessions_takes_more_than_looking(tmp_path: Path) -> None:
    async def check() -> None:
        async with puppet_site(tmp_path, "list") as hub:
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "approve"})).json()
            assert (await hub.ask("GET", "/adapters/puppet/sessions", token=made["secret"])).status == 403
            assert (await hub.ask("POST", "/adapters/puppet/sessions/one/attach", token=made["secret"])).status == 403

    run(check())


@asynccontextmanager
async def home_site(home: Path) -> AsyncIterator[Site]:
    """A served hub on a machine where other programs wrote sessions."""
    for make in STORES.values():
        make(home)
    async with Hub(HubOptions(data=home / "data", store="memory:"), environ={"HOME": str(home), "PATH": str(home)}) as hub:
        yield Site(hub, build_app(hub, ServerOptions(data=home / "data", port=7420, token=TOKEN)), home)
        found_sessions(hub).close()


def test_sessions_that_other_programs_wrote_are_listed_beside_the_hubs_own(tmp_path: Path) -> None:
    async def check() -> None:
        async with home_site(tmp_path) as hub:
            page = (await hub.ask("GET", "/found")).json()
            assert len(page["sessions"]) == len(STORES) and page["revision"] == 1
            both = (await hub.ask("GET", "/sessions?found=true")).json()
            assert both["sessions"] == [] and both["found"] == page["sessions"]
            assert {each["where"] for each in both["found"]} == {"elsewhere"}
            assert "found" not in (await hub.ask("GET", "/sessions")).json()
            assert "found" not in (await hub.ask("GET", "/sessions?found=true&status=idle")).json()
            assert len((await hub.ask("GET", "/sessions?found=true&agent=qwen")).json()["found"]) == 1
            # Programs that begin or end on this machine meanwhile may make it a later one.
            other = (await hub.ask("GET", "/found?after=70&limit=1")).json()["revision"]
            assert 1 <= other < 70, "that revision is not this one, and nobody waits for it"
            assert (await hub.ask("GET", f"/found?after={other}&wait=0")).json()["revision"] >= other
            for bad in ("wait=x&after=1", "wait=61&after=1", "limit=1001", "limit=0"):
                assert (await hub.ask("GET", f"/found?{bad}")).status == 400

    run(check(), timeout_s=60)


def test_who_may_not_start_agents_is_not_shown_what_other_programs_wrote(tmp_path: Path) -> None:
    async def check() -> None:
        async with home_site(tmp_path) as hub:
            made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "wall", "scope": "view"})).json()
            assert (await hub.ask("GET", "/found", token=made["secret"])).status == 403
            answer = await hub.ask("GET", "/sessions?found=true", token=made["secret"])
            assert answer.status == 200 and "found" not in answer.json()

    run(check(), timeout_s=60)
