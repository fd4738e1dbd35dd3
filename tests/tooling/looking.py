"""A program that tries what an agent must not be able to do, and says as JSON what came of each try.

    looking.py FILE      FILE holds a JSON list of tries: ["read", PATH], ["list", PATH], ["write", PATH],
                         ["connect", HOST, PORT], ["socket", PATH], ["processes"]

The answer is a list: ``{"got": …}`` where it worked, ``{"error": NAME}`` where the system refused. Whoever gives the list
made the files that are read. Stdlib only; runs on its own.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

CONNECT_S = 3.0


def read(path: str) -> Any:
    """The text of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(4096)


def list_(path: str) -> Any:
    """The names in a folder."""
    return sorted(os.listdir(path))


def write(path: str) -> Any:
    """A new file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("written from inside")
    return True


def connect(host: str, port: int) -> Any:
    """A connection."""
    socket.create_connection((host, port), CONNECT_S).close()
    return True


def socket_(path: str) -> Any:
    """A connection to a socket with a name."""
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(path)
    return True


def processes() -> Any:
    """The command lines of all processes that can be seen."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found.append(file.read().decode(errors="replace").split("\0"))
    return found


TRIES: dict[str, Callable[..., Any]] = {
    "read": read, "list": list_, "write": write, "connect": connect, "socket": socket_, "processes": processes,
}


def outcome(name: str, *what: Any) -> dict[str, Any]:
    """What one try came to."""
    try:
        return {"got": TRIES[name](*what)}
    except OSError as error:
        return {"error": errno.errorcode.get(error.errno or 0, type(error).__name__)}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as given:
        print(json.dumps([outcome(*each) for each in json.load(given)]))
