"""Parts of the server that are loaded by the first request that needs them: a hub answers sooner, and one that serves no editor,
say, holds nothing for editors.

Rule 1: loading is done in a thread; others are answered meanwhile.
Rule 2: type checkers see the modules themselves: whoever names a module here imports it for them (``TYPE_CHECKING``).
"""

from __future__ import annotations

from collections.abc import Awaitable
from importlib import import_module
from types import GenericAlias
from typing import Any, get_args, get_origin

from trunkline.hub.loading import load


class Later:
    """A module that is not loaded yet. Its attributes are names."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Named:
        if name.startswith("__"):
            raise AttributeError(name)
        return Named(self._module, name)


class Named:
    """A function or type of such a module. A function can be called as if it were there."""

    def __init__(self, module: str, name: str) -> None:
        self.__module__ = module
        self.__name__ = name
        self._found: Any = None

    def __call__(self, *args: Any) -> Awaitable[Any]:
        """Call the function, which is a coroutine's."""
        awaitable: Awaitable[Any] = self._found(*args) if self._found is not None else self._load_and_call(*args)
        return awaitable

    def found(self) -> Any:
        """What it names. This may load it here and now."""
        return getattr(import_module(self.__module__), self.__name__)

    async def _load_and_call(self, *args: Any) -> Any:
        await load(self.__module__)
        self._found = self.found()
        return await self._found(*args)


def found_in(kind: Any) -> Any:
    """A type of the route table with all names in it found: ``list[name]`` too."""
    if isinstance(kind, Named):
        return kind.found()
    if get_origin(kind) is list:
        return GenericAlias(list, tuple(map(found_in, get_args(kind))))
    return kind
