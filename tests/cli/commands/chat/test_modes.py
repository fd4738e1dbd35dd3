"""What the line and the keys are for just now: writing, deciding, giving a reason, editing, filling in."""

from __future__ import annotations

import msgspec
import pytest

from tests.aio import run
from tests.cli.commands.chat.scene import FORM, OTHER, RUN, WRITE, Scene
from trunkline.cli.commands.chat.cards import CARD_LINES
from trunkline.cli.commands.chat.modes import Editing, Filling, Longer, OnCard, Reason, Writing
from trunkline.cli.terminal.card import REST_S
from trunkline.client import QuestionView


def test_d_asks_for_a_reason_which_the_agent_is_told() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("d")
        assert isinstance(scene.talk.mode(), Reason)
        assert scene.hub.told == []
        scene.line = "use pnpm"
        await scene.talk.enter(scene.line)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("req_1", {"allow": False, "reason": "use pnpm", "scope": "once"})]
    assert scene.line == ""


def test_e_edits_the_command_and_approves_exactly_that() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("e")
        mode = scene.talk.mode()
        assert isinstance(mode, Editing) and mode.first == "npm test"
        await scene.talk.enter("npm test")
        assert scene.hub.told == [], "nobody has read or edited it in this time"
        scene.clock.now += REST_S
        await scene.talk.enter("npm run test")

    scene = Scene()
    run(play(scene))
    edited = {"command": "npm run test", "cwd": "/w"}
    assert scene.hub.told == [("req_1", {"allow": True, "scope": "once", "updated_input": edited})]


def test_an_edited_input_that_is_no_json_is_there_again_to_be_mended() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(WRITE)
        await scene.press("e")
        scene.clock.now += REST_S
        await scene.talk.enter('{"path": "b.txt"')
        mode = scene.talk.mode()
        assert isinstance(mode, Editing) and mode.first == '{"path": "b.txt"'
        assert "no JSON object" in scene.out.getvalue()
        await scene.talk.enter(" ")
        assert mode.first == '{"path": "b.txt"', "nothing is no text to go on with"
        await scene.talk.enter('{"path": "b.txt"}')

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("req_3", {"allow": True, "scope": "once", "updated_input": {"path": "b.txt"}})]


def test_an_input_that_cannot_be_edited_says_so() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(OTHER)
        await scene.press("e")

    scene = Scene()
    run(play(scene))
    assert "cannot be edited" in scene.talk.status()


@pytest.mark.parametrize("letter", ["a", "d", "e", "l"])
def test_what_only_its_terminal_can_answer_is_not_decided_here(letter: str) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(msgspec.structs.replace(OTHER, answer_there=True, options=[]))
        assert "in its terminal" in scene.talk.mode().keys()
        await scene.press(letter)

    scene = Scene()
    run(play(scene))
    assert "only in the terminal" in scene.talk.status() and scene.hub.told == []


@pytest.mark.parametrize(("letter", "scope"), [("t", "turn"), ("s", "session"), ("w", "always")])
def test_l_shows_the_rule_and_asks_for_how_long(letter: str, scope: str) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("l")
        assert isinstance(scene.talk.mode(), Longer)
        shown = [line.strip() for line in scene.out.getvalue().splitlines()]
        assert shown[-3:] == ["[[rules]]", 'command = ["npm test"]', 'action = "allow"'], "as it would stand in the file"
        await scene.press(letter)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("req_1", {"allow": True, "scope": scope})]


def test_who_writes_is_not_taken_for_somebody_who_decides() -> None:
    async def play(scene: Scene) -> None:
        scene.line = "and "
        await scene.wait(RUN)
        assert isinstance(scene.talk.mode(), Writing)
        scene.clock.now += 10
        await scene.talk.enter("and a thing")
        scene.line = ""
        assert isinstance(scene.talk.mode(), OnCard)
        await scene.press("a", after_s=0.5)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("send", "and a thing", "queue")]


def test_escape_goes_from_the_card_to_writing_and_back() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.talk.mode().back()
        assert isinstance(scene.talk.mode(), Writing)
        scene.talk.mode().back()
        assert isinstance(scene.talk.mode(), OnCard)

    run(play(Scene()))


def test_a_key_that_means_nothing_and_enter_on_a_card_say_so() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("x")
        assert "'x' is no key here" in scene.talk.status()
        await scene.talk.enter("")
        assert "Enter decides nothing" in scene.talk.status()

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_a_question_is_filled_in_field_by_field() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(FORM)
        assert isinstance(scene.talk.mode(), Filling)
        await scene.talk.enter("Ada")
        assert scene.hub.told == [] and "only just" in scene.talk.status()
        scene.clock.now += REST_S
        await scene.talk.enter("")
        assert "an answer is needed" in scene.talk.status()
        await scene.talk.enter("Ada")
        assert scene.talk.mode().label.startswith("steps")
        await scene.talk.enter("")

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("q_1", {"name": "Ada", "steps": 3}, "accept")]


def test_a_question_can_be_declined_and_a_page_be_done() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(FORM)
        await scene.talk.enter(":decline")
        await scene.wait(QuestionView(question_id="q_2", question="Go there", url="https://example.com"))
        scene.clock.now += REST_S
        await scene.talk.enter("")

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("q_1", None, "decline"), ("q_2", None, "accept")]


def test_showing_all_is_offered_only_where_not_all_is_shown() -> None:
    long = msgspec.structs.replace(RUN, preview={"command": "\n".join("x" * (CARD_LINES + 1))})

    async def play(short: Scene, tall: Scene) -> None:
        await short.wait(RUN)
        assert "v show all" not in short.talk.footer() and "a approve" in short.talk.footer()
        await tall.wait(long)
        assert "v show all" in tall.talk.footer()
        await tall.press("v")
        assert "v show all" not in tall.talk.footer()

    run(play(Scene(), Scene()))
