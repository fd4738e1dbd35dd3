"""The git commands that a forge's own command line runs."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.runs import runs_other
from trunkline.dialects.shell import parse_shell


@every_row(("line", "ran"), [
    ("gh repo clone x/y", ("git clone x/y",)),
    ("gh -R a/b repo clone x/y z -- --depth 1", ("git clone x/y z --depth 1",)),
    ("gh pr checkout 1", ("git fetch", "git checkout x")),
    ("gh co 1 --force", ("git fetch", "git reset --hard")),
    ("gh repo create x --source=. --push", ("git push",)),
    ("gh pr view 1", ()),
    ("glab mr list", ()),
])
def test_what_git_is_told_is_given(line: str, ran: tuple[str, ...]) -> None:
    assert runs_other(parse_shell(line).commands[0]) == ran


@every_row(("line", "ran"), [
    ("node /usr/lib/node_modules/npm/bin/npm-cli.js publish", ("npm publish",)),
    ("node --no-warnings .yarn/releases/yarn-4.0.0.cjs npm publish", ("yarn npm publish",)),
    ("php composer.phar install", ("composer install",)),
    ("java -jar gradle-wrapper.jar publish", ("gradle publish",)),
    ("python3 tools/npmlike.py publish", ()),
    ("node build.js publish", ()),
])
def test_a_manager_is_known_by_its_script(line: str, ran: tuple[str, ...]) -> None:
    assert runs_other(parse_shell(line).commands[0]) == ran
