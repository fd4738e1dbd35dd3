"""What a JSON schema says of a value, by two libraries: a quick one for the many that are right, and one that says what is wrong.

Most of what tests hold to a schema fits it, and to find that out with the library that explains took longer than the tests
themselves: a hundred times as long as the compiled one. ``make test-all`` asks both, and they must agree.
"""

from __future__ import annotations

from typing import Any

import jsonschema
import jsonschema_rs

from tests.tooling.examples import THOROUGH


class Oracle:
    """One schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._quick = jsonschema_rs.Draft202012Validator(schema)
        self._explaining = jsonschema.Draft202012Validator(schema)

    def accepts(self, value: object) -> bool:
        """Whether the schema takes it."""
        accepted = bool(self._quick.is_valid(value))
        assert not THOROUGH or accepted == self._explaining.is_valid(value), f"the libraries disagree about {value!r}"
        return accepted

    def faults(self, value: object) -> list[str]:
        """Why the schema refuses it; empty when it accepts it."""
        if self.accepts(value):
            return []
        return [error.message for error in self._explaining.iter_errors(value)] or ["refused, and no reason was found"]
