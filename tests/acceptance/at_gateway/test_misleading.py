"""``tests/acceptance/test_misleading.py`` at a gateway."""

from tests.acceptance.test_misleading import *  # noqa: F403
