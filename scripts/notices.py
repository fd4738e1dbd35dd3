"""Writes the licence notices of all JavaScript that is in the page's build: ``src/trunkline/server/static/notices.txt``.

    make notices                         rewrite them, after a change of web/package-lock.json
    tests/docs/test_release.py           fails when a package or its version is missing

What is in the build is what ``web/package-lock.json`` calls no tool for development. The texts are the packages' own.
Rule: a package without a text, here or among its own files, is an error, never left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
NOTICES = ROOT / "src" / "trunkline" / "server" / "static" / "notices.txt"
TYPES_ONLY = frozenset({"@types/trusted-types"})
"""Types for the compiler; nothing of them is in the build."""
HEAD = """\
Trunkline's web page is built from these packages. Their licences and notices follow, as the packages have them.
Trunkline itself is under the Apache License, Version 2.0.
"""
MIT = """\
Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""
WITHOUT_FILE = {"qrcode-generator": f"The MIT License\n\nCopyright (c) 2009 Kazuhiko Arase\n\n{MIT}"}
"""These name their licence and their author in the source only."""


class Package(NamedTuple):
    """A package of the build."""

    name: str
    version: str
    licence: str


def packages(lock: dict[str, Any]) -> Iterator[Package]:
    """What the lock file has for the page itself, by name."""
    for place, entry in sorted(lock["packages"].items()):
        name = place.rpartition("node_modules/")[2]
        if name and not entry.get("dev") and name not in TYPES_ONLY:
            yield Package(name, entry["version"], entry.get("license", "unknown"))


def notices(modules: Path, lock: dict[str, Any]) -> str:
    """All of them, one behind the other."""
    parts = [f"{'=' * 79}\n{name} {version} ({licence})\n{'=' * 79}\n\n{_text(modules / name, name)}"
             for name, version, licence in packages(lock)]
    return "\n".join([HEAD, *parts])


def _text(folder: Path, name: str) -> str:
    found = sorted(path for path in folder.glob("LICEN[CS]E*") if path.is_file())
    if not found and name in WITHOUT_FILE:
        return WITHOUT_FILE[name]
    if not found:
        raise SystemExit(f"{folder} has no licence text; find it and name it in scripts/notices.py")
    return "\n".join(path.read_text(encoding="utf-8").strip() + "\n" for path in found)


def main() -> int:
    """Write them."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    NOTICES.write_text(notices(ROOT / "web" / "node_modules", lock), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
