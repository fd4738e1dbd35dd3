"""From fork to exec: the program runs where and as it was wished, or it is said at which step it failed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from trunkline.agents.keeper.launch import LaunchFailed, launch
from trunkline.agents.keeper.wire import Wishes

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The keeper forks while it has one thread; whoever runs tests has more."""


def wishes(script: str, cwd: Path, *, program: str = "/bin/sh", **more: object) -> Wishes:
    made = Wishes([os.fsencode(program)], [b"sh", b"-c", script.encode()], os.fsencode(cwd), {b"WORD": b"here"}, False, {}, [])
    for name, value in more.items():
        setattr(made, name, value)
    return made


def printed(wanted: Wishes) -> tuple[str, int]:
    """What the program wrote, and how it ended. It leads a session of its own."""
    reader, writer = os.pipe()
    try:
        with open(os.devnull, "rb") as nothing:
            pid = launch(wanted, [nothing.fileno(), writer, writer], None)
    finally:
        os.close(writer)
    assert os.getsid(pid) == pid
    with os.fdopen(reader) as output:
        text = output.read()
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_the_program_runs_in_its_folder_with_its_variables_alone(tmp_path: Path) -> None:
    real = tmp_path.resolve()
    assert printed(wishes('pwd; echo "$WORD ${HOME-none}"; exit 3', real)) == (f"{real}\nhere none\n", 3)


def test_open_files_are_limited_for_the_program(tmp_path: Path) -> None:
    assert printed(wishes("ulimit -n", tmp_path, limits={"files": 77})) == ("77\n", 0)


def test_a_program_that_is_nowhere_and_a_folder_that_is_gone_are_told_by_their_step(tmp_path: Path) -> None:
    with pytest.raises(LaunchFailed) as failed:
        printed(wishes("true", tmp_path, program="/no/such/program"))
    assert (failed.value.step, failed.value.number) == ("program", errno.ENOENT)
    with pytest.raises(LaunchFailed) as failed:
        printed(wishes("true", tmp_path / "gone"))
    assert (failed.value.step, failed.value.number) == ("folder", errno.ENOENT)


def test_a_folder_that_was_looked_at_is_not_entered_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert printed(wishes("true", tmp_path / "link"))[1] == 0
    with pytest.raises(LaunchFailed) as failed:
        printed(wishes("true", tmp_path / "link", cwd_is_real=True))
    assert (failed.value.step, failed.value.number) == ("folder", errno.ELOOP)


def test_of_several_failures_the_one_that_explains_most_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    with pytest.raises(LaunchFailed) as failed:
        printed(wishes("true", tmp_path, candidates=[b"/no/such/program", os.fsencode(broken)]))
    assert failed.value.number == errno.ENOEXEC
