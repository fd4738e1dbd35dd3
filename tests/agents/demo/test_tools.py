"""The demo's tools where the tour does not go: limits, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.agents.demo import tools
from trunkline.agents.demo.tools import ToolFailed


def test_no_tool_leaves_the_sessions_directory(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path)
    for path in ("../secret", str(tmp_path / "secret"), "link/secret"):
        with pytest.raises(ToolFailed, match="outside"):
            tools.read(root, path)
        with pytest.raises(ToolFailed, match="outside"):
            tools.write(root, path, "y")
    assert (tmp_path / "secret").read_text() == "x"


def test_searches_are_bounded_and_say_so(tmp_path: Path) -> None:
    for number in range(tools.FOUND_LIMIT + 5):
        (tmp_path / f"{number:03d}.txt").write_text("TODO")
    assert tools.glob(tmp_path, "*.txt").raw_output["metadata"] == {"count": tools.FOUND_LIMIT, "truncated": True}
    assert tools.grep(tmp_path, "TODO").raw_output["metadata"]["truncated"] is True


def test_a_walk_ends_in_a_huge_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "WALK_LIMIT", 3)
    for number in range(9):
        (tmp_path / f"{number}.md").write_text("x")
    assert tools.glob(tmp_path, "**/*").raw_output["metadata"]["count"] == 3


def test_hidden_and_generated_folders_are_left_out(tmp_path: Path) -> None:
    for folder in (".git", "node_modules", "src"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("TODO")
    assert tools.glob(tmp_path, "**/*.py").raw_output["output"] == "src/a.py"
    assert tools.grep(tmp_path, "TODO", "src").raw_output["output"] == "src/a.py"
    assert tools.grep(tmp_path, "nothing").raw_output["output"] == "No files found"


def test_a_long_file_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("line\n" * (tools.LINE_LIMIT + 1))
    result = tools.read(tmp_path, "long.txt")
    assert result.raw_output["metadata"]["truncated"] is True
    assert result.raw_output["output"].count("\n") == tools.LINE_LIMIT + 1


def test_bytes_that_are_no_text_do_not_stop_a_search_or_a_read(tmp_path: Path) -> None:
    (tmp_path / "blob.txt").write_bytes(b"\xff\xfe TODO")
    assert tools.grep(tmp_path, "TODO").raw_output["output"] == "blob.txt"
    assert "TODO" in tools.read(tmp_path, "blob.txt").raw_output["output"]


def test_an_edit_needs_exactly_one_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x x")
    for old in ("x", "y"):
        with pytest.raises(ToolFailed, match="times"):
            tools.edit(tmp_path, "a", old, "z")
    assert (tmp_path / "a").read_text() == "x x"


def test_a_patch_keeps_context_and_fits_or_fails(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    patch = "*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n+zwei\n three\n*** End Patch"
    result = tools.apply_patch(tmp_path, patch)
    assert (tmp_path / "a").read_text() == "one\n2\nzwei\nthree\n"
    assert result.raw_output["metadata"]["files"][0]["additions"] == 2
    with pytest.raises(ToolFailed, match="does not fit"):
        tools.apply_patch(tmp_path, patch)


def test_a_command_tells_its_exit_code_and_output_of_both_kinds(tmp_path: Path) -> None:
    result = tools.bash(tmp_path, "echo out; echo err >&2; exit 3", "Fails")
    assert result.raw_output["metadata"] == {"output": "out\nerr\n", "exit": 3, "description": "Fails", "truncated": False}


def test_a_command_that_hangs_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "RUN_S", 0.1)
    with pytest.raises(ToolFailed, match="took more than"):
        tools.bash(tmp_path, "exec sleep 60", "Hangs")


def test_nothing_is_fetched_from_a_network() -> None:
    with pytest.raises(ToolFailed, match="no network"):
        tools.webfetch("https://example.com")


def test_a_readme_is_preferred_and_none_is_fine(tmp_path: Path) -> None:
    assert tools.first_readable(tmp_path) is None
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "README.md").write_text("x")
    assert tools.first_readable(tmp_path) == "README.md"
