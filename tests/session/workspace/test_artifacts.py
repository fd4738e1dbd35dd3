"""What the agent made, by what is on disk."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.session.fold import Artifact
from trunkline.session.workspace import artifacts
from trunkline.session.workspace.artifacts import DiskIndex, artifact_id, static_root


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


def test_what_agents_keep_in_hidden_folders_is_no_result(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    for path in (".agent-dir/settings.json", ".agent-dir/deep/state.json", "sub/.agent/x.json", ".github/workflows/ci.yml",
                 ".env.example"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("{}")
    assert made(index) == [("file", ".env.example"), ("file", "ci.yml")]


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


@pytest.mark.parametrize(("manifest", "text", "kind"), [
    ("index.html", "<h1>hi</h1>", "web_app"), ("package.json", '{"dependencies": {"next": "15"}}', "nextjs_app")])
def test_an_app_in_the_root_is_one_artifact(tmp_path: Path, manifest: str, text: str, kind: str) -> None:
    (tmp_path / "notes.txt").write_text("the user's")
    index = DiskIndex(str(tmp_path))
    index.scan()
    (tmp_path / manifest).write_text(text)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.tsx").write_text("x")
    (tmp_path / "style.css").write_text("x")
    assert made(index) == [(kind, tmp_path.name)]
    (tmp_path / "style.css").write_text("other")
    assert made(index, known(tmp_path, kind)) == [(kind, tmp_path.name)], "a change inside is a new version of it"


def test_files_beside_an_app_that_was_in_the_root_are_files(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("x")
    index = DiskIndex(str(tmp_path))
    index.scan()
    (tmp_path / "more.css").write_text("x")
    assert made(index) == [("file", "more.css")]


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


def test_a_manifest_that_is_too_large_too_deep_or_none_names_no_app_and_costs_nothing_else(tmp_path: Path) -> None:
    index = DiskIndex(str(tmp_path))
    index.scan()
    for name in ("giant", "deep", "pipe", "link", "good"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").touch()
    with open(tmp_path / "giant" / "package.json", "wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "deep" / "package.json").write_text("[" * 100_000)
    os.mkfifo(tmp_path / "pipe" / "package.json")
    (tmp_path / "link" / "package.json").symlink_to("/dev/zero")
    (tmp_path / "good" / "package.json").write_text('{"dependencies": {"next": "15"}}')
    assert made(index) == [("file", "a.txt")] * 4 + [("file", "package.json")] * 2 + [("nextjs_app", "good")]


def test_a_scan_looks_at_no_more_entries_and_no_deeper_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "SCAN_ENTRIES", 100)
    monkeypatch.setattr(artifacts, "DEPTH_MOST", 3)
    index = DiskIndex(str(tmp_path))
    folder = tmp_path
    for depth in range(6):
        (folder / f"{depth}.txt").touch()
        folder = folder / "d"
        folder.mkdir()
    (tmp_path / "up").symlink_to(tmp_path)
    assert made(index) == [("file", f"{depth}.txt") for depth in range(4)]
    (tmp_path / "d" / "many").mkdir()
    for number in range(300):
        (tmp_path / "d" / "many" / str(number)).touch()
        (tmp_path / "d" / "many" / f"{number}.d").mkdir()
    assert len(made(index)) < 100


def test_a_file_that_turned_into_a_pipe_after_the_scan_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert artifacts._Looking().found(str(tmp_path / "pipe"), False).fingerprint == ""


def test_one_look_reads_so_much_and_compares_the_rest_by_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "HASHED_PER_LOOK", 10)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"12345678")
    looking = artifacts._Looking()
    first, second = (looking.found(str(tmp_path / name), False).fingerprint for name in ("a", "b"))
    assert len(first) == 32 and second.startswith("8-")


def test_of_an_app_only_so_many_entries_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = tmp_path / "app"
    app.mkdir()
    files = [app / name for name in ("index.html", "a.js", "b.js", "c.js")]
    for file in files:
        file.write_text("x")
    monkeypatch.setattr(artifacts, "APP_ENTRIES", 3)
    before = artifacts._folder_fingerprint(str(app))
    seen = []
    for file in files:
        os.utime(file, ns=(1, 1))
        now = artifacts._folder_fingerprint(str(app))
        seen.append(now != before)
        before = now
    assert sum(seen) == 3, "of the fourth, whichever it is, no change is seen"


def test_a_disk_that_does_not_answer_costs_a_turn_its_artifacts_and_no_more(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    answers, came_back, look = threading.Event(), threading.Event(), DiskIndex.news

    def news(index: DiskIndex, since_ns: int, known_before: dict[str, Artifact]) -> list[artifacts.Found]:
        is_late = not answers.is_set()
        answers.wait(60)
        try:
            return look(index, since_ns, known_before)
        finally:
            if is_late:
                came_back.set()

    monkeypatch.setattr(DiskIndex, "news", news)

    clock = tmp_path.with_name("clock")

    def ticked(since_ns: int) -> bool:
        clock.touch()
        return clock.stat().st_ctime_ns > since_ns

    async def begin(stage: Stage, name: str) -> None:
        await stage.send(name)
        since_ns = stage.session._finder._since_ns or 0
        await stage.until(lambda: ticked(since_ns))  # the disk's clock may be some milliseconds behind the turn's
        stage.session.agent.acted(["make"])
        (tmp_path / name).write_text("the agent's")

    async def end(stage: Stage, number: int) -> list[str]:
        stage.driver.end()
        await stage.packets("prompt_response", number)
        return [artifact.name for artifact in stage.session.artifacts()]

    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await begin(stage, "unseen.txt")
        learned = stage.session._finder._learned
        assert learned is not None
        await learned  # what was there before: this look is not to be given up
        monkeypatch.setattr(artifacts, "LOOK_S", 0.05)
        assert await end(stage, 1) == [] and "does not answer" in caplog.text
        await begin(stage, "seen.txt")
        answers.set()
        assert await asyncio.to_thread(came_back.wait, 20), "the look that was given up sees what this turn made"
        monkeypatch.setattr(artifacts, "LOOK_S", 20.0)
        assert await end(stage, 2) == ["seen.txt"]

    with caplog.at_level(logging.WARNING):
        run(scenario())
