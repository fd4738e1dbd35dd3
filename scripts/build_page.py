"""A step of building the package: the web page is in it.

Rule 1: a wheel or a source archive without the page is not made; where the page cannot be built, the build says why.
Rule 2: an editable install takes the page from the sources, where `make page` keeps it; nothing is built for it here.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = "src/trunkline/server/static/page/weight.json"


class PageHook(BuildHookInterface[Any]):
    """Builds the page where it is missing, as `make page` does."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable" or (root / BUILT).exists():
            return
        for command in (("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"), ("npx", "--no-install", "vite", "build")):
            self._run(root, command)

    def _run(self, root: Path, command: tuple[str, ...]) -> None:
        done = subprocess.run((str(root / "scripts" / "with_node.sh"), *command), cwd=root / "web", check=False)
        if done.returncode:
            raise RuntimeError(f"the web page could not be built ({' '.join(command)}); run `make page` first")
