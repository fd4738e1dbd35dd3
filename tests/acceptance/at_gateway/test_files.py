"""``tests/acceptance/test_files.py`` at a gateway."""

from tests.acceptance.test_files import *  # noqa: F403
