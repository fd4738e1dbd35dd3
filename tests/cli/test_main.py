"""The command line as a whole: what it costs to ask it something, how it fails."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import click
import pytest

from tests.cli.conftest import Place
from trunkline import __version__
from trunkline.cli.main import COMMANDS, trunkline

EXTRA_S = 0.150
ROUNDS = 7


def _seconds(words: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - started


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_asking_for_version_or_help_costs_little_more_than_python_itself(flag: str) -> None:
    script = os.path.join(os.path.dirname(sys.executable), "trunkline")
    bare, ours = [], []
    for _ in range(ROUNDS):  # turn by turn, so that other load hits both alike
        bare.append(_seconds([sys.executable, "-c", "pass"]))
        ours.append(_seconds([script, flag]))
    assert min(ours) - min(bare) < EXTRA_S
    # The median too, scaled by how much slower than at its best the machine is just now.
    slowness = statistics.median(bare) / min(bare)
    assert statistics.median(ours) - statistics.median(bare) < EXTRA_S * max(slowness, 1.0)


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_import_neither_asyncio_nor_the_hub(flag: str) -> None:
    code = ("import sys; from trunkline.cli.main import trunkline\n"
            f"trunkline(['{flag}'], standalone_mode=False)\n"
            "print(*sorted(name for name in sys.modules if name.split('.')[0] in ('asyncio', 'msgspec', 'h11', 'starlette', "
            "'uvicorn', 'sqlite3') or name.startswith('trunkline')), file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr.split() == ["trunkline", "trunkline.cli", "trunkline.cli.exits", "trunkline.cli.main", "trunkline.errors"]


def test_the_version_is_the_packages() -> None:
    done = subprocess.run([sys.executable, "-m", "trunkline", "--version"], check=True, capture_output=True, text=True)
    assert done.stdout == f"trunkline {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    command = trunkline.get_command(click.Context(trunkline), name)
    assert command is not None
    assert command.help is not None
    assert command.get_short_help_str(limit=200) == COMMANDS[name].help
    assert command.help.startswith(COMMANDS[name].help)


def test_an_unknown_command_is_wrong_usage(place: Place) -> None:
    done = place.call("nonsense")
    assert done.returncode == 2
    assert b"No such command 'nonsense'" in done.stderr


def test_a_bad_setting_is_wrong_usage_and_one_line(place: Place) -> None:
    done = place.call("status", env={"TRUNKLINE_PORT": "many"})
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == (b"trunkline: port: expected a port number from 0 to 65535 (0 picks a free one) "
                           b"(got 'many' from the environment (TRUNKLINE_PORT))\n")
