"""What commands have in common: flags from the table of settings, exit codes, tables."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from trunkline.cli.common import finish, print_json, print_table, setting_flags


def flags_of(command: str) -> dict[str, click.Option]:
    @click.command()
    @setting_flags(command)
    def some(**flags: Any) -> None:
        pass

    return {str(option.name): option for option in some.params if isinstance(option, click.Option)}


def test_a_command_has_the_flags_that_are_meant_for_it_in_the_order_of_the_table() -> None:
    assert list(flags_of("clients")) == ["data", "config", "url"]
    assert list(flags_of("serve"))[:4] == ["host", "port", "data", "config"]
    assert "url" not in flags_of("serve") and "token" not in flags_of("serve")


def test_a_flag_says_its_default_unless_there_is_none() -> None:
    flags = flags_of("serve")
    assert str(flags["port"].help).endswith("[7420]")
    assert "[" not in str(flags["allow_host"].help) and flags["allow_host"].multiple
    assert flags["insecure"].is_flag and flags["open"].secondary_opts == ["--no-open"]


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (3, 3)])
def test_what_a_command_returns_is_its_exit_code(returned: int | None, code: int) -> None:
    async def work() -> int | None:
        return returned

    with pytest.raises(SystemExit) as left:
        finish(work())
    assert left.value.code == code


def test_a_table_is_as_wide_as_it_needs_and_a_cell_stays_on_its_line() -> None:
    @click.command()
    def some() -> None:
        print_table(["NAME", "STATE"], [("a", "idle"), ("longer", "two\nlines")])

    head, first, second = CliRunner().invoke(some).output.splitlines()
    assert head == "NAME    STATE" and first == "a       idle" and second.startswith("longer  two")


def test_json_says_nothing_to_a_terminal() -> None:
    @click.command()
    def some() -> None:
        print_json({"title": "\x1b[2J\u202e"})

    assert "\x1b" not in CliRunner().invoke(some).output and "\u202e" not in CliRunner().invoke(some).output
