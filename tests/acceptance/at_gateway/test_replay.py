"""``tests/acceptance/test_replay.py`` at a gateway."""

from tests.acceptance.test_replay import *  # noqa: F403
