"""Hooks in a program's settings: shown, put in, taken out, and the file as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from trunkline.agents import catalog
from trunkline.errors import Conflict, Invalid, Unsupported
from trunkline.reach.install import FILE_MOST, Hooks
from trunkline.reach.shapes import PLUGINS, is_our_command

EVENTS = {"PermissionRequest", "UserPromptSubmit", "Stop", "Notification"}
BEFORE = '{\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}\n'


def hooks(tmp_path: Path) -> Hooks:
    return Hooks(catalog.load()["claude-code"], tmp_path / "data", {"HOME": str(tmp_path)})


def settings(tmp_path: Path, text: str | None = BEFORE) -> Path:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    if text is not None:
        path.write_text(text)
    return path


def install(tmp_path: Path) -> None:
    installed = hooks(tmp_path)
    installed.install(installed.installing())


def remove(tmp_path: Path) -> None:
    installed = hooks(tmp_path)
    installed.remove(installed.removing())


def test_what_is_installed_is_shown_first_and_keeps_all_else(tmp_path: Path) -> None:
    path = settings(tmp_path)
    change = hooks(tmp_path).installing()
    assert path.read_text() == BEFORE, "to look is to change nothing"
    added = "".join(line for line in change.diff.splitlines() if line.startswith("+"))
    assert added.count("trunkline_hook.py") == len(EVENTS)
    assert hooks(tmp_path).state() == "absent"
    install(tmp_path)
    read = json.loads(path.read_text())
    assert set(read["hooks"]) == EVENTS and read["model"] == "opus"
    assert read["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    (ask,) = read["hooks"]["PermissionRequest"]
    assert ask["hooks"][0]["timeout"] == 3600 and is_our_command(ask["hooks"][0]["command"])
    assert hooks(tmp_path).state() == "installed"
    again = hooks(tmp_path).installing()
    assert again.before == again.after


@pytest.mark.parametrize("before", [BEFORE, "{}", "", None, '{"a": 1}', "{\n}\n\n"])
def test_what_is_removed_leaves_the_file_byte_for_byte_as_it_was(tmp_path: Path, before: str | None) -> None:
    path = settings(tmp_path, before)
    install(tmp_path)
    assert path.exists()
    install_again = hooks(tmp_path)
    install_again.install(install_again.installing())
    remove(tmp_path)
    assert (path.read_text() if path.exists() else None) == before
    assert hooks(tmp_path).removing().diff == ""


def test_a_file_that_others_changed_since_loses_exactly_our_entries(tmp_path: Path) -> None:
    path = settings(tmp_path)
    install(tmp_path)
    path.write_text(path.read_text().replace('"opus"', '"sonnet"'))
    remove(tmp_path)
    assert path.read_text() == BEFORE.replace('"opus"', '"sonnet"')


def test_without_the_record_of_what_was_there_exactly_our_entries_go(tmp_path: Path) -> None:
    path = settings(tmp_path)
    install(tmp_path)
    (tmp_path / "data" / "hooks" / "claude-code.json").unlink()
    remove(tmp_path)
    assert path.read_text() == BEFORE


def test_a_link_is_followed_and_the_mode_stays(tmp_path: Path) -> None:
    path, real = settings(tmp_path, None), tmp_path / "dotfiles.json"
    real.write_text(BEFORE)
    real.chmod(0o640)
    path.symlink_to(real)
    install(tmp_path)
    assert path.is_symlink() and os.stat(real).st_mode & 0o777 == 0o640 and "trunkline_hook" in real.read_text()
    remove(tmp_path)
    assert path.is_symlink() and real.read_text() == BEFORE and os.stat(real).st_mode & 0o777 == 0o640


def test_a_file_that_changes_while_somebody_thinks_is_not_written(tmp_path: Path) -> None:
    path = settings(tmp_path)
    change = hooks(tmp_path).installing()
    path.write_text("{}")
    with pytest.raises(Conflict):
        hooks(tmp_path).install(change)
    assert path.read_text() == "{}" and list(path.parent.iterdir()) == [path]


def test_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    path = settings(tmp_path, "not json")
    with pytest.raises(Invalid):
        hooks(tmp_path).installing()
    path.write_bytes(b" " * (FILE_MOST + 1))
    with pytest.raises(Invalid, match="longer than"):
        hooks(tmp_path).installing()
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(Invalid):
        hooks(tmp_path).installing()
    assert path.read_bytes() == b"\xff\xfe{}"


def test_a_command_of_another_place_is_outdated_and_replaced(tmp_path: Path) -> None:
    path = settings(tmp_path, "{}")
    install(tmp_path)
    path.write_text(path.read_text().replace("/data/hooks.sock", "/old/hooks.sock"))
    assert hooks(tmp_path).state() == "outdated"
    install(tmp_path)
    assert hooks(tmp_path).state() == "installed" and "/old/" not in path.read_text()
    remove(tmp_path)
    assert path.read_text() == "{}"


def test_an_entry_that_somebody_took_out_is_put_back(tmp_path: Path) -> None:
    path = settings(tmp_path, "{}")
    install(tmp_path)
    read = json.loads(path.read_text())
    del read["hooks"]["Stop"]
    path.write_text(json.dumps(read))
    assert hooks(tmp_path).state() == "partly"
    install(tmp_path)
    assert hooks(tmp_path).state() == "installed"


def of(agent: str, tmp_path: Path) -> Hooks:
    return Hooks(catalog.load()[agent], tmp_path / "data", {"HOME": str(tmp_path)})


def test_a_file_with_comments_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    before = '{\n  // mine\n  "ui": {"theme": "dark"}, /* and this */\n  "hooks": {\n    // theirs\n    "AfterTool": []\n  }\n}\n'
    path.write_text(before)
    change = of("gemini", tmp_path).installing()
    of("gemini", tmp_path).install(change)
    text = path.read_text()
    assert all(note in text for note in ("// mine", "/* and this */", "// theirs")) and text.count("trunkline_hook.py") == 6
    assert of("gemini", tmp_path).state() == "installed" and of("gemini", tmp_path).installing().diff == ""
    of("gemini", tmp_path).remove(of("gemini", tmp_path).removing())
    assert path.read_text() == before


def test_a_plugin_is_a_folder_of_its_own_that_goes_with_it(tmp_path: Path) -> None:
    plugins = tmp_path / ".agents" / "plugins"
    change = of("goose", tmp_path).installing()
    assert "plugin.json" in change.diff and "hooks.json" in change.diff and not plugins.exists()
    of("goose", tmp_path).install(change)
    assert json.loads((plugins / "trunkline" / "plugin.json").read_text())["name"] == "trunkline"
    hooks = json.loads((plugins / "trunkline" / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks) == {"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}
    assert of("goose", tmp_path).state() == "installed" and of("goose", tmp_path).installing().diff == ""
    of("goose", tmp_path).remove(of("goose", tmp_path).removing())
    assert list(plugins.iterdir()) == [] and of("goose", tmp_path).state() == "absent"


def test_what_others_put_into_the_plugin_stays(tmp_path: Path) -> None:
    folder = tmp_path / ".agents" / "plugins" / "trunkline"
    of("goose", tmp_path).install(of("goose", tmp_path).installing())
    (folder / "plugin.json").write_text('{"name": "trunkline", "version": "2"}')
    (folder / "notes.md").write_text("mine")
    of("goose", tmp_path).remove(of("goose", tmp_path).removing())
    assert sorted(path.name for path in folder.iterdir()) == ["notes.md", "plugin.json"]


def test_an_agent_without_hooks_has_none(tmp_path: Path) -> None:
    with pytest.raises(Unsupported):
        Hooks(catalog.load()["demo"], tmp_path, {"HOME": str(tmp_path)})


def test_the_record_of_what_was_there_is_the_owners_alone(tmp_path: Path) -> None:
    settings(tmp_path)
    install(tmp_path)
    record = tmp_path / "data" / "hooks" / "claude-code.json"
    assert record.stat().st_mode & 0o777 == 0o600 and record.parent.stat().st_mode & 0o777 == 0o700


def plugin(tmp_path: Path) -> Hooks:
    return Hooks(catalog.load()["opencode"], tmp_path / "data", {"HOME": str(tmp_path)})


def tui(tmp_path: Path, text: str | None) -> Path:
    path = tmp_path / ".config" / "opencode" / "tui.jsonc"
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        path.write_text(text)
    return path


def test_a_plugin_is_named_in_the_programs_list_with_what_it_is_to_know(tmp_path: Path) -> None:
    path = tui(tmp_path, None)
    change = plugin(tmp_path).installing()
    assert not path.exists() and change.diff.startswith("--- /dev/null") and "opencode.js" in change.diff
    assert plugin(tmp_path).state() == "absent" and not plugin(tmp_path).is_program
    plugin(tmp_path).install(change)
    (item,) = json.loads(path.read_text())["plugin"]
    assert item == [str(PLUGINS / "opencode.js"), {"agent": "opencode", "socket": str(tmp_path / "data" / "hooks.sock")}]
    assert Path(item[0]).is_file() and plugin(tmp_path).state() == "installed"
    again = plugin(tmp_path).installing()
    assert again.before == again.after


OTHERS = ["{}", "", None, '{"theme": "dark"}', '{\n  // mine\n  "plugin": ["other@1.2.3"], // and this\n}\n', '{"plugin": []}',
          '{"plugin": [["./own.js", {"a": 1}]], "keybinds": {"leader": "ctrl+x"}}']


@pytest.mark.parametrize("before", OTHERS)
def test_a_plugin_that_is_removed_leaves_the_file_byte_for_byte_as_it_was(tmp_path: Path, before: str | None) -> None:
    path = tui(tmp_path, before)
    plugin(tmp_path).install(plugin(tmp_path).installing())
    assert plugin(tmp_path).state() == "installed" and "opencode.js" in path.read_text()
    plugin(tmp_path).remove(plugin(tmp_path).removing())
    assert (path.read_text() if path.exists() else None) == before


def test_of_a_list_that_others_changed_exactly_our_plugin_goes(tmp_path: Path) -> None:
    path = tui(tmp_path, '{"plugin": ["first"]}')
    plugin(tmp_path).install(plugin(tmp_path).installing())
    path.write_text(path.read_text().replace('"first"', '"first", // a remark\n "second"'))
    plugin(tmp_path).remove(plugin(tmp_path).removing())
    assert '"first", // a remark\n "second"' in path.read_text() and "trunkline" not in path.read_text()
    assert plugin(tmp_path).state() == "absent"


def test_a_plugin_of_another_place_is_outdated_and_replaced(tmp_path: Path) -> None:
    old = json.dumps({"plugin": [["/old/lib/trunkline/reach/plugins/opencode.js", {"agent": "opencode", "socket": "/old"}], "x"]})
    path = tui(tmp_path, old)
    assert plugin(tmp_path).state() == "outdated"
    plugin(tmp_path).install(plugin(tmp_path).installing())
    assert plugin(tmp_path).state() == "installed" and "/old" not in path.read_text()


@pytest.mark.parametrize("text", ['{"plugin": {}}', "[]", "{", '{"plugin": "x"}'])
def test_a_list_of_plugins_that_is_none_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tui(tmp_path, text)
    with pytest.raises(Invalid):
        plugin(tmp_path).installing()
    assert path.read_text() == text
