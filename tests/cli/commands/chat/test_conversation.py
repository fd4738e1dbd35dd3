"""What a typed line and a pressed key do, with a hub that only notes what it is told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.cli.commands.chat.scene import OTHER, RUN, Scene
from tests.tooling.rows import every_row
from trunkline.cli.commands.chat import conversation
from trunkline.cli.commands.chat.cards import CARD_LINES, PAUSE_S
from trunkline.cli.commands.chat.conversation import LOOK_BACK
from trunkline.cli.commands.chat.modes import Gone, OnCard, Over, Writing
from trunkline.client import ApprovalView, Packet
from trunkline.errors import AlreadyResolved, Conflict


def test_a_line_is_a_prompt_and_waits_its_turn() -> None:
    scene = Scene()
    run(scene.talk.enter("hello"))
    assert scene.hub.told == [("send", "hello", "queue")]
    run(scene.talk.enter("   "))
    assert len(scene.hub.told) == 1


def test_a_approves_what_has_been_seen_for_its_rest_and_nothing_sooner() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        assert isinstance(scene.talk.mode(), OnCard)
        await scene.press("a", after_s=0.2)
        assert scene.hub.told == []
        assert "nothing done: this has only just appeared" in scene.talk.status()
        await scene.press("a", after_s=0.9)
        assert scene.hub.told == [], "it is the rest of what was typed too early"
        await scene.press("a", after_s=PAUSE_S)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("req_1", {"allow": True, "scope": "once"})]
    assert "Run: npm test" in scene.out.getvalue()


def test_a_key_that_is_held_down_decides_one_card_at_most() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN, OTHER)
        await scene.press("a")
        for _ in range(100):
            await scene.press("a", after_s=0.03)

    scene = Scene()
    run(play(scene))
    assert [told[0] for told in scene.hub.told] == ["req_1"]


@pytest.mark.parametrize("typed", ["", "because of a"])
def test_what_is_typed_for_an_ask_that_is_gone_goes_nowhere_however_long_it_takes(typed: str) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("d")
        scene.line = typed
        await scene.wait(OTHER)
        scene.clock.now += 60
        assert isinstance(scene.talk.mode(), Gone) and not scene.talk.mode().by_letters
        await scene.talk.enter(typed + " all wrong", scene.talk.mode())
        assert scene.line == "" and "dropped" in scene.talk.status()
        assert isinstance(scene.talk.mode(), OnCard)
        await scene.press("a", after_s=0.1)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_an_answer_that_came_too_late_says_so_and_the_line_is_free_again() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("d")
        scene.hub.refuses = AlreadyResolved("somebody was first")
        await scene.talk.enter("no", scene.talk.mode())
        await scene.wait()
        assert isinstance(scene.talk.mode(), Writing)

    scene = Scene()
    run(play(scene))
    assert "somebody was first" in scene.out.getvalue()


@pytest.mark.parametrize("first", ["a", "e", "l"])
def test_a_sentence_that_begins_with_a_key_approves_nothing(first: str) -> None:
    async def play(scene: Scene) -> None:
        async def more() -> None:
            await scene.talk.press("d")

        await scene.wait(RUN)
        scene.meanwhile = more
        await scene.press(first)
        assert isinstance(scene.talk.mode(), OnCard)
        assert "nothing done: you were typing" in scene.talk.status()

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_a_press_on_a_card_that_is_replaced_in_that_moment_approves_neither() -> None:
    async def play(scene: Scene) -> None:
        async def replaced() -> None:
            await scene.wait(OTHER)

        await scene.wait(RUN)
        scene.meanwhile = replaced
        await scene.press("a")
        assert "no longer what was asked" in scene.talk.status()

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


@pytest.mark.parametrize(("command", "times"), [("x\n" * CARD_LINES + "the end", 0), ("echo " + "x " * 1_500 + "the end", 1)])
def test_what_was_not_shown_whole_is_approved_only_after_it_was(command: str, times: int) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(ApprovalView(request_id="req_1", preview={"command": command}))
        for letter in ("a", "l", "e"):
            await scene.press(letter, after_s=10)
            assert "v shows the rest" in scene.talk.status() and scene.hub.told == []
        assert scene.out.getvalue().count("the end") == times
        await scene.press("v", "a")
        assert scene.out.getvalue().count("the end") == times + 1 and scene.hub.told == [], "it has only just appeared"
        await scene.press("a", after_s=10)

    scene = Scene()
    run(play(scene))
    assert len(scene.hub.told) == 1


def test_a_card_that_left_the_screen_is_shown_again_before_it_can_be_approved() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        for _ in range(200):
            scene.talk.screen.line("? Run: ls (low risk)")
        await scene.press("a", after_s=10)
        assert "shown again" in scene.talk.status() and scene.hub.told == []
        assert scene.out.getvalue().splitlines()[-3].strip() == "npm test"
        await scene.press("a", after_s=10)

    scene = Scene()
    run(play(scene))
    assert len(scene.hub.told) == 1


def test_the_line_of_what_waits_says_when_it_is_over_however_long_it_is() -> None:
    async def play(scene: Scene) -> None:
        long = f"Write: /{'deep/' * 40}a.py"
        await scene.wait(msgspec.structs.replace(RUN, description=long, expires_at="2999-01-01T00:00:00Z"))
        assert scene.talk.waiting().endswith("if nobody answers") and "Write: /deep" in scene.talk.waiting()

    run(play(Scene()))


def test_the_card_that_is_selected_is_the_last_one_printed() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN, OTHER)
        assert "Run: make" not in scene.out.getvalue()
        await scene.press("j")
        assert "Run: make" in scene.out.getvalue()
        await scene.press("k")
        assert scene.out.getvalue().splitlines()[-3].strip() == "npm test"

    run(play(Scene()))


def test_j_and_k_go_from_one_card_to_the_next_which_then_rests() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN, OTHER)
        await scene.press("j", "a")
        assert scene.hub.told == []
        await scene.press("a")

    scene = Scene()
    run(play(scene))
    assert [told[0] for told in scene.hub.told] == ["req_2"]


def test_a_refusal_of_the_hub_is_a_line_and_the_card_stays() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.hub.refuses = Conflict("somebody was first")
        await scene.press("a")

    scene = Scene()
    run(play(scene))
    assert "somebody was first" in scene.out.getvalue()
    assert scene.talk.cards.selected is not None


def test_ctrl_c_cancels_a_turn_and_says_how_to_leave_where_there_is_none() -> None:
    scene = Scene()
    run(scene.talk.interrupt())
    assert scene.hub.told == [] and "Ctrl-D leaves" in scene.talk.status()
    scene.talk.take(Packet(b'{"type":"user_message_chunk","content":{"type":"text","text":"hi"}}'))
    run(scene.talk.interrupt())
    assert scene.hub.told == ["cancel"]
    scene.talk.take(Packet(b'{"type":"prompt_response","stopReason":"cancelled"}'))
    assert not scene.talk.running


def said(*prompts: str) -> list[tuple[int, Packet]]:
    packets: list[dict[str, Any]] = []
    for text in prompts:
        packets += [{"type": "user_message_chunk", "content": {"type": "text", "text": text}},
                    {"type": "prompt_response", "stopReason": "end_turn"}]
    return [(seq, Packet(msgspec.json.encode(packet))) for seq, packet in enumerate(packets, 1)]


@every_row(("prompts", "last_seq", "words"), [
    (["one"], 2, None), (["one", "two"], 4, "1 earlier message: :open shows it on the page"),
    (["one", "two", "three"], 6, "2 earlier messages: :open shows them on the page"),
    (["one", "two", "three"], LOOK_BACK + 6, "2 or more earlier messages: :open shows them on the page"),
    (["one"], LOOK_BACK + 6, "there are earlier messages: :open shows them on the page"),
])
def test_who_goes_on_sees_the_last_prompt_and_how_many_came_before(prompts: list[str], last_seq: int, words: str | None) -> None:
    async def play(scene: Scene) -> None:
        scene.hub.said = said(*prompts)
        await scene.talk.follow()

    scene = Scene(last_seq=last_seq)
    run(play(scene))
    lines = [line.strip() for line in scene.out.getvalue().splitlines() if line.strip()]
    assert lines == [*([words] if words else []), f"> {prompts[-1]}"]


def test_of_a_turn_that_said_very_much_the_newest_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        notes = [Packet(msgspec.json.encode({"type": "gap", "message": f"loss {number}"})) for number in range(20)]
        scene.hub.said = [*said("one"), *enumerate(notes, 3)]
        await scene.talk.follow()

    monkeypatch.setattr(conversation, "REPLAY_BYTES", 100)
    scene = Scene(last_seq=22)
    run(play(scene))
    lines = [line.strip() for line in scene.out.getvalue().splitlines() if line.strip()]
    assert lines == ["the beginning of this turn is left out: :open shows it on the page", "! loss 18", "! loss 19"]


@pytest.mark.parametrize("key", ["a", "l", "e"])
def test_after_the_window_changed_a_card_is_shown_again_before_it_can_be_approved(
        key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        monkeypatch.setenv("LINES", "40")
        await scene.press(key, after_s=10)
        assert "shown again" in scene.talk.status() and scene.hub.told == []
        assert scene.out.getvalue().count("Run: npm test") == 2
        await scene.press("a", after_s=10)

    monkeypatch.setenv("LINES", "24")
    scene = Scene()
    run(play(scene))
    assert len(scene.hub.told) == 1


def test_in_a_window_without_room_for_a_card_nothing_is_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("v")
        await scene.press("a", after_s=10)
        assert "too small" in scene.talk.status()

    monkeypatch.setenv("LINES", "4")
    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_a_window_that_is_as_large_again_does_not_show_what_it_showed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        for rows in ("5", "24"):
            monkeypatch.setenv("LINES", rows)
            scene.talk.see_window()
        await scene.press("a", after_s=10)
        assert "shown again" in scene.talk.status() and scene.hub.told == []

    monkeypatch.setenv("LINES", "24")
    run(play(Scene()))


def test_what_fitted_into_the_window_before_does_not_count_as_shown_in_a_smaller_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(ApprovalView(request_id="req_1", preview={"command": "\n".join(f"echo {n}" for n in range(10))}))
        monkeypatch.setenv("LINES", "8")
        await scene.press("a", after_s=10)
        await scene.press("a", after_s=10)
        assert "v shows the rest" in scene.talk.status() and scene.hub.told == []
        await scene.press("v")
        await scene.press("a", after_s=10)

    monkeypatch.setenv("LINES", "24")
    scene = Scene()
    run(play(scene))
    assert len(scene.hub.told) == 1


def test_a_choice_for_longer_does_not_outlive_the_window_that_its_card_was_shown_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("l")
        monkeypatch.setenv("LINES", "40")
        await scene.press("w", after_s=10)
        assert "window has changed" in scene.talk.status() and isinstance(scene.talk.mode(), OnCard)

    monkeypatch.setenv("LINES", "24")
    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_a_window_that_was_cleared_has_what_waits_in_it_again() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.clock.now += 10
        scene.talk.was_cleared()
        assert scene.out.getvalue().count("Run: npm test") == 2
        await scene.press("a", after_s=0.1)
        assert "only just appeared" in scene.talk.status()

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_a_key_for_a_card_that_has_just_gone_is_no_text_for_the_agent() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.clock.now += 10
        await scene.wait()
        for _ in range(3):
            assert isinstance(scene.talk.mode(), Over) and scene.talk.mode().by_letters
            await scene.press("d", after_s=PAUSE_S - 0.1)
            await scene.talk.enter("", scene.talk.mode())
        assert "what was asked is over" in scene.talk.status()
        scene.clock.now += PAUSE_S
        assert isinstance(scene.talk.mode(), Writing)
        await scene.talk.enter("hello")

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("send", "hello", "queue")]


def test_a_card_that_takes_the_place_of_another_has_its_keys_and_its_rest() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.clock.now += 10
        await scene.wait(OTHER)
        assert isinstance(scene.talk.mode(), OnCard)
        await scene.press("a", after_s=0.3)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == []


def test_an_error_of_the_hub_is_one_line() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.hub.refuses = Conflict("no option x\n\n? Run: ls\n    low risk")
        await scene.press("a")

    scene = Scene()
    run(play(scene))
    assert scene.out.getvalue().splitlines()[-1] == "! no option x ⏎ ⏎ ? Run: ls ⏎ low risk"
