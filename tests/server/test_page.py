"""The page and its assets."""

from __future__ import annotations

import re
from pathlib import Path

from tests.aio import run
from tests.server.site import site
from tests.server.test_ops import Page
from trunkline.server.page import FOLDER


def test_the_page_and_all_it_needs_come_without_a_token_and_from_here(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/", token=None)
            assert (answer.status, answer.header("content-type")) == (200, "text/html; charset=utf-8")
            page = Page(answer.body.decode())
            assets = [link for link in page.links if link.startswith("/assets/")]
            assert {link.rpartition(".")[2] for link in assets} == {"css", "js", "svg"}
            assert all(link.startswith("/") for link in page.links)
            for link in assets:
                asset = await hub.ask("GET", link, token=None)
                assert asset.status == 200
                again = await hub.ask("GET", link, token=None, headers={"if-none-match": asset.header("etag")})
                assert (again.status, again.body) == (304, b"")

    run(check())


def test_the_pages_policy_allows_nothing_inline_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/", token=None)
            policy = answer.header("content-security-policy") or ""
            assert "unsafe" not in policy
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "http:" not in policy
            assert "https:" not in policy
            body = answer.body.decode()
            assert not re.search(r"<script(?![^>]*\bsrc=)", body)
            assert not re.search(r"<style|style=|javascript:|\son\w+=", body)

    run(check())


def test_assets_are_only_what_is_in_the_folder(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for path in ("none.css", "../page.py", "..%2fpage.py", "/etc/passwd", "", ".", "index.html/"):
                assert (await hub.ask("GET", f"/assets/{path}", token=None)).status == 404, path
            script = await hub.ask("GET", "/assets/page.js", token=None)
            assert (script.header("content-type") or "").startswith("text/javascript")

    run(check())


def test_the_page_builds_what_agents_say_as_text_and_drops_the_code_before_it_uses_it() -> None:
    script = (FOLDER / "page.js").read_text()
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "localStorage"):
        assert sink not in script
    assert script.index("history.replaceState") < script.index('"/auth/login", { code }')


def test_the_page_marks_an_agent_that_was_never_seen_to_ask() -> None:
    script, page = (FOLDER / "page.js").read_text(), (FOLDER / "index.html").read_text()
    badge = re.search(r'<span id="session-asks" class="badge"[^>]* hidden>([^<]+)</span>', page)
    assert badge is not None
    assert badge[1] == "may act without asking"
    assert "agents.filter((agent) => !agent.asksPermission)" in script
    assert '$("session-asks").hidden = !unasking.has(session.agent)' in script
    assert 'agent.asksPermission ? "" : "may act without asking"' in script
