"""What git runs in turn, and what a command of git's is under another name."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners import git


@every_row(("line", "verb"), [
    ("git status", "status"), ("git -C x --no-pager -c a=b log", "log"), ("git --git-dir=x show", "show")])
def test_the_verb_stands_behind_gits_own_options(line: str, verb: str) -> None:
    command = only(line)
    assert command.sketch[git.verb_at(command)] == verb
    assert git.verb_at(only("git --version")) == 2, "past the end where there is none"


@every_row(("line", "ran"), [
    ("git status", []), ("git bisect run make all", ["make all"]), ("git -c core.pager='less x' log", ["less x"]),
    ("git $X", None), ("git no-such-verb", None), ("git --exec-path=/x status", None),
])
def test_what_git_runs_in_turn_is_known_or_nobody_can_say(line: str, ran: list[str] | None) -> None:
    assert git.runs(only(line)) == ran


def test_an_alias_is_what_it_stands_for_with_the_words_behind_it() -> None:
    assert git.behind(only("git -c alias.s='status -s' s src")) == ("git status -s src",)
    assert git.behind(only("git -c alias.b='!make all' b 'two words'")) == ("make all 'two words'",)
    assert git.behind(only("git status")) == ()
    assert git.aliases_set(only("git config alias.S 'status -s'")) == {"s": "status -s"}
    assert git.aliased(only("git S src"), {"s": "status -s"}) == ("git status -s src",)


@every_row(("line", "options"), [
    ("git status", []), ("git -C lib status", [("-C", "lib")]), ("git --work-tree=lib status", [("--work-tree", "lib")]),
    ("git -c core.pager=x log", [("-c", None)]), ("git -c user.name=ann log", []),
])
def test_options_that_change_what_is_run_are_named_with_their_folder(line: str, options: list[tuple[str, str | None]]) -> None:
    assert list(git.changing(only(line))) == options


@every_row(("word", "written"), [("plain", "plain"), ("two words", "'two words'"), ("$X y", "$X y")])
def test_a_word_stays_one_word(word: str, written: str) -> None:
    assert git.quoted(word) == written
