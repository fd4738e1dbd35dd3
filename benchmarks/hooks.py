"""(y) What the hook costs a program in a terminal: started, asked, answered by a rule that denies; and with no hub, where it has
no opinion. Beside it, in the same run, an interpreter of the same kind that does nothing.

The ask is one that the program has written down before, as Claude Code does, and its session is followed already. The three are
interleaved, each a process of its own, timed from its start to its end.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import HubProcess
from benchmarks.scenarios import Figure, Scale
from trunkline.reach import trunkline_hook
from trunkline.reach.socket import SOCKET_FILE

ASKS = 200
OWN_MOST_MS = 60.0
"""What the hook may take by itself."""
SESSION = "11111111-2222-4333-8444-555555555555"
AGENT = "claude-code"
POLICY = '[[rules]]\ncommand = ["touch forbidden*"]\nreason = "not that one"\naction = "deny"\n'
PASS = (sys.executable, "-S", "-c", "pass")


def hooks(scale: Scale) -> list[Figure]:
    """Milliseconds from the start of each process to its end."""
    empty, decided, absent = [], [], []
    with _session() as (folder, hub):
        for number in range(max(5, scale.of(ASKS))):
            asked = _asked(folder, hub.work, number)
            empty.append(_timed(PASS)[0])
            took, said = _timed(_hook(hub.folder / "data"), asked)
            if json.loads(said)["hookSpecificOutput"]["decision"]["behavior"] != "deny":
                raise RuntimeError(f"the rule did not answer: {said!r}")
            decided.append(took)
            took, said = _timed(_hook(folder), asked)
            if said:
                raise RuntimeError(f"without a hub there is an opinion: {said!r}")
            absent.append(took)
    bare, own = statistics.median(empty), statistics.median(absent)
    return [
        Figure("y  an interpreter that does nothing, p50 / p99", _shown(empty), "", None),
        Figure("y  the hook, a rule denies, p50 / p99", _shown(decided), "reported", None),
        Figure("y  the same, in such interpreters", f"{statistics.median(decided) / bare:.2f} x", "reported", None),
        Figure("y  the hook, no hub, p50 / p99", _shown(absent), "<= 60 ms", own <= OWN_MOST_MS),
        Figure("y  with no hub, in such interpreters", f"{own / bare:.2f} x", "reported", None),
    ]


@contextmanager
def _session() -> Iterator[tuple[Path, HubProcess]]:
    """A home with a session of the program's, and a hub that has its hooks."""
    with TemporaryDirectory(prefix="trunkline-bench-") as name, _variable("CLAUDE_CONFIG_DIR", name), HubProcess() as hub:
        data = hub.folder / "data"
        (data / "policy.toml").write_text(POLICY)
        subprocess.run([sys.executable, "-m", "trunkline", "hooks", "install", "--yes", AGENT, "--data", str(data)],
                       env={**os.environ, "XDG_CONFIG_HOME": str(hub.folder / "config")}, check=True, capture_output=True)
        _write(Path(name), {"type": "user", "message": {"role": "user", "content": "Please."}}, hub.work, "u")
        _timed(_hook(data), _asked(Path(name), hub.work, -1))  # from now on it is followed
        yield Path(name), hub


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})


def _asked(folder: Path, cwd: str, number: int) -> bytes:
    """A call, written down as the program does before it asks; what its hook is given."""
    given = {"command": f"touch forbidden{number}"}
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": given}
    message = {"role": "assistant", "id": f"m{number}", "content": [use]}
    _write(folder, {"type": "assistant", "message": message}, cwd, f"a{number}")
    return json.dumps({"session_id": SESSION, "cwd": cwd, "hook_event_name": "PermissionRequest", "tool_name": "Bash",
                       "tool_input": given}).encode()


def _write(folder: Path, line: Mapping[str, Any], cwd: str, key: str) -> None:
    path = folder / "projects" / "-work" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    with path.open("a") as file:
        file.write(json.dumps({**line, "uuid": key, "cwd": cwd, "sessionId": SESSION, "timestamp": stamp}) + "\n")


def _hook(data: Path) -> list[str]:
    return [sys.executable, "-I", "-S", trunkline_hook.__file__, AGENT, "ask", str(data / SOCKET_FILE)]


def _timed(words: Sequence[str], given: bytes = b"") -> tuple[float, bytes]:
    began = time.perf_counter()
    done = subprocess.run(words, input=given, capture_output=True, check=True, env={"PATH": os.defpath})
    return 1000 * (time.perf_counter() - began), done.stdout


def _shown(times: Sequence[float]) -> str:
    ranked = sorted(times)
    return f"{statistics.median(ranked):.1f} / {ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))]:.1f} ms"
