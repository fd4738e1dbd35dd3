"""Why an agent died, out of what it printed last."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.agents.exit_reason import CHARS, last_words

NODE = """node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/opt/agent/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:36:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.1.0
"""
PYTHON = """Traceback (most recent call last):
  File "/opt/agent/main.py", line 3, in <module>
    connect()
    ~~~~~~~^^
ConnectionRefusedError: [Errno 111] Connection refused
"""


@every_row(("stderr", "reason"), [
    (NODE, "Error: Cannot find module '/opt/agent/index.js'"),
    (PYTHON, "ConnectionRefusedError: [Errno 111] Connection refused"),
    ("starting\nEACCES: permission denied, open '/x'\n}\n", "EACCES: permission denied, open '/x'"),
    ("loading\nthe model is gone\n", "the model is gone"),
    ("thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n",
     "thread 'main' panicked at src/main.rs:4:5: index out of bounds"),
    ("\n}\n}\n", ""),
    ("", ""),
])
def test_the_lines_that_say_why_are_quoted(stderr: str, reason: str) -> None:
    assert last_words(stderr).startswith(reason)
    assert not last_words(stderr).endswith("}")


def test_no_more_is_quoted_than_people_read() -> None:
    assert len(last_words("Error: " + "x" * 9000)) == CHARS
