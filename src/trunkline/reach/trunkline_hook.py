"""The hook program: what another program starts when it asks its person something, or to report what it does.

    python -I -S trunkline_hook.py AGENT ask|check|report|ping SOCKET [VARIABLE]

It hands its stdin to the hub's socket. Of an ask it holds the connection until the hub answers, and prints the answer, once the
hub has said that it waits for a person; so it does with a check, but not for long. A report is only handed over, and a ping is
answered at once. VARIABLE names the variable that has the program's process id; without one it is the process that started
this one.

Rule 1: standard library only, nothing of the hub, and no module that is slow to load: it is started for every ask.
Rule 2: whatever goes wrong is no opinion: exit code 0, and nothing on stdout. It prints an answer that came whole, or nothing.
Rule 3: it never waits for a hub that is not there, or is stuck: its program may show nothing to its person meanwhile.
Where the hub waits for a person, it does so until the hub says that the ask is over: end of file.
Rule 4: it talks to a hub of its own user only, and says nothing of the environment but that process id.
Rule 5: an agent that a hub started has the hub to ask already: in there it does nothing.
"""

import _socket
import os
import sys

VERSION = "1"
INPUT_MOST = 8 << 20
"""Bytes of an ask. What is longer nobody could look at."""
ANSWER_MOST = 9 << 20
CONNECT_S = 0.3
SEND_S = 2.0
CHECK_S = 2.0
"""How long a check may take: its program shows nothing meanwhile."""
WAITS_S = 5.0
"""How long the hub may take to answer an ask, or to say that a person is to answer it."""
WAITS = b"trunkline 1 waits\n"
SHELLS = ("sh", "bash", "dash", "zsh")
OURS = "AGENT_LINE_MARKER"
"""The variable that every process below a hub has."""
PATH_MOST = 100
"""Bytes of a socket's address: systems take 104 or 108."""


def run(arguments: list[str]) -> bytes:
    """What is to be printed."""
    agent, kind, path = arguments[:3]
    if OURS in os.environ:
        return b""
    pid = os.environ.get(arguments[3], "") if len(arguments) > 3 else starter()
    given = read_all(0, INPUT_MOST)
    if given is None:
        return b""
    link = connected(path)
    try:
        head = f"trunkline {VERSION} {agent} {kind} {pid if pid.isascii() and pid.isdigit() else 0} {len(given)}\n"
        link.settimeout(SEND_S)
        link.sendall(head.encode() + given)
        if kind == "report":
            return b""
        link.settimeout(CHECK_S if kind == "check" else WAITS_S)
        return answer_in(link)
    finally:
        link.close()


def starter() -> str:
    """The process id of the program that started this one; a shell in between is not it."""
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/stat", "rb") as file:
            name, _, rest = file.read(4096).partition(b"(")[2].rpartition(b")")
        return rest.split()[1].decode() if name.decode("ascii", "replace") in SHELLS else str(parent)
    except (OSError, IndexError):
        return str(parent)


def read_all(descriptor: int, most: int) -> "bytes | None":
    """All that is to be read; None where it is more than that."""
    pieces, size = [], 0
    while piece := os.read(descriptor, 1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            return None
    return b"".join(pieces)


def connected(path: str) -> "_socket.socket":
    """A connection to the hub of this user."""
    if os.lstat(path).st_uid != os.getuid():
        raise PermissionError(path)
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    link.settimeout(CONNECT_S)
    if len(os.fsencode(path)) > PATH_MOST:
        path = f"/proc/self/fd/{os.open(os.path.dirname(path), os.O_RDONLY)}/{os.path.basename(path)}"
    link.connect(path)
    wanted = getattr(_socket, "SO_PEERCRED", None)
    if wanted is not None:
        user = int.from_bytes(link.getsockopt(_socket.SOL_SOCKET, wanted, 12)[4:8], sys.byteorder)
        if user != os.getuid():
            raise PermissionError(path)
    return link


def answer_in(link: "_socket.socket") -> bytes:
    """The answer, where it came whole; nothing for an ask that is over, or for what is no answer."""
    got = b""
    while piece := link.recv(1 << 16):
        got += piece
        if got.startswith(WAITS):
            got = got[len(WAITS):]
            link.settimeout(None)
        if len(got) > ANSWER_MOST:
            return b""
    head, end, body = got.partition(b"\n")
    words = head.split(b" ")
    is_whole = bool(end) and len(words) == 3 and words[:2] == [b"trunkline", VERSION.encode()] and words[2] == b"%d" % len(body)
    return body if is_whole else b""


def main() -> None:
    """Print the answer, if there is one."""
    said = b""
    try:
        said = run(sys.argv[1:])
    except BaseException:  # the program's boundary: whatever happened, the person is asked as ever
        said = b""
    try:
        while said:
            said = said[os.write(1, said):]
    except OSError:
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
