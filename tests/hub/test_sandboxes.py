"""Which sandbox a session gets, and what that one shows: the stricter wish counts, and stores are apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.tooling.bubblewrap import need_bubblewrap
from tests.tooling.rows import every_row
from trunkline.agents.catalog import AgentSpec, load, spec_from_table
from trunkline.errors import Invalid
from trunkline.hub.sandboxes import confined, hidden_places, sandbox_of, stores, stricter
from trunkline.hub.shapes import HubOptions, NewSession
from trunkline.session.fold import Sandboxed

OFFLINE = Sandboxed(network=False)


def agent(**more: Any) -> AgentSpec:
    return spec_from_table("mine", {"command": ["true"], **more})


def asked(**more: Any) -> NewSession:
    return NewSession(agent="mine", cwd="/x", **more)


@every_row(("entry", "wish", "given"), [
    ({}, {}, None),
    ({}, {"sandbox": "none"}, None),
    ({}, {"sandbox": "bwrap"}, Sandboxed()),
    ({}, {"sandbox": "bwrap", "sandbox_network": False}, OFFLINE),
    ({"sandbox_network": False}, {}, None),
    ({"sandbox_network": False}, {"sandbox": "bwrap"}, OFFLINE),
    ({"sandbox": "bwrap"}, {}, Sandboxed()),
    ({"sandbox": "bwrap"}, {"sandbox_network": False}, OFFLINE),
    ({"sandbox": "bwrap", "sandbox_network": False}, {}, OFFLINE),
])
def test_a_new_session_gets_the_stricter_of_two_wishes(entry: Any, wish: Any, given: Sandboxed | None) -> None:
    assert sandbox_of(agent(**entry), asked(**wish)) == given


@pytest.mark.parametrize(("entry", "wish"), [
    ({"sandbox": "bwrap"}, {"sandbox": "none"}),
    ({"sandbox": "bwrap", "sandbox_network": False}, {"sandbox_network": True}),
    ({}, {"sandbox_network": False}),
    ({}, {"sandbox": "none", "sandbox_network": False}),
])
def test_less_than_the_agents_entry_or_half_a_sandbox_is_refused(entry: Any, wish: Any) -> None:
    with pytest.raises(Invalid):
        sandbox_of(agent(**entry), asked(**wish))


@every_row(("entry", "before", "now"), [
    ({}, None, None), ({}, OFFLINE, OFFLINE), ({"sandbox": "bwrap"}, None, Sandboxed()), ({"sandbox": "bwrap"}, OFFLINE, OFFLINE),
    ({"sandbox": "bwrap", "sandbox_network": False}, Sandboxed(), OFFLINE),
])
def test_an_entry_that_became_stricter_counts_for_sessions_that_were_there(entry: Any, before: Any, now: Any) -> None:
    assert stricter(agent(**entry), before) == now
    assert stricter(None, before) == before, "an agent whose entry is gone keeps its sandbox"


def test_the_settings_file_and_the_rules_are_the_hubs_own(tmp_path: Path) -> None:
    options = HubOptions(data=tmp_path / "data", policy_file=tmp_path / "policy.toml", config=tmp_path / "config.toml")
    assert hidden_places(options) == tuple(str(tmp_path / name) for name in ("data", "policy.toml", "config.toml"))


def test_the_key_for_the_cluster_is_the_hubs_own_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "box.seed").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "box.seed")
    hidden = hidden_places(HubOptions(data=tmp_path / "data", cluster_credentials=tmp_path / "link"))
    assert {str(tmp_path / "link"), str(tmp_path / "box.seed")} <= {*hidden}


@every_row("name", sorted(set(load()) - {"demo"}))
def test_every_agent_of_the_catalog_says_where_its_store_is(name: str) -> None:
    found = list(stores(load()[name], {"HOME": "/home/me"}))
    assert found and all(path.startswith("/home/me/.") for path in found)
    assert "/home/me/" not in found


def test_a_session_sees_its_agents_store_and_no_other_agents(tmp_path: Path) -> None:
    need_bubblewrap()
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    agents = {name: spec_from_table(name, {"command": ["true"], "paths": {"config": f"{tmp_path}/{name}"}})
              for name in ("one", "two")}
    for name in agents:
        (tmp_path / name).mkdir()
    confine = confined(agents["one"], Sandboxed(), [str(work)], env, agents, env, [])
    words = " ".join(run(confine(["true"], cwd=str(work))))
    assert f"--bind {tmp_path}/one {tmp_path}/one" in words
    assert f"--bind {tmp_path}/two" not in words
