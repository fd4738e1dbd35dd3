"""What a typed line and a pressed key do, with a hub that only notes what it is told."""

from __future__ import annotations

import io
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from tests.aio import run
from tests.cli.commands.chat.test_cards import Clock
from trunkline.cli.commands.chat.cards import CARD_LINES, PAUSE_S
from trunkline.cli.commands.chat.completing import ranked, suggestions
from trunkline.cli.commands.chat.conversation import Conversation
from trunkline.cli.commands.chat.modes import Editing, Filling, Gone, Longer, OnCard, Reason, Writing
from trunkline.cli.commands.chat.paint import Paint
from trunkline.cli.commands.chat.show import ChatShow
from trunkline.cli.terminal.card import REST_S
from trunkline.cli.terminal.screen import Screen
from trunkline.client import Accepted, ApprovalView, Client, FileEntry, FilesFound, Packet, PolicyRule, QuestionView, SessionView
from trunkline.client.http import Endpoint
from trunkline.client.hub_views import RulePreview
from trunkline.client.views import Code
from trunkline.errors import AlreadyResolved, Conflict, Forbidden, TrunklineError


class Hub:
    """Has one session; ``told`` is what it was asked to do."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.told: list[Any] = []
        self.refuses: TrunklineError | None = None
        self.endpoint = Endpoint("http://127.0.0.1:1")
        self.may_let_in = True

    async def new_code(self) -> Code:
        if not self.may_let_in:
            raise Forbidden("only an admin lets others in")
        return Code(code="secret", path="/#code=secret")

    async def session(self, session_id: str) -> SessionView:
        return self.view

    async def send(self, session_id: str, text: str, *, when_busy: str) -> Accepted:
        self.told.append(("send", text, when_busy))
        return Accepted(turn_id="t", seq=1, queued=self.view.turn is not None)

    async def decide(self, session_id: str, request_id: str, **how: Any) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.told.append((request_id, {name: value for name, value in how.items() if value is not None}))

    async def answer_question(self, session_id: str, question_id: str, content: Any, *, action: str = "accept") -> None:
        self.told.append((question_id, content, action))

    async def preview_rule(self, request_id: str, *, allow: bool) -> RulePreview:
        return RulePreview(rule=PolicyRule(action="allow", command=["npm test"]))

    async def set_mode(self, session_id: str, mode: str) -> None:
        self.told.append(("mode", mode))

    async def cancel(self, session_id: str) -> bool:
        self.told.append("cancel")
        return True

    async def find_files(self, session_id: str, query: str, *, limit: int) -> FilesFound:
        return FilesFound(query=query, files=[FileEntry(name="main.py", path="src/main.py")])


class Scene:
    """A conversation, its line and its clock."""

    def __init__(self, **view: Any) -> None:
        self.hub = Hub(SessionView(id="ses_1", agent="demo", **view))
        self.clock = Clock()
        self.line = ""
        self.has_left = False
        self.out = io.StringIO()
        screen = Screen(self.out, terminal=True, colour=False)
        self.talk = Conversation(cast("Client", self.hub), self.hub.view, screen, ChatShow(screen, Paint(colour=False)),
                                 line_text=lambda: self.line, clear_line=self._clear, leave=self._leave, clock=self.clock,
                                 pause=self._pause)
        self.meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None
        """What happens while a key that was pressed waits for others."""

    async def _pause(self, seconds: float) -> None:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()

    def _clear(self) -> None:
        self.line = ""

    def _leave(self) -> None:
        self.has_left = True

    async def wait(self, *asks: ApprovalView | QuestionView) -> None:
        """These wait from now on."""
        self.hub.view.pending_approvals = [ask for ask in asks if isinstance(ask, ApprovalView)]
        self.hub.view.pending_questions = [ask for ask in asks if isinstance(ask, QuestionView)]
        await self.talk.renew()
        self.talk.mode()

    async def press(self, *letters: str, after_s: float = REST_S) -> None:
        """Press keys, the first of them after a while."""
        self.clock.now += after_s
        for letter in letters:
            await self.talk.press(letter)
            self.talk.mode()


RUN = ApprovalView(request_id="req_1", description="Run: npm test", risk_level="medium", editable=True,
                   tool_input={"command": "npm test", "cwd": "/w"}, preview={"type": "command", "command": "npm test"})
WRITE = ApprovalView(request_id="req_3", description="Write a.txt", editable=True, tool_input={"path": "a.txt"})
OTHER = ApprovalView(request_id="req_2", description="Run: make")
FORM = QuestionView(question_id="q_1", question="Who?", schema={"properties": {
    "name": {"type": "string"}, "steps": {"type": "integer", "default": 3}}, "required": ["name"]})


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
        assert scene.out.getvalue().splitlines()[-1].strip() == "npm test"
        await scene.press("a", after_s=10)

    scene = Scene()
    run(play(scene))
    assert len(scene.hub.told) == 1


def test_the_card_that_is_selected_is_the_last_one_printed() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN, OTHER)
        assert "Run: make" not in scene.out.getvalue()
        await scene.press("j")
        assert "Run: make" in scene.out.getvalue()
        await scene.press("k")
        assert scene.out.getvalue().splitlines()[-1].strip() == "npm test"

    run(play(Scene()))


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


@pytest.mark.parametrize(("letter", "scope"), [("t", "turn"), ("s", "session"), ("w", "always")])
def test_l_shows_the_rule_and_asks_for_how_long(letter: str, scope: str) -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        await scene.press("l")
        assert isinstance(scene.talk.mode(), Longer)
        assert "npm test" in scene.out.getvalue()
        await scene.press(letter)

    scene = Scene()
    run(play(scene))
    assert scene.hub.told == [("req_1", {"allow": True, "scope": scope})]


def test_j_and_k_go_from_one_card_to_the_next_which_then_rests() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN, OTHER)
        await scene.press("j", "a")
        assert scene.hub.told == []
        await scene.press("a")

    scene = Scene()
    run(play(scene))
    assert [told[0] for told in scene.hub.told] == ["req_2"]


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


def test_a_refusal_of_the_hub_is_a_line_and_the_card_stays() -> None:
    async def play(scene: Scene) -> None:
        await scene.wait(RUN)
        scene.hub.refuses = Conflict("somebody was first")
        await scene.press("a")

    scene = Scene()
    run(play(scene))
    assert "somebody was first" in scene.out.getvalue()
    assert scene.talk.cards.selected is not None


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


MODES = {"availableModes": [{"id": "ask", "name": "Ask"}, {"id": "auto", "name": "Auto"}], "currentModeId": "ask"}


@pytest.mark.parametrize(("do", "told"), [
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


def test_ctrl_c_cancels_a_turn_and_says_how_to_leave_where_there_is_none() -> None:
    scene = Scene()
    run(scene.talk.interrupt())
    assert scene.hub.told == [] and "Ctrl-D leaves" in scene.talk.status()
    scene.talk.take(Packet(b'{"type":"user_message_chunk","content":{"type":"text","text":"hi"}}'))
    run(scene.talk.interrupt())
    assert scene.hub.told == ["cancel"]
    scene.talk.take(Packet(b'{"type":"prompt_response","stopReason":"cancelled"}'))
    assert not scene.talk.running


def suggested(scene: Scene, before: str) -> list[str]:
    async def all_of() -> list[str]:
        return [each.word async for each in suggestions(scene.talk, before)]

    return run(all_of())


def test_commands_files_and_our_own_words_are_suggested_where_they_can_be_meant() -> None:
    options = [{"id": "model", "options": [{"value": "small"}, {"value": "large"}]}]
    scene = Scene(commands=[{"name": "commit", "description": "x"}, {"name": "review"}], modes=MODES, config_options=options)
    assert suggested(scene, "/co") == ["/commit "]
    assert suggested(scene, "/") == ["/commit ", "/review "]
    assert suggested(scene, "see @main") == ["@src/main.py "]
    assert suggested(scene, "mail me@main") == suggested(scene, "a /co") == suggested(scene, "@") == []
    assert suggested(scene, ":mo") == [":mode "]
    assert suggested(scene, ":mode a") == ["ask", "auto"]
    assert suggested(scene, ":set ") == ["model"]
    assert suggested(scene, ":set model l") == ["large", "small"]


def test_what_begins_so_comes_before_what_holds_it_or_has_its_letters() -> None:
    assert ranked(["commit", "recommend", "company", "chromium"], "com") == ["commit", "company", "recommend", "chromium"]
    assert ranked(["commit"], "cmt") == ["commit"]
    assert ranked(["commit"], "xyz") == []
