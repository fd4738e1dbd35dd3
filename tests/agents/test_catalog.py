"""The catalog: what its files say, what is refused, and what is found on a machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.aio import run
from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec, Catalog, Detection, adhoc, detect, launch_command, load, spec_from_table
from trunkline.errors import AgentNotInstalled, Invalid

NAMES = (
    "auggie claude-agent-acp claude-code cline codex-acp codex-acp-zed copilot cursor demo fast-agent gemini goose grok hermes "
    "kilo kimi mistral-vibe opencode openhands pi qwen"
).split()


def program(folder: Path, name: str, body: str = "echo fake 1.2.3") -> Path:
    """An executable shell script."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


def spec(**table: object) -> AgentSpec:
    return spec_from_table("mine", {"command": ["fake"], **table})


def test_the_catalog_holds_every_agent_we_know() -> None:
    assert sorted(load()) == NAMES


@every_row("name", NAMES)
def test_an_entry_says_how_to_run_it_get_it_and_log_in(name: str) -> None:
    entry = load()[name]
    assert entry.name == name
    assert entry.display_name != name or name == "fast-agent"
    assert 1 <= len(entry.icon) <= 2
    assert entry.command[0] and "npx" not in entry.command and "uvx" not in entry.command
    if name != "demo":
        assert entry.install_hint and entry.login_hint and entry.env_allow
        assert entry.docs_url.startswith("https://")


def test_the_demo_runs_on_the_interpreter_of_the_hub() -> None:
    demo = load()["demo"]
    assert demo.command == (sys.executable, "-m", "trunkline.agents.demo")
    assert launch_command(demo, {}) == demo.command


def test_only_the_file_of_an_agent_that_is_wanted_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def read_file(file: Path) -> AgentSpec:
        read.append(file.stem)
        return adhoc(file.stem, "x")

    monkeypatch.setattr(catalog, "_spec_from_file", read_file)
    agents = Catalog({"demo": adhoc("demo", "mine"), "own": adhoc("own", "mine")})
    assert sorted(agents) == sorted([*NAMES, "own"]) and len(agents) == len(NAMES) + 1
    assert "goose" in agents and "nobody" not in agents
    assert agents["demo"].command == ("mine",), "the user's own comes first"
    assert read == []
    assert agents["goose"].name == "goose" and read == ["goose"]
    with pytest.raises(KeyError):
        agents["nobody"]


def test_a_changed_answer_does_not_change_the_catalog() -> None:
    load().clear()
    assert sorted(load()) == NAMES


def test_only_the_agent_whose_writes_need_it_reads_missing_files_as_empty() -> None:
    assert [name for name, entry in load().items() if entry.quirks.missing_file_is_empty] == ["gemini"]


def test_an_agent_speaks_the_agent_client_protocol_unless_its_entry_says_otherwise() -> None:
    assert [name for name, entry in load().items() if entry.driver != "acp"] == ["claude-code"]
    assert spec_from_table("mine", {"command": ["mine"], "driver": "stream-json"}).driver == "stream-json"
    with pytest.raises(Invalid, match="driver"):
        spec_from_table("mine", {"command": ["mine"], "driver": "telepathy"})


def test_a_table_of_the_user_needs_only_a_command() -> None:
    entry = spec_from_table("my-agent", {"command": ["my-agent", "--acp"]})
    assert entry.display_name == "my-agent"
    assert entry.icon == "M"
    assert entry.detect.executable == "my-agent"
    assert entry.detect.version_args == ("--version",)
    assert entry.env == {}


@every_row(
    ("table", "says"),
    [
        ({}, r"\[agents.mine\]: object missing required field `command`"),
        ({"command": "fake --acp"}, r"command: expected `array`"),
        ({"command": []}, r"command: must name a program"),
        ({"command": [""]}, r"command: must name a program"),
        ({"command": ["a\0b"]}, r"command: holds a zero byte"),
        ({"command": ["bin/agent"]}, r"command: 'bin/agent' is a relative path"),
        ({"command": ["fake", 1]}, r"command\[1\]: expected `str`, got `int`"),
        ({"command": ["fake"], "detect": {"executable": 3}}, r"detect.executable: expected `str`, got `int`"),
        ({"command": ["fake"], "quirks": {"sings": True}}, r"quirks: object contains unknown field `sings`"),
        ({"command": ["fake"], "comand": ["x"]}, r"object contains unknown field `comand`"),
        ({"command": ["fake"], "env": {"A": 1}}, r"env\[...\]: expected `str`, got `int`"),
    ],
)
def test_a_bad_table_is_refused_naming_place_and_field(table: dict[str, object], says: str) -> None:
    with pytest.raises(Invalid, match=says) as caught:
        spec_from_table("mine", table)
    assert caught.value.message.startswith("[agents.mine]: ")


@every_row("name", ["", "Mine", "a b", "../x", "-x", "x" * 65])
def test_a_name_that_would_not_fit_in_a_path_or_flag_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match="is no agent name"):
        spec_from_table(name, {"command": ["fake"]})


def test_a_bad_file_is_refused_naming_it(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("command = [")
    with pytest.raises(Invalid, match=r"^broken\.toml: not TOML: "):
        catalog._spec_from_file(tmp_path / "broken.toml")
    (tmp_path / "wrong.toml").write_text('command = ["x"]\n[detect]\nversion_args = "no"')
    with pytest.raises(Invalid, match=r"^wrong\.toml: detect\.version_args: expected `array`, got `str`"):
        catalog._spec_from_file(tmp_path / "wrong.toml")


def test_an_adhoc_command_is_split_like_a_shell_would_and_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert adhoc("mine", "agent --say 'two words'").command == ("agent", "--say", "two words")
    assert adhoc("mine", "./agent --acp").command == (str(tmp_path / "agent"), "--acp")
    assert adhoc("mine", "~/agent").command == (str(Path.home() / "agent"),)


@pytest.mark.parametrize("command", ["", "  ", "'open"])
def test_an_adhoc_command_that_is_none_is_refused(command: str) -> None:
    with pytest.raises(Invalid, match="--agent mine"):
        adhoc("mine", command)


def test_a_missing_agent_is_not_installed_and_its_launch_names_command_and_hint(tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path)}
    assert run(detect(spec(), env)) == Detection(installed=False)
    with pytest.raises(AgentNotInstalled, match=r"'fake' was not found on PATH; install it with: get fake"):
        launch_command(spec(install_hint="get fake"), env)


def test_an_agent_on_the_given_path_is_found_with_its_version(tmp_path: Path) -> None:
    found = program(tmp_path, "fake", "echo 'fake agent v1.34.0-beta.2 (build 7)'; echo 9.9.9")
    env = {"PATH": f"/nowhere::relative:{tmp_path}"}
    assert run(detect(spec(), env)) == Detection(installed=True, path=str(found), version="1.34.0-beta.2")
    assert launch_command(spec(command=["fake", "--acp"]), env) == (str(found), "--acp")


def test_a_file_that_cannot_be_run_does_not_count(tmp_path: Path) -> None:
    program(tmp_path, "fake").chmod(0o644)
    (tmp_path / "folder" / "fake").mkdir(parents=True)
    assert run(detect(spec(), {"PATH": f"{tmp_path}:{tmp_path}/folder"})) == Detection(installed=False)


@pytest.mark.parametrize("body", ["exit 3", "echo no number", "echo 1.2.3; exit 1", "kill -9 $$"])
def test_an_agent_that_does_not_tell_its_version_is_installed_all_the_same(tmp_path: Path, body: str) -> None:
    found = program(tmp_path, "fake", body)
    assert run(detect(spec(), {"PATH": str(tmp_path)})) == Detection(installed=True, path=str(found))


def test_an_agent_that_prints_its_version_and_then_hangs_has_told_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "VERSION_S", 1.0)
    program(tmp_path, "fake", "echo 'fake 1.2.3'; exec sleep 600")
    assert run(detect(spec(), {"PATH": f"{tmp_path}:/usr/bin:/bin"})).version == "1.2.3"


@pytest.mark.parametrize("interpreter", ["python3", "python3.11", "node", "npx", "uvx", "bash"])
def test_the_version_of_an_interpreter_is_not_the_agents(tmp_path: Path, interpreter: str) -> None:
    program(tmp_path, interpreter, "echo v22.1.0")
    found = run(detect(spec(command=[interpreter, "agent.py"]), {"PATH": f"{tmp_path}:/usr/bin:/bin"}))
    assert found.installed and found.version is None


def test_a_version_that_names_its_interpreter_is_not_the_agents(tmp_path: Path) -> None:
    program(tmp_path, "fake", "echo Python 3.11.7")
    assert run(detect(spec(), {"PATH": f"{tmp_path}:/usr/bin:/bin"})).version is None


@pytest.mark.parametrize(("agent", "package"), [
    ("fast-agent", "fast-agent-mcp"), ("kimi", "@moonshot-ai/kimi-code"), ("pi", "@earendil-works/pi-coding-agent")])
def test_an_install_hint_names_the_package_that_has_the_agent(agent: str, package: str) -> None:
    assert package in (catalog.load()[agent].install_hint or "").split()


def test_an_agent_that_hangs_when_asked_is_left_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "VERSION_S", 0.3)
    note = tmp_path / "pid"
    program(tmp_path, "fake", f"echo $$ > {note}; exec sleep 600")
    found = run(detect(spec(), {"PATH": f"{tmp_path}:/usr/bin:/bin"}))
    assert found.installed and found.version is None
    assert not Path(f"/proc/{note.read_text().strip()}").exists()


def test_a_version_is_asked_for_once_and_again_when_the_program_changed(tmp_path: Path) -> None:
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    count = tmp_path / "count"
    program(tmp_path, "fake", f"echo x >> {count}; echo 1.0.0")
    assert [run(detect(spec(), env)).version for _ in range(3)] == ["1.0.0"] * 3
    assert count.read_text() == "x\n"
    program(tmp_path, "fake", "echo 2.0.0 # grown")
    assert run(detect(spec(), env)).version == "2.0.0"


def test_nobody_is_asked_when_the_caller_or_the_file_says_so(tmp_path: Path) -> None:
    program(tmp_path, "fake", f"touch {tmp_path}/asked; echo 1.0.0")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert run(detect(spec(), env, version=False)).installed
    assert run(detect(spec(detect={"version_args": []}), env)).version is None
    assert not (tmp_path / "asked").exists()


def test_the_version_is_asked_for_in_a_clean_environment(tmp_path: Path) -> None:
    program(tmp_path, "fake", 'echo "1.0.${TRUNKLINE_TOKEN:-none}.${FAKE_KEY:-none}.${SET}"')
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "TRUNKLINE_TOKEN": "secret", "FAKE_KEY": "key"}
    found = run(detect(spec(env_allow=["FAKE_*"], env={"SET": "yes"}), env))
    assert found.version == "1.0.none.key.yes"


def test_two_agents_of_one_command_name_are_told_apart_by_where_they_live(tmp_path: Path) -> None:
    for vendor in ("@zed-industries", "@agentclientprotocol"):
        real = program(tmp_path / vendor / "codex-acp" / "bin", "codex-acp.js")
        (tmp_path / f"{vendor}-bin").mkdir()
        (tmp_path / f"{vendor}-bin" / "codex-acp").symlink_to(real)
    zed, own = (tmp_path / "@zed-industries-bin", tmp_path / "@agentclientprotocol-bin")
    both = {"PATH": f"{zed}:{own}"}
    entries = load()
    assert launch_command(entries["codex-acp"], both) == (str(own / "codex-acp"),)
    assert launch_command(entries["codex-acp-zed"], both) == (str(zed / "codex-acp"),)
    assert not run(detect(entries["codex-acp-zed"], {"PATH": str(own)}, version=False)).installed


@every_row(("path", "env", "there"), [
    ("~/.x", {"HOME": "/home/me"}, "/home/me/.x"),
    ("~", {"HOME": "/home/me"}, "/home/me"),
    ("${X_HOME:-~/.x}/sessions", {"HOME": "/home/me"}, "/home/me/.x/sessions"),
    ("${X_HOME:-~/.x}/sessions", {"HOME": "/home/me", "X_HOME": "/data"}, "/data/sessions"),
    ("${X_HOME:-~/.x}/sessions", {"HOME": "/home/me", "X_HOME": ""}, "/home/me/.x/sessions"),
    ("/srv/~x", {"HOME": "/home/me"}, "/srv/~x"),
    ("", {"HOME": "/home/me"}, None),
])
def test_a_path_of_the_catalog_is_one_on_this_machine(path: str, env: dict[str, str], there: str | None) -> None:
    assert catalog.expand(path, env) == there


def test_a_place_that_nobody_knows_is_refused() -> None:
    with pytest.raises(Invalid, match=r"paths: object contains unknown field `cache`"):
        catalog.spec_from_table("x", {"command": ["x"], "paths": {"cache": "~/x"}})


@every_row(("session_id", "folder", "expected"), [
    ("abc-1", "/my project", "cd '/my project' && qwen --resume abc-1"), ("a; b", "/w", "cd /w && qwen --resume 'a; b'"),
    ("--yolo", "/w", None), ("-y", "/w", None), ("a\x1b[201~\r", "/w", None), ("a\u202eb", "/w", None), ("a", "/w\n/x", None),
    ("", "/w", None), (None, "/w", None),
])
def test_an_id_is_put_into_a_command_only_as_a_word_that_is_seen_as_it_is(
        session_id: str | None, folder: str, expected: str | None) -> None:
    assert catalog.load()["qwen"].resume_command(session_id, folder) == expected
