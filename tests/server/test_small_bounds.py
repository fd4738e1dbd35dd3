"""Bounds of the server that are enforced in a line or two, each with what happens there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.files.test_diff import asked, change, repository
from tests.server.site import site
from tests.tooling.push_service import Browser, PushService
from trunkline.errors import TooManyRequests, Unauthorized
from trunkline.server.auth import pairings as codes
from trunkline.server.auth.pairings import Pairings
from trunkline.server.delivery.push import subscriptions
from trunkline.server.delivery.push.subscriptions import KINDS, Subscriptions
from trunkline.server.files import diff


def test_only_so_many_devices_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "SUBSCRIPTIONS_MOST", 2)
    known = Subscriptions(tmp_path, lambda _: True)
    with PushService() as service:
        keys = Browser(service).subscription()["keys"]
    for number in range(2):
        known.keep(f"t{number}", f"https://push.example/{number}", keys["p256dh"], keys["auth"], KINDS)
    with pytest.raises(TooManyRequests, match="2 devices are told already"):
        known.keep("t2", "https://push.example/2", keys["p256dh"], keys["auth"], KINDS)
    known.keep("t1", "https://push.example/other", keys["p256dh"], keys["auth"], KINDS)


def test_wrong_pairing_codes_are_counted_over_all_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "WRONG_OF_ALL", 3)
    pairings = Pairings()
    for number in range(3):
        with pytest.raises(Unauthorized), pairings.tries.counted(f"10.0.0.{number}"):
            run(pairings.claim("no such code"))
    with pytest.raises(TooManyRequests), pairings.tries.counted("10.0.0.99"):
        run(pairings.claim("no such code"))


def test_a_diff_of_very_many_files_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "CHANGED_FILES", 2)

    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            for name in ("kept.txt", "changed.txt", "gone.txt"):
                (hub.folder / name).write_text("other\n")
            told = await asked(hub, await hub.session())
            assert len(told["files"]) == 2 and told["truncated"] is True

    run(check())


def test_a_file_of_very_many_lines_is_named_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "FILE_LINES", 10)

    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            (hub.folder / "changed.txt").write_text("x\n" * 11)
            (hub.folder / "new.txt").write_text("y\n" * 11)
            (hub.folder / "kept.txt").write_text("z\n" * 10)
            session = await hub.session()
            told = await asked(hub, session)
            assert {file["path"] for file in told["files"]} == {"changed.txt", "new.txt", "kept.txt"}
            assert "Binary files a/changed.txt and b/changed.txt differ" in told["diff"]
            assert "+x" not in told["diff"] and "+y" not in told["diff"] and "+z" in told["diff"]
            await hub.turn(session, change(hub.folder / "told.txt", None, "w\n" * 11))
            last = session.feed.last_seq
            answers = [await hub.ask("GET", f"/sessions/{session.id}/diff?entry={seq}") for seq in range(1, last + 1)]
            (shown,) = [answer.json()["diff"] for answer in answers if answer.json()["diff"]]
            assert "told.txt differ" in shown and "+w" not in shown

    run(check())


def test_of_very_much_that_a_session_recorded_the_beginning_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "RECORDED_BYTES", 100)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            for name in ("a.txt", "b.txt"):
                (hub.folder / name).write_text("x" * 60)
                await hub.turn(session, change(hub.folder / name, None, "x" * 60))
            told = await asked(hub, session)
            assert [file["path"] for file in told["files"]] == ["a.txt"] and told["truncated"] is True

    run(check())
