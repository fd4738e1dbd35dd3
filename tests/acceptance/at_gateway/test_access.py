"""``tests/acceptance/test_access.py`` at a gateway."""

from tests.acceptance.test_access import *  # noqa: F403
