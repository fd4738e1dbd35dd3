"""A table of cases as one test: ``every_row`` in the place of ``pytest.mark.parametrize``, where a name per case helps nobody.

A test of its own costs pytest some milliseconds, which is more than most rows take. All rows are tried, whatever became of those
before them, and the message has each row that failed. Not for rows that need a fixture of their own, such as ``tmp_path``: what
a fixture gives is the same for all rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Check = Callable[..., None]
LONGEST = 2_000
"""Of a failure's text; the row itself is told whole."""


def every_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Check], Check]:
    """Run the test once for all rows; ``names`` are those of its arguments that a row gives, as ``parametrize`` has them."""
    wanted = (names,) if isinstance(names, str) else tuple(names)
    table = [dict(zip(wanted, (row,) if isinstance(names, str) else row, strict=True)) for row in rows]
    assert table, "a table without rows shows nothing"

    def decorate(check: Check) -> Check:
        def test(**others: Any) -> None:
            failed = [text for row in table if (text := _failure(check, row, others))]
            assert not failed, f"{len(failed)} of {len(table)} rows:\n" + "\n".join(failed)

        signature = inspect.signature(check)
        test.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[each for name, each in signature.parameters.items() if name not in wanted])
        test.__name__, test.__qualname__, test.__doc__, test.__module__ = (
            check.__name__, check.__qualname__, check.__doc__, check.__module__)
        test.pytestmark = getattr(check, "pytestmark", [])  # type: ignore[attr-defined]
        return test

    return decorate


def _failure(check: Check, row: dict[str, Any], others: dict[str, Any]) -> str:
    try:
        check(**row, **others)
    except (Exception, pytest.fail.Exception) as error:  # the second is what ``pytest.raises`` says where nothing was raised
        return f"{row!r}\n    {type(error).__name__}: {str(error)[:LONGEST]}"
    return ""
