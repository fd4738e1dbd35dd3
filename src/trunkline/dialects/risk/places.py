"""What a path means: the session's own files, temporary ones, the system's, credentials, devices.

Rule 1: paths are judged as text. Nothing is looked up, so a symbolic link is not seen through.
Rule 2: shell start files, hooks, agents' settings, what a project's programs run by themselves and, of a home, every dot-file are
that wherever the session's folders are: a session in the home folder changes them no more quietly than another.
Rule 3: a glob that may climb (``.?/x``) is what it means where it does, if that is worse.
Rule 4: a path that cannot be known (``$X/y``) is nowhere in particular; but what can be seen of it still counts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from trunkline.dialects.glob_climbs import climbing
from trunkline.dialects.risk import secrets_list
from trunkline.dialects.roaming import beyond, is_stacked, may_roam, roams

PlaceKind = Literal[
    "inside",
    "temp",
    "null",
    "home",
    "outside",
    "elsewhere",
    "system",
    "startup",
    "hook",
    "git",
    "agent",
    "loaded",
    "device",
    "raw",
    "net",
    "roaming",
    "unknown",
]
"""``inside`` the roots · ``temp`` · ``null`` swallows · ``home`` but not inside · ``outside`` the roots · ``elsewhere`` where
no roots are known · ``system`` · ``startup`` what shells and
logins run, wherever it lies · ``hook`` what git runs · ``git`` what git keeps · ``agent`` an agent's own
settings · ``loaded`` what editors, package managers and forges run by themselves · ``device``
· ``raw`` a disk or memory · ``net`` bash's /dev/tcp
· ``roaming`` through a process, to any place · ``unknown`` only known when it runs"""

_NULLS: Final = frozenset(
    "/dev/null /dev/zero /dev/full /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/random /dev/urandom /dev/ptmx".split()
)
_RAW: Final = re.compile(
    r"/dev/(r?disk\d|sd[a-z*?\[]|hd[a-z*?\[]|vd[a-z*?\[]|xvd|nvme|mmcblk|md\d|dm-|mapper/|loop\d|mem\b|kmem\b|port\b|nbd|sr\d|block/"
    r"|disk/|\*|s\*|s\?|n\*|\[)"
)
_SYSTEM: Final = (
    "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/sys", "/proc", "/var", "/root", "/run", "/System",
    "/Library", "/Applications", "/private/etc", "/private/var", "/nix", "/snap", "/efi",
)  # fmt: skip
_TEMP: Final = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/folders", "/var/folders")
_SYSTEM_BELOW: Final = tuple([f"{folder}/" for folder in _SYSTEM])
_TEMP_BELOW: Final = tuple([f"{folder}/" for folder in _TEMP])
_SHELL_START: Final = re.compile(
    r"(^|/)\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc"
    r"|tcshrc|inputrc|xinitrc|xprofile|xsession|login|pam_environment|ssh/(config|rc|authorized_keys2?|environment)|gnupg/.*"
    r"|config/(fish|autostart|systemd|environment\.d)(/.*)?|local/share/(applications|systemd)/.*)$"
    r"|(^|/)Library/Launch(Agents|Daemons)(/|$)"
)
"""What shells and logins run: that anywhere, a session's folder included."""
_STARTUP: Final = re.compile(
    r"(^|/)\.(vimrc|gitconfig|npmrc|curlrc|wgetrc|tmux\.conf|pythonrc|condarc|config/(git|nvim)(/.*)?|local/bin/.*"
    r"|cargo/config(\.toml)?)$"
)
"""What other programs load by themselves: that in a home. In a project some of them are the project's own."""
_HOOK: Final = re.compile(
    r"(^|/)(\.git/(hooks(/|$)|config$|config\.worktree$|info/attributes$|modules/)|\.githooks/|\.husky/)",
    re.IGNORECASE)
_GIT: Final = re.compile(
    r"(^|/)\.git(/(HEAD|index|packed-refs|shallow|(objects|refs|logs|worktrees)(/.*)?))?$", re.DOTALL | re.IGNORECASE)
"""The repository itself: whoever writes, moves or deletes there can lose all that was ever committed."""
_AGENT: Final = re.compile(
    r"(^|/)(\.claude/(settings[^/]*\.json|hooks/|agents/|commands/|skills/|plugins/)|\.claude\.json$|\.mcp\.json$|\.codex/(config|rules|hooks)"
    r"|\.gemini/settings\.json|\.cursor/(mcp|cli|hooks)[^/]*\.json|\.config/(opencode|goose|trunkline|crush|amp)/|opencode\.jsonc?$"
    r"|\.opencode/(plugin|agent|command|tool)|\.qwen/settings\.json|\.trunkline/|\.copilot/(config|mcp)[^/]*\.json"
    r"|\.(vscode|roo|kilocode|windsurf|junie/mcp|kiro/settings|amazonq|augment|factory|zed)/mcp[^/]*\.json$"
    r"|\.(kiro|clinerules)/hooks/|\.(windsurf|codeium/windsurf)/hooks\.json$|\.github/hooks/"
    r"|\.(amp|augment|factory)/settings[^/]*\.json$|\.amazonq/cli-agents/|\.continue/config\.[a-z]+$|\.aider\.conf\.ya?ml$|\.?crush\.json$)"
)
_LOADED: Final = re.compile(
    r"(^|/)(\.envrc|\.vscode/(tasks|launch|settings)\.json|\.idea/.+|\.zed/(tasks|settings|debug)\.json|\.fleet/run\.json"
    r"|site-packages/[^/]+\.pth|\.npmrc|\.pnp\.(cjs|loader\.mjs)|\.tool-versions|\.direnv/.+"
    r"|\.yarnrc(\.[^/]+)?|\.yarn/(plugins|releases)/.+|\.pnpmfile\.c?js|\.cargo/config(\.toml)?|\.mvn/.+|\.bazelrc"
    r"|\.(github|gitea|forgejo)/(workflows|actions)/.+|\.(circleci|buildkite|semaphore|teamcity|woodpecker|azure-pipelines)/.+"
    r"|\.gitlab/ci/.+|\.builds/.+|\.(gitlab-ci|travis|drone|woodpecker|cirrus|appveyor|build|azure-pipelines)\.ya?ml|\.cirrus\.star"
    r"|(azure-pipelines|bitbucket-pipelines|appveyor|lefthook)\.ya?ml|jenkinsfile"
    r"|\.pre-commit-(config|hooks)\.ya?ml|\.?lefthook(-local)?\.ya?ml|\.lefthook/.+|\.devcontainer/.+|\.devcontainer\.json"
    r"|\.?mise(\.[^/]+)?\.toml|\.bundle/config|\.(exrc|nvimrc|nvim\.lua|lvimrc|gdbinit|lldbinit|irbrc|pryrc|pdbrc|rprofile)|\.dir-locals\.el|(site|user)customize\.py"
    r"|(\.?v?env|\.tox/[^/]+|\.nox/[^/]+)/(bin|scripts)/[^/]+|(node_modules/\.|vendor/)bin/[^/]+|\.gitmodules"
    r"|gradle/wrapper/gradle-wrapper\.(jar|properties))$",
    re.IGNORECASE,
)
"""What editors, package managers, debuggers and forges run by themselves, where they find it in a project."""
_LOADED_HINT: Final = re.compile(
    r"pipelines\.ya?ml$|appveyor\.ya?ml$|lefthook|jenkinsfile$|crush\.json$|customize\.py$|mise[^/]*\.toml$"
    r"|site-packages/[^/]+\.pth$|(v?env|vendor|\.bin)/|gradle-wrapper\.", re.IGNORECASE)
"""A part of those that have no hidden name in them."""
_WHOLE: Final = frozenset({"/", "~", "/home", "/root", "/etc", "/etc/ssh", "/Users"})
_KEPT_SETTINGS: Final = frozenset(
    ".config .local .local/share .mozilla .thunderbird .password-store Library".split())
"""Folders of a home in which programs keep what they log in with, beside much else."""
_KEPT_CACHES: Final = frozenset(
    ".cache .npm .yarn .pnpm-store .bun .rustup .pyenv .rbenv .nodenv .nvm .asdf .sdkman .volta .fnm .deno .vscode .venv "
    ".virtualenvs .conda .eclipse .vim .oh-my-zsh .fonts .themes .icons .trash .ivy2".split())
"""Hidden folders of a home in which there is only what can be had again, or what is no secret."""
_A_HOME: Final = re.compile(r"/(home|Users)(/[^/]+)?/?$")
_FILE_URL: Final = re.compile(r"file:(?://[^/]*)?(?=/)", re.IGNORECASE)
_DRIVE: Final = re.compile(r"[A-Za-z]:\\")
_HOMES: Final = ("/home/", "/Users/", "/root/")
_HOME: Final = re.compile(r"^/(home|Users)/[^/]+(?=/)|^/root(?=/)")
_GLOB: Final = re.compile(r"[*?\[]")
_SAMPLES: Final[dict[int, list[list[str]]]] = {}
"""The parts of what a path with wildcards is tried against, by their number."""
for _parts in (sample.split("/") for sample in secrets_list.SAMPLES):
    _SAMPLES.setdefault(len(_parts), []).append(_parts)
_MILD: Final = frozenset(("inside", "temp", "null", "elsewhere", "unknown"))
_OWN_CODE: Final = frozenset(("inside", "null", "elsewhere", "unknown"))
_INSTALLED: Final = ("/usr/", "/nix/", "/opt/homebrew/", "/Library/", "/lib/")
_NET: Final = ("/dev/tcp/", "/dev/udp/")


_ORDINARY: Final = re.compile(
    r"(?>[\w*?][\w +,=@%*?-]*)(?>(?:/[\w*?][\w +,=@%*?-]*+)*)(?>(?:\.[\w*?]++)*)|[<>]\([\w +,=@%-]++\)", re.ASCII)
"""Names without anything hidden, computed or above: most of all that are written. What it matches is normal already.
A wildcard that begins a name matches nothing hidden, and a simple substitution has no parts."""
_NOTABLE: Final = re.compile(rf"{secrets_list.HINT.pattern}|opencode|{_LOADED_HINT.pattern}")


class Seen(NamedTuple):
    """All that a path means."""

    path: str
    kind: PlaceKind
    secret: str


class Places(Struct, frozen=True, eq=False):
    """Where a session stands: its working directory, the folders it may touch, the user's home. Any may be unknown.

    Made by ``of`` and ``moved`` only: there is one object for each, and what is known of its paths is kept by it."""

    cwd: str | None = None
    roots: tuple[str, ...] = ()
    home: str | None = None
    calm: bool = False
    """Whether ordinary names below the working directory are files of the session and nothing else."""

    @classmethod
    def of(cls, cwd: str | None, roots: Sequence[str], home: str | None) -> Places:
        """Normalised; a session without roots of its own has its working directory."""
        known = tuple(posixpath.normpath(root) for root in roots if root) or ((posixpath.normpath(cwd),) if cwd else ())
        return _interned(posixpath.normpath(cwd) if cwd else None, known, posixpath.normpath(home) if home else None)

    def moved(self, folder: str | None) -> Places:
        """The same after ``cd folder``; None: nobody knows where to."""
        if folder is None:
            return _interned("?", self.roots, self.home)
        if self.calm and _is_ordinary(f"{folder}/x"):
            return _interned(f"{self.cwd}/{folder}", self.roots, self.home, True)
        return _interned(look(self, folder).path, self.roots, self.home)

    def resolve(self, sketch: str) -> str:
        """A path made absolute and plain as far as it can be. Begins with ``?`` where it depends on what only a run knows."""
        return look(self, sketch).path

    def kind(self, sketch: str) -> PlaceKind:
        """What a path means for whoever writes to it."""
        return look(self, sketch).kind

    def secret(self, sketch: str) -> str:
        """How sure it is that a path holds credentials: ``""`` not, ``"project"`` one of the project's, ``"own"`` the user's."""
        return look(self, sketch).secret

    def holds(self, path: str) -> bool:
        """Whether a resolved path lies in a folder of the session, whatever it is."""
        return any([_under(path, root) for root in self.roots])

    def is_foreign(self, sketch: str) -> bool:
        """Whether code at this path is neither the session's nor installed with the system."""
        path, kind, _ = look(self, sketch)
        if kind in _OWN_CODE or self.holds(path) or not self.roots:
            return False
        return not path.startswith(_INSTALLED) and path != self.home

    def holds_secrets(self, sketch: str) -> bool:
        """Whether a folder is so large that credentials are somewhere in it: a home, ``/``, ``/etc``, ``~/.config``, and whatever
        a program keeps in a hidden folder of its own."""
        path = self.resolve(sketch)
        if path in _WHOLE or path == self.home or (path.startswith(_HOMES[:2]) and path.count("/") == 2):
            return True
        kept = _homeless(self, path).removeprefix("~/") if path[:1] in "/~" else ""
        return kept in _KEPT_SETTINGS or (kept[:1] == "." and "/" not in kept and kept not in _KEPT_CACHES)


@lru_cache(maxsize=64)
def _interned(cwd: str | None, roots: tuple[str, ...], home: str | None, calm: bool = False) -> Places:
    """One object per session place, so that what is known of its paths is found again. ``calm``: it is known to be."""
    places = Places(cwd, roots, home, calm)
    return Places(cwd, roots, home, calm=True) if not calm and _is_calm(places) else places


def _is_ordinary(sketch: str) -> bool:
    """Whether a name is, below a calm place, a file of the session and nothing else."""
    return _ORDINARY.fullmatch(sketch) is not None and _NOTABLE.search(sketch.lower()) is None


def _is_calm(places: Places) -> bool:
    """Whether nothing about the working directory itself makes the files below it special."""
    if places.cwd is None or not places.cwd.startswith("/") or places.cwd == "/" or _GLOB.search(places.cwd):
        return False
    below = f"{places.cwd}/x"
    hinted = may_be_special(below) or secrets_list.may_match(_homeless(places, below).lower())
    return not hinted and _kind(places, below) == "inside"


@lru_cache(maxsize=64)
def standing(places: Places) -> Literal["", "temp", "outside"]:
    """Where commands run: in the session's folders or nowhere in particular, among temporary files, or outside."""
    cwd = places.cwd
    if places.calm or cwd is None or not places.roots or not cwd.startswith(("/", "~")) or places.holds(cwd):
        return ""
    return "temp" if cwd in _TEMP or cwd.startswith(_TEMP_BELOW) else "outside"


@lru_cache(maxsize=2048)
def look(places: Places, sketch: str) -> Seen:
    """Everything about one path, looked at once."""
    if places.calm and _is_ordinary(sketch):
        return Seen(f"{places.cwd}/{sketch}", "inside", "")
    seen = _seen(places, sketch)
    for above in climbing(sketch):
        one = _seen(places, above)
        if (bool(one.secret), one.kind not in _MILD) > (bool(seen.secret), seen.kind not in _MILD):
            seen = one
    return seen


def _seen(places: Places, sketch: str) -> Seen:
    path = _resolve(places, sketch)
    if is_stacked(sketch) or roams(f"{places.cwd}/{sketch}" if sketch[:1] not in "/~$" and places.cwd else sketch, path):
        path = _plain(beyond(path, places.cwd or "."))
        return Seen(path, "roaming", _secret(places, path))
    kind: PlaceKind = "roaming" if _GLOB.search(path) and may_roam(path) else _kind(places, path)
    secret = _secret(places, path)
    is_others = kind in ("home", "outside") and secrets_list.CERTIFICATE.search(path.lower()) is None
    return Seen(path, kind, "own" if secret and is_others else secret)  # another project's is the user's own


def _resolve(places: Places, sketch: str) -> str:
    if sketch[:1] not in "/$~`" and ":" not in sketch:
        return _plain(sketch if places.cwd is None else f"{places.cwd}/{sketch}")
    path = sketch.replace("\\", "/") if _DRIVE.match(sketch) else sketch
    if path[:5].lower() == "file:":
        path = _FILE_URL.sub("", path)
    for name in ("$HOME", "${HOME}", "~"):
        if path == name or path.startswith(name + "/"):
            path = (places.home or "~") + path[len(name) :]
            return _plain(path)
    if is_stacked(path):
        return _plain(f"{places.cwd or ''}/{path.partition('/')[2]}")
    if path.startswith("~") and not path.startswith("~/"):
        return _plain("/home/" + path[1:])
    for name in ("$PWD", "${PWD}", "$(pwd)", "`pwd`"):
        if path.startswith(name):
            path = "." + path[len(name) :]
    if path.startswith(("$TMPDIR", "${TMPDIR")):
        path = "/tmp/" + path.partition("/")[2]
    if path.startswith(("$", "`")):
        return "?" + path
    if path.startswith("/"):
        return _plain(path)
    if places.cwd is None:
        return _plain(path)
    return _plain(f"{places.cwd}/{path}")


def _plain(path: str) -> str:
    """Without ``.`` and ``..`` and doubled slashes, also behind ``~``."""
    if path.startswith("//"):
        path = "/" + path.lstrip("/")
    return posixpath.normpath(path) if path else path


def _kind(places: Places, path: str) -> PlaceKind:
    if path.startswith("/dev/"):
        return _device(path)
    special = may_be_special(path)
    if special and _HOOK.search(path):
        return "hook"
    if special and _AGENT.search(path):
        return "agent"
    if special and _SHELL_START.search(path):
        return "startup"
    for root in places.roots:
        if _under(path, root):
            if special and _is_of_home(places, path, root):
                return "startup" if _STARTUP.search(path) else "home"
            if special and _LOADED.search(path):
                return "loaded"
            if special and _GIT.search(path):
                return "git"
            return "unknown" if "$" in path else "inside"
    if special and _STARTUP.search(path):
        return "startup"
    if special and _LOADED.search(path):
        return "loaded"
    if path.startswith(("?", "$", "`")):
        return "unknown"
    return _beyond(places, path)


def _is_of_home(places: Places, path: str, root: str) -> bool:
    """Whether a path inside a root is a dot-file of the home itself: the root is the home or lies above it."""
    home = places.home or (root if _A_HOME.match(root) or root == "/root" else None)
    return home is not None and _under(home, root) and path.startswith(f"{home.rstrip('/')}/.")


def _beyond(places: Places, path: str) -> PlaceKind:
    """A path that is not inside any root."""
    if path.startswith(_TEMP_BELOW) or path in _TEMP:
        return "temp"
    if path.startswith(_SYSTEM_BELOW) or path == "/" or path in _SYSTEM:
        return "system"
    if path.startswith("~") or (places.home and _under(path, places.home)) or _A_HOME.match(path):
        return "home"
    if not path.startswith("/") and not path.startswith(".."):
        return "git" if _GIT.search(path) else "inside"
    return "outside" if places.roots or path.startswith("..") else "elsewhere"


def _device(path: str) -> PlaceKind:
    if path in _NULLS or path.startswith(("/dev/fd/", "/dev/pts/")):
        return "null"
    if path.startswith("/dev/shm"):
        return "temp"
    if path.startswith(_NET):
        return "net"
    return "raw" if _RAW.match(path) else "device"


def _under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


def may_be_special(path: str) -> bool:
    """Whether a path can be a hook, an agent's, a program's or a login's; decided quickly, since most are none of them."""
    return "/." in path or path[:1] == "." or "Library/" in path or "opencode" in path or (
        _LOADED_HINT.search(path) is not None)


def _homeless(places: Places, path: str) -> str:
    """A path with ``~`` for anybody's home."""
    if places.home and _under(path, places.home):
        return "~" + path[len(places.home) :]
    return _HOME.sub("~", path) if path.startswith(_HOMES) else path


def _secret(places: Places, path: str) -> str:
    path = _homeless(places, path)
    lowered = path.lower()
    globs = _GLOB.search(path) is not None
    hinted = secrets_list.may_match(lowered)
    found = ""
    if hinted and secrets_list.OWN.search(lowered):
        found = "own"
    elif globs and _could_be_own(path):
        found = "own"
    elif (globs and _matches(path.rpartition("/")[2], ".env")) or (hinted and secrets_list.PROJECT.search(lowered)):
        found = "project"
    return "" if found and secrets_list.OPEN.search(lowered) else found


def _could_be_own(pattern: str) -> bool:
    """Whether a path with wildcards matches a well-known file, part by part, as a shell would."""
    patterns = pattern.split("/")
    return any(all(map(_matches, patterns, parts)) for parts in _SAMPLES.get(len(patterns), ()))


def _matches(pattern: str, part: str) -> bool:
    """One part of a path; a leading wildcard does not match a dot-file."""
    if not _GLOB.search(pattern):
        return part == pattern
    return not (part.startswith(".") and pattern[:1] in ("*", "?", "[")) and fnmatchcase(part, _closed(pattern))


def _closed(pattern: str) -> str:
    """The pattern with brackets that nothing closes as the plain characters that they are: fnmatch looks for the end of each."""
    end = pattern.rfind("]") + 1
    return pattern[:end] + pattern[end:].replace("[", "[[]")
