"""``tests/acceptance/test_seen.py`` at a gateway."""

from tests.acceptance.test_seen import *  # noqa: F403
