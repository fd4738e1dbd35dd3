"""``serve`` from outside: the lock, the one line, the record, how it stops."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.cli.conftest import COMMAND_S, Place
from tests.cli.person import Terminal
from trunkline import __version__
from trunkline.cli.commands.serve import bind, check_reach, check_tls
from trunkline.cli.hosting.locate import find
from trunkline.cli.read_settings import load
from trunkline.client import Client
from trunkline.errors import Forbidden, Invalid, Unavailable


def _client(place: Place, url: str) -> Client:
    return Client(url, place.data.token())


def test_stdout_has_one_line_and_the_record_says_the_same(place: Place) -> None:
    child, url = place.serve()
    record = place.data.record()
    assert record is not None
    assert (record.pid, record.url, record.version) == (child.pid, url, __version__)
    raw = json.loads(place.data.record_path.read_bytes())
    assert sorted(raw) == ["pid", "startedAt", "url", "version"]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.data.path.iterdir()}
    assert set(modes.values()) == {0o600, 0o700}
    assert all((mode == 0o700) == (place.data.path / name).is_dir() for name, mode in modes.items())
    child.send_signal(signal.SIGTERM)
    out, log = child.communicate(timeout=COMMAND_S)
    assert (child.returncode, out) == (0, b"")
    assert b"SIGTERM: stopping" in log
    assert place.data.record() is None


def test_the_token_is_never_said(place: Place) -> None:
    child, _ = place.serve("--log-level", "debug")
    token = place.data.token()
    assert token is not None
    child.send_signal(signal.SIGINT)
    out, log = child.communicate(timeout=COMMAND_S)
    assert child.returncode == 0
    assert token.encode() not in out + log


def test_a_second_hub_on_the_folder_is_refused_naming_the_first(place: Place) -> None:
    child, url = place.serve()
    second = place.call("serve", "--no-open", "--port", "0")
    assert second.returncode == 75
    assert second.stdout == b""
    assert f"process {child.pid} and listens on {url}" in second.stderr.decode()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
@pytest.mark.parametrize("name", ["audit.log", "audit.key"])
def test_a_log_or_key_of_the_approvals_that_is_no_file_keeps_the_hub_from_starting_and_it_says_so(
        place: Place, name: str, make: Callable[[Path], None]) -> None:
    """Without them nobody could say what was approved: the hub does not start, and does not wait for a pipe's other end."""
    place.data.path.mkdir(mode=0o700, parents=True)
    make(place.data.path / name)
    refused = place.call("serve", "--no-open", "--port", "0")
    assert refused.returncode == 1 and refused.stdout == b""
    assert str(place.data.path / name).encode() in refused.stderr and b"Traceback" not in refused.stderr


@pytest.mark.parametrize(("name", "make"), [
    ("hub.lock", Path.mkdir), ("hub.lock", os.mkfifo), ("hub.json", Path.mkdir), ("agents", Path.touch),
    ("playground", Path.touch),
], ids=["lock is a folder", "lock is a pipe", "record is a folder", "agents is a file", "playground is a file"])
def test_something_else_in_the_place_of_the_hubs_own_keeps_it_from_starting_and_it_says_what_to_do(
        place: Place, name: str, make: Callable[[Path], None]) -> None:
    place.data.path.mkdir(mode=0o700, parents=True)
    make(place.data.path / name)
    refused = place.call("serve", "--no-open", "--port", "0")
    assert refused.returncode == 1 and refused.stdout == b"" and b"Traceback" not in refused.stderr
    last = refused.stderr.decode().splitlines()[-1]
    assert str(place.data.path / name) in last and re.search(r"move it away|may be removed", last)
    shutil.rmtree(place.data.path)


def test_the_given_token_takes_the_place_of_the_generated_one(place: Place) -> None:
    _, url = place.serve(env={"TRUNKLINE_TOKEN": "given"})

    async def scene() -> None:
        async with Client(url, "given") as hub:
            assert "demo" in [agent.name for agent in await hub.agents()]

    run(scene())


def test_agents_of_the_command_line_can_be_run(place: Place) -> None:
    _, url = place.serve("--agent", f"mine={sys.executable} -m trunkline.agents.demo")

    async def scene() -> None:
        async with _client(place, url) as hub:
            session = await hub.create_session("mine", str(place.work))
            kinds = [packet.type async for _, packet in hub.stream_turn(session.id, "/burst 3 10")]
        assert kinds == ["user_message_chunk", *["agent_message_chunk"] * 3, "prompt_response"]

    run(scene())


def test_stopping_ends_a_running_turn_with_one_error_and_every_agent(place: Place) -> None:
    child, url = place.serve()

    async def scene() -> list[str]:
        kinds = []
        async with _client(place, url) as hub:
            session = await hub.create_session("demo", str(place.work))
            async for _, packet in hub.stream_turn(session.id, "/slow 60"):
                kinds.append(packet.type)
                if packet.type == "agent_message_chunk" and kinds.count("agent_message_chunk") == 1:
                    child.send_signal(signal.SIGTERM)
        return kinds

    kinds = run(scene())
    assert kinds[-1] == "error"
    assert kinds.count("error") == 1
    assert child.wait(timeout=COMMAND_S) == 0
    assert list((place.data.path / "agents").iterdir()) == []


def test_a_second_signal_does_not_wait_for_a_stubborn_agent(place: Place, tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn.sh"
    demo = f"{sys.executable} -m trunkline.agents.demo"
    stubborn.write_text(f"#!/bin/sh\ntrap '' TERM INT HUP\n{demo}\nwhile :; do sleep 1; done\n")
    stubborn.chmod(0o755)
    child, url = place.serve("--agent", f"stubborn={stubborn}")

    async def scene() -> None:
        async with _client(place, url) as hub:
            await hub.create_session("stubborn", str(place.work))

    run(scene())
    (record,) = (place.data.path / "agents").glob("*.json")
    pid = json.loads(record.read_bytes())["pid"]
    child.send_signal(signal.SIGINT)
    assert child.stderr is not None
    while b"stopping" not in child.stderr.readline():
        pass
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=COMMAND_S) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_hub_that_nobody_needs_ends_by_itself_but_not_during_a_turn(place: Place) -> None:
    child, url = place.serve("--idle-exit", "0.4")

    async def scene() -> float:
        async with _client(place, url) as hub:
            session = await hub.create_session("demo", str(place.work), prompt="/slow 2")
            assert session.status != "idle"
        return time.monotonic()

    left_at = run(scene())
    assert child.wait(timeout=COMMAND_S) == 0
    assert time.monotonic() - left_at > 1.5  # the turn went on for two seconds without any client
    assert child.stderr is not None
    assert b"nobody has needed the hub" in child.stderr.read()


def test_a_port_in_use_is_refused_naming_one_that_is_free_unless_any_will_do(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=rf"port {port} of 127\.0\.0\.1 is taken .* --port (\d+) is free") as refused:
            bind(load({"port": str(port)}))
        offered = re.search(r"--port (\d+) is free", refused.value.message)
        assert offered is not None
        with bind(load({"port": offered[1]})) as free:
            assert free.getsockname()[1] == int(offered[1]) > port
        with bind(load({"port": str(port), "any_port": True})) as other:
            assert other.getsockname()[1] != port


def test_somebody_at_a_terminal_is_offered_the_next_port(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        started = Terminal(place, "serve", "--no-open", "--port", str(port))
        started.see(f"port {port} of 127.0.0.1 is taken by another program; listen on")
        started.type("y")
        started.see("trunkline is listening on")
        started.process.send_signal(signal.SIGINT)
        assert started.end() == 0


def _logs_in(url: str, code: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    with closing(http.client.HTTPConnection(host, int(port))) as asked:
        asked.request("POST", "/auth/login", json.dumps({"code": code}), {"Content-Type": "application/json"})
        with asked.getresponse() as answer:
            return answer.status == 200


def test_a_terminal_gets_a_link_that_works_and_over_ssh_the_line_to_reach_it(place: Place) -> None:
    env = {"SSH_CONNECTION": "10.0.0.1 5000 10.0.0.2 22", "USER": "ada", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    started = Terminal(place, "serve", "--no-open", "--port", "0", env=env, columns=200)
    started.see("ssh -L ")
    found = re.search(r"open (http://\S+)/#code=([\w-]+) in a browser", started.text)
    assert found is not None, started.text
    assert "ada@10.0.0.2" in started.text
    assert _logs_in(found[1], found[2])
    second = Terminal(place, "serve", "--no-open", "--port", "0", env={"SSH_CONNECTION": ""}, columns=200)
    assert second.end() == 75
    fresh = re.search(r"/#code=([\w-]+)", second.text)
    assert fresh is not None and fresh[1] != found[2], second.text
    assert f"listens on {found[1]}" in second.text
    assert _logs_in(found[1], fresh[1])
    started.process.send_signal(signal.SIGINT)
    assert started.end() == 0


def test_a_log_gets_the_command_that_makes_a_link_and_no_link(place: Place) -> None:
    child, _ = place.serve()
    second = place.call("serve", "--no-open", "--port", "0")
    assert b"open --print --data" in second.stderr and b"code=" not in second.stderr
    child.send_signal(signal.SIGTERM)
    _, log = child.communicate(timeout=COMMAND_S)
    command = re.search(rb"for a link that logs a browser in, run: (.+)\n", log)
    assert command is not None and b"code=" not in log
    place.serve()
    made = subprocess.run(shlex.split(command[1].decode()), capture_output=True, text=True, check=True, timeout=COMMAND_S)
    found = re.fullmatch(r"(http://\S+)/#code=([\w-]+)\n", made.stdout)
    assert found is not None and _logs_in(found[1], found[2])


def test_of_two_hubs_that_start_at_the_same_moment_the_second_takes_another_port(tmp_path: Path) -> None:
    """Both have their port before either serves: who has one bound and does not listen does not have it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = load({"data": str(tmp_path), "port": port, "any_port": True}, {"HOME": "/nowhere"})
    with bind(settings) as first, bind(settings) as second:
        first.listen(100)  # as the server does, again
        second.listen(100)
        assert second.getsockname()[1] != first.getsockname()[1] == port


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_beyond_loopback_needs_tls_or_a_clear_word(host: str) -> None:
    with pytest.raises(Forbidden, match="can be reached from other machines"):
        check_reach(load({"host": host}))
    check_reach(load({"host": host, "insecure": True}))
    check_reach(load({"host": host, "tls_cert": "/c"}))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_needs_nothing(host: str) -> None:
    check_reach(load({"host": host}))


def test_half_a_certificate_and_an_unusable_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("no certificate")
    with pytest.raises(Invalid, match="give both"):
        check_tls(load({"tls_cert": "/c"}))
    with pytest.raises(Invalid, match="cannot be used"):
        check_tls(load({"tls_cert": str(tmp_path / "c"), "tls_key": str(tmp_path / "c")}))


def test_https_is_found_and_trusted_by_its_own_certificate_alone(place: Place, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=hub", "-keyout", str(key), "-out", str(certificate)]
    made = subprocess.run(words, capture_output=True, check=False)
    if made.returncode:
        pytest.skip("needs openssl to make a certificate")
    _, url = place.serve("--tls-cert", str(certificate), "--tls-key", str(key))
    assert url.startswith("https://127.0.0.1:")

    async def scene() -> None:
        endpoint = await find(place.settings())
        assert endpoint is not None
        async with Client(endpoint.url, endpoint.token, certificate=endpoint.certificate) as hub:
            assert (await hub.sessions()).sessions == []
        with pytest.raises(Unavailable) as refused:
            await Client(url, reconnect_s=0).health()
        assert isinstance(refused.value.__cause__, ssl.SSLCertVerificationError)

    run(scene())


def test_a_small_hub_does_not_import_what_it_does_not_need() -> None:
    code = "import sys, trunkline.cli.hosting.hosting; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())
    heavy = {"prometheus_client", "pywebpush", "tree_sitter", "nats", "pydantic", "rich", "webbrowser",
             "unittest", "jsonschema", "websockets"}
    assert heavy & loaded == set()


def test_the_record_is_json_that_any_program_can_read(place: Place) -> None:
    place.serve()
    assert set(msgspec.json.decode(place.data.record_path.read_bytes())) >= {"pid", "url"}
