"""What doctor says of the hub, its port, and who is told by push."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.aio import run
from trunkline.cli.commands.doctor import hub
from trunkline.cli.commands.doctor.finding import Scene
from trunkline.cli.commands.doctor.hub import hub_of, port, port_of, push, push_of
from trunkline.cli.hosting.datadir import HubRecord
from trunkline.cli.read_settings import load
from trunkline.client import Endpoint
from trunkline.settings import Settings

HERE = Endpoint("http://127.0.0.1:7420")


def settings(tmp_path: Path, **given: Any) -> Settings:
    return replace(load({"data": str(tmp_path)}, {"HOME": str(tmp_path)}), **given)


def test_a_hub_of_another_version_is_bad(tmp_path: Path) -> None:
    record = HubRecord(pid=7, url=HERE.url, started_at="", version="0.0.1")
    told = hub_of(Scene(settings(tmp_path), endpoint=HERE, record=record))
    assert told.state == "bad" and "0.0.1" in told.what and "trunkline stop" in told.fix


def test_one_that_does_not_answer_is_bad_also_where_nobody_knows_its_process(tmp_path: Path) -> None:
    assert "(or kill 7)" in hub_of(Scene(settings(tmp_path), holder=7)).fix
    assert "kill" not in hub_of(Scene(settings(tmp_path), holder=0)).fix
    assert hub_of(Scene(settings(tmp_path), hub_trouble="cannot read it")).state == "bad"
    assert hub_of(Scene(settings(tmp_path))).state == "ok"


def test_a_port_that_another_program_has_is_bad(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        told = port_of(settings(tmp_path, port=other.getsockname()[1]))
    assert told.state == "bad" and "taken by another program" in told.what and "--port 0" in told.fix
    assert port_of(settings(tmp_path, port=0)).state == "ok"
    assert run(port(Scene(settings(tmp_path), endpoint=HERE)))[0].state == "ok"


def test_a_port_for_root_alone_and_a_host_that_is_none_are_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert port_of(settings(tmp_path, host="203.0.113.1", insecure=True)).state == "bad"
    assert "--insecure" in port_of(settings(tmp_path, host="203.0.113.1")).what

    def refuse(host: str, number: int) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(hub, "_try_to_bind", refuse)
    assert "only for root" in port_of(settings(tmp_path, port=80)).what


def test_to_look_at_a_port_does_not_keep_a_hub_from_it(tmp_path: Path) -> None:
    with socket.socket() as first:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        first.bind(("127.0.0.1", 0))
        hub._try_to_bind("127.0.0.1", first.getsockname()[1])
        first.listen()


def test_without_a_device_that_is_told_push_is_a_note_with_the_way_there(tmp_path: Path) -> None:
    assert push_of(2, settings(tmp_path)).what.startswith("2 devices are told")
    told = push_of(0, settings(tmp_path))
    assert told.state == "note" and "only over https" in told.fix
    assert "https" not in push_of(0, settings(tmp_path, public_url="https://hub.example")).fix


def test_subscriptions_that_cannot_be_read_are_bad(tmp_path: Path) -> None:
    assert run(push(Scene(settings(tmp_path))))[0].state == "note"
    (tmp_path / "push.json").write_text('{"subscriptions": [3]}')
    (tmp_path / "push.json").chmod(0o600)
    told = run(push(Scene(settings(tmp_path))))[0]
    assert told.state == "bad" and f"rm {tmp_path}/push.json" in told.fix
