"""``tests/acceptance/test_agents.py`` at a gateway."""

from tests.acceptance.test_agents import *  # noqa: F403
