"""What a remark beside a call says that is done."""

from __future__ import annotations

from typing import Any

from tests.tooling.rows import every_row
from trunkline.dialects.calls.deeds import deed_told, run_otherwise


@every_row(("key", "value", "act"), [
    ("execute", True, "run"), ("thenRun", "yes", "run"), ("exec", 1, "run"), ("will_delete", True, "delete"),
    ("destructiveHint", True, "delete"), ("renames", "true", "move"), ("writes", True, "write"), ("sideEffects", True, "write"),
    ("readOnlyHint", False, "write"), ("readonly", "false", "write"), ("read_only", 0, "write"),
    ("effect", "writes", "write"), ("effects", ["read", "delete", "execute"], "run"), ("access", "write", "write"),
    ("mode", "delete", "delete"), ("mode", "write", "write"), ("method", "DELETE", "delete"),
    ("capabilities", ["execute"], "run"),
    ("upload_to", "https://other.example", "write"), ("deploy", True, "run"),
])
def test_a_switch_or_a_word_says_what_is_done(key: str, value: Any, act: str) -> None:
    assert deed_told(key, value) == act


@every_row(("key", "value"), [
    ("execute", False), ("execute", ""), ("execute", None), ("execute", "make"), ("running", True), ("executable", True),
    ("modified", True), ("created", True), ("readOnly", True), ("readOnly", None), ("readOnly", ""), ("dryRun", True),
    ("canWrite", True), ("supportsDelete", True), ("effect", "reads"), ("mode", "edit"), ("note", "writes"), ("count", 1),
    ("noWrite", True), ("lastUpdate", 1),
    ("type", "text"), ("type", "tool_call_update"), ("url", "https://other.example"), ("send", "soon"),
])
def test_a_state_an_ability_and_what_is_off_say_nothing(key: str, value: Any) -> None:
    assert deed_told(key, value) is None


@every_row(("key", "value", "is_so"), [
    ("sandbox", False, True), ("useSandbox", 0, True), ("disableSandbox", False, False),
    ("dangerouslyDisableSandbox", True, True),
    ("run_as", "root", True),
    ("asRoot", True, True), ("user", "root", True), ("user", "ann", False), ("elevated", "no", False),
    ("sandbox_permissions", "require_escalated", True), ("sandbox_mode", "workspace-write", False), ("sandbox", True, False),
    ("sandbox_mode", "danger-full-access", True),
    ("shell", "/tmp/x", True), ("shell", "/bin/zsh", False), ("shell", "bash", False),
    ("stdin", "make", True), ("interpreter", "./x", True), ("command", "make", False),
])
def test_a_remark_may_say_that_something_is_run_otherwise_than_it_seems(key: str, value: Any, is_so: bool) -> None:
    assert run_otherwise(key, value) == is_so
