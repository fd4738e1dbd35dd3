"""Words with a colon are the chat's own; every other line is the agent's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.aio import run
from tests.cli.commands.chat.scene import MODES, Scene
from tests.tooling.rows import every_row
from trunkline.cli.commands.chat.conversation import Conversation


@every_row(("do", "told"), [
    (lambda talk: talk.next_mode(), [("mode", "auto")]),
    (lambda talk: talk.enter(":mode auto"), [("mode", "auto")]),
    (lambda talk: talk.enter(":cancel"), ["cancel"]),
    (lambda talk: talk.enter(":nothing of ours"), [("send", ":nothing of ours", "queue")]),
    (lambda talk: talk.enter("/mode auto"), [("send", "/mode auto", "queue")]),
])
def test_words_with_a_colon_are_ours_and_all_others_the_agents(do: Callable[[Conversation], Any], told: list[Any]) -> None:
    scene = Scene(modes=MODES, mode="ask")
    run(do(scene.talk))
    assert scene.hub.told == told


def test_a_word_with_a_colon_that_is_mistyped_is_not_sent_and_says_what_may_have_been_meant() -> None:
    scene = Scene()
    run(scene.talk.enter(":hlep"))
    run(scene.talk.enter(":titel Herons"))
    assert scene.hub.told == [] and "did you mean :help?" in scene.out.getvalue() and ":title" in scene.out.getvalue()
    run(scene.talk.enter(" :hlep"))
    assert scene.hub.told == [("send", " :hlep", "queue")]


def test_a_mode_that_is_not_there_is_refused_naming_those_that_are() -> None:
    scene = Scene(modes=MODES)
    run(scene.talk.enter(":mode nothing"))
    assert "no mode 'nothing'" in scene.out.getvalue() and "ask, auto" in scene.out.getvalue()


def test_help_lists_keys_and_words_and_quit_leaves() -> None:
    scene = Scene()
    run(scene.talk.enter(":help"))
    for word in ("Ctrl-D", "Shift-Tab", ":mode", ":quit"):
        assert word in scene.out.getvalue()
    run(scene.talk.enter(":quit"))
    assert scene.has_left


@pytest.mark.parametrize(("may", "link"), [
    (True, "http://127.0.0.1:1/#code=secret&to=/s/ses_1"), (False, "http://127.0.0.1:1/#/s/ses_1")])
def test_open_gives_a_link_that_logs_in_to_who_may_have_one(monkeypatch: pytest.MonkeyPatch, may: bool, link: str) -> None:
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    scene = Scene()
    scene.hub.may_let_in = may
    run(scene.talk.enter(":open"))
    assert scene.out.getvalue().strip() == link
