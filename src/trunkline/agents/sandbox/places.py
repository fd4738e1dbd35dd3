"""Which places of this machine an agent in a sandbox sees, and which are hidden.

Rule 1: every path is made real first, so that no link leads around a place; what is not there needs no hiding, since the home
around it is empty.
Rule 2: programs are shown where they lie in the home, and can only be read: what is on PATH, the agent's own command and what
that is started with. Never a whole home for the sake of a program in it. The command is shown in folders that programs share
(``/tmp``), too, since without it nothing would start; what is on PATH there is anybody's, and is not.
Rule 3: a session whose folder holds the home, or the agent's program, gets no sandbox: there would be nothing left to keep.
Rule 4: it blocks; whoever has a loop calls it in a lane.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from trunkline.agents.sandbox.bwrap import Access, BoundPlace, in_order, is_in, seen_at
from trunkline.errors import Invalid

PRIVATE = ("/tmp", "/var/tmp", "/run", "/var/run")
"""Folders in which programs leave files and sockets for each other: the session bus, the display, containers, key agents."""

KEPT_IN_PRIVATE = ("/etc/resolv.conf", "/run/current-system", "/run/opengl-driver")
"""What a system needs of these: how names are resolved, and where some systems keep their programs."""

KEPT_IN_HOME = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes", ".rustup")
"""What tools need of a home, and no secret of anybody's."""

SECRETS = (
    ".ssh", ".gnupg", ".netrc", ".git-credentials", ".config/git/credentials", ".password-store", ".local/share/keyrings",
    ".aws", ".azure", ".config/gcloud", ".boto", ".s3cfg", ".oci", ".config/doctl", ".config/rclone", ".terraform.d",
    ".vault-token", ".kube", ".docker", ".config/containers", ".config/gh", ".config/hub", ".config/glab-cli", ".config/op",
    ".npmrc", ".yarnrc.yml", ".pypirc", ".pip", ".config/pip", ".cargo/credentials", ".cargo/credentials.toml",
    ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".pgpass", ".my.cnf",
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
    ".config/vivaldi", ".config/opera", ".var/app", "snap",
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history",
)
"""Below a home: keys, logins, tokens of registries and clouds, browsers, what was typed. Hidden even where a folder that holds
them is a session's, or has programs in it."""

PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims"})
HOMES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
SHEBANG_BYTES = 256
PARTS_MOST = 256
"""Steps of one path; links that lead in a circle end here."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a sandbox is to show and to hide, as paths that need be neither real nor there."""

    roots: Sequence[str]
    """The session's folders."""
    own: Sequence[str] = ()
    """The agent's own store; one that ends in ``/`` is a folder, and is made."""
    hidden: Sequence[str] = ()
    """The hub's own files, other agents' stores."""
    reads: Sequence[str] = ()
    """What else may be read."""
    command: Sequence[str] = ()
    """The agent's own command: its program and whatever files it names may be read."""
    env: Mapping[str, str] = {}
    """The agent's variables."""
    homes: Sequence[str] = ()
    """Homes besides those that the variables name."""


def places(wish: Wish) -> list[BoundPlace]:
    """Everything that is laid over the system; Invalid for a session's folder that cannot be kept apart."""
    homes = homes_of(wish.env, wish.homes)
    _make(wish.own)
    roots, own, private = _real(wish.roots), _real(wish.own), _real(PRIVATE)
    _check_roots(roots, homes, wish)
    on_path, started = list(_on_path(wish, homes)), list(_started(wish, (*homes, *private)))
    programs = [*on_path, *started]
    shown = [*(os.path.join(home, name) for home in homes for name in KEPT_IN_HOME), *wish.reads, *KEPT_IN_PRIVATE]
    secret = _real([*wish.hidden, *(os.path.join(home, name) for home in homes for name in SECRETS)])
    laid = [
        *(BoundPlace(path, Access.EMPTY) for path in [*private, *homes]),
        *(BoundPlace(path, Access.READ) for path in _real(on_path) if _is_in_any(path, (*homes, *own))),
        *(BoundPlace(path, Access.READ) for path in _real(started) if _is_in_any(path, (*homes, *own, *private))),
        *(BoundPlace(path, Access.READ) for path in _real(shown) if _is_in_any(path, (*homes, *private))),
        *(BoundPlace(path, Access.WRITE) for path in own),
        *(BoundPlace(path, Access.ROOT) for path in roots),
    ]
    return [*laid, *_covers(secret, own, laid), *_links([*programs, *shown, *wish.own], laid)]


def hider(wish: Wish) -> Callable[[str], bool]:
    """Says of a real path whether it is hidden by name, also where it lies in a session's folder. What is not there (yet) has its
    name all the same: what is hidden is not to be made either. Of what lies in
    each other the deepest decides, as in the sandbox."""
    homes = homes_of(wish.env, wish.homes)
    names = [*wish.hidden, *(os.path.join(home, name) for home in homes for name in SECRETS)]
    secret = {os.path.realpath(path) for path in names if path}
    own = _real(wish.own)
    laid = in_order([
        *(BoundPlace(path, Access.EMPTY) for path in secret.difference(own)),
        *(BoundPlace(path, Access.READ) for path in _real([*wish.reads, *(os.path.join(home, name) for home in homes
                                                                     for name in KEPT_IN_HOME)])),
        *(BoundPlace(path, Access.WRITE) for path in own),
        *(BoundPlace(path, Access.ROOT) for path in _real(wish.roots)),
    ])
    return lambda path: seen_at(path, laid) is Access.EMPTY


def homes_of(env: Mapping[str, str], more: Sequence[str] = ()) -> tuple[str, ...]:
    """The person's home, by variable and by account, and the folders that stand for parts of it; never the whole machine."""
    named = [env.get("HOME", ""), *(env.get(name, "") for name in HOMES), *more]
    with suppress(KeyError):  # an account without an entry has no other home
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    return tuple(path for path in _real(named) if path != "/" and os.path.isdir(path))


def program_places(program: str, homes: Sequence[str]) -> Iterator[str]:
    """What a program needs to run, as far as its place shows: its package, its environment, its interpreter."""
    seen: set[str] = set()
    waiting = [program]
    while waiting:
        path = waiting.pop()
        if path in seen or not os.path.isfile(path):
            continue
        seen.add(path)
        yield _installed_in(path, homes)
        waiting += [os.path.realpath(path), *_interpreters(path)]


def _on_path(wish: Wish, homes: Sequence[str]) -> Iterator[str]:
    given = [value for name, _, value in (word.rpartition("=") for word in wish.command) if name == "PATH"]
    for path in (wish.env.get("PATH", ""), *given):
        yield from (_prefix(folder, homes) for folder in path.split(os.pathsep) if os.path.isabs(folder))


def _started(wish: Wish, homes: Sequence[str]) -> Iterator[str]:
    for word in wish.command:
        name, _, value = word.rpartition("=")
        if name != "PATH" and os.path.isabs(value):
            yield from program_places(value, homes)
    if wish.command and wish.command[0] == sys.executable:
        # Our own interpreter runs our own agent: it needs what we were loaded from.
        yield from (path for path in sys.path if os.path.isabs(path) and not _holds_home(path, homes))


def _installed_in(path: str, homes: Sequence[str]) -> str:
    """The folder that a program was installed in; the file alone where that would be a home."""
    head, found, _ = path.partition("/node_modules/")
    if found:
        return f"{head}/node_modules"
    folder = _prefix(os.path.dirname(path), homes)
    return path if _holds_home(folder, homes) else folder


def _prefix(folder: str, homes: Sequence[str]) -> str:
    """``…/v22`` of ``…/v22/bin``: what is in a folder of programs needs what is beside it. Not where that is a home."""
    above = os.path.dirname(folder.rstrip("/"))
    shared = {os.path.join(home, ".local") for home in homes}
    if os.path.basename(folder.rstrip("/")) not in PROGRAM_FOLDERS or _holds_home(above, homes) or above in shared:
        return folder
    return above


def _interpreters(path: str) -> Iterator[str]:
    """What a script is run by, and what a Python environment was made from."""
    with suppress(OSError), open(path, "rb") as file:
        first = file.read(SHEBANG_BYTES).partition(b"\n")[0]
        if first.startswith(b"#!"):
            yield from (os.fsdecode(word) for word in first[2:].split()[:1])
    made_from = os.path.join(os.path.dirname(path), "..", "pyvenv.cfg")
    with suppress(OSError), open(made_from, encoding="utf-8", errors="replace") as file:
        for line in file:
            key, _, value = line.partition("=")
            if key.strip() == "home":
                yield os.path.join(value.strip(), "python3")


def _check_roots(roots: Sequence[str], homes: Sequence[str], wish: Wish) -> None:
    for root in roots:
        if _holds_home(root, (*homes, *_real(PRIVATE))):
            raise Invalid(f"{root} holds what a sandbox hides (a home, or files that programs share): choose a folder below it",
                          details={"field": "cwd"})
        program = os.path.realpath(wish.command[0]) if wish.command else ""
        if is_in(program, root):
            raise Invalid(f"the agent's program {program} lies in the session's folder, which it may write: install it elsewhere",
                          details={"field": "cwd"})


def _holds_home(folder: str, homes: Sequence[str]) -> bool:
    return any(is_in(home, folder) for home in homes)


def _is_in_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_in(path, folder) for folder in folders)


def _real(paths: Iterable[str]) -> list[str]:
    """The real paths of those that are there, each once."""
    found = (os.path.realpath(path) for path in paths if path)
    return list(dict.fromkeys(path for path in found if os.path.lexists(path)))


def _covers(secret: Iterable[str], own: Sequence[str], laid: Sequence[BoundPlace]) -> Iterator[BoundPlace]:
    """Covers for what would be seen though it must not be; what lies in an empty folder needs none, and has no name there."""
    for path in secret:
        if path not in own and seen_at(path, laid) is not Access.EMPTY:
            yield BoundPlace(path, Access.EMPTY if os.path.isdir(path) else Access.NONE)


def _links(paths: Iterable[str], laid: Sequence[BoundPlace]) -> Iterator[BoundPlace]:
    """The links on the way to what is shown, where an empty folder would hide them."""
    for path in paths:
        for link, target in links_on(path):
            if seen_at(link, laid) is Access.EMPTY:
                yield BoundPlace(link, Access.LINK, target)


def links_on(path: str) -> Iterator[tuple[str, str]]:
    """Every link that is passed on the way to a path's real place, and where it leads."""
    here, rest = "/", [part for part in path.split("/") if part]
    for _ in range(PARTS_MOST):
        if not rest:
            return
        part, *rest = rest
        there = os.path.normpath(os.path.join(here, part))
        if os.path.islink(there):
            target = os.readlink(there)
            yield there, target
            here = "/" if os.path.isabs(target) else here
            rest = [*(part for part in target.split("/") if part), *rest]
        else:
            here = there


def _make(own: Iterable[str]) -> None:
    """An agent's folders, before its first start: what it writes there in the sandbox must be there afterwards."""
    for path in own:
        if path.endswith("/"):
            os.makedirs(path, mode=0o700, exist_ok=True)
