"""What the policy decides where several rules fit, and which rule an answer for always makes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.session.policy.ask_builders import DATA, HOME, NOW_US, ROOT, allow, ask_first, auto, decided, deny, running, touching
from tests.tooling.rows import every_row
from trunkline.dialects.context.types import PermissionPolicy
from trunkline.errors import Invalid
from trunkline.session.policy import globs
from trunkline.session.policy.asks import INPUT_BYTES, policy_ask
from trunkline.session.policy.decide import Policy, PolicyAsk, always_rule
from trunkline.session.policy.subject import Subject
from trunkline.session.policy.text import check_rule, parse_policy, written_rule

AUTO = [
    # policy, ask, allowed
    (auto(reads=True), touching("src/a", category="file_read"), True),
    (auto(reads=True), touching(category="file_read"), False),
    (auto(reads=True), touching("/etc/passwd", category="file_read"), False),
    (auto(reads=True), touching("../x", category="file_read"), False),
    (auto(reads=True), touching("src/a", category="file_edit"), False),
    (auto(reads=True), touching("src/a", category="file_read", risk="high"), False),
    (auto(reads=True), running("cat x", category="file_read"), False),
    (auto(searches=True), touching(category="search"), True),
    (auto(searches=True), touching("src", category="search"), True),
    (auto(searches=True), touching(ROOT, category="search"), True),
    (auto(searches=True), touching("/", category="search"), False),
    (auto(searches=True), touching(category="web"), False),
    (auto(writes=True), touching("src/a"), True),
    (auto(writes=True), touching("src/a", category="file_write"), True),
    (auto(writes=True), touching(), False),
    (auto(writes=True), touching("~/.bashrc"), False),
    (auto(writes=True), touching("src/a", risk="critical"), False),
    (auto(writes=True), touching("src/a", category="mcp"), False),
    (auto(writes=["src/**"]), touching("src/a", risk="high"), False),
    (auto(commands=True), running("make"), True),
    (auto(commands=True), running("make", risk="medium"), True),
    (auto(commands=True), running("make", risk="high"), False),
    (auto(commands=True), running("make", cwd="/elsewhere"), False),
    (auto(commands=True), running("make", cwd="sub"), True),
    (auto(commands=["make"]), running("make", cwd="../x"), False),
    (auto(commands=True), touching("src/a"), False),
    (auto(), running("make"), False),
    (auto(reads=True, writes=True, commands=True, searches=True), touching(category="other"), False),
    (auto(reads=True, writes=True, commands=True, searches=True), touching(category="web"), False),
    (auto(reads=True, writes=True, commands=True, searches=True), touching(category="agent"), False),
]


@every_row(("policy", "ask", "allowed"), AUTO)
def test_a_permission_policy_approves_what_it_names(policy: PermissionPolicy, ask: PolicyAsk, allowed: bool) -> None:
    verdict = decided(ask, session_policy=policy)
    assert verdict.action == ("allow" if allowed else "ask")
    assert verdict.source == ("permission policy" if allowed else "default")


def test_the_session_s_permission_policy_takes_the_place_of_the_file_s() -> None:
    policy = Policy((), auto(commands=True))
    assert policy.decide(running("make"), now_us=NOW_US).action == "allow"
    assert policy.decide(running("make"), session_policy=auto(), now_us=NOW_US).action == "ask"


def test_deny_rules_win_wherever_they_stand() -> None:
    rules = allow(command=["make"]), deny(tool=["bash"])
    for order in (rules, rules[::-1]):
        assert decided(running("make"), *order).action == "deny"
        assert decided(running("make"), order[0], session_rules=[order[1]]).action == "deny"
    assert decided(running("make"), deny(tool=["bash"]), session_policy=auto(commands=True)).action == "deny"


def test_of_allow_and_ask_the_first_that_fits_decides_and_the_session_comes_before_the_file() -> None:
    asking, allowing = ask_first(command=["make*"]), allow(command=["make*"])
    assert decided(running("make"), asking, allowing).rule == asking
    assert decided(running("make"), allowing, asking).rule == allowing
    verdict = decided(running("make"), asking, session_rules=[allowing])
    assert (verdict.action, verdict.source) == ("allow", "session")
    verdict = decided(running("make"), allowing, session_rules=[asking], session_policy=auto(commands=True))
    assert (verdict.action, verdict.source) == ("ask", "session")
    assert decided(running("make x; ls"), asking, allow(category=["terminal"])).action == "ask"


@every_row("ask", [
    touching(f"{DATA}/policy.toml", root=HOME), touching(".local/share/trunkline/audit.key", root=HOME),
    touching(f"{DATA}", root=HOME), touching(f"{DATA.upper()}/policy.toml", root=HOME.upper()),
    running("tee ~/.local/share/trunkline/policy.toml", root=HOME),
    running("echo x > .local/share/trunkline/policy.toml", root=HOME),
    running("rm -r $HOME/.local/share/trunkline", root=HOME), running("rm .local/share/trunkline/*", root=HOME),
    running("rm -r .local/share/trunk*", root=HOME), running("rm -r .local", root=HOME), running("mv ~/.local x", root=HOME),
    touching(".local/share", root=HOME, category="file_write"),
])
def test_no_rule_opens_the_hub_s_own_files(ask: PolicyAsk) -> None:
    ask = replace(ask, guarded=(DATA,))
    rules = [allow(category=["terminal", "file_edit"]), allow(command=["*"]), allow(path=["**", ".local/**"])]
    if ask.command is not None:
        open_to_all = replace(ask, guarded=())
        rules.append(always_rule(open_to_all, allow=True, scope="always", session_id="s1", turn_id=None, reason=None))
    verdict = decided(ask, *rules, session_policy=auto(commands=True, writes=True, reads=True))
    assert verdict.action == "ask"


PLAYGROUND = f"{DATA}/playground"


@every_row("ask", [
    touching("a.py", root=PLAYGROUND), touching(".git/x", root=PLAYGROUND), touching(f"{PLAYGROUND}/x/a.py", root=PLAYGROUND),
    running("touch a.py", root=PLAYGROUND), running("ls *.py", root=PLAYGROUND), running("git add .", root=PLAYGROUND),
    running(f"cat {PLAYGROUND}/a.py > b", root=PLAYGROUND), running("make", root=PLAYGROUND, cwd="sub"),
])
def test_the_playground_is_for_agents_and_rules_may_be_about_it(ask: PolicyAsk) -> None:
    ask = replace(ask, guarded=(DATA,))
    rule = always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None)
    assert decided(ask, rule).action == "allow"


@every_row("ask", [
    touching("../token", root=PLAYGROUND), touching("x/../../token", root=PLAYGROUND), touching("x/../y", root=PLAYGROUND),
    touching("link", f"{DATA}/token", root=PLAYGROUND), touching(f"{PLAYGROUND}x/a", root=PLAYGROUND),
    touching("..", root=PLAYGROUND), touching(f"{DATA}/Playground/a", root=PLAYGROUND),
    running("cat ../token", root=PLAYGROUND), running("cat x/../../token", root=PLAYGROUND),
    running("cd .. && cat token", root=PLAYGROUND), running("cat ../*", root=PLAYGROUND),
    running("cat link/../*", root=PLAYGROUND), running("ls ../play*", root=PLAYGROUND),
    running("cp -r ~/.local/share/trunkline x", root=PLAYGROUND), running("tar cf x ..", root=PLAYGROUND),
])
def test_what_leads_out_of_the_playground_is_the_hubs_own(ask: PolicyAsk) -> None:
    ask = replace(ask, guarded=(DATA,))
    everything = [allow(category=["terminal", "file_edit"], risk=["low"]), allow(command=["*"]), allow(path=["**", "/**"])]
    assert decided(ask, *everything, session_policy=auto(commands=True, writes=True, reads=True)).action == "ask"
    with pytest.raises(Invalid, match="no rule can allow this"):
        always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None)


@every_row("ask", [
    running("cat .?/policy.toml", root=PLAYGROUND), running("cat .*/token", root=PLAYGROUND),
    running("cat .[.]/token", root=PLAYGROUND), running("cp mine.toml .?/policy.toml", root=PLAYGROUND),
    running("cat .{.,x}/token", root=PLAYGROUND), running("cat .@(.|x)/token", root=PLAYGROUND),
    running("cd .? && cat token", root=PLAYGROUND), running("cat x/.?/.?/tok*", root=PLAYGROUND),
    running("grep '.*/token' .*/token", root=PLAYGROUND), running("cat '.?/token'", root=PLAYGROUND),
    running("x=.; cat .$x/token", root=PLAYGROUND), running("cat ${x:-.?}/token", root=PLAYGROUND),
    running("cat $PWD/../token", root=PLAYGROUND), running("cat ${PWD}/.?/token", root=PLAYGROUND),
    running("tool --out=.?/policy.toml", root=PLAYGROUND), running("echo x > .?/policy.toml", root=PLAYGROUND),
    running("cat .?/.?/.?/.?/.?/.?/x", root=PLAYGROUND), running("cp mine.toml .?/trunkline/policy.toml", root=f"{DATA}/../app"),
])
def test_a_glob_that_may_climb_leads_out_as_well(ask: PolicyAsk) -> None:
    assert decided(replace(ask, guarded=(DATA,)), allow(command=["*"]), session_policy=auto(commands=True)).action == "ask"


@every_row("command", ["ls .[!.]*", "cat .env*", "ls *.py", "cat app/[id]/page.tsx", "ls .[a-z]*",
                                     "find . -name '.*'", "grep -rn '.*' x"])
def test_globs_of_hidden_names_climb_no_more_than_names(command: str) -> None:
    assert decided(replace(running(command, root=PLAYGROUND), guarded=(DATA,)), allow(command=["*"])).action == "allow"


@every_row("ask", [
    running(f"mv {PLAYGROUND} x", root=PLAYGROUND), running(f"mv {PLAYGROUND}/ x", root=PLAYGROUND),
    running(f"rm -r {PLAYGROUND}", root=PLAYGROUND), running(f"rmdir {PLAYGROUND}", root=PLAYGROUND),
    running(f"ln -sfn . {PLAYGROUND}", root=PLAYGROUND), running(f"d={PLAYGROUND}; mv $d x", root=PLAYGROUND),
    running(f"for d in {PLAYGROUND}; do mv $d x; done", root=PLAYGROUND), running(f"rename --to=x {PLAYGROUND}", root=PLAYGROUND),
    running(f"find {PLAYGROUND} -delete", root=PLAYGROUND), running(f"echo {PLAYGROUND} | xargs rm -r", root=PLAYGROUND),
    running(f"python -c \"import os; os.rename('{PLAYGROUND}', 'x')\"", root=PLAYGROUND),
    running("mv ~/.local/share/trunkline/playground /tmp/x", root=ROOT), running('mv "$PWD" /tmp/x', root=PLAYGROUND),
    touching(PLAYGROUND, root=PLAYGROUND), touching(PLAYGROUND, root=PLAYGROUND, category="file_write"),
    touching(PLAYGROUND, root=PLAYGROUND, category="mcp", tool="mcp__fs__move_file"),
])
def test_where_the_playground_is_is_the_hubs_own(ask: PolicyAsk) -> None:
    everything = [allow(category=["terminal", "file_edit", "file_write", "mcp"]), allow(command=["*"]), allow(path=["**", "/**"])]
    verdict = decided(replace(ask, guarded=(DATA,)), *everything, session_policy=auto(commands=True, writes=True))
    assert verdict.action == "ask"


@every_row("ask", [
    running(f"mkdir -p {PLAYGROUND}", root=PLAYGROUND), running(f"ls -la {PLAYGROUND}", root=PLAYGROUND),
    running(f"cd {PLAYGROUND} && make", root=PLAYGROUND), running(f"git -C {PLAYGROUND} status", root=PLAYGROUND),
    running(f"find {PLAYGROUND} -name '*.py' -type f", root=PLAYGROUND), running("git add .", root=PLAYGROUND),
    running(f"mv {PLAYGROUND}/a {PLAYGROUND}/b", root=PLAYGROUND), running("rm -r ./build", root=PLAYGROUND),
    touching(PLAYGROUND, root=PLAYGROUND, category="mcp", tool="mcp__fs__list_directory"),
])
def test_who_looks_at_the_playground_or_goes_there_leaves_it_where_it_is(ask: PolicyAsk) -> None:
    everything = [allow(command=["*", "git -C *"]), allow(category=["mcp"])]
    assert decided(replace(ask, guarded=(DATA,)), *everything).action == "allow"


def test_always_means_exactly_this_command_in_this_folder() -> None:
    ask = running("npm test *.js > out; echo $X", risk="high")
    rule = always_rule(ask, allow=True, scope="always", session_id="s1", turn_id="t1", reason="it is fine")
    assert decided(ask, rule).action == "allow"
    for other in (replace(ask, command="npm test x.js > out; echo $X"), replace(ask, root="/home/ann/other"),
                  replace(ask, tool="Shell"), replace(ask, agent="other"), replace(ask, risk="critical"),
                  replace(ask, cwd="sub")):
        assert decided(other, rule).action == "ask"
    assert decided(replace(ask, session_id="s2", turn_id="t9"), rule).action == "allow"


@every_row("path", [
    "src/a[1]*.ts", ".env", "!odd", "/etc/hosts", "/home/ann/notes/{x}.md", "~/notes", "a b/ü?.txt",
])
def test_always_means_exactly_this_path(path: str) -> None:
    ask = touching(path)
    rule = always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None)
    assert decided(ask, rule).action == "allow"
    for other in ("src/a1x.ts", ".envx", "/etc/hosts2", f"{path}/x", f"{path}x"):
        assert decided(touching(other), rule).action == "ask"
        assert decided(touching(path, other), rule).action == "ask"


def test_always_for_this_session_or_this_turn_ends_with_it() -> None:
    ask = running("make")
    for_session = always_rule(ask, allow=True, scope="session", session_id="s1", turn_id="t1", reason=None)
    for_turn = always_rule(ask, allow=True, scope="turn", session_id="s1", turn_id="t1", reason=None)
    assert [decided(replace(ask, turn_id="t2"), rule).action for rule in (for_session, for_turn)] == ["allow", "ask"]
    assert [decided(replace(ask, session_id="s2"), rule).action for rule in (for_session, for_turn)] == ["ask", "ask"]
    with pytest.raises(Invalid, match="not at work"):
        always_rule(ask, allow=True, scope="turn", session_id="s1", turn_id=None, reason=None)


def test_never_means_this_command_from_any_agent_at_any_risk() -> None:
    ask = running("make clean", risk="medium")
    rule = always_rule(ask, allow=False, scope="always", session_id="s1", turn_id=None, reason="no")
    assert decided(replace(ask, agent="other", risk="low"), rule).action == "deny"
    assert decided(running("ls && make clean"), rule).action == "deny"


def test_always_about_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="no command and no path"):
        always_rule(touching(), allow=True, scope="always", session_id="s1", turn_id=None, reason=None)


def test_a_policy_that_cannot_be_read_asks_for_everything_and_still_denies() -> None:
    policy = Policy(problem="line 3 is broken")
    allowing: dict[str, Any] = {"session_rules": [allow(command=["make"])], "session_policy": auto(commands=True)}
    verdict = policy.decide(running("make"), **allowing, now_us=NOW_US)
    assert verdict.action == "ask" and "line 3 is broken" in verdict.why
    assert policy.decide(running("make"), session_rules=[deny(command=["make"])], now_us=NOW_US).action == "deny"


def test_a_verdict_says_which_rule_and_why() -> None:
    verdict = decided(running("make"), deny(command=["make"], id="r7", reason="never here"))
    assert verdict.why == "rule r7 of the policy file denies it: never here"
    assert decided(running("make")).why == "no rule is about this (terminal, low risk), so a person decides"


@every_row(("ask", "what"), [
    (touching(f"{DATA}/policy.toml"), f"the hub's own {DATA}"), (running(f"cat {DATA}/token"), f"the hub's own {DATA}"),
    (running("trunkline policy set x"), "the hub's own command line"),
    (running("trunkline approve 1"), "the hub's own command line"),
])
def test_where_the_hub_guards_its_own_the_verdict_says_so(ask: PolicyAsk, what: str) -> None:
    for rules in ((), (allow(category=["terminal", "file_edit"], path=["**", "/**"]),), (allow(command=["make"]),)):
        verdict = decided(replace(ask, guarded=(DATA,)), *rules, session_policy=auto(commands=True, writes=True))
        assert (verdict.action, verdict.why) == ("ask", f"this touches {what}, which no rule allows, so a person decides")


@every_row("line", ["foo -e 'x(1)'", "foo --eval x", "guile -c '(foo 1)'", "sbcl --eval '(foo)'", "foo '(a \"b\")'",
                    "uvx foo --eval x",
                    "make CFLAGS='-O2; x'", "make FOO='$(shell x)'", 'make CC="$X"', "docker compose -f - up"])
def test_what_is_not_sure_is_allowed_only_by_a_rule_that_names_it(line: str) -> None:
    assert decided(running(line), session_policy=auto(commands=True)).action == "ask"
    assert decided(running(line), allow(category=["terminal"])).action == "ask"
    assert decided(running(line), allow(command=[globs.escape(line)])).action == "allow"


@every_row("line", ["foo -e 'x(1)'", "foo --eval x", "foo '(a \"b\")'"])
def test_a_pattern_for_more_words_does_not_cover_code_for_a_program_that_nobody_knows(line: str) -> None:
    assert decided(running(line), allow(command=["foo *"])).action == "ask"


@every_row("line", ["foo '{\"run\":[\"git\",\"push\"]}'", "foo '<run>git push</run>'", "foo post='git push'",
                    "foo \"os.exec(['git','push'])\"",
                    "foo -e 'x(\"git\" + \" push\")'", "./foo 'a: git push'", "foo hooks[x]='git push'"])
def test_a_rule_that_denies_a_command_is_held_against_the_texts_of_any_program(line: str) -> None:
    rules = (deny(command=["git push*"]), allow(command=["*", "foo -e *"]))
    assert decided(running(line), *rules).action == "ask"
    assert decided(running("foo post='git pull'"), *rules).action == "allow"


def test_consider_lists_every_rule_with_what_stands_against_it() -> None:
    policy = Policy((allow(command=["make"]), deny(command=["rm *"])))
    looked_at = policy.consider(running("make; ls"), now_us=NOW_US)
    assert [(one.rule.action, one.fit.ok, one.fit.why) for one in looked_at] == [
        ("deny", False, "no command in it matches"), ("allow", False, "`ls` is not in its commands")]


def test_a_line_too_long_to_be_read_is_asked() -> None:
    line = "npm test " + "x" * 100_000
    assert decided(running(line), allow(command=["npm test*"])).action == "ask"
    assert decided(running(line), allow(category=["terminal"]), deny(command=["rm *"])).action == "ask"


@every_row("ask", [
    touching("src\\a"), touching("src/a\nb"), touching("~bob/a"), touching("https://x.example/a"), touching("src/../a"),
    touching(f"{DATA}/policy.toml", guarded=(DATA,)), running("ls", cwd="sub\\x"),
])
def test_always_is_refused_where_the_rule_would_never_fit_again(ask: PolicyAsk) -> None:
    with pytest.raises(Invalid, match="no rule can allow this"):
        always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None)
    never = always_rule(ask, allow=False, scope="always", session_id="s1", turn_id=None, reason=None)
    assert decided(ask, never).action == "deny"


@every_row("ask", [
    touching("src/[id]/{a}*?!.ts"), touching("!src"), touching("src/" + "a" * 250 + "/" + "b" * 2000), touching("/etc/passwd"),
    running("echo '\\*?[x]{a,b}' \\\\ \n!"), running("!x"), running("echo " + "x" * 10_000), running("ls", cwd="/elsewhere"),
])
def test_always_fits_again_whatever_is_in_the_command_or_the_path(ask: PolicyAsk) -> None:
    rule = always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None)
    (read,) = parse_policy(written_rule(check_rule(rule))).rules
    assert read == rule
    assert decided(ask, read).action == "allow"


@pytest.mark.parametrize(("tool", "kind", "asked", "others"), [
    ("mcp__db__execute", "other", {"query": "SELECT 1"}, [{"query": "SELECT 2"}, {"query": "DELETE FROM users"}]),
    ("mcp__fs__tidy", "other", {"path": "a"}, [{"path": "a", "deep": "yes"}]),
    ("WebFetch", "fetch", {"url": "https://example.org/a"}, [{"url": "https://other.example/?k=secret"}]),
    ("Task", "think", {"prompt": "look at a", "subagent_type": "x"}, [{"prompt": "tidy up", "subagent_type": "x"}]),
    ("Move", "move", {"source": "a.txt", "destination": "b.txt"}, [{"source": "b.txt", "destination": "a.txt"}]),
    ("grep", "search", {"pattern": "TODO"}, [{"pattern": "password"}]),
])
@pytest.mark.parametrize("scope", ["turn", "session", "always"])
def test_a_rule_made_from_an_ask_covers_what_was_asked_and_nothing_else(
    tool: str, kind: str, asked: dict[str, Any], others: list[dict[str, Any]], scope: Any,
) -> None:
    def ask(given: dict[str, Any]) -> PolicyAsk:
        return policy_ask(tool, kind, given, agent="a", cwd="/w", session_id="s1", turn_id="t1")

    rule = always_rule(ask(asked), allow=True, scope=scope, session_id="s1", turn_id="t1", reason=None)
    policy = Policy(parse_policy(written_rule(rule)).rules)
    assert policy.decide(ask(dict(reversed(asked.items()))), now_us=0).action == "allow", "the order of members says nothing"
    assert [policy.decide(ask(given), now_us=0).action for given in others] == ["ask"] * len(others)


def test_no_rule_is_made_of_an_input_that_is_too_large_to_be_named() -> None:
    ask = policy_ask("mcp__x__put", "other", {"text": "x" * (INPUT_BYTES + 1)}, agent="a", cwd="/w")
    with pytest.raises(Invalid, match="more than a rule can name"):
        always_rule(ask, allow=True, scope="session", session_id="s1", turn_id=None, reason=None)


@every_row("command", ["for x in *.py; do cat $x; done", 'echo "a\\n$x" a/b', 'find . -name "$x"',
                                     f"cd {PLAYGROUND} && cat $x", f"git -C {PLAYGROUND} log $x"])
def test_a_word_that_only_the_shell_knows_makes_nothing_the_hubs_own(command: str) -> None:
    ask = replace(running(command, root=PLAYGROUND), guarded=(DATA,))
    assert Subject(ask).guarded == ""
