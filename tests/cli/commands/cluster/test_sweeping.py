"""``trunkline cluster sweep``: what deleted sessions left is removed and counted, once or over and over."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.aio import run
from tests.cli.conftest import Place
from tests.cluster.shipping.owner import owner
from tests.tooling.nats import SMALL, NatsServer
from trunkline.cli.commands.cluster import sweeping
from trunkline.cluster.shipping.ending import remove_session
from trunkline.errors import ClusterUnavailable
from trunkline.journal.base import Entry
from trunkline.settings import Settings


async def deleted(url: str, *session_ids: str) -> None:
    async with owner(url) as box:
        for session_id in session_ids:
            await box.ship(session_id, [Entry(1, 1, b"{}")])
            await remove_session(box.connection, "box", box.shipper.row(session_id), may_erase=False)


def test_it_says_what_was_removed_of_each_session(place: Place, nats: NatsServer) -> None:
    place.call_here("cluster", "init", "--cluster", nats.url, *SMALL)
    run(deleted(nats.url, "ses_1", "ses_2"))
    said = place.call_here("cluster", "sweep", "--cluster", nats.url).stdout.decode().splitlines()
    assert sorted(said[:-1]) == [f"ses_{number} of pool box: 1 message erased" for number in (1, 2)]
    assert said[-1] == "2 sessions swept, 2 messages erased"
    assert place.call_here("cluster", "sweep", "--cluster", nats.url).stdout == b"0 sessions swept\n"
    run(deleted(nats.url, "ses_3"))
    shown = json.loads(place.call_here("cluster", "sweep", "--json", "--cluster", nats.url).stdout)
    assert shown == [{"session": "ses_3", "pool": "box", "erased": 1, "purged": 0}]


def test_every_so_often_it_goes_on_also_behind_one_that_failed(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    async def fails(settings: Settings, as_json: bool) -> None:
        raise ClusterUnavailable("nobody is there")

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(sweeping, "_sweep", fails)
    with pytest.raises(KeyboardInterrupt):
        run(sweeping._sweep_always(Settings(data=tmp_path), 5, as_json=False))
    assert slept == [300, 300]
    assert capsys.readouterr().err.splitlines() == ["nothing was swept: nobody is there"] * 2
