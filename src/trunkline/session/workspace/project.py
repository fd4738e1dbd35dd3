"""Where a session runs: the project in its folder, by the files that name its language and framework, and the machine.

Rule 1: it only looks: at no more than ENTRIES_MOST names of the one folder, and at the first FILE_BYTES of one file in it.
Rule 2: what cannot be found out is left out; nothing here fails.
Rule 3: it blocks; whoever has a loop calls it in a lane.
"""

from __future__ import annotations

import os
import platform
import re
from collections import Counter
from typing import NamedTuple

from msgspec import UNSET, Struct

from trunkline.dialects.context.types import EnvironmentProject, EnvironmentRuntime
from trunkline.disk.reading import read_beginning

ENTRIES_MOST = 200
FILE_BYTES = 64 << 10


class Surroundings(Struct, frozen=True):
    """A project and the machine that it is on."""

    project: EnvironmentProject
    runtime: EnvironmentRuntime


class _Marker(NamedTuple):
    """A file that says what a project is written in, and the words in it that name a framework, the most telling first."""

    file: str
    language: str
    frameworks: tuple[tuple[str, str], ...] = ()


_SCRIPT_FRAMEWORKS = (
    ('"next"', "Next.js"), ('"nuxt"', "Nuxt"), ('"@angular/core"', "Angular"), ('"@sveltejs/kit"', "SvelteKit"),
    ('"@remix-run/react"', "Remix"), ('"astro"', "Astro"), ('"@nestjs/core"', "NestJS"), ('"electron"', "Electron"),
    ('"expo"', "Expo"), ('"react-native"', "React Native"), ('"svelte"', "Svelte"), ('"vue"', "Vue"), ('"solid-js"', "Solid"),
    ('"preact"', "Preact"), ('"react"', "React"), ('"fastify"', "Fastify"), ('"hono"', "Hono"), ('"express"', "Express"),
)
_PYTHON_FRAMEWORKS = (
    ("django", "Django"), ("fastapi", "FastAPI"), ("flask", "Flask"), ("starlette", "Starlette"), ("litestar", "Litestar"),
    ("streamlit", "Streamlit"), ("tornado", "Tornado"), ("aiohttp", "aiohttp"), ("torch", "PyTorch"),
    ("tensorflow", "TensorFlow"),
)
_JVM_FRAMEWORKS = (
    ("com.android.application", "Android"), ("spring-boot", "Spring Boot"), ("springframework", "Spring"),
    ("quarkus", "Quarkus"), ("micronaut", "Micronaut"), ("io.ktor", "Ktor"),
)

_MARKERS = (
    _Marker("Cargo.toml", "Rust", (("tauri", "Tauri"), ("axum", "Axum"), ("actix-web", "Actix Web"), ("rocket", "Rocket"),
                                   ("bevy", "Bevy"), ("leptos", "Leptos"))),
    _Marker("go.mod", "Go", (("gin-gonic/gin", "Gin"), ("labstack/echo", "Echo"), ("gofiber/fiber", "Fiber"),
                             ("go-chi/chi", "chi"))),
    _Marker("pyproject.toml", "Python", _PYTHON_FRAMEWORKS),
    _Marker("requirements.txt", "Python", _PYTHON_FRAMEWORKS),
    _Marker("setup.py", "Python", _PYTHON_FRAMEWORKS),
    _Marker("Pipfile", "Python", _PYTHON_FRAMEWORKS),
    _Marker("deno.json", "TypeScript", (("fresh", "Fresh"),)),
    _Marker("package.json", "JavaScript", _SCRIPT_FRAMEWORKS),
    _Marker("build.gradle.kts", "Kotlin", _JVM_FRAMEWORKS),
    _Marker("build.gradle", "Java", _JVM_FRAMEWORKS),
    _Marker("pom.xml", "Java", _JVM_FRAMEWORKS),
    _Marker("Gemfile", "Ruby", (("rails", "Rails"), ("sinatra", "Sinatra"), ("jekyll", "Jekyll"))),
    _Marker("composer.json", "PHP", (("laravel/framework", "Laravel"), ("symfony", "Symfony"))),
    _Marker("pubspec.yaml", "Dart", (("flutter:", "Flutter"),)),
    _Marker("mix.exs", "Elixir", ((":phoenix", "Phoenix"),)),
    _Marker("Package.swift", "Swift", (("vapor", "Vapor"),)),
    _Marker("build.sbt", "Scala", (("play", "Play"),)),
    _Marker("stack.yaml", "Haskell"),
    _Marker("CMakeLists.txt", "C++", (("Qt6", "Qt"), ("Qt5", "Qt"))),
)

_ENDINGS = {
    ".py": "Python", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript",
    ".rs": "Rust", ".go": "Go", ".java": "Java", ".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP", ".cs": "C#", ".csproj": "C#",
    ".sln": "C#", ".fs": "F#", ".swift": "Swift", ".dart": "Dart", ".ex": "Elixir", ".exs": "Elixir", ".c": "C", ".h": "C",
    ".cpp": "C++", ".cc": "C++", ".hpp": "C++", ".scala": "Scala", ".hs": "Haskell", ".cabal": "Haskell", ".lua": "Lua",
    ".sh": "Shell", ".zig": "Zig", ".tf": "Terraform", ".html": "HTML",
}


def look_around(cwd: str) -> Surroundings:
    """The project in a folder and the machine that it is on."""
    language, framework = project_of(cwd)
    name = os.path.basename(cwd.rstrip("/")) or cwd
    project = EnvironmentProject(path=cwd, name=name, language=language or UNSET, framework=framework or UNSET)
    return Surroundings(project, EnvironmentRuntime(os=platform.system().lower(), arch=platform.machine()))


def project_of(cwd: str) -> tuple[str | None, str | None]:
    """Language and framework of what is in a folder, as far as its files say."""
    names = _names(cwd)
    for marker in _MARKERS:
        if marker.file in names:
            return _language(marker, names), _framework(os.path.join(cwd, marker.file), marker)
    counted = Counter(_ENDINGS[ending] for name in names if (ending := os.path.splitext(name)[1]) in _ENDINGS)
    return (counted.most_common(1)[0][0] if counted else None), None


def _names(cwd: str) -> set[str]:
    names: set[str] = set()
    try:
        with os.scandir(cwd) as entries:
            for entry in entries:
                names.add(entry.name)
                if len(names) >= ENTRIES_MOST:
                    break
    except OSError:
        # A folder that cannot be read has a name at least.
        return names
    return names


def _language(marker: _Marker, names: set[str]) -> str:
    return "TypeScript" if marker.language == "JavaScript" and "tsconfig.json" in names else marker.language


def _framework(path: str, marker: _Marker) -> str | None:
    text = _beginning(path)
    for word, framework in marker.frameworks:
        if re.search(rf"(?<![\w-]){re.escape(word)}(?!\w)", text):
            return framework
    return None


def _beginning(path: str) -> str:
    """The beginning of a file as text; nothing of what is no plain file, such as a pipe that would never end."""
    try:
        return read_beginning(path, FILE_BYTES, follow=True).decode("utf-8", errors="replace")
    except OSError:
        return ""
