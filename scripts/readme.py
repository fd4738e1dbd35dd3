"""A step of building the package: the README as it is shown outside of the repository, with addresses in place of paths.

Rule 1: the address is ``project.urls.Repository`` of pyproject.toml, and stands nowhere else.
Rule 2: a path that the README links to must be there; ``tests/docs/test_release.py`` looks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


class ReadmeHook(MetadataHookInterface):
    """Gives the package its README."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add it."""
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        address = metadata["urls"]["Repository"]
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, address)}


def absolute(text: str, repository: str) -> str:
    """The text with every path as an address in the repository; of a picture, as the picture itself."""

    def address(found: re.Match[str]) -> str:
        mark, words, path, place = found[1], found[2], found[3], found[4] or ""
        return f"{mark}[{words}]({repository}/{'raw' if mark else 'blob'}/main/{path}{place})"

    return LINK.sub(address, text)
