"""``trunkline stop``: only a hub of this machine is ended, and its lock is waited for."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tests.cli.conftest import Place
from trunkline.cli.commands import stop
from trunkline.cli.commands.stop import end
from trunkline.cli.hosting.datadir import DataDir
from trunkline.errors import Unavailable


class Held:
    """A folder whose lock a process has as long as it runs."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child

    def holder(self) -> int | None:
        return self._child.pid if self._child.poll() is None else None


def test_where_no_hub_runs_there_is_nothing_to_stop_and_an_address_is_refused(place: Place) -> None:
    assert place.call_here("stop").stdout == b"no hub is running\n"
    refused = place.call_here("stop", "--url", "http://127.0.0.1:1")
    assert refused.returncode == 2 and b"it does not take a url" in refused.stderr


def test_the_process_that_has_the_lock_is_asked_to_stop_and_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        end(cast("DataDir", Held(child)), child.pid)
        assert child.returncode == -signal.SIGTERM


def test_a_hub_that_does_not_stop_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop, "PATIENCE_S", 0.0)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline()
        with pytest.raises(Unavailable, match=f"process {child.pid}"):
            end(cast("DataDir", Held(child)), child.pid)
        child.kill()
