"""``python -m trunkline``: the same as the ``trunkline`` command."""

from trunkline.cli.main import main

main()
