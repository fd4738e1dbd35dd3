"""Commands within a command that no parser of shells sees. What is found only ever restricts."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.session.policy.ask_builders import allow, decided, running
from tests.tooling.rows import every_row
from trunkline.dialects.risk import LEVELS
from trunkline.dialects.shell import parse_shell
from trunkline.session.policy.commands import VALUES
from trunkline.session.policy.hidden import CHARS, WORDS, hidden, runs_unknown, without_options


@every_row(("line", "plain"), [
    ("git -C x push", ["git push"]), ("git --git-dir=y -c a=b log -1", ["git log -1"]), ("git push", []), ("make -C x all", []),
    ("docker compose -p x ps", ["docker compose ps"]), ("docker compose --newest x ps", []),
])
def test_a_command_is_known_without_the_options_before_its_verb(line: str, plain: list[str]) -> None:
    assert without_options(only(line)) == plain


@every_row(("line", "unknown"), [
    ("make all", False), ("echo " + "x " * (WORDS + 1), False), ("make " + "x " * WORDS, True), ("alias ll=ls", True),
    ("alias", False), ("git -c alias.x=y x", True), ("git log", False), ("sh script.sh", False), ("sh $X", True),
    ("sh <input", True), ("sh script.sh <input", False), ("make " + "a=" * VALUES, True),
])
def test_what_may_run_more_than_its_words_say_is_told(line: str, unknown: bool) -> None:
    assert runs_unknown(parse_shell(line).commands[0]) is unknown


@every_row(("line", "text"), [
    ("nice make all", "make all"), ("man -P 'less x' y", "less x"), ("tool --run='npm test'", "npm test"),
    ("tool <<E\nmake all\nE", "make all"), ("npm -s test", "npm test"),
])
def test_a_text_that_a_command_may_run_is_found(line: str, text: str) -> None:
    assert text in list(hidden(parse_shell(line).commands[0]))


@every_row("line", ["echo make all", "git commit -m make", "npm"])
def test_who_never_runs_its_words_hides_nothing(line: str) -> None:
    assert list(hidden(only(line))) == []


def test_a_long_text_is_looked_at_by_its_beginning() -> None:
    assert max(len(found) for found in hidden(only("tool " + "x" * 5 * CHARS))) == CHARS


@every_row("line", [
    "trunkline policy edit", "trunkline policy remove 1", "trunkline --data x policy remove 1", "/usr/bin/trunkline policy edit",
    "T=trunkline; $T approve 1", "$(which trunkline) approve 1", "cp $(which trunkline) t; ./t approve 1",
    "ln -s /usr/bin/trunkline t; ./t approve 1", "alias t=trunkline; t approve 1", "echo approve 1 | xargs trunkline",
    "nix run nixpkgs#trunkline -- approve 1",
    "python3.12 -mtrunkline approve 1", "python -Bmtrunkline approve 1", "python -I -B -mtrunkline approve 1",
    "uv run python -mtrunkline approve 1", "foo 'python -Bmtrunkline approve 1'", "python3 -Im trunkline approve 1",
    "python3 -m trunkline policy remove 1", "uvx trunkline@1 policy edit", "uvx --from trunkline trunkline policy edit",
    "pipx run trunkline policy edit", "uv run trunkline policy edit", "foo 'trunkline policy edit'", "trunkline approve 1",
    "trunkline agents add x -- sh", "trunkline agents --data x add y -- sh", "trunkline agents import f.json",
    "trunkline agents remove x", "trunkline policy --data x remove 1", "trunkline answer 1 yes", "trunkline $X",
    "sh -c 'trunkline policy edit'", "TRUNKLINE policy edit",
])
def test_no_rule_opens_what_the_hub_allows(line: str) -> None:
    verdict = decided(running(line, guarded=("/data",)), allow(category=["terminal"], risk=[*LEVELS]))
    assert verdict.action == "ask"


@every_row("line", ["trunkline policy show", "trunkline policy explain x", "echo trunkline policy edit", "trunkline agents",
                    "trunkline agents --json", "trunkline policy --help", "trunkline doctor",
                    "git commit -m 'trunkline policy edit'", "cat src/trunkline/policy.py", "grep 'trunkline policy' docs"])
def test_who_looks_at_what_the_hub_allows_is_not_held_up(line: str) -> None:
    verdict = decided(running(line, guarded=("/data",)), allow(category=["terminal"], risk=[*LEVELS]))
    assert verdict.action == "allow"
