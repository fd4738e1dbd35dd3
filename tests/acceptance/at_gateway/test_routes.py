"""``tests/acceptance/test_routes.py`` at a gateway."""

from tests.acceptance.test_routes import *  # noqa: F403
