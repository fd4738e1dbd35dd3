"""What follows from several commands of a line together.

Rule 1: data flows through pipes, substitutions, files and variables. Where it is not clear whether it does, it does.
Rule 2: four things are critical: fetched code is executed, credentials leave the machine, a raw device is written (noted by
the command itself), a function starts itself without end.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.levels import Finding
from trunkline.dialects.risk.places import look
from trunkline.dialects.risk.rules.reading import FINDERS, LISTERS, looks_for_credentials
from trunkline.dialects.risk.runners.words import option_values, options_of, row_of
from trunkline.dialects.risk.stdin import printed

_CAPTURED: Final = ("$(…)", "<(…)")
_SUBSTITUTED: Final = (*_CAPTURED, ">(…)")
_UNPACKERS: Final = frozenset(
    "tar gtar bsdtar unzip 7z 7za gunzip gzip bunzip2 unxz xz unrar cpio ar dpkg-deb zstd unzstd".split()
)
_MOVERS: Final = frozenset("mv cp install ln chmod".split())
_ANYTHING: Final = "*"
"""An unpacked download: any file that is run afterwards may come from it."""
_SAYS_WHAT_RUNS: Final = tuple(
    "Makefile makefile GNUmakefile justfile Justfile Rakefile Taskfile.yml package.json setup.py setup.cfg pyproject.toml "
    "conftest.py tox.ini noxfile.py build.gradle build.gradle.kts settings.gradle pom.xml CMakeLists.txt meson.build build.rs "
    "Cargo.toml build.xml Gemfile composer.json .npmrc .pnpmfile.cjs build.ninja SConstruct tasks.py fabfile.py".split()
)
"""Files by which build tools, package managers and test runners know what to run."""
_RUN_WHAT_IS_HERE: Final = frozenset(("pytest", "py.test"))
_LINKERS: Final = frozenset(("ln", "link", "cp", "gcp", "symlink"))
_RELINKERS: Final = frozenset(("ln", "link", "symlink"))
"""They put another link in the place of one, and do not go through it."""
_QUIET_PLACES: Final = ("inside", "temp", "null", "unknown")
_PRINTERS: Final = ("echo", "printf", "cat", "print")


def flow_findings(calls: list[ProgramCall]) -> list[Finding]:
    """Findings that no single command gives."""
    traits = 0
    for call in calls:
        traits |= call.traits
    found: list[Finding] = []
    if traits & Trait.FETCHES or any(call.downloads for call in calls):
        found.extend(_fetched_and_run(calls))
    if traits & Trait.EXECUTES:
        found.extend(_hidden_and_run(calls))
    if traits & Trait.SECRET and traits & Trait.SENDS:
        found.extend(_secrets_sent(calls))
    if traits & Trait.EXECUTES and traits & Trait.SENDS:
        found.extend(_shell_on_the_wire(calls))
    if len(calls) > 1:
        found.extend(_found_and_read(calls))
    found.extend(_pushed_elsewhere(calls))
    found.extend(_fork_bomb(calls))
    found.extend(_through_links(calls))
    return found


def _found_and_read(calls: list[ProgramCall]) -> Iterator[Finding]:
    """Credentials that one command finds and another one reads: ``find ~ -name '*.pem' | xargs cat``."""
    finder = next((call for call in calls if call.name in FINDERS and looks_for_credentials(call)), None)
    for call in calls if finder is not None else ():
        takes_names = "{}" in call.command.sketch or None in call.command.words[1:]
        if finder is not None and call.name and call.name not in LISTERS and call.name not in _HAND_ON and takes_names:
            yield Finding("high", f"reads credentials: {finder.command.text[:40]} → {call.command.text[:40]}")
            return


def _pushed_elsewhere(calls: list[ProgramCall]) -> Iterator[Finding]:
    """A push to a remote whose address the line itself has set."""
    news: set[str] = set()
    for call in calls:
        if call.name != "git":
            continue
        words = call.operands
        if words[:2] == ("remote", "add"):
            news.update(words[2:3])
        elif any(map(_REMOTE_URL.match, words)):
            news.add("push")
        elif news and "push" in words and (
                not news.isdisjoint(words[words.index("push"):]) or None in call.command.words):
            yield Finding("high", f"sends the repository elsewhere: {call.command.text[:60]}")


_HAND_ON: Final = frozenset(("xargs", "parallel", "read", "cd", "export", "find", "locate"))
"""What takes names and does not look into the files."""
_REMOTE_URL: Final = re.compile(
    r"remote\.(?:pushdefault|[^=]{1,80}\.(?:push)?url)|branch\.[^=]{1,80}\.(?:push)?remote|url\.[^=]{1,200}insteadof",
    re.IGNORECASE)
"""Settings that say where a push goes."""


def _through_links(calls: list[ProgramCall]) -> Iterator[Finding]:
    """Files that a line touches through a link which it has made itself: they are where the link points to."""
    links: dict[str, str] = {}
    for call in calls:
        for path in (*call.writes, *call.reads) if links else ():
            place = _behind_link(path, links) if call.name not in _RELINKERS or path not in links else None
            if place is not None:
                _, kind, secret = look(call.places, place)
                if path in call.writes and kind not in _QUIET_PLACES:
                    yield Finding("high", f"writes outside the session's folders through a link: {place[:60]}")
                elif secret == "own":
                    yield Finding("high", f"reads credentials through a link: {place[:60]}")
        if call.name in _LINKERS and call.operands:
            links.update(_linked(call))


def _linked(call: ProgramCall) -> Iterator[tuple[str, str]]:
    """The links that a call makes, each with what it points to."""
    if call.name == "cp" and not call.has("sl", "--symbolic-link", "--link"):
        return
    folder = call.value("-t", "--target-directory")
    *sources, target = call.operands if len(call.operands) > 1 and folder is None else (*call.operands, folder or ".")
    for source in sources:
        real = call.places.resolve(source)
        if call.places.kind(source) not in _QUIET_PLACES:
            made = call.places.resolve(target)
            yield made, real
            yield f"{made.rstrip('/')}/{real.rstrip('/').rpartition('/')[2]}", real


def _behind_link(path: str, links: dict[str, str]) -> str | None:
    """The place that a path means where a part of it is a link; None where none is."""
    end = len(path)
    while end > 0:
        if path[:end] in links:
            return links[path[:end]].rstrip("/") + path[end:] or "/"
        end = path.rfind("/", 0, end)
    return None


def feeding(calls: list[ProgramCall], index: int) -> list[ProgramCall]:
    """The commands whose output may be a command's input."""
    begin = calls[index].command.stdin_from
    return calls[begin:index] if begin >= 0 else []


def inner_calls(calls: list[ProgramCall], index: int) -> Iterator[ProgramCall]:
    """The commands in a command's own arguments, at any depth; a wrapper's arguments are those of what it wraps."""
    while (command := calls[index].command).parent >= 0 and command.inside not in _SUBSTITUTED:
        index = command.parent
    for at in range(index + 1, len(calls)):
        command = calls[at].command
        if command.parent < index:
            return  # what is inside a command stands right behind it
        if command.inside in _CAPTURED or command.parent != index:
            yield calls[at]


def _fetched_and_run(calls: list[ProgramCall]) -> Iterator[Finding]:
    """A download that is run: through a pipe, a substitution, a variable or a file."""
    downloads: set[str] = set()
    captured = False
    for index, call in enumerate(calls):
        fetches, executes = call.traits & Trait.FETCHES, call.traits & Trait.EXECUTES or _takes_code(call)
        source = _fetching_source(calls, index) if executes or call.writes or call.name in _UNPACKERS else None
        if downloads and _follows(call, downloads):
            yield Finding("critical", f"runs what a downloaded file says: {call.command.text[:50]}")
        elif downloads and (executes or call.runs or call.name in _RUN_WHAT_IS_HERE):
            read = [path for other in feeding(calls, index) for path in other.reads] if executes else []
            if any([_is_download(path, downloads) for path in (*call.runs, *read)]) or _names_download(call, downloads):
                yield Finding("critical", f"runs what it downloaded: {call.command.text[:50]}")
        if executes and source is not None:
            yield Finding("critical", f"runs code from the network: {source.command.text[:50]} → {call.command.text[:30]}")
        elif executes and captured and not fetches:
            yield Finding("critical", f"runs what came from the network: {call.command.text[:50]}")
        if fetches and call.command.inside in _CAPTURED:
            captured = True
        _save(call, bool(fetches) or source is not None, downloads)


def _takes_code(call: ProgramCall) -> bool:
    """Whether an option of a call names what another command prints as its code: ``make -f <(…)``."""
    if not any(["<(" in word for word in call.command.sketch]):
        return False
    command, row = row_of(call.command)
    return row is not None and (row.always or any([value is None for _, value in options_of(command, row)]))


def _fetching_source(calls: list[ProgramCall], index: int) -> ProgramCall | None:
    """The command that brings a command something from the network."""
    for source in _sources(calls, index):
        if source.traits & Trait.FETCHES and source is not calls[index]:
            return source
    return None


def _sources(calls: list[ProgramCall], index: int) -> list[ProgramCall]:
    """Where a command's input and arguments come from."""
    command = calls[index].command
    sources = _around(calls, index, feeding(calls, index))
    return [*sources, calls[command.parent]] if command.inside == ">(…)" and command.parent >= 0 else sources


def _around(calls: list[ProgramCall], index: int, sources: list[ProgramCall]) -> list[ProgramCall]:
    """The commands that feed a command, which are ``sources``, and those in its arguments."""
    if calls[index].command.parent < 0 and (index + 1 == len(calls) or calls[index + 1].command.parent < index):
        return sources  # nothing is inside it, and it is inside of nothing
    return [*sources, *inner_calls(calls, index)]


def _save(call: ProgramCall, fetched: bool, downloads: set[str]) -> None:
    """Add the files that hold a download after a command: saved, copied or unpacked."""
    name = call.name
    from_download = bool(downloads) and (name in _UNPACKERS or name in _MOVERS) and any(
        [_is_download(call.places.resolve(path), downloads) for path in call.operands])
    if name in _UNPACKERS and (fetched or from_download):
        downloads.add(_ANYTHING)
        return
    if call.downloads:
        downloads.update(call.downloads)
    if call.writes and (fetched or from_download):
        downloads.update(call.writes)


def _is_download(path: str, downloads: set[str]) -> bool:
    """Whether a file is one of the downloads, or lies in a downloaded folder."""
    if not downloads or _ANYTHING in downloads or path in downloads:
        return bool(downloads)
    end = len(path)
    while (end := path.rfind("/", 0, end)) >= 0:
        if path[:end] in downloads or path[: end + 1] in downloads:
            return True
    return False


def _names_download(call: ProgramCall, downloads: set[str]) -> bool:
    """Whether what builds, tests or installs names a downloaded folder: ``pip install -e y``, ``go run ./y``."""
    values = [value for arg in call.args for value in (arg, *option_values(arg)) if value[:1] not in ("-", "")]
    return any([_is_download(call.places.resolve(value), downloads) for value in values])


def _follows(call: ProgramCall, downloads: set[str]) -> bool:
    """Whether it does what a downloaded file of its folder says, as ``make`` does."""
    if not call.runs and call.name not in _RUN_WHAT_IS_HERE:
        return False
    for folder in call.runs or (call.places.resolve("."),):
        before = "" if folder in ("", ".") else f"{folder}/"
        if any([before + name in downloads for name in _SAYS_WHAT_RUNS]):
            return True
    return False


def _hidden_and_run(calls: list[ProgramCall]) -> Iterator[Finding]:
    """Text that a pipe feeds to a shell or an interpreter."""
    for index, call in enumerate(calls):
        if not call.traits & Trait.EXECUTES or call.command.name is None:
            continue
        sources = feeding(calls, index)
        around = _around(calls, index, sources)
        if not around:
            continue
        if any([source.traits & Trait.DECODES for source in around]):
            yield Finding("high", f"runs text that was made unreadable: {call.command.text[:40]}")
        elif any([source.name not in _PRINTERS or None in source.command.words for source in sources]):
            yield Finding("high", f"runs what another command prints: {call.command.text[:40]}")
        elif sources:
            yield Finding("medium", f"runs text from a pipe: {call.command.text[:40]}")


def piped_scripts(calls: list[ProgramCall]) -> list[str]:
    """Literal texts that a pipe feeds to a shell: ``echo 'rm x' | sh``, ``sh <(echo rm x)``, also behind ``base64 -d``. What
    reads another language, and is judged by that, is no line."""
    found = _written_scripts(calls)
    for index, call in enumerate(calls):
        if not call.traits & Trait.EXECUTES:
            continue
        sources = [*feeding(calls, index), *[one for one in inner_calls(calls, index) if one.command.inside == "<(…)"]]
        for source in sources[:4]:
            text = printed(source)
            if text is None:
                continue
            if not call.judges_input:
                found.append(text)
            if any(other.traits & Trait.DECODES for other in sources):
                found.extend(_decoded(text))
    return found


def _written_scripts(calls: list[ProgramCall]) -> list[str]:
    """Literal texts that one command writes into a file and a later one runs: ``echo 'rm x' > a; sh a``."""
    ran = {path for call in calls if call.runs for path in call.runs}
    if not ran:
        return []
    texts = (printed(call) for call in calls if call.writes and not ran.isdisjoint(call.writes))
    return [text for text in texts if text]


def _decoded(text: str) -> list[str]:
    """What a text says once it is decoded the usual ways."""
    found = [text[::-1]]
    compact = "".join(text.split())
    try:
        found.append(b64decode(compact + "=" * (-len(compact) % 4)).decode("utf-8", "replace"))
    except (binascii.Error, ValueError):
        found.append("")
    if re.fullmatch(r"([0-9a-fA-F]{2})+", compact):
        found.append(bytes.fromhex(compact).decode("utf-8", "replace"))
    return [one for one in found if one]


def _secrets_sent(calls: list[ProgramCall]) -> Iterator[Finding]:
    secret = next((call for call in calls if call.traits & Trait.SECRET), None)
    sender = next((call for call in calls if call.traits & Trait.SENDS), None)
    if secret is not None and sender is not None:
        yield Finding("critical", f"sends credentials away: {secret.command.text[:40]} → {sender.command.text[:40]}")


def _shell_on_the_wire(calls: list[ProgramCall]) -> Iterator[Finding]:
    """A shell whose input or output is a connection."""
    for index, call in enumerate(calls):
        if not call.traits & Trait.SENDS:
            continue
        shells = [source for source in feeding(calls, index) if source.traits & Trait.EXECUTES]
        if shells or (call.traits & Trait.EXECUTES and call.traits & Trait.FETCHES and call.command.redirects):
            yield Finding("critical", f"gives a shell to another machine: {call.command.text[:50]}")


def _fork_bomb(calls: list[ProgramCall]) -> Iterator[Finding]:
    """A function, or a script, that starts itself more than once."""
    counts: dict[str, int] = {}
    for call in calls:
        command = call.command
        if (call.name and not command.inside) or not command.sketch:
            continue  # as nearly all are
        if not (command.inside.endswith("()") or command.words[0] is None):
            continue
        name = command.sketch[0]
        if command.inside == f"{name}()" or name in ("$0", "${0}"):
            counts[name] = counts.get(name, 0) + 1
            if counts[name] == 2:
                yield Finding("critical", f"starts itself again and again: {name}")
