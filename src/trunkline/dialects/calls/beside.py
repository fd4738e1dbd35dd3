"""What of a call's input none of its acts shows: the members that whoever decides has to be told as well, and these in lines.

Rule 1: a member is left out only where all of it is shown, word by word, by an act that stands for it: a command that is run, a
change that makes of its file what the input says, a path in the heading. Rather one is told twice than not at all.
Rule 2: one fact a line, by its place in the input. Nothing in a name or a value makes a line that reads like another fact: names
that are no words are quoted, and the lines of a text are marked.
Rule 3: the work has an end: DEPTH levels are taken apart, what is deeper is one fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.files import Replaced, is_file_key, is_patch_key, is_result, is_text_key, replaced_in
from trunkline.dialects.calls.inputs import command_of, is_of_command

DEPTH = 8
LISTED_CHARS = 200
"""Characters of a list of words that stands in one line."""
MARK = "  | "
"""Before each line of a text that has several."""

Act = Mapping[str, Any]
_encode = msgspec.json.Encoder().encode
_WORD = re.compile(r"[A-Za-z0-9_-]{1,60}")


def members_beside(tool_input: Any, acts: Sequence[Act], description: str) -> dict[str, Any]:
    """The members of an input that neither these acts (as JSON has them) nor the heading show."""
    if not isinstance(tool_input, Mapping):
        return {}
    shown = _Shown(acts, description)
    members = _unwrapped(tool_input)
    kept = set(shown.keeps(members))
    return {str(name): value for name, value in members.items()
            if value is not None and str(name) not in kept and not shown.has(str(name), value)}


def facts_of(members: Mapping[str, Any]) -> list[str]:
    """Members as lines: ``name: value``, what is within others by its place (``steps[0].run: make``)."""
    return [line for name, value in members.items() for line in _facts(_name(name), value, DEPTH)]


class _Shown:
    """What can be read of a call already."""

    def __init__(self, acts: Sequence[Act], description: str) -> None:
        self._description = description
        self._commands = [f"\n{act['command']}\n" for act in acts if act.get("command")]
        self._texts = [str(act["text"]) for act in acts if act.get("text")]
        self._named = {line.strip() for text in self._texts for line in text.split("\n")}
        self._changes = [_sides(str(act["diff"])) for act in acts if act.get("diff")]

    def keeps(self, members: Mapping[str, Any]) -> Iterator[str]:
        """The texts among the members that a change shows as its result."""
        keys = [str(name) for name, value in members.items() if is_text_key(str(name)) and isinstance(value, str)]
        if keys and self._results(list(replaced_in({name: members[name] for name in keys}))):
            yield from keys
        edits = members.get("edits")
        if isinstance(edits, list) and edits and all(map(_is_edit, edits)) and self._results(list(replaced_in({"edits": edits}))):
            yield "edits"

    def _results(self, edits: list[Replaced]) -> bool:
        """Whether one change shows all edits of a file, or each edit is a change of its own."""
        return any(is_result(edits, *sides) for sides in self._changes) or all(
            any(is_result([edit], *sides) for sides in self._changes) for edit in edits)

    def has(self, name: str, value: Any) -> bool:
        """Whether all of a member can be read."""
        if is_of_command(name):
            return self._runs(name, value)
        if not isinstance(value, str):
            return False
        if is_file_key(name):
            return self._description.endswith(f": {value}") or value in self._named
        return is_patch_key(name) and value in self._texts

    def _runs(self, name: str, value: Any) -> bool:
        is_plain = isinstance(value, str) or (isinstance(value, list) and all(isinstance(word, str) for word in value))
        line = command_of({name: value}) if is_plain else None
        return line is not None and any(f"\n{line}\n" in command for command in self._commands)


def _sides(diff: str) -> tuple[str, str]:
    """The text before and after, as far as a diff shows them; what stands above its first part is no text."""
    lines = diff.removesuffix("\n").split("\n")
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    shown = [line for line in lines[first:] if line[:1] in ("+", "-", " ", "")]
    before, after = ([line[1:] for line in shown if line[:1] != other] for other in "+-")
    return "\n".join(before), "\n".join(after)


def _is_edit(step: Any) -> bool:
    return isinstance(step, Mapping) and all(isinstance(text, str) and is_text_key(str(key)) for key, text in step.items())


def _unwrapped(tool_input: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of ``arguments`` among those beside it, where an agent wraps them and none hides another."""
    wrapped = tool_input.get("arguments")
    if not isinstance(wrapped, Mapping) or not tool_input.keys().isdisjoint(wrapped):
        return tool_input
    return {**{name: value for name, value in tool_input.items() if name != "arguments"}, **wrapped}


def _facts(place: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield from _text(place, value)
    elif isinstance(value, Mapping) and value and depth:
        for name, inner in value.items():
            yield from _facts(f"{place}.{_name(str(name))}", inner, depth - 1)
    elif isinstance(value, list) and value and depth and not _is_short(value):
        for number, inner in enumerate(value):
            yield from _facts(f"{place}[{number}]", inner, depth - 1)
    else:
        yield f"{place}: {_encode(value).decode()}"


def _text(place: str, text: str) -> Iterator[str]:
    lines = text.split("\n")
    if len(lines) == 1:
        yield f"{place}: {text}"
        return
    yield f"{place}: {len(lines)} lines"
    yield from (f"{MARK}{line}" for line in lines)


def _is_short(value: list[Any]) -> bool:
    """Whether it is a list of words and numbers that fits into a line."""
    is_flat = not any(isinstance(inner, Mapping | list) for inner in value)
    return is_flat and sum(len(str(inner)) for inner in value) < LISTED_CHARS


def _name(name: str) -> str:
    return name if _WORD.fullmatch(name) else _encode(name).decode()
