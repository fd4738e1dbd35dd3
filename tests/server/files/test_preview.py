"""Artifacts, and previews that know nobody."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import TOKEN, Site, browser, site
from trunkline.errors import NotFound
from trunkline.hub import Session
from trunkline.server.files.preview_keys import Previews
from trunkline.session.fold import Artifact
from trunkline.session.workspace.files import Workspace


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def artifact(path: str, kind: str = "file") -> Artifact:
    """Something that an agent made."""
    return Artifact(id=f"art_{Path(path).name}", type=kind, name=Path(path).name, path=path, relative_path=Path(path).name,
                    created_at="2026-01-01T00:00:00.000Z", updated_at="2026-01-01T00:00:00.000Z")


async def with_artifacts(hub: Site) -> tuple[Session, dict[str, dict[str, Any]]]:
    """A session whose agent made a file, an image, a web app, and an app without output; by name."""
    session = await hub.session()
    app = hub.folder / "shop"
    (app / "css").mkdir(parents=True)
    (app / "index.html").write_text("<h1>Shop</h1><script src='app.js'></script>")
    (app / "app.js").write_text("console.log(1)")
    (app / "css" / "index.html").write_text("nested")
    (app / "link_out").symlink_to(hub.folder / "notes.txt")
    (hub.folder / "notes.txt").write_text("notes")
    (hub.folder / "chart.png").write_bytes(b"\x89PNG")
    (hub.folder / "page.html").write_text("<script>parent.document</script>")
    (hub.folder / "next").mkdir()
    for path, kind in (("notes.txt", "file"), ("chart.png", "image"), ("page.html", "file"), ("shop", "web_app"),
                       ("next", "nextjs_app")):
        made = artifact(str(hub.folder / path), kind)
        session.fold.artifacts[made.path] = made
    listed = (await hub.ask("GET", f"/sessions/{session.id}/artifacts")).json()
    return session, {each["name"]: each for each in listed}


def test_artifacts_are_listed_with_a_preview_where_there_is_something_to_show(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, listed = await with_artifacts(hub)
            assert set(listed["notes.txt"]) == {
                "id", "sessionId", "type", "name", "path", "preview_url", "version", "createdAt", "updatedAt"}
            assert listed["next"]["preview_url"] is None
            for name in ("notes.txt", "chart.png", "shop"):
                assert listed[name]["preview_url"].startswith("/preview/")
            one = await hub.ask("GET", f"/sessions/{session.id}/artifacts/{listed['shop']['id']}")
            assert one.json() == listed["shop"]
            assert (await hub.ask("GET", f"/sessions/{session.id}/artifacts/none")).status == 404

    run(check())


def test_a_files_preview_is_that_file_and_nothing_else(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            url = listed["notes.txt"]["preview_url"]
            answer = await hub.ask("GET", url, token=None)
            assert (answer.status, answer.body) == (200, b"notes")
            folder = url.rpartition("/")[0]
            for path in ("chart.png", "shop/index.html", "../notes.txt", "x/notes.txt"):
                assert (await hub.ask("GET", f"{folder}/{path}", token=None)).status == 404
            page = await hub.ask("GET", listed["page.html"]["preview_url"], token=None)
            assert page.header("content-type") == "text/html; charset=utf-8"

    run(check())


def test_a_web_apps_preview_is_its_folder(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            url = listed["shop"]["preview_url"]
            assert url.endswith("/")
            index = await hub.ask("GET", url, token=None)
            assert (index.status, index.header("content-type")) == (200, "text/html; charset=utf-8")
            assert b"Shop" in index.body
            script = await hub.ask("GET", f"{url}app.js", token=None)
            assert (script.header("content-type") or "").startswith("text/javascript")
            assert (await hub.ask("GET", f"{url}css/", token=None)).body == b"nested"
            moved = await hub.ask("GET", f"{url}css", token=None)
            assert (moved.status, moved.header("location")) == (307, f"{url}css/")
            assert (await hub.ask("GET", f"{url}none.css", token=None)).status == 404

    run(check())


@pytest.mark.parametrize("path", [
    "../notes.txt", "css/../../notes.txt", "link_out", "..", "css/..", "%2e%2e/notes.txt", "\0", "/etc/passwd",
])
def test_a_preview_cannot_leave_its_folder(tmp_path: Path, path: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            answer = await hub.ask("GET", listed["shop"]["preview_url"] + path, token=None)
            assert answer.status in (400, 403, 404), answer.status
            assert answer.body != b"notes"

    run(check())


def test_a_preview_runs_no_scripts_and_may_load_only_its_own_files(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            for name in ("shop", "page.html", "chart.png"):
                url = listed[name]["preview_url"]
                answer = await hub.ask("GET", url, token=None)
                rules = (answer.header("content-security-policy") or "").split(";")
                policy = dict(rule.strip().partition(" ")[::2] for rule in rules)
                assert policy["sandbox"] == "" and policy["script-src"] == policy["worker-src"] == "'none'"
                assert policy["frame-ancestors"] == "'self'"
                own = f"http://localhost:7420/preview/{url.split('/')[2]}/"
                assert policy["default-src"].split() == [own, "data:", "blob:"]
                assert policy["connect-src"] == "'none'"
                assert answer.header("cache-control") == "no-store"
                assert answer.header("x-content-type-options") == "nosniff"
                assert answer.header("referrer-policy") == "no-referrer"
                assert answer.header("set-cookie") is None

    run(check())


def test_what_runs_in_a_preview_gets_its_own_files_and_nothing_from_the_api(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, listed = await with_artifacts(hub)
            sandboxed = {"origin": "null", "sec-fetch-site": "cross-site"}
            own = await hub.ask("GET", listed["shop"]["preview_url"] + "app.js", token=None, headers=sandboxed)
            assert (own.status, own.header("access-control-allow-origin")) == (200, "*")
            login = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None)
            for path in ("/sessions", f"/sessions/{session.id}/artifacts", "/healthz", "/"):
                answer = await hub.ask("GET", path, token=None, headers={**browser(login), **sandboxed})
                assert answer.status == 403, path
                assert answer.header("access-control-allow-origin") is None

    run(check())


def test_a_cookie_or_token_makes_no_difference_to_a_preview(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            wrong = {"authorization": "Bearer wrong", "cookie": f"{hub.app.parts.gate.cookies.name}=wrong"}
            assert (await hub.ask("GET", listed["shop"]["preview_url"], headers=wrong)).status == 200
            for key in ("0" * 32, "x", "..", listed["shop"]["preview_url"].split("/")[2][:-1]):
                assert (await hub.ask("GET", f"/preview/{key}/")).status == 404
            foreign = await hub.ask("GET", listed["shop"]["preview_url"], headers={"host": "evil.example"})
            assert foreign.status == 403

    run(check())


def test_an_artifact_that_became_a_link_to_the_outside_is_not_shown(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            (tmp_path / "secret").write_text("secret")
            (hub.folder / "notes.txt").unlink()
            (hub.folder / "notes.txt").symlink_to(tmp_path / "secret")
            answer = await hub.ask("GET", listed["notes.txt"]["preview_url"], token=None)
            assert (answer.status, b"secret" in answer.body) == (403, False)

    run(check())


def test_the_preview_of_a_deleted_session_is_gone(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, listed = await with_artifacts(hub)
            await hub.ask("DELETE", f"/sessions/{session.id}")
            assert (await hub.ask("GET", listed["shop"]["preview_url"], token=None)).status == 404

    run(check())


def test_a_key_has_128_bits_works_for_its_time_and_is_reused_while_it_is_fresh() -> None:
    clock = Clock()
    previews = Previews(3600, clock)
    made = artifact("/project/a b.txt")
    url = previews.url("ses", made)
    key = url.split("/")[2]
    assert url == f"/preview/{key}/a%20b.txt"
    assert len(bytes.fromhex(key)) == 16
    clock.now = 1799
    assert previews.url("ses", made) == url
    clock.now = 1800
    assert previews.url("ses", made) != url
    assert previews.shown(key).artifact_id == made.id
    clock.now = 3600
    with pytest.raises(NotFound):
        previews.shown(key)


def test_expired_keys_are_forgotten() -> None:
    clock = Clock()
    previews = Previews(10, clock)
    for number in range(100):
        clock.now = float(number * 20)
        previews.url("ses", artifact(f"/project/{number}"))
    assert len(previews) == 1


def test_keys_of_different_artifacts_and_sessions_differ() -> None:
    previews = Previews(10)
    urls = {previews.url(session, artifact(path)) for session in ("a", "b") for path in ("/x", "/y")}
    assert len(urls) == 4


def test_the_hub_gets_addresses_for_its_packets_that_work(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, _ = await with_artifacts(hub)
            url = hub.hub.preview_url(session.id, session.artifact("art_notes.txt")) or ""
            assert (await hub.ask("GET", url, token=None)).body == b"notes"

    run(check())


REMOTE = ("script-src", "style-src", "img-src", "font-src")


async def policy_at(hub: Site, url: str) -> dict[str, str]:
    """What a page at that address may load, by the kind of it."""
    answer = await hub.ask("GET", url, token=None)
    assert answer.status == 200, answer.body
    rules = (answer.header("content-security-policy") or "").split(";")
    return dict(rule.strip().partition(" ")[::2] for rule in rules)


def test_a_preview_is_still_unless_somebody_asked_for_it_live(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, listed = await with_artifacts(hub)
            shop = listed["shop"]
            path = f"/sessions/{session.id}/artifacts/{shop['id']}/preview"
            again = await hub.ask("POST", path)
            assert (again.status, again.json()) == (201, {"preview_url": shop["preview_url"]})
            plain = await policy_at(hub, shop["preview_url"])
            assert not [name for name, rule in plain.items() if {"http:", "https:", "*"} & set(rule.split())]
            wanted = (await hub.ask("POST", path, json_body={"live": True})).json()["preview_url"]
            assert wanted != shop["preview_url"]
            live = await policy_at(hub, wanted)
            assert [name for name, rule in live.items() if "https:" in rule.split()] == list(REMOTE)
            assert (live["sandbox"], live["connect-src"].split()[1:]) == ("allow-scripts", ["data:", "blob:"])
            assert await policy_at(hub, shop["preview_url"]) == plain
            none = f"/sessions/{session.id}/artifacts/{listed['next']['id']}/preview"
            assert (await hub.ask("POST", none, json_body={"live": True})).json() == {"preview_url": None}

    run(check())


def test_a_preview_ends_with_the_token_it_was_made_for_and_nobody_elses_does(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, mine = await with_artifacts(hub)
            tokens = hub.app.parts.tokens
            token, secret = tokens.mint("phone", "view")
            browser, _ = tokens.mint("browser", "view", kind="browser", parent=token.id)
            path = f"/sessions/{session.id}/artifacts/{mine['shop']['id']}"
            theirs = (await hub.ask("GET", path, token=secret)).json()["preview_url"]
            live = (await hub.ask("POST", f"{path}/preview", json_body={"live": True}, token=secret)).json()["preview_url"]
            behind = hub.app.parts.previews.url(session.id, session.artifact(mine["shop"]["id"]), browser.id)
            told = hub.hub.preview_url(session.id, session.artifact(mine["shop"]["id"])) or ""
            assert len({theirs, live, behind, told, mine["shop"]["preview_url"]}) == 5
            for url in (theirs, live, behind, told):
                assert (await hub.ask("GET", url, token=None)).status == 200
            tokens.mint("another", "view")  # a token that begins ends nothing
            assert (await hub.ask("GET", told, token=None)).status == 200
            tokens.revoke(token.id)
            for url in (theirs, live, behind, told):
                assert (await hub.ask("GET", url, token=None)).status == 404, url
            assert (await hub.ask("GET", mine["shop"]["preview_url"], token=None)).status == 200

    run(check())


def test_logging_out_ends_the_previews_of_that_browser(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, mine = await with_artifacts(hub)
            login = await hub.ask("POST", "/auth/login", json_body={"token": TOKEN}, token=None)
            own = browser(login)
            path = f"/sessions/{session.id}/artifacts/{mine['shop']['id']}"
            url = (await hub.ask("GET", path, token=None, headers=own)).json()["preview_url"]
            assert (await hub.ask("GET", url, token=None)).status == 200
            await hub.ask("POST", "/auth/logout", token=None, headers=own)
            assert (await hub.ask("GET", url, token=None)).status == 404
            assert (await hub.ask("GET", mine["shop"]["preview_url"], token=None)).status == 200

    run(check())


@pytest.mark.parametrize("use", ["script", "worker", "sharedworker", "serviceworker", "style", "object", "embed"])
def test_what_an_agent_made_is_no_part_of_the_hubs_own_page(tmp_path: Path, use: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            url = f"{listed['shop']['preview_url']}app.js"
            by_page = {"sec-fetch-site": "same-origin", "sec-fetch-dest": use}
            assert (await hub.ask("GET", url, token=None, headers=by_page)).status == 403
            by_itself = {"origin": "null", "sec-fetch-site": "cross-site", "sec-fetch-dest": use}
            assert (await hub.ask("GET", url, token=None, headers=by_itself)).status == 200
            framed = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "iframe"}
            assert (await hub.ask("GET", listed["shop"]["preview_url"], token=None, headers=framed)).status == 200

    run(check())


def test_a_new_key_costs_the_same_however_many_there_are() -> None:
    def seconds(count: int) -> float:
        previews, began = Previews(3600.0, Clock()), time.process_time()
        for number in range(count):
            previews.url("session", artifact(f"/x/{number}"))
        return time.process_time() - began

    seconds(500)
    assert seconds(10_000) < 60 * seconds(500), "twenty times as many; with the square it would be four hundred"


def test_a_folder_that_is_swapped_for_a_link_while_it_is_shown_shows_nothing_from_outside(tmp_path: Path,
                                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, listed = await with_artifacts(hub)
            outside = tmp_path / "outside"
            outside.mkdir()
            (outside / "index.html").write_text("secret")
            shop = hub.folder / "shop"
            within = Workspace.within

            def swap(space: Workspace, root: str) -> Workspace:
                shop.rename(hub.folder / "aside")
                shop.symlink_to(outside)
                return within(space, root)

            monkeypatch.setattr(Workspace, "within", swap)
            answer = await hub.ask("GET", listed["shop"]["preview_url"] + "index.html", token=None)
            assert answer.status in (403, 404) and b"secret" not in answer.body

    run(check())
