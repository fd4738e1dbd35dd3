"""What a remark beside a call says that is done."""

from __future__ import annotations

from typing import Any

from tests.tooling.rows import every_row
from trunkline.dialects.calls.deeds import deed_told


@every_row(("key", "value", "act"), [
    ("execute", True, "run"), ("thenRun", "yes", "run"), ("exec", 1, "run"), ("will_delete", True, "delete"),
    ("destructiveHint", True, "delete"), ("renames", "true", "move"), ("writes", True, "write"), ("sideEffects", True, "write"),
    ("readOnlyHint", False, "write"), ("readonly", "false", "write"), ("read_only", 0, "write"),
    ("effect", "writes", "write"), ("effects", ["read", "delete", "execute"], "run"), ("access", "write", "write"),
])
def test_a_switch_or_a_word_says_what_is_done(key: str, value: Any, act: str) -> None:
    assert deed_told(key, value) == act


@every_row(("key", "value"), [
    ("execute", False), ("execute", ""), ("execute", None), ("execute", "make"), ("running", True), ("executable", True),
    ("modified", True), ("created", True), ("readOnly", True), ("readOnly", None), ("readOnly", ""), ("dryRun", True),
    ("canWrite", True), ("supportsDelete", True), ("effect", "reads"), ("mode", "edit"), ("note", "writes"), ("count", 1),
    ("noWrite", True), ("lastUpdate", 1),
])
def test_a_state_an_ability_and_what_is_off_say_nothing(key: str, value: Any) -> None:
    assert deed_told(key, value) is None
