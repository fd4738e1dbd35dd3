"""What a release must have: notices of all that the page is built from, and a README whose links lead somewhere outside, too."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from scripts.notices import MIT, NOTICES, packages
from scripts.readme import LINK, absolute

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_package_in_the_page_has_its_notice_with_its_version() -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    text = NOTICES.read_text(encoding="utf-8")
    found = {match[1] for match in re.finditer(r"^(\S+ \S+) \(.+\)\n={79}$", text, re.M)}
    assert found == {f"{each.name} {each.version}" for each in packages(lock)}, "run `make notices`"


def test_what_the_pages_package_file_depends_on_is_among_them() -> None:
    wanted = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    assert set(wanted) <= {each.name for each in packages(lock)}


def test_every_notice_has_the_words_that_its_licence_asks_for() -> None:
    heads = re.split(r"^={79}\n(\S+) \S+ \(.+\)\n={79}\n", NOTICES.read_text(encoding="utf-8"), flags=re.M)
    texts = dict(zip(heads[1::2], heads[2::2], strict=True))
    assert all(len(text) > 500 and "opyright" in text for text in texts.values())
    assert MIT in texts["qrcode-generator"]


def test_the_notices_and_the_licence_are_in_the_package() -> None:
    assert set(PROJECT["license-files"]) == {"LICENSE", str(NOTICES.relative_to(ROOT))}


def test_every_link_of_the_readme_leads_to_something_that_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    paths = [found[3] for found in LINK.finditer(text)]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_outside_of_the_repository_every_link_of_the_readme_is_an_address() -> None:
    text = absolute((ROOT / "README.md").read_text(encoding="utf-8"), PROJECT["urls"]["Repository"])
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    assert f"{PROJECT['urls']['Repository']}/raw/main/docs/screenshots/" in text


def test_a_link_is_made_absolute_with_its_place_and_what_is_one_already_is_left_alone() -> None:
    text = "[a](docs/x.md#there) ![b](p.png) [c](https://example.org/d) [e](#here)"
    assert absolute(text, "https://r") == (
        "[a](https://r/blob/main/docs/x.md#there) ![b](https://r/raw/main/p.png) [c](https://example.org/d) [e](#here)")


def test_all_addresses_of_the_project_are_in_one_repository() -> None:
    assert {"Repository", "Documentation", "Changelog", "Issues"} <= set(PROJECT["urls"])
    assert all(address.startswith(PROJECT["urls"]["Repository"]) for address in PROJECT["urls"].values())


def test_the_address_of_the_repository_stands_in_one_place() -> None:
    address = PROJECT["urls"]["Repository"].removeprefix("https://")
    folders = [ROOT / name for name in ("src", "docs", "scripts", "web/src")]
    files = [*ROOT.glob("*.*"), *(path for folder in folders for path in folder.rglob("*.*"))]
    texts = [path for path in files if path.suffix in {".py", ".md", ".toml", ".ts", ".tsx"}]
    assert [path.name for path in texts if address in path.read_text(encoding="utf-8")] == ["pyproject.toml"]
