"""How many examples a property is tried with: some in ``make test``, more where there is time (``make test-all``)."""

from __future__ import annotations

import os

MORE = 5
THOROUGH = bool(os.environ.get("THOROUGH"))


def examples(quick: int, thorough: int | None = None) -> int:
    """That many, or where there is time so many, ``MORE`` times as many where nothing is said."""
    return (thorough or quick * MORE) if THOROUGH else quick
