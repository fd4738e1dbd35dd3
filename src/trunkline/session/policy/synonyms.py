"""One command in other words: ``npm i x`` is ``npm install x``, ``rm -r -f x`` is ``rm -rf x``, ``docker-compose down`` is
``docker compose down``. A rule that asks or denies means all of them, whichever its author wrote.

Rule 1: pure, and it only ever restricts: no allow rule is read by this.
Rule 2: what is known of programs is data. A word that is not in a table stands for itself.
Rule 3: of the options of a pattern each has to be there, wherever it stands and however it is bundled or spelled; its other words
have to come first and in their order.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from trunkline.dialects import late_re as re
from trunkline.dialects.file_modes import bits_set
from trunkline.dialects.glob_tokens import remembered
from trunkline.session.policy import globs

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

Words = tuple[str, ...]

MOST: Final = 400
"""Other spellings of one command that are looked at; what has more may be any command."""
_AMONG: Final = 5
"""Words in which a sub-command, or a script, is looked for."""
_BUNDLE: Final = 5
"""Letters of one short option of a pattern; a longer one is a word, as ``-delete`` of find."""
_CUT_SHORT: Final = 5

_NAMES: Final[dict[str, tuple[Words, ...]]] = {
    "nodejs": (("node",),), "gmake": (("make",),), "bmake": (("make",),), "gsed": (("sed",),), "py.test": (("pytest",),),
    "apt": (("apt-get",),), "apt-get": (("apt",),), "autossh": (("ssh",),), "terragrunt": (("terraform",),),
    "docker-compose": (("docker", "compose"),), "podman-compose": (("podman", "compose"), ("docker", "compose")),
    "kubecolor": (("kubectl",),), "microk8s.kubectl": (("kubectl",),), "oc": (("kubectl",),),
    "mamba": (("conda",),), "micromamba": (("conda",),), "mariadb": (("mysql",),),
    **dict.fromkeys(("mysqlsh", "mycli", "mariadb-client", "mysql8"), (("mysql",),)),
    "pgcli": (("psql",),), "litecli": (("sqlite3",),),
    **dict.fromkeys(("valkey-cli", "keydb-cli", "iredis"), (("redis-cli",),)), "helm3": (("helm",),),
    **dict.fromkeys(("aptitude", "nala", "apt-fast"), (("apt",), ("apt-get",))), **dict.fromkeys(("dcfldd", "dc3dd"), (("dd",),)),
    **dict.fromkeys(("plink", "dbclient"), (("ssh",),)), **dict.fromkeys(("remake", "colormake"), (("make",),)),
    **dict.fromkeys(("pkill", "killall", "skill", "xkill", "taskkill", "kill-port"), (("kill",),)),
    **dict.fromkeys(("exa", "eza", "lsd", "dir", "vdir"), (("ls",),)), "dnf": (("yum",),), "yum": (("dnf",),),
    "podman": (("docker",),), "nerdctl": (("docker",),), "mvnw": (("mvn",),), "gradlew": (("gradle",),),
}
"""Programs that take the same words for the same things, and what else they are called."""
_BECOMES: Final = frozenset(
    "sudo su doas pkexec runuser run0 sudoedit gosu setpriv runas sg su-exec sudo-rs su-rs gsudo dzdo calife ksu sux super "
    "please kdesu kdesudo gksu gksudo beesu pfexec newgrp machinectl capsh chroot systemd-run start-stop-daemon unshare".split())
"""Programs by which others run with other rights: a rule about one of sudo and su is about them all."""
_VERSIONED: Final = re.compile(r"(python|pip)(?:[23](?:\.\d{1,2})?)?")
_INSTALL: Final = "install i in ins inst insta instal isnt isnta isntal isntall add"
_VERBS: Final[dict[str, tuple[str, ...]]] = {
    "npm": (_INSTALL, "ci clean-install ic install-clean isntall-clean", "uninstall rm r un remove unlink",
            "run run-script rum urn", "test t tst", "exec x", "update up upgrade udpate", "config c", "install-test it",
            "publish pub"),
    "pnpm": ("install i", "remove rm uninstall un", "update up upgrade", "run run-script", "test t tst"),
    "bun": ("install i", "add a", "remove rm", "x dlx"),
    "yarn": ("remove rm", "upgrade up"),
    "cargo": ("build b", "check c", "test t", "run r", "doc d", "remove rm"),
    "helm": ("uninstall delete del un", "list ls", "upgrade update"),
    "brew": ("uninstall rm remove", "install instal", "upgrade up"),
    "docker": ("rm remove",), "podman": ("rm remove",),
    "conda": ("remove uninstall", "install create"),
    "gem": ("uninstall remove",), "git": ("add stage", "blame annotate"),
}
"""By program: sub-commands that are the same."""
_GROUPS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "image": {"rm": ("rmi",), "remove": ("rmi",), "ls": ("images",), "list": ("images",)},
    "container": {"ls": ("ps",), "list": ("ps",), "remove": ("rm",)},
    "buildx": {"build": ("build",)}, "builder": {"build": ("build",)},
}
"""``docker image rm`` is ``docker rmi``; what is not listed is called the same without its group."""
_GROUPED: Final[dict[str, str]] = {
    **dict.fromkeys("push pull build save load tag import".split(), "image"),
    **dict.fromkeys("run exec rm stop start kill restart cp create commit logs attach".split(), "container"),
}
_CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl"))
_RUN_SCRIPTS: Final = frozenset(("yarn", "pnpm", "bun"))
"""With them ``run`` may be left out."""
_SCRIPTED: Final = ("npm", "yarn", "pnpm", "bun")
"""They run the same scripts of a project."""
_OWN_VERBS: Final = frozenset(
    "install i add remove rm uninstall un update up upgrade ci exec x dlx create init publish pack link unlink "
    "login logout whoami config cache store audit outdated ls list why info view version test t tst start stop "
    "restart workspace workspaces global self-update set plugin npm node env rebuild prune dedupe import fetch "
    "patch licenses bin root help".split())
"""Sub-commands of these; another word is a script."""
_NPM_SCRIPTS: Final = frozenset("start stop restart test".split())
_RUN_ALL: Final = frozenset("npm-run-all npm-run-all2 run-s run-p concurrently".split())
_TARGETS: Final = frozenset("make gmake bmake just rake task ninja mage invoke gradle gradlew mvn mvnw".split())
"""Their words are things to do, one after the other."""
_TARGET_VALUES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("make", "gmake", "bmake"), frozenset("-c -f --directory --file --makefile".split())),
    **dict.fromkeys(("gradle", "gradlew"), frozenset("-p -b --project-dir --build-file".split())),
    **dict.fromkeys(("mvn", "mvnw"), frozenset(("-f", "--file"))),
    "ninja": frozenset(("-c", "-f")), "just": frozenset("-d -f --justfile --working-directory".split()),
    "rake": frozenset(("-f", "--rakefile")), "task": frozenset(("-d", "--dir")),
}
"""Their options behind which stands no target, in small letters; none that has no value in capitals or in small letters
(``make -O``, ``mvn -o``), for what follows that one is done."""
_NO_VALUES: Final[frozenset[str]] = frozenset()
_VERBS_DEEP: Final[dict[str, int]] = {
    **dict.fromkeys("git npm pnpm yarn cargo kubectl helm terraform systemctl pip uv poetry brew apt apt-get go".split(), 1),
    **dict.fromkeys("docker podman gh glab aws az gcloud".split(), 2),
}
"""So many first words say what is done; an option between them may have the next word as its value."""
_INTERPRETERS: Final[dict[str, tuple[str, ...]]] = {
    "py": ("python", "python3"), "sh": ("bash", "sh"), "bash": ("bash", "sh"), "js": ("node",),
    "mjs": ("node",), "cjs": ("node",), "rb": ("ruby",), "pl": ("perl",), "php": ("php",),
}
_SCRIPT: Final = re.compile(r"/|[^.]\.[a-z]{1,4}$")
_STARTS: Final = frozenset((*(name for names in _INTERPRETERS.values() for name in names), "zsh", "dash", "source", "."))
_OPTIONS: Final[dict[str, dict[str, str]]] = {
    "rm": {"r": "--recursive", "f": "--force", "i": "--interactive"},
    **{name: {"r": "--recursive"} for name in ("chmod", "chown", "chgrp", "cp")},
    "git push": {"f": "--force", "d": "--delete", "u": "--set-upstream", "n": "--dry-run"},
    "git commit": {"n": "--no-verify", "a": "--all"}, "git clean": {"f": "--force"},
    "git checkout": {"f": "--force"}, "git switch": {"f": "--force"},
    "sed": {"i": "--in-place", "n": "--quiet"},
    "docker compose": {"v": "--volumes"}, "docker rm": {"f": "--force", "v": "--volumes"}, "docker rmi": {"f": "--force"},
    **{name: {"g": "--global"} for name in ("npm", "pnpm")},
    "node": {"e": "--eval", "p": "--print"},
    "curl": {"x": "--request", "d": "--data", "f": "--form", "t": "--upload-file", "k": "--insecure"},
    "pip": {"r": "--requirement", "e": "--editable"},
    "rsync": {"e": "--rsh"}, "tar": {"x": "--extract", "c": "--create"},
}
"""By program, or program and sub-command: short options, in small letters, and what they are called in full."""


class Shape(NamedTuple):
    """What a pattern asks for: a program, words that come first, options anywhere, and whether more may follow."""

    program: str
    words: Words
    options: Words
    is_open: bool


class Standing(NamedTuple):
    """Where a script may lie that a command names: the root, the folders that the line goes to, the home."""

    root: str
    bases: Words
    home: str | None = None


def synonyms(texts: Iterable[str], standing: Standing) -> list[str]:
    """A command, given as it may be written, in other words; in small letters, as rules that restrict are read."""
    found: dict[str, None] = {}
    for text in texts:
        words = tuple(globs.folded(text).split())
        named = [words, *_scripts(words, standing)] if words else []
        for one in named:
            for other in (one, *_renamed(one)):
                found.update(dict.fromkeys(" ".join(each) for each in (other, *_said(other), *_by_others(other))))
    return list(islice(found, MOST + 1))


def _by_others(words: Words) -> Iterator[Words]:
    """The same act by another manager of the same packages: ``yarn remove x`` for ``npm uninstall x``."""
    name, *behind = words
    is_global = name == "yarn" and behind[:1] == ["global"]
    if name == "yarn" and behind[:1] == ["workspace"]:
        behind = behind[2:]
    elif is_global or (name, *behind[:1]) in (("uv", "pip"), ("yarn", "npm")):
        behind = behind[1:]
    if name == "yarn" and all(word[:1] == "-" for word in behind):
        behind = ["install", *behind]
    elif name in _RUN_PACKAGES:
        behind = ["exec", *behind]
    if not behind:
        return
    rest = (*behind[1:], "-g", "--global") if is_global else tuple(behind[1:])
    for acts in _ACTS if name in _MANAGES else ():
        if behind[0] in acts.get(name, ()):
            yield from ((other, *verb.split("+"), *rest) for other, verbs in acts.items() for verb in verbs)


_RUN_PACKAGES: Final = frozenset(("npx", "bunx", "pnpx"))


def _acts(*rows: dict[str, str]) -> tuple[dict[str, Words], ...]:
    return tuple({name: tuple(verbs.split()) for name, verbs in row.items()} for row in rows)


_ACTS: Final = _acts(
    {"npm": "uninstall rm r un remove", "yarn": "remove rm global+remove", "pnpm": "remove rm uninstall un", "bun": "remove rm"},
    {"npm": "install i add", "yarn": "add install", "pnpm": "add install i", "bun": "add install i a"},
    {"npm": "update up upgrade", "yarn": "upgrade up", "pnpm": "update up upgrade", "bun": "update"},
    {"npm": "exec x", "yarn": "dlx", "pnpm": "dlx", "bun": "x", "npx": "exec", "bunx": "exec", "pnpx": "exec"},
    {"npm": "link", "yarn": "link", "pnpm": "link", "bun": "link"},
    {"npm": "unlink", "yarn": "unlink", "pnpm": "unlink", "bun": "unlink"},
    {"npm": "login adduser", "yarn": "login npm+login", "pnpm": "login"},
    {"npm": "version", "yarn": "version", "pnpm": "version"},
    {"pip": "install", "pip3": "install", "uv": "add pip+install install", "poetry": "add", "pdm": "add",
     "pipenv": "install", "rye": "add", "conda": "install", "mamba": "install", "pixi": "add"},
    {"pip": "uninstall", "pip3": "uninstall", "uv": "remove pip+uninstall uninstall", "poetry": "remove", "pdm": "remove",
     "pipenv": "uninstall", "rye": "remove", "conda": "remove uninstall", "mamba": "remove uninstall", "pixi": "remove"},
)
"""One act by each manager of the same packages, in each of its words; ``+`` is a blank."""
_MANAGES: Final = frozenset(name for acts in _ACTS for name in acts)


def _renamed(words: Words) -> Iterator[Words]:
    """The same program under another name."""
    for name in _NAMES.get(words[0], ()):
        yield (*name, *words[1:])
    if words[0] in _BECOMES:
        yield from _becoming(words)
    elif words[0] in _WITH_MODES:
        yield from _with_mode(words)
    if (found := _VERSIONED.fullmatch(words[0])) is not None:
        yield from ((name, *words[1:]) for name in (found[1], f"{found[1]}3") if name != words[0])
        if words[1:2] == ("-m",) and len(words) > 2:
            yield words[2:]
    if words[0] == "terragrunt" and words[1:2] in (("run-all",), ("run",), ("stack",)):
        yield ("terraform", *(word for word in words[2:] if word not in ("run", "--") and word[:2] != "--"))
    if words[:2] == ("cmake", "-e") and words[2:3] in (("remove_directory",), ("remove",)):
        yield ("rm", "-rf" if words[2] == "remove_directory" else "-f", *words[3:])
    if words[:2] == ("docker", "compose"):
        yield ("docker-compose", *words[2:])
    elif words[1:2] == ("compose",) and words[0] in _CONTAINERS:
        yield ("docker", *words[1:])
    yield from _services(words)
    if words[0] in _STOPS or (words[:1] in (("systemctl",), ("loginctl",)) and not _STOPS.isdisjoint(words[1:_AMONG])) or (
            words[0] in ("init", "telinit") and words[1:2] in (("0",), ("6",))):
        yield ("shutdown", "now")
    if words[0] == "gcloud" and words[1:2] in (("alpha",), ("beta",)):
        yield ("gcloud", *words[2:])
    if words[0] == "fuser" and any(word[:1] == "-" and "k" in word for word in words[1:]):
        yield ("kill", *words[1:])
    if words[0] == "flask" and words[1:3] in (("db", "downgrade"), ("db", "upgrade")):
        yield ("alembic", *words[2:])
    if words[0] in ("npm", "pnpm") and _is_global(words):
        yield (*words, "-g", "--global")
    if words[:2] == ("minikube", "kubectl") and "--" in words:
        yield ("kubectl", *words[words.index("--") + 1:])


def _services(words: Words) -> Iterator[Words]:
    """``service x stop``, ``rc-service x stop`` and ``/etc/init.d/x stop`` as ``systemctl stop x``."""
    if words[0] in _SERVICE and len(words) > 2:
        yield ("systemctl", words[2], words[1], *words[3:])
    elif "/init.d/" in words[0] and len(words) > 1:
        yield ("systemctl", words[1], posixpath.basename(words[0]), *words[2:])
    elif words[0] in ("busctl", "gdbus", "dbus-send") and "systemd1" in " ".join(words):
        parts = [part for word in words[1:] for part in word.split(".")]
        verb = next((part.removesuffix("unit") for part in parts if part in _UNIT_CALLS), "")
        yield from [("systemctl", verb, "x")] if verb else ()


def _is_global(words: Words) -> bool:
    return "--location=global" in words or ("--location", "global") in pairwise(words)


_STOPS: Final = frozenset("poweroff reboot halt kexec shutdown".split())
"""Programs, and words for others, by which the machine is stopped."""
_SERVICE: Final = frozenset("service rc-service invoke-rc.d".split())
_UNIT_CALLS: Final = frozenset("startunit stopunit restartunit reloadunit killunit".split())


def _becoming(words: Words) -> Iterator[Words]:
    """The same with the words of ``sudo`` and ``su``: what is run stands behind them, or behind ``-c``, or is a shell."""
    line = next((words[at + 1:] for at in range(1, len(words)) if words[at] in ("-c", "--command")), ())
    for name in ("sudo", "su"):
        if name != words[0]:
            yield from ((name, *words[1:]), (name, *words), (name, *line))


_WITH_MODES: Final[dict[str, tuple[str, ...]]] = {"chmod": (), "install": ("-m", "--mode"), "mkdir": ("-m", "--mode")}
"""Programs that give files their permissions, and the option that says which; none: a word does."""


def _with_mode(words: Words) -> Iterator[Words]:
    """``chmod 0777 x`` and ``install -m a+rwx y x`` as ``chmod 777 x``."""
    options = _WITH_MODES[words[0]]
    for at, word in enumerate(words[1:_AMONG * 2], 1):
        option, equal, value = word.partition("=")
        if not options:
            mode, rest = word, (*words[1:at], *words[at + 1:])
        elif option in options:
            mode, rest = (value, words[at + 1:]) if equal else (" ".join(words[at + 1:at + 2]), words[at + 2:])
        elif word[:2] in options:
            mode, rest = word[2:], words[at + 1:]
        else:
            continue
        if (bits := bits_set(mode)):
            first = tuple(each for each in rest if each[:1] == "-")
            yield ("chmod", *first, f"{bits:03o}", *(each for each in rest if each[:1] != "-"))
            yield ("chmod", f"{bits:03o}", *rest)


def _said(words: Words) -> Iterator[Words]:
    """The same sub-command in another word."""
    name = words[0]
    if name in _TARGETS:
        valued = _TARGET_VALUES.get(name, _NO_VALUES)
        yield from ((name, word) for word, before in zip(words[1:], words, strict=False)
                    if word[:1] != "-" and "=" not in word and before not in valued)
    if words[:2] == ("node", "--run") or (words[0] in _RUN_ALL and len(words) > 1):
        yield from (("npm", "run", word) for word in words[1:] if word[:1] != "-")
    if len(words) < 2 or words[1][:1] == "-":
        return  # options before the sub-command are left out by whoever knows them
    verb, rest = words[1], words[2:]
    for same in _VERBS.get(name, ()):
        if verb in (members := same.split()):
            yield from ((name, member, *rest) for member in members if member != verb)
    if name in _CONTAINERS:
        yield from _grouped(name, verb, rest)
        if verb == "compose" and rest[:1] in (("rm",), ("kill",)):
            yield (name, *rest)
    if name in _SCRIPTED and verb not in _OWN_VERBS:
        script = rest if verb in ("run", "run-script") else words[1:]
        yield from ((one, "run", *script) for one in _SCRIPTED if one != name and script)
    if name in _RUN_SCRIPTS:
        yield (name, *rest) if verb == "run" else (name, "run", verb, *rest)
    if name == "npm" and (verb in _NPM_SCRIPTS or (verb == "run" and not _NPM_SCRIPTS.isdisjoint(rest[:1]))):
        yield (name, *rest) if verb == "run" else (name, "run", verb, *rest)
    if name == "npm" and verb in ("exec", "x"):
        yield ("npx", *rest)
    if name == "git" and verb == "push":
        yield (name, verb, *(word if word[:1] == "-" else _branch(word) for word in rest))
    if name == "git" and verb == "branch" and "--delete" in rest and "--force" in rest:
        yield (name, verb, "-d", *rest)
    if name == "gh" and verb == "api" and (merge := next(filter(_MERGE.search, rest), None)) is not None:
        yield (name, "pr", "merge", merge)
    if name == "terraform" and verb == "apply" and not {"-destroy", "--destroy"}.isdisjoint(rest):
        yield (name, "destroy", *rest)


_MERGE: Final = re.compile(r"pulls/[^/]{1,40}/merge")


def _branch(ref: str) -> str:
    """The branch that a push goes to: ``main`` for ``HEAD:main`` and ``refs/heads/main``."""
    return ref if "://" in ref or "@" in ref else ref.rpartition(":")[2].removeprefix("refs/heads/") or ref


def perhaps(command: SimpleCommand) -> Iterator[str]:
    """What a command may mean that leaves it to a setting: a push that names no branch may be one of the main one. And what other
    programs push or publish in their own words."""
    words = command.sketch if command.name == "git" else ()
    at = next((at for at in range(1, len(words)) if words[at][:1] != "-" and words[at - 1] not in ("-C", "-c")), 0)
    named = [word for word in words[at + 1:] if word[:1] != "-"]
    if at and words[at] == "push" and len(named) < 2:
        yield from (f"git push {remote} {branch}" for remote in named or ("origin",) for branch in ("main", "master"))
    if command.name != "git":
        yield from _sent_by(command)


def _sent_by(command: SimpleCommand) -> Iterator[str]:
    """The push, or the publishing, that another program's words stand for."""
    words = tuple(word.lower() for word in command.sketch)
    yield from _sent(words)
    if command.name in _RUN_SCRIPTS:  # ``yarn lerna publish``
        yield from _sent(words[2:] if words[1:2] in (("run",), ("exec",), ("dlx",)) else words[1:])


def _sent(words: Words) -> Iterator[str]:
    name = posixpath.basename(words[0]).partition("@")[0] if words else ""
    verbs = [word for word in words[1:] if word[:1] != "-"][:_AMONG]
    if not _NO_PUSH.isdisjoint(words):
        return
    for table, sent in ((_PUSHES, _PUSH), (_PUBLISHES, _PUBLISH), (_UPLOADS, _UPLOAD), (_WHEELS, ("twine upload",)),
                        (_CRATES, ("cargo publish",)), (_GEMS, ("gem push",))):
        said = _NOTHING_SAID if table is _PUBLISHES and _PUBLISHER.fullmatch(name) else table.get(name)
        if said is not None and (not said or any(word in said for word in verbs)):
            yield from sent
    if name in _CONTAINERS or name in _BUILDERS:
        if verbs[:2] == ["trust", "sign"] or verbs[:3] == ["buildx", "imagetools", "create"] or any(
                word.startswith(_PUSHING) or _IS_PUSHED.search(word) is not None for word in words[2:]):
            yield from _UPLOAD
    if name in ("kubectl", "oc") and not _REPLACING.get(verbs[0] if verbs else "", frozenset()).isdisjoint(words):
        yield "kubectl delete"
    if name == "aws" and _removes_objects(verbs, words):
        yield "aws s3 rm s3://x"


def _removes_objects(verbs: list[str], words: Words) -> bool:
    if verbs[:1] == ["s3api"]:
        return any(word.startswith("delete-object") for word in verbs)
    return verbs[:1] == ["s3"] and (verbs[1:2] == ["mv"] or (verbs[1:2] == ["sync"] and "--delete" in words))


_WHEELS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys("uv poetry flit hatch pdm rye maturin twine setup.py".split(), frozenset(("publish", "upload"))),
    **dict.fromkeys(("python", "python3"), frozenset(("upload",))),
}
_CRATES: Final[dict[str, frozenset[str]]] = {
    "cargo": frozenset("workspaces release smart-release hack publish".split()),
    **dict.fromkeys(("cargo-release", "release-plz"), frozenset()),
}
_GEMS: Final[dict[str, frozenset[str]]] = {**dict.fromkeys(("rake", "bundle"), frozenset(("release",)))}
_PUSH: Final = ("git push", "git push origin main", "git push origin master")
_PUBLISH: Final = ("npm publish",)
_UPLOAD: Final = ("docker push",)
_PUBLISHER: Final = re.compile(r"(?:[\w@/-]{0,60}-)?(?:npm-)?publish(?:-[\w-]{1,40})?|[\w-]{1,40}-semantic-release")
"""The name of a program that does nothing but publish."""
_NOTHING_SAID: Final = frozenset[str]()
_PUSHING: Final = ("--push", "--publish")
_IS_PUSHED: Final = re.compile(r"type=registry|(?:^|[,=])push=true")
_BUILDERS: Final = frozenset("buildctl pack depot earthly dagger".split())
_REPLACING: Final[dict[str, frozenset[str]]] = {"replace": frozenset(("--force",)), "apply": frozenset(("--prune",))}
"""Sub-commands of kubectl, and options by which they delete first, or then."""
"""How a build is told to push what it makes."""
_NO_PUSH: Final = frozenset("--no-push --dry-run --no-git --skip-push --help -h --version".split())


def _table(rows: dict[str, str]) -> dict[str, frozenset[str]]:
    """By program the words that do it; none: it does whatever its words are."""
    return {name: frozenset(said.split()) for names, said in rows.items() for name in names.split()}


_PUSHES: Final = _table({
    "gt graphite": "submit s ss stack downstack upstack", "hg sl bzr brz fossil darcs jj": "push sync pr git submit",
    "svn": "commit ci", "lerna": "publish version", "git-town": "sync ship propose", "spr": "diff update land",
    "arc": "diff land", "av": "pr sync stack", "ghstack release-it semantic-release np shipjs auto release-plz": "",
    "repo": "upload", "dvc": "exp", "etckeeper": "push", "nx": "release", "rush": "publish version", "beachball": "publish",
    "cargo": "release smart-release", "cargo-release cargo-smart-release": "", "goreleaser": "release publish",
    "mvn mvnw mvnd": "release:prepare release:perform release:branch scm:checkin", "gradle gradlew": "release",
    "mkdocs": "gh-deploy", "mike": "deploy", "gh-pages": "", "git-spice gs": "submit", "moz-phab": "submit",
    "bumpp release-please": "",
})
"""Programs by which commits leave as by ``git push``."""
_PUBLISHES: Final = _table({
    "lerna lerna-lite pkg-pr-new": "publish", "changeset @changesets/cli": "publish",
    "release-it semantic-release np shipjs auto": "",
    "nx": "release", "rush beachball": "publish", "yarn pnpm bun": "publish", "deno jsr": "publish",
})
"""Programs by which packages leave as by ``npm publish``."""
_UPLOADS: Final = _table({
    "docker podman nerdctl finch buildah img makisu ctr crictl docker-compose podman-compose": "push",
    "skopeo": "copy sync",
    "crane": "push copy cp append mutate",
    "oras": "push copy cp", "regctl": "push copy", "ko": "build publish apply resolve create", "helm": "push", "jib": "build",
    "mvn mvnw mvnd": "jib:build", "gradle gradlew": "jib", "apko": "publish", "werf": "build publish converge bundle",
    "kaniko executor": "",
})
"""Programs by which images leave as by ``docker push``."""


def _grouped(name: str, verb: str, rest: Words) -> Iterator[Words]:
    """``docker image push`` for ``docker push``, and the other way round."""
    if verb in _GROUPS and rest:
        yield from ((name, same, *rest[1:]) for same in _GROUPS[verb].get(rest[0], (rest[0],)))
    elif verb == "rmi":
        yield (name, "image", "rm", *rest)
    elif verb in _GROUPED:
        yield (name, _GROUPED[verb], verb, *rest)


def _scripts(words: Words, standing: Standing) -> Iterator[Words]:
    """A script that is started by itself or by its interpreter, and by whatever path."""
    if words[0] in _STARTS or _VERSIONED.sub(r"\1", words[0]) in _STARTS:
        places = [at for at in range(1, min(len(words), _AMONG)) if words[at][:1] != "-" and _SCRIPT.search(words[at])]
    else:
        places = [0] if _SCRIPT.search(words[0]) else []
    for at in places:
        ending, rest = words[at].rpartition(".")[2], words[at + 1:]
        starters: list[Words] = [*((name,) for name in _INTERPRETERS.get(ending, ())), ()]
        for path in _paths(words[at], standing):
            yield from ((*starter, path, *rest) for starter in starters)


def _paths(path: str, standing: Standing) -> Iterator[str]:
    yield path.removeprefix("./")
    if path[:2] == "~/" and standing.home:
        path = standing.home + path[1:]
    for base in standing.bases:
        inside = globs.relative_to(posixpath.normpath(posixpath.join(base, path)), standing.root)
        if inside:
            yield from (inside, f"./{inside}")


def is_meant(pattern: str, text: str) -> bool:
    """Whether a pattern that asks or denies means a command, however that puts its options."""
    shape = _shape(globs.folded(pattern))
    words = globs.folded(text).split()
    if shape is not None and shape.program in _TARGETS:
        valued = _TARGET_VALUES.get(shape.program, _NO_VALUES)
        words = [word for word, before in zip(words, ("", *words), strict=False) if before not in valued]
    if shape is None or not words or words[0] != shape.program:
        return False
    end = words.index("--") if "--" in words else len(words)
    options = [word for word in words[1:end] if word[:1] == "-" and len(word) > 1]
    operands = [word for word in words[1:end] if word[:1] != "-" or word == "-"] + words[end + 1:]
    if len(operands) < len(shape.words) or not all(
            globs.text_matches(wanted, given) for wanted, given in zip(shape.words, operands, strict=False)):
        return False
    if not shape.is_open and (len(operands) > len(shape.words) or len(options) > len(shape.options)):
        return False
    deep = min(_VERBS_DEEP.get(shape.program, 0), len(shape.words))
    if any(word[:1] == "-" for word in words[1:deep + 1]):
        return False
    same = {**_OPTIONS.get(shape.program, {}), **_OPTIONS.get(" ".join((shape.program, *operands[:1])), {})}
    if operands[:1] == ["push"] and shape.program == "git":
        options += ["--force" if word[0] == "+" else "--delete" for word in operands[1:] if word[0] in "+:"]
    return all(_is_given(wanted, options, same) for wanted in shape.options)


@remembered
def _shape(pattern: str) -> Shape | None:
    """What a pattern asks for; None where that is not made of words."""
    parts = pattern.split()
    is_open = pattern.endswith("*")
    if parts and parts[-1] == "*":
        parts.pop()
    if len(parts) < 2 or "\\" in pattern or any(sign in part for part in parts[:-1] for sign in "*?") or "?" in parts[-1]:
        return None
    options = [part for part in parts[1:] if part[:1] == "-" and len(part) > 1]
    if any("*" in option[:-1] for option in options):
        return None
    return Shape(parts[0], tuple(part for part in parts[1:] if part[:1] != "-"), tuple(options), is_open)


def _is_given(wanted: str, options: Sequence[str], same: dict[str, str]) -> bool:
    """Whether an option is there: alone, in a bundle, cut short, or by its other name."""
    bare = wanted.rstrip("*")
    given = [option.partition("=")[0] for option in options]
    if bare in given or (wanted != bare and any(option.startswith(bare) for option in given)):
        return True
    letters = {letter for option in options if option[1] != "-" for letter in option[1:]}
    if bare[:2] == "--":
        short = [letter for letter, full in same.items() if full == bare]
        return any(len(one) >= _CUT_SHORT and bare.startswith(one) for one in given) or not letters.isdisjoint(short)
    return len(bare) - 1 <= _BUNDLE and all(
        letter in letters or _is_full(same.get(letter, ""), given) for letter in bare[1:])


def _is_full(full: str, given: Sequence[str]) -> bool:
    """Whether a long option is among these, also cut short."""
    return any(one == full or (len(one) > 2 and one[:2] == "--" and full.startswith(one)) for one in given)
