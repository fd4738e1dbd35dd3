"""Find or start the hub: stale records, races, failures."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.aio import run
from tests.cli.conftest import Place
from tests.client.scripted import Exchange, served
from tests.tooling.processes import inside
from trunkline.cli.hosting.datadir import HubLock, HubRecord
from trunkline.cli.hosting.locate import Starter, answers, connected, find, find_or_start, serve_command
from trunkline.cli.read_settings import load
from trunkline.client import Endpoint
from trunkline.errors import Unavailable


def test_a_running_hub_is_found_and_not_started_again(place: Place) -> None:
    child, url = place.serve()
    endpoint = run(find_or_start(place.settings()))
    assert endpoint == Endpoint(url, place.data.token())
    assert place.data.holder() == child.pid


def test_without_a_hub_nothing_is_found(place: Place) -> None:
    assert run(find(place.settings())) is None


def test_two_who_start_at_the_same_time_get_one_hub(place: Place) -> None:
    async def scene() -> list[Endpoint]:
        return list(await asyncio.gather(*(find_or_start(place.settings()) for _ in range(4))))

    found = run(scene())
    assert len(set(found)) == 1
    record = place.data.record()
    assert record is not None
    assert (record.url, record.pid) == (found[0].url, place.data.holder())


def test_two_processes_that_start_at_the_same_time_get_one_hub(place: Place) -> None:
    both = [place.start("sessions", "list", "--here", "--json") for _ in range(2)]
    results = [child.communicate(timeout=30) for child in both]
    assert [(child.returncode, out) for child, (out, _) in zip(both, results, strict=True)] == [(0, b"[]\n")] * 2
    assert place.data.log_path.read_bytes().count(b"trunkline is listening on") == 1


def test_the_started_hub_has_its_own_session_and_outlives_the_command(place: Place) -> None:
    assert place.call("sessions").returncode == 0
    pid = place.data.holder()
    assert pid
    assert os.getsid(pid) == pid
    assert run(find(place.settings())) is not None
    assert os.readlink(inside(pid, "cwd")) == str(place.data.path)


def test_the_record_of_a_crashed_hub_misleads_nobody(place: Place) -> None:
    """Neither a dead pid, nor a living one that is not the hub, nor a stranger on the old port is taken for the hub."""
    seen: list[str] = []

    async def stranger(exchange: Exchange) -> None:
        seen.append(exchange.path)
        await exchange.json(200, {"status": "ok"})

    async def scene() -> None:
        place.data.make()
        async with served(stranger) as old_port:
            stale = HubRecord(pid=os.getpid(), url=old_port.url, started_at="", version="")
            place.data.write_record(stale)
            assert await find(place.settings()) is None
            endpoint = await find_or_start(place.settings())
            assert endpoint.url != old_port.url

    run(scene())
    assert seen == []


def test_a_hub_that_cannot_start_is_an_error_with_the_end_of_its_log(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUNKLINE_PORT", "none")
    settings = load({"data": str(place.data.path)}, {"HOME": "/nowhere"})
    with pytest.raises(Unavailable, match=r"did not start \(exit code 2\)") as caught:
        run(find_or_start(settings))
    assert "got 'none' from the environment (TRUNKLINE_PORT)" in caught.value.message


def test_only_what_this_start_logged_is_shown(place: Place) -> None:
    place.data.make()
    place.data.log_path.write_text("of yesterday\n")
    starter = Starter(place.data, place.settings())
    with place.data.log_path.open("a") as log:
        log.writelines(f"line {number}\n" for number in range(30))
    tail = starter.log_tail().splitlines()
    assert tail[1:] == [f"  line {number}" for number in range(10, 30)]


def test_a_hub_that_holds_the_lock_and_does_not_answer_is_waited_for_no_longer_than_the_limit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trunkline.cli.hosting.locate.READY_S", 0.2)
    place.data.make()
    with HubLock(place.data), pytest.raises(Unavailable, match=r"no hub answered within 0\.2 s"):
        run(find_or_start(place.settings()))


def test_the_started_hub_uses_the_callers_settings_file(place: Place) -> None:
    file = place.work / "config.toml"
    file.write_text("")
    command = serve_command(load({"data": str(place.data.path), "config": str(file)}))
    assert command[-2:] == ["--config", str(file)]
    assert "--config" not in serve_command(place.settings())


def test_the_local_token_is_not_sent_to_another_machine(place: Place) -> None:
    place.data.make()
    place.data.token_path.write_text("mine")

    def endpoint(url: str, **env: str) -> Endpoint | None:
        return run(find(load({"data": str(place.data.path), "url": url}, {"HOME": "/nowhere", **env})))

    assert endpoint("http://127.0.0.1:1/") == Endpoint("http://127.0.0.1:1", "mine")
    assert endpoint("https://hub.example") == Endpoint("https://hub.example", None)
    assert endpoint("https://hub.example", TRUNKLINE_TOKEN="theirs") == Endpoint("https://hub.example", "theirs")


def test_whether_a_hub_answers_is_asked_without_the_token() -> None:
    headers: list[dict[str, str]] = []

    async def handler(exchange: Exchange) -> None:
        headers.append(exchange.headers)
        await exchange.json(200, {})

    async def scene() -> None:
        async with served(handler) as hub:
            assert await answers(Endpoint(hub.url, "secret"))
        assert not await answers(Endpoint(hub.url, "secret"))

    run(scene())
    assert "authorization" not in headers[0]


def test_a_client_that_may_not_start_a_hub_says_that_it_is_gone(place: Place) -> None:
    async def scene() -> None:
        async with connected(Endpoint("http://127.0.0.1:1"), place.settings()) as hub:
            with pytest.raises(Unavailable, match="is not running any more"):
                await hub.health()

    run(scene())
    assert place.data.holder() is None
