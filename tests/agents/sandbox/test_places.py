"""What an agent in a sandbox sees of a machine, on folders that the test made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trunkline.agents.sandbox.bwrap import Access, seen_at
from trunkline.agents.sandbox.places import SECRETS, Wish, hider, links_on, places, program_places
from trunkline.errors import Invalid


class Home:
    """A home and a folder to work in, and what a sandbox shows of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path / "src" / "project"
        self.work.mkdir(parents=True)

    def file(self, name: str, text: str = "", mode: int = 0o755) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def laid(self, **more: Any) -> Any:
        env = {"HOME": str(self.path), **more.pop("env", {})}
        return places(Wish(**{"roots": [str(self.work)], "env": env, **more}))

    def seen(self, name: str, **more: Any) -> Access:
        return seen_at(str((self.path / name).resolve()), self.laid(**more))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_home_is_empty_but_for_the_sessions_folder(home: Home) -> None:
    home.file("anything")
    assert home.seen("anything") is Access.EMPTY and home.seen("src/other") is Access.EMPTY
    assert home.seen("src/project/file") is Access.ROOT


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_hidden_also_where_the_folder_around_it_is_the_sessions(home: Home, name: str) -> None:
    secret = home.file(name)
    around = secret.parent
    if around == home.path:
        assert home.seen(name) is Access.EMPTY
    else:
        assert home.seen(name, roots=[str(around)]) is Access.NONE


def test_a_session_in_a_hidden_folder_sees_that_folder_alone(home: Home) -> None:
    home.file(".ssh/mine/file")
    inside = home.path / ".ssh" / "mine"
    assert home.seen(".ssh/mine/file", roots=[str(inside)]) is Access.ROOT
    assert home.seen(".ssh/id_ed25519", roots=[str(inside)]) is Access.EMPTY


def test_the_hubs_own_folder_is_hidden_wherever_it_is(home: Home, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    inside = home.work / "data"
    inside.mkdir()
    laid = home.laid(hidden=[str(data), str(inside)])
    assert seen_at(str(inside / "token"), laid) is Access.EMPTY
    assert seen_at(str(data / "token"), laid) is Access.EMPTY


def test_an_agents_own_store_is_made_and_written_and_anothers_is_not_seen(home: Home) -> None:
    own, other = str(home.path / ".own") + "/", str(home.path / ".other") + "/"
    Path(other).mkdir()
    laid = home.laid(own=[own], hidden=[other])
    assert Path(own).is_dir()
    assert seen_at(f"{own}file", laid) is Access.WRITE and seen_at(f"{other}file", laid) is Access.EMPTY


def test_programs_on_the_path_are_read_with_what_is_beside_them_but_never_a_whole_home(home: Home) -> None:
    home.file(".nvm/v22/bin/node")
    home.file("bin/tool")
    home.file(".local/bin/other")
    path = ":".join(str(home.path / name) for name in (".nvm/v22/bin", "bin", ".local/bin"))
    seen = {name: home.seen(name, env={"PATH": path}) for name in (
        ".nvm/v22/lib/node_modules", "bin/tool", ".local/bin/other", ".local/share/keyrings", ".profile", ".nvm/.git")}
    assert [access.name for access in seen.values()] == ["READ", "READ", "READ", "EMPTY", "EMPTY", "EMPTY"]


def test_a_registrys_token_beside_programs_is_hidden(home: Home) -> None:
    home.file(".cargo/bin/cargo")
    home.file(".cargo/credentials.toml")
    env = {"PATH": str(home.path / ".cargo/bin")}
    assert home.seen(".cargo/bin/cargo", env=env) is Access.READ
    assert home.seen(".cargo/credentials.toml", env=env) is Access.NONE


def test_an_agents_program_brings_its_package_its_environment_and_its_interpreter(home: Home) -> None:
    base = home.file("pythons/3.12/bin/python3")
    home.file("tools/agent/pyvenv.cfg", f"home = {base.parent}\n")
    python = home.path / "tools/agent/bin/python"
    script = home.file("tools/agent/bin/agent-acp", f"#!{python}\n")
    python.symlink_to(base)
    link = home.path / ".local/bin/agent-acp"
    link.parent.mkdir(parents=True)
    link.symlink_to(script)
    found = set(program_places(str(link), [str(home.path)]))
    assert {str(home.path / "tools/agent"), str(home.path / "pythons/3.12")} <= found
    assert str(home.path) not in found
    command = [str(link), "--acp"]
    assert home.seen("pythons/3.12/lib/os.py", command=command) is Access.READ
    assert home.seen("tools/agent/lib/x.py", command=command) is Access.READ
    assert home.seen(".local/share/secret", command=command) is Access.EMPTY


def test_a_package_of_javascript_is_read_whole(home: Home) -> None:
    program = home.file("app/node_modules/agent/dist/cli.js", "#!/usr/bin/env node\n")
    home.file("app/.env")
    assert home.seen("app/node_modules/other/index.js", command=[str(program)]) is Access.READ
    assert home.seen("app/.env", command=[str(program)]) is Access.EMPTY


def test_a_script_in_the_home_itself_is_read_alone(home: Home) -> None:
    script = home.file("agent.py")
    command = ["/usr/bin/python3", str(script)]
    assert home.seen("agent.py", command=command) is Access.READ and home.seen("other.py", command=command) is Access.EMPTY


def test_a_program_in_the_agents_own_store_cannot_be_changed_by_it(home: Home) -> None:
    program = home.file(".agent/local/node_modules/agent/cli.js")
    own = [str(home.path / ".agent") + "/"]
    assert home.seen(".agent/sessions/x", own=own, command=[str(program)]) is Access.WRITE
    assert home.seen(".agent/local/node_modules/agent/cli.js", own=own, command=[str(program)]) is Access.READ


def test_links_on_the_way_to_what_is_shown_are_there(home: Home) -> None:
    home.file("dotfiles/gitconfig")
    home.file("dotfiles/agent/settings.json")
    (home.path / ".gitconfig").symlink_to("dotfiles/gitconfig")
    (home.path / ".agent").symlink_to(home.path / "dotfiles/agent")
    laid = home.laid(own=[str(home.path / ".agent") + "/"])
    links = {place.path: place.target for place in laid if place.access is Access.LINK}
    assert links == {str(home.path / ".gitconfig"): "dotfiles/gitconfig",
                     str(home.path / ".agent"): str(home.path / "dotfiles/agent")}
    assert seen_at(str(home.path / "dotfiles/agent/settings.json"), laid) is Access.WRITE


def test_a_secret_behind_a_link_is_hidden_where_it_is(home: Home, tmp_path: Path) -> None:
    keys = home.work / "keys"
    keys.mkdir()
    (home.path / ".ssh").symlink_to(keys)
    assert home.seen("src/project/keys/id") is Access.EMPTY


def test_what_an_agent_is_started_with_is_shown_among_what_programs_share_and_nothing_else_is(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trunkline.agents.sandbox.places.PRIVATE", (str(tmp_path),))
    program, alone = home.file("../tools/bin/agent"), home.file("../alone")
    home.file("../others/bin/git")
    env = {"PATH": str(tmp_path / "others/bin")}
    assert home.seen("../tools/lib", command=[str(program)]) is Access.READ
    assert home.seen("../alone", command=[str(alone)]) is Access.READ
    assert home.seen("../tools", command=[str(alone)]) is home.seen("../others", command=[str(alone)], env=env) is Access.EMPTY


def test_links_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert len(list(links_on(str(tmp_path / "a")))) < 300


@pytest.mark.parametrize("root", ["", "..", "/", "/tmp"])
def test_a_session_that_holds_a_home_or_what_programs_share_gets_no_sandbox(home: Home, root: str) -> None:
    with pytest.raises(Invalid, match="choose a folder below it"):
        home.laid(roots=[str((home.path / root).resolve())])


def test_a_session_that_holds_its_agents_program_gets_no_sandbox(home: Home) -> None:
    program = home.file("src/project/node_modules/.bin/agent")
    with pytest.raises(Invalid, match="which it may write"):
        home.laid(command=[str(program)])


@pytest.mark.parametrize("name", SECRETS)
def test_what_is_hidden_by_name_is_so_for_whoever_reads_for_the_agent_there_or_not(home: Home, name: str) -> None:
    around = (home.path / name).parent
    around.mkdir(parents=True, exist_ok=True)
    hides = hider(Wish(roots=[str(around)], env={"HOME": str(home.path)}))
    assert hides(str(home.path / name)) and hides(str(home.path / name / "below")) and not hides(str(around / "mine"))


def test_an_agents_own_store_and_a_session_in_a_hidden_folder_are_not_hidden_from_it(home: Home) -> None:
    home.file(".ssh/mine/file")
    home.file(".codex/auth.json")
    env, codex = {"HOME": str(home.path)}, str(home.path / ".codex")
    assert not hider(Wish(roots=[str(home.path / ".ssh/mine")], env=env))(str(home.path / ".ssh/mine/file"))
    assert not hider(Wish(roots=[codex], own=[codex + "/"], hidden=[codex], env=env))(codex + "/auth.json")
    assert hider(Wish(roots=[codex + "/.."], hidden=[codex + "/"], env=env))(codex + "/auth.json")
