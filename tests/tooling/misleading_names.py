"""An agent that misleads by names and shapes: each call is announced and asked for as it stands. It runs nothing.

Its calls are those of a table (tests/session/misleading.toml), first the misleading ones, then those that are harmless.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.tooling.misleading_order import Json, Play, serve_table


def plays_of(table: Json) -> list[Play]:
    """The calls of a table as plays, in its order."""
    groups = [*table["names"], *table["harmless"]]
    return [[{"do": "call", **call}, {"do": "ask", **call}] for group in groups for call in group["calls"]]


if __name__ == "__main__":
    serve_table(sys.argv[1], plays_of)
