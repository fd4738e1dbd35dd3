"""A pattern that is compiled by who first uses it is that pattern."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys

import trunkline.dialects
import trunkline.session.policy
from trunkline.dialects import late_re

SAMPLES = ("", "abc", "ABC 12\nabc", "é x=1; rm -rf /", "*** Delete File: a\n+b")


def test_it_finds_what_the_pattern_finds() -> None:
    for text, flags in ((r"(?P<name>[a-z]+)", 0), (r"^abc$", re.MULTILINE | re.IGNORECASE), (r"\s*(\d+)", re.ASCII)):
        late, known = late_re.compile(text, flags), re.compile(text, flags)
        for sample in SAMPLES:
            assert [found.span() for found in late.finditer(sample)] == [found.span() for found in known.finditer(sample)]
            assert late.sub("-", sample) == known.sub("-", sample)
            assert bool(late.fullmatch(sample)) == bool(known.fullmatch(sample))
        assert (late.pattern, late.flags, late.groupindex) == (known.pattern, known.flags, known.groupindex)


def test_every_pattern_of_those_modules_compiles() -> None:
    """A mistake in one is not found by loading its module."""
    names = [module.name for package in (trunkline.dialects, trunkline.session.policy)
             for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    found = 0
    for module in map(importlib.import_module, names):
        for value in vars(module).values():
            for each in value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,):
                if isinstance(each, late_re._LatePattern):
                    found += 1
                    assert isinstance(each.groups, int)
    assert found > 100


def test_a_hub_that_starts_compiles_none_of_them() -> None:
    code = ("import re\nfrom trunkline.dialects import late_re\nlate_re.re = None\n"
            "import trunkline.cli.hosting.hosting\nprint('started')")
    told = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert told.stdout == "started\n", told.stderr
