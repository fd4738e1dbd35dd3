"""The sessions of the hub, page by page, as an editor is shown them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import Refused, editor, hub_site


def test_all_sessions_are_listed_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        monkeypatch.setattr("trunkline.server.acp.listing.LISTED", 2)
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            other = tmp_path / "other"
            other.mkdir()
            here = {await made.new(site.folder) for _ in range(5)}
            there = await made.new(other)
            found: list[str] = []
            cursor: dict[str, str] = {}
            while True:
                page = await made.ask("session/list", cursor)
                found += [each["sessionId"] for each in page["sessions"]]
                assert len(page["sessions"]) <= 2
                if "nextCursor" not in page:
                    break
                cursor = {"cursor": page["nextCursor"]}
            assert sorted(found) == sorted([*here, there])
            page = await made.ask("session/list", {"cwd": str(other)})
            assert [(each["sessionId"], each["cwd"]) for each in page["sessions"]] == [(there, str(other))]
            assert (await made.ask("session/list", {"cwd": "/nowhere"}))["sessions"] == []

    run(check())


def test_what_happens_between_two_pages_tells_no_session_twice_and_forgets_none(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        monkeypatch.setattr("trunkline.server.acp.listing.LISTED", 2)
        async with hub_site(tmp_path) as site, editor(site) as made:
            made_ones = [await made.new(site.folder) for _ in range(6)]
            first = await made.ask("session/list")
            second = await made.ask("session/list", {"cursor": first["nextCursor"]})
            told = [each["sessionId"] for page in (first, second) for each in page["sessions"]]
            unseen = next(each for each in made_ones if each not in told)
            await made.turn(unseen, "/echo moves to the front")
            await made.turn(told[0], "/echo so does one that was told")
            last = await made.ask("session/list", {"cursor": second["nextCursor"]})
            told += [each["sessionId"] for each in last["sessions"]]
            assert sorted(told) == sorted(made_ones) and "nextCursor" not in last
            async with editor(site) as other:
                page = await other.ask("session/list", {"cursor": second["nextCursor"]})
                assert len(page["sessions"]) == 1, "who does not know what was told goes on from the place"

    run(check())


@pytest.mark.parametrize("cursor", ["", "50", "x.ses_1", "1.", "9" * 30 + ".s"])
def test_a_cursor_that_no_list_gave_is_refused(tmp_path: Path, cursor: str) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            with pytest.raises(Refused, match="cursor"):
                await made.ask("session/list", {"cursor": cursor})

    run(check())
