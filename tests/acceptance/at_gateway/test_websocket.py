"""``tests/acceptance/test_websocket.py`` at a gateway."""

from tests.acceptance.test_websocket import *  # noqa: F403
