"""Prompts: the order of what is heard, cancels, queues, two editors, keys."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import Refused, at_rest, editor, hub_site, result_of, when
from trunkline.dialects.acp.content import TextContent
from trunkline.session.interpret import turns


def test_every_update_of_a_turn_comes_before_its_answer_and_in_order(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            assert await made.turn(session_id, "/burst 3000 40") == "end_turn"
            chunks = made.updates(session_id, "agent_message_chunk")
            assert [int(chunk["content"]["text"][:8]) for chunk in chunks] == list(range(3000))
            assert "result" in made.heard[-1]

    run(check())


@pytest.mark.parametrize(("prompt", "stop"), [("/refuse", "refusal"), ("/echo x", "end_turn")])
def test_the_stop_reason_is_the_agents(tmp_path: Path, prompt: str, stop: str) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            assert await made.turn(await made.new(site.folder), prompt) == stop

    run(check())


def test_a_turn_that_fails_is_answered_with_the_agents_error(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            with pytest.raises(Refused) as refused:
                await made.turn(session_id, "/error -32050")
            assert refused.value.code == -32050 and refused.value.data["code"] == "agent_error"
            with pytest.raises(Refused) as refused:
                await made.turn(session_id, "/crash 3")
            assert refused.value.data["code"] == "agent_exited"
            assert await made.turn(session_id, "/echo still here") == "end_turn"

    run(check())


def test_a_prompt_is_carried_out_also_when_its_editor_leaves_with_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            made.prompt(session_id, "/echo said and left")
            await made.leave()
            session = await site.hub.session(session_id)
            assert session.fold.turns == 1
            await at_rest(session)

    run(check())


def test_a_prompt_whose_end_is_first_told_by_a_load_is_answered_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            turn = made.play(session_id, ["await", str(tmp_path / "go")], ["say", "first"], ["await", str(tmp_path / "end")])
            await when(session, lambda: session.fold.turn)
            made.socket.flows.clear()
            (tmp_path / "go").touch()
            await when(session, lambda: session.fold.turn and session.fold.turn.showed_work)
            await made.socket.sending.wait()
            (tmp_path / "end").touch()
            await at_rest(session)
            loading = made.begin("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
            for _ in range(10):
                await asyncio.sleep(0)  # it is heard by then
            assert made.socket.unheard == 0
            made.socket.flows.set()
            result_of(await loading)
            assert result_of(await turn) == {"stopReason": "end_turn"}
            await made.ask("session/list")
            assert [each.get("result") for each in made.heard].count({"stopReason": "end_turn"}) == 1

    run(check())


def test_a_turn_that_ends_while_the_session_is_held_is_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            key = {"_meta": {"trunkline": {"key": "k1"}}}
            steps = f'[["await", "{tmp_path / "go"}"]]'
            turn = made.prompt(session_id, steps, **key)
            await when(session, lambda: session.fold.turn)
            await session.turns.pause(by="phone")
            (tmp_path / "go").touch()
            assert result_of(await turn) == {"stopReason": "end_turn"}
            async with editor(site, "puppet") as again:
                assert result_of(await again.prompt(session_id, steps, **key)) == {"stopReason": "end_turn"}, "long over"

    run(check())


def test_a_cancel_ends_the_turn_as_cancelled(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            turn = made.prompt(session_id, "/silent")
            made.notify("session/cancel", {"sessionId": session_id})
            assert result_of(await turn) == {"stopReason": "cancelled"}, "also when it comes right behind the prompt"

    run(check())


def test_a_cancel_sent_as_a_request_is_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            turn = made.prompt(session_id, "/silent")
            assert await made.ask("session/cancel", {"sessionId": session_id}) == {}
            assert result_of(await turn) == {"stopReason": "cancelled"}

    run(check())


def test_a_cancel_said_twice_in_a_row_does_not_stop_the_agent(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            turn = made.prompt(session_id, "/slow 20")
            await made.until(lambda: made.text(session_id))
            for _ in range(3):
                made.notify("session/cancel", {"sessionId": session_id})
            made.notify("$/cancel_request", {"requestId": made.last_id})
            assert result_of(await turn) == {"stopReason": "cancelled"}
            assert session.agent.running

    run(check())


def test_taking_back_the_request_of_a_prompt_cancels_its_turn(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            running = made.prompt(session_id, "/silent")
            request_id = made.last_id
            waiting = made.prompt(session_id, "/echo second")
            waiting_id = made.last_id
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.queue)
            made.notify("$/cancel_request", {"requestId": waiting_id})
            assert result_of(await waiting) == {"stopReason": "cancelled"}
            assert session.fold.turn is not None
            made.notify("$/cancel_request", {"requestId": request_id})
            assert result_of(await running) == {"stopReason": "cancelled"}

    run(check())


def test_another_request_that_is_taken_back_is_answered_so(tmp_path: Path) -> None:
    async def check() -> None:

        slow = f"{sys.executable} -m trunkline.agents.demo --fault silent"
        async with hub_site(tmp_path, silent=slow) as site, editor(site, "silent") as made:
            starting = made.begin("session/new", {"cwd": str(site.folder), "mcpServers": []})
            made.notify("$/cancel_request", {"requestId": made.last_id})
            with pytest.raises(Refused) as refused:
                result_of(await starting)
            assert refused.value.code == -32800

    run(check())


def test_a_prompt_while_busy_waits_and_is_answered_when_its_own_turn_ends(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            first = made.play(session_id, ["await", str(tmp_path / "go")], ["say", "first"])
            second = made.play(session_id, ["say", "second"], ["end", {"stopReason": "max_tokens"}])
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.queue)
            (tmp_path / "go").touch()
            assert result_of(await first) == {"stopReason": "end_turn"}
            assert made.text(session_id) == "first"
            assert result_of(await second) == {"stopReason": "max_tokens"}
            assert made.text(session_id) == "firstsecond"
            assert made.text(session_id, "user_message_chunk") == ""

    run(check())


def test_a_prompt_that_waits_behind_a_failure_is_given_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            first = made.play(session_id, ["await", str(tmp_path / "go")], ["die", 1, str(tmp_path / "at")])
            second = made.play(session_id, ["say", "second"])
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.queue)
            (tmp_path / "go").touch()
            with pytest.raises(Refused):
                result_of(await first)
            with pytest.raises(Refused, match="the turn before this prompt failed"):
                result_of(await second)
            assert not session.fold.queue

    run(check())


def test_a_prompt_that_is_said_after_a_failure_waits_behind_what_runs_now(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            first = made.play(session_id, ["await", str(tmp_path / "go")], ["say", "first"], ["await", str(tmp_path / "end")],
                              ["die", 1, str(tmp_path / "at")])
            await when(session, lambda: session.fold.turn)
            made.socket.flows.clear()  # it hears of the failure when it has said more
            (tmp_path / "go").touch()
            await when(session, lambda: session.fold.turn and session.fold.turn.showed_work)
            (tmp_path / "end").touch()
            await at_rest(session)
            running = made.play(session_id, ["await", str(tmp_path / "on")], ["say", "second"])
            await when(session, lambda: session.fold.turn)
            waiting = made.play(session_id, ["say", "third"])
            await when(session, lambda: session.fold.queue)
            made.socket.flows.set()
            with pytest.raises(Refused):
                result_of(await first)
            await made.ask("session/list")
            (tmp_path / "on").touch()
            assert [result_of(await turn) for turn in (running, waiting)] == [{"stopReason": "end_turn"}] * 2
            said = made.text(session_id)
            assert (said[:5], said[-11:]) == ("first", "secondthird")
            assert said.count("started afresh") == 1, "the agent died, and cannot come back to its session"

    run(check())


def test_however_many_prompts_wait_each_is_answered_and_keeps_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "KEPT_KEYS", 2)

    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            key = {"_meta": {"trunkline": {"key": "k1"}}}
            first = f'[["await", "{tmp_path / "go"}"], ["say", "0"]]'
            asked = [made.prompt(session_id, first, **key), *(made.play(session_id, ["say", str(n)]) for n in range(1, 6))]
            await when(session, lambda: len(session.fold.queue) == 5)
            asked.append(made.prompt(session_id, first, **key))
            assert session.editors.current() is not None, "its files and terminals are still this editor's"
            (tmp_path / "go").touch()
            assert [result_of(await each) for each in asked] == [{"stopReason": "end_turn"}] * 7
            assert made.text(session_id) == "012345" and session.fold.turns == 6
            result_of(await made.play(session_id, ["say", "6"]))
            assert len(session.fold.sent) == 3, "those that are over are forgotten"

    run(check())


def test_a_prompt_is_answered_also_when_its_key_is_forgotten_before_its_end_is_read(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "KEPT_KEYS", 1)

    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            first = made.play(session_id, ["await", str(tmp_path / "go")])
            await when(session, lambda: session.fold.turn)
            made.socket.flows.clear()
            (tmp_path / "go").touch()
            await at_rest(session)
            for number in range(3):
                await session.turns.send([TextContent(text='[["say", "x"]]')], idempotency_key=f"other-{number}", by="phone")
                await at_rest(session)
            made.socket.flows.set()
            assert result_of(await first) == {"stopReason": "end_turn"}

    run(check())


def test_a_cancel_takes_back_what_the_editor_has_waiting_and_leaves_others_turns_alone(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as one, editor(site) as two:
            session_id = await one.new(site.folder)
            running = one.prompt(session_id, "/silent")
            session = await site.hub.session(session_id)
            await when(session, lambda: session.fold.turn)
            waiting = two.prompt(session_id, "/echo two")
            await when(session, lambda: session.fold.queue)
            two.notify("session/cancel", {"sessionId": session_id})
            assert result_of(await waiting) == {"stopReason": "cancelled"}
            assert session.fold.turn is not None and not session.fold.turn.cancelled
            two.notify("session/cancel", {"sessionId": session_id})
            assert result_of(await running) == {"stopReason": "cancelled"}, "with nothing of its own, it is about what runs"

    run(check())


def test_a_prompt_with_the_same_key_is_one_prompt_also_over_another_connection(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            key = {"_meta": {"trunkline": {"key": "k1"}}}
            async with editor(site, "puppet") as first:
                session_id = await first.new(site.folder)
                steps = f'[["await", "{tmp_path / "go"}"], ["say", "once"]]'
                first.prompt(session_id, steps, **key)
                session = await site.hub.session(session_id)
                await when(session, lambda: session.fold.turn)
            async with editor(site, "puppet") as second:
                again = second.prompt(session_id, steps, **key)
                (tmp_path / "go").touch()
                assert result_of(await again) == {"stopReason": "end_turn"}
            async with editor(site, "puppet") as third:
                assert result_of(await third.prompt(session_id, steps, **key)) == {"stopReason": "end_turn"}, "long over"
            assert session.fold.turns == 1

    run(check())


def test_pictures_go_only_to_agents_that_take_them(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
            with pytest.raises(Refused, match="takes no images") as refused:
                await made.ask("session/prompt", {"sessionId": session_id, "prompt": [image]})
            assert refused.value.code == -32602

    run(check())


def test_a_picture_of_an_editor_may_say_its_media_type(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            image = {"type": "image", "data": "aGk=", "mediaType": "image/png"}
            said = {"sessionId": session_id, "prompt": [{"type": "text", "text": "/echo hi"}, image]}
            assert (await made.ask("session/prompt", said))["stopReason"] == "end_turn"
            told = b"".join(entry.event for entry in await (await site.hub.session(session_id)).feed.read(after=0))
            assert b"aGk=" in told and b"image/png" in told

    run(check())


def test_an_editor_that_stalls_holds_up_nobody_else_and_misses_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as one, editor(site) as two:
            session_id = await one.new(site.folder)
            await two.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            two.socket.flows.clear()
            assert await one.turn(session_id, "/burst 2000 60") == "end_turn"
            two.socket.flows.set()
            await two.until(lambda: len(two.updates(session_id, "agent_message_chunk")) == 2000)

    run(check())
