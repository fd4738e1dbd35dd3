"""Health, readiness, metrics, and the docs page."""

from __future__ import annotations

import html.parser
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.aio import run
from tests.server.site import site
from trunkline.errors import StorageError
from trunkline.hub import SessionView
from trunkline.journal.base import RowFilter
from trunkline.server.openapi import plain_path
from trunkline.server.routes import ROUTES


def test_health_is_told_to_anybody_and_says_nothing_else(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/healthz", token=None)
            assert (answer.status, answer.json()) == (200, {"status": "ok"})

    run(check())


def test_readiness_tells_whether_the_hub_is_busy_and_where_to_play(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            ready = (await hub.ask("GET", "/readyz")).json()
            assert (ready["status"], ready["busy"], ready["streams"]) == ("ready", False, 0)
            assert Path(ready["playground"]) == tmp_path / "data" / "playground"
            session = await hub.session(cwd=ready["playground"])
            await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/silent"})
            reader = hub.open("GET", f"/sessions/{session.id}/packets")
            await reader.start()
            await reader.piece()
            ready = (await hub.ask("GET", "/readyz")).json()
            assert (ready["busy"], ready["streams"]) == (True, 1)
            await reader.leave()

    run(check())


def test_a_hub_whose_journal_cannot_be_read_is_not_ready(tmp_path: Path) -> None:
    async def failing(which: RowFilter) -> list[SessionView]:
        raise StorageError("the disk is gone")

    async def check() -> None:
        async with site(tmp_path) as hub:
            hub.hub.list = failing  # type: ignore[method-assign]  # a journal that fails, without a disk that does
            answer = await hub.ask("GET", "/readyz")
            assert (answer.status, answer.json()["code"]) == (503, "storage_error")
            assert (await hub.ask("GET", "/healthz")).status == 200

    run(check())


def test_metrics_are_in_prometheus_format_and_count(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/echo hello")
            answer = await hub.ask("GET", "/metrics")
            assert (answer.header("content-type") or "").startswith("text/plain; version=0.0.4")
            found = {(sample.name, *sample.labels.values()): sample.value
                     for family in text_string_to_metric_families(answer.body.decode()) for sample in family.samples}
            assert found["trunkline_sessions_open",] == 1
            assert found["trunkline_agents_running",] == 1
            assert found["trunkline_turns_total", "end_turn"] == 1
            assert found["trunkline_commits_total",] > 0
            assert found["trunkline_entries",] == session.feed.last_seq
            assert found["trunkline_streams",] == 0
            assert found["process_resident_memory_bytes",] > 0

    run(check())


class Page(html.parser.HTMLParser):
    """What a page is made of."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        assert not any(name.startswith("on") or name == "style" for name in given)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_docs_page_describes_every_route_without_a_script(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/docs")
            assert answer.header("content-type") == "text/html; charset=utf-8"
            page = Page(answer.body.decode())
            assert "script" not in page.tags
            for route in ROUTES:
                assert plain_path(route.path) in page.text
                assert route.summary in page.text
            for link in page.links:
                assert link.startswith(("#", "/")), link
                if link.startswith("#"):
                    assert link[1:] in page.ids, link
                else:
                    assert (await hub.ask("GET", link)).status == 200

    run(check())
