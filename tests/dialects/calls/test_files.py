"""What an input says of files, in every spelling in circulation: which file, from where to where, which text, which patch."""

from __future__ import annotations

from trunkline.dialects.calls.files import Replaced, ends_of_move, file_in, files_in, patch_in, replaced_in, whole_text_in


def test_the_most_telling_member_names_the_file() -> None:
    assert file_in({"path": "b", "file_path": "a"}) == "a"
    assert file_in({"file_path": "", "path": "b"}) == "b" and file_in({"path": 3}) == ""


def test_a_list_of_files_counts_before_the_one_that_is_named() -> None:
    assert files_in({"path": "a", "paths": ["b", 3, "", "c"]}) == ["b", "c"]
    assert files_in({"path": "a", "files": []}) == ["a"] and files_in({}) == []


def test_a_move_has_both_its_ends_or_none() -> None:
    assert ends_of_move({"src": "a", "newPath": "b"}) == ("a", "b")
    assert ends_of_move({"source": "a"}) is None and ends_of_move({"source": "a", "to": ""}) is None


def test_the_pieces_of_an_edit_are_those_of_its_list_else_its_own() -> None:
    edits = [{"old_string": "a", "new_string": ""}, "no edit", {"newText": "c"}]
    assert list(replaced_in({"edits": edits, "old_string": "x"})) == [Replaced("a", ""), Replaced(None, "c")]
    assert list(replaced_in({"oldText": "a", "newText": "b"})) == [Replaced("a", "b")]
    assert list(replaced_in({"content": "all"})) == [Replaced(None, "all")]


def test_a_whole_text_may_be_empty_and_a_patch_may_not() -> None:
    assert whole_text_in({"content": ""}) == "" and whole_text_in({"content": 3}) is None
    assert patch_in({"patch": "", "diff": "@@"}) == "@@" and patch_in({}) == ""
