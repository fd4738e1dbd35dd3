"""``trunkline tail SESSION``: what ``trunkline sessions tail`` does, under a shorter name."""

from __future__ import annotations

from trunkline.cli.commands.sessions.sessions import tail as command

__all__ = ["command"]
