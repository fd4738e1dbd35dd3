"""How many examples a property is tried with: some in ``make test``, more where there is time (``make test-all``)."""

from __future__ import annotations

import os

MORE = 5
THOROUGH = bool(os.environ.get("THOROUGH"))


def examples(quick: int) -> int:
    """That many, or ``MORE`` times as many."""
    return quick * MORE if THOROUGH else quick
