"""How a person gets to the page: links, tunnels, and commands that can be copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.rows import every_row
from trunkline.cli.hosting.way_in import has_display, login_command, own_command, print_way_in, session_page, tunnel
from trunkline.cli.read_settings import load, usual_data


def environment(folder: Path) -> tuple[str, Path]:
    """A Python and its script, as an installer makes them."""
    (folder / "bin").mkdir(parents=True)
    script = folder / "bin" / "trunkline"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return str(folder / "bin" / "python"), script


def test_a_command_is_named_as_it_was_installed(tmp_path: Path) -> None:
    python, script = environment(tmp_path / "venv")
    on_path = tmp_path / "path"
    on_path.mkdir()
    assert own_command(python, {"PATH": str(on_path)}) == str(script), "from the sources it is not on the PATH"
    (on_path / "trunkline").symlink_to(script)
    assert own_command(python, {"PATH": str(on_path)}) == "trunkline", "pipx puts a link there"
    other, others = environment(tmp_path / "other")
    assert own_command(other, {"PATH": str(on_path)}) == str(others), "the one on the PATH is another"


def test_what_uvx_runs_is_named_by_its_place_as_no_other_shell_finds_it(tmp_path: Path) -> None:
    python, script = environment(tmp_path / "cache")
    linked = tmp_path / "path"
    linked.mkdir()
    (linked / "trunkline").symlink_to(script)
    of_the_run = str(script.parent)
    assert own_command(python, {"PATH": of_the_run}) == "trunkline", "an environment that was made and activated"
    assert own_command(python, {"PATH": f"{of_the_run}:/nowhere", "UV": "/bin/uv"}) == str(script)
    assert own_command(python, {"PATH": f"{of_the_run}:{linked}", "UV": "/bin/uv"}) == "trunkline", "it is installed, too"


def test_without_a_script_it_is_a_module(tmp_path: Path) -> None:
    assert own_command(str(tmp_path / "my python"), {"PATH": "/nowhere"}) == f"'{tmp_path}/my python' -m trunkline"


def test_the_data_folder_is_named_where_it_is_not_the_usual_one(tmp_path: Path) -> None:
    assert login_command(load({"data": str(tmp_path / "a b")})).endswith(f" open --print --data '{tmp_path}/a b'")
    assert login_command(load({"data": str(usual_data())})).endswith(" open --print")


@every_row(("url", "connection", "line"), [
    ("http://127.0.0.1:7420", "10.0.0.1 5000 10.0.0.2 22", "ssh -L 7420:127.0.0.1:7420 ada@10.0.0.2"),
    ("http://[::1]:7420", "10.0.0.1 5000 10.0.0.2 2222", "ssh -p 2222 -L 7420:[::1]:7420 ada@10.0.0.2"),
    ("https://hub.example:443", "10.0.0.1 5000 10.0.0.2 22", ""),
    ("http://127.0.0.1:7420", "", ""),
    ("http://127.0.0.1:7420", "nonsense", ""),
])
def test_over_ssh_the_line_that_makes_the_hub_reachable_is_told(url: str, connection: str, line: str) -> None:
    assert tunnel(url, {"SSH_CONNECTION": connection, "USER": "ada"}) == line


@every_row(
    ("env", "platform", "expected"),
    [({}, "linux", False), ({"DISPLAY": ":0"}, "linux", True), ({"WAYLAND_DISPLAY": "w"}, "linux", True), ({}, "darwin", True),
     ({"SSH_CONNECTION": "a 1 b 22"}, "darwin", False)],
)
def test_a_browser_is_opened_only_where_a_window_can_be(env: dict[str, str], platform: str, expected: bool) -> None:
    assert has_display(env, platform) is expected


def test_the_address_of_a_session_is_the_pages() -> None:
    assert session_page("http://h:1", "ses_a/b") == "http://h:1/#/s/ses_a%2Fb"
    assert session_page("http://h:1", "ses_a/b", "/#code=X") == "http://h:1/#code=X&to=/s/ses_a%2Fb"


def test_without_a_link_the_command_that_makes_one_is_told_on_stderr(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    print_way_in(load({"data": str(tmp_path)}), "http://127.0.0.1:1", None)
    out, told = capsys.readouterr()
    assert out == ""
    assert "open --print" in told and "code=" not in told
