"""``tests/acceptance/test_export.py`` at a gateway."""

from tests.acceptance.test_export import *  # noqa: F403
