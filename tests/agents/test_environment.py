"""What an agent may see of the environment."""

from __future__ import annotations

import pytest

from trunkline.agents.environment import MARKER, clean_env, marker_below
from trunkline.errors import Invalid

SOURCE = {
    "HOME": "/home/dev",
    "PATH": "/bin",
    "LC_ALL": "C",
    "XDG_CONFIG_HOME": "/c",
    "https_proxy": "http://proxy",
    "TRUNKLINE_TOKEN": "secret",
    "TRUNKLINE_DATA": "/d",
    "OPENAI_API_KEY": "key",
    "OPENAI": "x",
    "AWS_SECRET_ACCESS_KEY": "s",
    "LD_PRELOAD": "evil.so",
}


def names(env: dict[str, str]) -> set[str]:
    return set(env) - {MARKER}


def test_only_listed_variables_pass() -> None:
    assert names(clean_env((), SOURCE)) == {"HOME", "PATH", "LC_ALL", "XDG_CONFIG_HOME", "https_proxy"}


def test_an_agent_gets_what_its_entry_lists_by_name_or_pattern() -> None:
    assert "OPENAI_API_KEY" in clean_env(["OPENAI_*"], SOURCE)
    assert "OPENAI" not in clean_env(["OPENAI_*"], SOURCE)
    assert "OPENAI" in clean_env(["OPENAI"], SOURCE)
    assert "openai_api_key" not in clean_env(["OPENAI_*"], {"openai_api_key": "key"})


@pytest.mark.parametrize("allow", [["TRUNKLINE_*"], ["TRUNKLINE_TOKEN"], ["*"]])
def test_the_hubs_own_variables_never_pass_whoever_asks(allow: list[str]) -> None:
    env = clean_env(allow, SOURCE, {"TRUNKLINE_TOKEN": "again"})
    assert not [name for name in env if name.startswith("TRUNKLINE_")]


def test_extra_variables_win_over_inherited_ones() -> None:
    assert clean_env((), SOURCE, {"HOME": "/elsewhere", "NEW": "1"})["HOME"] == "/elsewhere"


def test_every_environment_has_its_own_marker_and_a_path() -> None:
    one, two = clean_env((), {}), clean_env((), {MARKER: "inherited"}, {MARKER: "given"})
    assert len({one[MARKER], two[MARKER], "inherited", "given"}) == 4
    assert one["PATH"]
    assert not MARKER.startswith("TRUNKLINE_")


def test_a_marker_below_starts_with_the_one_above() -> None:
    assert marker_below("abc").startswith("abc.")
    assert marker_below("abc") != marker_below("abc")


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")])
def test_a_variable_no_process_can_carry_is_refused(name: str, value: str) -> None:
    with pytest.raises(Invalid, match="environment variable"):
        clean_env((), {}, {name: value})
