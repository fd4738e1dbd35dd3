"""The cluster's policy with a node's own behind it: the own is stricter or nothing, and what is known is never forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.aio import run
from tests.session.policy.ask_builders import NOW_US, allow, ask_first, auto, deny, running, touching
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.errors import Conflict, Invalid, Unavailable
from trunkline.session.policy.cluster import NUMBER_MOST, ClusterPolicy, Kept, Numbered, kept_policy
from trunkline.session.policy.decide import Policy, PolicyAsk, Rule, Verdict
from trunkline.session.policy.file import PolicyBook, version_of
from trunkline.session.policy.text import parse_policy

STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}

COMMANDS = ["git status", "git push", "npm test", "npm test && git push", "make deploy", "cat notes.txt", "ls $HOME"]
PATHS = ["src/app.py", "src/deep/x.py", ".env", "/etc/hosts", "notes.txt"]
RULES = st.builds(
    lambda action, about, more: Rule(action=action, **about, **more),
    st.sampled_from(["allow", "ask", "deny"]),
    st.one_of(
        st.fixed_dictionaries({"command": st.lists(st.sampled_from(["git *", "git push", "npm test", "*", "make*"]), min_size=1,
                                                   max_size=2)}),
        st.fixed_dictionaries({"path": st.lists(st.sampled_from(["src/**", "**", ".env", "*.txt"]), min_size=1, max_size=2)}),
        st.fixed_dictionaries({"category": st.lists(st.sampled_from(["terminal", "git", "file_edit"]), min_size=1, max_size=2)})),
    st.fixed_dictionaries({}, optional={"risk": st.just(["high"]), "agent": st.just(["other"]), "node": st.just(["box"]),
                                        "session": st.sampled_from(["s1", "s2"])}))
POLICIES = st.builds(
    lambda rules, approve, problem: Policy(tuple(rules), auto_approve=approve, problem=problem), st.lists(RULES, max_size=5),
    st.none() | st.just(auto(reads=True, writes=True, commands=True)), st.sampled_from([None, None, None, "cannot be read"]))
ASKS = (st.builds(lambda line, risk: running(line, risk=risk), st.sampled_from(COMMANDS), st.sampled_from(["low", "high"]))
        | st.builds(touching, st.sampled_from(PATHS)))


def joined(cluster: Policy, own: Policy) -> Policy:
    return replace(cluster, source="cluster policy", node="box", stricter=own)


@settings(max_examples=examples(150))
@given(cluster=POLICIES, own=POLICIES, ask=ASKS, session=st.lists(RULES, max_size=2))
def test_both_together_are_never_looser_than_either(cluster: Policy, own: Policy, ask: PolicyAsk, session: list[Rule]) -> None:
    """A node that says nothing about a call has no opinion: its silence is not held against what the cluster allows."""
    given: dict[str, Any] = {"session_rules": session, "now_us": NOW_US}
    verdict = joined(cluster, own).decide(ask, **given)
    by_cluster, by_own = cluster.decide(ask, **given), own.decide(ask, **given)
    assert STRICTNESS[verdict.action] >= STRICTNESS[by_cluster.action]
    if by_own.source != "default":
        assert STRICTNESS[verdict.action] >= STRICTNESS[by_own.action]
    assert verdict.action in (by_cluster.action, by_own.action)


def test_what_a_text_would_be_in_force_as_is_known_before_it_is_written() -> None:
    book, push = PolicyBook(None), running("git push")
    text = '[[rules]]\naction = "deny"\ncommand = ["git push"]\n'
    assert book.with_text(text, is_clusters=False).decide(push, now_us=NOW_US).action == "deny"
    cluster = ClusterPolicy(None, "box")
    cluster.take(Numbered(1, '[[rules]]\naction = "allow"\ncommand = ["git *"]\n'))
    book.join(cluster)
    for is_clusters in (True, False):
        assert book.with_text(text, is_clusters=is_clusters).decide(push, now_us=NOW_US).action == "deny"
        assert book.policy.decide(push, now_us=NOW_US).action == "allow", "nothing is in force by that"
    own_allows = book.with_text(text.replace("deny", "allow"), is_clusters=False)
    assert own_allows.decide(running("make deploy"), now_us=NOW_US).action == "ask"
    with pytest.raises(Invalid):
        book.with_text("rules = 3", is_clusters=True)


@settings(max_examples=examples(60))
@given(cluster=POLICIES, own=POLICIES, more=RULES.filter(lambda rule: rule.action != "allow"), ask=ASKS)
def test_a_rule_more_in_the_own_file_that_does_not_allow_loosens_nothing(cluster: Policy, own: Policy, more: Rule, ask: PolicyAsk
                                                                         ) -> None:
    before = joined(cluster, own).decide(ask, now_us=NOW_US)
    after = joined(cluster, replace(own, rules=(*own.rules, more))).decide(ask, now_us=NOW_US)
    assert STRICTNESS[after.action] >= STRICTNESS[before.action]


STATUS = allow(command=["git status"])


@every_row(("cluster", "own", "action", "source"), [
    ((STATUS,), (), "allow", "cluster policy"),
    ((STATUS,), (deny(command=["git*"]),), "deny", "policy file"),
    ((STATUS,), (ask_first(command=["git*"]),), "ask", "policy file"),
    ((STATUS,), (STATUS, ask_first(command=["git*"])), "allow", "cluster policy"),  # the own allows it before it asks
    ((), (STATUS,), "ask", "default"),
    ((ask_first(command=["git*"]),), (STATUS,), "ask", "cluster policy"),
    ((deny(command=["git*"]),), (STATUS,), "deny", "cluster policy"),
])
def test_the_own_file_makes_it_stricter_or_nothing(cluster: tuple[Rule, ...], own: tuple[Rule, ...], action: str, source: str
                                                   ) -> None:
    verdict = joined(Policy(cluster), Policy(own)).decide(running("git status"), now_us=NOW_US)
    assert (verdict.action, verdict.source) == (action, source)


def test_a_verdict_says_which_of_them_decided_and_at_which_node() -> None:
    policy = joined(Policy((replace(STATUS, id="status"),)), Policy((deny(command=["git push"], id="mine"),)))
    assert policy.decide(running("git status"), now_us=NOW_US).why == "rule status of the cluster's policy allows it"
    why = policy.decide(running("git push"), now_us=NOW_US).why
    assert "rule mine of the policy file denies it" in why and "at the node box" in why
    sources = [one.source for one in policy.consider(running("git push"), now_us=NOW_US)]
    assert sources == ["policy file", "cluster policy"]  # what denies comes first


# What a node knows of it


TEXT = '[[rules]]\ncommand = ["git status"]\naction = "allow"\n'
MORE = TEXT + '\n[[rules]]\ncommand = ["git push"]\naction = "deny"\n'


def known(path: Path | None = None, *, number: int = 3, text: str = TEXT) -> ClusterPolicy:
    policy = ClusterPolicy(path, "box")
    policy.take(Numbered(number, text))
    return policy


def verdict_of(policy: ClusterPolicy, line: str = "git status") -> Verdict:
    return policy.policy.decide(running(line), now_us=NOW_US)


def test_a_policy_that_was_never_known_allows_nothing() -> None:
    policy = ClusterPolicy(None, "box")
    assert verdict_of(policy).action == "ask" and "not known" in verdict_of(policy).why
    policy.lose()  # the cluster has none, and that is known now
    assert policy.problem is None and policy.absent


def test_until_somebody_writes_one_the_own_file_decides_alone(tmp_path: Path) -> None:
    book, policy = PolicyBook(tmp_path / "policy.toml"), ClusterPolicy(None, "box")
    written = in_cluster(book, policy)
    book.replace(TEXT)
    assert book.policy.decide(running("git status"), now_us=NOW_US).action == "ask"  # nobody knows yet whether there is one
    policy.lose()
    assert book.policy.decide(running("git status"), now_us=NOW_US).action == "allow"
    book.append(allow(command=["npm test"]))
    assert not written and book.policy.decide(running("npm test"), now_us=NOW_US).action == "allow"
    policy.take(Numbered(1, ""))
    assert book.policy.decide(running("git status"), now_us=NOW_US).action == "ask"


def test_the_last_known_one_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    policy = known(path)
    run(policy.saved())
    again = ClusterPolicy(path, "box", kept_policy(path))
    assert verdict_of(again).action == "allow" and again.known == Kept(3, TEXT, "box")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_kept_one_that_is_damaged_is_none(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text("{")
    assert kept_policy(path) is None and kept_policy(tmp_path / "none") is None


def test_an_older_one_changes_nothing_and_is_told_of() -> None:
    policy = known(number=5, text=MORE)
    policy.take(Numbered(4, TEXT))
    assert verdict_of(policy, "git push").action == "deny" and "older" in (policy.problem or "")
    policy.take(Numbered(6, TEXT))
    assert verdict_of(policy, "git push").action == "ask" and policy.problem is None


def test_one_with_a_number_that_nothing_leads_to_changes_nothing_and_is_told_of() -> None:
    """A key that was stolen would write one that nobody can write over, however soon it is taken away."""
    policy = known(number=5, text=MORE)
    policy.take(Numbered(NUMBER_MOST, TEXT))
    assert verdict_of(policy, "git push").action == "deny" and "nothing leads to" in (policy.problem or "")
    policy.take(Numbered(6, TEXT))
    assert verdict_of(policy, "git push").action == "ask" and policy.problem is None


def test_one_that_cannot_be_read_changes_nothing_and_is_told_of() -> None:
    policy = known(text=MORE)
    policy.take(Numbered(4, "rules = 7"))
    assert verdict_of(policy, "git push").action == "deny" and "cannot be read" in verdict_of(policy).why


def test_of_one_that_is_gone_only_what_restricts_stays() -> None:
    policy = known(text=MORE)
    policy.lose()
    assert verdict_of(policy, "git push").action == "deny" and verdict_of(policy).action == "ask"
    assert "gone" in (policy.problem or "")


def test_rules_for_other_nodes_do_not_count_here() -> None:
    text = "".join(f'[[rules]]\ncommand = ["{command}"]\nnode = ["{node}"]\naction = "{action}"\n'
                   for command, node, action in (("git status", "box", "allow"), ("npm test", "web*", "allow"),
                                                 ("git push", "web*", "deny"), ("make deploy", "b*", "deny")))
    policy = known(text=text)
    assert [verdict_of(policy, line).action for line in ("git status", "npm test", "git push", "make deploy")] == [
        "allow", "ask", "ask", "deny"]
    alone = parse_policy(text).for_node("")
    assert [rule.action for rule in alone.rules] == ["deny", "deny"]


def test_an_allow_rule_has_to_say_more_than_a_node() -> None:
    with pytest.raises(Invalid, match="must say what it is about"):
        parse_policy('[[rules]]\nnode = ["box"]\naction = "allow"\n')


# A node's book


def in_cluster(book: PolicyBook, policy: ClusterPolicy) -> list[tuple[str, int]]:
    """The book joins; what is written comes back at once, as from the cluster."""
    written: list[tuple[str, int]] = []

    def write(text: str, number: int) -> None:
        if number != policy.known.number:
            raise Conflict("another is there")
        written.append((text, number))
        policy.take(Numbered(number + 1, text))

    policy.write = write
    book.join(policy)
    return written


def test_the_book_has_both_and_says_when_either_changes(tmp_path: Path) -> None:
    book, policy = PolicyBook(tmp_path / "policy.toml"), known()
    changes: list[Policy] = []
    book.changed = lambda: changes.append(book.policy)
    in_cluster(book, policy)
    assert book.policy is book.policy and book.policy.source == "cluster policy"
    assert book.policy.decide(running("git status"), now_us=NOW_US).action == "allow"
    book.replace('[[rules]]\ncommand = ["git *"]\naction = "deny"\n')
    assert book.policy.decide(running("git status"), now_us=NOW_US).action == "deny"
    policy.take(Numbered(4, MORE))
    assert len(changes) == 3 and len(book.policy.all_rules) == 3


def test_what_people_decide_for_good_goes_into_the_clusters_policy_for_this_node(tmp_path: Path) -> None:
    book, policy = PolicyBook(tmp_path / "policy.toml"), known()
    written = in_cluster(book, policy)
    for _ in range(2):
        book.append(allow(command=["npm test"]))
    assert len(written) == 1 and not (tmp_path / "policy.toml").exists()
    assert parse_policy(policy.known.text).rules[-1] == allow(command=["npm test"], node=["box"])
    assert book.policy.decide(running("npm test"), now_us=NOW_US).action == "allow"


def test_the_clusters_policy_is_replaced_only_over_the_one_that_was_read() -> None:
    policy = known()
    in_cluster(PolicyBook(None), policy)
    with pytest.raises(Conflict):
        policy.replace(MORE, versions=["another"])
    with pytest.raises(Invalid):
        policy.replace("rules = 7")
    policy.replace(MORE, versions=[version_of(TEXT)])
    assert policy.known == Numbered(4, MORE)


def test_without_the_cluster_its_policy_cannot_be_changed() -> None:
    with pytest.raises(Unavailable):
        known().replace(MORE)
