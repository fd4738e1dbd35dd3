"""The examples of a cluster start, and what they start is a cluster: units by their ``ExecStart``, services by their commands."""

from __future__ import annotations

import json
import re
import shlex
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]  # it has no types of its own

from scripts.reference import every_command
from tests.tooling.certificates import certificate
from tests.tooling.example_machines import EXAMPLES, Machine, exec_start
from tests.tooling.nats import SMALL, free_ports, until
from tests.tooling.rows import every_row

PAGE = (EXAMPLES.parents[1] / "howto" / "cluster.md").read_text(encoding="utf-8")
READY = "Server is ready"
LISTENING = "trunkline is listening on"


class Page:
    """The page of a gateway, for somebody who has its token."""

    def __init__(self, address: str, cert: Path, token: str) -> None:
        self._address, self._token = address, token
        self._tls = ssl.create_default_context(cafile=cert)

    def get(self, path: str) -> Any:
        request = urllib.request.Request(f"https://{self._address}{path}", headers={"Authorization": f"Bearer {self._token}"})
        with urllib.request.urlopen(request, context=self._tls, timeout=30) as answer:
            return json.load(answer)


def roles(nodes: Any) -> dict[str, str]:
    """The nodes that are there, and their roles."""
    return {each["node"]: each["role"] for each in nodes}


@contextmanager
def small_server(root: Path) -> Iterator[tuple[Machine, dict[str, str], Path]]:
    """The server of the walk, with its keys and its certificate; what its names stand for; the certificate."""
    nats, page = free_ports(2)
    instead = {"0.0.0.0:4222": f"127.0.0.1:{nats}", "hub.example.org:4222": f"127.0.0.1:{nats}", "port = 7420": f"port = {page}",
               "hub.example.org:7420": f"127.0.0.1:{page}", "hub.example.org": "127.0.0.1", "0.0.0.0": "127.0.0.1"}
    with Machine(root, instead, {"TRUNKLINE_CLUSTER_CA": "/etc/trunkline/cert.pem"}) as server:
        cert, _ = certificate(Path(server.here("/etc/trunkline")))
        server.place("nats.conf", "/etc/trunkline/nats.conf")
        server.place("gateway.toml", "/etc/trunkline/gateway.toml")
        config = server.call("cluster", "init", "--print-config", "--keys", "/etc/trunkline/keys", "--member", "boss=admin",
                             "--member", "web=gateway", "--member", "laptop=runner")
        Path(server.here("/etc/trunkline/trunkline.conf")).write_text(config)
        yield server, instead, cert


@contextmanager
def laptop_of(root: Path, instead: dict[str, str], seed: Path, cert: Path) -> Iterator[Machine]:
    """The laptop of the walk, with its own key alone."""
    with Machine(root, instead, {"TRUNKLINE_CLUSTER_CA": str(cert), "TRUNKLINE_PORT": "0"}) as laptop:
        config = laptop.place("runner.toml", "%h/.config/trunkline/config.toml")
        own = config.with_name("laptop.seed")
        own.write_bytes(seed.read_bytes())
        own.chmod(0o600)
        yield laptop


@pytest.mark.slow
def test_the_units_make_a_cluster_in_which_a_laptop_is_seen(tmp_path: Path) -> None:
    with small_server(tmp_path / "server") as (server, instead, cert):
        server.wait_for(server.start(exec_start("trunkline-nats.service")), READY)
        admin = {"TRUNKLINE_CLUSTER": "tls://hub.example.org:4222", "TRUNKLINE_NODE": "boss",
                 "TRUNKLINE_CLUSTER_CREDENTIALS": "/etc/trunkline/keys/boss.seed"}
        assert "TL_J: made" in server.call("cluster", "init", *SMALL, variables=admin)
        server.wait_for(server.start(exec_start("trunkline-gateway.service")), LISTENING)
        seed = Path(server.here("/etc/trunkline/keys/laptop.seed"))
        with laptop_of(tmp_path / "laptop", instead, seed, cert) as laptop:
            laptop.wait_for(laptop.start(exec_start("trunkline-runner.service")), LISTENING)
            server.wait_told({"web": "gateway", "laptop": "runner"}, "cluster", "nodes", "--json", read=roles, variables=admin)
            laptop.call("run", "demo", "/echo hello")
            server.wait_told({"laptop": 1}, "cluster", "status", "--json", read=lambda told: told["sessions"], variables=admin)
            page = ("--config", "/etc/trunkline/gateway.toml")
            server.wait_told(["laptop"], "sessions", "--json", *page, read=lambda told: [each["node"] for each in told])
            (session,) = server.call_json("sessions", "--json", *page)
            assert "seen and steered" in server.call("send", "--wait", session["id"], "/echo seen and steered", *page)
            paired = server.call_json("pair", "--json", "--config", "/etc/trunkline/gateway.toml")
            assert paired["url"].startswith(server.here("https://hub.example.org:7420/"))
            told = laptop.call_json("doctor", "--json")["findings"]
            states = {each["check"]: each["state"] for each in told}
            assert [states.get(check) for check in ("cluster", "tls", "key", "streams", "node", "lag")] == ["ok"] * 6, told


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((EXAMPLES / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


NATS = ("nats-1", "nats-2", "nats-3")


@pytest.mark.slow
def test_the_services_of_the_compose_file_make_a_cluster_on_three_servers(tmp_path: Path) -> None:
    wanted = services()
    clients, routes = dict(zip(NATS, free_ports(3), strict=True)), dict(zip(NATS, free_ports(3), strict=True))
    (page,) = free_ports(1)
    names = {f"{name}:4222": f"127.0.0.1:{clients[name]}" for name in NATS}
    names |= {f"{name}:6222": f"127.0.0.1:{routes[name]}" for name in NATS}
    with ExitStack() as stack:
        def machine(name: str) -> Machine:
            own = {"0.0.0.0:4222": names[f"{name}:4222"], "0.0.0.0:6222": names[f"{name}:6222"]} if name in NATS else {}
            more = {"hub.example.org:7420": f"127.0.0.1:{page}", "hub.example.org": "127.0.0.1", "0.0.0.0": "127.0.0.1",
                    "/config/": f"{tmp_path}/config/"}
            port = {"TRUNKLINE_PORT": str(page) if name == "web" else "0"}
            variables = {**wanted[name]["environment"], **port}
            return stack.enter_context(Machine(tmp_path / name, {**names, **own, **more}, variables))

        cert, _ = certificate(tmp_path / "config")
        first = machine("init")
        members = [word for each in ("boss=admin", "web=gateway", "box=runner:farm") for word in ("--member", each)]
        config = first.call("cluster", "init", "--print-config", "--keys", "/config/keys", *members)
        (tmp_path / "config" / "trunkline.conf").write_text(config)
        for name in NATS:
            server = machine(name)
            server.place("team.conf", f"/config/{name}.conf")  # one file for each: they share one machine's ports here
            command = [word.replace("team.conf", f"{name}.conf") for word in wanted[name]["command"]]
            server.wait_for(server.start(command), READY)
        trunkline, *init = wanted["init"]["command"]
        assert trunkline == "trunkline" and "--replicas" in init
        until(lambda: _is_made(first, init), "the streams were not made")
        for name in ("web", "box"):
            started = machine(name)
            started.wait_for(started.start(wanted[name]["command"]), LISTENING)
        sweeper = machine("sweep")
        sweeper.wait_for(sweeper.start(wanted["sweep"]["command"]), "0 sessions swept")
        first.wait_told({"web": "gateway", "box": "runner"}, "cluster", "nodes", "--json", read=roles)
        shown = first.call_json("cluster", "status", "--json")
        assert {each["replicas"] for each in shown["streams"]} == {3}
        token = (tmp_path / "web" / "data" / "token").read_text().strip()
        assert Page(f"127.0.0.1:{page}", cert, token).get("/cluster")["node"] == "web"


def _is_made(machine: Machine, init: list[str]) -> bool:
    """As compose would: tried until it ends well, while the servers look for their leader."""
    small = [word for word in init if not re.fullmatch(r"--\w+-size|\d+G", word)]
    try:
        return "TL_J" in machine.call(*small, *SMALL)
    except AssertionError:
        return False


def test_every_service_and_unit_has_what_the_page_says_of_it() -> None:
    assert [*services()] == [*NATS, "init", "sweep", "web", "box"]
    named = set(re.findall(r"\.\./examples/cluster/([\w.-]+)", PAGE))
    assert named == {path.name for path in EXAMPLES.iterdir()}, "the page leads to every example"


def commands_of_the_page() -> list[str]:
    """Every command line of ours in the page's blocks, continued lines as one."""
    blocks = "\n".join(re.findall(r"```\w*\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ")
    lines = (re.sub(r"^(\$ )?(sudo (-u \w+ )?)?(\S*/)?trunkline ", "trunkline ", line.strip()) for line in blocks.splitlines())
    return [re.split(r" [>|&#]| &$", line)[0] for line in lines if line.startswith("trunkline ")]


@every_row("line", commands_of_the_page())
def test_a_command_of_the_page_is_one_that_is_there(line: str) -> None:
    words = shlex.split(line)
    commands = dict(every_command())
    name = next(found for count in (3, 2, 1) if (found := " ".join(words[:count])) in commands)
    known = {flag for option in commands[name].params if isinstance(option, click.Option)
             for flag in (*option.opts, *option.secondary_opts)}
    assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in known] == []
