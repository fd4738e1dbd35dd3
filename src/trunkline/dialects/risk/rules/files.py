"""Programs that change files: delete, move, copy, permissions, archives."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from trunkline.dialects.file_modes import bits_set
from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.inline.awk import AWKS, given_values
from trunkline.dialects.risk.inline.code import judge_awk, judge_sed
from trunkline.dialects.risk.rules.looking import only_looks
from trunkline.dialects.risk.rules.patches import note_patch
from trunkline.dialects.risk.stdin import given
from trunkline.dialects.shell import STDIN_NAMES

_WIDE_MODE: Final = re.compile(
    r"^[0-7]?[0-7]?[0-7]?[2367]$|^[2467][0-7]{3}$|[oa]\+[rwxX]*w|^\+[rxX]*w|[ugoa]*\+[rwxX]*s|=.*w.*,o|^a=rwx|o=rw"
)
_MODE_CHARS: Final = 200
_REMOTE: Final = re.compile(r"^([\w.-]+@)?[\w.-]+:(?!//)|^(rsync|scp|sftp|ssh)://")
_SCRIPT: Final = re.compile(r"-[nErsuz]*e(.*)", re.DOTALL)
_QUIET_PLACES: Final = ("inside", "temp", "null")


def _rm(call: ProgramCall) -> None:
    call.note("high", "deletes files", " ".join(call.operands))
    for path in call.operands:
        if call.places.kind(path) == "raw":
            call.remove(path)
        else:
            call.lose(path)


def _shred(call: ProgramCall) -> None:
    for path in call.operands:
        call.remove(path)
    call.at_least("high", "deletes files for good")


def _trash(call: ProgramCall) -> None:
    call.note("medium", "moves files to the trash", " ".join(call.operands))
    for path in call.operands:
        if call.places.kind(path) not in _QUIET_PLACES:
            call.write(path)


def _mv(call: ProgramCall) -> None:
    paths = _with_target(call)
    for path in paths[:-1]:
        if call.places.kind(path) not in _QUIET_PLACES:
            call.write(path)
    if paths:
        call.write(paths[-1])
    if paths and call.places.kind(paths[-1]) == "null":
        call.note("high", "destroys a file", " ".join(paths))
    call.at_least("medium", "moves files", call.command.text)


def _cp(call: ProgramCall) -> None:
    paths = _with_target(call)
    for path in paths[:-1]:
        call.read(path)
        if call.places.holds_secrets(path):
            call.traits |= Trait.SECRET
            call.note("high", "copies a folder that holds credentials", path)
    if paths:
        call.write(paths[-1])
    if "/dev/null" in paths[:-1]:
        call.note("high", "empties a file", paths[-1])
    if len(paths) > 1 and not call.bare and call.has("sl", "--symbolic-link", "--link"):
        _note_links(call, paths[:-1])


def _with_target(call: ProgramCall) -> list[str]:
    """Operands with the target last, also where ``-t`` gives it."""
    if call.bare:
        return list(call.operands)
    target = call.value("-t", "--target-directory") or call.bundled_value("t")
    return [path for path in call.operands if path != target] + [target] if target else list(call.operands)


def _ln(call: ProgramCall) -> None:
    for path in _with_target(call)[-1:]:
        call.write(path)
    for path in call.operands[:-1]:
        if call.places.secret(path):
            call.read(path)
        if path == "/dev/null" and call.has("f", "--force"):
            call.note("high", "puts nothing in the place of a file", call.operands[-1])
    if call.operands:
        _note_links(call, list(call.operands) if len(call.operands) == 1 else _with_target(call)[:-1])


def _note_links(call: ProgramCall, targets: Sequence[str]) -> None:
    """Note links that lead out: what is written or read through one later looks like a file of the project. A relative target of
    a symbolic link begins where that stands."""
    made = _with_target(call)[-1]
    folder = posixpath.dirname(made) if call.has("s", "--symbolic", "--symbolic-link") and len(targets) == 1 else ""
    for target in targets:
        place = target if target[:1] in ("/", "~", "$") or not folder else posixpath.join(folder, target)
        if call.places.kind(place) not in _QUIET_PLACES:
            call.note("high", "makes a link that leads out of the session's folders", target)


def _makes(call: ProgramCall) -> None:
    """mkdir and touch: harmless where the session works."""
    mode = call.value("-m", "--mode") if call.name == "mkdir" else None
    if mode and _is_wide(mode[:_MODE_CHARS]):
        call.note("high", "opens a folder to everybody", call.command.text)
    for path in call.operands:
        if call.places.kind(path) not in _QUIET_PLACES:
            call.write(path)


def _is_wide(mode: str) -> bool:
    """Whether a mode lets everybody write, or lends the rights of the owner."""
    return mode not in ("+x", "a+x") and (_WIDE_MODE.search(mode) is not None or bool((bits_set(mode) or 0) & 0o002))


def _chmod(call: ProgramCall) -> None:
    mode = next((arg for arg in call.args if not arg.startswith("--") and arg not in ("-R", "-v", "-f", "-c")), "")
    paths = [path for path in call.operands if path != mode]
    if call.has("R", "--recursive"):
        call.note("high", "changes permissions of a whole folder", call.command.text)
    elif _is_wide(mode[:_MODE_CHARS]):
        call.note("high", "opens a file to everybody", call.command.text)
    elif any(call.places.kind(path) not in _QUIET_PLACES for path in paths) or call.has("", "--reference"):
        call.note("high", "changes permissions outside the project", call.command.text)
    else:
        call.note("medium", "changes permissions", call.command.text)


def _owner(call: ProgramCall) -> None:
    call.note("high", "changes who owns or may use files", call.command.text)


def _tee(call: ProgramCall) -> None:
    for path in call.operands:
        call.write(path)


def _dd(call: ProgramCall) -> None:
    call.note("high", "copies raw bytes", call.command.text)
    for arg in call.args:
        key, _, path = arg.partition("=")
        if key == "of":
            call.write(path)
        elif key == "if" and call.places.kind(path) != "null":
            call.read(path)


def _truncate(call: ProgramCall) -> None:
    call.note("high", "cuts files short", " ".join(call.operands))
    for path in call.operands:
        call.write(path)


def _expressions(call: ProgramCall) -> Iterator[str]:
    """The scripts that sed is given by options: ``-e x``, ``-ne x``, ``-ex``, ``--expression=x``."""
    for at, arg in enumerate(call.args):
        short = _SCRIPT.fullmatch(arg)
        if short is not None or arg == "--expression":
            yield (short and short[1]) or " ".join(call.args[at + 1:at + 2])
        elif arg.startswith("--expression="):
            yield arg.partition("=")[2]


_SED_OPTIONS: Final = ("--expression", "--file", "--in-place", "--null-data", "--line-length")


def _sed(call: ProgramCall) -> None:
    call.spell_out(_SED_OPTIONS)
    scripts = list(_expressions(call))
    rest = tuple(path for path in call.operands if path not in scripts)
    loaded = call.value("-f", "--file") or call.bundled_value("f")
    if loaded is not None:
        call.at_least("medium", "runs a script", loaded)
        call.run(loaded)
        if call.places.is_foreign(loaded) and call.places.kind(loaded) != "temp":
            call.note("high", "runs a script from outside the session's folders", loaded)
        rest = tuple(path for path in rest if path != loaded)
        if loaded in ("-", "/dev/stdin"):
            _note_script_on_input(call)
    elif not scripts and rest:
        scripts, rest = [rest[0]], rest[1:]
    in_place = any(arg.startswith(("-i", "--in-place")) or re.fullmatch(r"-[nErsuz]+i.*", arg) for arg in call.args)
    if scripts:
        judge_sed(call, scripts)
    for path in rest:
        if in_place:
            call.write(path)
        else:
            call.read(path)
    if in_place:
        call.at_least("medium", "rewrites files", call.command.text)


def _note_script_on_input(call: ProgramCall) -> None:
    fed = given(call)
    if fed is None or not fed.is_known:
        call.note("high", "runs a sed script that is only known when it runs", call.command.text)
    for text in fed.texts if fed is not None else ():
        judge_sed(call, [text])


_AWK_WRITES: Final = re.compile(r"(?:-[opd]|--(?:pretty-print|profile|dump-variables)=)(.{1,400})", re.DOTALL)
_AWK_SCRIPTS: Final = ("-f", "--file", "-E", "--exec")
_AWK_LIBRARIES: Final = ("-i", "--include", "-l", "--load")
_AWK_OPTIONS: Final = (*_AWK_SCRIPTS, *_AWK_LIBRARIES, "-F", "-v", "-e", "--assign", "--field-separator", "--source",
                       "--pretty-print", "--profile", "--dump-variables")


def _awk_values(call: ProgramCall) -> Iterator[tuple[str, str, int]]:
    """awk's options that take a value, with it, and where the word behind is; for ``-vx=y`` as for ``-v x=y``."""
    at = 0
    while at < len(call.args):
        arg = call.args[at]
        at += 1
        option, equal, value = (arg[:2], len(arg) > 2, arg[2:]) if arg[1:2] != "-" else arg.partition("=")
        if arg == "--":
            return
        if option not in _AWK_OPTIONS or arg[:1] != "-":
            continue
        at += not equal
        yield option, value if equal else " ".join(call.args[at - 1:at]), at


def _awk_from_input(call: ProgramCall) -> None:
    """A script on the input."""
    fed = given(call)
    for text in fed.texts if fed is not None and fed.is_known else (None,):
        judge_awk(call, text, given_values(call.args))


def _awk_options(call: ProgramCall) -> bool:
    """Files that awk's options write, and what they load; whether its script is among these."""
    for arg in call.args if not call.bare else ():
        if (written := _AWK_WRITES.fullmatch(arg)) is not None:
            call.write(written[1])
    has_script = False
    for option, value, at in _awk_values(call):
        if option in _AWK_SCRIPTS:
            has_script = True
            _awk_from_input(call) if value in STDIN_NAMES else call.load(value)
        elif option in ("-e", "--source"):
            has_script = True
            judge_awk(call, value if call.command.words[at] is not None else None, given_values(call.args))
        elif option in ("-l", "--load"):
            call.note("high" if "/" in value else "medium", "loads a library", value, unsure=True)
        elif option in _AWK_LIBRARIES and value != "inplace":
            call.load(value)
    return has_script


def _awk(call: ProgramCall) -> None:
    call.spell_out(_AWK_OPTIONS)
    taken = {at - 1 for option, _, at in _awk_values(call)}
    places = [at for at, arg in enumerate(call.args) if at not in taken and (not arg.startswith("-") or arg == "-")]
    if not _awk_options(call) and places:
        judge_awk(call, call.command.words[places.pop(0) + 1], given_values(call.args))
    in_place = any(arg in ("inplace", "-iinplace", "--include=inplace") for arg in call.args)
    for path in [call.args[at] for at in places]:
        if "=" not in path and path != "-":
            (call.write if in_place else call.read)(path)
    if in_place:
        call.note("medium", "rewrites files", call.command.text)


def _install(call: ProgramCall) -> None:
    for path in _with_target(call)[-1:]:
        call.write(path)
    mode = call.value("-m", "--mode")
    if mode and _is_wide(mode[:_MODE_CHARS]):
        call.note("high", "opens a file to everybody", call.command.text)


def _rsync(call: ProgramCall) -> None:
    if any(name.startswith(("--del", "--remove-source")) for name in call.longs):
        call.note("high", "deletes files at the target", call.command.text)
    runner = call.value("-e", "--rsh") or call.value("--rsync-path")
    if runner and not runner.startswith("ssh"):
        call.script(runner)
        call.note("high", "runs a program", runner)
    beside = [call.value(option) for option in _RSYNC_WRITES]
    for path in beside:
        if path:
            call.write(path)
    paths = [path for path in call.operands if path != runner and path not in beside]
    _copies_remote(call, paths)


_RSYNC_WRITES: Final = ("--backup-dir", "-T", "--temp-dir", "--partial-dir", "--log-file", "--write-batch")
"""Options that name a further place which is written."""


def _copies_remote(call: ProgramCall, paths: list[str]) -> None:
    """rsync, scp: what goes where."""
    if not paths:
        return
    *sources, target = paths
    for path in sources:
        if _REMOTE.match(path):
            call.traits |= Trait.FETCHES
            call.download(target)
            call.note("medium", "copies from another machine", path)
        else:
            call.read(path)
            if call.places.holds_secrets(path):
                call.traits |= Trait.SECRET
                call.note("high", "copies a folder that holds credentials", path)
    if _REMOTE.match(target):
        call.traits |= Trait.SENDS
        call.note("high", "copies files to another machine", target)
    else:
        call.write(target)


def _scp(call: ProgramCall) -> None:
    for option in ("-S", "-o"):
        value = call.value(option)
        if value and (option == "-S" or "command" in value.lower()):
            call.note("high", "runs a program", value)
    skip = {call.value(option) for option in ("-S", "-o", "-i", "-P", "-F", "-c", "-l", "-J")}
    _copies_remote(call, [path for path in call.operands if path not in skip])


def _patch(call: ProgramCall) -> None:
    if only_looks("patch", call.args):
        return
    call.note("medium", "changes files of the project", call.command.text)
    note_patch(call)
    folder = call.value("-d", "--directory")
    if folder:
        call.write(folder)


def _mknod(call: ProgramCall) -> None:
    call.note("high", "makes a device", call.command.text)


def _splits(call: ProgramCall) -> None:
    if call.value("--filter") is not None:
        call.script(call.value("--filter") or "")
        call.note("high", "runs a program", call.command.text)
    call.at_least("medium", "writes files", call.command.text)


def _typescript(call: ProgramCall) -> None:
    """script: what its command prints goes into a file."""
    text = call.value("-c", "--command") or call.bundled_value("c")
    for path in [path for path in call.operands if path != text][:1]:
        call.write(path)
    for logged in (call.value("-O", "--log-out"), call.value("-B", "--log-io"), call.value("-I", "--log-in"),
                   call.value("-T", "--log-timing")):
        if logged:
            call.write(logged)


def _shuf(call: ProgramCall) -> None:
    target = call.value("-o", "--output")
    if target:
        call.write(target)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(("rm", "unlink", "rmdir", "del", "erase", "rimraf", "grm", "rd", "remove-item", "ri"), _rm),
    **dict.fromkeys(("shred", "srm", "wipe", "scrub", "sdelete"), _shred),
    **dict.fromkeys(("trash", "trash-put", "gio-trash"), _trash),
    **dict.fromkeys(("mv", "rename", "prename", "gmv", "mmv"), _mv),
    **dict.fromkeys(("cp", "gcp", "ditto", "copy"), _cp),
    **dict.fromkeys(("ln", "link", "symlink"), _ln),
    **dict.fromkeys(("mkdir", "touch"), _makes),
    **dict.fromkeys(
        ("chown", "chgrp", "chattr", "setfacl", "chflags", "xattr", "setcap", "chcon", "lchown", "icacls", "takeown"), _owner
    ),
    **dict.fromkeys(("sed", "gsed", "ssed"), _sed),
    **dict.fromkeys(AWKS, _awk),
    **dict.fromkeys(("split", "csplit"), _splits),
    "chmod": _chmod,
    "tee": _tee,
    "sponge": _tee,
    "dd": _dd,
    "dcfldd": _dd,
    "truncate": _truncate,
    "clear-content": _truncate,
    "fallocate": _truncate,
    "install": _install,
    "rsync": _rsync,
    "scp": _scp,
    "patch": _patch,
    "mknod": _mknod,
    "shuf": _shuf,
    "script": _typescript,
}
