"""Rules that come into force while an approval waits: a deny wins over whoever answers, the rest is decided as if just asked."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.errors import AlreadyResolved, Forbidden
from trunkline.session.approvals import timeouts
from trunkline.session.audit.chain import opened, verify
from trunkline.session.commands.requests import Decision
from trunkline.session.policy.file import PolicyBook

DENY = '[[rules]]\ncommand = ["make*"]\nreason = "not today"\naction = "deny"\n'
ALLOW = '[[rules]]\ncommand = ["make*"]\naction = "allow"\n'


async def waiting(stage: Stage, *requests: str) -> Stage:
    """A session whose agent waits for these approvals."""
    await stage.open()
    await stage.send()
    for request_id in requests or ("req-1",):
        stage.driver.ask(request_id, toolCallId=f"call-{request_id}")
    await stage.packets("approval_requested", len(requests) or 1)
    return stage


async def sealed_whole(stage: Stage) -> bool:
    """Whether the chain of asks and answers verifies."""
    events = [entry.event for entry in await stage.session.feed.read(after=0)]
    records = [opened(event) for event in events if msgspec.json.decode(event)["type"].startswith("approval:")]
    return verify(b"key", stage.session.id, records).ok


@pytest.mark.parametrize("decision", [
    Decision(decision="allow"), Decision(option_id="yes"), Decision(decision="allow", scope="session"),
    Decision(decision="allow", scope="always"), Decision(option_id="forever"),
])
def test_nobody_approves_what_a_rule_denies_by_then(tmp_path: Path, decision: Decision) -> None:
    async def scenario() -> None:
        stage = await waiting(Stage(tmp_path))
        stage.services.policies.replace(DENY)
        with pytest.raises(Forbidden, match="not today"):
            await stage.session.approvals.decide("req-1", decision, by="ann")
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")]
        assert [len(stage.services.policies.policy.rules), stage.session.fold.rules] == [1, []], "no rule was made of it"
        with pytest.raises(AlreadyResolved, match="policy"):
            await stage.session.approvals.decide("req-1", decision, by="ann")
        assert await sealed_whole(stage)

    run(scenario())


def test_whoever_denies_what_a_rule_denies_is_the_first_to_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = await waiting(Stage(tmp_path))
        stage.services.policies.replace(DENY)
        assert await stage.session.approvals.decide("req-1", Decision(decision="deny"), by="ann") is False
        assert stage.session.fold.decided["req-1"].by == "ann"

    run(scenario())


@pytest.mark.parametrize(("text", "chosen"), [(DENY, "no"), (ALLOW, "yes")])
def test_what_waits_is_looked_at_again_when_the_rules_change(tmp_path: Path, text: str, chosen: str) -> None:
    async def scenario() -> None:
        stage = await waiting(Stage(tmp_path), "req-1", "req-2")
        stage.services.policies.replace(text)
        stage.session.rules.on_change()
        await stage.until(lambda: len(stage.driver.known_call("permission")) == 2)
        assert {option for _, _, option in stage.driver.known_call("permission")} == {chosen}
        assert await sealed_whole(stage)

    run(scenario())


def test_a_file_that_is_edited_on_the_disk_is_noticed_while_something_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(timeouts, "LOOK_AT_RULES_S", 0.001)
        stage = Stage(tmp_path)
        book = PolicyBook(tmp_path / "policy.toml")
        stage.services = msgspec.structs.replace(stage.services, policies=book)
        stage.session = stage.new(tmp_path)
        book.changed = stage.session.rules.on_change
        await waiting(stage)
        (tmp_path / "policy.toml").write_text(ALLOW)
        (tmp_path / "policy.toml").chmod(0o600)
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]

    run(scenario())
