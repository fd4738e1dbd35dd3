"""One tool call, looked at once: its reading, and its input and output decoded at most once each.

Rule 1: shapes decide, never vendors: every spelling in circulation of "path", "command", "exit code" is looked for.
Rule 2: nothing fails. What is not there is empty, what has another shape than expected counts as not there.
"""

from __future__ import annotations

import os.path
import re
from functools import cached_property
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from trunkline import decoders
from trunkline.dialects.acp.calls import LOCATIONS, CallState
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.tools import Content, Diff
from trunkline.dialects.calls import CallReading, Claims, Source, ToolNames, read_call
from trunkline.dialects.calls.files import files_in
from trunkline.dialects.calls.words import arguments_in, input_in
from trunkline.dialects.outside import BROKEN
from trunkline.session.fold import Evidence, OpenCall

_FENCE = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TEXT_KEYS: Final = ("output", "aggregated_output", "stdout", "text", "error", "message")
_BEGINS: Final[dict[type, tuple[bytes, ...]]] = {
    str: (b'"',), int: tuple(b"-0123456789"[at:at + 1] for at in range(11)), bool: (b"t", b"f"), list: (b"[",), dict: (b"{",),
}
_NOTHING = Evidence()
_NO_CLAIMS: Final = Claims()

_members: msgspec.json.Decoder[dict[str, Raw]] = decoders.of(dict[str, Raw])


def name_of(state: CallState) -> str:
    """What the tool is called, in events and rules."""
    return state.tool or state.name or state.first_title or state.kind


class ReadingSources(NamedTuple):
    """All that a call's reading is made from: calls with the same sources have the same reading."""

    tool: str
    kind: str
    given: bytes | None
    named_by: Source
    located: tuple[str, ...]
    brings_changes: bool
    title: str
    shown: str
    arguments: str
    cut: bool
    claims: Claims


def sources_of(call: OpenCall) -> ReadingSources:
    """What there is to be read of a call."""
    state = call.state
    diffs = [item for item in state.content or () if isinstance(item, Diff)]
    changed = [item.path for item in (diffs or (call.evidence.diffs if call.evidence else []))]
    located = [place.path for place in state.locations or []]
    in_words = state.raw_input is None
    arguments = call.evidence.arguments if in_words and call.evidence is not None else ""
    return ReadingSources(
        name_of(state), state.kind, state.raw_input, state.named_by or "name",
        tuple(dict.fromkeys([*changed[:LOCATIONS], *located])), bool(changed), _title_with_command(state),
        shown_text(state) if in_words and (call.shows_ask or not arguments) else "", arguments, call.input_cut,
        call.claims or _NO_CLAIMS)


def read_open_call(call: OpenCall, names: ToolNames) -> CallReading:
    """The one reading of a call, from all that is known of it."""
    return read_sources(sources_of(call), names)


def read_sources(sources: ReadingSources, names: ToolNames) -> CallReading:
    """The reading of a call of which this is known."""
    return read_call(
        sources.tool, sources.kind, decoded(sources.given), named_by=sources.named_by, names=names, located=sources.located,
        brings_changes=sources.brings_changes, title=sources.title, shown=sources.shown, arguments=sources.arguments,
        cut=sources.cut, claims=sources.claims)


def _title_with_command(state: CallState) -> str:
    """A later title may sum the call up; a first one of a single word only names the tool."""
    first = state.first_title
    return first if " " in first.strip() else state.title or first


class Head(NamedTuple):
    """The beginning of a text, and whether there is more."""

    text: str
    cut: bool


class Facts:
    """What is known of one call."""

    def __init__(self, call: OpenCall, reading: CallReading, cwd: str) -> None:
        self.call = call
        self.state = call.state
        self.cwd = cwd
        self.evidence = call.evidence or _NOTHING
        self.reading = reading
        self.role = reading.role

    @cached_property
    def input(self) -> dict[str, Any]:
        """The input's members, also where they were sent as a text; those of ``arguments`` where the agent wraps them."""
        raw = self.state.raw_input
        value = decoded(raw) if raw is not None else arguments_in(self.evidence.arguments)
        value = input_in(value) if isinstance(value, str) else value
        if not isinstance(value, dict):
            return {}
        wrapped = value.get("arguments")
        return {**value, **wrapped} if isinstance(wrapped, dict) else value

    @cached_property
    def output(self) -> Any:
        """The whole output, decoded; None where there is none."""
        return decoded(self.state.raw_output)

    @property
    def answer(self) -> str | None:
        """The output, where it is nothing but a text."""
        raw = self.state.raw_output
        return self.output if raw is not None and raw[:1] == b'"' else None

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Where the agent may have recorded how it went: the output, its metadata, and what rode in ``_meta``.

        Members of the output are left as they came (``Raw``) until they are looked at: one may be a whole file."""
        output = self.members
        nested = [members_of(output[key]) for key in ("metadata", "result", "details") if key in output]
        return [record for record in (output, *nested, self.evidence.response) if record]

    @cached_property
    def members(self) -> dict[str, Any]:
        """The members of an output that is an object, as they came."""
        return members_of(self.state.raw_output)

    @cached_property
    def text(self) -> str:
        """What the tool printed or answered, as people would read it."""
        shown = "" if self.call.shows_ask else shown_text(self.state)
        if not shown and self.state.raw_output is not None:
            shown = text_in(self.output, self.state.raw_output)
        return shown or self.evidence.printed

    @property
    def text_token(self) -> bytes | memoryview | None:
        """``text`` as the JSON string that stands in the output; None where the call shows a text of its own."""
        raw = self.state.raw_output
        if raw is None or (shown_text(self.state) and not self.call.shows_ask):
            return None
        if raw[:1] == b'"':
            return raw
        found = next((self.members[key] for key in _TEXT_KEYS if key in self.members and _is(self.members[key], str)), None)
        return None if found is None else memoryview(found)

    @property
    def command(self) -> str:
        """The command line that was run, "" for a call that runs none."""
        return self.reading.command or ""

    @cached_property
    def paths(self) -> list[str]:
        """The files that the input names, else those that the agent pointed at; absolute where the folder is known."""
        found = files_in(self.input) or [place.path for place in self.state.locations or []]
        return [self.absolute(path) for path in dict.fromkeys(found) if path]

    def look(self, *keys: str, kind: type = str) -> Any:
        """The first of these members that a record has, of the right type; None where none has it."""
        value = self._find(keys, kind)
        return decoded(value) if isinstance(value, Raw) else value

    def head(self, *keys: str, chars: int) -> Head | None:
        """The beginning of the first of these members that is a text; a long one is not read to its end."""
        value = self._find(keys, str)
        if value is None:
            return None
        return head_of(value, chars) if isinstance(value, Raw) else Head(value[:chars], len(value) > chars)

    def _find(self, keys: tuple[str, ...], kind: type) -> Any:
        for record in self.records:
            for key in keys:
                if key in record and _is(record[key], kind):
                    return record[key]
        return None

    @staticmethod
    def look_in(fields: dict[str, Any], keys: tuple[str, ...]) -> str:
        """The first of these members that is a text with something in it, else ""."""
        return next((value for key in keys if isinstance(value := fields.get(key), str) and value), "")

    def absolute(self, path: str) -> str:
        """A path as seen from the session's folder."""
        path = path.removeprefix("file://")
        return path if not self.cwd or path.startswith("~") else os.path.normpath(os.path.join(self.cwd, path))

    def short(self, path: str) -> str:
        """A path inside the session's folder without that folder."""
        return path.removeprefix(self.cwd.rstrip("/") + "/").lstrip("/")


def members_of(raw: bytes | Raw | None) -> dict[str, Any]:
    """The members of a JSON object, each as it came; empty when it is none."""
    if raw is None or bytes(memoryview(raw)[:1]) != b"{":
        return {}
    try:
        return _members.decode(raw)
    except BROKEN:
        return {}


def head_of(token: Raw, most: int) -> Head:
    """The beginning of a JSON string, out of its first ``most`` bytes."""
    view = memoryview(token)
    if len(view) <= most:
        return Head(str(decoded(token) or ""), False)
    for end in range(most, most - 16, -1):
        # An escape or a character of several bytes may be cut in two; no such piece is longer than twelve bytes.
        try:
            return Head(decoders.decode(bytes(view[:end]) + b'"', str), True)
        except BROKEN:
            continue
    return Head("", True)


def _is(value: Any, kind: type) -> bool:
    """Whether a member is of a type; of one that is not decoded yet, its first character tells."""
    if isinstance(value, Raw):
        return bytes(memoryview(value)[:1]) in _BEGINS[kind]
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def decoded(raw: bytes | Raw | None) -> Any:
    """Somebody's JSON as a value; None where there is none, or where it is nested too deeply to be read."""
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw)
    except BROKEN:
        return None


def shown_text(state: CallState) -> str:
    """The text that the call shows."""
    texts = [item.content.text for item in state.content or ()
             if isinstance(item, Content) and isinstance(item.content, TextContent)]
    return "\n".join(texts) if len(texts) != 1 else texts[0]


def text_in(output: Any, raw: bytes) -> str:
    """The text of an output: itself, or the member that holds it, else its JSON."""
    if isinstance(output, dict):
        output = next((output[key] for key in _TEXT_KEYS if isinstance(output.get(key), str)), output)
    return output if isinstance(output, str) else raw.decode("utf-8", errors="replace")


def unfenced(text: str) -> str:
    """Text without the Markdown fence that some agents wrap all of it in."""
    if not text.lstrip()[:3] == "```":
        return text
    found = _FENCE.match(text)
    return found.group(1) if found and "\n```" not in found.group(1) else text
