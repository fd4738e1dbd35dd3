"""The demo's tools. They really look, write and run, and answer in the shapes of the Build packets reference.

Rule 1: a tool never leaves the session's directory: every path is checked against it.
Rule 2: what a tool looks at is bounded; a session may sit in a home directory.
"""

from __future__ import annotations

import difflib
import fnmatch
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from trunkline.agents.demo.wire import Json

FOUND_LIMIT = 100
WALK_LIMIT = 2000
FILE_LIMIT = 256 * 1024
LINE_LIMIT = 200
PREVIEW_LINES = 5
RUN_S = 10.0

SKIPPED = {"node_modules", "__pycache__", "venv", "target", "dist", "build"}

GIT_ENV = {
    "GIT_AUTHOR_NAME": "Trunkline demo",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_COMMITTER_NAME": "Trunkline demo",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
    # The person's own settings may sign commits or run hooks; a tour must not.
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


class Result(NamedTuple):
    """What a completed call reports: ``title`` replaces the tool's name where the reference says so."""

    raw_output: Json
    content: list[Json]
    title: str = ""
    locations: tuple[str, ...] = ()


class ToolFailed(Exception):
    """The tool could not do it; the text is what the call shows."""


def glob(root: Path, pattern: str) -> Result:
    """The files whose path matches."""
    name = pattern.removeprefix("**/")
    return _search([file for file in _files(root) if fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(Path(file).name, name)])


def grep(root: Path, pattern: str, path: str = "") -> Result:
    """The files with a line that matches."""
    wanted = re.compile(pattern)
    below = inside(root, path) if path else root
    return _search([file for file in _files(root) if (root / file).is_relative_to(below) and wanted.search(_text(root / file))])


def read(root: Path, path: str) -> Result:
    """A file with numbered lines."""
    file = inside(root, path)
    if not file.is_file():
        raise ToolFailed(f"Error: File not found: {file}")
    lines = _text(file).splitlines()
    shown = lines[:LINE_LIMIT]
    output = "\n".join(["<file>", *(f"{number:05d}| {line}" for number, line in enumerate(shown, 1)), "</file>"])
    metadata = {"preview": "\n".join(shown[:PREVIEW_LINES]), "truncated": len(lines) > LINE_LIMIT}
    return Result({"output": output, "metadata": metadata}, [text_item(output)], locations=(str(file),))


def write(root: Path, path: str, content: str) -> Result:
    """Write a whole file, making its folder."""
    file = inside(root, path)
    existed = file.exists()
    before = _text(file) if existed else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    return _written(root, file, before, content, existed)


def edit(root: Path, path: str, old_string: str, new_string: str) -> Result:
    """Replace the one place where ``old_string`` stands."""
    file = inside(root, path)
    before = _text(file)
    if before.count(old_string) != 1:
        raise ToolFailed(f"Error: the text to replace stands {before.count(old_string)} times in {file}")
    after = before.replace(old_string, new_string)
    file.write_text(after, encoding="utf-8")
    return _written(root, file, before, after, existed=True)


def apply_patch(root: Path, patch_text: str) -> Result:
    """Apply a patch that updates and adds files. In an update, context and ``-`` lines must stand in the file, and ``+`` lines
    take their place. A patch that does not fit changes nothing."""
    changes = [_patched(root, section) for section in patch_text.split("\n*** ")[1:-1]]
    if not changes:
        raise ToolFailed("Error: the patch changes no file")
    for change in changes:
        change.file.parent.mkdir(parents=True, exist_ok=True)
        change.file.write_text(change.after, encoding="utf-8")
    return _patch_result(root, changes)


def bash(root: Path, command: str, description: str) -> Result:
    """Run a shell command in the session's directory."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=root,
            env={**os.environ, **GIT_ENV},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=RUN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"Error: the command took more than {RUN_S:.0f} seconds") from None
    output = done.stdout.decode("utf-8", "replace")
    metadata = {"output": output, "exit": done.returncode, "description": description, "truncated": False}
    return Result({"output": output, "metadata": metadata}, [text_item(output)], title=description)


def todowrite(todos: list[Json]) -> Result:
    """Keep a list of things to do."""
    output = json.dumps(todos, indent=2)
    return Result(
        {"output": output, "metadata": {"todos": todos, "truncated": False}}, [text_item(output)], f"{len(todos)} todos"
    )


def task(root: Path, description: str, subagent_type: str) -> Result:
    """What a sub-agent reports: it counts the files of the session's directory by their ending."""
    counts: dict[str, int] = {}
    for file in _files(root):
        ending = Path(file).suffix or "no ending"
        counts[ending] = counts.get(ending, 0) + 1
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
    report = f"I counted {sum(counts.values())} files: " + (
        ", ".join(f"{count} with {ending}" for ending, count in most) or "none"
    )
    output = f"{report}\n\n<task_metadata>\nsubagent_type: {subagent_type}\n</task_metadata>"
    return Result({"output": output, "metadata": {"subagent_type": subagent_type}}, [text_item(report)], description)


def plan_exit() -> Result:
    """A plan was shown; nobody objected."""
    output = "The plan stands."
    return Result({"output": output, "metadata": {}}, [text_item(output)])


def webfetch(url: str) -> Result:
    """The text of a page. Only ``data:`` addresses, which hold their page: the demo uses no network."""
    kind, _, page = url.removeprefix("data:").partition(",")
    if not url.startswith("data:"):
        raise ToolFailed("Error: the demo uses no network; it only fetches data: addresses")
    output = re.sub(r"<[^>]*>", "", unquote(page)).strip()
    metadata = {"contentType": kind, "truncated": False}
    return Result({"output": output, "metadata": metadata}, [text_item(output)])


def text_item(text: str) -> Json:
    """One content item of a call that holds text."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def inside(root: Path, path: str) -> Path:
    """The absolute path, if it is below ``root``."""
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()):
        raise ToolFailed(f"Error: {path} is outside of the session's directory")
    return file


def first_readable(root: Path) -> str | None:
    """A text file of the directory that is worth showing, a README first."""
    texts = [file for file in _files(root) if Path(file).suffix in (".md", ".txt", ".py", ".js", ".ts", ".toml", ".json")]
    return min(texts, key=lambda file: (not Path(file).name.lower().startswith("readme"), file.count("/"), file), default=None)


def _files(root: Path) -> Iterator[str]:
    """Paths below ``root``, relative, in order; hidden and generated folders are left out."""
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        for name in sorted(files):
            seen += 1
            if seen > WALK_LIMIT:
                return
            yield os.path.relpath(os.path.join(folder, name), root)


def _text(file: Path) -> str:
    """A file's beginning as text; empty when it cannot be read."""
    try:
        with file.open("rb") as opened:
            return opened.read(FILE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def _search(found: list[str]) -> Result:
    output = "\n".join(found[:FOUND_LIMIT]) or "No files found"
    metadata = {"count": min(len(found), FOUND_LIMIT), "truncated": len(found) > FOUND_LIMIT}
    return Result({"output": output, "metadata": metadata}, [text_item(output)])


def _written(root: Path, file: Path, before: str, after: str, existed: bool) -> Result:
    message = "Wrote file successfully."
    metadata = {"diagnostics": {}, "filepath": str(file), "exists": existed, "truncated": False}
    content = [text_item(message), {"type": "diff", "path": str(file), "oldText": before, "newText": after}]
    return Result({"output": message, "metadata": metadata}, content, os.path.relpath(file, root.resolve()), (str(file),))


class _Change(NamedTuple):
    """What a patch makes of one file."""

    file: Path
    is_new: bool
    before: str
    after: str


def _patched(root: Path, section: str) -> _Change:
    """One section of a patch, from its head (``Update File: NAME``, ``Add File: NAME``) to the next."""
    head, _, body = section.partition("\n")
    verb, _, name = head.partition(" File: ")
    file = inside(root, name)
    if verb == "Add" and not file.exists():
        return _Change(file, True, "", "".join(f"{line[1:]}\n" for line in body.split("\n") if line[:1] == "+"))
    if verb != "Update":
        raise ToolFailed(f"Error: the patch does not fit {file}")
    before = after = _text(file)
    for hunk in body.split("@@\n")[1:]:
        lines = hunk.rstrip("\n").split("\n")
        old = "\n".join(line[1:] for line in lines if line[:1] != "+")
        if old not in after:
            raise ToolFailed(f"Error: the patch does not fit {file}")
        after = after.replace(old, "\n".join(line[1:] for line in lines if line[:1] != "-"), 1)
    return _Change(file, False, before, after)


def _patch_result(root: Path, changes: list[_Change]) -> Result:
    files = [_changed(root, change) for change in changes]
    named = [f"{'A' if file['type'] == 'add' else 'M'} {file['relativePath']}" for file in files]
    output = "\n".join(["Success. Updated the following files:", *named])
    metadata = {"diff": "\n".join(file["diff"] for file in files), "files": files, "diagnostics": {}, "truncated": False}
    diffs: list[Json] = [
        {"type": "diff", "path": str(change.file), "oldText": None if change.is_new else change.before, "newText": change.after}
        for change in changes
    ]
    places = tuple(str(change.file) for change in changes)
    return Result({"output": output, "metadata": metadata}, [text_item(output), *diffs], output, places)


def _changed(root: Path, change: _Change) -> Json:
    name = os.path.relpath(change.file, root.resolve())
    lines = list(difflib.unified_diff(change.before.splitlines(), change.after.splitlines(), name, name, lineterm=""))
    return {
        "filePath": str(change.file),
        "relativePath": name,
        "type": "add" if change.is_new else "update",
        "diff": "\n".join([f"Index: {change.file}", "=" * 67, *lines]),
        "before": change.before,
        "after": change.after,
        "additions": sum(line.startswith("+") and not line.startswith("+++") for line in lines),
        "deletions": sum(line.startswith("-") and not line.startswith("---") for line in lines),
    }
