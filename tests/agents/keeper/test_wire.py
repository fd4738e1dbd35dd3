"""What the hub and a keeper say to each other: wishes arrive as they were, and no descriptor leaks."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from trunkline.agents.keeper.wire import LENGTH, Wishes, candidates, decode, receive


def test_wishes_arrive_as_they_were() -> None:
    wishes = Wishes([b"/bin/x"], [b"x", b"\xff"], b"/w", {b"A": b"\xfe"}, True, {"files": 64}, [["serverd", "--all"]],
                    cwd_is_real=True, own_keyring=True)
    sent = wishes.encode()
    assert LENGTH.unpack(sent[:LENGTH.size])[0] == len(sent) - LENGTH.size
    found = decode(sent[LENGTH.size:])
    assert {name: getattr(found, name) for name in Wishes.__slots__} == {name: getattr(wishes, name) for name in Wishes.__slots__}


def test_descriptors_come_with_the_bytes_and_no_program_inherits_them(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "x").open("w") as file:
        socket.send_fds(theirs, [b"hello"], [file.fileno()])
        data, (handle,) = receive(ours, 100, 3)
        try:
            assert data == b"hello" and os.path.samestat(os.fstat(handle), os.fstat(file.fileno()))
            assert not os.get_inheritable(handle)
        finally:
            os.close(handle)


def test_a_program_is_looked_for_on_the_path_that_it_will_have_unless_it_is_a_path() -> None:
    assert candidates("tool", {"PATH": "/a:/b"}) == [b"/a/tool", b"/b/tool"]
    assert candidates("./tool", {"PATH": "/a:/b"}) == [b"./tool"]
    assert candidates("tool", {}) == [os.fsencode(os.path.join(folder, "tool")) for folder in os.defpath.split(os.pathsep)]
