"""What stands behind the commands of a line is looked at, up to a bound."""

from __future__ import annotations

from tests.session.policy.ask_builders import allow, decided, deny, running
from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell
from trunkline.session.policy.behind import TEXTS_READ, behind

EVERYTHING = allow(category=["terminal"], risk=["low", "medium", "high", "critical"])


def test_of_very_many_texts_that_a_line_runs_the_rest_may_be_anything() -> None:
    def unknown(count: int) -> bool:
        return behind(parse_shell("; ".join(f"man -P 'less {number}' x" for number in range(count))).commands)[-1].unknown

    assert [unknown(TEXTS_READ), unknown(TEXTS_READ + 1)] == [False, True]


@every_row("line", [
    "concurrently 'git -C . push'", "foo -- git --no-pager push", "concurrently 'ls; /usr/bin/git push'", "foo 'env git push'",
    "foo 'g\"\"it push'", "bun run git push", "bun exec '/usr/bin/git push'", "cargo watch -- git push", "retry -- /bin/git push",
    "lxc exec a -- /bin/git push", "vagrant ssh -c '/bin/git push'", "rg --pre=git push",
    "kubectl exec a git push", "gcloud compute ssh a -- git push", "foo 'bar \"git push\"'",
    "foo --run='time git push'",
])
def test_a_denied_command_that_a_program_may_bring_is_asked(line: str) -> None:
    assert decided(running(line), deny(command=["git push*"]), EVERYTHING).action == "ask"


@every_row("line", [
    "watchexec /bin/git push", "volta run git push", "mise x node@20 -- git push", "pnpm -r exec git push", "fnm exec git push",
    "corepack yarn exec git push", "nix develop -c git push", ". /dev/stdin <<< 'git push'",
])
def test_a_denied_command_that_a_program_is_known_to_run_is_denied(line: str) -> None:
    assert decided(running(line), deny(command=["git push*"]), EVERYTHING).action == "deny"


@every_row("line", [
    "foo \"it's the push\"", "gh pr create --title 'git is fine' --body \"it's good\"", "npm push", "docker push x",
    "git commit -m 'git push'", "cargo watch -x test", "jq '.a | .b' x.json", "foo -- git status", "echo 'git push'",
])
def test_what_brings_no_denied_command_is_not_held_up(line: str) -> None:
    assert decided(running(line), deny(command=["git push*"]), EVERYTHING).action == "allow"
