"""What the hub and a keeper say to each other, and how the hub's wishes for one agent are written.

    hub ▸ nursery   one byte, with the keeper's end of a new control socket
    hub ▸ keeper    the wishes: a length and marshalled values, with stdin, stdout and stderr; then lines
                      end SECONDS            SIGTERM, that long, SIGKILL; then everything it started
    keeper ▸ hub    lines
                      here                   it waits for the wishes, which are read only by who reported so
                      started PID KEEPER IS_SUBREAPER
                      failed STEP ERRNO      it could not be started: folder, files or program
                      over LIMIT USED        a limit was reached; it is being ended
                      exited CODE            as Python writes it: negative for a signal
                      spared PID INDEX       a shared daemon that is left running
                      left PID               what could not be ended (another user's)
                      gone                   nothing is left, and the keeper goes too

Rule: both sides run the same interpreter, so wishes are marshalled, which needs no import. They come from the hub only.
"""

from __future__ import annotations

import marshal
import os
import socket
import struct

LENGTH = struct.Struct("!I")
HERE = b"here\n"
LINE_MOST = 1024
"""Bytes of one line; every line that is really sent is far shorter."""


class Wishes:
    """What is to be run, and how."""

    __slots__ = ("argv", "candidates", "cwd", "cwd_is_real", "daemons", "env", "limits", "lingers", "own_keyring")

    def __init__(self, candidates: list[bytes], argv: list[bytes], cwd: bytes, env: dict[bytes, bytes], lingers: bool,
                 limits: dict[str, int], daemons: list[list[str]], cwd_is_real: bool = False,
                 own_keyring: bool = False) -> None:
        """``candidates``: where the program may be, tried in this order. ``lingers``: what it leaves in the background goes on
        after its exit, until the end is asked for. ``limits``: bytes of memory, processes, files. ``daemons``: what is spared, as
        words of command lines. ``cwd_is_real``: the folder is not to be entered through a link. ``own_keyring``: no key of who
        started the hub is handed on."""
        self.candidates = candidates
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.lingers = lingers
        self.limits = limits
        self.daemons = daemons
        self.cwd_is_real = cwd_is_real
        self.own_keyring = own_keyring

    def encode(self) -> bytes:
        """Length and body."""
        body = marshal.dumps([getattr(self, name) for name in _FIELDS])
        return LENGTH.pack(len(body)) + body


_FIELDS = ("candidates", "argv", "cwd", "env", "lingers", "limits", "daemons", "cwd_is_real", "own_keyring")


def decode(body: bytes) -> Wishes:
    """The wishes of a body that the hub wrote."""
    return Wishes(*marshal.loads(body))


def receive(sock: socket.socket, size: int, most: int) -> tuple[bytes, list[int]]:
    """Bytes and up to ``most`` descriptors, which no program that is started here inherits."""
    data, handles, _, _ = socket.recv_fds(sock, size, most)
    for handle in handles:
        os.set_inheritable(handle, False)
    return data, handles


def candidates(program: str, env: dict[str, str]) -> list[bytes]:
    """Where a program may be: at its path, or on the PATH of the environment that it will have."""
    if "/" in program:
        return [os.fsencode(program)]
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    return [os.fsencode(os.path.join(folder, program)) for folder in folders]
