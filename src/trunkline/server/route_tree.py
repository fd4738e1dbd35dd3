"""From a path to what is there, in one walk over its parts, however many routes there are.

It stays by hand for its speed and because a path is one resource here: docs/architecture.md, "What stays by hand".

A pattern's part is a word, ``{name}`` (one part, not empty), or, at the end, ``{name:path}`` (all that is left, also nothing).

Rule: a word is preferred to a variable; there is no way back, so two patterns must not differ only further on.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class PathTree(Generic[T]):
    """Values by path pattern."""

    def __init__(self) -> None:
        self._words: dict[str, PathTree[T]] = {}
        self._variable: tuple[str, PathTree[T]] | None = None
        self._rest: tuple[str, T] | None = None
        self._value: T | None = None

    def add(self, pattern: str, value: T) -> None:
        """Put a value behind a pattern."""
        node = self
        parts = pattern.split("/")[1:]
        for part in parts:
            if part.endswith(":path}"):
                node._rest = (part[1:-6], value)
                return
            node = node._branch(part)
        node._value = value

    def find(self, path: str) -> tuple[T, dict[str, str]] | None:
        """The value behind a path, and its variable parts."""
        node: PathTree[T] = self
        found: dict[str, str] = {}
        parts = path.split("/")
        for index in range(1, len(parts)):
            part = parts[index]
            word = node._words.get(part)
            if word is not None:
                node = word
            elif node._variable is not None and part:
                name, node = node._variable
                found[name] = part
            elif node._rest is not None:
                name, value = node._rest
                found[name] = "/".join(parts[index:])
                return value, found
            else:
                return None
        return None if node._value is None else (node._value, found)

    def _branch(self, part: str) -> PathTree[T]:
        if not part.startswith("{"):
            return self._words.setdefault(part, PathTree())
        if self._variable is None:
            self._variable = (part[1:-1], PathTree())
        return self._variable[1]
