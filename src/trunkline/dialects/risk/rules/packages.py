"""Package managers: reading what is there is low, installing is medium, beyond the project or from odd places is high."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.rules.looking import only_looks
from trunkline.dialects.shell.wrappers import first_operand


class Manager(NamedTuple):
    """The verbs of a package manager; what is in neither set is medium."""

    quiet: frozenset[str]
    grave: frozenset[str]


def _manager(quiet: str, grave: str = "") -> Manager:
    return Manager(frozenset(quiet.split()), frozenset(grave.split()))


_COMMON: Final = (
    "list ls info show search view outdated help version why --version config-list check env doctor root prefix bin home deps"
)
_NODE: Final = _manager(
    f"{_COMMON} explain audit whoami ping fund pack-list query licenses",
    "publish unpublish deprecate token owner author adduser login access dist-tag dist-tags logout hook team org trust",
)
_PYTHON: Final = _manager(f"{_COMMON} freeze inspect debug cache hash tree lock-check", "publish upload")
_SYSTEM: Final = _manager(
    f"{_COMMON} policy depends rdepends showpkg changelog leaves uses desc cat formulae casks tap-info",
    "remove purge autoremove autopurge erase uninstall full-upgrade dist-upgrade edit-sources tap untap rm zap del",
)
_MANAGERS: Final[dict[str, Manager]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "cnpm", "corepack", "jsr", "ni"), _NODE),
    **dict.fromkeys(
        (
            "pip",
            "pip3",
            "pipx",
            "uv",
            "poetry",
            "pdm",
            "pipenv",
            "conda",
            "mamba",
            "micromamba",
            "rye",
            "hatch",
            "pixi",
            "uvx",
            "easy_install",
        ),
        _PYTHON,
    ),
    **dict.fromkeys(
        "apt apt-get aptitude dnf yum zypper apk pacman yay paru brew port snap flatpak choco winget scoop emerge "
        "xbps-install nix-env nix pkg "
        "opkg rpm dpkg nala eopkg microdnf swupd".split(),
        _SYSTEM,
    ),
    "apt-cache": _manager("policy depends rdepends showpkg search show pkgnames stats dump"),
    "gem": _manager(f"{_COMMON} contents environment query specification", "push yank owner signin"),
    "bundle": _manager(f"{_COMMON} platform"),
    "cargo": _manager(
        f"{_COMMON} check clippy tree metadata read-manifest locate-project pkgid fetch verify-project",
        "publish yank owner login",
    ),
    "composer": _manager(f"{_COMMON} validate diagnose licenses"),
    "rustup": _manager(f"{_COMMON} which toolchain-list", "self"),
    **dict.fromkeys(
        ("nvm", "fnm", "volta", "asdf", "mise", "pyenv", "rbenv", "sdk", "goenv", "n", "proto", "tfenv"),
        _manager(f"{_COMMON} current which whence local versions", "uninstall"),
    ),
    **dict.fromkeys(
        ("cpan", "cpanm", "luarocks", "opam", "cabal-install", "pod", "nuget", "vcpkg", "conan", "hex", "pub", "carthage", "spm"),
        _manager(_COMMON, "push publish"),
    ),
    "twine": _manager("check", "upload register"),
}
_FOREIGN: Final = re.compile(
    r"^(git\+|git:|https?://|ssh://|github:|gitlab:|bitbucket:|hg\+|svn\+|file:|git@)|\.(tgz|tar\.gz|whl|zip|deb|rpm"
    r"|pkg)$|^[\w.-]+ ?@ ?(git\+|https?:)"
    r"|^[A-Za-z][\w-]*/[\w.-]+(#.*)?$"
)
_INDEX: Final = re.compile(
    r"^(--(extra-)?index-url|-i|--find-links|-f|--registry|--trusted-host|--repository|--source|--index|--default-index"
    r"|--server|--add-source|--mirror)(=|$)"
)
_INSTALLS: Final = frozenset(
    "install i add in isntall ci get upgrade update sync reinstall tool require create init dlx x exec".split()
)
_BEYOND: Final = frozenset(
    ("--global", "--location=global", "--break-system-packages", "--root", "--prefix", "--unsafe-perm", "--allow-unauthenticated",
     "--system")
)


def manages(call: ProgramCall) -> None:
    manager = _MANAGERS[call.name if call.name in _MANAGERS else call.name.rstrip("0123456789.")]
    verb = _verb(call, manager)
    if (not verb and call.longs & {"--version", "--help"}) or call.args in (("-v",), ("-V",)):
        return
    if call.command.words[1:2] == (None,):
        call.note("medium", "a package command that is only known when it runs", call.command.text)
    if verb in manager.grave:
        call.note("high", "publishes, removes or changes the system's packages", call.command.text)
    elif call.operands[:2] in _GIVING:
        call.traits |= Trait.SECRET
        call.note("high", "reads or changes credentials", call.command.text)
    elif call.operands[:2] in _REMOVING_TOOLS or call.operands[:1] == ("uninstall-all",):
        call.note("high", "removes or replaces tools of the whole machine", call.command.text)
    elif call.name in _CONDAS and verb in ("env", "remove", "uninstall"):
        _environment(call, verb)
    elif call.name in ("pacman", "yay", "paru", "dpkg", "rpm"):
        _short_verbs(call)
    elif (verb in ("audit", "version") and len(call.operands) > 1) or verb == "global":
        call.note("high" if verb == "global" else "medium", "changes packages or their versions", call.command.text)
    elif verb == "fmt" and only_looks("cargo fmt", call.args):
        return
    elif call.name == "cargo" and call.has("", "--fix"):
        call.note("medium", "rewrites files of the project", call.command.text)
    elif verb in manager.quiet or (verb in ("run", "exec") and call.name in _RUNNERS):
        return
    elif (verb in _INSTALLS and (call.name, verb) not in _PLUGINS) or call.name in ("pip", "pip3", "pipx", "easy_install", "uvx"):
        _installs(call)
    else:
        _other_verb(call, verb)


_PLUGINS: Final = frozenset((("cargo", "exec"), ("cargo", "x")))
"""Verbs that elsewhere fetch a package, and here are those of a program of its own."""
_REMOVING_TOOLS: Final = frozenset((
    ("python", "uninstall"), ("tool", "uninstall"), ("toolchain", "uninstall"), ("toolchain", "remove"), ("toolchain", "link"),
    ("env", "remove"), ("env", "rm"), ("env", "prune")))
_GIVING: Final = frozenset((("auth", "token"), ("profile", "set"), ("profile", "enable-2fa"), ("profile", "disable-2fa")))
_CONDAS: Final = frozenset(("conda", "mamba", "micromamba"))


def _verb(call: ProgramCall, manager: Manager) -> str:
    """What a manager is to do: its first operand, unless that belongs to another manager or is the value of an option."""
    verb, *more = (*call.operands[:2], "", "")[:2]
    if (call.name, verb) in (("uv", "pip"), ("yarn", "npm")) and more[0]:
        return more[0]
    if call.name in _NODE_NAMES and verb in _AS_CONFIG:
        return "config"
    at = call.args.index(verb) if verb else 0
    is_value = at > 0 and call.args[at - 1][:1] == "-" and "=" not in call.args[at - 1]
    return more[0] if is_value and more[0] in manager.grave else verb


def _environment(call: ProgramCall, verb: str) -> None:
    """conda's environments: a whole one is removed as any folder is."""
    act = call.operands[1] if verb == "env" and len(call.operands) > 1 else verb
    if act in ("remove", "uninstall"):
        call.note("high" if verb == "env" or call.has("", "--all") else "medium", "removes packages or an environment",
                  call.command.text)
    elif act not in ("env", "list", "export", "config"):
        call.run(".")
        call.note("medium", "installs packages", call.command.text)


def _installs(call: ProgramCall) -> None:
    names = (*call.operands[1:], call.value("--from") or "")
    _fetched(call)
    if call.name == "pipx" and call.operands[:1] == ("run",) and any("://" in name for name in names):
        call.note("critical", "runs a script from the network", call.command.text)
    if (
        any(name in _BEYOND for name in call.longs)
        or "--location=global" in call.args
        or (call.name in _NODE_NAMES and call.has("g"))
    ):
        call.note("high", "installs for the whole machine", call.command.text)
    foreign = next((name for name in names if _is_foreign(call, name)), None)
    if foreign is not None:
        call.traits |= Trait.FETCHES
        call.note("high", "installs from an address, not from the registry", foreign)
    index = next((arg for arg in call.args if _INDEX.match(arg)), None)
    if index is not None and not (call.name in ("npm", "pnpm", "yarn") and index in ("-i", "-f")):
        call.note("high", "installs from another registry", call.command.text)
    call.run(".")
    call.at_least("medium", "installs packages", call.command.text)


_FETCHING: Final[dict[str, tuple[str, ...]]] = {"uvx": (), "pipx": ("run",), "uv": ("tool", "run")}
"""Programs that fetch a package and run it, with the words before its name."""
_FETCHING_VALUES: Final = frozenset("--from --with --with-editable -p --python --spec --index --index-url -w --pip-args".split())


def _fetched(call: ProgramCall) -> None:
    """``uvx x``, ``pipx run x``: what is run is what its name says, whoever fetches it."""
    before = _FETCHING.get(call.name)
    if before is None or call.operands[:len(before)] != before:
        return
    at = first_operand(call.command.words, 1 + len(before), _FETCHING_VALUES)
    for package in (*call.command.sketch[at:at + 1], call.value("--from", "--spec")):
        if package and "://" not in package:
            call.bring(shlex.join((re.split(r"[@=<>~\[]", package)[0], *call.command.sketch[at + 1:])))


def _is_foreign(call: ProgramCall, name: str) -> bool:
    """An address instead of a package's name. ``user/repo`` means GitHub to npm and a tap to brew, a folder to pip."""
    if not _FOREIGN.search(name) or name.startswith("@"):
        return False
    slashed = re.fullmatch(r"[A-Za-z][\w-]*/[\w.-]+(#.*)?", name) is not None
    return not slashed or call.name in ("npm", "pnpm", "yarn", "brew")


_AS_CONFIG: Final = frozenset(("c", "set", "get"))
"""Other words for ``config``, or for that and its verb."""
_TOKEN: Final = re.compile(r"_auth|_password|token|:username|http-basic", re.IGNORECASE)
_RISKY: Final = ("shell", "registry", "index", "hook", "node-options", "proxy", "userconfig", "prefix", "mirror", "yarnPath",
                 "plugin", "://", "ignore-scripts", "store-dir", "global-dir", "global-bin-dir", "cafile", "strict-ssl")
_SET_WITHOUT_VERB: Final = frozenset(("poetry", "composer", "bundle", "pdm", "hatch"))
"""Managers whose ``config NAME VALUE`` sets something."""


def _writes_scripts(call: ProgramCall) -> None:
    """``npm pkg set scripts.x='…'``: the scripts that are made here are lines which are run later."""
    words = call.operands
    if words[:2] == ("pkg", "set"):
        texts = [word.partition("=")[2] for word in words[2:] if word.startswith(("scripts.", "scripts["))]
    else:
        texts = list(words[2:3]) if words[:1] == ("set-script",) else []
    for text in texts:
        call.script(text)


def _other_verb(call: ProgramCall, verb: str) -> None:
    _writes_scripts(call)
    removes = verb in ("uninstall", "rm", "remove", "r", "un", "unlink")
    if removes and (call.has("g", *_BEYOND) or "--location=global" in call.args):
        call.note("high", "removes for the whole machine", call.command.text)
    if verb == "config" and any(map(_TOKEN.search, call.args)):
        call.traits |= Trait.SECRET
        call.note("high", "reads or changes credentials", call.command.text)
    if verb == "config" and (not {"set", "edit", "delete", "rm"}.isdisjoint(call.operands[:2]) or (
            call.name in _SET_WITHOUT_VERB and len(call.operands) > _NAME_AND_VALUE)):
        risky = any(word in arg for arg in call.args for word in _RISKY)
        call.note("high" if risky else "medium", "changes the package manager's settings", call.command.text)
    elif verb == "config":
        return
    else:
        _elsewhere(call)
        named = call.operands[:2 if verb not in _BY_ADDRESS else _ADDRESS_AMONG]
        foreign = next((name for name in named if _FOREIGN.search(name) and ":" in name), None)
        if foreign is None and verb == "pack" and call.operands[1:] and call.places.kind(call.operands[1]) == "inside":
            call.download(".")  # the package, under a name that has its version in it
        if foreign is not None:
            call.note("high", "runs a package that is not from the registry", foreign)
        if call.name == "cargo" and verb in call.args and verb not in _CARGO_OWN:  # a program of its own: ``cargo-x``
            call.bring(shlex.join(call.args[call.args.index(verb):]))
        if call.name in ("yarn", "pnpm", "bun") and verb in call.args and verb not in _OWN_VERBS:  # a program of a package
            call.bring(shlex.join(call.args[call.args.index(verb):]))
        if verb == "deploy" and call.name == "pnpm":
            call.write(call.operands[-1])
        call.run(".")
        call.note("medium", "runs scripts of the project or its packages", call.command.text)


_NAME_AND_VALUE: Final = 2
_BY_ADDRESS: Final = frozenset("plugin plugins set import policies pin repo remote source self".split())
_ADDRESS_AMONG: Final = 5
"""Verbs behind which an address may stand, and among how many words."""
_CARGO_OWN: Final = frozenset(
    "add bench build b c clean d doc fix fmt generate-lockfile help init install new package r remove rm run rustc rustdoc "
    "search t test uninstall update vendor version watch xtask make nextest miri".split())
"""Verbs of cargo, and those that only do what the project says."""
_OWN_VERBS: Final = frozenset("link unlink set import patch pack deploy start stop run test store server".split())


def _elsewhere(call: ProgramCall) -> None:
    """Options that make scripts run by another program, or those of another project."""
    options = ("--script-shell", "--shell-emulator", "--node-options")
    runs = next((arg for arg in call.args if arg.partition("=")[0].replace("--config.", "--") in options), None)
    if runs is not None:
        call.note("high", "changes what runs the scripts", call.command.text)
    folder = call.value("--prefix", "-C", "--dir", "--cwd", "--manifest-path")
    if folder:
        call.build(folder)


def _short_verbs(call: ProgramCall) -> None:
    """pacman -Q, dpkg -l, rpm -qa look; -R, -r, -e remove."""
    if only_looks(call.name, call.args):
        return
    removes = call.has(_REMOVING.get(call.name, "R"), "--remove", "--purge", "--erase")
    from_address = any(["://" in word for word in call.operands])
    call.note("high" if removes or from_address else "medium", "changes the system's packages", call.command.text)


_REMOVING: Final = {"dpkg": "rP", "rpm": "e"}
"""Letters by which a manager removes."""


def _adds_source(call: ProgramCall) -> None:
    call.note("high", "adds a source of packages or trusts its key", call.command.text)


_GO_TOOLS: Final = frozenset(
    "addr2line asm buildid cgo compile covdata cover dist distpack doc fix link nm objdump pack pprof preprofile test2json trace "
    "vet".split())
"""Those that come with go; others are programs that the project names."""


def _go(call: ProgramCall) -> None:
    verb = call.operands[0] if call.operands else ""
    fetched = next((name for name in call.operands[1:2] if re.search(r"^[^./][^@]*@", name)), None)
    if fetched is not None and verb in ("run", "install"):
        reason = "fetches a program and runs it" if verb == "run" else "fetches a program and installs it"
        call.note("high" if verb == "run" else "medium", reason, fetched)
        return
    if any(arg.startswith(("-exec", "-toolexec", "--exec", "--toolexec", "-vettool")) for arg in call.args):
        call.note("high", "runs a program", call.command.text)
    if verb == "tool" and len(call.operands) > 1 and call.operands[1] not in _GO_TOOLS:
        at = call.args.index(call.operands[1])
        call.bring(shlex.join((call.operands[1].rpartition("/")[2].partition("@")[0], *call.args[at + 1:])))
    if verb in ("run", "generate", "install", "get", "mod", "work", "tool", "clean", "fix"):
        call.run(".")
        quiet = call.operands[:2] in (("mod", "graph"), ("mod", "why"), ("mod", "verify"))
        if not quiet:
            call.note("medium", "runs or changes the project's code", call.command.text)
    elif verb == "env" and call.has("wu"):
        call.note("high", "changes what other programs load or run", call.command.text)
    elif verb == "fmt":
        call.note("medium", "rewrites files of the project", call.command.text)


_RUNNERS: Final = frozenset(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "bundle", "conda", "mise", "asdf", "rustup"))
"""With ``run`` or ``exec`` they are only as dangerous as what they run."""
_NODE_NAMES: Final = frozenset(("npm", "pnpm", "yarn", "bun", "cnpm"))

JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(_MANAGERS, manages),
    "go": _go,
    **dict.fromkeys(
        ("add-apt-repository", "apt-key", "apt-add-repository", "update-alternatives", "yum-config-manager"), _adds_source
    ),
}
