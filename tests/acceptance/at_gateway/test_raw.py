"""``tests/acceptance/test_raw.py`` at a gateway."""

from tests.acceptance.test_raw import *  # noqa: F403
