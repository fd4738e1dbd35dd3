"""``tests/acceptance/test_adapters.py`` at a gateway."""

from tests.acceptance.test_adapters import *  # noqa: F403
