"""What git runs: programs behind its settings, its verbs and their options, and its own helpers under their names.

Rule 1: the same rules as the folder's. None stands for what nobody can say.
Rule 2: a verb that is not git's own is an alias or a program that somebody made: nobody can say.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trunkline.dialects.risk.output_options import is_expected
from trunkline.dialects.risk.rules.git_words import BUNDLED, GIT_VALUES, KNOWN_VERBS, RUNNING_KEYS, written_by
from trunkline.dialects.shell import SimpleCommand, in_full

CHARS: Final = 4 << 10
"""Of a command within a command: as long as a line may be that is read at once, so that no pattern is kept from its end."""
_SPECIAL: Final = re.compile(r"[\s;&|<>()'\"\\#!{}]")
_HELPERS: Final = {"send-pack": "push", "http-push": "push", "fetch-pack": "fetch", "http-fetch": "fetch", "remote-http": "fetch"}
"""Programs that git starts for a verb, and that do the same on their own."""
_SENDS: Final = {"subtree": ("push", "split"), "lfs": ("push",), "annex": ("sync", "copy", "move", "push", "assist"),
                 "flow": ("publish",), "send-email": (), "imap-send": (), "daemon": ()}
"""Verbs that bring commits to others in another way, each with the words behind it that do; none: always."""
_OPTIONS: Final = frozenset(
    "--upload-pack --receive-pack --exec --extcmd --open-files-in-pager -x -u -t --tool --tool-cmd".split())
_VERBS_OF: Final[dict[str, frozenset[str]]] = {
    "-x": frozenset({"rebase", "difftool"}), "-u": frozenset({"clone"}), "-t": frozenset({"difftool", "mergetool"}),
}
"""Where a short option is one of those."""
_LOADS: Final = frozenset({"--template", "--ext-diff", "--textconv"})
_PROGRAMS: Final = _OPTIONS | _LOADS
_WHOLE: Final = frozenset({"--text"})
"""Options that are not another one cut short."""
_SAYS_WHERE: Final = re.compile(
    r"^(include|includeif|core\.hookspath|core\.fsmonitor|core\.gitproxy|init\.templatedir|url\.|protocol\.|submodule\.|remote\.|receive\."
    r"|uploadpack\.|hook\.|http\.)")
"""Settings whose value is a place, not a command."""
_QUIET_CONFIG: Final = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --get-color --list -l --show-origin --unset --unset-all get list unset".split())
_STARTS_REST: Final = frozenset({("bisect", "run"), ("submodule", "foreach")})
"""Verbs, with the word behind them, whose further words are a command."""
_VERB_AMONG: Final = 6
_FOLDERS: Final = frozenset({"-C", "--git-dir", "--work-tree", "--namespace"})


def verb_at(command: SimpleCommand) -> int:
    """The index of the verb, behind git's own options; past the end where there is none."""
    at = 1
    while at < len(command.sketch) and command.sketch[at][:1] == "-":
        at += 2 if command.sketch[at] in GIT_VALUES else 1
    return at


def behind(command: SimpleCommand) -> tuple[str, ...]:
    """``git send-pack`` as ``git push``; ``git -c alias.p=push p`` as well."""
    at = verb_at(command)
    words = command.sketch[at:]
    if words and words[0] in _HELPERS:
        return (_line((_HELPERS[words[0]], *words[1:])),)
    given = {key[6:]: value for key, value in _settings(command, at) if key.startswith("alias.")}
    text = given.get(words[0].lower(), "") if words else ""
    return (_of_alias(text, words[1:]),) if text else ()


def behind_helper(command: SimpleCommand) -> tuple[str, ...]:
    """``git-push x`` as ``git push x``."""
    verb = (command.name or "")[4:]
    if verb in _HELPERS:
        return (_line((_HELPERS[verb], *command.sketch[1:])),)
    return (_line((verb, *command.sketch[1:])),) if verb in KNOWN_VERBS else ()


def aliased(command: SimpleCommand, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """What an alias of an earlier command stands for."""
    at = verb_at(command)
    text = aliases.get(command.sketch[at].lower(), "") if at < len(command.sketch) else ""
    return (_of_alias(text, command.sketch[at + 1:]),) if text else ()


def aliases_set(command: SimpleCommand) -> dict[str, str]:
    """The aliases that ``git config alias.x y`` makes."""
    words = command.sketch
    return {word[6:].lower(): words[at + 1] for at, word in enumerate(words[:-1]) if word.lower().startswith("alias.")}


def runs(command: SimpleCommand) -> list[str] | None:
    """The command lines that git runs in turn; None where nobody can say."""
    at = verb_at(command)
    words = command.sketch[at:]
    if any(word.startswith(("--exec-path=", "--config-env")) for word in command.sketch[1:at]):
        return None
    if at < len(command.words) and command.words[at] is None:
        return None
    settings = [*_settings(command, at), *_settings_of_clone(words)]
    running = [(key, value) for key, value in settings if RUNNING_KEYS.match(key)]
    if any(_SAYS_WHERE.match(key) or not value for key, value in running):
        return None
    if words and words[0] not in KNOWN_VERBS and words[0][:1] != "-":
        return None
    found = [value.removeprefix("!") for key, value in running if not key.startswith("alias.")]
    return _behind_verb(words, found)


def _behind_verb(words: Sequence[str], found: list[str]) -> list[str] | None:
    """Programs in the words behind the verb."""
    verb = words[0] if words else ""
    if verb == "filter-branch" or (verb == "config" and _makes_a_setting(words)):
        return None
    for _, value in _program_options(words):
        if value is None:
            return None
        found.append(value)
    found += [word.partition("ext::")[2] for word in words[1:] if word.startswith("ext::") or "=ext::" in word]
    if at := _rest_at(words):
        found.append(" ".join([word for word in words[at:] if word[:2] != "--"]))
    if verb == "flow" and not {"-p", "--push"}.isdisjoint(words):
        found.append(_line(("push",)))
    if verb in _SENDS and (not _SENDS[verb] or not set(_SENDS[verb]).isdisjoint(words[1:3])):
        found.append(_line(("push", *words[1:])))
    return found


def _rest_at(words: Sequence[str]) -> int:
    """Where the command begins that a verb starts, options between its words left out; 0: it starts none."""
    at = next((at for at, word in enumerate(words[1:_VERB_AMONG], 1) if word[:1] != "-"), 0)
    return at + 1 if at and (words[0], words[at]) in _STARTS_REST else 0


def _program_options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The options behind a verb that name a program, with their value; None where the value says what is run elsewhere."""
    verb = words[0] if words else ""
    for at, word in enumerate(words[1:], 1):
        name, equal, value = word.partition("=")
        full = name if name in _WHOLE else in_full(name, _PROGRAMS)
        if full in _LOADS and (verb, full) != ("diff", "--textconv"):
            yield full, None if full == "--template" else ""
        elif full in _OPTIONS and verb in _VERBS_OF.get(full, (verb,)):
            yield full, value if equal else " ".join(words[at + 1:at + 2])
        elif (found := BUNDLED[verb].fullmatch(word) if verb in BUNDLED else None) is not None:
            value = found[2] or ("" if found[1] == "O" else " ".join(words[at + 1:at + 2]))
            if value or found[1] != "O":
                yield f"-{found[1]}", value


def changing(command: SimpleCommand) -> Iterator[tuple[str, str | None]]:
    """The options that change what is run, each with the folder that it names where it does no more."""
    at = verb_at(command)
    own, words = command.sketch[1:at], command.sketch[at:]
    for place, word in enumerate(own):
        name, equal, value = word.partition("=")
        if name in ("--exec-path", "--config-env") and (equal or name == "--config-env"):
            yield name, None
        elif name in _FOLDERS:
            yield name, value if equal else " ".join(own[place + 1:place + 2])
    for key, _ in (*_settings(command, at), *_settings_of_clone(words)):
        if RUNNING_KEYS.match(key):
            yield "-c", None
    if words and (words[0] in ("difftool", "mergetool") or (words[0] == "config" and _makes_a_setting(words))):
        yield words[0], None
    if at_rest := _rest_at(words):
        yield words[at_rest - 1], None
    elif words and words[0] == "for-each-repo":
        yield words[0], None
    for name, _ in _program_options(words):
        yield name, None
    for place in range(1, len(words)):
        if words[place][:1] == "-" and (path := written_by(words[0], words, place)) and not is_expected(path):
            yield words[place].partition("=")[0] if words[place][:2] == "--" else words[place][:2], None


def _makes_a_setting(words: Sequence[str]) -> bool:
    """Whether ``git config`` sets something that git runs."""
    if not _QUIET_CONFIG.isdisjoint(words):
        return False
    return any([RUNNING_KEYS.match(word.lower()) for word in words[1:-1]])


def _settings(command: SimpleCommand, at: int) -> list[tuple[str, str]]:
    """What ``-c key=value`` sets before the verb; keys in small letters."""
    return list(_pairs(command.sketch[1:at], ("-c",))) if at > 1 else []


def _settings_of_clone(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(_pairs(words, ("-c", "--config"))) if words[:1] in (("clone",), ["clone"]) else []


def _pairs(words: Sequence[str], options: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(words):
        setting = ""
        if word in options:
            setting = words[place + 1] if place + 1 < len(words) else ""
        elif word[:2] == "-c" and word[:3] != "-c=":
            setting = word[2:]
        elif word.startswith("--config="):
            setting = word[9:]
        if setting:
            key, _, value = setting.partition("=")
            yield key.lower(), value


def _of_alias(text: str, rest: Sequence[str]) -> str:
    line = " ".join((text[1:] if text[0] == "!" else f"git {text}", *map(quoted, rest)))
    return line.strip()[:CHARS]


def _line(words: Sequence[str]) -> str:
    return " ".join(("git", *map(quoted, words)))[:CHARS]


def quoted(word: str) -> str:
    """A word as it has to stand in a line, so that it is one there; what only the run knows stays as it is."""
    return word if "$" in word or "`" in word else shlex.quote(word) if _SPECIAL.search(word) else word
