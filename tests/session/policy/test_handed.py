"""The hub's own folder and the folders above it: who looks at one, or goes there, is not asked; who may change it is.

Data only: nothing is run."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.session.policy.decide import policy_ask
from trunkline.session.policy.text import parse_policy

QUIET = parse_policy('[[rules]]\ncategory = ["terminal"]\nrisk = ["low", "medium", "high", "critical"]\naction = "allow"\n')


def action(line: str) -> str:
    ask = policy_ask("bash", "execute", {"command": line}, agent="d", cwd="/home/ann/app", roots=["/home/ann/app"],
                     home="/home/ann", guarded=["/home/ann/.local/share/trunkline"])
    return QUIET.decide(ask, now_us=0).action


@every_row("line", [
    "cd web && npm run build && cd ..", "cd web && npm test; cd ..; git status", "cd web/src && cd ../.. && ls",
    "cd src/components && ls ../..", "for d in a b; do cd $d && make && cd ..; done", "cd ..", "ls ..", "du -sh ..",
    "find .. -name x", "cd web && npm ci && cd .. && docker build .", "ls .. | head -3",
    "docker ps --format '{{.Names}}'", "docker inspect -f '{{.State.Status}}' app", "go list -f '{{.Dir}}' ./...",
    "gh pr list --json number --template '{{range .}}x{{end}}'", "kubectl get pods -o jsonpath='{.items[*].metadata.name}'",
    "jq '{a: .b, c: .d}' x.json", "echo '{.a}'",
    "awk '$2 ~ /err/' app.log", 'git commit -m "Speed up by ~ 20 %"', 'echo "~ 5 files"', 'rg "~/" src',
])
def test_who_looks_at_a_folder_above_is_not_asked(line: str) -> None:
    assert action(line) == "allow"


@every_row("line", [
    "rm -r ..", "mv .. /tmp/x", "tar cf x.tar ..", "rsync -a .. host:x", "docker run -v ..:/x y", "chmod -R 700 ..", "tool ..",
    "cp -r .. /tmp/x", "cd .. && chmod -R 700 .", "cd .. && make", "cd ..; git clean -fdx", "cd ~ && tool",
    "cd nosuch; cd ..; chmod -R 700 .", "cd nosuch || cd .. && chmod -R 700 .", "! cd nosuch && cd .. && chmod -R 700 .",
    "bash -c 'cd web' && cd .. && chmod -R 700 .", "(cd web) && cd .. && chmod -R 700 .",
    "for d in a b; do make; cd ..; done", "for d in .. b; do cd $d && make && cd ..; done", "while true; do make; cd ..; done",
    "ls -d .. | xargs rm -r", "ls -d .. | cat | xargs rm -r", "rm -r $(ls -d ..)", "ls ~; rm -r $_", "find .. -delete",
    "find .. -exec rm {} +", "cd ~ && cd app && rm -r $OLDPWD", "alias ls='rm -r'; ls ..", "ls() { rm -r \"$@\"; }; ls ..",
    "PATH=bin ls ..", "bin/ls ..", "grep -r token ..", "git -C .. clean -fdx",
    "tool {.,x}./.local", "awk 'BEGIN { system(\"rm -r ~\") }'", "awk 'BEGIN { system(\"rm -r ~ x\") }'", "rm -r ~", "mv ~/ x",
    "python3 -c \"import shutil, os; shutil.rmtree(os.path.expanduser('~'))\"", "docker run -v ~:/x y",
])
def test_who_may_change_it_or_hand_it_on_is(line: str) -> None:
    assert action(line) == "ask"
