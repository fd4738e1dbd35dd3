"""``tests/acceptance/test_turns.py`` at a gateway."""

from tests.acceptance.test_turns import *  # noqa: F403
