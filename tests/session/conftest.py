"""What judges commands is loaded, as in a hub that has seen a tool call: only the first of all waits for that."""

from __future__ import annotations

import pytest

from trunkline.session.intake.read_ahead import ReadAhead


@pytest.fixture(scope="session", autouse=True)
def judges() -> None:
    """Load them once."""
    ReadAhead(cwd="/", roots=("/",), home=None).read([])
