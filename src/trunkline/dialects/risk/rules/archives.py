"""Programs that pack and unpack files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.rules.looking import only_looks

_GLUED: Final = re.compile(r"-?([A-Za-eg-z]{0,20}f)([/~.$].{0,4000}|(?<=-[cru]f).{1,4000})", re.DOTALL)
"""Letters of tar with the archive joined to them: ``-czf../x``."""


_TAR_OPTIONS: Final = frozenset("--checkpoint --checkpoint-action --one-top-level --file --files-from --format".split())


_ROOTS: Final = re.compile(r"--(?:transform|xform)[= ]['\"]?s(.)\^?[^,|#]{0,80}\1/|-s ['\"]?(.)\^?[^,|#]{0,80}\2/")
"""A name of the archive that becomes one from the top."""


def _tar(call: ProgramCall) -> None:
    call.spell_out(_TAR_OPTIONS)
    for option in ("--to-command", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script", "-I", "-F"):
        value = call.value(option)
        if value and not re.fullmatch(r"(zstd|pigz|gzip|xz|bzip2|lz4|pbzip2|pixz|zstdmt)( -\S+)*", value):
            call.script(value)
            call.note("high", "runs a program for what is in the archive", value)
    for arg in call.args:
        if "checkpoint-action" in arg and "exec" in arg:
            call.script(arg.rpartition("exec=")[2])
            call.note("high", "runs a program while it packs", arg)
    first = call.args[0] if call.args else ""
    mode = call.letters + (first if not first.startswith("-") else "")
    if (glued := next((found for at, arg in enumerate(call.args) if (at == 0 or arg[:1] == "-")
                       and (found := _GLUED.fullmatch(arg)) is not None), None)) is not None:
        mode = mode.replace(glued[0].removeprefix("-"), glued[1])
    if call.has("", "--remove-files", "--recursive-unlink", "--unlink-first", "--delete"):
        call.note("high", "deletes files", call.command.text)
    if ("P" in mode and "x" in mode) or call.has("", "--absolute-names", "--absolute-paths") or _ROOTS.search(call.command.text):
        call.note("high", "unpacks to absolute paths", call.command.text)
    if "x" in mode or call.has("", "--extract", "--get"):
        call.note("medium", "unpacks an archive", call.command.text)
        _into(call, call.value("-C", "--directory") or call.bundled_value("C") or _behind_letters(call, first))
        _into(call, next((arg.partition("=")[2] for arg in call.args if arg.startswith("--one-top-level=")), None))
    for option in ("--listed-incremental", "--index-file", "--volno-file"):
        _into(call, call.value(option))
    if "g" in call.letters:
        _into(call, call.value("-g") or call.bundled_value("g"))
    adds = not _ADDS.isdisjoint(mode) and not {"x", "t"} & set(mode)
    if adds or "c" in mode or call.has("", "--create", "--append", "--update", "--concatenate", "--catenate"):
        target = call.value("--file") or (glued[2] if glued is not None else _archive(call))
        if target and target != "-":
            call.write(target)
        _packs(call, tuple(path for path in call.operands if path not in (first, target)))


_ADDS: Final = frozenset("ruA")
"""Letters by which an archive that is there gets more."""


def _behind_letters(call: ProgramCall, first: str) -> str | None:
    """The folder where the letters have no dash: each of them that takes a value has the next word (``tar xzfC x ..``)."""
    if first[:1] == "-" or "C" not in first:
        return None
    taking = [letter for letter in first if letter in "fCbTXgI"]
    return next(iter(call.args[1 + taking.index("C"):2 + taking.index("C")]), None)


def _archive(call: ProgramCall) -> str | None:
    """The word behind a cluster of letters with an ``f``: ``tar czf x.tgz``."""
    for at, arg in enumerate(call.args[:-1]):
        if re.fullmatch(r"-?[A-Za-z]*f", arg) and (at == 0 or arg.startswith("-")):
            return call.args[at + 1]
    return None


def _into(call: ProgramCall, folder: str | None) -> None:
    if folder:
        call.write(folder)


def _packs(call: ProgramCall, paths: tuple[str, ...]) -> None:
    """An archive of files; of everything, when it packs a home."""
    for path in paths:
        call.read(path)
        if call.places.holds_secrets(path):
            call.traits |= Trait.SECRET
            call.note("high", "packs a folder that holds credentials", path)


def _zip(call: ProgramCall) -> None:
    if call.has("", "--unzip-command") or "TT" in call.letters:
        call.note("high", "runs a program", call.command.text)
    if call.has("m", "--move"):
        call.note("high", "deletes files after packing", call.command.text)
    for path in call.operands[:1]:
        call.write(path)
    _packs(call, call.operands[1:])


def _unpacks(call: ProgramCall) -> None:
    call.traits |= Trait.DECODES
    if only_looks(call.name, call.args):
        return
    call.note("medium", "unpacks or packs files", call.command.text)
    _into(call, call.value("-d", "--directory"))
    for path in call.operands if call.name in _REPLACING else ():
        if call.places.kind(path) not in ("inside", "temp", "unknown", "elsewhere"):
            call.write(path)


_REPLACING: Final = frozenset("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4".split())
"""They put what they make beside a file, or in its place."""


def _seven_zip(call: ProgramCall) -> None:
    """7z: a verb of one letter, and options with their values joined to them."""
    call.traits |= Trait.DECODES
    verb = call.operands[0] if call.operands else ""
    if verb in ("", "l", "t", "i", "h", "b"):
        return
    if verb in ("x", "e") and any(arg.lower().startswith(("-spf", "-snl", "-snh")) and arg[-1:] != "-" for arg in call.args):
        call.note("high", "unpacks to absolute paths or through links", call.command.text)
    if any(arg.lower() == "-sdel" for arg in call.args):
        call.note("high", "deletes files after packing", call.command.text)
    call.at_least("medium", "unpacks or packs files", call.command.text)
    if verb in ("a", "u", "d", "rn"):
        for path in call.operands[1:2]:
            call.write(path)
        _packs(call, call.operands[2:])
    _into(call, call.value("-o"))


def _unzip(call: ProgramCall) -> None:
    if ":" in call.letters:
        call.note("high", "unpacks to absolute paths", call.command.text)
    _unpacks(call)


def _ar(call: ProgramCall) -> None:
    """ar: its first word has the letters, with or without a dash."""
    words = (f"-{call.args[0].removeprefix('-')}", *call.args[1:]) if call.args else ()
    if not only_looks("ar", words):
        _unpacks(call)


def _unrar(call: ProgramCall) -> None:
    """unrar: the first word says what it does; values are joined to their options."""
    if "".join(call.args[:1]) not in _UNRAR_LOOKS:
        _unpacks(call)


_UNRAR_LOOKS: Final = frozenset("l lb lt lta v vb vt t p".split())


def _cpio(call: ProgramCall) -> None:
    if call.has("i", "--extract") and not only_looks("cpio", call.args) and not only_looks("cpio inside", call.args):
        call.note("high", "unpacks to absolute paths", call.command.text)
    _unpacks(call)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys("gunzip bunzip2 unxz gzip bzip2 xz zstd lz4 unzstd".split(), _unpacks),
    "ar": _ar,
    "unrar": _unrar,
    "cpio": _cpio,
    "pax": _cpio,
    "unzip": _unzip,
    **dict.fromkeys(("tar", "gtar", "bsdtar", "star"), _tar),
    **dict.fromkeys(("7z", "7za", "7zr", "7zz", "7zip", "p7zip"), _seven_zip),
    "zip": _zip,
}
