"""A line, read for a test."""

from __future__ import annotations

from trunkline.dialects.shell import SimpleCommand, parse_shell


def texts(line: str) -> list[str]:
    return [command.text for command in parse_shell(line).commands]


def only(line: str) -> SimpleCommand:
    (command,) = parse_shell(line).commands
    return command
