"""The socket of Codex's shared daemon, as its second client: what it says of the threads that terminals have open, what it takes.

Messages are JSON-RPC objects without their ``jsonrpc`` member.
Rule 1: only threads that the daemon lists: it runs others for itself (titles), and sub-agents, which are no sessions.
Rule 2: a request that is not an ask is the terminal's to answer; where it asks a person, it is said that it waits there. An ask
is answered by what it offers, and by nothing else.
Rule 3: nothing raises, whatever comes. What is kept is bounded: the oldest goes.
Rule 4: a text is told only from its beginning on; what began before we were there is the file's.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline import decoders
from trunkline.dialects.codex import foreign
from trunkline.dialects.codex.asks import AnyAsk, FileAsk, edit_ask, left_there, read_ask
from trunkline.dialects.elsewhere.foreign import IsOurs
from trunkline.dialects.elsewhere.lines import (
    Appeared,
    AskOver,
    Asks,
    LineEvent,
    NotTaken,
    Said,
    Says,
    Send,
    ServerEvent,
    Told,
    Vanished,
    WaitsThere,
)
from trunkline.dialects.elsewhere.transcripts import object_of, objects_of, text_of
from trunkline.dialects.outside import BROKEN, Json

THREADS_MOST: Final = 64
"""Threads of a daemon that are listened to: a terminal has one."""
KEPT_MOST: Final = 256
"""Asks, edits and requests of ours that are remembered."""
LISTED: Final = 100
SIGNS: Final = frozenset({"thread/status/changed", "thread/name/updated", "turn/started"})
"""What is said to everybody when something happens in a thread: it may be listed by now."""

_encode = msgspec.json.Encoder().encode


class _Message(msgspec.Struct):
    method: str = ""
    id: str | int | None = None
    params: dict[str, Any] = {}
    result: Any = None
    error: Any = None


_read = decoders.of(_Message).decode


class _Thread:
    """A thread that is listened to."""

    def __init__(self) -> None:
        self.turn_id = ""
        self.telling = ""
        """The item whose text is told."""
        self.part = 0
        """Which part of a thought is told."""
        self.resolved: str | None = None
        """An ask that somebody answered; what comes next says how."""


class CodexLine:
    """Implements ``ServerLine``."""

    def __init__(self) -> None:
        self._last_id = 0
        self._calls: dict[int, tuple[str, str]] = {}
        """Requests of ours that are not answered yet: what they are for, and the thread or turn."""
        self._loaded: dict[str, None] = {}
        """Threads that the daemon has loaded, and of which it is not known yet whether it lists them."""
        self._own: dict[str, None] = {}
        """Threads that it runs for itself."""
        self._new: dict[str, None] = {}
        """Threads that were begun, and have no file yet."""
        self._threads: dict[str, _Thread] = {}
        self._edits: dict[tuple[str, str], Json] = {}
        """By the thread and the item: models name their items, and two threads may have one of a name."""
        self._asks: dict[str, AnyAsk] = {}

    def opening(self) -> list[bytes]:
        """Say who we are."""
        about = {"clientInfo": {"name": "trunkline", "title": "Trunkline", "version": "1"},
                 "capabilities": {"experimentalApi": True}}
        return [self._call("initialize", about, "begin")]

    def missed(self) -> None:
        """Nothing is older than the connection."""

    def receive(self, message: bytes) -> list[ServerEvent]:
        """What a message of the daemon means."""
        try:
            read = _read(message)
        except BROKEN:
            return []
        if not read.method:
            return self._on_answer(read)
        thread_id = text_of(read.params, "threadId")
        settled = self._settle(thread_id, read)
        if read.id is not None:
            return settled + self._on_request(read, thread_id)
        return settled + self._on_news(read.method, read.params, thread_id)

    def decided(self, session_id: str, key: str, option_id: str | None, reason: str | None) -> tuple[bytes | None, str]:
        """Accept or not. A reason cannot go with the answer: the turn is ended, and the reason is the next prompt."""
        ask = self._asks.pop(key, None)
        decision, words = ask.decision(option_id, reason) if ask is not None else (None, "")
        if ask is None or decision is None:
            return None, ""
        return _encode({"id": ask.id, "result": {"decision": decision}}), words

    def answered(self, session_id: str, key: str, action: str, content: bytes | None) -> bytes | None:
        """The answers by the questions' ids; one that nobody answers here is the terminal's."""
        ask = self._asks.pop(key, None)
        answers = ask.answers(action, content) if ask is not None else None
        return _encode({"id": ask.id, "result": {"answers": answers}}) if ask is not None and answers is not None else None

    def prompt(self, session_id: str, turn_id: str, text: str) -> bytes:
        """Begin a turn."""
        given = {"threadId": session_id, "input": [{"type": "text", "text": text}]}
        return self._call("turn/start", given, "prompt", f"{session_id} {turn_id}")

    def cancel(self, session_id: str) -> bytes | None:
        """Interrupt the turn that is known to run."""
        thread = self._threads.get(session_id)
        if thread is None or not thread.turn_id:
            return None
        return self._call("turn/interrupt", {"threadId": session_id, "turnId": thread.turn_id}, "interrupt")

    def watched_files(self, folder: str, cwd: str) -> list[str]:
        """Where its hooks are named."""
        return foreign.watched_files(folder, cwd)

    def has_foreign(self, text: bytes, is_ours: IsOurs) -> bool:
        """Hooks of others that decide."""
        return foreign.has_foreign(text, is_ours)

    def _call(self, method: str, params: Json, purpose: str, about: str = "") -> bytes:
        self._last_id += 1
        _keep(self._calls, self._last_id, (purpose, about))
        return _encode({"id": self._last_id, "method": method, "params": params})

    def _on_answer(self, read: _Message) -> list[ServerEvent]:
        purpose, about = self._calls.pop(read.id, ("", "")) if isinstance(read.id, int) else ("", "")
        failed = read.error is not None
        match purpose:
            case "begin" if not failed:
                return [Send(_encode({"method": "initialized"})), Send(self._call("thread/loaded/list", {}, "loaded"))]
            case "loaded":
                data = read.result.get("data") if isinstance(read.result, dict) else None
                ids = [each for each in data if isinstance(each, str)] if isinstance(data, list) else []
                return self._ask_whether_listed(ids)
            case "listed":
                return self._on_listed({text_of(each, "id") for each in objects_of(read.result, "data")})
            case "join" if failed:
                self._threads.pop(about, None)  # it has no file yet: the next thing that happens in it is another try
                _keep(self._new, about, None)
            case "turns":
                self._on_turns(about, objects_of(read.result, "data"))
            case "prompt" if failed:
                thread_id, _, turn_id = about.partition(" ")
                return [Told(thread_id, NotTaken(turn_id, text_of(read.error, "message")[:500] or "it was refused"))]
        return []

    def _ask_whether_listed(self, ids: list[str]) -> list[ServerEvent]:
        fresh = [each for each in ids if each not in self._threads and each not in self._own]
        for each in fresh:
            _keep(self._loaded, each, None)
        return [Send(self._call("thread/list", {"limit": LISTED, "sortKey": "updated_at"}, "listed"))] if fresh else []

    def _on_listed(self, listed: set[str]) -> list[ServerEvent]:
        wanted, self._loaded = [each for each in self._loaded if each in listed], {}
        return [event for each in wanted for event in self._join(each)]

    def _join(self, thread_id: str) -> list[ServerEvent]:
        if thread_id in self._threads or len(self._threads) >= THREADS_MOST:
            return []
        self._new.pop(thread_id, None)
        self._threads[thread_id] = _Thread()
        newest = {"threadId": thread_id, "limit": 1, "sortDirection": "desc"}
        return [Appeared(thread_id),
                Send(self._call("thread/resume", {"threadId": thread_id, "excludeTurns": True}, "join", thread_id)),
                Send(self._call("thread/turns/list", newest, "turns", thread_id))]

    def _on_turns(self, thread_id: str, turns: list[Json]) -> None:
        """The turn that ran when we came."""
        thread = self._threads.get(thread_id)
        if thread is not None and not thread.turn_id and turns and turns[0].get("status") == "inProgress":
            thread.turn_id = text_of(turns[0], "id")

    def _on_news(self, method: str, params: Json, thread_id: str) -> list[ServerEvent]:
        match method:
            case "thread/started":
                self._on_started(object_of(params, "thread"))
                return []
            case "thread/closed" | "thread/deleted" | "thread/archived":
                return [Vanished(thread_id)] if self._threads.pop(thread_id, None) is not None else []
            case "serverRequest/resolved":
                self._on_resolved(thread_id, params.get("requestId"))
                return []
        thread = self._threads.get(thread_id)
        if thread is not None:
            return [Told(thread_id, event) for event in self._on_item(thread, method, params)]
        return self._on_stranger(thread_id) if method in SIGNS else []

    def _on_started(self, thread: Json) -> None:
        """A thread is begun. It has a file with its first prompt; one that the daemon runs for itself, or for an agent, never is
        a session."""
        ours = thread.get("ephemeral") is not True and not thread.get("parentThreadId")
        _keep(self._new if ours else self._own, text_of(thread, "id"), None)

    def _on_stranger(self, thread_id: str) -> list[ServerEvent]:
        """Something happens in a thread that is not listened to yet."""
        if not thread_id or thread_id in self._own:
            return []
        return self._join(thread_id) if thread_id in self._new else self._ask_whether_listed([thread_id])

    def _on_item(self, thread: _Thread, method: str, params: Json) -> list[LineEvent]:
        match method:
            case "turn/started":
                thread.turn_id = text_of(object_of(params, "turn"), "id")
            case "turn/completed":
                thread.turn_id = thread.telling = ""
            case "item/started":
                self._on_begun(thread, text_of(params, "threadId"), object_of(params, "item"))
            case "item/agentMessage/delta" if params.get("itemId") == thread.telling:
                return _says(thread, text_of(params, "delta"), False)
            case "item/reasoning/summaryTextDelta" if params.get("itemId") == thread.telling:
                part = params.get("summaryIndex")
                between = "\n" if isinstance(part, int) and part > thread.part else ""
                thread.part = part if isinstance(part, int) else thread.part
                return _says(thread, between + text_of(params, "delta"), True)
            case "item/completed":
                self._edits.pop((text_of(params, "threadId"), text_of(object_of(params, "item"), "id")), None)
                return self._on_whole(thread, object_of(params, "item"))
        return []

    def _on_begun(self, thread: _Thread, thread_id: str, item: Json) -> None:
        match item.get("type"):
            case "agentMessage" | "reasoning":
                thread.telling, thread.part = text_of(item, "id"), 0
            case "fileChange":
                _keep(self._edits, (thread_id, text_of(item, "id")), item)

    def _on_whole(self, thread: _Thread, item: Json) -> list[LineEvent]:
        if not thread.telling or item.get("id") != thread.telling:
            return []
        thread.telling = ""
        summary = item.get("summary")
        parts = [each for each in summary if isinstance(each, str) and each] if isinstance(summary, list) else []
        return [Said((text_of(item, "text") if item.get("type") == "agentMessage" else "\n".join(parts)) or None)]

    def _on_request(self, read: _Message, thread_id: str) -> list[ServerEvent]:
        if thread_id not in self._threads or read.id is None:
            return []
        item_id = text_of(read.params, "itemId")
        ask = read_ask(read.method, read.id, read.params)
        if isinstance(ask, FileAsk):
            ask = edit_ask(ask, self._edits.get((thread_id, item_id), {}))
        if ask is None:
            about = left_there(read.method, read.params)
            return [] if about is None else [Told(thread_id, WaitsThere(about))]
        key = _key(read.id)
        _keep(self._asks, key, ask)
        return [Told(thread_id, Asks(key, ask.signal))]

    def _on_resolved(self, thread_id: str, request_id: Any) -> None:
        """Somebody answered; an answer of ours is known already."""
        thread, key = self._threads.get(thread_id), _key(request_id)
        if thread is not None and key in self._asks:
            thread.resolved = key

    def _settle(self, thread_id: str, read: _Message) -> list[ServerEvent]:
        """What comes behind an answer in the terminal says which it was."""
        thread = self._threads.get(thread_id)
        key = thread.resolved if thread is not None else None
        if thread is None or key is None:
            return []
        thread.resolved = None
        ask = self._asks.pop(key, None)
        if ask is None:
            return []
        item, approved = object_of(read.params, "item"), None
        if read.method == "item/completed" and item.get("id") == ask.item_id:
            approved = item.get("status") != "declined"
        elif read.method == "thread/status/changed" and ask.is_permission:
            approved = object_of(read.params, "status").get("type") == "active" or None
        return [Told(thread_id, AskOver(key, approved))]


def new_line() -> CodexLine:
    """A line that is about to be opened."""
    return CodexLine()


def _says(thread: _Thread, text: str, thinking: bool) -> list[LineEvent]:
    return [Says(thread.telling, text, thinking)] if text else []


def _key(request_id: Any) -> str:
    return str(request_id)[:200]


def _keep(table: dict[Any, Any], key: Any, value: Any) -> None:
    table[key] = value
    while len(table) > KEPT_MOST:
        del table[next(iter(table))]
