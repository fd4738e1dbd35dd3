"""The words of a command as its row reads them: the program, its options with their values, its operands."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.words import BUNDLE_LETTERS, base_name, operands_of, option_values, options_of, row_of


@every_row(("word", "found"), [
    ("--a=b", ("b",)), ("a=b=c", ("b=c",)), ("-ob", ("b",)), ("-xyz", ("yz", "z")), ("-o", ()), ("--long", ()), ("plain", ()),
])
def test_every_value_that_a_word_may_give_is_found(word: str, found: tuple[str, ...]) -> None:
    assert option_values(word) == found


def test_of_a_very_long_bundle_the_first_and_the_last_are_tried() -> None:
    assert len(option_values("-" + "".join(chr(97 + number % 26) for number in range(5 * BUNDLE_LETTERS)))) <= BUNDLE_LETTERS


def test_behind_a_module_the_module_is_the_program() -> None:
    command, row = row_of(only("python -m pytest -q tests"))
    assert row is not None and command.name == "pytest"
    assert row_of(only("python script.py -m pytest"))[0].name == "python"
    assert row_of(only("no-such-program x"))[1] is None


@every_row(("line", "found"), [
    ("pytest -p plugin tests", [("-p", "plugin")]), ("pytest -pplugin", [("-p", "plugin")]), ("make -C lib all", [("-C", "lib")]),
    ("make --directory=lib", [("--directory", "lib")]), ("make --direc=lib", [("--directory", "lib")]), ("pytest -q tests", []),
    ("pytest -p $X", [("-p", None)]),
])
def test_options_are_known_also_cut_short_and_in_bundles(line: str, found: list[tuple[str, str | None]]) -> None:
    command, row = row_of(only(line))
    assert row is not None and options_of(command, row) == found


def test_operands_are_the_words_that_are_no_options_and_no_values() -> None:
    command, row = row_of(only("pytest -p plugin tests -q more"))
    assert row is not None and [command.words[at] for at in operands_of(command, row)] == ["tests", "more"]


def test_a_name_is_the_last_part_of_a_path() -> None:
    assert [base_name(path) for path in ("/usr/bin/make", "lib/", "make", "/")] == ["make", "lib", "make", "/"]
