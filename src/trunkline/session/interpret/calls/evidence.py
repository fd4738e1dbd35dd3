"""What an update says of a call beside its fields: the tool's name, the parent call, diffs, terminals, a record of the result.

Rule 1: ``_meta`` is looked through by shape, at most DEPTH levels deep: no vendor's key is known here but the one that the
catalog names (``parent_call``).
Rule 2: what is remembered is bounded, and forgotten when the call has ended.
"""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import EmbeddedResource, TextContent
from trunkline.dialects.acp.reading.aliases import path_of_uri
from trunkline.dialects.acp.reading.decode import ADDRESSES, KIND_SAID, UNREAD, stray_members
from trunkline.dialects.acp.tools import Content, Diff, Terminal, ToolCallContent
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate
from trunkline.dialects.calls import CallReading, Claims, ToolNames, ToolRole, name_call
from trunkline.dialects.calls.claims import (
    is_elsewhere,
    with_announced,
    with_deed,
    with_folder,
    with_kind,
    with_more,
    with_name,
    with_named,
    with_place,
    with_reading,
    with_terminal,
    with_text,
    with_title,
    with_told,
)
from trunkline.dialects.calls.deeds import deed_told, is_real_name, run_otherwise
from trunkline.dialects.calls.files import file_in
from trunkline.dialects.calls.inputs import command_of, command_told, is_folder, is_told_text, is_variables, places_told
from trunkline.dialects.calls.members import deeds_of
from trunkline.dialects.calls.names import is_grave_name, is_name, role_of_kind
from trunkline.dialects.calls.searches import words_of
from trunkline.dialects.calls.titles import bare_line_of, reads_as_command
from trunkline.dialects.calls.variables import is_never_harmless
from trunkline.dialects.calls.words import arguments_in, command_in, command_shown
from trunkline.dialects.packets.detect import tool_by_input
from trunkline.dialects.packets.titles import input_view
from trunkline.session.fold import Evidence, OpenCall
from trunkline.session.interpret.calls.facts import decoded

DEPTH: Final = 5
RECORDS: Final = 16
"""Of a list in ``_meta`` that are looked through."""
PRINTED_CHARS: Final = 256 << 10
"""Characters of a terminal's output that are kept for the result."""

BEFORE_CHARS: Final = 256 << 10
"""Characters of a file's text that are kept from its ask to its end; what is shown of a longer one is a sentence."""

NAMED_PLACES: Final = 8
"""Places of a call whose names its title may be instead of a tool's."""

NAMED_BYTES: Final = 4096
"""Bytes of an input that is looked through for that: a title that is in a longer one is no single word."""

CallT = TypeVar("CallT", bound=ToolCall | ToolCallUpdate)
_NAME_KEYS: Final = ("toolName", "tool_name")
_DEED_KEYS: Final = ("action", "operation", "kind", KIND_SAID, "tool", "verb", "op")
"""Members that may say what is done, beside an input that says that something is looked at."""
BESIDE: Final = "beside"
"""Where the members are kept that stand beside an input."""
STRAY_BYTES: Final = 64 << 10
"""Of members beside an input, and of its places, that are looked through."""
_RESPONSE_KEYS: Final = ("toolResponse", "tool_response", "toolResult")
OUTPUT_KEYS: Final = ("terminal_output", "terminal_output_delta")


def observe(call: OpenCall, update: ToolCall | ToolCallUpdate, names: ToolNames, cwd: str) -> None:
    """Keep what an update says beside its fields."""
    if update.content:
        _content(call, update.content)
    other_names = _remarks(call, update.meta, names) if update.meta else []
    if call.state.tool is None or call.state.named_by == "kind":
        _name(call, names)
    if update.meta and not _is_past(call):
        _claim_commands(call, update.meta, names)
    _claim_names(call, update, other_names, names)
    if not _is_past(call):
        _claim_shown(call, update, names)
        if update.raw_input and _role(call, names) == "terminal":
            _claim_early(call, update.raw_input, cwd)


def evidence_of(call: OpenCall) -> Evidence:
    """The call's evidence, begun where there is none."""
    if call.evidence is None:
        call.evidence = Evidence()
    return call.evidence


def printed(evidence: Evidence, text: str) -> None:
    """A terminal printed; agents send the next piece or all of it again."""
    whole = text if text.startswith(evidence.printed) else evidence.printed + text
    evidence.printed = whole[:PRINTED_CHARS]


def keep_before(call: OpenCall, texts: Mapping[str, str]) -> None:
    """Keep the files that a call would change as they are: they are the texts before, should it go through."""
    for path, text in texts.items():
        if text and len(text) <= BEFORE_CHARS:
            evidence_of(call).before[os.path.normpath(path)] = text


def keep_claims(call: OpenCall, changed: frozenset[str], kind: str, before: CallReading | None, cwd: str) -> None:
    """Keep what an update took back: its kind, and what was read in it ``before``. Nobody has decided since."""
    claims = call.claims or Claims()
    if "kind" in changed:
        claims = with_kind(claims, kind)
    if before is not None and (changed & {"raw_input", "locations"} or ("content" in changed and _read_by_content(call))):
        claims = with_reading(claims, before, cwd)
    call.claims = claims if claims != Claims() else None


def _read_by_content(call: OpenCall) -> bool:
    """Whether what the call shows is part of its reading: an ask in words, or changes of files. Of a plain result nothing is."""
    return call.state.raw_input is None or bool(call.evidence and call.evidence.diffs)


def _content(call: OpenCall, content: list[ToolCallContent]) -> None:
    diffs = [item for item in content if isinstance(item, Diff)]
    if diffs:
        evidence_of(call).diffs = diffs
    if call.state.raw_input is None and not _is_past(call):
        _arguments(call, content)
    for item in content:
        if isinstance(item, Terminal) and item.terminal_id not in evidence_of(call).terminals:
            evidence_of(call).terminals.append(item.terminal_id)


def _is_past(call: OpenCall) -> bool:
    """Whether what is told now is no part of what is to be decided."""
    return call.approved or call.state.status in ("completed", "failed")


def _arguments(call: OpenCall, content: list[ToolCallContent]) -> None:
    """Some agents send what a call is made with as a text that is JSON, which the words of their ask take the place of."""
    texts = [item.content.text for item in content if isinstance(item, Content) and isinstance(item.content, TextContent)]
    if len(texts) == 1 and arguments_in(texts[0]):
        evidence_of(call).arguments = texts[0]


def _remarks(call: OpenCall, meta: dict[str, Any], names: ToolNames) -> list[str]:
    """Keep what ``_meta`` says; returns the names that it has for the tool and that do not name the call."""
    others: list[str] = []
    _parent(call, meta, names.parent_call)
    for key, value in _members(meta, DEPTH):
        if key in _NAME_KEYS and isinstance(value, str) and value and not call.state.name and (
                call.state.tool is None or call.state.named_by == "kind"):
            call.state.tool, call.state.named_by = names.usual(value), "meta"
        elif key in _NAME_KEYS and isinstance(value, str) and value:
            others.append(value)
        elif key in _RESPONSE_KEYS and isinstance(value, dict):
            evidence_of(call).response = value
        elif key in OUTPUT_KEYS and isinstance(value, dict) and isinstance(value.get("data"), str):
            printed(evidence_of(call), value["data"])
        elif key == "terminal_exit" and isinstance(value, dict) and type(value.get("exit_code")) is int:
            evidence_of(call).exit_code = value["exit_code"]
    return others


def _members(meta: dict[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in meta.items():
        yield key, value
        if isinstance(value, str) and value[:1] == "{" and key not in OUTPUT_KEYS:
            value = arguments_in(value)  # JSON as a text
        inner = value if isinstance(value, list) else [value]
        for record in inner[:RECORDS] if depth > 1 and key not in _RESPONSE_KEYS else ():
            if isinstance(record, dict):
                yield from _members(record, depth - 1)


def _name(call: OpenCall, names: ToolNames) -> None:
    """Name the call, once: what it is called at its announcement it is called to its end."""
    state = call.state
    view = input_view(state.raw_input)
    shape = tool_by_input(view, state.kind)
    about = _subjects(state) if is_name(state.first_title) else ()
    state.tool, state.named_by = name_call(state.name, state.first_title, state.kind, shape, names, state.tool_call_id, about)


def _subjects(state: CallState) -> set[str]:
    """What a title of one word may be instead of a tool's name: a file, a pattern, a command or its program."""
    places = [place.path for place in (state.locations or ())[:NAMED_PLACES]]
    found = {os.path.basename(place.rstrip("/")) for place in places}
    if state.raw_input is not None and len(state.raw_input) <= NAMED_BYTES:
        given = decoded(state.raw_input)
        members = given if isinstance(given, dict) else {}
        places.append(file_in(members))
        found.update((os.path.basename(file_in(members)), str(members.get("pattern", ""))))
        found.update((command_of(members) or "").split()[:1])
    title = state.first_title
    if any(place == title or place.endswith(f"/{title}") for place in places):
        found.add(title)
    return found


def with_strays(update: CallT, raw: bytes) -> CallT:
    """A call with the members that stand beside its input, as remarks: they can only make it worse. What has ended is taken as it
    is."""
    if update.status in ("completed", "failed"):
        return update
    strays = {name: decoded(value) for name, value in stray_members(raw, STRAY_BYTES).items()}
    return update if not strays else msgspec.structs.replace(update, meta={**(update.meta or {}), BESIDE: strays})


def unread(update: CallT) -> CallT:
    """A call of which only the beginning was looked at. That it was cut is the hub's own remark, and says nothing of the call."""
    if update.status in ("completed", "failed"):
        return update
    remarks = {key: value for key, value in (update.meta or {}).items() if key != "trunkline"}
    return msgspec.structs.replace(update, meta={**remarks, BESIDE: {UNREAD: True}})


def _has_more(value: Any, depth: int) -> bool:
    """Whether there are records in remarks that ``_members`` does not come to: too deep, too many, or in lists within lists."""
    if isinstance(value, str) and value[:1] == "{":
        value = arguments_in(value)
    if isinstance(value, list):
        return any(map(_is_record, value[RECORDS:])) or any(
            any(map(_is_record, each)) if isinstance(each, list) else _has_more(each, depth) for each in value[:RECORDS]
            if isinstance(each, list | dict))
    if not isinstance(value, dict) or not value:
        return False
    return depth == 0 or any(_has_more(inner, depth - 1) for key, inner in value.items() if key not in _RESULTS)


def _is_record(value: Any) -> bool:
    return isinstance(value, list | dict) and bool(value)


_RESULTS: Final = (*_RESPONSE_KEYS, *OUTPUT_KEYS)


def told_in(remarks: dict[str, Any], kind: str | None) -> list[str]:
    """The commands that stand in ``_meta``, or in other members beside an input."""
    return [line for key, value in _members(remarks, DEPTH) if (line := command_told(key, value, kind)) is not None]


def _claim_commands(call: OpenCall, meta: dict[str, Any], names: ToolNames) -> None:
    """Commands, paths and texts that stand in ``_meta``: they can only make a call worse."""
    for line in told_in(meta, call.state.kind):
        call.claims = with_told(call.claims or Claims(), line)
    role = _role(call, names)
    is_look, is_mild = role in ("read", "search"), role in ("read", "search", *_WRITES)
    if role == "terminal":
        _claim_surroundings(call, meta)
    _claim_strays(call, meta)
    for key, value in _members(meta, DEPTH):
        for path in places_told(key, value):
            call.claims = with_place(call.claims or Claims(), path)
        if is_look and is_told_text(key, value):
            call.claims = with_text(call.claims or Claims())
        if run_otherwise(key, value):
            call.claims = with_deed(call.claims or Claims(), "unknown", key)
        deed = deed_told(key, value) if is_mild or role in ("fetch", "web_search") else None
        if deed is not None and (deed == "run" or role not in _WRITES):
            call.claims = with_deed(call.claims or Claims(), deed, key)
        if (is_look if value is True else value and isinstance(value, str | list | dict)) and "delete" in deeds_of((key,)):
            call.claims = with_named(call.claims or Claims(), key)
        elif is_mild and key in _DEED_KEYS and isinstance(value, str) and is_grave_name(value):
            call.claims = with_named(call.claims or Claims(), value)
        elif is_mild and isinstance(value, str) and value and is_real_name(key) and names.role_of(value) != role:
            call.claims = with_named(call.claims or Claims(), value)
        elif key == KIND_SAID and not isinstance(value, str):  # no word: nobody can say what it stands for
            call.claims = with_named(call.claims or Claims(), str(value))
        elif is_look and key in _DEED_KEYS and isinstance(value, str) and _says_change(value):
            call.claims = with_text(call.claims or Claims())


def _claim_strays(call: OpenCall, meta: dict[str, Any]) -> None:
    """What stands beside an input, under whatever name: no agent has a use for that. In ``_meta``, lines under a name that says
    that something is run."""
    strays = meta.get(BESIDE)
    if _has_more(meta, DEPTH) or (isinstance(strays, dict) and UNREAD in strays):
        call.claims = with_more(call.claims or Claims())
    addresses = strays.get(ADDRESSES) if isinstance(strays, dict) else None
    for address in addresses if isinstance(addresses, list) else ():
        if isinstance(address, str) and address:
            call.claims = with_place(call.claims or Claims(), address)
    for _, value in _members(strays, DEPTH) if isinstance(strays, dict) else ():
        for path in value if isinstance(value, list) else (value,):
            if isinstance(path, str) and _LEADS_OUT.match(path) and "\n" not in path:
                call.claims = with_place(call.claims or Claims(), path)
    for key, value in _members(meta, DEPTH):
        line = shlex.join(value) if isinstance(value, list) and value and all(isinstance(word, str) for word in value) else value
        if isinstance(line, str) and not _RUN_WORDS.isdisjoint(words_of(key)) and reads_as_command(line):
            call.claims = with_told(call.claims or Claims(), line)


_WRITES: Final[frozenset[ToolRole | None]] = frozenset({"write", "edit", "patch"})
_LEADS_OUT: Final = re.compile(r"/[^/]|~|\.\./")
_RUN_WORDS: Final = frozenset(
    "run exec execute shell bash sh command commands script hook hooks then next finally callback after before done post "
    "pre original actual real effective resolved final expanded rewritten".split())
"""Words of names that say that something is run, or when."""


def _claim_surroundings(call: OpenCall, meta: dict[str, Any]) -> None:
    """Folders that a command may run in, and variables that say what it loads, beside its input."""
    for key, value in _members(meta, DEPTH):
        if is_folder(key) and isinstance(value, str) and value:
            call.claims = with_folder(call.claims or Claims(), value)
        for name, given in value.items() if is_variables(key) and isinstance(value, dict) else ():
            if is_never_harmless(str(name)):
                call.claims = with_told(call.claims or Claims(), f"{name}={given}")


def _claim_early(call: OpenCall, raw_input: msgspec.Raw, cwd: str) -> None:
    """Folders and variables of an input that has no command yet: a later one has them away. The session's own folder is where
    a command runs by itself."""
    given = decoded(raw_input) if len(memoryview(raw_input)) <= STRAY_BYTES else None
    if isinstance(given, dict) and command_of(given, call.state.kind) is None:
        _claim_surroundings(call, {key: value for key, value in given.items()
                                   if not (is_folder(key) and isinstance(value, str) and not is_elsewhere(value, cwd))})


def _says_change(word: str) -> bool:
    """Whether a word for a deed says that something is written."""
    return role_of_kind(word) in ("write", "edit", "patch")


def _role(call: OpenCall, names: ToolNames) -> ToolRole | None:
    return names.role_of(call.state.tool or "") or role_of_kind(call.state.kind)


def _claim_shown(call: OpenCall, update: ToolCall | ToolCallUpdate, names: ToolNames) -> None:
    """What a call that is to be decided shows: a title that says what is done, a command in its words, a terminal."""
    claims, state = call.claims or Claims(), call.state
    role = _role(call, names)
    has_words = call.shows_ask or state.status == "pending"
    if update.title and (role != "terminal" or reads_as_command(bare_line_of(update.title))):
        claims = with_title(claims, update.title)
    is_look = role in ("read", "search")
    for _, value in _members(update.meta, DEPTH) if is_look and update.meta else ():
        claims = with_told(claims, value) if isinstance(value, str) and reads_as_command(value) else claims
    for item in update.content or ():
        if isinstance(item, Terminal) and is_look:
            claims = with_terminal(claims)
        elif is_look and isinstance(item, Content) and (linked := _linked_file(item.content)):
            claims = with_place(claims, linked)
        elif has_words and isinstance(item, Content) and isinstance(item.content, TextContent):
            text = item.content.text
            announced = command_in(text) or (_command_shown(text) if is_look else _line_shown(text, state.kind))
            claims = with_announced(claims, announced) if announced else claims
    call.claims = claims if claims != Claims() else None


def _linked_file(block: object) -> str:
    """The path of the file that a block is, or leads to; empty where it is none of this machine's."""
    if isinstance(block, EmbeddedResource):
        block = block.resource
    uri = getattr(block, "uri", "") or ""
    return path_of_uri(uri) if uri[:5].lower() == "file:" else ""


_PROMPT: Final = re.compile(r"\A\s*(?:```\w*\n)?\s*(\$ )?([^\n]{1,1000})(?:\n```)?\s*\Z")


def _line_shown(text: str, kind: str) -> str:
    """The command that a text is which another call shows: in a block for a shell, behind a prompt, or as JSON."""
    given = arguments_in(text) if text[:1] == "{" else {}
    return (command_of(given, kind) or "") if given else command_shown(text)


def _command_shown(text: str) -> str:
    """The command that a text is which a look shows: behind a prompt, as JSON, or alone and reading as one."""
    if text[:1] == "{" and (found := command_of(arguments_in(text))) is not None:
        return found
    alone = _PROMPT.match(text)
    if alone is None:
        return ""
    return alone[2] if alone[1] or reads_as_command(alone[2]) else _labelled(alone[2])


def _labelled(text: str) -> str:
    """The command line that stands behind a word and a colon; "" where that is none."""
    line = bare_line_of(text)
    return line if line != text and reads_as_command(line) else ""


def _claim_names(call: OpenCall, update: ToolCall | ToolCallUpdate, others: list[str], names: ToolNames) -> None:
    """What else an update calls the tool."""
    claims, tool = call.claims or Claims(), call.state.tool or ""
    for name in (update.name or "", *others):
        claims = with_name(claims, name, tool, names, is_title=False)
    claims = with_name(claims, update.title or "", tool, names, is_title=True)
    call.claims = claims if claims != Claims() else None


def _parent(call: OpenCall, meta: dict[str, Any], path: str) -> None:
    value: Any = meta
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, dict) else None
    if path and isinstance(value, str) and value != call.state.tool_call_id:
        call.parent = value
