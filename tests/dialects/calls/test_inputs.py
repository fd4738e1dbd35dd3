"""What the input of a call names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.calls.announced import read
from tests.tooling.rows import every_row
from trunkline.dialects.calls.inputs import command_of
from trunkline.dialects.calls.words import WORDS_CHARS


@pytest.mark.parametrize("blank", ["", " ", [""], [[""]]])
def test_a_command_of_nothing_is_none(blank: Any) -> None:
    told = read({"name": "read", "kind": "read", "rawInput": {"command": blank, "path": "a.py"}})
    assert told.command is None and told.category == "file_read"
    assert read({"name": "bash", "kind": "execute", "rawInput": {"commands": blank}}).command is None


@every_row(("words", "line"), [
    (["ls", "&&", "make"], "ls && make"), (["ls", "-l", ";", "make"], "ls -l ; make"), (["ls;", "make"], "ls; make"),
    (["ls", "|", "wc"], "ls | wc"), (["echo", "a", ">", "f"], "echo a > f"), (["ls", "2>&1"], "ls 2>&1"),
    (["git", "commit", "-m", "a b", "&&", "make"], "git commit -m 'a b' && make"),
    (["echo", "a && b", "&&", "make"], "echo 'a && b' && make\necho a && b && make"),
    (["grep", "a|b", "f"], "grep 'a|b' f"), (["bash", "-lc", "ls && make"], "ls && make"),
    (["find", ".", "-exec", "cat", "{}", ";"], "find . -exec cat '{}' ';'"), (["ls", "a b"], "ls 'a b'"),
    (["find", ".", "-exec", "cat", ";", ";", "make"], "find . -exec cat ';' ; make\nfind . -exec cat ; ; make"),
])
def test_a_list_of_words_with_an_operator_among_them_is_a_line_for_a_shell(words: list[str], line: str) -> None:
    apart = {"cmd": words[0], "args": words[1:]} if words[0] != "bash" else {"cmd": words}
    for given in ({"command": words}, {"argv": words}, apart):
        assert read({"name": "bash", "kind": "execute", "rawInput": given}).command == line


@pytest.mark.parametrize("shell", [True, 1])
def test_words_for_a_shell_are_put_together_as_they_are(shell: object) -> None:
    assert command_of({"command": ["npm", "test", ";", "make", "install"], "shell": shell}) == "npm test ; make install"
    assert command_of({"command": ["npm", "test", "; make"], "shell": False}) == "npm test '; make'"


@every_row(("path", "is_so"), [
    ("vault:secret/x", True), ("op:Private/login", True), ("https://example.org", True), ("a.py:12", False), ("src/a.py", False),
    ("C:\\x", False), ("file:///etc/x", False), ("a:1", False), ("Makefile: all", False),
])
def test_an_address_of_something_else_than_a_file_is_told_from_a_path(path: str, is_so: bool) -> None:
    reading = read({"name": "Read", "kind": "read", "rawInput": {"path": path}})
    assert any("an address of something else" in doubt for doubt in reading.doubts) == is_so


INSTALLS = {"command": "sudo make install", "path": "secrets/key"}


@pytest.mark.parametrize("name", ["Read", "do_it", "mcp__a__b"])
@every_row("given", [
    INSTALLS, [INSTALLS], ["a.py", INSTALLS], json.dumps(INSTALLS), json.dumps([INSTALLS]), f" {json.dumps(INSTALLS)}\n",
    json.dumps({"arguments": INSTALLS}), {"arguments": json.dumps({**INSTALLS, "content": "x" * WORDS_CHARS})},
    {"input": json.dumps(INSTALLS)}, {"params": json.dumps({"toolInput": json.dumps(INSTALLS)})},
    json.dumps({**INSTALLS, "content": "x" * WORDS_CHARS}),
])
def test_an_input_is_looked_into_also_as_a_list_or_as_a_text_that_is_json(name: str, given: Any) -> None:
    told = read({"name": name, "kind": "other", "rawInput": given})
    assert (told.command, "run" in told.acts, "secrets/key" in told.paths) == ("sudo make install", True, True)
    assert not told.only_looks


def test_a_text_that_is_no_json_is_itself() -> None:
    for given in ("[ -f a ] && make", "{ make; }", '{"a": ', "make"):
        assert read({"name": "Bash", "kind": "execute", "rawInput": given}).command == given


def test_a_text_for_a_shell_that_is_json_counts_both_ways() -> None:
    for given, command in ((json.dumps({"command": "make"}), "make"), (json.dumps(["make", "all"]), "make all"),
                           (json.dumps({"arguments": {"commands": ["make", "ls"]}}), "make\nls")):
        assert read({"name": "Bash", "kind": "execute", "rawInput": given}).command == f"{command}\n{given}"


@pytest.mark.parametrize("given", ["a.py", json.dumps({"path": "a.py"}), ["a.py"], [{"path": "a.py"}], 5])
def test_an_input_of_another_form_than_a_record_is_not_sure(given: Any) -> None:
    told = read({"name": "Read", "kind": "read", "rawInput": given})
    assert "its input is of no form that is known" in told.doubts and not told.only_looks
