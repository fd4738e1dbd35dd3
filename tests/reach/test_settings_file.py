"""Entries in and out of a settings file, and everything else as it was."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.tooling.rows import every_row
from trunkline.errors import Invalid
from trunkline.reach.settings_file import missing_lists, our_commands, parse, with_entries, without_entries

ENTRIES: dict[str, dict[str, Any]] = {"Ask": {"matcher": "*", "hooks": [{"type": "command", "command": "ours ask"}]},
                                      "Stop": {"hooks": [{"type": "command", "command": "ours report"}]}}

FILES = [
    "", "\n", "{}", "{}\n", '{"model": "x"}', '{\n  "model": "x"\n}\n', '{\n\t"model": "x",\n\t"env": {"A": "1"}\n}',
    '{\r\n  "model": "x"\r\n}\r\n', '{\n    "hooks": {}\n}\n', '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "theirs"}]}\n    ]\n  },\n  "m": "x"\n}\n',
    '{ // first\n  "model": "x" // last\n  /* end */\n}\n', '{\n  // "hooks": no\n  "hooks": { "Other": [ 1, 2 ] } // kept\n}\n',
    '{\n  // mine\n}\n', '{ /* mine */ }', '{\n  "hooks": {\n    // none\n  }\n}\n', '{\r\n  // mine\r\n}\r\n',
    '\ufeff{\n  "a": "\\u00e4 // no remark", "b": [1, {"c": "}"}]\n}\n',
    '{"hooks": {"Ask": [{"hooks": [{"command": "theirs"}]}]}}',
]


def ours(command: str) -> bool:
    return command.startswith("ours")


def plain(text: str) -> object:
    """The value of a text whose remarks are left out."""
    return json.loads(re.sub(r"(?m)(^|\s)//(?![^\n]*remark).*$|/\*.*?\*/", "", text.lstrip("\ufeff")) or "{}")


@every_row("text", FILES)
def test_entries_are_added_beside_all_that_is_there(text: str) -> None:
    after = with_entries(text, ENTRIES)
    assert our_commands(after, ours) == {"Ask": ["ours ask"], "Stop": ["ours report"]}
    kept, new = plain(text) if text.strip() else {}, plain(after)
    assert isinstance(kept, dict) and isinstance(new, dict)
    for event, entry in ENTRIES.items():
        assert new["hooks"][event].pop() == entry
        if event in missing_lists(text, ENTRIES):
            assert new["hooks"].pop(event) == []
    if "hooks" in missing_lists(text, ENTRIES):
        assert new.pop("hooks") == {}
    assert new == kept
    for remark in re.findall(r"// \w+|/\* \w+ \*/", text):
        assert remark in after


@every_row("text", FILES)
def test_what_is_taken_out_again_leaves_the_text_as_it_was(text: str) -> None:
    after = without_entries(with_entries(text, ENTRIES), ours, missing_lists(text, ENTRIES))
    assert after == text or (not text.strip() and after.split() == ["{}"]) or plain(after) == plain(text)
    if "/*" not in text and text.strip():
        assert after == text, "byte for byte, where there is nothing special to it"


def test_exactly_our_hooks_go_where_others_changed_the_file_since() -> None:
    text = with_entries('{\n  "model": "x"\n}\n', ENTRIES)
    changed = text.replace('"ours ask"\n', '"ours ask"\n          },\n          {\n            "command": "theirs"\n')
    changed = changed.replace('"model": "x"', '"model": "y"')
    after = json.loads(without_entries(changed, ours, missing_lists('{"model": "x"}', ENTRIES)))
    assert after == {"model": "y", "hooks": {"Ask": [{"matcher": "*", "hooks": [{"command": "theirs"}]}]}}


def test_lists_that_were_empty_before_stay() -> None:
    before = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'
    assert without_entries(with_entries(before, ENTRIES), ours, missing_lists(before, ENTRIES)) == before


@every_row("text", ["[]", "nonsense", '{"a": 1', '{"a" 1}', '{"hooks": []}', '{"hooks": {"Ask": {}}}', '{"a": 1} x', "{" * 500,
                    '{"a": 1 "b": 2}'])
def test_what_is_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        with_entries(text, ENTRIES)


def test_of_two_members_of_one_name_the_last_counts() -> None:
    text = '{"hooks": {"Stop": [1]}, "hooks": {}}'
    assert parse(text).inside[1].name == "hooks"
    assert json.loads(with_entries(text, {"Stop": ENTRIES["Stop"]}))["hooks"] == {"Stop": [ENTRIES["Stop"]]}
