"""How much of a call is looked at, kept and told of."""

from __future__ import annotations

from trunkline.dialects.calls import DOUBTS, Claims, ToolNames, read_call, reading_meta
from trunkline.dialects.calls.claims import CHARS, KEPT, claimed_doubts, with_name, with_reading
from trunkline.dialects.calls.describe import COMMAND_CHARS, PATHS_REPEATED, SUBJECT_CHARS
from trunkline.dialects.calls.words import WORDS_CHARS, arguments_in, command_in


def test_only_so_many_doubts_are_told() -> None:
    reading = read_call("bash", "execute", {"command": "ls", **{f"unheard_{letter}": 1 for letter in "abcdefghijklmn"}})
    assert len(reading.doubts) == DOUBTS and not reading.sure


def test_only_the_beginning_of_a_text_is_looked_through_for_a_command() -> None:
    assert command_in("x" * WORDS_CHARS + " Running: make") == ""
    assert command_in("Running: make" + " " * WORDS_CHARS) == "make"
    assert arguments_in('{"command": "make"}' + " " * WORDS_CHARS) == {"command": "make"}
    assert arguments_in('{"command": "' + "x" * WORDS_CHARS + '"}') == {}


def test_events_repeat_only_the_beginning_of_a_long_command_and_say_so() -> None:
    told = reading_meta(read_call("bash", "execute", {"command": "x" * (COMMAND_CHARS + 7)}))
    assert told.command == "x" * COMMAND_CHARS + "\n… and 7 more characters"


def test_events_repeat_only_so_many_paths_and_a_short_subject() -> None:
    told = reading_meta(read_call("read", "read", {"paths": [f"{number}.py" for number in range(50)]}))
    assert len(told.paths) == PATHS_REPEATED
    assert len(reading_meta(read_call("grep", "search", {"pattern": "x" * 5000})).subject) == SUBJECT_CHARS


def test_what_else_was_said_of_a_call_is_kept_up_to_a_bound() -> None:
    claims = Claims()
    for number in range(3 * KEPT):
        claims = with_name(claims, f"purge_{number}", "read", ToolNames(), is_title=False)
        claims = with_reading(claims, read_call("write", "edit", {"path": f"{number}.py", "content": "x"}))
        claims = with_reading(claims, read_call("bash", "execute", {"command": f"echo {number}" + "x" * CHARS}))
    assert [len(kept) for kept in (claims.names, claims.commands, claims.paths)] == [KEPT] * 3
    assert max(map(len, claims.commands)) == CHARS
    assert any("another path" in doubt for doubt in claimed_doubts(claims, None, (), frozenset({"write"})))
