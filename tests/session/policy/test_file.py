"""policy.toml: what it may say, how it is written, and that a bad one never opens anything."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tooling.rows import every_row
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.errors import Invalid, StorageError
from trunkline.session.policy.decide import PolicyAsk, Rule
from trunkline.session.policy.file import PolicyBook, version_of
from trunkline.session.policy.text import RULES, TEXT_BYTES, parse_policy, with_rule, written_auto_approve, written_rule

NOW_US = 1_800_000_000_000_000
GOOD = """\
# Keep out.
[[rules]]
path = ".env"          # one pattern needs no list
reason = "secrets"
action = "deny"

# Tests may run.
[[rules]]
command = ["npm test*", "!npm test:slow*"]
risk = ["low", "medium"]
expires_at = 2099-01-01T00:00:00Z
action = "allow"

[auto_approve]
reads = true
writes = ["src/**"]
"""


def running(command: str) -> PolicyAsk:
    return PolicyAsk(tool="Bash", category="terminal", agent="demo", risk="low", command=command, root="/app")


def action(book: PolicyBook, command: str = "npm test") -> str:
    return book.policy.decide(running(command), now_us=NOW_US).action


def problem(book: PolicyBook) -> str | None:
    """What the book says now: it changes between two looks, which a type checker does not expect of an attribute."""
    return book.problem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def test_a_policy_says_rules_in_order_and_what_is_approved() -> None:
    policy = parse_policy(GOOD)
    assert policy.rules == (
        Rule(action="deny", path=[".env"], reason="secrets"),
        Rule(action="allow", command=["npm test*", "!npm test:slow*"], risk=["low", "medium"],
             expires_at="2099-01-01T00:00:00+00:00"),
    )
    assert policy.auto_approve is not None
    auto = policy.auto_approve.auto_approve
    assert (auto.reads, auto.writes, auto.commands, auto.searches) == (True, ["src/**"], False, False)


BAD = [
    # text, what the error says
    ("[[rules]]\naction = \"allow\"", "rule 1 (line 1): an allow rule must say what it is about"),
    ("\n\n[[rules]]\ncommand = 'x'\naction = 'permit'", "rule 1 (line 3): action: Invalid enum value 'permit'"),
    ("[[rules]]\ncommand = 'x'", "rule 1 (line 1): Object missing required field `action`"),
    ("[[rules]]\naction = 'deny'\ncomand = 'x'", "rule 1 (line 1): unknown key 'comand'"),
    ("[[rules]]\naction = 'deny'\ncommand = 3", "rule 1 (line 1): command: Expected `array`, got `int`"),
    ("[[rules]]\naction = 'deny'\ncommand = ['x', 3]", "command: Expected `str`, got `int`"),
    ("[[rules]]\naction = 'deny'\ncategory = 'files'", "category: Invalid enum value 'files'"),
    ("[[rules]]\naction = 'deny'\nrisk = ['huge']", "risk: Invalid enum value 'huge'"),
    ("[[rules]]\naction = 'deny'\ncommand = ['']", "command: expected a pattern"),
    ("[[rules]]\naction = 'deny'\ncommand = ['!x']", "command: only exclusions"),
    ("[[rules]]\naction = 'allow'\npath = ['!x', '!y']", "path: only exclusions"),
    ("[[rules]]\naction = 'allow'\npath = ['../**']", "path: '../**': no pattern leaves the root"),
    ("[[rules]]\naction = 'allow'\npath = ['~/x']", "path: what is allowed is relative"),
    ("[[rules]]\naction = 'allow'\npath = ['" + "{a,b}" * 9 + "']", "stands for more than 64"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nexpires_at = 2026-01-01T00:00:00", "'2026-01-01T00:00:00' does not say"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nexpires_at = 2026-01-01", "expires_at: Expected `str"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nexpires_at = 'soon'", "expires_at: 'soon' is not a time"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nroot = 'here'", "root: expected an absolute path"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nroot = '/tmp/../etc'", "root: '/tmp/../etc' takes a detour"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nroot = '~/./x'", "root: '~/./x' takes a detour"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nsession = ''", "session: expected 1 to"),
    ("rules = 3", "rules: expected [[rules]]"),
    ("rules = [3]", "rule 1: expected a table"),
    ("rule = []", "the policy: unknown key 'rule'"),
    ("[auto_approve]\nreads = 'yes'", "auto_approve: reads: Expected `bool`"),
    ("[auto_approve]\nwrite = true", "auto_approve: unknown key 'write'"),
    ("[auto_approve]\nwrites = ['!x']", "auto_approve: writes: only exclusions"),
    ("auto_approve = true", "auto_approve: expected a table"),
    ("[[rules]\n", "not TOML: Expected ']]' at the end of an array declaration (at line 1"),
    ("a = \x00", "not TOML"),
    ("x = " + "[" * 3000, "not TOML"),
    ("# " + "x" * (1 << 20), "longer than"),
    ("[[rules]]\naction = 'deny'\n" * 2001, "2000 at most"),
]


@every_row(("text", "says"), BAD)
def test_what_is_wrong_is_said_with_its_place(text: str, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_policy(text)
    assert says in caught.value.message


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


def test_a_cut_off_file_never_allows_more_than_the_whole_one() -> None:
    rule = Rule(action="allow", command=["make"], path=["src/**"], tool=["Bash"], risk=["low"], agent=["demo"], root="/app",
                session="s9")
    text = written_rule(Rule(action="deny", path=[".env"], reason="secrets")) + "\n" + written_rule(rule)
    for end in range(len(text)):
        try:
            policy = parse_policy(text[:end])
        except Invalid:
            continue
        assert [one.action for one in policy.rules if one.action == "allow"] in ([], ["allow"])
        assert all(one in (rule, Rule(action="deny", path=[".env"], reason="secrets")) for one in policy.rules), text[:end]


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


def test_a_rule_after_a_list_of_rules_says_what_to_do() -> None:
    with pytest.raises(Invalid, match="write them as"):
        with_rule("rules = [{action = 'deny', path = ['x']}]\n", Rule(action="deny", command=["rm *"]))


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


def test_a_limit_to_nothing_is_not_left_out_when_a_rule_is_written() -> None:
    rule = Rule(action="allow", command=["x"])
    for limited in (replace(rule, session=""), replace(rule, turn=""), replace(rule, root=""), replace(rule, expires_at="")):
        with pytest.raises(Invalid):
            parse_policy(written_rule(limited))


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


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda word: word.removeprefix("!") and not word.startswith("!"))


@given(st.fixed_dictionaries({"action": st.just("deny")}, optional={
    "command": st.lists(WORDS, min_size=1, max_size=3), "tool": st.lists(WORDS, min_size=1, max_size=2), "reason": WORDS,
    "session": WORDS, "id": WORDS, "risk": st.lists(st.sampled_from(["low", "high"]), min_size=1, max_size=2),
}))
def test_every_rule_reads_back_as_it_was_written(values: dict[str, Any]) -> None:
    rule = Rule(**values)
    assert parse_policy(with_rule(GOOD, rule)).rules[-1] == rule


AUTO_WORDS = st.booleans() | st.lists(WORDS, min_size=1, max_size=3)


@given(AUTO_WORDS, st.booleans())
def test_every_permission_policy_reads_back_as_it_was_written(commands: bool | list[str], reads: bool) -> None:
    auto = AutoApprove(reads=reads, writes=["src/\x7f"], commands=commands, searches=False)
    policy = PermissionPolicy(auto_approve=auto)
    assert parse_policy(written_auto_approve(policy)).auto_approve == policy


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


@pytest.mark.parametrize("text", ["#" * (TEXT_BYTES + 1), '[[rules]]\naction = "deny"\n' * (RULES + 1)])
def test_a_policy_that_is_too_long_is_not_read(text: str) -> None:
    with pytest.raises(Invalid):
        parse_policy(text)


def test_a_rule_is_never_written_on_the_loop(tmp_path: Path) -> None:
    book = PolicyBook(tmp_path / "policy.toml")

    async def on_the_loop() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            book.append(Rule(action="deny", command=["make all"]))
        await asyncio.to_thread(book.append, Rule(action="deny", command=["make all"]))

    asyncio.run(on_the_loop())
    assert "make all" in (tmp_path / "policy.toml").read_text()
