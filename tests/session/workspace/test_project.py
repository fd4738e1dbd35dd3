"""What a folder's files say about the project in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trunkline.session.workspace.project import ENTRIES_MOST, FILE_BYTES, look_around, project_of


@pytest.mark.parametrize(("files", "language", "framework"), [
    ({"pyproject.toml": 'dependencies = ["fastapi>=0.1"]'}, "Python", "FastAPI"),
    ({"requirements.txt": "Django==5\n".lower()}, "Python", "Django"),
    ({"package.json": '{"dependencies": {"next": "15", "react": "19"}}', "tsconfig.json": "{}"}, "TypeScript", "Next.js"),
    ({"package.json": '{"dependencies": {"react": "19"}}'}, "JavaScript", "React"),
    ({"package.json": '{"name": "reactor", "dependencies": {}}'}, "JavaScript", None),
    ({"Cargo.toml": '[dependencies]\naxum = "0.8"'}, "Rust", "Axum"),
    ({"go.mod": "require github.com/gin-gonic/gin v1"}, "Go", "Gin"),
    ({"pom.xml": "<artifactId>spring-boot-starter</artifactId>"}, "Java", "Spring Boot"),
    ({"composer.json": '{"require": {"symfony/http-kernel": "7"}}'}, "PHP", "Symfony"),
    ({"Gemfile": "gem 'rails'"}, "Ruby", "Rails"),
    ({"pubspec.yaml": "dependencies:\n  flutter:\n    sdk: flutter"}, "Dart", "Flutter"),
    ({"main.c": "", "util.c": "", "README.md": ""}, "C", None),
    ({"notes.txt": "fastapi"}, None, None), ({}, None, None),
])
def test_language_and_framework_are_read_from_the_files_that_name_them(
        tmp_path: Path, files: dict[str, str], language: str | None, framework: str | None) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert project_of(str(tmp_path)) == (language, framework)


def test_no_more_is_looked_at_than_the_bounds_say(tmp_path: Path) -> None:
    for number in range(ENTRIES_MOST * 2):
        (tmp_path / f"{number}.zig").touch()
    assert project_of(str(tmp_path)) == ("Zig", None)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "Gemfile").write_text("#" * FILE_BYTES + "\ngem 'rails'")
    assert project_of(str(tmp_path / "one")) == ("Ruby", None)


def test_a_pipe_a_folder_a_broken_link_and_nothing_at_all_stop_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Cargo.toml")
    assert project_of(str(tmp_path)) == ("Rust", None)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "go.mod").symlink_to(tmp_path / "nowhere")
    assert project_of(str(tmp_path / "x")) == ("Go", None)
    (tmp_path / "y" / "Gemfile").mkdir(parents=True)
    assert project_of(str(tmp_path / "y")) == ("Ruby", None)
    assert project_of(str(tmp_path / "gone")) == (None, None)


def test_the_machine_is_told_with_the_project(tmp_path: Path) -> None:
    around = look_around(str(tmp_path) + "/")
    assert around.project.name == tmp_path.name
    assert around.runtime.os == os.uname().sysname.lower() and around.runtime.arch == os.uname().machine
