"""Hooks of others in Codex's settings: in doubt there is one."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.codex.foreign import has_foreign, watched_files

HOOK = b'{"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [{"type": "command", "command": "theirs"}]}]}}'


@every_row(("text", "expected"), [
    (b"", False), (b"{}", False), (b'model = "gpt"\n', False), (b'{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}', False),
    (b'[hooks.state."/home/dev/.codex/hooks.json:permission_request:0:0"]\ntrusted_hash = "sha256:0"\n', False),
    (b'[plugins."some@one"]\nenabled = false\n', False),
    (HOOK, True), (b'[[hooks.PermissionRequest]]\n[[hooks.PermissionRequest.hooks]]\ncommand = "theirs"\n', True),
    (b'[plugins."some@one"]\nenabled = true\n', True), (b"plugins = 1\n", True), (b"hooks = 1\n", True),
    (b'{"hooks": 1}', True), (b"{", True), (b"no = toml = at all", True), (b"\xff", True),
])
def test_a_hook_that_decides_and_what_cannot_be_read_count(text: bytes, expected: bool) -> None:
    assert has_foreign(text, lambda command: command == "ours") is expected


def test_a_hook_of_ours_is_nobody_elses() -> None:
    assert not has_foreign(HOOK, lambda command: command == "theirs")


def test_the_persons_the_projects_and_the_administrators_files_are_looked_at() -> None:
    files = watched_files("/home/dev/.codex", "/home/dev/project")
    assert {"/home/dev/.codex/hooks.json", "/home/dev/.codex/config.toml", "/home/dev/project/.codex/hooks.json",
            "/home/dev/project/.codex/config.toml", "/etc/codex/managed_config.toml"} <= set(files)
