"""``tests/acceptance/test_schema.py`` at a gateway."""

from tests.acceptance.test_schema import *  # noqa: F403
