"""``tests/acceptance/test_together.py`` at a gateway."""

from tests.acceptance.test_together import *  # noqa: F403
