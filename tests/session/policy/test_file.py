"""policy.toml as a file: who may write it, what a change does, and that a bad one never opens anything."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from pathlib import Path

import pytest

from tests.session.policy.test_text import GOOD, NOW_US, running
from trunkline.errors import Invalid, StorageError
from trunkline.session.policy.decide import Rule
from trunkline.session.policy.file import PolicyBook, version_of
from trunkline.session.policy.text import parse_policy


def action(book: PolicyBook, command: str = "npm test") -> str:
    return book.policy.decide(running(command), now_us=NOW_US).action


def problem(book: PolicyBook) -> str | None:
    """What the book says now: it changes between two looks, which a type checker does not expect of an attribute."""
    return book.problem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def test_without_a_file_everything_is_asked(path: Path) -> None:
    book = PolicyBook(path)
    assert (action(book), book.problem, book.text(), path.exists()) == ("ask", None, "", False)


def test_a_change_of_the_file_counts_at_once(path: Path) -> None:
    book = PolicyBook(path)
    path.write_text(GOOD)
    assert action(book) == "allow"
    path.write_text(GOOD.replace('"npm test*"', '"npm best*"'))  # as long as before, and perhaps within the same tick
    assert action(book) == "ask"
    path.write_text(GOOD)
    assert action(book) == "allow"


@pytest.mark.parametrize("bad", ["[[rules", "[[rules]]\naction = 'allow'\n", "rules = 1", "\udcff"])
def test_a_bad_change_leaves_the_last_good_rules_in_force_and_says_so(path: Path, bad: str) -> None:
    path.write_text(GOOD)
    book = PolicyBook(path)
    path.write_bytes(bad.encode("utf-8", "surrogateescape"))
    verdict = book.policy.decide(running("npm test"), now_us=NOW_US)
    assert verdict.action == "allow" and "the last good rules stay in force" in verdict.why
    assert str(path) in (problem(book) or "")
    assert action(book, "cat .env") == "deny"
    path.write_text(GOOD)
    assert book.policy.decide(running("npm test"), now_us=NOW_US).why == "a rule of the policy file allows it"
    assert problem(book) is None
    path.write_text("")
    assert (action(book), problem(book)) == ("ask", None)


@pytest.mark.parametrize("bad", [b"[[rules", b"\xff\xfe", b"[[rules]]\naction = 'allow'\n", b"\0" * 4096])
def test_a_file_that_is_bad_from_the_start_opens_nothing(path: Path, bad: bytes) -> None:
    path.write_bytes(bad)
    book = PolicyBook(path)
    assert book.problem is not None
    verdict = book.policy.decide(running("npm test"), session_rules=[Rule(action="allow", command=["npm test"])], now_us=NOW_US)
    assert verdict.action == "ask" and str(path) in verdict.why


def test_of_a_file_that_went_away_only_what_it_denied_stays(path: Path) -> None:
    path.write_text(GOOD)
    book = PolicyBook(path)
    path.unlink()
    assert action(book) == "ask"
    assert action(book, "cat .env") == "deny"
    assert "is gone" in (problem(book) or "")
    path.write_text(GOOD)
    assert (action(book), problem(book)) == ("allow", None)
    path.unlink()
    assert action(book) == "ask"
    book.replace("")
    assert (action(book, "cat .env"), problem(book)) == ("ask", None)


def test_a_rule_is_added_at_the_end_and_comments_stay(path: Path) -> None:
    path.write_text(GOOD)
    book = PolicyBook(path)
    rule = Rule(action="allow", command=["make"], root="/app", reason="said \"yes\" \\ twice\n\x7f", id="r1")
    policy = book.append(rule)
    assert path.read_text().startswith(GOOD)
    assert policy.rules[-1] == rule and book.policy.rules[-1] == rule
    assert PolicyBook(path).policy.rules[-1] == rule
    assert action(book, "make") == "allow"


def test_a_rule_that_is_there_is_not_added_again(path: Path) -> None:
    book = PolicyBook(path)
    book.append(Rule(action="deny", command=["rm *"], reason="one"))
    book.append(Rule(action="deny", command=["rm *"], reason="two", id="x"))
    assert len(book.policy.rules) == 1


def test_nothing_is_added_to_a_file_that_cannot_be_read(path: Path) -> None:
    path.write_text("[[rules")
    book = PolicyBook(path)
    with pytest.raises(Invalid):
        book.append(Rule(action="deny", command=["rm *"]))
    assert path.read_text() == "[[rules"


def test_a_bad_replacement_changes_nothing(path: Path) -> None:
    book = PolicyBook(path)
    book.replace(GOOD)
    with pytest.raises(Invalid):
        book.replace("[[rules")
    assert book.text() == GOOD and action(book) == "allow"


def test_the_file_is_closed_to_others_and_nothing_is_left_beside_it(path: Path) -> None:
    book = PolicyBook(path)
    book.replace(GOOD)
    book.append(Rule(action="deny", command=["rm *"]))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["policy.toml"]
    path.chmod(0o644)
    path.write_text(GOOD)
    assert action(book) == "allow"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_may_write_is_not_read(path: Path) -> None:
    path.write_text(GOOD)
    path.chmod(0o666)
    book = PolicyBook(path)
    assert action(book) == "ask"
    assert book.problem is not None and "chmod 600" in book.problem
    path.chmod(0o600)
    assert action(book) == "allow"


def test_what_is_no_plain_file_is_not_read_and_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    assert PolicyBook(path).problem == f"{path} is not a plain file"
    path.unlink()
    path.mkdir()
    assert PolicyBook(path).problem is not None


def test_a_link_stays_a_link(tmp_path: Path, path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(GOOD)
    path.symlink_to(real)
    PolicyBook(path).append(Rule(action="deny", command=["rm *"]))
    assert path.is_symlink() and "rm *" in real.read_text()


def test_a_folder_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        PolicyBook(tmp_path / "none" / "policy.toml").replace(GOOD)


def test_without_a_path_the_policy_is_kept_in_memory() -> None:
    book = PolicyBook(None)
    book.append(Rule(action="allow", command=["npm test"]))
    assert action(book) == "allow" and "npm test" in book.text()


def test_who_reads_while_another_writes_sees_one_policy_or_the_other(path: Path) -> None:
    book = PolicyBook(path)
    policies = [f"[[rules]]\ncommand = '{word}'\naction = 'deny'\n" * count for word, count in (("a", 1), ("b", 30))]
    seen: set[tuple[str, ...]] = set()
    writer = threading.Thread(target=lambda: [book.replace(policies[turn % 2]) for turn in range(60)])
    writer.start()
    while writer.is_alive():
        seen.add(tuple(rule.command[0] for rule in book.policy.rules))
        assert book.problem is None
    writer.join()
    assert seen <= {(), ("a",), ("b",) * 30}
    assert book.policy.rules == parse_policy(policies[1]).rules


def test_rules_added_from_many_threads_are_all_there(path: Path) -> None:
    book = PolicyBook(path)
    threads = [threading.Thread(target=book.append, args=(Rule(action="deny", command=[f"c{n}"]),)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {rule.command[0] for rule in PolicyBook(path).policy.rules} == {f"c{n}" for n in range(12)}


def test_whoever_wants_to_know_is_told_when_other_rules_are_in_force_and_only_then(path: Path) -> None:
    book, heard = PolicyBook(path), []
    book.changed = lambda: heard.append(len(book.policy.rules))
    book.replace(GOOD)
    book.replace(GOOD + "# the same rules")
    book.append(Rule(action="deny", command=["x"]))
    book.append(Rule(action="deny", command=["x"]))
    assert heard == [2, 3]
    path.write_text("")
    book.refresh()
    assert heard == [2, 3, 0], "an edit on the disk is noticed by whoever looks"


def test_what_cannot_be_read_is_shown_as_nothing_and_never_added_to(path: Path) -> None:
    path.write_text(GOOD)
    book = PolicyBook(path)
    path.chmod(0o666)
    assert book.shown().text == "" and book.shown().version != version_of("")
    with pytest.raises(Invalid, match="written by others"):
        book.append(Rule(action="allow", command=["x"]))
    assert path.read_text() == GOOD


def test_a_rule_is_never_written_on_the_loop(tmp_path: Path) -> None:
    book = PolicyBook(tmp_path / "policy.toml")

    async def on_the_loop() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            book.append(Rule(action="deny", command=["make all"]))
        await asyncio.to_thread(book.append, Rule(action="deny", command=["make all"]))

    asyncio.run(on_the_loop())
    assert "make all" in (tmp_path / "policy.toml").read_text()
