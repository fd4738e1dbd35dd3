"""``tests/acceptance/test_permissions.py`` at a gateway."""

from tests.acceptance.test_permissions import *  # noqa: F403
