"""``trunkline policy``: what people see of the rules, without a hub."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.conftest import Place
from trunkline.session.policy.decide import always_rule, policy_ask
from trunkline.session.policy.text import written_rule

POLICY = """\
[[rules]]
command = ["npm test*"]
id = "tests"
action = "allow"

[[rules]]
path = ".env"
reason = "secrets"
action = "deny"

[[rules]]
command = "make"
expires_at = 2020-01-01T00:00:00Z
action = "allow"

[auto_approve]
reads = true
writes = ["src/**"]
"""


@pytest.fixture
def place(place: Place) -> Place:
    place.data.make()
    (place.data.path / "policy.toml").write_text(POLICY)
    return place


def explained(place: Place, *words: str) -> dict[str, Any]:
    done = place.call_here("policy", "explain", "--json", *words)
    assert done.returncode == 0, done.stderr
    found = msgspec.json.decode(done.stdout)
    assert isinstance(found, dict)
    return found


def test_show_lists_what_denies_first_and_says_what_is_over(place: Place) -> None:
    done = place.call_here("policy", "show")
    assert [line.strip() for line in done.stdout.decode().splitlines()][1:] == [
        "2  deny   path .env  (secrets)",
        "1  allow  command npm test*",
        "3  allow  command make; expired 2020-01-01T00:00:00+00:00",
        "allow  reads  (low and medium risk)",
        "allow  writes: src/**  (low and medium risk)",
    ]
    assert place.call_here("policy").stdout == done.stdout


CASES = [
    (("npm test",), "allow", "policy file"),
    (("npm", "test", "--watch"), "allow", "policy file"),
    (("npm test && rm -rf x",), "ask", "default"),
    (("npm test > ~/.bashrc",), "ask", "default"),
    (("make",), "ask", "default"),
    (("cat .env",), "deny", "policy file"),
    ((".env",), "deny", "policy file"),
    (("src/a.py",), "allow", "permission policy"),
    (("lib/a.py",), "ask", "default"),
    (("README", "--tool", "read"), "allow", "permission policy"),
    (("/etc/passwd", "--tool", "read"), "ask", "default"),
    (("../x",), "ask", "default"),
]


@pytest.mark.parametrize(("words", "action", "source"), CASES)
def test_explain_says_which_rule_decides(place: Place, words: tuple[str, ...], action: str, source: str) -> None:
    found = explained(place, *words)
    assert (found["action"], found["source"]) == (action, source)


def test_explain_names_the_rule_and_what_stands_against_the_others(place: Place) -> None:
    done = place.call_here("policy", "explain", "npm test; ls")
    text = done.stdout.decode()
    assert text.startswith("ask    npm test; ls\n")
    assert "`ls` is not in its commands" in text and "it expired at 2020-01-01T00:00:00+00:00" in text
    assert explained(place, "npm test")["why"] == "rule tests of the policy file allows it"


@pytest.mark.parametrize("tool", [(), ("--tool", "Bash")])
def test_explain_knows_a_rule_that_always_made_of_a_command(place: Place, tool: tuple[str, ...]) -> None:
    root = str(place.work.resolve())
    ask = policy_ask("bash", "execute", {"command": "make all | tee log"}, agent="demo", cwd=root, roots=[root])
    rule = always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None, rule_id="mine")
    (place.data.path / "policy.toml").write_text(written_rule(rule))
    found = explained(place, ask.command or "", "--cwd", str(place.work), "--agent", "demo", *tool)
    assert (found["action"], found["ask"]["tool"]) == ("allow", "bash"), found


def test_explain_without_an_agent_says_for_whom_the_answer_is_another_one(place: Place) -> None:
    (place.data.path / "policy.toml").write_text(
        '[[rules]]\naction = "allow"\ncommand = ["make"]\nagent = ["demo"]\n'
        '[[rules]]\naction = "allow"\ncommand = ["ls"]\nagent = ["other", "!demo"]\n')
    found = explained(place, "make")
    assert (found["action"], list(found["agents"]), found["agents"]["demo"]["action"]) == ("ask", ["demo"], "allow")
    said = place.call_here("policy", "explain", "make").stdout.decode()
    assert "allow  where demo asks:" in said
    assert "--agent demo" in said
    named = explained(place, "make", "--agent", "demo")
    assert (named["action"], named["agents"]) == ("allow", {})
    assert explained(place, "pwd")["agents"] == {}


def test_explain_says_how_a_line_was_read(place: Place) -> None:
    said = place.call_here("policy", "explain", "npm test --userconfig=x").stdout.decode()
    assert "`npm test --userconfig=x` --userconfig changes what is run: a pattern has to name it" in said
    found = explained(place, "git -c alias.p=push p")
    assert found["ask"]["pieces"][0]["also"][0] == "git push" and found["ask"]["doubts"] == []
    assert explained(place, "ls", "--agent", "gemini", "--tool", "run_shell_command")["ask"]["tool"] == "bash"
    titled = place.call_here("policy", "explain", "npm test", "--title", "npm test && git push").stdout.decode()
    assert "its title is another command" in titled


def test_explain_follows_links_in_the_folder_it_is_told(place: Place, tmp_path: Path) -> None:
    (place.work / "src").mkdir()
    (place.work / "src" / "link").symlink_to(tmp_path)
    assert explained(place, "src/link/x", "--cwd", str(place.work))["action"] == "ask"
    assert explained(place, "src/x", "--cwd", str(place.work))["action"] == "allow"


def test_nothing_opens_the_policy_itself(place: Place) -> None:
    (place.data.path / "policy.toml").write_text("[auto_approve]\nwrites = true\ncommands = true\n")
    root = str(place.data.path.parent)
    assert explained(place, "data/policy.toml", "--cwd", root)["action"] == "ask"
    assert explained(place, "touch data/policy.toml", "--cwd", root)["action"] == "ask"
    assert explained(place, "touch work/x", "--cwd", root)["action"] == "allow"


def test_a_bad_file_is_told_and_allows_nothing(place: Place) -> None:
    (place.data.path / "policy.toml").write_text(POLICY + "\n[[rules]]\naction = 'alow'\n")
    done = place.call_here("policy", "explain", "npm test")
    assert done.stdout.startswith(b"ask ")
    assert b"rule 4 (line 20): action: Invalid enum value 'alow'" in done.stderr


@pytest.mark.parametrize(("text", "words"), [("", b"it is empty: everything is asked"),
                                             (None, b"not there: everything is asked")])
def test_a_file_without_rules_is_told_from_one_that_is_not_there(place: Place, text: str | None, words: bytes) -> None:
    path = place.data.path / "policy.toml"
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_text(text)
        path.chmod(0o600)
    done = place.call_here("policy", "show")
    assert done.returncode == 0 and words in done.stdout, done.stderr


@pytest.mark.parametrize("bad", ["mode", "bytes", "rule", "gone"])
def test_where_the_file_is_bad_the_rules_of_the_running_hub_are_shown_and_explained(place: Place, bad: str) -> None:
    path = place.data.path / "policy.toml"
    place.serve()
    if bad == "mode":
        path.chmod(0o666)
    elif bad == "gone":
        path.unlink()
    else:
        path.write_bytes(b"\xff" if bad == "bytes" else b"[[rules]]\naction = 'alow'\n")
    done = place.call_here("policy", "show")
    assert done.returncode == 0, done.stderr
    assert b"deny   path .env  (secrets)" in done.stdout and b"not there" not in done.stdout
    assert (b"npm test" in done.stdout) == (bad != "gone")
    assert str(path).encode() in done.stderr
    found = explained(place, "cat .env")
    assert (found["action"], found["source"]) == ("deny", "policy file")


def test_without_a_hub_a_file_that_cannot_be_read_shows_no_rules_and_says_why(place: Place) -> None:
    (place.data.path / "policy.toml").chmod(0o666)
    done = place.call_here("policy", "show")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert b"may be written by others" in done.stderr


def test_without_a_file_everything_is_asked_and_none_is_made(place: Place) -> None:
    (place.data.path / "policy.toml").unlink()
    assert b"everything is asked" in place.call_here("policy", "show").stdout
    assert explained(place, "npm test")["action"] == "ask"
    assert not (place.data.path / "policy.toml").exists()


def editor(tmp_path: Path, change: str) -> dict[str, str]:
    """An editor that runs a line of Python on the text ``t`` of the file."""
    script = tmp_path / "editor.py"
    script.write_text(f"import sys\np = sys.argv[1]\nt = open(p).read()\n{change}\nopen(p, 'w').write(t)\n")
    return {"EDITOR": f"{sys.executable} {script}", "VISUAL": ""}


def test_edit_puts_a_checked_policy_in_place(place: Place, tmp_path: Path) -> None:
    done = place.call_here("policy", "edit", env=editor(tmp_path, "t = t.replace('npm test*', 'npm run *')"))
    assert done.returncode == 0, done.stderr
    path = place.data.path / "policy.toml"
    assert "npm run *" in path.read_text() and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert explained(place, "npm run x")["action"] == "allow"


def test_edit_refuses_what_is_no_policy(place: Place, tmp_path: Path) -> None:
    done = place.call("policy", "edit", env=editor(tmp_path, "t = '[[rules'"), stdin=b"n\n")
    assert done.returncode == 2 and b"not TOML" in done.stderr
    assert (place.data.path / "policy.toml").read_text() == POLICY


def test_edit_of_nothing_changes_nothing(place: Place, tmp_path: Path) -> None:
    done = place.call_here("policy", "edit", env=editor(tmp_path, "pass"))
    assert (done.returncode, done.stdout) == (0, b"nothing changed\n")


def test_remove_takes_a_rule_out_by_its_number_and_shows_it(place: Place) -> None:
    file = place.data.path / "policy.toml"
    file.write_text(f"# mine\n{POLICY}")
    done = place.call_here("policy", "remove", "2")
    assert (done.returncode, done.stdout.decode()) == (0, "removed: deny   path .env  (secrets)\n")
    gone = '[[rules]]\npath = ".env"\nreason = "secrets"\naction = "deny"\n\n'
    assert gone in POLICY and file.read_text() == f"# mine\n{POLICY}".replace(gone, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(("number", "says"), [("4", "there is no rule 4: the policy has 3 rules"), ("0", "0 is not in the")])
def test_remove_of_what_is_not_there_is_refused_and_changes_nothing(place: Place, number: str, says: str) -> None:
    done = place.call_here("policy", "remove", number)
    assert done.returncode == 2 and says in done.stderr.decode()
    assert (place.data.path / "policy.toml").read_text() == POLICY


@pytest.mark.parametrize(("word", "meant"), [("list", "show"), ("rm", "remove"), ("delete", "remove")])
def test_what_others_call_a_command_is_answered_with_its_name(place: Place, word: str, meant: str) -> None:
    done = place.call_here("policy", word)
    assert done.returncode == 2 and f"Did you mean {meant}" in done.stderr.decode()


def test_in_a_cluster_its_policy_comes_first_and_each_answer_says_who_decided(place: Place) -> None:
    rules = '[[rules]]\ncommand = "git status"\naction = "allow"\n\n[[rules]]\ncommand = ["npm *", "cat *"]\naction = "allow"\n'
    kept = msgspec.json.encode({"number": 7, "text": rules, "node": "box"})
    (place.data.path / "cluster-policy.json").write_bytes(kept)
    shown = [line.strip() for line in place.call_here("policy", "show").stdout.decode().splitlines()]
    assert shown[0] == "the cluster's policy, as the node box last knew it (number 7)" and shown[1] == "allow  command git status"
    assert "2  deny   path .env  (secrets)" in shown
    decided = {line: explained(place, line) for line in ("git status", "cat .env", "make")}
    assert [(each["action"], each["source"], each["node"]) for each in decided.values()] == [
        ("allow", "cluster policy", "box"), ("deny", "policy file", "box"), ("ask", "default", "box")]
    assert "at the node box" in decided["cat .env"]["why"]
    told = {line: place.call_here("policy", "explain", line).stdout.decode() for line in decided}
    assert [next(each.strip() for each in text.splitlines() if "decided on" in each) for text in told.values()] == [
        "decided on the node box, by the cluster's policy", "decided on the node box, by its own file",
        "decided on the node box, by no rule"]
