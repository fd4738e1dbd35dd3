"""Codex's own hooks, as its settings name them: ``hooks.json``, or ``config.toml`` with a table of them.

Rule: a hook that it has not trusted yet counts, and so does a plugin that may bring one.
"""

from __future__ import annotations

import posixpath
import tomllib
from typing import Any, Final

from trunkline.dialects.elsewhere.foreign import IsOurs, above, others_in, read_settings
from trunkline.dialects.outside import NOT_TOML, Json

ASK: Final = "PermissionRequest"
FILES: Final = ("hooks.json", "config.toml")
SYSTEM: Final = ("/etc/codex/config.toml", "/etc/codex/managed_config.toml", "/etc/codex/requirements.toml")


def watched_files(folder: str, cwd: str) -> list[str]:
    """The person's, those of the project in any folder above, and the administrator's."""
    return [*(posixpath.join(folder, name) for name in FILES), *above(cwd, *(f".codex/{name}" for name in FILES)), *SYSTEM]


def has_foreign(text: bytes, is_ours: IsOurs) -> bool:
    """Whether one of these files has a hook that decides."""
    settings = read_settings(text) if text.lstrip().startswith(b"{") else _toml(text)
    return others_in(settings, ASK, is_ours) or settings is None or _has_plugins(settings.get("plugins"))


def _toml(text: bytes) -> Json | None:
    try:
        return tomllib.loads(text.decode())
    except NOT_TOML:
        return None


def _has_plugins(plugins: Any) -> bool:
    """A plugin counts unless it is switched off."""
    if not isinstance(plugins, dict):
        return bool(plugins)
    return any(not isinstance(each, dict) or each.get("enabled") is not False for each in plugins.values())
