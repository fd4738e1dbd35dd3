"""``tests/acceptance/test_unwatched.py`` at a gateway."""

from tests.acceptance.test_unwatched import *  # noqa: F403
