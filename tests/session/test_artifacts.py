"""What the agent made, by what is on disk."""

from __future__ import annotations

import os
from pathlib import Path

from trunkline.session.artifacts import DiskIndex, artifact_id, static_root
from trunkline.session.fold import Artifact


def made(index: DiskIndex, artifacts: dict[str, Artifact] | None = None, since_ns: int = 0) -> list[tuple[str, str]]:
    return sorted((found.type, os.path.basename(found.path)) for found in index.news(since_ns, artifacts or {}))


def known(path: Path, kind: str = "file", fingerprint: str = "") -> dict[str, Artifact]:
    return {str(path): Artifact(id="art", type=kind, name=path.name, path=str(path), relative_path=path.name,
                                created_at="", updated_at="", fingerprint=fingerprint)}


def test_only_new_files_count_and_each_once(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    index = DiskIndex(str(tmp_path))
    index.scan()
    (tmp_path / "old.txt").write_text("changed")
    (tmp_path / "new.md").write_text("x")
    (tmp_path / "pic.PNG").write_bytes(b"x")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "er.py").write_text("x")
    assert made(index) == [("file", "er.py"), ("file", "new.md"), ("image", "pic.PNG")]
    assert made(index) == []


def test_dependencies_caches_and_version_control_are_no_results(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    for folder in (".git", "node_modules", ".venv", "__pycache__"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text("x")
    assert made(index) == []


def test_a_file_from_before_the_turn_is_the_users(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    (tmp_path / "mine.txt").write_text("x")
    later = (tmp_path / "mine.txt").stat().st_ctime_ns + 1
    assert made(index, since_ns=later) == []


def test_an_app_folder_is_one_artifact(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    site, app = tmp_path / "site", tmp_path / "shop"
    site.mkdir()
    (site / "index.html").write_text("<h1>hi</h1>")
    (site / "style.css").write_text("h1{}")
    (app / "pages").mkdir(parents=True)
    (app / "package.json").write_text('{"dependencies": {"next": "15"}}')
    (app / "pages" / "index.tsx").write_text("x")
    assert made(index) == [("nextjs_app", "shop"), ("web_app", "site")]


def test_a_file_added_to_an_app_that_was_there_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("x")
    index = DiskIndex(str(tmp_path))
    index.scan()
    (tmp_path / "site" / "more.css").write_text("x")
    assert made(index) == [("file", "more.css")]


def test_an_artifact_that_changes_is_found_again_and_one_that_does_not_is_not(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    path = tmp_path / "a.txt"
    path.write_text("1")
    (first,) = index.news(0, {})
    artifacts = known(path, fingerprint=first.fingerprint)
    path.write_text("1")
    assert made(index, artifacts) == [], "the same bytes again are no new version"
    path.write_text("22")
    assert made(index, artifacts) == [("file", "a.txt")]


def test_a_change_inside_an_app_is_a_new_version_of_the_app(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("x")
    (first,) = index.news(0, {})
    (site / "index.html").write_text("longer")
    assert made(index, known(site, "web_app", first.fingerprint)) == [("web_app", "site")]


def test_ids_are_stable_and_previews_only_for_static_output(tmp_path: Path) -> None:
    assert artifact_id("s", "/a") == artifact_id("s", "/a") != artifact_id("t", "/a")
    app = tmp_path / "app"
    (app / "dist").mkdir(parents=True)
    (artifact,) = known(app, "nextjs_app").values()
    assert static_root(artifact) is None
    (app / "dist" / "index.html").write_text("x")
    assert static_root(artifact) == str(app / "dist")
