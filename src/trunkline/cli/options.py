"""Command-line flags, made from the table of settings so that no flag exists twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from trunkline.cli.settings import FLAG, SETTINGS, Setting

F = TypeVar("F", bound=Callable[..., Any])


def setting_flags(command: str) -> Callable[[F], F]:
    """Add the flags of every setting that ``command`` (``serve`` or ``clients``) takes; values arrive unread, by key."""

    def decorate(function: F) -> F:
        for setting in reversed(SETTINGS):
            if setting.flag and setting.commands in (command, "all"):
                function = _option(setting)(function)
        return function

    return decorate


def _option(setting: Setting) -> Callable[[F], F]:
    assert setting.flag is not None
    if setting.kind is FLAG:
        return click.option(setting.flag, setting.key, is_flag=True, default=None, help=setting.help)
    shown = f"{setting.help}  [{setting.default}]" if setting.default not in (None, (), {}) else setting.help
    return click.option(setting.flag, setting.key, metavar=setting.kind.name, multiple=setting.kind.repeats, help=shown)
