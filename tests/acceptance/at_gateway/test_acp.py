"""``tests/acceptance/test_acp.py`` at a gateway."""

from tests.acceptance.test_acp import *  # noqa: F403
