"""``trunkline agents add``, ``import`` and ``remove``: a person's own agents, and what is said where that cannot be."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import Place
from tests.tooling.rows import every_row

REGISTRY = str(Path(__file__).parents[3] / "data" / "acp_registry.json")


def said(place: Place, *words: str) -> tuple[int, str]:
    """What a command ends with, and all that it says."""
    done = place.call_here("agents", *words, data_first=True)
    return done.returncode, (done.stdout + done.stderr).decode()


def entry(place: Place, name: str) -> dict[str, object]:
    return tomllib.loads((place.data.path / "catalog" / f"{name}.toml").read_text())


def test_an_agent_is_added_known_to_the_hub_that_runs_used_and_removed(shared: Place) -> None:
    code, text = said(shared, "add", "mine", "--title", "My agent", "--", sys.executable, "-m", "trunkline.agents.demo")
    assert code == 0 and f"added mine: {sys.executable} -m trunkline.agents.demo" in text
    listed = {each["name"]: each for each in json.loads(shared.call_here("agents", "--json").stdout)}
    assert listed["mine"]["displayName"] == "My agent" and listed["mine"]["installed"]
    assert "hello there" in shared.call_here("run", "mine", "/echo hello there").stdout.decode()
    assert said(shared, "remove", "mine") == (0, "removed mine\n")
    assert "mine" not in {each["name"] for each in json.loads(shared.call_here("agents", "--json").stdout)}


def test_adding_starts_no_hub_and_the_entry_is_closed_to_others(place: Place) -> None:
    code, text = said(place, "add", "mine", "--icon", "◆", "--env-allow", "MY_*", "--env-allow", "MINE", "--env", "MODE=a=b",
                      "--install-hint", "brew install mine", "--login-hint", "mine login", "--docs-url", "https://mine.example",
                      "--", "no-such-program", "--acp", "--data", "x")
    assert code == 0 and "note: mine is not installed" in text and "install it with: brew install mine" in text
    assert entry(place, "mine") == {
        "command": ["no-such-program", "--acp", "--data", "x"], "icon": "◆", "docs_url": "https://mine.example",
        "install_hint": "brew install mine", "login_hint": "mine login", "env_allow": ["MY_*", "MINE"], "env": {"MODE": "a=b"}}
    assert stat.S_IMODE(os.stat(place.data.path).st_mode) == stat.S_IMODE(os.stat(place.data.path / "catalog").st_mode) == 0o700
    assert place.data.holder() is None


def test_a_program_of_this_folder_stays_the_same_one_everywhere(place: Place) -> None:
    said(place, "add", "mine", "--", "./agent")
    assert entry(place, "mine")["command"] == [str(place.work / "agent")]


@every_row(("words", "code", "says"), [
    (("add", "Mine!", "--", "x"), 2, "'Mine!' is no agent name"),
    (("add", "../x", "--", "x"), 2, "'../x' is no agent name"),
    (("add", "mine"), 2, "Missing argument"),
    (("add", "mine", "--env", "PATH", "--", "x"), 2, "--env: expected NAME=VALUE, got 'PATH'"),
    (("add", "mine", "--env-allow", "A B", "--", "x"), 2, "--env-allow: 'A B' is no name of a variable"),
    (("add", "mine", "--env-allow", "TRUNKLINE_TOKEN", "--", "x"), 2, "never reaches an agent"),
    (("add", "mine", "--icon", "long", "--", "x"), 2, "--icon: expected one or two characters"),
    (("add", "mine", "--docs-url", "javascript:x", "--", "x"), 2, "--docs-url: expected an address"),
    (("add", "demo", "--", "x"), 1, "demo comes with Trunkline: take another name, or --replace"),
    (("--url", "http://127.0.0.1:1", "add", "mine", "--", "x"), 2, "on the machine where the hub runs"),
    (("import", "/no/such/file"), 1, "there is no file /no/such/file"),
    (("import", "/"), 2, "cannot read /: is a folder"),
    (("import", REGISTRY), 2, "has 3 agents: name one"),
    (("import", REGISTRY, "alpa"), 1, "no agent 'alpa'; did you mean alpha?"),
    (("import", REGISTRY, "torn"), 2, "torn: distribution.npx"),
    (("import", REGISTRY, "alpha", "--by", "uvx"), 2, "alpha: cannot be had by uvx; by npx"),
    (("import", "http://registry.example/x.json"), 2, "only https is asked"),
    (("import", "ftp://registry.example/x.json"), 2, "only https is asked"),
    (("remove", "demo"), 2, "demo comes with Trunkline"),
    (("remove", "nobody"), 1, "no agent 'nobody' was added here"),
    (("remove", "../token"), 1, "no agent '../token' was added here"),
    (("ad", "x"), 2, "Did you mean add"),
])
def test_what_cannot_be_is_said_and_nothing_is_written(words: tuple[str, ...], code: int, says: str,
                                                       tmp_path_factory: pytest.TempPathFactory) -> None:
    place = Place(tmp_path_factory.mktemp("refused"))
    ended, text = said(place, *words)
    assert (ended, says in text) == (code, True), text
    assert not place.data.path.exists()


def test_one_that_was_added_is_replaced_only_where_that_is_said(place: Place) -> None:
    said(place, "add", "mine", "--", "one")
    code, text = said(place, "add", "mine", "--", "two")
    assert code == 1 and "was added already" in text and entry(place, "mine")["command"] == ["one"]
    assert said(place, "add", "mine", "--replace", "--", "two")[0] == 0 and entry(place, "mine")["command"] == ["two"]


def test_yours_comes_before_one_of_the_catalog_until_it_is_removed(place: Place) -> None:
    assert said(place, "add", "demo", "--replace", "--", "mine")[0] == 0
    assert said(place, "remove", "demo") == (0, "removed demo, which is the catalog's own again\n")


def test_what_stands_in_the_settings_file_is_left_to_who_wrote_it(place: Place, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[agents.mine]\ncommand = ["x"]\n')
    before = config.read_bytes()
    code, text = said(place, "--config", str(config), "add", "mine", "--replace", "--", "y")
    assert code == 1 and f"mine stands in {config} already" in text
    code, text = said(place, "--config", str(config), "remove", "mine")
    assert code == 2 and "take [agents.mine] out there" in text
    assert config.read_bytes() == before


def test_an_entry_that_cannot_be_read_can_be_removed_and_is_suggested(place: Place) -> None:
    said(place, "add", "mine", "--", "x")
    (place.data.path / "catalog" / "mine.toml").write_text("[")
    assert "did you mean mine?" in said(place, "remove", "min")[1]
    assert said(place, "remove", "mine")[0] == 0


def test_an_agent_of_the_registry_is_imported_with_its_install_hint(place: Place) -> None:
    code, text = said(place, "import", REGISTRY, "alpha", "--name", "mine", "--icon", "α", "--env-allow", "ALPHA_KEY")
    assert code == 0 and "added mine: ALPHA_MODE=strict npx -y @alpha/agent@1.2.3 --acp" in text
    made = entry(place, "mine")
    assert (made["icon"], made["display_name"], made["env_allow"]) == ("α", "Alpha", ["ALPHA_KEY"])
    assert "npm install -g @alpha/agent@1.2.3" in str(made["install_hint"])


def test_what_a_registry_has_set_for_its_agent_is_said_with_what_is_run(place: Place, tmp_path: Path) -> None:
    file, package = tmp_path / "agent.json", {"package": "p", "env": {"LD_PRELOAD": "/x.so"}}
    file.write_text(json.dumps({"id": "a", "name": "A", "distribution": {"npx": package}}))
    assert "added a: LD_PRELOAD=/x.so npx -y p" in said(place, "import", str(file))[1]


def test_one_long_word_of_a_registry_does_not_make_all_lines_long(place: Place, tmp_path: Path) -> None:
    file, agent = tmp_path / "all.json", {"name": "A", "distribution": {"npx": {"package": "p"}}}
    agents = [{**agent, "id": "a", "version": "1" * 10_000}, {**agent, "id": "b"}]
    file.write_text(json.dumps({"agents": agents}))
    lines = place.call_here("agents", "import", str(file)).stdout.decode().splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 400


def test_without_an_id_the_registrys_agents_are_listed_with_what_is_wrong(place: Place) -> None:
    lines = place.call_here("agents", "import", REGISTRY).stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["ID", "alpha", "beta", "torn"]
    assert lines[2].endswith("uvx, binary") and "cannot be read: distribution.npx" in lines[3]


def test_the_schema_is_printed_and_an_added_entry_obeys_it(place: Place) -> None:
    done = place.call_here("agents", "import", REGISTRY, "alpha")
    assert done.returncode == 0
    printed = json.loads(said(place, "schema")[1])
    jsonschema.Draft202012Validator(printed).validate(entry(place, "alpha"))
