"""Bubblewrap, with which agents are kept in a sandbox: finds it, or has the system's installer bring it for the tests.

    python -m scripts.sandbox        # make test, make test-all and make test-faults call it

Rule: nothing fails for the lack of it. Without it the tests of the sandbox are skipped, and say why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGE = "bubblewrap"
PROGRAM = "bwrap"
INSTALL_S = 300.0


def main() -> None:
    """Install it where it is missing and that can be done without asking anybody."""
    if sys.platform != "linux" or shutil.which(PROGRAM) is not None:
        return
    installer = shutil.which("apt-get")
    if installer is None or os.geteuid() != 0:
        _say(f"install the package {PACKAGE} to have the sandbox tested")
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        for words in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", PACKAGE]):
            subprocess.run([installer, *words], env=env, capture_output=True, timeout=INSTALL_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        _say(f"{PACKAGE} could not be installed: {error}")


def _say(line: str) -> None:
    print(f"sandbox: {line}; its tests are skipped", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
