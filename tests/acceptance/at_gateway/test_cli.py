"""``tests/acceptance/test_cli.py`` at a gateway."""

from tests.acceptance.test_cli import *  # noqa: F403
