"""``tests/acceptance/test_stalled.py`` at a gateway."""

from tests.acceptance.test_stalled import *  # noqa: F403
