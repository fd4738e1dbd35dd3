"""Programs that run others by an option, an argument or their input. The lines are data; none is ever run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.names import UNKNOWN
from trunkline.dialects.risk.runners.runs import line_runs, runs_other
from trunkline.dialects.risk.runners.table import ROWS
from trunkline.dialects.risk.runners.words import option_values
from trunkline.dialects.shell import parse_shell


def runs(line: str) -> object:
    """What the last command of a line runs in turn."""
    return line_runs(parse_shell(line).commands)[-1]


@every_row(("line", "ran"), [
    ("git config alias.p push && git p origin", ("git push origin",)),
    ("git config --global alias.p '!rm -rf x'; git p", ("rm -rf x",)),
    ("git -c alias.p=push p origin", ("git push origin",)),
    ("git -c alias.p='!rm x' p", ("rm x",)),
    ("git -c core.pager='rm x' log", ("rm x",)),
    ("/usr/lib/git-core/git-push origin main", ("git push origin main",)),
    ("git-push origin", ("git push origin",)),
    ("git send-pack host:x main", ("git push host:x main",)),
    ("git http-push x", ("git push x",)),
    ("git rebase -x 'make test' main", ("make test",)),
    ("git rebase --exec='make test' main", ("make test",)),
    ("git bisect run make test", ("make test",)),
    ("git submodule foreach git push", ("git push",)),
    ("git fetch --upload-pack='rm x' origin", ("rm x",)),
    ("git clone 'ext::sh -c x'", ("sh -c x",)),
    ("git grep -Ovim x", ("vim",)),
    ("/lib64/ld-linux-x86-64.so.2 /usr/bin/git push", ("git push",)),
    ("/lib/ld-musl-x86_64.so.1 --library-path /x /bin/rm y", ("rm y",)),
    ("ld.so /bin/rm x", ("rm x",)),
    ("cp /usr/bin/git g && ./g push", ("git push",)),
    ("ln -s /bin/rm r; ./r x", ("rm x",)),
    ("alias g=git; g push", ("git push",)),
    ("tar --checkpoint=1 --checkpoint-action=exec='rm x' -cf a b", ("rm x",)),
    ("tar -I 'rm x' -xf a", ("rm x",)),
    ("tar --use-compress-prog='rm x' -xf a", ("rm x",)),
    ("sort --compress-prog=rm x", ("rm",)),
    ("rsync -e 'ssh -p 1' a b", ("ssh -p 1",)),
    ("rsync -ae'rm x' a b", ("rm x",)),
    ("rsync --rsync-path='rm x' a h:b", ("rm x",)),
    ("man -P 'rm x' ls", ("rm x",)),
    ("man --pager='rm x' ls", ("rm x",)),
    ("split --filter='rm x' a", ("rm x",)),
    ("rg --pre rm x", ("rm",)),
    ("fzf --preview 'rm x'", ("rm x",)),
    ("npm test --script-shell=/tmp/x", ("/tmp/x",)),
    ("go test -exec 'rm x' ./...", ("rm x",)),
    ("xterm -e 'rm x'", ("rm x",)),
    ("valgrind -q git push", ("git push",)),
    ("fakeroot rm x", ("rm x",)),
    ("ip netns exec a git push", ("git push",)),
    ("hyperfine 'rm x'", ("rm x",)),
])
def test_a_command_behind_a_command_is_found(line: str, ran: tuple[str, ...]) -> None:
    assert runs(line) == ran


@every_row("line", [
    "$X push", "git $X", "git p origin", "git --exec-path=/tmp/x push", "git config core.pager x",
    "git filter-branch --tree-filter x",
    "ed < script", "printf '!rm x' | ed", "echo x | sqlite3 a.db", "sqlite3 a.db '.shell rm x'", "sqlite3 a.db .system",
    "sqlite3 -init x a.db", "gdb -ex 'shell rm x' a", "gdb -x script a", "cat s | gdb", "dc -e '!rm x'", "dc < s", "cat s | dc",
    "vim -c ':!rm x' a", "vim '+!rm x' a", "vim -S script", "vim --cmd 'call system(1)'", "ex -s script",
    "emacs --eval '(shell)'",
    "awk 'BEGIN { system(\"rm x\") }'", "awk '{ print | \"sh\" }' a", "awk -f script a", "gawk -i inplace '{ print }' a",
    "sed '1e rm x' a", "sed 's/a/rm x/e' a", "sed -f script a", "sed -e '1e' a", "ssh -o ProxyCommand='rm x' h",
    "ssh -oProxyCommand=x h", "ssh -F config h", "scp -o 'ProxyCommand x' a h:b", "psql -c '\\! rm x'", "psql -f x.sql",
    "cat s | psql", "cat s | python3", "python - < s", "echo x | perl", "cat s | at now", "make -f other.mk test",
    "make --eval 'x:' test", "npm test --userconfig=x", "cargo test --config x", "pytest -p plugin", "pytest -c other.ini",
    "go test -overlay x ./...", "go test -C ../x", "gcc -fplugin=x a.c", "hg --config alias.x=y x", "tar -I \"$X\" -xf a",
    "sort --compress-program=$X a", "wget -e use_askpass=x a", "curl -K x", "nmap --script x h",
])
def test_what_its_words_do_not_say_is_unknown(line: str) -> None:
    assert runs(line) is UNKNOWN


@every_row("line", [
    "ls -la", "git status", "git push origin main", "git commit -m 'git p'", "git log --oneline", "git config user.name x",
    "git -C x status", "git -c color.ui=always diff", "sed -n 1,5p a", "sed 's/the/e/' a", "sed 's/a/b/g; s/c/d/' a",
    "sed -i 's/e/f/' a",
    "awk '{print $1}' a", "awk -F, '{ s += $2 } END { print s }' a", "sqlite3 a.db 'select 1'", "psql -c 'select 1'",
    "tar -xzf a.tgz",
    "tar -czf a.tgz b", "sort -u a", "rsync -a a b", "ssh host ls", "ssh -o StrictHostKeyChecking=no host ls", "ssh -p 22 h ls",
    "python x.py", "python -m pytest", "cat a | python x.py", "make test", "make -j4 build", "npm test", "cargo test",
    "pytest -q tests",
    "pytest -x -k foo", "go test ./...", "go build -o bin/x ./cmd", "man ls", "vim a.txt", "gdb a", "curl -s https://x.example",
    "rg foo src", "echo x | grep y", "dc -e '1 2 + p'", "ed a.txt", "gcc -o a a.c",
])
def test_everyday_commands_run_nothing_else(line: str) -> None:
    assert runs(line) == ()


def test_every_row_runs_something_in_some_way() -> None:
    assert [name for name, row in ROWS.items() if row == ROWS["ip"] and name != "ip"] == []


@every_row(("word", "values"), [
    ("-rf.env", ("f.env", ".env")), ("-lf.env", ("f.env", ".env")), ("--file=.env", (".env",)), ("--a=b=c", ("b=c",)),
    ("a=b", ("b",)),
    ("-o", ()), ("--", ()), ("-", ()), ("x", ()), ("-o=x", ("x", "=x")), ("-ox", ("x",)), ("-n5", ("5",)),
])
def test_every_end_of_a_bundle_may_be_a_value(word: str, values: tuple[str, ...]) -> None:
    assert option_values(word) == values


@given(st.text("abcdefgh", min_size=1, max_size=20), st.sampled_from([".env", "/etc/x", "~/.ssh", "../x"]))
def test_a_value_behind_any_bundle_is_among_the_values(letters: str, value: str) -> None:
    assert value in option_values(f"-{letters}{value}")


def test_a_bundle_without_end_has_few_values() -> None:
    found = option_values("-" + "r" * 5_000 + ".env")
    assert ".env" in found and len(found) <= 65


PIECES = "git -c a=b -C x alias.p push $X -o -e 'a b' + --exec=x < > | sed awk tar -I ssh ed".split()


@given(st.lists(st.sampled_from(PIECES), max_size=9))
def test_any_line_has_an_answer_for_every_command(pieces: list[str]) -> None:
    commands = parse_shell(" ".join(pieces)).commands
    assert len(line_runs(commands)) == len(commands)
    assert all(found is UNKNOWN or isinstance(found, tuple) for found in map(runs_other, commands))
