"""The public registry's JSON becomes entries of the catalog, or an error that names what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.rows import every_row
from trunkline.agents.catalog import spec_from_table
from trunkline.agents.catalog.acp_registry import RegistryAgent, chosen, entry_of, machine_name, read_registry, way_here
from trunkline.errors import Invalid, NotFound

REGISTRY = (Path(__file__).parents[2] / "data" / "acp_registry.json").read_bytes()
HERE = "linux-x86_64"


def agent(**distribution: Any) -> RegistryAgent:
    return chosen(read_registry(json.dumps({"id": "mine", "name": "Mine", "distribution": distribution}).encode()), "")


def test_a_package_for_node_is_run_as_the_registry_says() -> None:
    entry = entry_of(chosen(read_registry(REGISTRY), "alpha"), None, HERE)
    assert entry == {
        "display_name": "Alpha", "docs_url": "https://alpha.example/docs",
        "command": ["npx", "-y", "@alpha/agent@1.2.3", "--acp"],
        "env": {"ALPHA_MODE": "strict"},
        "install_hint": "npm install -g @alpha/agent@1.2.3 (npm and npx come with Node.js: https://nodejs.org)"}
    assert spec_from_table("alpha", entry).icon == "A"


def test_a_package_for_python_with_a_program_of_another_name() -> None:
    entry = entry_of(chosen(read_registry(REGISTRY), "beta"), None, HERE)
    assert entry["command"] == ["uvx", "--from", "beta-agent==0.9.0", "beta", "serve"]
    assert entry["install_hint"].startswith("uv tool install beta-agent==0.9.0 (")
    assert entry_of(agent(npx={"package": "p", "cmd": "c"}), None, HERE)["command"] == ["npx", "-y", "--package", "p", "c"]


def test_an_archive_is_not_fetched_but_named() -> None:
    entry = entry_of(chosen(read_registry(REGISTRY), "beta"), "binary", HERE)
    assert entry["command"] == ["beta", "acp"]
    assert "https://beta.example/beta.tar.gz" in entry["install_hint"] and "abab" in entry["install_hint"]


def test_the_way_is_chosen_by_what_this_machine_has() -> None:
    beta = chosen(read_registry(REGISTRY), "beta")
    assert way_here(beta, lambda program: None) == "binary" and way_here(beta, lambda program: "/bin/" + program) == "uvx"
    assert way_here(agent(npx={"package": "p"}), lambda program: None) is None


@every_row(("distribution", "says"), [
    ({}, "has none of npx, uvx, binary"),
    ({"npx": {"package": "--call=x"}}, "distribution.npx.package: '--call=x' is no name of a package"),
    ({"npx": {"package": "a b"}}, "distribution.npx.package"),
    ({"uvx": {"package": "p", "cmd": "-c"}}, "distribution.uvx.cmd: '-c' is no name of a program"),
    ({"binary": {"darwin-aarch64": {"archive": "https://x", "cmd": "x"}}}, r"for this machine \(linux-x86_64\); it has darwin"),
    ({"binary": {HERE: {"archive": "ftp://x", "cmd": "x"}}}, "archive: 'ftp://x' is no https address"),
    ({"binary": {HERE: {"archive": "https://x", "cmd": "./bin/"}}}, "cmd: './bin/' is no name of a program"),
])
def test_what_would_be_run_and_cannot_be_is_refused_by_its_name(distribution: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        entry_of(agent(**distribution), None, HERE)


def test_a_way_that_the_agent_does_not_have_is_refused() -> None:
    with pytest.raises(Invalid, match="mine: cannot be had by uvx; by npx"):
        entry_of(agent(npx={"package": "p"}), "uvx", HERE)


@every_row(("content", "says"), [
    (b"", "not the JSON of an agent registry"), (b"[]", "expected `object`"), (b'{"agents": 3}', "agents: expected `array`"),
    (b'{"name": "x"}', "neither `agents` nor a `distribution`"), (b"\xff{}", "not the JSON"),
])
def test_what_is_no_registry_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        read_registry(content)


def test_one_bad_agent_costs_only_itself() -> None:
    listed = read_registry(REGISTRY)
    assert [each.id for each in listed if each.agent is not None] == ["alpha", "beta"]
    with pytest.raises(Invalid, match=r"torn: distribution.npx: object missing required field `package`"):
        chosen(listed, "torn")
    assert read_registry(b'{"agents": [4, {"id": "A/B", "name": "x", "distribution": {}}]}')[1].problem.startswith("id: 'A/B'")


def test_who_names_none_or_a_wrong_one_is_told() -> None:
    with pytest.raises(Invalid, match="it has 3 agents"):
        chosen(read_registry(REGISTRY), "")
    with pytest.raises(NotFound, match="no agent 'gamma'"):
        chosen(read_registry(REGISTRY), "gamma")


def test_an_address_that_is_none_is_left_out() -> None:
    mine = agent(npx={"package": "p"})
    mine.website = "javascript:alert(1)"
    assert "docs_url" not in entry_of(mine, None, HERE)


def test_machines_have_the_registrys_names() -> None:
    assert machine_name("darwin", "arm64") == "darwin-aarch64" and machine_name("linux", "AMD64") == "linux-x86_64"


def test_of_a_hostile_file_nothing_is_long_that_is_told() -> None:
    long = b"x" * 1_000_000
    (listed,) = read_registry(b'{"agents":[{"id":"' + long + b'"}]}')
    assert len(listed.id) == 64 and len(listed.problem) < 200
    with pytest.raises(Invalid, match="has nothing for this machine") as refused:
        entry_of(agent(binary={f"m{number}{'x' * 1000}": {"archive": "https://a", "cmd": "a"} for number in range(100)}),
                 None, "linux-x86_64")
    assert len(refused.value.message) < 2_000
    with pytest.raises(Invalid, match="it has 10001 agents"):
        read_registry(b'{"agents":[' + b",".join([b"1"] * 10_001) + b"]}")
