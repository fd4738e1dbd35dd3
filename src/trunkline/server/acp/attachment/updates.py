"""A session's updates as one editor may get them.

Rule 1: an update is passed on by its bytes. It is written anew only where the editor could not take it as it is.
Rule 2: an editor gets no kind of update that the schema does not know, nor one that it did not say it understands.
Rule 3: an editor gets a call before what became of it, and every call's end.
Rule 4: a terminal is shown by id to the editor that has it; to everybody else as what it printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.reading.decode import read_update, text_chunk, usual_text
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.tools import Content, Terminal, ToolCallContent
from trunkline.dialects.acp.updates import (
    AgentMessageChunk,
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionUpdate,
    Notice,
    ToolCall,
    ToolCallUpdate,
    UnknownUpdate,
    UserMessageChunk,
)
from trunkline.dialects.outside import BROKEN
from trunkline.journal.base import Entry
from trunkline.server.acp.attachment.settings import shown_options

if TYPE_CHECKING:
    from trunkline.session.client.editors import Editor
    from trunkline.session.session import Session

SEEN_MOST = 10_000
"""Calls that are remembered; an editor that gets one again takes it for an update."""

_USER = b'{"sessionUpdate":"user_message_chunk"'
_TERMINAL = b'"terminal'

AnyCall = TypeVar("AnyCall", ToolCall, ToolCallUpdate)


class _Result(msgspec.Struct, rename="camel"):
    """What a call's event says of its output."""

    output: str = ""


class UpdateView:
    """What one editor sees of one session."""

    def __init__(self, session: Session, editor: Editor) -> None:
        self._session = session
        self._editor = editor
        self._seen: dict[str, None] = {}
        self._head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%b,"update":' % encode_acp(session.id)
        self.own_turn = False
        """Whether the turn was begun by this editor: it knows its own prompt."""

    def forget(self) -> None:
        """The editor gets everything again."""
        self._seen.clear()
        self.own_turn = False

    def text_line(self, update: bytes) -> bytes | None:
        """The message of an update that is plain text of the agent's, which is most of them; None for any other."""
        return self._line(update) if usual_text(update) is not None else None

    def lines(self, entry: Entry, *, live: bool) -> list[bytes]:
        """The messages that an entry's update becomes."""
        update = entry.update
        assert update is not None, "only an entry with an update has some"
        if usual_text(update) is not None:
            return [self._line(update)]
        if update.startswith(_USER) and self.own_turn:
            return []
        if text_chunk(update) is not None:
            return [self._line(update)]
        return [self._line(each) for each in self._shown(entry, update, live)]

    def announced(self, tool_call_id: str) -> list[bytes]:
        """The message with the call that a permission is needed for, where the editor does not know it."""
        if tool_call_id in self._seen:
            return []
        self._see(tool_call_id)
        return [self._line(encode_acp(self._whole_call(ToolCallUpdate(tool_call_id=tool_call_id), b"", live=True)))]

    def started_over(self) -> list[bytes]:
        """The message that the agent has lost the conversation: as text where the editor takes no notices."""
        from trunkline.session.interpret.lifecycle import AFRESH, LOST  # loaded with the session, not with the server

        takes = self._editor.offers.session
        if takes is not None and takes.notices is not None:
            message: msgspec.Struct = Notice(severity="warning", title=AFRESH, description=LOST)
        else:
            message = AgentMessageChunk(content=TextContent(text=f"**{AFRESH}.** {LOST}\n\n"))
        return [self._line(encode_acp(message))]

    def failed(self, tool_call_id: str) -> list[bytes]:
        """The message that ends a call whose agent never did."""
        if tool_call_id not in self._seen:
            return []
        return [self._line(encode_acp(ToolCallUpdate(tool_call_id=tool_call_id, status="failed")))]

    def completed(self, tool_call_id: str) -> list[bytes]:
        """The message that ends what an ask was shown as that is about no call of its own."""
        return [self._line(encode_acp(ToolCallUpdate(tool_call_id=tool_call_id, status="completed")))]

    def shown(self, content: list[ToolCallContent] | None, event: bytes) -> list[ToolCallContent] | None:
        """A call's content with terminals as this editor knows them."""
        if content is None or not any(isinstance(item, Terminal) for item in content):
            return content
        found: list[ToolCallContent] = []
        for item in content:
            if not isinstance(item, Terminal):
                found.append(item)
            elif (theirs := self._session.editors.their_id(item.terminal_id, self._editor)) is not None:
                found.append(msgspec.structs.replace(item, terminal_id=theirs))
            elif printed := _printed(event):
                found.append(Content(content=TextContent(text=printed)))
        return found

    def _line(self, update: bytes) -> bytes:
        return b"".join((self._head, update, b"}}")) if b"\n" not in update else b"".join((
            self._head, msgspec.json.format(update, indent=-1), b"}}"))

    def _shown(self, entry: Entry, raw: bytes, live: bool) -> list[bytes]:
        update, wire = read_update(raw)
        takes = self._editor.offers.session
        match update:
            case UnknownUpdate():
                return []
            case UserMessageChunk():
                return [] if self.own_turn else [wire]
            case ToolCall():
                self._see(update.tool_call_id)
                return [self._call(update, wire, entry.event)]
            case ToolCallUpdate() if update.tool_call_id not in self._seen:
                self._see(update.tool_call_id)
                return [encode_acp(self._whole_call(update, entry.event, live=live))]
            case ToolCallUpdate():
                return [self._call(update, wire, entry.event)]
            case ConfigOptionUpdate():
                options = shown_options(update.config_options, self._editor.offers)
                same = len(options) == len(update.config_options)
                return [wire if same else encode_acp(msgspec.structs.replace(update, config_options=options))]
            case Notice():
                return [wire] if live and takes is not None and takes.notices is not None else []
            case CompactionUpdate() | CompactionSummaryChunk():
                return [wire] if takes is not None and takes.compaction is not None else []
            case _:
                return [wire]

    def _call(self, update: AnyCall, wire: bytes, event: bytes) -> bytes:
        if _TERMINAL not in wire:
            return wire
        content = self.shown(update.content, event)
        return wire if content is update.content else encode_acp(msgspec.structs.replace(update, content=content))

    def _whole_call(self, update: ToolCallUpdate, event: bytes, *, live: bool) -> ToolCall:
        """A call that the editor gets for the first time: all that is known of it. (An old turn's is not known any more.)"""
        known = self._session.fold.calls.get(update.tool_call_id) if live else None
        state = CallState(tool_call_id=update.tool_call_id) if known is None else msgspec.structs.replace(known.state)
        merge_call(state, update)
        return ToolCall(
            tool_call_id=state.tool_call_id, title=state.title or state.name or state.tool or "Tool call", name=state.name,
            kind=state.kind, status=update.status or state.status,  # type: ignore[arg-type]  # the state has the schema's words
            content=self.shown(state.content, event), locations=state.locations,
            raw_input=msgspec.Raw(state.raw_input) if state.raw_input is not None else msgspec.UNSET,
            raw_output=msgspec.Raw(state.raw_output) if state.raw_output is not None else msgspec.UNSET)

    def _see(self, tool_call_id: str) -> None:
        self._seen[tool_call_id] = None
        if len(self._seen) > SEEN_MOST:
            del self._seen[next(iter(self._seen))]


def _printed(event: bytes) -> str:
    """What a call printed, where its event says it."""
    try:
        return decoders.decode(event, _Result).output if event else ""
    except BROKEN:
        return ""
