"""Settings are read from four sources, with clear errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tooling.rows import every_row
from trunkline.cli.read_settings import load
from trunkline.errors import Invalid

HOME = {"HOME": "/home/somebody"}


def _config(folder: Path, text: str) -> dict[str, str]:
    file = folder / "config.toml"
    file.write_text(text)
    return HOME | {"TRUNKLINE_CONFIG": str(file)}


def test_without_anything_given_the_defaults_stand() -> None:
    settings = load({}, HOME)
    assert (settings.host, settings.port, settings.durability, settings.open) == ("127.0.0.1", 7420, "normal", True)
    assert settings.data == Path("/home/somebody/.local/share/trunkline")
    assert settings.config == Path("/home/somebody/.config/trunkline/config.toml")
    assert settings.approval_timeout == 600


def test_folders_follow_the_xdg_variables_and_ignore_relative_ones() -> None:
    given = load({}, HOME | {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"})
    assert (given.data, given.config) == (Path("/d/trunkline"), Path("/c/trunkline/config.toml"))
    assert load({}, HOME | {"XDG_DATA_HOME": "d"}).data == Path("/home/somebody/.local/share/trunkline")


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    env = _config(tmp_path, "port = 1\n")
    assert load({}, env).port == 1
    assert load({"port": None}, env | {"TRUNKLINE_PORT": "2"}).port == 2
    assert load({"port": "3"}, env | {"TRUNKLINE_PORT": "2"}).port == 3


@every_row(
    ("text", "seconds"), [("90", 90.0), ("1.5", 1.5), ("30s", 30.0), ("15m", 900.0), ("2h", 7200.0), (" 5m ", 300.0), ("0", 0.0)]
)
def test_times_take_units(text: str, seconds: float) -> None:
    assert load({"idle_timeout": text}, HOME).idle_timeout == seconds


@every_row(
    ("key", "value", "complaint"),
    [
        ("port", "http", "expected a port number"),
        ("port", "65536", "expected a port number"),
        ("port", "-1", "expected a port number"),
        ("durability", "some", "expected normal or full"),
        ("idle_timeout", "soon", "expected seconds"),
        ("idle_timeout", "-5", "zero or more"),
        ("idle_timeout", "inf", "zero or more"),
        ("idle_timeout", "nan", "zero or more"),
        ("insecure", "maybe", "expected true or false"),
    ],
)
def test_a_bad_value_is_refused_and_its_origin_named(key: str, value: str, complaint: str) -> None:
    variable = f"TRUNKLINE_{key.upper()}"
    with pytest.raises(Invalid, match=complaint) as caught:
        load({}, HOME | {variable: value})
    assert caught.value.message.startswith(f"{key}: ")
    assert variable in caught.value.message
    assert repr(value) in caught.value.message
    with pytest.raises(Invalid, match="--" + key.replace("_", "-")):
        load({key: value}, HOME)


@pytest.mark.parametrize("text", ["port = '80'", "port = 80", "allow_host = ['a', 'b,c']", "allow_host = 'a,b,c'"])
def test_the_file_takes_numbers_lists_and_the_words_of_the_command_line(tmp_path: Path, text: str) -> None:
    settings = load({}, _config(tmp_path, text))
    assert (settings.port, settings.allow_host) in ((80, ()), (7420, ("a", "b", "c")))


@pytest.mark.parametrize("text", ["port = true", "allow_host = 3", "open = 'perhaps'", "idle_timeout = true", "host = 5"])
def test_a_wrong_type_in_the_file_is_refused_naming_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(Invalid, match=r"config\.toml"):
        load({}, _config(tmp_path, text))


def test_an_unknown_key_and_a_broken_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="unknown key 'prot'"):
        load({}, _config(tmp_path, "prot = 1\n"))
    with pytest.raises(Invalid, match="is not TOML"):
        load({}, _config(tmp_path, "port = \n"))


def test_a_file_that_was_asked_for_must_exist_and_the_usual_one_need_not(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="there is no file"):
        load({"config": str(tmp_path / "none.toml")}, HOME)
    assert load({}, {"HOME": str(tmp_path)}).port == 7420


def test_the_token_comes_from_the_environment_alone() -> None:
    assert load({}, HOME | {"TRUNKLINE_TOKEN": "t"}).token == "t"


def test_agents_come_from_the_file_and_the_command_line_and_the_latter_wins(tmp_path: Path) -> None:
    env = _config(tmp_path, '[agents.mine]\ncommand = ["a"]\n[agents.other]\ncommand = ["b", "c"]\n')
    agents = load({"agents": ("mine=z --acp 'x y'",)}, env).agents
    assert agents["mine"].command == ("z", "--acp", "x y")
    assert agents["other"].command == ("b", "c")


@pytest.mark.parametrize("word", ["mine", "=cmd", "mine=", "mine= "])
def test_an_agent_without_name_or_command_is_refused(word: str) -> None:
    with pytest.raises(Invalid, match=r"expected NAME=COMMAND .* from --agent"):
        load({"agents": (word,)}, HOME)


def test_what_is_empty_was_not_given() -> None:
    settings = load({"port": None, "allow_host": ()}, HOME | {"TRUNKLINE_PORT": "", "TRUNKLINE_ALLOW_HOST": "a"})
    assert (settings.port, settings.allow_host) == (7420, ("a",))


def test_a_path_may_begin_at_home_and_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/other")
    monkeypatch.chdir(tmp_path)
    assert load({"data": "~/x"}, HOME).data == Path("/home/other/x")
    assert load({"data": "x"}, HOME).data == tmp_path / "x"


@pytest.mark.parametrize("text", ["agents = 3", 'agents = "a=b"', "agents = [3]", "[agents]\nx = 3", '[agents]\nx = "cmd"'])
def test_agents_in_the_file_that_are_no_tables_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Invalid, match=r"agents: expected a table \[agents.NAME\] for each agent .*config\.toml"):
        load({}, _config(tmp_path, text + "\n"))


def test_the_null_device_is_a_file_without_settings() -> None:
    assert load({"config": os.devnull}, {}).config == Path(os.devnull)
