"""``tests/acceptance/test_readings.py`` at a gateway."""

from tests.acceptance.test_readings import *  # noqa: F403
