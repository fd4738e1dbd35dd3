"""Which tool a name means, and where an input has its command and its paths, is known in one place.

A second list somewhere would read a call otherwise than the one that it is judged by; this looks for the beginnings of one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import trunkline
from tests.tooling.sources import text_of, tree_of
from trunkline.dialects.calls.files import _FILE_KEYS
from trunkline.dialects.calls.inputs import _COMMAND_KEYS
from trunkline.dialects.calls.names import _SPELLINGS

SOURCE = Path(trunkline.__file__).parent
PAGE = SOURCE.parents[1] / "web" / "src"

EXEMPT = {
    "dialects/calls/": "the one place",
    "dialects/packets/": "the documents say how a packet is titled, of which kind it is and what its raw input looks like",
    "dialects/claude/": "makes the calls of a program that sends none",
    **{f"dialects/{name}": "makes the calls of programs that only store them"
       for name in ("codex/", "opencode/", "gemini/", "qwen/", "copilot/", "elsewhere/transcripts.py")},
    "dialects/acp/reading/aliases/": "other spellings of the protocol's own members, before anything is read",
    "dialects/context/": "helpers that the documents define by these very names and members",
    "agents/": "the catalog has its agents' names, and our own demo makes calls",
    "discovery/": "what other programs call things in their files",
}

NAMES = {name for _, usual, names in _SPELLINGS for name in (*names.split(), usual or "") if len(name) > 3} - {
    # Plain words, which mean something else wherever they are not a tool's name.
    "read", "write", "edit", "delete", "move", "search", "list", "find", "task", "agent", "plan", "think", "insert", "update",
    "patch", "append", "save", "remove", "rename", "replace", "view", "fetch", "browse", "skill", "shell", "terminal", "exec",
    "execute", "trash", "editor", "mkdir", "powershell", "glob"}
PATHS = {key for key in _FILE_KEYS if key not in ("path", "file", "filename")}
COMMANDS = set(_COMMAND_KEYS) - {"script"}


def may_have(path: Path) -> bool:
    """Whether two words of one kind stand in a module at all: to take apart those where they do not finds nothing."""
    text = text_of(path)
    return any(sum(word in text for word in kind) > 1 for kind in (NAMES, PATHS, COMMANDS))


def literals_in(path: Path) -> Iterator[tuple[int, set[str]]]:
    """The texts of every literal collection of a module, keys of tables included."""
    for node in ast.walk(tree_of(path)):
        parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        if parts:
            texts = (each.value for each in parts if isinstance(each, ast.Constant))
            yield getattr(node, "lineno", 0), {text for text in texts if isinstance(text, str)}


def literals_in_page(path: Path) -> Iterator[tuple[int, set[str]]]:
    """The words of every list and table of a module of the page that stands within one line or a few."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"[\[{][^\[\]{}]{0,600}[\]}]", text):
        words = re.findall(r"['\"]([\w-]+)['\"]|\b(\w+):", found.group())
        yield text.count("\n", 0, found.start()) + 1, {quoted or key for quoted, key in words}


def second_tables(paths: Iterator[tuple[str, int, set[str]]]) -> list[str]:
    return [f"{name}:{line}: {sorted(texts & kind)}" for name, line, texts in paths for kind in (NAMES, PATHS, COMMANDS)
            if len(texts & kind) > 1]


def test_no_module_has_a_table_of_tools_paths_or_commands_of_its_own() -> None:
    modules = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}
    looked_at = {name: path for name, path in modules.items() if not name.startswith(tuple(EXEMPT))}
    assert len(looked_at) > 150
    found = second_tables((name, line, texts) for name, path in looked_at.items() if may_have(path)
                          for line, texts in literals_in(path))
    assert not found, "\n".join(found)


def test_the_page_has_no_table_of_tools_paths_or_commands() -> None:
    modules = [path for path in sorted(PAGE.rglob("*.ts*")) if ".test." not in path.name and "generated" not in path.parts]
    assert len(modules) > 50
    found = second_tables((path.name, line, texts) for path in modules for line, texts in literals_in_page(path))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("texts", [{"file_path", "filePath"}, {"command", "cmd"}, {"grep", "bash"}, {"websearch", "todowrite"}])
def test_such_a_table_would_be_found(tmp_path: Path, texts: set[str]) -> None:
    tables = (f"KEYS = {tuple(sorted(texts))!r}", f"KEYS = frozenset({sorted(texts)!r})", repr(dict.fromkeys(texts, 1)))
    for number, text in enumerate(tables):
        module = tmp_path / f"module_{number}.py"
        module.write_text(text)
        assert may_have(module) and second_tables(("module", line, found) for line, found in literals_in(module))
    page = tmp_path / "module.ts"
    page.write_text("const KEYS = { " + ", ".join(f"{text}: 1" for text in sorted(texts)) + " };")
    assert second_tables(("module", line, found) for line, found in literals_in_page(page))
