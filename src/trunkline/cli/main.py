"""``trunkline``, from its first line to its exit code.

Rule 1: nothing of weight is imported before Ctrl-C and missing standard streams are taken care of.
Rule 2: a hub closes itself to other programs before it does anything else (``secrecy``).
Rule 3: an error of the tree, or output that cannot be written, becomes one line on stderr and an exit code here and nowhere else.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

from trunkline.cli.exits import EXIT_ERROR, EXIT_LOCKED, EXIT_USAGE, leave_on_interrupt

_WRITE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""The file behind our output, or behind the data folder, takes no more."""


def main() -> None:
    """The console script."""
    leave_on_interrupt()
    _fill_missing_streams()
    if sys.argv[1:2] == ["serve"]:
        from trunkline.cli.hosting.secrecy import keep_secrets  # Rule 2; no other command pays for it

        keep_secrets()
        from trunkline.cli.hosting.unused import leave_unused_unloaded  # before anything that would load them

        leave_unused_unloaded()
        gc.disable()  # loading makes a hundred thousand objects that stay; the hub has them left alone and goes on collecting
    from trunkline.cli.commands import trunkline  # Rule 1
    from trunkline.errors import HubLocked, Invalid, TrunklineError, Unauthorized

    exits: dict[type[TrunklineError], int] = {Invalid: EXIT_USAGE, HubLocked: EXIT_LOCKED}
    try:
        trunkline(prog_name="trunkline")
    except TrunklineError as error:
        way_on = "; trunkline doctor says what mends it" if isinstance(error, Unauthorized) else ""
        _fail(error.message + way_on, exits.get(type(error), EXIT_ERROR))
    except OSError as error:
        if error.errno not in _WRITE_ERRORS:
            raise
        _drop_output()
        _fail(f"cannot write: {error.strerror}", EXIT_ERROR)


def _fail(message: str, code: int) -> None:
    from trunkline.dialects.visible import printable  # Rule 1

    print(f"trunkline: {printable(message)}", file=sys.stderr)
    sys.exit(code)


def _fill_missing_streams() -> None:
    """Put the null device where a standard stream was closed, so that no file of ours gets its number.

    ``sys.stdout`` stays None then: a command whose output is its purpose refuses to run without.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if name != "stdout":
                setattr(sys, name, open(descriptor, "r" if name == "stdin" else "w"))


def _drop_output() -> None:
    """Give up what stdout still holds: Python would try once more to write it at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
