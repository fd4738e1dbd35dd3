"""The command line as a whole: what it costs to ask it something, how it fails."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from tests.cli.conftest import Place
from tests.tooling.rows import every_row
from trunkline import __version__
from trunkline.cli.commands import COMMANDS, trunkline

TIMES = 2.0
"""Loading a client takes three times as long, loading a hub six times."""
ROUNDS = 7


def _seconds(words: list[str]) -> float:
    """The processor's time that a command takes: on a busy machine the clock's says little."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_asking_for_version_or_help_costs_little_more_than_the_library_that_reads_flags(flag: str) -> None:
    script = os.path.join(os.path.dirname(sys.executable), "trunkline")
    bare, ours = [], []
    for _ in range(ROUNDS):  # turn by turn, so that other load hits both alike
        bare.append(_seconds([sys.executable, "-c", "import click"]))
        ours.append(_seconds([script, flag]))
    assert min(ours) < TIMES * min(bare)


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_import_neither_asyncio_nor_the_hub(flag: str) -> None:
    code = ("import sys; from trunkline.cli.main import main\n"
            f"sys.argv = ['trunkline', '{flag}']\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print(*sorted(name for name in sys.modules if name.split('.')[0] in ('asyncio', 'msgspec', 'h11', 'starlette', "
            "'uvicorn', 'sqlite3') or name.startswith('trunkline')), file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr.split() == ["trunkline", "trunkline.cli", "trunkline.cli.commands", "trunkline.cli.exits",
                                   "trunkline.cli.main", "trunkline.errors"]


def test_the_version_is_the_packages() -> None:
    done = subprocess.run([sys.executable, "-m", "trunkline", "--version"], check=True, capture_output=True, text=True)
    assert done.stdout == f"trunkline {__version__}\n"


@every_row("name", COMMANDS)
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


def test_who_has_another_token_than_the_hub_is_told_what_looks_into_that(shared: Place) -> None:
    done = shared.call("sessions", env={"TRUNKLINE_TOKEN": "another"})
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"trunkline: the token is unknown, expired or revoked; trunkline doctor says what mends it\n"


INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.{handler})

class Trap:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

from trunkline.cli.main import main
sys.meta_path.insert(0, Trap())
sys.argv = ["trunkline", "status", "--data", "{data}"]
main()
"""


def _interrupted(place: Place, module: str, handler: str) -> subprocess.CompletedProcess[bytes]:
    code = INTERRUPTED_AT.format(module=module, handler=handler, data=place.data.path)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)


@pytest.mark.parametrize("module", ["click", "trunkline.errors", "trunkline.cli.commands.status", "trunkline.cli.read_settings"])
def test_ctrl_c_before_a_command_has_begun_is_exit_code_130_and_no_traceback(place: Place, module: str) -> None:
    done = _interrupted(place, module, "default_int_handler")
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_a_command_that_was_started_to_ignore_ctrl_c_ignores_it(place: Place) -> None:
    done = _interrupted(place, "click", "SIG_IGN")
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"running" in done.stdout


FULL = "/dev/full"


@pytest.mark.skipif(not os.path.exists(FULL), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [
    ("run", "demo", "/burst 2 2"), ("run", "--json", "demo", "/burst 2 2"), ("agents",), ("--help",),
])
def test_output_that_cannot_be_written_is_one_line_and_exit_code_one(
    shared: Place, words: tuple[str, ...], unbuffered: str,
) -> None:
    command = [sys.executable, "-m", "trunkline", *words] if words == ("--help",) else shared.command(*words)
    with open(FULL, "wb") as full:
        done = subprocess.run(command, cwd=shared.work, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                              env={**os.environ, "PYTHONUNBUFFERED": unbuffered}, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stderr == b"trunkline: cannot write: No space left on device\n"


def _without(place: Place, stream: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["sh", "-c", f'exec "$@" {stream}', "sh", *place.command(*words)], cwd=place.work, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=30, check=False)


@pytest.mark.parametrize("flag", ["--json", "--quiet"])
def test_run_refuses_to_work_for_a_closed_output_before_it_starts_a_hub(place: Place, flag: str) -> None:
    done = _without(place, ">&-", "run", flag, "demo", "/burst 2 2")
    assert (done.returncode, done.stderr) == (1, b"trunkline: standard output is closed\n")
    assert not place.data.path.exists()


@pytest.mark.parametrize("stream", ["<&-", "2>&-", "<&- 2>&-"])
def test_run_works_without_an_input_and_without_a_place_for_errors(shared: Place, stream: str) -> None:
    done = _without(shared, stream, "run", "--quiet", "demo", "/echo hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hello\n", b"")
