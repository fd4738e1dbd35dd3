"""Real agents that ask, and then have the hub do it: each act is asked about once.

Their commands come back through ``terminal/create``: behind a shell, a folder and variables (kimi), with a variable of its own
(claude-zed), as one string (goose), as words or behind a shell (fast-agent). Others ask in words, or with no word of the call at
all: kimi, vibe, and openhands, which asks once for all that it is about to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.peers.recipes import CLAUDE_ZED, FAST_AGENT, GOOSE, KIMI_CODE, MISTRAL_VIBE, OPEN_HANDS, Recipe
from tests.peers.test_agents import Peer, assert_calls_are_whole, play, started
from tests.tooling.hub_process import types_of
from tests.tooling.messages_api import MessagesApi, script
from tests.tooling.scripted_model import ScriptedModel

pytestmark = [pytest.mark.peers, pytest.mark.slow]

NO_ASK_FOR_WRITES = (MISTRAL_VIBE,)
"""They write by themselves, without asking anybody."""


class Asker(Peer):
    """An agent, and how its model is told what to do."""

    def __init__(self, peer: Peer, run: Callable[[str], str], write: Callable[[str, str], str]) -> None:
        super().__init__(peer.recipe, peer.hub)
        self.run = run
        self.write = write


def _claude(name: str, **members: Any) -> str:
    return script({"tools": [{"name": f"mcp__acp__{name}", "input": members}]}, {"text": "done"})


@pytest.fixture(scope="module", params=(KIMI_CODE, CLAUDE_ZED, GOOSE, FAST_AGENT, MISTRAL_VIBE, OPEN_HANDS),
                ids=lambda recipe: recipe.name)
def asker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    recipe: Recipe = request.param
    if recipe is CLAUDE_ZED:
        with MessagesApi() as api:
            for peer in started(recipe, api, tmp_path_factory):
                yield Asker(peer, lambda line: _claude("Bash", command=line, description="do it", timeout=60000),
                            lambda path, text: _claude("Write", file_path=path, content=text))
        return
    with ScriptedModel() as model:
        for peer in started(recipe, model, tmp_path_factory):
            yield Asker(peer, lambda line: f"run: {line}", lambda path, text: f"write: {path} {text}")


def asked(packets: list[dict[str, Any]]) -> int:
    """How often somebody was asked."""
    return types_of(packets).count("approval_requested")


@pytest.mark.parametrize("line", [
    "touch {made}", "touch {made} && echo 'it is  made' | tail -n 1", "CI=true touch {made}",
    "touch {made} && echo 'a line that is longer than what an ask in words shows of it, which is its first fifty characters'",
])
def test_a_command_is_asked_about_once_and_runs(asker: Asker, line: str) -> None:
    session = asker.session()
    made = session.folder / "made.txt"
    packets = play(session, asker.run(line.format(made=made)), "allow")
    assert made.exists()
    assert asked(packets) == 1
    assert_calls_are_whole(packets)
    session.delete()


def test_the_same_command_is_asked_about_again_in_the_next_turn(asker: Asker) -> None:
    session = asker.session()
    line = asker.run(f"touch {session.folder / 'made.txt'}")
    assert [asked(play(session, line, "allow")) for _ in range(2)] == [1, 1]
    session.delete()


def test_a_command_that_was_denied_is_not_asked_about_again_and_does_not_run(asker: Asker) -> None:
    session = asker.session()
    never = session.folder / "never.txt"
    packets = play(session, asker.run(f"touch {never}"), "deny")
    assert not never.exists()
    assert asked(packets) == 1
    session.delete()


def test_two_commands_of_one_answer_are_asked_about_once_each_or_together(asker: Asker) -> None:
    if asker.recipe is CLAUDE_ZED:
        pytest.skip("its model is scripted in another way")
    session = asker.session()
    one, two = session.folder / "one.txt", session.folder / "two.txt"
    packets = play(session, f"par: touch {one} ;; touch {two}", "allow")
    assert one.exists() and two.exists()
    assert asked(packets) == (1 if asker.recipe is OPEN_HANDS else 2)
    assert_calls_are_whole(packets)
    session.delete()


def test_a_write_is_asked_about_once(asker: Asker) -> None:
    session = asker.session()
    note = session.folder / "note.txt"
    packets = play(session, asker.write(str(note), "hello"), "allow")
    assert note.read_text().strip() == "hello"
    assert asked(packets) == (0 if asker.recipe in NO_ASK_FOR_WRITES else 1)
    assert_calls_are_whole(packets)
    session.delete()
