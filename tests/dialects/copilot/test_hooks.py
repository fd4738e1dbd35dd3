"""Copilot CLI's hooks, by recorded calls: what each asks, what each answer is to it, and what a hook that fails is."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.copilot.hooks import HOOKS
from trunkline.dialects.elsewhere.hooks import HookCall, hook_dialect

DATA = Path(__file__).parents[2] / "data" / "terminal"
CALLS = [(each["event"], each["stdin"])
         for each in map(json.loads, (DATA / "hooks-copilot-1.0.102.jsonl").read_text().splitlines())]
CALL = HookCall(does="asks", session_id="s", cwd="/w", tool="bash", given={"command": "touch a1"})


@every_row(("event", "given"), CALLS)
def test_recorded_calls_are_read(event: str, given: dict[str, Any]) -> None:
    read = HOOKS.read(json.dumps(given).encode())
    if event == "permissionRequest":
        assert read is not None and (read.does, read.tool, read.given) == ("asks", "bash", {"command": "touch a1"})
        ask = HOOKS.ask(read, "req_1", "call_1")
        assert json.loads(ask.tool_call)["rawInput"] == {"command": "touch a1"} and ask.beyond_turn and not ask.editable
    elif event == "userPromptSubmitted":
        assert read is not None and (read.does, read.session_id) == ("goes_on", given["sessionId"])
    else:
        assert read is None


def test_a_decision_is_the_inner_object_alone() -> None:
    assert json.loads(HOOKS.decided(CALL, "allow", None, None)) == {"behavior": "allow"}
    assert json.loads(HOOKS.decided(CALL, "allow_always", None, None)) == {"behavior": "allow"}, "the rule is ours"
    assert json.loads(HOOKS.decided(CALL, "reject", "use b", None)) == {"behavior": "deny", "message": "use b"}


@given(option=st.one_of(st.none(), st.text()), body=st.binary())
def test_nothing_is_said_by_a_mistake(option: str | None, body: bytes) -> None:
    if option not in ("allow", "allow_always", "reject"):
        assert HOOKS.decided(CALL, option, None, None) == b""
    assert HOOKS.answered(CALL, "accept", body) == b""
    read = HOOKS.read(body)
    assert read is None or read.does in ("asks", "goes_on")


NAMES = st.sampled_from(("hookName", "sessionId", "toolName", "toolInput", "prompt", "hooks", "permissionRequest", "bash"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))
def test_junk_of_the_right_names_is_no_call_and_may_be_a_strangers_hook(value: Any) -> None:
    body = json.dumps(value).encode()
    HOOKS.read(body)
    assert HOOKS.has_foreign(body, lambda line: False) in (True, False)


@every_row("command", [[sys.executable, "-c", "raise SystemExit(1)"], ["/no/interpreter", "-I"], [sys.executable, "/no/script"],
                       [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"],
                       [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]])
def test_a_hook_that_fails_says_nothing_and_ends_well(command: list[str]) -> None:
    for event, entry in HOOKS.entries(lambda kind: shlex.join(command)).items():
        line = ["bash", "--norc", "--noprofile", "-c", entry["bash"]]
        done = subprocess.run(line, input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (0, b""), event


@every_row(("text", "foreign"), [
    (b'{"version":1,"hooks":{}}', False), (b'{"hooks":{"permissionRequest":[{"bash":"ours"}]}}', False),
    (b'{"hooks":{"permissionRequest":[{"bash":"theirs"}]}}', True), (b'{"hooks":{"permissionRequest":[{}]}}', True),
    (b'{"hooks":{"postToolUse":[{"bash":"theirs"}]}}', False), (b"{", True), (b"[]", True)])
def test_a_hook_of_somebody_else_is_known(text: bytes, foreign: bool) -> None:
    assert HOOKS.has_foreign(text, "ours".__eq__) is foreign


def test_it_is_found_by_its_name_and_waits_only_while_the_person_is_away() -> None:
    assert hook_dialect("copilot") is HOOKS and not HOOKS.races


def test_hooks_of_a_project_are_looked_for_in_every_folder_above() -> None:
    places = HOOKS.watched_files("/home/dev/.copilot", "/home/dev/project/src")
    assert {"/home/dev/project/src/.github/hooks", "/home/dev/project/.github/hooks", "/home/dev/.copilot/hooks"} <= set(places)
