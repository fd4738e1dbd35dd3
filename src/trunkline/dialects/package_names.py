"""The names of a package that programs import from the package itself: loaded when wanted, and where they went if they moved.

Rule 1: a package's ``exports`` module is the list of what programs may import from it. Nothing of it is loaded before.
Rule 2: a name that once was there is still found in the module that owns it, with a warning that says which one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def names_of(package: str, modules: tuple[str, ...]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package with these modules."""

    def find(name: str) -> Any:
        if name not in modules:  # else the import system asks whether it has to load one
            if "exports" in modules and name in ("__all__", *(exports := import_module(f"{package}.exports")).__all__):
                return getattr(exports, name)
            if not name.startswith("_") and (owner := _owner(name, [import_module(f"{package}.{each}") for each in modules])):
                warnings.warn(f"import {name} from {owner.__name__}, not from {package}", DeprecationWarning, stacklevel=2)
                return getattr(owner, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def _owner(name: str, modules: list[ModuleType]) -> ModuleType | None:
    """Which of these modules a name comes from: the one that made it, else the first that has it."""
    having = [module for module in modules if hasattr(module, name)]
    made = [module for module in having if getattr(getattr(module, name), "__module__", None) == module.__name__]
    return next(iter(made or having), None)
