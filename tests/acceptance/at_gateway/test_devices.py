"""``tests/acceptance/test_devices.py`` at a gateway."""

from tests.acceptance.test_devices import *  # noqa: F403
