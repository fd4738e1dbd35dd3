"""Modules that packages of ours import and a hub does not use: they are put in place empty, and filled by whoever asks one of
them for something. Together they took a tenth of a hub's start and three megabytes.

Rule 1: only in the process that is a hub's own. Where Trunkline is a library, modules are the program's business.
Rule 2: nobody can tell: an empty module becomes the whole one when a name of it is first looked up. Its own modules
(``uvicorn.config``) are found without that.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

UNUSED: Final = ("uvicorn", "logging.config", "configparser", "typing_extensions", "http.client", "email.utils",
                 "bz2", "lzma")
"""uvicorn's package loads its command line, reloaders and worker processes; its ``config`` what reads files that say how to log
(the next two), its ``server`` what writes dates; msgspec a second ``typing``; starlette a client for the names of status codes;
shutil two kinds of archives."""
USED: Final = {("uvicorn", "Config"): "uvicorn.config",
               **{("typing_extensions", name): "typing" for name in ("get_type_hints", "NotRequired", "Required")}}
"""Names of an empty module that are used all the same, and the module that they come from: one of its own, or the one that it has
them from itself."""
NEVER_MET: Final = {("configparser", "RawConfigParser"): "uvicorn.config", ("email.utils", "formatdate"): "uvicorn.server"}
"""Names, and the module that takes them and does not use them here: a class of which it asks whether something is one (where
nobody has loaded it, nothing is), and what its own loop dates answers with, in place of which ours runs
(``server/http/listen.py``)."""


def leave_unused_unloaded() -> None:
    """Put them in place, those that nobody has loaded yet."""
    for name in UNUSED:
        if name not in sys.modules:
            _put(name)


def _put(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    module.__dict__["__getattr__"] = _Filling(module, spec).find
    package, _, own = name.rpartition(".")
    if package:
        setattr(sys.modules[package], own, module)


class _NeverMet:
    """In place of what is not met."""


class _Filling:
    """Fills one module, once."""

    def __init__(self, module: ModuleType, spec: ModuleSpec) -> None:
        self._module = module
        self._spec = spec
        self._lock = threading.RLock()
        self._is_begun = False

    def find(self, name: str) -> Any:
        """What the module has under a name, which it was not asked for before."""
        if (own := USED.get((self._module.__name__, name))) is not None:
            return getattr(importlib.import_module(own), name)
        asker = NEVER_MET.get((self._module.__name__, name))
        if asker is not None and not self._is_begun and sys._getframe(1).f_globals.get("__name__") == asker:
            return _NeverMet
        if name not in ("__path__", "__file__"):  # what the import system asks of every module
            with self._lock:
                self._fill()
        try:
            return self._module.__dict__[name]
        except KeyError:
            raise AttributeError(f"module {self._module.__name__!r} has no attribute {name!r}") from None

    def _fill(self) -> None:
        if self._is_begun or self._spec.loader is None:
            return
        self._is_begun = True
        self._spec.loader.exec_module(self._module)
        self._module.__dict__.pop("__getattr__", None)
