"""``tests/acceptance/test_images.py`` at a gateway."""

from tests.acceptance.test_images import *  # noqa: F403
