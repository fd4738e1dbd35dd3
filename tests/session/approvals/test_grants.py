"""What was allowed counts once, in its turn, and only as it was shown."""

from __future__ import annotations

import msgspec

from tests.tooling.rows import every_row
from trunkline.dialects.context.types import ToolCategory
from trunkline.session.approvals.grants import CallGrant
from trunkline.session.interpret.asks.preview import TextEdit
from trunkline.session.policy.decide import PolicyAsk
from trunkline.session.workspace.look import DiskLook

HERE = DiskLook({"a.txt": "/w/a.txt"})


def about(category: ToolCategory = "file_write", command: str | None = None) -> PolicyAsk:
    return PolicyAsk(agent="x", tool="t", category=category, risk="low", root="/w", command=command)


def test_a_whole_text_may_be_written_once_where_its_path_led_to() -> None:
    grant = CallGrant(about(), [TextEdit("a.txt", None, "new")], HERE, "/w")
    assert not grant.take_write("/w/b.txt", "new", None) and not grant.take_write("/w/a.txt", "other", None)
    assert grant.take_write("/w/a.txt", "new", None)
    assert not grant.take_write("/w/a.txt", "new", None), "it counts once"


@every_row(("content", "before", "allowed"), [
    ("one two", "one 2", True), ("one two!", "one 2", False), ("one two", None, False), ("one two two", "one 2 2", False),
    ("one two 2", "one 2 2", True),
])
def test_a_piece_is_allowed_in_its_place_alone(content: str, before: str | None, allowed: bool) -> None:
    grant = CallGrant(about(), [TextEdit("a.txt", "2", "two")], HERE, "/w")
    assert grant.take_write("/w/a.txt", content, before) is allowed


def test_a_piece_that_is_shown_wherever_it_stands_is_allowed_there_and_nowhere_less() -> None:
    grant = CallGrant(about(), [TextEdit("a.txt", "2", "two", every=True)], HERE, "/w")
    assert not grant.take_write("/w/a.txt", "one two 2", "one 2 2")
    assert grant.take_write("/w/a.txt", "one two two", "one 2 2")


def test_a_claimed_old_text_of_a_file_that_nobody_could_look_at_allows_nothing() -> None:
    old = "x" * 300_000
    assert not CallGrant(about(), [TextEdit("a.txt", old, old + "!")], HERE, "/w").take_write("/w/a.txt", old + "!", None)


def test_a_path_that_was_not_looked_up_is_not_allowed() -> None:
    grant = CallGrant(about(), [TextEdit("a.txt", None, "new")], DiskLook(), "/w")
    assert not grant.take_write("/w/a.txt", "new", None)


def test_an_approved_read_or_command_writes_nothing() -> None:
    for kept in (about(category="file_read"), about(category="terminal", command="make"), about(category="mcp", command="make")):
        assert not CallGrant(kept, [TextEdit("a.txt", None, "new")], HERE, "/w").take_write("/w/a.txt", "new", None)


def test_a_command_may_be_run_once_in_its_folder() -> None:
    grant = CallGrant(about(category="terminal", command="make"), [], HERE, "/w")
    assert not grant.take_run(lambda command: None) and not grant.take_run(lambda command: "/elsewhere")
    assert grant.take_run(lambda command: "/w" if command == "make" else None)
    assert not grant.take_run(lambda command: "/w")


def test_a_command_in_a_folder_that_was_not_looked_up_may_not_be_run() -> None:
    grant = CallGrant(msgspec.structs.replace(about(category="terminal", command="make"), cwd="gone"), [], HERE, "/w")
    assert not grant.take_run(lambda command: "/w") and not grant.take_run(lambda command: None), "another command is none of it"
