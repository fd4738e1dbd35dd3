"""What doctor says of agents: those that are here, their logins as far as one sees them, and those that were added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.agents.test_catalog import program
from tests.aio import run
from trunkline.agents.catalog import AgentSpec, Catalog, spec_from_table
from trunkline.agents.catalog.own import OwnFolder
from trunkline.cli.commands.doctor.agents import Installed, agent_of, agents, hooks
from trunkline.cli.commands.doctor.finding import Finding, Scene
from trunkline.cli.read_settings import load
from trunkline.client import Endpoint
from trunkline.reach.install import Hooks


def spec(**table: Any) -> AgentSpec:
    return spec_from_table("mine", {"command": ["mine"], **table})


def told(tmp_path: Path, **environ: str) -> list[Finding]:
    scene = Scene(load({"data": str(tmp_path / "data")}, {"HOME": str(tmp_path)}), environ={"HOME": str(tmp_path), **environ})
    try:
        return run(agents(scene))
    finally:
        scene.close()


def test_a_login_is_seen_by_a_variable_or_a_file_and_never_shown(tmp_path: Path) -> None:
    entry = spec(login={"env": ["MINE_KEY"], "files": ["~/.mine/auth.json"]}, login_hint="run `mine login`")
    home = {"HOME": str(tmp_path)}
    missing = agent_of(Installed(entry, "1.2"), home)
    assert (missing.state, missing.fix) == ("note", "run `mine login`") and "mine 1.2: no login was seen" == missing.what
    by_key = agent_of(Installed(entry, None), {**home, "MINE_KEY": "very-secret"})
    assert by_key.state == "ok" and "MINE_KEY" in by_key.what and "very-secret" not in by_key.what
    (tmp_path / ".mine").mkdir()
    (tmp_path / ".mine" / "auth.json").write_text("very-secret")
    by_file = agent_of(Installed(entry, None), home)
    assert by_file.state == "ok" and ".mine/auth.json" in by_file.what and "very-secret" not in by_file.what


def test_of_an_agent_whose_login_nobody_knows_that_is_said() -> None:
    assert "shows when it is used" in agent_of(Installed(spec(), None), {}).what


def test_agents_are_found_with_their_versions(tmp_path: Path) -> None:
    program(tmp_path / "bin", "gemini")
    found = {each.what.split(":")[0]: each for each in told(tmp_path, PATH=f"{tmp_path}/bin:/usr/bin:/bin")}
    assert found["gemini 1.2.3"].state == "note" and "GEMINI_API_KEY" in found["gemini 1.2.3"].fix
    assert any(name.startswith("demo") for name in found)


def test_where_there_is_only_the_demo_it_says_what_lists_the_others(tmp_path: Path) -> None:
    last = told(tmp_path, PATH="/no")[-1]
    assert (last.state, last.fix) == ("note", "trunkline agents says what installs each")


def test_an_entry_that_cannot_be_used_is_bad_and_the_others_are_told(tmp_path: Path) -> None:
    own = OwnFolder(tmp_path / "data" / "catalog")
    own.add("mine", {"command": ["mine"]})
    own.file("mine").write_text("[")
    bad = [each for each in told(tmp_path, PATH="/no") if each.state == "bad"]
    assert len(bad) == 1 and "mine was added and cannot be used" in bad[0].what and "agents remove mine" in bad[0].fix


def told_of_hooks(tmp_path: Path, endpoint: Endpoint | None = None) -> Finding:
    environ = {"HOME": str(tmp_path)}
    (finding,) = run(hooks(Scene(load({"data": str(tmp_path / "data")}, environ), environ=environ, endpoint=endpoint)))
    return finding


def test_where_there_are_no_hooks_it_says_what_installs_them(tmp_path: Path) -> None:
    finding = told_of_hooks(tmp_path)
    assert finding.state == "ok" and "trunkline hooks install" in finding.what


def test_hooks_are_told_and_whether_a_hub_would_answer_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    entry = next(spec for spec in Catalog({}).values() if spec.hooks)
    installed = Hooks(entry, tmp_path / "data", {"HOME": str(tmp_path)})
    installed.install(installed.installing())
    alone, answered = told_of_hooks(tmp_path), told_of_hooks(tmp_path, Endpoint("http://127.0.0.1:1", "t"))
    assert (alone.state, alone.fix) == ("note", "trunkline serve") and answered.state == "ok"
    settings = Path(installed.path)
    whole = settings.read_text()
    settings.write_text("{")
    assert told_of_hooks(tmp_path).state == "note"
    settings.write_text(whole.replace("trunkline_hook", "another_hook", 1))
    wrong = told_of_hooks(tmp_path)
    assert wrong.state == "bad" and wrong.fix == f"trunkline hooks install {entry.name}"
