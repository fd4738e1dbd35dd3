"""A program's settings file as text: entries of hooks, or items of a list, put in and taken out, and all else left as it was,
comments included.

Rule 1: pure. The text is read as JSON with comments, as several of these programs read it, and changed where it has to be.
Rule 2: what is not of the shape that is expected is refused (Invalid), and nothing is changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from trunkline.dialects.outside import Json
from trunkline.errors import Invalid

HOOKS: Final = "hooks"
DEPTH_MOST: Final = 100
_SPACE: Final = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_QUOTED: Final = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LINE_END: Final = re.compile(r"[ \t]*\r?\n")
_BLANK: Final = " \t\r\n"
_decode = json.JSONDecoder().raw_decode

IsOurs = Callable[[str], bool]
"""Says of a hook's command whether it is ours."""
IsOurItem = Callable[[Any], bool]
"""The same of an item of a list."""


class Value(NamedTuple):
    """A value and where it stands. ``inside`` has the members of an object or a list; those of a list have no names."""

    start: int
    end: int
    kind: str
    inside: tuple[Member, ...] = ()


class Member(NamedTuple):
    """One of them; ``start`` is where its name stands, or the value of a list. ``comma`` is the place of the one behind it."""

    name: str
    start: int
    value: Value
    comma: int | None


def with_entries(text: str, entries: Mapping[str, Json], blank: str = "{}\n") -> str:
    """The text with one more entry for each event; ``blank`` is what it begins with, where it is nothing yet."""
    if not text.strip("\ufeff" + _BLANK):
        text = blank
    for event, entry in entries.items():
        root = _object(parse(text), "the file")
        hooks = _last(root, HOOKS)
        if hooks is None:
            text = _put(text, root, HOOKS, {event: [entry]})
            continue
        known = _last(_object(hooks.value, HOOKS), event)
        if known is None:
            text = _put(text, hooks.value, event, [entry])
        elif known.value.kind != "[":
            raise Invalid(f"{HOOKS}.{event} is no list: it is left as it is")
        else:
            text = _put(text, known.value, None, entry)
    return text


def without_entries(text: str, is_ours: IsOurs, made: Collection[str] | None = None) -> str:
    """The text without our hooks. ``made`` are the lists that came with them (an event's name, or ``hooks``): these go where
    nothing else is in them by now. Where that is not known, all go that are empty then."""
    while (found := _next_of_ours(text, is_ours)) is not None:
        text = _cut(text, *found)
    for event in [*_events(text), HOOKS]:
        root = _object(parse(text), "the file")
        hooks = _last(root, HOOKS)
        if hooks is None or hooks.value.kind != "{":
            break
        holder, member = (hooks.value, _last(hooks.value, event)) if event != HOOKS else (root, hooks)
        if member is not None and not member.value.inside and (made is None or event in made) and member.value.kind in "[{":
            text = _cut(text, holder, member)
    return text


def missing_lists(text: str, events: Iterable[str]) -> list[str]:
    """Which of these lists, and of ``hooks`` itself, the text does not have."""
    known = _events(text)
    absent = not text.strip("\ufeff" + _BLANK) or _last(_object(parse(text), "the file"), HOOKS) is None
    return [*([HOOKS] if absent else []), *(event for event in events if event not in known)]


def our_commands(text: str, is_ours: IsOurs) -> dict[str, list[str]]:
    """Our commands in the text, by event."""
    found: dict[str, list[str]] = {}
    for event in _events(text):
        for hook in _hooks_of(text, event):
            command = _command(text, hook)
            if command is not None and is_ours(command):
                found.setdefault(event, []).append(command)
    return found


def with_item(text: str, name: str, item: Any) -> str:
    """The text with one more item in the list of that name."""
    if not text.strip("\ufeff" + _BLANK):
        text = "{}\n"
    root = _object(parse(text), "the file")
    known = _last(root, name)
    if known is None:
        return _put(text, root, name, [item])
    if known.value.kind != "[":
        raise Invalid(f"{name} is no list: it is left as it is")
    return _put(text, known.value, None, item)


def without_items(text: str, name: str, is_ours: IsOurItem, made: bool = True) -> str:
    """The text without our items in that list; the list itself goes where it came with them (``made``) and is empty then."""
    while (found := _next_item(text, name, is_ours)) is not None:
        text = _cut(text, *found)
    root = _object(parse(text), "the file")
    left = _last(root, name)
    if made and left is not None and left.value.kind == "[" and not left.value.inside:
        text = _cut(text, root, left)
    return text


def items_in(text: str, name: str) -> list[Any] | None:
    """The items of the list of that name; None where there is no such list."""
    if not text.strip("\ufeff" + _BLANK):
        return None
    known = _last(_object(parse(text), "the file"), name)
    if known is None or known.value.kind != "[":
        return None
    return [_read_value(text, member.value) for member in known.value.inside]


def _next_item(text: str, name: str, is_ours: IsOurItem) -> tuple[Value, Member] | None:
    known = _last(_object(parse(text), "the file"), name)
    if known is None or known.value.kind != "[":
        return None
    return next(((known.value, member) for member in known.value.inside if is_ours(_read_value(text, member.value))), None)


def _read_value(text: str, value: Value) -> Any:
    """What a value says; it may have remarks in it."""
    match value.kind:
        case "{":
            return {member.name: _read_value(text, member.value) for member in value.inside}
        case "[":
            return [_read_value(text, member.value) for member in value.inside]
    return _decode(text, value.start)[0]


def parse(text: str) -> Value:
    """The value of the text, by its places; Invalid where it is no JSON."""
    value, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise Invalid("it is not JSON: something stands behind its end")
    return value


def _value(text: str, at: int, depth: int) -> tuple[Value, int]:
    opening = text[at:at + 1]
    if depth > DEPTH_MOST:
        raise Invalid("it is nested too deeply")
    if opening not in ("{", "["):
        try:
            _, end = _decode(text, at)
        except ValueError as error:
            raise Invalid(f"it is not JSON: {error}") from None
        return Value(at, end, "."), end
    start, closing, inside = at, "}" if opening == "{" else "]", []
    at = _skip(text, at + 1)
    while text[at:at + 1] != closing:
        member, at = _member(text, at, opening == "{", depth)
        at = _skip(text, at)
        comma = at if text[at:at + 1] == "," else None
        inside.append(member._replace(comma=comma))
        if comma is not None:
            at = _skip(text, at + 1)
        elif text[at:at + 1] != closing:
            raise Invalid(f"it is not JSON: a comma or {closing} is missing at character {at}")
    return Value(start, at + 1, opening, tuple(inside)), at + 1


def _member(text: str, at: int, named: bool, depth: int) -> tuple[Member, int]:
    start, name = at, ""
    if named:
        if text[at:at + 1] != '"':
            raise Invalid(f"it is not JSON: no name at character {at}")
        try:
            read, at = _decode(text, at)
        except ValueError as error:
            raise Invalid(f"it is not JSON: {error}") from None
        at = _skip(text, at)
        if not isinstance(read, str) or text[at:at + 1] != ":":
            raise Invalid(f"it is not JSON: no name with a colon at character {start}")
        name, at = read, _skip(text, at + 1)
    value, at = _value(text, at, depth + 1)
    return Member(name, start, value, None), at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()


def _object(value: Value, what: str) -> Value:
    if value.kind != "{":
        raise Invalid(f"{what} is no JSON object: it is left as it is")
    return value


def _last(value: Value, name: str) -> Member | None:
    """The member of that name; of several the last one counts, as everywhere."""
    return next((member for member in reversed(value.inside) if member.name == name), None)


def _events(text: str) -> list[str]:
    if not text.strip("\ufeff" + _BLANK):
        return []
    hooks = _last(_object(parse(text), "the file"), HOOKS)
    return list(dict.fromkeys(member.name for member in hooks.value.inside)) if hooks and hooks.value.kind == "{" else []


def _entries_of(text: str, event: str) -> Value | None:
    hooks = _last(_object(parse(text), "the file"), HOOKS)
    known = _last(hooks.value, event) if hooks is not None else None
    return known.value if known is not None and known.value.kind == "[" else None


def _hooks_of(text: str, event: str) -> list[Value]:
    entries = _entries_of(text, event)
    objects = [entry.value for entry in entries.inside if entry.value.kind == "{"] if entries is not None else []
    found: list[Value] = []
    for entry in objects:
        listed = _last(entry, HOOKS)
        found += [entry] if listed is None else [hook.value for hook in listed.value.inside]
    return found


def _command(text: str, hook: Value) -> str | None:
    """What a hook runs; an entry without a list of hooks is one itself."""
    member = (_last(hook, "command") or _last(hook, "bash")) if hook.kind == "{" else None
    read: Any = _decode(text, member.value.start)[0] if member is not None and member.value.kind == "." else None
    return read if isinstance(read, str) else None


def _next_of_ours(text: str, is_ours: IsOurs) -> tuple[Value, Member] | None:
    """A hook of ours and what it is in; its whole entry, where there is no other in it."""
    for event in _events(text):
        entries = _entries_of(text, event)
        for entry in entries.inside if entries is not None else ():
            if entries is None or entry.value.kind != "{":
                continue
            hooks = _last(entry.value, HOOKS)
            if hooks is None:
                if (line := _command(text, entry.value)) and is_ours(line):
                    return entries, entry
                continue
            ours = [hook for hook in hooks.value.inside if (command := _command(text, hook.value)) and is_ours(command)]
            if ours:
                return (entries, entry) if len(ours) == len(hooks.value.inside) else (hooks.value, ours[0])
    return None


def _put(text: str, into: Value, name: str | None, value: Any) -> str:
    """The text with a member more at the end of an object or a list, in the style of those that are there."""
    line = "\r\n" if "\r\n" in text else "\n"
    outer, unit = _indent_at(text, into.start), _unit(text)
    inner = _own_indent(text, into.inside[0].start) if into.inside else outer + unit
    label = "" if name is None else json.dumps(name) + ": "
    if inner is None:  # all in one line
        written = label + json.dumps(value, ensure_ascii=False)
        return _behind_last(text, into, f" {written}", line_end=False)
    written = label + json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line + inner)
    if into.inside:
        return _behind_last(text, into, line + inner + written, line_end=True)
    remarks = text[into.start + 1:into.end - 1].rstrip(_BLANK)
    return text[:into.start + 1] + remarks + line + inner + written + line + outer + text[into.end - 1:]


def _behind_last(text: str, into: Value, written: str, *, line_end: bool) -> str:
    """Behind the last member and its comma; with ``line_end``, behind a remark in its line, too."""
    last = into.inside[-1]
    end = last.value.end if last.comma is None else last.comma + 1
    comma = "," if last.comma is None else ""
    place = end
    if line_end:
        remark = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)").match(text, end)
        place = remark.end() if remark is not None else end
    return text[:end] + comma + text[end:place] + written + text[place:]


def _cut(text: str, holder: Value, member: Member) -> str:
    """The text without a member, the blanks before it and the comma that only it needed."""
    at = holder.inside.index(member)
    comma = holder.inside[at - 1].comma if at and member.comma is None else member.comma
    start, stop = _span(text, member)
    cuts = [(start, stop), *([] if comma is None else [(comma, comma + 1)])]
    if len(holder.inside) == 1:  # nothing is left in there: neither are blanks, unless they are all that ends a remark
        rest = text[member.value.end if member.comma is None else member.comma + 1:holder.end - 1]
        if not rest.strip(_BLANK) and text[holder.start + 1:start].strip(_BLANK) == "":
            cuts = [(holder.start + 1, holder.end - 1)]
    for begin, end in sorted(cuts, reverse=True):
        text = text[:begin] + text[end:]
    return text


def _span(text: str, member: Member) -> tuple[int, int]:
    """Where a member begins, with the blanks before it, and where it ends."""
    start, stop = member.start, member.value.end
    while start and text[start - 1] in _BLANK:
        start -= 1
    if not _ends_remark(text, start) or "\n" not in text[start:member.start]:
        return start, stop
    line_end = _LINE_END.match(text, stop) if member.comma is None else None
    # What ends a remark in the line before stays, so that this line goes whole.
    return text.index("\n", start) + 1, stop if line_end is None else line_end.end()


def _ends_remark(text: str, at: int) -> bool:
    """Whether a remark that its line ends is right before that place."""
    return any(found[0].startswith("//") and found.end() >= at > found.start() for found in _QUOTED.finditer(text, 0, at))


def _own_indent(text: str, at: int) -> str | None:
    """The blanks before what begins its line at that place; None where something else does."""
    begin = text.rfind("\n", 0, at) + 1
    return text[begin:at] if begin and not text[begin:at].strip(" \t") else None


def _indent_at(text: str, at: int) -> str:
    """The blanks that the line of that place begins with."""
    begin = text.rfind("\n", 0, at) + 1
    return text[begin:len(text) - len(text[begin:].lstrip(" \t"))] if text[begin:].strip() else ""


def _unit(text: str) -> str:
    """What one level is indented by: as the first line that is."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found is not None else "  "
