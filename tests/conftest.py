"""What every test stands on: no test sees the caller's settings or writes into the caller's folders."""

from __future__ import annotations

import gc
import itertools
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.tooling.compiling import compile_share
from tests.tooling.examples import examples

# Deadlines measure the machine, not the code: the suite runs beside other work, and so does whoever makes the examples. Failures
# print how to repeat them.
hypothesis.settings.register_profile("trunkline", deadline=None, print_blob=True, max_examples=examples(20, 150),
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("trunkline")

# A shell starts what it runs in the background with Ctrl-C ignored, and that is inherited: tests that press it would hang.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before anything is collected."""
    compile_share(session.config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is made here stays: to look through it for garbage again and again finds nothing, and takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is there now stays to the end: to look through all of it at each collection of memory costs more than most tests. Nor
    is it looked through before that: it takes each process half a second, for little."""
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths for one folder per test. Counted here: pytest's own numbering looks at all the folders before it for each new one."""
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_folders(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Point the data and settings folders at a fresh place and drop every ``TRUNKLINE_*`` variable."""
    for name in [name for name in os.environ if name.startswith("TRUNKLINE_")]:
        monkeypatch.delenv(name)
    home = next(homes)
    home.mkdir()
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(home / name.lower()))
    yield home
