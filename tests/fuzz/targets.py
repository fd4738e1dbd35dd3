"""Every parser of outside bytes as a function of one bytes object; what it may raise is an error of our tree."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import tomllib
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import msgspec
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser

from tests.tooling.claude_runs import translator
from tests.tooling.story import Player
from trunkline.agents import catalog
from trunkline.agents.catalog import acp_registry
from trunkline.agents.catalog.own import entry_text
from trunkline.cli.commands.acp import messages
from trunkline.cli.read_settings import load
from trunkline.client.records import EventParser
from trunkline.cluster import wire
from trunkline.cluster.headers import parse_headers
from trunkline.cluster.tunnel import duplex, heads
from trunkline.cluster.tunnel.flow import Flow
from trunkline.cluster.tunnel.frames import HEAD_BYTES, decode_count
from trunkline.dialects.acp.methods import METHODS
from trunkline.dialects.acp.reading.decode import decode_params, decode_result, read_update
from trunkline.dialects.claude.hooks import HOOKS
from trunkline.dialects.claude.transcript import ClaudeTranscript
from trunkline.dialects.codex.rollout import CodexRollout
from trunkline.dialects.context.commands import decode_command, decode_command_envelope
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.filters import encoded_type, parse_types
from trunkline.dialects.copilot.events import CopilotEvents
from trunkline.dialects.copilot.hooks import HOOKS as COPILOT_HOOKS
from trunkline.dialects.elsewhere.hooks import HookCall
from trunkline.dialects.gemini import hooks as gemini_hooks
from trunkline.dialects.gemini.chat import GeminiChat
from trunkline.dialects.goose import hooks as goose_hooks
from trunkline.dialects.jsonrpc import Peer
from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.dialects.opencode.rows import OpencodeRows, Row
from trunkline.dialects.outside import BROKEN, NOT_TOML
from trunkline.dialects.packets import detect, tools
from trunkline.dialects.packets.wire import decode_packet
from trunkline.dialects.qwen.chat import QwenChat
from trunkline.dialects.risk import command_parts
from trunkline.dialects.shell import parse_shell, spans
from trunkline.dialects.signals import Malformed, PermissionAsk, QuestionAsk, Update
from trunkline.dialects.visible import UNSEEN, escaped, numbered, printable, shown
from trunkline.errors import TrunklineError
from trunkline.hub import NewSession
from trunkline.journal.base import Entry
from trunkline.journal.search.texts import passage_of
from trunkline.journal.search.words import expression_of
from trunkline.journal.stores.sqlite import block
from trunkline.journal.stores.sqlite.database import storage_errors
from trunkline.reach.settings_file import missing_lists, our_commands, with_entries, without_entries
from trunkline.reach.shapes import is_our_command
from trunkline.reach.socket import read_head
from trunkline.server.auth.credentials import NOBODY, RequestGate
from trunkline.server.auth.tokens import Tokens
from trunkline.server.call import HttpCall, asks_for_stream
from trunkline.server.context.ws import frames
from trunkline.server.files import content
from trunkline.server.files.uploads import safe_name
from trunkline.server.http.messages import Request
from trunkline.server.options import ServerOptions
from trunkline.server.sessions.markdown import MarkdownTranscript
from trunkline.session.approvals import forms
from trunkline.session.policy import globs
from trunkline.session.policy.text import parse_policy

Target = Callable[[bytes], None]
ENDS: list[str] = []
"""How the parsers that were called since it was cleared have ended: which errors, without what is particular about them."""
_VARIABLE = re.compile(r"['\"`].*['\"`]|[^ -~]+|\d+", re.DOTALL)
ROOT, HOME = "/home/ann/app", "/home/ann"


def _text(data: bytes) -> str:
    """As text: what is no UTF-8 becomes halves of characters, which a JSON escape or a file name can bring too."""
    return data.decode("utf-8", "surrogateescape")


def jsonrpc(data: bytes) -> None:
    """Lines of an agent or an editor, cut anywhere."""
    peer = Peer(methods=["fs/read_text_file"], complains=True)
    peer.send_request("session/prompt", b"{}")
    for start in range(0, len(data), 7 + len(data) // 4):
        peer.receive_data(data[start:start + 7 + len(data) // 4])
    peer.receive_eof()
    for message in peer.messages_received():
        _ended(type(message).__name__, getattr(message, "why", ""))
        if not isinstance(message, Malformed):
            msgspec.json.encode(message).decode()  # what is kept as it came can be passed on
    b"".join(peer.data_to_send()).decode()


def acp_update(data: bytes) -> None:
    """An update of an agent, read, and put through the fold to every face; what is no UTF-8 does not come past the peer."""
    if utf8_fault(data) is not None:
        return
    try:
        read_update(data)
    except TrunklineError:
        return
    player = Player()
    player.play(Update(data))
    for entry in player.entries:
        _ended(encoded_type(entry.event), entry.update is not None, entry.packet is not None, entry.raw is not None)
        entry.event.decode()
        passage_of(entry)
        MarkdownTranscript().render(entry.event)


def acp_params(data: bytes) -> None:
    """Params and results of every method."""
    for method in METHODS:
        for read in (decode_params, decode_result):
            _tolerant(read, method, data)


def acp_asks(data: bytes) -> None:
    """Permissions and questions of an agent, through the fold; what is no JSON does not come so far."""
    try:
        msgspec.json.decode(data.decode())
    except BROKEN:
        return
    player = Player()
    player.play(PermissionAsk("req_0", data, ()))
    player.play(QuestionAsk("req_1", "Which?", data, None, None))
    _tolerant(forms.content_of, "1", data)
    _tolerant(forms.check_content, {"a": "http://[", "b": 10**400}, data)


def claude_frames(data: bytes) -> None:
    """What the CLI writes, line by line."""
    translate = translator()
    translate.prompted("p")
    for line in data.split(b"\n"):
        for signal in translate.receive(line):
            _ended(type(signal).__name__, getattr(signal, "kind", ""), getattr(signal, "why", ""))
            msgspec.json.encode(signal)
    translate.control.take_answers()
    b"".join(translate.control.take_output()).decode()


def claude_transcript(data: bytes) -> None:
    """Its session files."""
    reading = ClaudeTranscript()
    told = [timed for line in data.split(b"\n") for timed in reading.line(line)] + reading.settle()
    for _, signal in told:
        _ended(type(signal).__name__, getattr(signal, "kind", ""))
        msgspec.json.encode(signal)


def stored_lines(data: bytes) -> None:
    """Session files of the other programs."""
    for reading in (CodexRollout(), GeminiChat(), QwenChat(), CopilotEvents()):
        told = [timed for line in data.split(b"\n") for timed in reading.line(line)] + reading.settle()
        for _, signal in told:
            _ended(type(reading).__name__, type(signal).__name__, getattr(signal, "kind", ""))
            msgspec.json.encode(signal)


def stored_rows(data: bytes) -> None:
    """Rows of a program's database: a message, and its parts."""
    message, *parts = data.split(b"\n")
    reading = OpencodeRows()
    rows = [Row(str(number), 1, 2, part) for number, part in enumerate(parts)]
    for _, signal in reading.message(Row("m", 1, 2, message), rows) + reading.message(Row("m", 1, 2, message), rows):
        _ended(type(signal).__name__, getattr(signal, "kind", ""))
        msgspec.json.encode(signal)


def packet_detection(data: bytes) -> None:
    """A packet of anybody's."""
    for look in (detect.packet_type, detect.fields_of, detect.tool_name, detect.is_todo_write, detect.is_task,
                 detect.is_new_file, detect.display_title, detect.file_path, detect.tool_kind, tools.tool_input,
                 tools.tool_output, decode_packet):
        _tolerant(look, data)


def context_commands(data: bytes) -> None:
    """Commands and events of the Agent Context Protocol."""
    for read in (decode_command, decode_command_envelope, decode_event):
        _tolerant(read, data)
    _tolerant(parse_types, _text(data))


def request_bodies(data: bytes) -> None:
    """A body that becomes a type, as every route reads one."""
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    call = HttpCall.__new__(HttpCall)
    call.request = Request({"type": "http", "headers": [(b"content-length", data[:9] or b"0")]}, receive)
    call.parts = SimpleNamespace(options=ServerOptions(data=_scratch(), port=7420))  # type: ignore[assignment]
    call.caller = NOBODY
    _tolerant(lambda: _awaited(call.body(NewSession)))


def ws_frames(data: bytes) -> None:
    """A client's frame on ``/ws``."""
    _tolerant(frames.decode, _text(data))
    frames.id_of(_text(data))


def headers(data: bytes) -> None:
    """Range, Host, Origin, Accept, Cookie, cursors: whatever a head may carry."""
    value = data.decode("latin-1")
    content._range(value, 1000)
    content._lists(value, '"x"')
    scope = {"type": "http", "method": "GET", "path": value, "query_string": data, "scheme": "http", "server": ("h", 1),
             "headers": [(name, data) for name in (b"host", b"origin", b"accept", b"cookie", b"last-event-id")]}
    request = Request(scope)
    _tolerant(_gate().check_host, request)
    _tolerant(_gate().check_origin, request)
    _tolerant(_gate().caller, request)
    asks_for_stream(request)
    call = HttpCall.__new__(HttpCall)
    call.request = request
    _tolerant(call.cursor, 10)
    for name in ("after", "limit"):
        _tolerant(call.integer, name)


def multipart(data: bytes) -> None:
    """A form with files, and the names that they come under."""
    async def body() -> AsyncGenerator[bytes, None]:
        yield data

    parser = MultiPartParser(Headers({"content-type": "multipart/form-data; boundary=x"}), body(), max_files=3, max_fields=3)
    try:
        form = _awaited(parser.parse())
        for _, part in form.multi_items():
            content._disposition(safe_name(getattr(part, "filename", "") or ""), True)
        _awaited(form.close())
    except MultiPartException:
        pass  # what the route makes Invalid of
    finally:
        for file in parser._files_to_close_on_error:  # a part that never ended is in no form; nobody else holds it
            file.close()
    name = safe_name(_text(data))
    assert "/" not in name and "\0" not in name
    content._disposition(_text(data), False)


def policy(data: bytes) -> None:
    """The text of ``policy.toml``, from the file or from a client."""
    _tolerant(parse_policy, _text(data))


def catalog_toml(data: bytes) -> None:
    """An agent's table, and the settings file."""
    try:
        table = tomllib.loads(data.decode())
    except NOT_TOML:
        table = {}
    _tolerant(catalog.spec_from_table, "x", table)
    path = _scratch() / "config.toml"
    path.write_bytes(data)
    _tolerant(load, {"config": str(path)})


def agent_registry(data: bytes) -> None:
    """The public registry's JSON, and each of its agents as an entry of the catalog, by every way to have it."""
    listed: list[acp_registry.Listed] = []
    _tolerant(lambda: listed.extend(acp_registry.read_registry(data)))
    for agent in [each.agent for each in listed if each.agent is not None][:4]:
        for way in (None, *acp_registry.WAYS):
            _tolerant(lambda: catalog.spec_from_table("x", tomllib.loads(
                entry_text(acp_registry.entry_of(agent, way, "linux-x86_64")))))  # noqa: B023 (it is called at once)


def shell_lines(data: bytes) -> None:
    """A line of shell: what it runs, and the parts that are shown. It is read, never run."""
    line = _text(data)
    parsed = parse_shell(line)
    _ended(parsed.problem, len(parsed.commands), *(len(command.words) for command in parsed.commands[:4]))
    spans(line)
    command_parts(line, cwd=ROOT, roots=(ROOT,), home=HOME)


def glob_patterns(data: bytes) -> None:
    """A pattern of a rule, against a path of an agent's."""
    pattern, _, path = _text(data).partition("\n")
    _tolerant(globs.check, pattern)
    _tolerant(globs.check_path_pattern, pattern)
    where = globs.place(path, ROOT, HOME)
    globs.path_allowed([pattern], where)
    globs.path_concerned([pattern], where, HOME)
    globs.text_listed([pattern], path)
    globs.text_concerned([pattern], [path])


def sse_client(data: bytes) -> None:
    """What a server sends our client, cut anywhere."""
    parser = EventParser()
    for start in range(0, len(data), 5 + len(data) // 5):
        for event in parser.feed(data[start:start + 5 + len(data) // 5]):
            _ended(event.name[:20], event.id is None)


def editor_messages(data: bytes) -> None:
    """What an editor writes to ``trunkline acp``."""
    envelope = messages.read(data)
    _ended(envelope is None)
    if envelope is not None:
        messages.params_of(envelope.params)
        messages.with_meta(envelope.params, {"key": "k"})
    messages.env_allow_of(msgspec.Raw(data))
    messages.too_long(data)


def journal_blocks(data: bytes) -> None:
    """A stored row, perhaps damaged."""
    def read(decode: Callable[[bytes], object]) -> None:
        with storage_errors(Path("journal.db"), "read"):
            decode(data)

    _tolerant(read, block.decode)
    _tolerant(read, block.decode_parts)


def cluster_messages(data: bytes) -> None:
    """A message of the cluster's stream, its headers as JetStream hands them out, and a large entry of its own."""
    head, _, body = data.partition(b"\r\n\r\n")
    found = parse_headers(head)
    _tolerant(wire.read_message, found, body)
    _tolerant(wire.read_message, {"Tl-V": "1", "Tl-Kind": "entries", "Tl-Epoch": "1", "Tl-Seq": "1-1"}, data)
    _tolerant(wire.read_entry, data)


def tunnel_messages(data: bytes) -> None:
    """A message of a tunnel between nodes, and what each kind of it carries."""
    _tolerant(Flow().receive, data)
    for read in (decode_count, heads.decode_request, heads.decode_reply, duplex.read_closing):
        _tolerant(read, data[HEAD_BYTES:])
    for told in (heads.decode_ending(data[HEAD_BYTES:]), heads.refusal_in(data[HEAD_BYTES:])):
        assert told is None or told.code in heads.ENDS_WITH, "no node makes another's clients do what it likes"


def hook_calls(data: bytes) -> None:
    """What a program in a terminal hands to its hook, and the line before it."""
    read_head(data)
    HOOKS.has_foreign(data, is_our_command)
    call = HOOKS.read(data)
    if call is not None and call.does == "asks":
        msgspec.json.encode(HOOKS.ask(call, "r", "c"))
        assert HOOKS.decided(call, None, None, None) == b"" == HOOKS.answered(call, "cancel", None), "silence is no opinion"
        for answer in (HOOKS.decided(call, "reject", "why", None), HOOKS.answered(call, "accept", data)):
            assert json.loads(answer)["hookSpecificOutput"]["decision"]["behavior"] in ("allow", "deny")
    for checks in (gemini_hooks.HOOKS, goose_hooks.HOOKS):
        checks.has_foreign(data, is_our_command)
        call = checks.read(data)
        if call is not None:
            msgspec.json.encode(checks.ask(call, "r", "c"))
            assert checks.decided(call, "allow", None, None) == b"" == checks.answered(call, "accept", data), "it never allows"
    with suppress(UnicodeDecodeError):
        asked = HookCall(does="asks_there", session_id="s", cwd="/", tool="run_shell_command", given={"command": "touch a1"})
        gemini_hooks.HOOKS.is_shown(data.decode(), asked)
    COPILOT_HOOKS.has_foreign(data, is_our_command)
    call = COPILOT_HOOKS.read(data)
    if call is not None and call.does == "asks":
        msgspec.json.encode(COPILOT_HOOKS.ask(call, "r", "c"))
        assert COPILOT_HOOKS.decided(call, None, None, None) == b"", "silence is no opinion"


def settings_files(data: bytes) -> None:
    """A program's settings, with an entry of ours put in and taken out."""
    def change(text: str) -> None:
        entry: dict[str, Any] = {"hooks": [{"type": "command", "command": "ours"}]}
        made, before = missing_lists(text, ["Stop"]), len(our_commands(text, "ours".__eq__).get("Stop", ()))
        after = with_entries(text, {"Stop": entry})
        assert len(our_commands(after, "ours".__eq__)["Stop"]) == before + 1
        assert not our_commands(without_entries(after, "ours".__eq__, made), "ours".__eq__)

    _tolerant(change, _text(data))


def exports(data: bytes) -> None:
    """A stored event as markdown, in the search index, and as a line for a terminal."""
    transcript = MarkdownTranscript()
    head = transcript.head(title=_text(data), agent="a", folder=_text(data), started="")
    told = head + transcript.render(data) + transcript.end()
    told.encode()
    assert not set(told) & _OBEYED
    passage_of(Entry(1, 1, data))
    line = _text(data)
    assert not set(printable(line)) & _OBEYED and not set(shown(line)) & _OBEYED and not UNSEEN.search(numbered(line))
    _tolerant(expression_of, line)
    try:
        value = json.loads(data.decode())
    except (ValueError, RecursionError):
        return
    assert json.loads(escaped(data)) == value or value != value


TARGETS: Final[dict[str, Target]] = {target.__name__: target for target in (
    jsonrpc, acp_update, acp_params, acp_asks, claude_frames, claude_transcript, stored_lines, stored_rows, packet_detection,
    context_commands, request_bodies, ws_frames, headers, multipart, policy, catalog_toml, agent_registry, shell_lines,
    glob_patterns, sse_client, editor_messages, journal_blocks, cluster_messages, tunnel_messages, hook_calls, settings_files,
    exports)}

_OBEYED = set(map(chr, (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A),
                        *range(0xD800, 0xE000))))


def _tolerant(call: Callable[..., object], *args: Any) -> None:
    """An error of the tree is an answer."""
    try:
        call(*args)
    except TrunklineError as error:
        msgspec.json.encode(error.details)
        _ended(getattr(call, "__name__", ""), type(error).__name__, error.message)


def _ended(*words: object) -> None:
    ENDS.append(" ".join(_VARIABLE.sub("", str(word))[:40] if isinstance(word, str) else str(word) for word in words))


def _awaited(work: Any) -> Any:
    return _loop().run_until_complete(work)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


@cache
def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


@cache
def _gate() -> RequestGate:
    return RequestGate(ServerOptions(data=_scratch(), port=7420), Tokens.open(_scratch(), "a token"))
