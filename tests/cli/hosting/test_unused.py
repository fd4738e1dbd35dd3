"""Modules that a hub does not use are empty until somebody asks them for something."""

from __future__ import annotations

import subprocess
import sys

from trunkline.cli.hosting.unused import UNUSED

EMPTY = "import sys\nfrom trunkline.cli.hosting.unused import leave_unused_unloaded\nleave_unused_unloaded()\n"


def printed(code: str) -> list[str]:
    """What a program prints that has put the empty modules in place first."""
    found = subprocess.run([sys.executable, "-c", EMPTY + code], check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


def test_who_imports_them_loads_nothing() -> None:
    code = "\n".join(f"import {name}" for name in UNUSED) + """
from uvicorn.config import Config
from uvicorn import Config as same
assert same is Config
print(*(name for name in ("_bz2", "_lzma", "email.parser", "logging.handlers", "uvicorn.main") if name in sys.modules))
import msgspec, configparser, typing_extensions
print(*(name for name in ("configparser", "typing_extensions") if "__all__" in vars(sys.modules[name])))"""
    assert printed(code) == []


def test_who_asks_for_something_gets_it() -> None:
    code = """
import bz2, configparser, http.client, logging.config, lzma, shutil, uvicorn
from uvicorn import run
assert bz2.decompress(bz2.compress(b"x")) == lzma.decompress(lzma.compress(b"x")) == b"x"
from configparser import RawConfigParser
assert configparser.ConfigParser().sections() == [] and issubclass(configparser.ConfigParser, RawConfigParser)
import typing, typing_extensions
assert typing_extensions.Required is typing.Required and typing_extensions.Doc("a").documentation == "a"
logging.config.dictConfig({"version": 1})
assert run is uvicorn.run and callable(uvicorn.main) and "run" in uvicorn.__all__
assert {"bztar", "xztar"} <= {name for name, _ in shutil.get_archive_formats()}
from email.utils import formatdate
assert formatdate(0, usegmt=True) == "Thu, 01 Jan 1970 00:00:00 GMT"
print(http.client.responses[404])"""
    assert printed(code) == ["Not", "Found"]


def test_who_asks_for_what_is_not_there_learns_that() -> None:
    code = """
import lzma
for _ in range(2):
    try:
        lzma.nothing
    except AttributeError as error:
        print(error.args[0].split()[-1])
print(hasattr(lzma, "LZMAFile"))"""
    assert printed(code) == ["'nothing'", "'nothing'", "True"]


def test_many_who_ask_at_once_get_the_same() -> None:
    code = """
import lzma, threading
found, ready = [], threading.Barrier(8)
def ask():
    ready.wait()
    found.append(lzma.LZMAFile)
asking = [threading.Thread(target=ask) for _ in range(8)]
[each.start() for each in asking]
[each.join() for each in asking]
print(len(found), len(set(found)))"""
    assert printed(code) == ["8", "1"]


def test_what_is_loaded_already_stays_as_it_is() -> None:
    code = """
from importlib import reload
for name in ("http.client", "lzma"):
    del sys.modules[name]
import http.client, lzma
leave_unused_unloaded()
assert "LZMAFile" in vars(lzma) and "responses" in vars(http.client)
print("stays")"""
    assert printed(code) == ["stays"]
