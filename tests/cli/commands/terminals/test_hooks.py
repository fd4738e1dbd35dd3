"""``trunkline hooks``, ``away`` and ``here``: what a person is shown and asked, and what a script gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Place
from tests.cli.person import Terminal


@pytest.fixture
def home(place: Place) -> dict[str, str]:
    folder = place.work.parent / "home"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
    return {"HOME": str(folder)}


def settings(home: dict[str, str]) -> str:
    return Path(home["HOME"], ".claude", "settings.json").read_text()


def test_a_person_is_shown_the_change_and_asked(place: Place, home: dict[str, str]) -> None:
    terminal = Terminal(place, "hooks", "install", "claude", env=home, columns=300)
    terminal.see("trunkline_hook.py")
    terminal.see("[y/N]")
    assert settings(home) == '{"model": "opus"}\n'
    terminal.type("y")
    assert terminal.end() == 0 and "PermissionRequest" in settings(home)
    terminal = Terminal(place, "hooks", "remove", "claude-code", env=home, columns=300)
    terminal.see("[y/N]")
    terminal.type("n")
    assert terminal.end() == 0 and "PermissionRequest" in settings(home)


def test_a_script_says_yes_or_changes_nothing(place: Place, home: dict[str, str]) -> None:
    refused = place.call_here("hooks", "install", "claude-code", env=home)
    assert refused.returncode != 0 and b"--yes" in refused.stderr and settings(home) == '{"model": "opus"}\n'
    done = place.call_here("hooks", "install", "--yes", "claude-code", env=home)
    assert done.returncode == 0 and b'+{"model": "opus", "hooks"' in done.stdout
    again = place.call_here("hooks", "install", "--yes", "claude-code", env=home)
    assert b"installed already" in again.stdout
    removed = place.call_here("hooks", "remove", "--yes", "claude-code", env=home)
    assert removed.returncode == 0 and settings(home) == '{"model": "opus"}\n'
    assert b"nothing is installed" in place.call_here("hooks", "remove", "--yes", "claude-code", env=home).stdout


def test_what_the_hub_answers_comes_and_goes_by_the_persons_word_alone(place: Place, home: dict[str, str]) -> None:
    place.call_here("hooks", "install", "--yes", "claude-code", env=home)
    installed, record = settings(home), place.data.path / "hooks" / "claude-code.json"
    Path(home["HOME"], ".claude", "settings.json").write_text("{}\n")  # somebody took our entries out by hand
    assert b"nothing is installed" in place.call_here("hooks", "remove", "claude-code", env=home).stdout
    assert not record.exists() and settings(home) == "{}\n"
    Path(home["HOME"], ".claude", "settings.json").write_text(installed)
    assert b"installed already" in place.call_here("hooks", "install", "claude-code", env=home).stdout
    assert record.exists() and settings(home) == installed
    record.unlink()  # the hub does not know of them, and answers none
    status = json.loads(place.call_here("hooks", "status", "--json", env=home).stdout)
    assert [each["state"] for each in status["agents"] if each["agent"] == "claude-code"] == ["partly"]


def test_an_agent_that_was_added_in_the_place_of_ours_has_no_hooks_and_those_of_ours_can_be_removed(
        place: Place, home: dict[str, str]) -> None:
    place.call_here("hooks", "install", "--yes", "claude-code", env=home)
    own = place.data.path / "catalog"
    own.mkdir(mode=0o700)
    (own / "claude-code.toml").write_text('command = ["theirs"]\n')
    status = json.loads(place.call_here("hooks", "status", "--json", env=home).stdout)
    assert "claude-code" not in [each["agent"] for each in status["agents"]], "the hub would not answer it"
    assert place.call_here("hooks", "install", "--yes", "claude-code", env=home).returncode != 0
    assert place.call_here("hooks", "remove", "--yes", "claude-code", env=home).returncode == 0
    assert settings(home) == '{"model": "opus"}\n'


def test_a_line_needs_no_settings_and_is_agreed_to_in_the_data_folder(place: Place, home: dict[str, str]) -> None:
    terminal = Terminal(place, "hooks", "install", "codex", env=home, columns=300)
    terminal.see("No settings file is changed")
    terminal.see("app-server-control.sock")
    terminal.see("[y/N]")
    terminal.type("y")
    assert terminal.end() == 0
    (agreed,) = place.data.path.glob("hooks/*.line.json")
    assert b"installed already" in place.call_here("hooks", "install", "codex-acp", env=home).stdout
    status = json.loads(place.call_here("hooks", "status", "--json", env=home).stdout)
    (codex,) = (each for each in status["agents"] if each["agent"] == "codex-acp")
    assert codex["state"] == "installed" and codex["ms"] is None and "followed by their files" in codex["problem"]
    assert b"removed" in place.call_here("hooks", "remove", "codex", env=home).stdout and not agreed.exists()
    assert b"nothing is installed" in place.call_here("hooks", "remove", "codex", env=home).stdout
    assert not Path(home["HOME"], ".codex").exists()


def test_an_agent_without_hooks_is_refused_with_those_that_have_some(place: Place, home: dict[str, str]) -> None:
    refused = place.call_here("hooks", "install", "--yes", "demo", env=home)
    assert refused.returncode != 0 and b"claude-code" in refused.stderr


def test_status_says_what_is_installed_and_whether_the_hub_answers(place: Place, home: dict[str, str]) -> None:
    assert b"no hub would answer" in place.call_here("hooks", "status", env=home).stdout
    assert place.call_here("away", env=home).returncode != 0, "there is nobody to be asked by"
    place.call_here("hooks", "install", "--yes", "claude-code", env=home)
    place.serve(env=home)
    read = json.loads(place.call_here("hooks", "status", "--json", env=home).stdout)
    (claude,) = [each for each in read["agents"] if each["agent"] == "claude-code"]
    assert read["hub"]["answers"] is True and claude["state"] == "installed" and claude["ms"] > 0
    assert b"you are away" in place.call_here("away", env=home).stdout
    assert b"you are here" in place.call_here("here", env=home).stdout


def test_a_program_with_a_pair_of_files_is_agreed_to_and_the_shells_line_is_told(place: Place, home: dict[str, str]) -> None:
    done = place.call_here("hooks", "install", "--yes", "qwen", env={**home, "SHELL": "/usr/bin/fish"})
    assert done.returncode == 0 and b"No settings file is changed" in done.stdout
    assert b"--json-file and --input-file" in done.stdout and b"trunkline shell-init fish | source" in done.stdout
    folder = place.data.path / "terminals" / "qwen"
    assert folder.stat().st_mode & 0o777 == 0o700 and (place.data.path / "hooks" / "qwen.line.json").exists()
    status = json.loads(place.call_here("hooks", "status", "--json", env=home).stdout)
    (row,) = [each for each in status["agents"] if each["agent"] == "qwen"]
    assert (row["state"], row["path"], row["problem"]) == ("installed", str(folder), "")
    assert place.call_here("hooks", "remove", "qwen", env=home).returncode == 0
    assert not folder.exists() and not (place.data.path / "hooks" / "qwen.line.json").exists()


def test_a_file_of_our_own_is_shown_and_when_it_counts_is_told(place: Place, home: dict[str, str]) -> None:
    done = place.call_here("hooks", "install", "--yes", "copilot", env=home)
    assert done.returncode == 0 and b'+  "version": 1' in done.stdout and b"begin from now on" in done.stdout
    assert b"only while you are away" in done.stdout
    assert place.call_here("hooks", "remove", "--yes", "copilot", env=home).returncode == 0
    assert not Path(home["HOME"], ".copilot", "hooks").exists()
