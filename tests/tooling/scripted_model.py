"""A model on loopback that does what the prompt says, for real agents that would otherwise need a key and a network.

One port speaks the two OpenAI dialects, streaming or not, under any path prefix: ``POST …/chat/completions`` and
``POST …/responses`` (and ``GET …/models``). The script is the newest user text that has one of these at the start of a line:

    say hello            'Hello from the fake model.' in five chunks
    run: CMD             one call of the shell tool that the agent offers; after its result, 'Done.'
    par: CMD ;; CMD …    several shell calls in one answer
    write: PATH CONTENT  one call of the write or create-file tool (the shell, where there is none)
    call: TOOL JSON      one call of the tool of that name, with these arguments
    echo: TEXT           that text, with a line end for each \\n in it
    think: TEXT          a reasoning part, then 'Thought.'
    long N               N text chunks 'chunk i '
    slow                 a chunk every 0.2 s for a long time (to cancel it)
    error: CODE          an HTTP error with that status

Anything else is answered 'OK.'. A request that offers no tools (titles, summaries) never gets a tool call and is never slow; one
that demands JSON of a schema gets the smallest value that fits.
"""

from __future__ import annotations

import itertools
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

Json = dict[str, Any]

SCRIPT = re.compile(
    r"(?m)^[ \t>*`\"']*(say hello|run: [^\n]+|par: [^\n]+|write: \S+ [^\n]*|call: \S+ \{[^\n]*\}|echo: [^\n]+"
    r"|think: [^\n]+|long \d+|slow\b|error: \d+)")
MODELS = ("fake-model", "gpt-5.5")
PIECE = 16
"""Characters of a tool call's arguments in one streamed delta."""
SLOW_CHUNKS, SLOW_S = 200, 0.2

SHELL_TOOLS = ("bash", "shell", "run_shell_command", "shell_command", "exec_command", "execute_command", "terminal",
               "run_command", "execute", "local_shell")
WRITE_TOOLS = ("write", "write_file", "create_file", "write_to_file", "create", "write_text_file", "text_editor", "apply_patch",
               "edit")
COMMAND_KEYS = ("command", "cmd", "script", "commands", "input")
PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "filename", "file")
TEXT_KEYS = ("content", "contents", "file_text", "text", "new_string")


class ScriptedModel:
    """The server; a context manager. ``url`` is its address, ``requests`` what it was asked to do, ``told``
    all that it was sent."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.told: list[str] = []
        """All that it was sent, request by request."""
        handler = type("Handler", (_Reply,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.stopping = threading.Event()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()


# What an agent offers, and the call it gets


class Tool(NamedTuple):
    """A tool that the agent offers."""

    name: str
    schema: Json
    kind: str = "function"
    namespace: str | None = None

    @property
    def properties(self) -> Json:
        """The tool's parameters."""
        return dict(self.schema.get("properties") or {})


class Call(NamedTuple):
    """A call of one of them; the arguments are text for a tool of kind ``custom``."""

    tool: Tool
    arguments: Json | str


def pick(tools: list[Tool], names: tuple[str, ...], pattern: str) -> Tool | None:
    """The first tool by exact name, in the order of ``names``; else by pattern."""
    by_name = {tool.name.lower(): tool for tool in reversed(tools)}
    for name in names:
        if name in by_name:
            return by_name[name]
    return next((tool for name, tool in by_name.items() if re.search(pattern, name)), None)


def types_of(schema: Json) -> list[str]:
    """The types a schema allows, null apart."""
    kind = schema.get("type")
    return [each.lower() for each in (kind if isinstance(kind, list) else [kind]) if each and each != "null"]


def smallest(schema: Any, name: str = "", depth: int = 0) -> Any:
    """A minimal value that fits a JSON schema."""
    if not isinstance(schema, dict) or depth > 8:
        return "x"
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf", "allOf"):
        if schema.get(union):
            return smallest(schema[union][0], name, depth + 1)
    kind = (types_of(schema) or ["object" if "properties" in schema else "string"])[0]
    if kind == "object":
        properties = schema.get("properties") or {}
        return {key: smallest(properties.get(key, {}), key, depth + 1) for key in schema.get("required") or []}
    if kind == "array":
        return [smallest(schema.get("items") or {}, name, depth + 1)] if schema.get("minItems") else []
    return {"number": 1, "integer": schema.get("minimum", 1), "boolean": False}.get(kind, "fake " + (name or "text"))


def put(arguments: Json, properties: Json, keys: tuple[str, ...], value: str) -> bool:
    """Set the first of ``keys`` that the tool has; a list gets the value as its only item."""
    key = next((each for each in keys if each in properties), None)
    if key is None:
        return False
    types = types_of(properties[key] or {})
    is_list = "array" in types and "string" not in types
    arguments[key] = (["bash", "-lc", value] if key == "command" else [value]) if is_list else value
    return True


def shell_call(tools: list[Tool], command: str) -> Call | None:
    """A call of the shell tool."""
    tool = pick(tools, SHELL_TOOLS, r"shell|bash|terminal|exec|run_?c|command")
    if tool is None:
        return None
    if tool.kind == "custom":
        return Call(tool, command)
    arguments = smallest(tool.schema) if tool.schema else {}
    if not put(arguments, tool.properties, COMMAND_KEYS, command):
        arguments["command"] = command
    for key, value in (("sandbox_permissions", "require_escalated"), ("with_escalated_permissions", True)):
        if key in tool.properties:  # some agents ask for permission only if the model wants out of the sandbox
            arguments |= {key: value, "justification": "needed"}
    return Call(tool, arguments)


def write_call(tools: list[Tool], path: str, content: str) -> Call | None:
    """A call of the tool that makes a file."""
    usable = [tool for tool in tools if tool.name not in ("write_stdin", "write_todos")]
    tool = pick(usable, WRITE_TOOLS, r"write.*file|create.*file|^write|__write$|(text|file)_?editor")
    if tool is None:
        return shell_call(tools, f"printf %s '{content}' > {path}")
    if tool.name == "apply_patch" or tool.kind == "custom":
        patch = f"*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch\n"
        return Call(tool, patch if tool.kind == "custom" else dict.fromkeys(("input", "patchText", "patch"), patch))
    arguments = smallest(tool.schema)
    choices = (tool.properties.get("command") or {}).get("enum")
    if choices:
        arguments["command"] = next((each for each in ("create", "write") if each in choices), choices[0])
    put(arguments, tool.properties, PATH_KEYS, path)
    put(arguments, tool.properties, TEXT_KEYS, content)
    return Call(tool, arguments)


# What to answer


class Talk(NamedTuple):
    """A request of either dialect, reduced to what the script needs; turns are (role, texts), oldest first."""

    turns: list[tuple[str, list[str]]]
    tools: list[Tool]
    stream: bool
    schema: Json | None


class Plan(NamedTuple):
    """What the model says and does."""

    script: str
    chunks: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    think: str = ""
    pause_s: float = 0.02
    error: int = 0


def decide(talk: Talk) -> Plan:
    """The answer that the newest script asks for."""
    script, after_tool = "", False
    for role, texts in reversed(talk.turns):
        after_tool = after_tool or role == "tool"
        found = [match for text in texts for match in SCRIPT.findall(text)] if role == "user" else []
        if found:
            script = found[-1]
            break
    if talk.schema is not None:
        return Plan(script, (json.dumps(smallest(talk.schema)),))
    if after_tool:
        return Plan(f"{script} [after tool]", ("Done.",))
    return _scripted(script, talk.tools)


def _scripted(script: str, tools: list[Tool]) -> Plan:
    verb, _, rest = script.partition(" ")
    match verb:
        case "say":
            return Plan(script, ("Hello ", "from ", "the ", "fake ", "model."))
        case "long":
            return Plan(script, tuple(f"chunk {number} " for number in range(int(rest))), pause_s=0.001)
        case "slow" if tools:
            return Plan(script, tuple(f"tick {number} " for number in range(SLOW_CHUNKS)), pause_s=SLOW_S)
        case "think:":
            return Plan(script, ("Thought.",), think=rest)
        case "error:":
            return Plan(script, error=int(rest))
        case "echo:":
            return Plan(script, (rest.replace("\\n", "\n"),))
        case "run:" | "par:" | "write:" | "call:" if tools:
            calls = tuple(call for call in _calls(verb, rest, tools) if call is not None)
            return Plan(script, ("I will use a tool. " if calls else "I have no tool for that.",), calls)
    return Plan(script, ("OK.",))


def _calls(verb: str, rest: str, tools: list[Tool]) -> list[Call | None]:
    if verb == "call:":
        name, _, given = rest.partition(" ")
        return [Call(tool, json.loads(given)) for tool in tools if tool.name == name]
    if verb == "write:":
        path, _, content = rest.partition(" ")
        return [write_call(tools, path, content)]
    return [shell_call(tools, command.strip()) for command in (rest.split(";;") if verb == "par:" else [rest])]


def texts_of(content: Any) -> list[str]:
    """The texts of a message, however it is written."""
    blocks = [] if content is None else content if isinstance(content, list) else [content]
    texts = [block if isinstance(block, str) else block.get("text") for block in blocks if isinstance(block, str | dict)]
    return [text for text in texts if isinstance(text, str)]


def fresh(prefix: str) -> str:
    """A new id."""
    return prefix + secrets.token_hex(8)


def pieces(text: str) -> Iterator[str]:
    """A text in the pieces in which it is streamed."""
    return (text[start:start + PIECE] for start in range(0, len(text), PIECE))


# OpenAI chat completions


def read_chat(request: Json) -> Talk:
    """What a chat request asks."""
    role_of = {"tool": "tool", "function": "tool", "user": "user"}
    turns = [(role_of.get(each.get("role"), "other"), texts_of(each.get("content"))) for each in request.get("messages", [])]
    functions = [each.get("function") or each for each in request.get("tools") or []]
    tools = [Tool(each.get("name", "?"), each.get("parameters") or {}) for each in functions]
    wanted = request.get("response_format") or {}
    schema = (wanted.get("json_schema") or {}).get("schema", {}) if wanted.get("type") == "json_schema" else None
    return Talk(turns, tools, bool(request.get("stream")), schema)


def answer_chat(reply: _Reply, request: Json, plan: Plan, stream: bool) -> None:
    """Say and do it in the chat dialect."""
    base = {"id": fresh("chatcmpl-"), "created": int(time.time()), "model": request.get("model")}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    functions = [{"name": call.tool.name, "arguments": json.dumps(call.arguments)} for call in plan.calls]
    calls = [{"id": fresh("call_"), "type": "function", "function": function} for function in functions]
    finish = "tool_calls" if calls else "stop"
    if not stream:
        message: Json = {"role": "assistant", "content": "".join(plan.chunks)} | ({"tool_calls": calls} if calls else {})
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        reply.send_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        return

    def delta(part: Json, end: str | None = None) -> None:
        choices = [{"index": 0, "delta": part, "finish_reason": end}]
        reply.event({**base, "object": "chat.completion.chunk", "choices": choices})

    reply.start_events()
    delta({"role": "assistant", "content": ""})
    for word in plan.think.split():
        delta({"reasoning_content": word + " "})
    for text in reply.paced(plan):
        delta({"content": text})
    for index, call in enumerate(calls):
        function: Any = call["function"]
        delta({"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]})
        for piece in pieces(function["arguments"]):
            delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    delta({}, finish)
    reply.event({**base, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    reply.event("[DONE]")
    reply.end_events()


# OpenAI responses


def read_responses(request: Json) -> Talk:
    """What a responses request asks."""
    items = request.get("input") or []
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items
    turns = [_response_turn(item) for item in items]
    tools: list[Tool] = []
    for tool in request.get("tools") or []:
        if tool.get("type") in ("function", "custom", "local_shell"):
            tools.append(Tool(tool.get("name") or tool["type"], tool.get("parameters") or {}, tool["type"]))
        elif tool.get("type") == "namespace":
            tools += [Tool(each["name"], each.get("parameters") or {}, each.get("type", "function"), tool.get("name"))
                      for each in tool.get("tools") or []]
    wanted = (request.get("text") or {}).get("format") or {}
    schema = wanted.get("schema", {}) if wanted.get("type") == "json_schema" else None
    return Talk(turns, tools, bool(request.get("stream")), schema)


def _response_turn(item: Json) -> tuple[str, list[str]]:
    kind = item.get("type", "message")
    if kind != "message":
        return ("tool" if kind.endswith("_output") else "other"), []
    return str(item.get("role", "other")), texts_of(item.get("content"))


class _Response:
    """One answer in the responses dialect: numbered events around a list of items."""

    def __init__(self, reply: _Reply, request: Json, stream: bool) -> None:
        self._reply = reply
        self._stream = stream
        self._number = itertools.count()
        self._output: list[Json] = []
        self._base: Json = {
            "id": fresh("resp_"), "object": "response", "created_at": int(time.time()), "status": "in_progress",
            "model": request.get("model"), "output": [], "error": None, "incomplete_details": None, "instructions": None,
            "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
            "usage": None,
        }

    def event(self, kind: str, **fields: Any) -> None:
        """One event, where somebody reads a stream."""
        if self._stream:
            self._reply.event({"type": kind, "sequence_number": next(self._number), **fields}, kind)

    def begin(self) -> None:
        """Open the answer."""
        if self._stream:
            self._reply.start_events()
        self.event("response.created", response=self._base)
        self.event("response.in_progress", response=self._base)

    def item(self, opening: Json, body: Callable[[Json], Json]) -> None:
        """One output item: added, whatever ``body`` streams with its ids, done with the fields that ``body`` returns."""
        where = {"output_index": len(self._output)}
        self.event("response.output_item.added", **where, item=opening)
        done = opening | body({"item_id": opening["id"], **where})
        self.event("response.output_item.done", **where, item=done)
        self._output.append(done)

    def end(self) -> None:
        """Close the answer."""
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120}
        final = {**self._base, "status": "completed", "output": self._output, "usage": usage}
        if not self._stream:
            self._reply.send_json(final)
            return
        self.event("response.completed", response=final)
        self._reply.end_events()

    def say(self, texts: Iterator[str], ids: Json) -> Json:
        """Stream a message."""
        ids, said = {**ids, "content_index": 0}, ""
        self.event("response.content_part.added", **ids, part={"type": "output_text", "text": "", "annotations": []})
        for text in texts:
            said += text
            self.event("response.output_text.delta", **ids, delta=text, logprobs=[])
        part = {"type": "output_text", "text": said, "annotations": []}
        self.event("response.output_text.done", **ids, text=said, logprobs=[])
        self.event("response.content_part.done", **ids, part=part)
        return {"status": "completed", "content": [part]}

    def think(self, text: str, ids: Json) -> Json:
        """Stream a summary of reasoning."""
        ids = {**ids, "summary_index": 0}
        self.event("response.reasoning_summary_part.added", **ids, part={"type": "summary_text", "text": ""})
        for word in text.split():
            self.event("response.reasoning_summary_text.delta", **ids, delta=word + " ")
        self.event("response.reasoning_summary_text.done", **ids, text=text)
        return {"summary": [{"type": "summary_text", "text": text}]}

    def custom_call(self, call: Call, ids: Json) -> Json:
        """Stream a call whose input is plain text."""
        self.event("response.custom_tool_call_input.delta", **ids, delta=call.arguments)
        self.event("response.custom_tool_call_input.done", **ids, input=call.arguments)
        return {"status": "completed", "input": call.arguments}

    def function_call(self, call: Call, ids: Json) -> Json:
        """Stream a call with JSON arguments."""
        arguments = json.dumps(call.arguments)
        for piece in pieces(arguments):
            self.event("response.function_call_arguments.delta", **ids, delta=piece)
        self.event("response.function_call_arguments.done", **ids, name=call.tool.name, arguments=arguments)
        return {"status": "completed", "arguments": arguments}


def answer_responses(reply: _Reply, request: Json, plan: Plan, stream: bool) -> None:
    """Say and do it in the responses dialect."""
    response = _Response(reply, request, stream)
    response.begin()
    if plan.think:
        response.item({"id": fresh("rs_"), "type": "reasoning", "summary": []}, lambda ids: response.think(plan.think, ids))
    if plan.chunks:
        opening: Json = {"id": fresh("msg_"), "type": "message", "status": "in_progress", "role": "assistant", "content": []}
        response.item(opening, lambda ids: response.say(reply.paced(plan), ids))
    for call in plan.calls:
        _call_item(response, call)
    response.end()


def _call_item(response: _Response, call: Call) -> None:
    opening: Json = {"id": fresh("fc_"), "status": "in_progress", "call_id": fresh("call_"), "name": call.tool.name}
    if call.tool.kind == "custom":
        response.item({**opening, "type": "custom_tool_call", "input": ""}, lambda ids: response.custom_call(call, ids))
        return
    where = {"namespace": call.tool.namespace} if call.tool.namespace else {}
    response.item({**opening, **where, "type": "function_call", "arguments": ""}, lambda ids: response.function_call(call, ids))


# HTTP


DIALECTS: dict[str, tuple[Callable[[Json], Talk], Callable[[_Reply, Json, Plan, bool], None]]] = {}


class _Reply(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: the tests say what went wrong."""

    def do_GET(self) -> None:
        """The list of models, or one of them."""
        listed = [_describe(name) for name in MODELS]
        found = re.search(r"/models/(.+)$", self.path.split("?")[0])
        self.send_json(_describe(found[1]) if found else {"object": "list", "data": listed, "models": []})

    def do_POST(self) -> None:
        """A conversation."""
        body = self._body() or b"{}"
        self.model.told.append(body.decode("utf-8", "replace"))
        request = json.loads(body)
        path = self.path.split("?")[0]
        for suffix, (read, answer) in DIALECTS.items():
            if path.endswith(suffix):
                self._converse(request, read(request), answer)
                return
        self.send_json({"error": {"message": f"no such path {path}"}}, 404)

    def send_json(self, value: Any, status: int = 200) -> None:
        """A whole answer."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def start_events(self) -> None:
        """The head of a streamed answer."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def event(self, value: Any, name: str = "") -> None:
        """One event of it."""
        data = value if isinstance(value, str) else json.dumps(value)
        frame = ((f"event: {name}\n" if name else "") + f"data: {data}\n\n").encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))

    def end_events(self) -> None:
        """Its end."""
        self.wfile.write(b"0\r\n\r\n")

    def paced(self, plan: Plan) -> Iterator[str]:
        """The plan's chunks at their pace."""
        for index, chunk in enumerate(plan.chunks):
            if index and self.model.stopping.wait(plan.pause_s):
                return
            yield chunk

    def _converse(self, request: Json, talk: Talk, answer: Callable[[_Reply, Json, Plan, bool], None]) -> None:
        plan = decide(talk)
        self.model.requests.append(plan.script)
        if plan.error:
            self.send_json({"error": {"type": "api_error", "message": f"scripted error {plan.error}"}}, plan.error)
            return
        try:
            answer(self, request, plan, talk.stream)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the agent was cancelled

    def _body(self) -> bytes:
        if "chunked" not in (self.headers.get("Transfer-Encoding") or "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)


DIALECTS |= {"/chat/completions": (read_chat, answer_chat), "/responses": (read_responses, answer_responses)}


def _describe(model: str) -> Json:
    return {"id": model, "object": "model", "created": 1_700_000_000, "owned_by": "fake", "context_length": 200_000}
