"""What commands did to a repository, by what they were and what they printed."""

from __future__ import annotations

from typing import Any

from tests.session.interpret.call_builders import made, of_type
from tests.tooling.rows import every_row


def operations(command: Any, printed: str = "", *, status: str = "completed", code: int = 0) -> list[dict[str, Any]]:
    found = made("execute", status=status, rawInput={"command": command}, rawOutput={"output": printed, "exit_code": code})
    return [event["operation"] for event in of_type(found, "git:operation")]


COMMITTED = "[main 1a2b3c4] Say hello\n 2 files changed, 3 insertions(+)\n"


@every_row(("command", "printed", "expected"), [
    ("git commit -m 'Say hello'", COMMITTED, [{"kind": "commit", "hash": "1a2b3c4", "message": "Say hello", "filesChanged": 2}]),
    ("git -C /w -c user.name=x commit -am 'Say hello'", COMMITTED,
     [{"kind": "commit", "hash": "1a2b3c4", "message": "Say hello", "filesChanged": 2}]),
    ("git commit", "[main (root-commit) abcdef0] First\n 1 file changed\n",
     [{"kind": "commit", "hash": "abcdef0", "message": "First", "filesChanged": 1}]),
    ("git commit -q -m Hi && git log --oneline -1", "1a2b3c4 (HEAD -> main) Hi\n 3 files changed\n",
     [{"kind": "commit", "hash": "1a2b3c4", "message": "Hi", "filesChanged": 3}]),
    ("git add . && git commit -m 'Say hello' && git push origin main", COMMITTED + "To x.test:r.git\n   1..2  main -> main\n",
     [{"kind": "commit", "hash": "1a2b3c4", "message": "Say hello", "filesChanged": 2},
      {"kind": "push", "remote": "origin", "branch": "main"}]),
    ("git checkout -b topic", "Switched to a new branch 'topic'\n",
     [{"kind": "branch_create", "name": "topic", "from": "HEAD"}, {"kind": "branch_switch", "name": "topic"}]),
    ("git switch -c topic main", "", [{"kind": "branch_create", "name": "topic", "from": "main"},
                                      {"kind": "branch_switch", "name": "topic"}]),
    ("git branch topic v1", "", [{"kind": "branch_create", "name": "topic", "from": "v1"}]),
    ("git checkout main", "Switched to branch 'main'\n", [{"kind": "branch_switch", "name": "main"}]),
    ("git switch main", "", [{"kind": "branch_switch", "name": "main"}]),
    ("git checkout -", "Switched to branch 'old'\n", [{"kind": "branch_switch", "name": "old"}]),
    ("git push", "To x.test\n * [new branch]      topic -> topic\n", [{"kind": "push", "remote": "origin", "branch": "topic"}]),
    ("git push -u fork HEAD:feature", "", [{"kind": "push", "remote": "fork", "branch": "feature"}]),
    ("git stash", "Saved working directory\n", [{"kind": "stash", "action": "push"}]),
    ("git stash push -m wip", "", [{"kind": "stash", "action": "push"}]),
    ("git stash pop", "", [{"kind": "stash", "action": "pop"}]),
    ("gh pr create --title 'My change' --body x", "https://github.test/o/r/pull/12\n",
     [{"kind": "pr_create", "number": 12, "title": "My change", "url": "https://github.test/o/r/pull/12"}]),
    (["/bin/bash", "-lc", "git stash"], "", [{"kind": "stash", "action": "push"}]),
    ("sh -c 'git stash pop'", "", [{"kind": "stash", "action": "pop"}]),
])
def test_an_operation_is_read_from_the_command_and_its_output(command: Any, printed: str, expected: list[Any]) -> None:
    assert operations(command, printed) == expected


@every_row(("command", "printed"), [
    ("git status", "On branch main"), ("git log --oneline", "1a2b3c4 Say hello"), ("git branch -d topic", "Deleted branch topic"),
    ("git branch", "* main"), ("git branch --list x", ""), ("git checkout -- a.txt", ""),
    ("git checkout a.txt", "Updated 1 path"),
    ("git stash list", ""), ("git stash", "No local changes to save"), ("git push --dry-run", ""),
    ("git push", "Everything up-to-date"), ("echo 'git commit -m x'", "[main 1a2b3c4] x"), ("gh pr list", "https://x.test/pull/1"),
    ("git commit -m x", "nothing to commit, working tree clean"), ("cat digit.txt", ""), ("git", ""), ("git -C", ""),
])
def test_what_changed_nothing_is_not_told(command: str, printed: str) -> None:
    assert operations(command, printed) == []


def test_a_commit_that_git_confirmed_counts_though_the_line_failed_after_it() -> None:
    found = operations("git commit -m 'Say hello' && git push", COMMITTED + "fatal: no remote", status="failed", code=128)
    assert [each["kind"] for each in found] == ["commit"]


def test_a_failed_switch_is_not_told() -> None:
    assert operations("git switch nowhere", "fatal: invalid reference", status="failed", code=128) == []


def test_two_commits_of_one_line_are_told_apart() -> None:
    printed = "[main 1111111] One\n 1 file changed\n[main 2222222] Two\n 2 files changed\n"
    found = operations("git commit -m One a && git commit -m Two b", printed)
    assert [(each["hash"], each["filesChanged"]) for each in found] == [("1111111", 1), ("2222222", 2)]


def test_a_line_that_cannot_be_parsed_breaks_nothing() -> None:
    assert operations("git commit -m 'unclosed", "") == []
