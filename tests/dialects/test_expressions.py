"""Every expression of the tree takes time in proportion to the text: who writes it must not choose how long the loop is held.

What is measured is own CPU time, and only how it grows: sixteen times the text may take 64 times as long, not 256."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import re
import time
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import trunkline
from tests.tooling.examples import THOROUGH

SMALL, LARGE = (2 << 10, 8 << 10) if THOROUGH else (512, 2 << 10)
QUICK_S, SLOW_S = (0.002 if THOROUGH else 0.0001), 0.25
"""What a text of LARGE may take without a closer look; and what no linear expression needs for a SMALL one, on any machine."""
ROUNDS = 8
UNITS = (" ", "\t", "\n", "a", "0", "-", "/", ".", ":", "[", "{", "(", "<", "'", '"', "`", "$", "\\", "=", "a ", "a-", "a.", "a/",
         "$(", "${", "{a,", "[a", "[{", "[a](http://", "http://a", "data:", "data:a;", "<local-command-stdout>", "<title",
         "\x1b[", "\x1b]", "\n--- ", "hit your x ", "a@", "0a", "0.", "```\n", "exit code", "--- a\n")
"""What a hostile text may consist of: each is repeated, and nothing that follows fits."""
STARTS_ONCE = {"match", "fullmatch"}
BOUNDED = {
    ("trunkline.dialects.acp.reading.large", "_CUT_ESCAPE"): "looks at the last 64 bytes",
    ("trunkline.dialects.acp.reading.large", "_HIGH_SURROGATE"): "looks at the last 64 bytes",
    ("trunkline.dialects.risk.rules", "_VERSION"): "looks at a name of at most _NAME_CHARS",
    ("trunkline.dialects.risk.rules.files", "_WIDE_MODE"): "looks at _MODE_CHARS",
    ("trunkline.dialects.calls.names", "_TITLE_HEAD"): "looks at _HEAD_CHARS",
    ("trunkline.dialects.glob_climbs", "_TOKEN"): "looks at a part of a path of at most _CHARS",
}
"""Expressions that are not linear, and why nobody can send them a long text."""


def expressions() -> Iterator[tuple[ModuleType, str, re.Pattern[Any]]]:
    for found in pkgutil.walk_packages(trunkline.__path__, "trunkline."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                yield from ((module, name, each) for each in patterns_in(value))


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(each) if isinstance(each, re.Pattern | tuple) else ()


CALLS = re.compile(r"\b(\w+)\.(match|fullmatch|search|finditer|findall|sub|subn|split)\b")


@cache
def calls_in(module: ModuleType) -> dict[str, set[str]]:
    """What the module calls of each name that might be an expression's."""
    calls: dict[str, set[str]] = {}
    for name, call in CALLS.findall(inspect.getsource(module)):
        calls.setdefault(name, set()).add(call)
    return calls


def uses(module: ModuleType, name: str) -> set[str]:
    """How the module calls it; a search, too, where that cannot be seen."""
    return calls_in(module).get(name) or {"?"}


def cost_s(pattern: re.Pattern[Any], calls: set[str], text: Any) -> float:
    begin = time.thread_time()
    if "match" in calls:
        pattern.match(text)
    if "fullmatch" in calls:
        pattern.fullmatch(text)
    if calls - STARTS_ONCE:
        for _ in pattern.finditer(text):
            pass
    return time.thread_time() - begin


def slow_unit(pattern: re.Pattern[Any], calls: set[str]) -> str | None:
    """What it takes more than linear time for, if anything."""
    for unit in UNITS:
        texts = ((unit * (size // len(unit)) + "\0") for size in (SMALL, LARGE, 16 * SMALL))
        few, many, sixteen_times = (text.encode() if isinstance(pattern.pattern, bytes) else text for text in texts)
        if cost_s(pattern, calls, few) > SLOW_S:
            return unit
        if cost_s(pattern, calls, many) < QUICK_S:
            continue
        if min(cost_s(pattern, calls, many) for _ in range(3)) < QUICK_S:
            continue  # the first look met something else that ran
        if grows_too_fast(pattern, calls, few, sixteen_times):
            return unit
    return None


def grows_too_fast(pattern: re.Pattern[Any], calls: set[str], few: Any, sixteen_times: Any) -> bool:
    """Whether no round of several, of both in turns, shows it to be linear: on a busy machine one alone may tell anything."""
    least = most = math.inf
    for _ in range(ROUNDS):
        least = min(least, *(cost_s(pattern, calls, few) for _ in range(3)))
        most = min(most, cost_s(pattern, calls, sixteen_times))
        if most <= 64 * least:
            return False
    return True


def test_no_expression_takes_more_than_linear_time() -> None:
    seen: set[tuple[object, int, frozenset[str]]] = set()
    slow: list[str] = []
    for module, name, pattern in expressions():
        calls = uses(module, name)
        key = (pattern.pattern, pattern.flags, frozenset(calls))
        if key in seen or (module.__name__, name) in BOUNDED:
            continue
        seen.add(key)
        if (unit := slow_unit(pattern, calls)) is not None:
            slow.append(f"{module.__name__}.{name} for {unit!r}: {pattern.pattern!r}")
    assert len(seen) > 100, "they were not found"
    assert not slow, "\n".join(slow)


def test_no_expression_repeats_a_group_possessively() -> None:
    """Before 3.11.5 that loses the beginning of what the group matched: ``rm`` is read as ``m``. Atomic groups do not."""
    texts = [(f"{module.__name__}.{name}", str(pattern.pattern)) for module, name, pattern in expressions()]
    assert [name for name, text in texts if re.search(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+", text)] == []


def test_the_sweep_finds_what_it_is_for() -> None:
    begins_and_ends = re.compile(r"<local-command-stdout>(.*?)</local-command-stdout>", re.DOTALL)
    assert slow_unit(begins_and_ends, {"findall"}) is not None
