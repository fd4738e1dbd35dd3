"""A rule that denies a command means it in other words as well. The lines are data; none is ever run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from tests.tooling.rows import every_row
from trunkline.session.policy.decide import Policy, policy_ask
from trunkline.session.policy.rules import Rule
from trunkline.session.policy.synonyms import MOST

ROOT: Final = "/home/ann/app"
TABLE: Final = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text("utf-8"))
ROWS: Final = [(pattern, line, action) for pattern, row in TABLE.items() for action, lines in row.items() for line in lines]
EVERYTHING: Final = Rule(action="allow", category=["terminal"], risk=["low", "medium", "high", "critical"])


@every_row(("pattern", "line", "action"), ROWS)
def test_a_rule_means_a_command_in_other_words_and_no_other_one(pattern: str, line: str, action: str) -> None:
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    verdict = Policy((Rule(action="deny", command=[pattern]), EVERYTHING)).decide(ask, now_us=0)
    assert verdict.action == action, verdict.why


def test_what_an_allow_rule_excludes_it_excludes_in_other_words() -> None:
    rule = Rule(action="allow", command=["*", "!npm install*", "!rm -rf *"], risk=["low", "medium", "high", "critical"])
    for line, action in (("npm test", "allow"), ("npm i x", "ask"), ("rm -r -f x", "ask"), ("rm x", "allow")):
        ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
        assert Policy((rule,)).decide(ask, now_us=0).action == action, line


@every_row("line", ["npm i x", "docker-compose up", "./scripts/a.sh", "python3 a.py"])
def test_no_allow_rule_is_read_in_other_words(line: str) -> None:
    rule = Rule(action="allow", command=["npm install*", "docker compose up*", "bash scripts/*", "python a.py"])
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    assert Policy((rule,)).decide(ask, now_us=0).action == "ask"


def test_of_very_many_spellings_the_rest_may_be_any_command() -> None:
    line = f"make {' '.join(f't{number}' for number in range(MOST + 100))} deploy"
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    verdict = Policy((Rule(action="deny", command=["make deploy*"]), EVERYTHING)).decide(ask, now_us=0)
    assert verdict.action == "ask"


@every_row("line", ["cp a b; bash //x", "cp a b; //x/y", "cp a b; bash ..", "mv a b; sh ~", "ln -s a b; ./",
                    "cp a b; sh " + "x/" * 900])
def test_a_moved_script_is_looked_for_in_few_steps(line: str) -> None:
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    assert Policy((Rule(action="deny", command=["./scripts/deploy.sh*"]), EVERYTHING)).decide(ask, now_us=0).action != "deny"


@every_row("line", ["bash scripts/../../x.sh", "./scripts/../../x.sh", "bash scripts/../x.sh"])
def test_a_pattern_with_a_folder_does_not_cover_what_climbs_out_of_it(line: str) -> None:
    rule = Rule(action="allow", command=["bash scripts/*", "./scripts/*"])
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    assert Policy((rule,)).decide(ask, now_us=0).action == "ask"


@every_row("line", ["bash scripts/a/../b.sh", "./scripts/a/../b.sh"])
def test_a_pattern_with_a_folder_covers_what_stays_in_it(line: str) -> None:
    rule = Rule(action="allow", command=["bash scripts/*", "./scripts/*"])
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    assert Policy((rule,)).decide(ask, now_us=0).action == "allow"


@every_row("path", [".env ", ".env:1-20", ".env::$DATA", "./.env#x", '".env"', "@.env", "src/a.py,.env", "src/a.py .env",
                    "%2eenv"])
def test_a_path_that_says_more_than_a_path_may_be_a_denied_one(path: str) -> None:
    ask = policy_ask("read", "read", {"path": path}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    rules = (Rule(action="deny", path=[".env"]), Rule(action="allow", tool=["read"]))
    assert Policy(rules).decide(ask, now_us=0).action != "allow"


@every_row(("root", "path"), [("/home/ann/my project", "src/a.py"), ("/home/ann/a,b", "docs/my notes.md"), (ROOT, "a, b.txt")])
def test_blanks_and_signs_in_names_are_no_second_path(root: str, path: str) -> None:
    ask = policy_ask("read", "read", {"path": f"{root}/{path}"}, agent="demo", cwd=root, roots=[root], home="/home/ann")
    rules = (Rule(action="deny", path=[".env"]), Rule(action="allow", tool=["read"]))
    assert Policy(rules).decide(ask, now_us=0).action == "allow"


def test_a_second_path_outside_keeps_an_allow_rule_away() -> None:
    ask = policy_ask("read", "read", {"path": "src/a.py,/etc/hosts"}, agent="demo", cwd=ROOT, roots=[ROOT], home="/home/ann")
    assert Policy((Rule(action="allow", tool=["read"]),)).decide(ask, now_us=0).action == "ask"
