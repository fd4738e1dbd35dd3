"""Containers: docker and its like. Rows for their sub-commands, code for what they are given of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.places import look
from trunkline.dialects.risk.row_matching import Row, note_row, row

_DELETES: Final = "deletes or publishes containers, images or volumes"
ROWS: Final = (
    row("rm rmi rmp prune reset kill down remove delete del login logout push publish scp swarm", "high", _DELETES,
        "docker rm x"),
    row("", "high", _DELETES, "docker buildx build --push .", given="--push"),
    row("build bake b", "high", _DELETES, "docker buildx build --output type=registry .",
        word=r"^(?:-o=?|--output=)?(?:[\w.-]{1,40}=[^,]{0,200},){0,8}(?:type=registry|push=true)(?:,|$)"),
    row("imagetools", "high", _DELETES, "docker buildx imagetools create -t x y", then="create"),
    row("up", "high", _DELETES, "docker compose up -V", given="-V --renew-anon-volumes"),
    row("runlabel", "high", "runs what an image says on the machine", "podman container runlabel run x"),
    row("ps images logs inspect info version stats top port events history diff search ls df config help context-ls du", "low",
        "looks", "docker ps"),
    row("", "medium", "runs or changes containers", "docker build ."),
)
_LOOKS: Final = "ls list ps inspect show logs tree services config help"
GROUP_ROWS: Final[dict[str, tuple[Row, ...]]] = {
    "context": (
        row(_LOOKS, "low", "looks", "docker context ls"),
        row("", "medium", "changes which machine docker works on", "docker context use default",
            word=r"^(default|colima.*|orbstack)$"),
        row("", "high", "changes which machine docker works on", "docker context use prod"),
    ),
    **dict.fromkeys(("service", "stack", "node"), (
        row(_LOOKS, "low", "looks", "docker service ls"),
        row("", "high", "changes what runs on a cluster", "docker service update x"),
    )),
    **dict.fromkeys(("plugin", "extension", "quadlet"), (
        row(_LOOKS, "low", "looks", "docker plugin ls"),
        row("", "high", "changes what runs on the machine beside containers", "docker plugin install x"),
    )),
    "trust": (
        row(_LOOKS, "low", "looks", "docker trust inspect x"),
        row("", "high", "changes which images are trusted", "docker trust sign x"),
    ),
}
"""Of what follows a group's name, where all rows of it are others."""


class Power(NamedTuple):
    """An option by which a container, or a build, gets power over the machine."""

    value: re.Pattern[str]
    """With such a value; where any does, also without one."""


def _power(value: str = "") -> Power:
    return Power(re.compile(value))


_HOST: Final = _power("^host$")
_A_PATH: Final = _power(r"[/~$]")
POWERS: Final[dict[str, Power]] = {
    **dict.fromkeys(("--pid", "--userns", "--ipc", "--uts", "--cgroupns"), _HOST),
    **dict.fromkeys(("--cap-add", "--device", "--device-cgroup-rule", "--volumes-from", "--rootfs", "--ssh"), _power()),
    "--privileged": _power("^(?!false$)"),
    "--security-opt": _power(r"unconfined|disable|no-new-privileges[=:]false"),
    "--allow": _power(r"insecure|\*|fs"),
    "--isolation": _power("^chroot$"),
    "--entitlements": _power("insecure"),
    **dict.fromkeys("--hooks-dir --runtime --init-path --conmon --network-cmd-path --cgroup-parent".split(), _A_PATH),
}
_SOCKET: Final = re.compile(r"docker\.sock|podman\.sock|containerd\.sock")
_MOUNT: Final = re.compile(
    r"^(?:type=bind,)?(?:source=|src=)?(/|/etc|/root|/home|/var|/usr|/boot|/dev|/proc|/sys|~|\$HOME)(?=[:,/]|$)[^:,]*[:,]"
)


_GROUPS: Final = frozenset(
    "compose container image volume network system builder buildx pod machine alpha artifact farm model sandbox mcp".split())
_GROUPS_OF: Final[dict[str, frozenset[str]]] = {
    "ctr": frozenset("images image i containers container c tasks task t content snapshots snapshot leases namespaces namespace "
                     "ns sandboxes sandbox".split()),
    "buildx": frozenset(("history",)),
}
"""Groups of one program, or within a group, which are verbs elsewhere."""
_GROUPS_OF_SWARMS: Final = frozenset("config secret stack service node plugin trust manifest".split())
"""Behind these words another one says what is done; the latter are no words of compose, which has a ``config`` of its own."""
_BEYOND: Final = frozenset(("home", "outside", "system", "startup", "hook", "agent", "device", "raw"))
_MOUNT_OPTIONS: Final = ("-v", "--volume", "--mount")
_DESTINATION: Final = re.compile(r"(?:^|,)dest=([^,]+)")
_BOUND: Final = re.compile(r"(?:^|,)(?:source|src)=([^,]+)")
_DEVICE: Final = re.compile(r"(?:^|[,=\"o])device=([^,\"]+)")
"""A volume that is a folder of the machine under another name: ``volume create -o device=/x``."""
_BUNDLED: Final = re.compile(r"-[dDiqPt]{1,5}v(?=.)")


_DOWN_DELETES: Final = ("--v", "--r")
"""``--volumes``, ``--rmi`` and ``--remove-orphans``, shortened or not."""
_SHORT_V: Final = re.compile(r"-\w*v")


def _mounted(call: ProgramCall) -> Iterator[str]:
    """The machine's folders that a container gets. A name without a slash is a volume."""
    for at, arg in enumerate(call.args):
        if "device=" in arg and (device := _DEVICE.search(arg)) is not None and device[1][:1] in _PATH_SIGNS:
            yield device[1]
        arg = _BUNDLED.sub("-v", arg) if arg[:1] == "-" and arg[1:2] != "-" else arg
        name, equal, joined = (arg[:2], arg[2:], arg[2:]) if arg[:2] == "-v" else arg.partition("=")
        if name not in _MOUNT_OPTIONS:
            continue
        value = joined.removeprefix("=") if equal else " ".join(call.args[at + 1:at + 2])
        bound = _BOUND.search(value)
        host = bound[1] if bound is not None else "" if name == "--mount" else value.partition(":")[0]
        if host[:1] in _PATH_SIGNS:
            yield host


_PATH_SIGNS: Final = ("/", "~", ".", "$", "`")
_HERE: Final = ("$(pwd)", "`pwd`", "$PWD", "${PWD}", "$(git rev-parse --show-toplevel)")


def _note_outputs(call: ProgramCall, verb: str) -> None:
    """Where a build, or what is saved of an image, is put outside."""
    if verb not in ("build", "bake", "save", "export", "checkpoint"):
        return
    options = ("-e", "--export") if verb == "checkpoint" else ("-o", "--output")
    named = [after for arg, after in zip(call.args, (*call.args[1:], ""), strict=True) if arg in options]
    for value in named + [arg.partition("=")[2] for arg in call.args if arg.startswith(("--output=", "-o=", "--export="))]:
        target = _DESTINATION.search(value)
        path = target[1] if target is not None else value if "=" not in value else ""
        if path[:1] in ("/", "~", ".", "$") and call.places.kind(path) in _BEYOND:
            call.write(path)


def _note_made_by(call: ProgramCall) -> None:
    """A file from outside that says which containers there are, or what is run: it may give them all of the machine."""
    verbs = [word for word, before in zip(call.args, ("", *call.args), strict=False)
             if word[:1] != "-" and before not in _TAKING][:_VERB_AMONG]
    is_made = (call.name.endswith("-compose") or "compose" in verbs[:1] or not _BY_FILE.isdisjoint(verbs)) and (
        _LOOKING.isdisjoint([word for word in verbs if word != "compose"][:1]))
    for at, arg in enumerate(call.args):
        option, equal, joined = arg.partition("=")
        if arg[:2] in ("-f", "-c") and len(arg) > 2 and not equal:
            option, equal, joined = arg[:2], "=", arg[2:]
        path = joined if equal else " ".join(call.args[at + 1:at + 2])
        if option == "--config" or (is_made and (option in _MADE_BY or (option == "-c" and "deploy" in verbs))):
            _note_file(call, path)
        elif "play" in verbs and arg[:1] in ("/", "~", "."):
            _note_file(call, arg)


def _note_file(call: ProgramCall, path: str) -> None:
    if "://" in path or "@" in path.partition(":")[0] or call.places.is_foreign(path):
        call.note("high", "makes containers by a file outside the session's folders", path)
    elif path == "-" or path[:1] in ("$", "`"):
        call.note("medium", "makes containers by a file that only the run knows", path, unsure=True)


_VERB_AMONG: Final = 4
_MADE_BY: Final = frozenset(("-f", "--file", "--project-directory", "--env-file", "--compose-file"))
_TAKING: Final = _MADE_BY | frozenset(
    "-p --project-name --profile --ansi --progress --parallel -H --host -c --context --config -l --log-level".split())
"""Options before the verb whose value is a word of its own."""
_BY_FILE: Final = frozenset(("bake", "deploy", "play", "kube"))
"""What else makes containers, or writes files of the machine, by what a file says."""
_LOOKING: Final = frozenset(("ps", "logs", "ls", "images", "top", "port", "version", "events", "stats"))


def _container(call: ProgramCall) -> None:
    if (power := next(_powers(call), None)) is not None:
        call.note("high", "gives a container power over the machine", power)
    mount = next(
        (arg for arg in call.args if _MOUNT.match(arg.removeprefix("--volume=").removeprefix("--mount=").removeprefix("-v"))),
        None,
    )
    if mount is not None:
        call.note("high", "gives a container the machine's files", mount)
    else:
        for host in _mounted(call):
            kind = "unknown" if host[:1] == "`" else call.places.kind(host)
            if kind in _BEYOND:
                call.note("high", "gives a container files outside the session's folders", host)
            elif kind == "unknown" and host not in _HERE:
                call.note("medium", "gives a container files that only the run knows", host, unsure=True)
    _note_made_by(call)
    group = next(iter(call.operands), "")
    groups = (_GROUPS if group == "compose" else _GROUPS | _GROUPS_OF_SWARMS) | _GROUPS_OF.get(
        "buildx" if group == "buildx" else call.name, frozenset())
    words = [word for word in call.operands if word not in groups]
    verb = words[0] if words else ""
    rows = GROUP_ROWS.get(group, ROWS)
    _note_outputs(call, verb)
    _note_read(call, verb, words[1:])
    if verb == "down" and not any(arg.startswith(_DOWN_DELETES) or _SHORT_V.match(arg) for arg in call.args):
        call.note("medium", "stops and removes containers that their file makes again", verb)
    elif verb:
        note_row(call, rows, verb, (*words[1:], *call.args), call.has)
        _note_elsewhere(call)
        if verb == "cp" and len(words) > 2 and ":" not in words[-1] and words[-1] != "-":
            call.write(words[-1])
            _note_brought(call, words[1:])


def _note_brought(call: ProgramCall, words: list[str]) -> None:
    """Note what is copied out of a container: somebody else made it, as with what is fetched."""
    *sources, target = words
    folder = target.rstrip("/")
    for name in [word.partition(":")[2].rstrip("/").rpartition("/")[2] for word in sources if ":" in word]:
        if folder not in ("", ".", ".."):
            call.download(folder)  # the file itself, or a folder that it is put into
        if name not in ("", "."):
            call.download(f"{folder}/{name}")


def _powers(call: ProgramCall) -> Iterator[str]:
    """The options that give power over the machine, with their values joined to them or apart."""
    for at, arg in enumerate(call.args):
        option, equal, joined = arg.partition("=")
        if (power := POWERS.get(option)) is not None:
            value = joined if equal or option == "--privileged" else " ".join(call.args[at + 1:at + 2])
            if power.value.search(value) is not None:
                yield arg
        elif _SOCKET.search(arg) is not None:
            yield arg


def _note_elsewhere(call: ProgramCall) -> None:
    """Note that a call works on another machine: what it changes there is nothing of this session's."""
    for at, arg in enumerate(call.args):
        if arg[:1] != "-" and arg not in ("compose", *call.args[at - 1:at]):
            break  # behind the sub-command these options are others
        option, equal, joined = arg.partition("=")
        if option in _OTHER_MACHINES:
            value = joined if equal else " ".join(call.args[at + 1:at + 2])
            if _THIS_MACHINE.match(value) is None:
                looks = {word for word in call.operands[:3] if word != value} & _LOOKING
                call.note("medium" if looks else "high", "works on another machine", value)
            break


_OTHER_MACHINES: Final = frozenset(("-H", "--host", "-c", "--context", "--connection", "--url"))
_THIS_MACHINE: Final = re.compile(r"unix:|npipe:|fd:|default$|colima|orbstack$|desktop-linux$|rootless$|$")
_READ_OPTIONS: Final = frozenset("--env-file --label-file --secret --build-context --from-file -i --input".split())
_READ_IN: Final = re.compile(r"(?:^|,)(?:src|source)=([^,]+)|^[\w.-]{1,80}=(?=[/~.$])([^,]+)")


def _note_read(call: ProgramCall, verb: str, words: list[str]) -> None:
    """Note what of the machine's files a container, an image or a build is given. What the project keeps in its own ``.env`` is
    meant for that; the user's own credentials are not."""
    found: list[str] = []
    if verb in ("build", "b", "bud") and words:
        found.append(words[-1])
        call.run(words[-1])
        if words[-1] == "-" or call.value("-f", "--file") == "-":
            call.traits |= Trait.EXECUTES
    elif verb == "cp":
        found += [word for word in words[:-1] if ":" not in word]
    elif verb in ("create", "import", "copy", "add"):
        found += [word for word in words if word[:1] in _PATH_SIGNS]
    for at, arg in enumerate(call.args):
        option, equal, joined = arg.partition("=")
        if option in _READ_OPTIONS:
            value = joined if equal else " ".join(call.args[at + 1:at + 2])
            within = _READ_IN.search(value)
            found.append((within[1] or within[2]) if within is not None else value)
    for path in found:
        if path and "://" not in path and path != "-":
            call.read(path, contents=look(call.places, path).secret == "own")
            if path[0] in "/~$" and call.places.holds_secrets(path):
                call.note("high", "gives a container a folder with credentials", path)


CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"))
"""What runs the words behind ``exec`` and ``run`` in a container (``shell/wrappers.py``)."""
JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = dict.fromkeys((*CONTAINERS, "buildah", "ctr", "crictl"), _container)
