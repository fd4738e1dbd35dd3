"""Generated blocks are what the code says, links lead somewhere, and examples are what they say they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scripts.page_types import FILES as PAGE_FILES
from scripts.reference import BLOCK, BLOCKS, PAGE_TYPES, REFERENCE, renewed
from tests.tooling.rows import every_row

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@every_row("path", sorted(REFERENCE.glob("*.md")))
def test_generated_blocks_are_fresh(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == renewed(text), "run: make docs"


@pytest.mark.parametrize("name", sorted(PAGE_FILES))
def test_the_pages_types_are_fresh(name: str) -> None:
    assert (PAGE_TYPES / name).read_text(encoding="utf-8") == PAGE_FILES[name](), "run: make docs"


def test_every_generated_block_stands_in_a_page() -> None:
    used = [match[2] for path in REFERENCE.glob("*.md") for match in BLOCK.finditer(path.read_text(encoding="utf-8"))]
    assert sorted(used) == sorted(BLOCKS)


@every_row("path", PAGES)
def test_links_lead_to_files_that_exist(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert broken == []


@every_row("path", PAGES)
def test_json_examples_are_json(path: Path) -> None:
    for block in re.findall(r"```json\n(.*?)```", path.read_text(encoding="utf-8"), re.S):
        json.loads(block)


def test_every_page_is_reachable_from_the_readme() -> None:
    seen: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        path = todo.pop().resolve()
        if path in seen or path.suffix != ".md":
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        todo += [path.parent / link for link in re.findall(r"\]\(([^)#\s]+\.md)", text) if "://" not in link]
    assert sorted(named(page) for page in PAGES if page.resolve() not in seen) == []


def test_the_files_that_contributing_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = sorted(set(re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:py|md|toml|txt))`", text)))
    bases = (ROOT, ROOT / "src" / "trunkline")
    assert len(paths) > 15
    assert [path for path in paths if not any((base / path).exists() for base in bases)] == []
