"""An MCP server on stdio with one tool, ``hello``, that says a name and the secret that it was given. Stdlib only."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

TOOL = {"name": "hello", "description": "Says hello.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """What a request gets."""
    match message["method"]:
        case "initialize":
            return {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "hello", "version": "1"}}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            said = f"Hello {message['params']['arguments']['name']}, {os.environ['SECRET']}"
            return {"content": [{"type": "text", "text": said}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}), flush=True)
