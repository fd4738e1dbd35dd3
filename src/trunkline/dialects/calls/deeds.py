"""What a remark beside a call's input says that is done, or how it is run: by a switch (``execute: true``), or by a
word (``effect: "writes"``).

Rule 1: it can only make a call worse, and only one that by its name or kind does less.
Rule 2: a name says a deed by one of its words in the form of one that is to be done (``execute``, ``writes``). What tells of a
state (``modified``, ``running``, ``executable``) is none: agents say such things of files and of calls.
Rule 3: a switch that is off says nothing, but for one that keeps a call harmless (``readOnly: false``).
"""

from __future__ import annotations

from typing import Any, Final

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.searches import words_of
from trunkline.dialects.calls.types import Act
from trunkline.dialects.glob_tokens import remembered

_WORDS: Final[dict[Act, str]] = {
    "run": "execute executes exec run runs spawn spawns launch launches invoke invokes eval evaluate evaluates shell sudo "
           "kill kills deploy deploys install installs",
    "delete": "delete deletes remove removes destroy destroys destructive purge purges wipe wipes erase erases truncate "
              "truncates unlink unlinks shred shreds trash overwrite overwrites",
    "move": "move moves rename renames",
    "write": "write writes writing edit edits modify modifies modifying mutate mutates mutating mutation change changes changing "
             "create creates update updates replace replaces append appends patch "
             "patches save saves upload uploads send sends push pushes commit commits publish publishes dangerous unsafe",
}
_DEEDS: Final[dict[str, Act]] = {word: act for act, words in _WORDS.items() for word in words.split()}
_SAYS: Final = frozenset(
    "action actions operation operations op ops verb deed does effect effects intent will performs purpose access then method "
    "capability capabilities permission permissions".split())
"""Last words of names under which a word says what is done."""
_SORTS: Final = frozenset(("mode", "type"))
"""The same, but other things have modes and types of such names as well (``mode: edit``): only what none is called counts."""
_SENDS: Final = frozenset("send sends post posts upload uploads push publish submit forward exfiltrate".split())
_HANDS_ON: Final = _SENDS | frozenset(
    "copy copies save saves write writes append appends export exports output dump "
    "mail".split())
_TO: Final = (("to",), ("destination",), ("recipient",), ("recipients",))
"""Last words of names that say where something goes: ``send_to``."""
_GUARDS: Final = frozenset("sandbox sandboxed confirm confirmation approval isolated isolation".split())
_OTHERWISE: Final = frozenset(
    "dangerously unsandboxed sudo privileged escalated elevated bypass interpreter stdin root".split())
"""Words of names that say how, as whom or by what else something is run."""
_ON: Final = frozenset(("true", "yes", "on", "1", "always"))
_NOT: Final = frozenset("no not never without disable disabled dry can could may supports allow allowed last".split())
"""Words that make of a deed one that is not done, or not by this call."""
_WORST_FIRST: Final[tuple[Act, ...]] = ("run", "delete", "move", "write")


def deed_told(key: str, value: Any) -> Act | None:
    """What a member beside an input says that is done; None where it says nothing of that."""
    if _is_on(value):
        return _deed_of(key)
    if value is False or value == 0 or (isinstance(value, str) and value.lower() in ("false", "no")):
        return "write" if _keeps_harmless(key) and value != "" else None
    if isinstance(value, str) and _ADDRESS.match(value) is not None and not _SENDS.isdisjoint(words_of(key)):
        return "write"
    if value and isinstance(value, str | list | dict) and words_of(key)[-1:] in _TO and not _HANDS_ON.isdisjoint(words_of(key)):
        return "write"
    if words_of(key)[-1:] and words_of(key)[-1] in _SORTS:
        act = _deed_of(value[:40]) if isinstance(value, str) and value.isalpha() else None
        return act if act != "write" or value == "write" else None
    if words_of(key)[-1:] and words_of(key)[-1] in _SAYS:
        said = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
        found = {act for one in said[:8] if (act := _deed_of(one[:40])) is not None}
        return next((act for act in _WORST_FIRST if act in found), None)
    return None


def run_otherwise(key: str, value: Any) -> bool:
    """Whether a member beside an input says that this is run otherwise than it seems: with other rights, by another program, or
    without what keeps it harmless."""
    words = words_of(key)
    if value is False or (type(value) is int and value == 0):
        return not _GUARDS.isdisjoint(words) and _NOT.isdisjoint(words)
    if not value or not isinstance(value, bool | int | str):
        return False
    if not _OTHERWISE.isdisjoint(words) or words[:2] == ("run", "as"):
        return not isinstance(value, str) or value.lower() not in _OFF
    if words[-1:] == ("shell",) and isinstance(value, str):
        return "/" in value and _SHELL.fullmatch(value) is None
    is_user = words[-1:] in (("user",), ("uid",)) and str(value) in ("root", "0")
    return is_user or ("sandbox" in words and isinstance(value, str) and _ESCAPES.search(value) is not None)


_REALLY: Final = frozenset("real actual resolved effective canonical underlying target extra additional true final".split())
_PLACE_WORDS: Final = frozenset("path paths file files symlink link".split())


def is_real_place(key: str) -> bool:
    """Whether a name says that what stands under it is where something really is: ``resolved_path``, ``symlink``."""
    words = words_of(key)
    return words[-1:] == ("symlink",) or (not _REALLY.isdisjoint(words[:-1]) and words[-1] in _PLACE_WORDS)


def is_real_name(key: str) -> bool:
    """Whether a name says that what stands under it is what a tool really is: ``realTool``, ``alias_of``."""
    words = words_of(key)
    return words[:2] == ("alias", "of") or (
        not (_REALLY | {"original"}).isdisjoint(words[:-1]) and words[-1] in ("tool", "name", "command", "function"))


_OFF: Final = frozenset(("", "false", "no", "none", "off", "0"))
_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_SHELL: Final = re.compile(r"(?:/usr)?(?:/local)?/bin/(?:ba|z|da|k|fi)?sh|(?:/usr)?/bin/env")
_ESCAPES: Final = re.compile(r"escalat|danger|disable|none|\boff\b|full.access", re.IGNORECASE)


def _is_on(value: Any) -> bool:
    return value is True or (type(value) is int and value == 1) or (isinstance(value, str) and value.strip().lower() in _ON)


@remembered
def _deed_of(name: str) -> Act | None:
    words = words_of(name)
    if not _NOT.isdisjoint(words):
        return None
    if words[:2] == ("side", "effects") or words == ("mutable",):
        return "write"
    found = {_DEEDS[word] for word in words if word in _DEEDS}
    return next((act for act in _WORST_FIRST if act in found), None)


@remembered
def _keeps_harmless(name: str) -> bool:
    words = words_of(name)
    return words[:2] == ("read", "only") or words[:1] == ("readonly",)
