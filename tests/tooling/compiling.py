"""In a fresh clone every module is compiled once, and not once by each process of tests.

Python and pytest (which rewrites the asserts of test files) keep what they make of a module, but processes that start together
all find nothing kept. So each makes its share first, and when it collects finds what the others kept, or makes it itself.
"""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir, try_makedirs

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src"


def compile_share(config: pytest.Config) -> None:
    """Where all tests are to run in several processes: make what this one has to of what is not kept yet."""
    number, of = os.environ.get("PYTEST_XDIST_WORKER", ""), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    is_for_all = any(Path(config.invocation_params.dir, each).resolve() == TESTS for each in config.args)
    if of == 1 or not is_for_all or sys.dont_write_bytecode:
        return
    for path in sorted([*SOURCES.rglob("*.py"), *TESTS.rglob("*.py")])[int(number.removeprefix("gw"))::of]:
        if path.name.startswith("test_"):
            _rewrite(path, config)
        else:
            compileall.compile_file(path, quiet=2)


def _rewrite(path: Path, config: pytest.Config) -> None:
    kept = get_cache_dir(path) / (path.stem + PYC_TAIL)
    if not kept.exists() and try_makedirs(kept.parent):
        source_hash, code = _rewrite_test(path, config)
        _write_pyc(config.stash[assertstate_key], code, source_hash, kept)
