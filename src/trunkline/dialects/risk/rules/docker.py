"""Containers: docker and its like. Rows for their sub-commands, code for what they are given of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.row_matching import note_row, row

ROWS: Final = (
    row("rm rmi prune reset kill down remove login logout push swarm", "high",
        "deletes or publishes containers, images or volumes",
        "docker rm x"),
    row("", "high", "deletes or publishes containers, images or volumes", "docker buildx build --push .", given="--push"),
    row("build bake b", "high", "deletes or publishes containers, images or volumes",
        "docker buildx build --output type=registry .",
        word=r"^(?:-o=?|--output=)?(?:[\w.-]{1,40}=[^,]{0,200},){0,8}(?:type=registry|push=true)(?:,|$)"),
    row("imagetools", "high", "deletes or publishes containers, images or volumes", "docker buildx imagetools create -t x y",
        then="create"),
    row("ps images logs inspect info version stats top port events history diff search ls df config help context-ls", "low",
        "looks", "docker ps"),
    row("", "medium", "runs or changes containers", "docker build ."),
)
_ESCAPES: Final = re.compile(
    r"^--privileged|^--pid=host|^--userns=host|^--ipc=host|^--cap-add|^--device|^--security-opt=?.*unconfined|^--volumes-from|docker\.sock"
)
_MOUNT: Final = re.compile(
    r"^(?:type=bind,)?(?:source=|src=)?(/|/etc|/root|/home|/var|/usr|/boot|/dev|/proc|/sys|~|\$HOME)(?=[:,/]|$)[^:,]*[:,]"
)


_GROUPS: Final = frozenset("compose container image volume network system builder buildx pod machine".split())
_GROUPS_OF_SWARMS: Final = frozenset("config secret stack service node plugin trust manifest".split())
"""Behind these words another one says what is done; the latter are no words of compose, which has a ``config`` of its own."""
_BEYOND: Final = frozenset(("home", "outside", "system", "startup", "hook", "agent", "device", "raw"))
_MOUNT_OPTIONS: Final = ("-v", "--volume", "--mount")
_DESTINATION: Final = re.compile(r"(?:^|,)dest=([^,]+)")
_BOUND: Final = re.compile(r"(?:^|,)(?:source|src)=([^,]+)")


_DOWN_DELETES: Final = ("--v", "--r")
"""``--volumes``, ``--rmi`` and ``--remove-orphans``, shortened or not."""
_SHORT_V: Final = re.compile(r"-\w*v")


def _mounted(call: ProgramCall) -> Iterator[str]:
    """The machine's folders that a container gets. A name without a slash is a volume."""
    for at, arg in enumerate(call.args):
        name, equal, joined = (arg[:2], arg[2:], arg[2:]) if arg[:2] == "-v" else arg.partition("=")
        if name not in _MOUNT_OPTIONS:
            continue
        value = joined if equal else " ".join(call.args[at + 1:at + 2])
        bound = _BOUND.search(value)
        host = bound[1] if bound is not None else "" if name == "--mount" else value.partition(":")[0]
        if host[:1] in ("/", "~", ".", "$"):
            yield host


def _note_outputs(call: ProgramCall, verb: str) -> None:
    """Where a build, or what is saved of an image, is put outside."""
    if verb not in ("build", "bake", "save", "export"):
        return
    named = [after for arg, after in zip(call.args, (*call.args[1:], ""), strict=True) if arg in ("-o", "--output")]
    for value in named + [arg.partition("=")[2] for arg in call.args if arg.startswith(("--output=", "-o="))]:
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
    escape = next((arg for at, arg in enumerate(call.args) if _ESCAPES.search(arg) or _escape_apart(call, at, arg)), None)
    mount = next(
        (arg for arg in call.args if _MOUNT.match(arg.removeprefix("--volume=").removeprefix("--mount=").removeprefix("-v"))),
        None,
    )
    if escape is not None:
        call.note("high", "gives a container power over the machine", escape)
    if mount is not None:
        call.note("high", "gives a container the machine's files", mount)
    elif (outside := next((host for host in _mounted(call) if call.places.kind(host) in _BEYOND), None)) is not None:
        call.note("high", "gives a container files outside the session's folders", outside)
    _note_made_by(call)
    groups = _GROUPS if "compose" in call.operands else _GROUPS | _GROUPS_OF_SWARMS
    words = [word for word in call.operands if word not in groups]
    verb = words[0] if words else ""
    _note_outputs(call, verb)
    if verb == "down" and not any(arg.startswith(_DOWN_DELETES) or _SHORT_V.match(arg) for arg in call.args):
        call.note("medium", "stops and removes containers that their file makes again", verb)
    elif verb:
        note_row(call, ROWS, verb, (*words[1:], *call.args), call.has)
        if verb == "cp" and ":" not in words[-1] and call.places.kind(words[-1]) not in ("inside", "temp"):
            call.write(words[-1])


def _escape_apart(call: ProgramCall, at: int, arg: str) -> bool:
    follows = call.args[at + 1] if at + 1 < len(call.args) else ""
    return (arg in ("--pid", "--userns", "--ipc", "--uts") and follows == "host") or (
        arg == "--security-opt" and "unconfined" in follows
    )


CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"))
"""What runs the words behind ``exec`` and ``run`` in a container (``shell/wrappers.py``)."""
JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = dict.fromkeys((*CONTAINERS, "buildah", "ctr", "crictl"), _container)
