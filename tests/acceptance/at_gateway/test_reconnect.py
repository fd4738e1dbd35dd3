"""``tests/acceptance/test_reconnect.py`` at a gateway."""

from tests.acceptance.test_reconnect import *  # noqa: F403
