"""What the line at the bottom is for: a prompt, a press on a card, a reason, an edited input, for how long, an answer.

Rule 1: each mode says what it is (``label``, ``hint``), and whether letters are keys or text.
Rule 2: a key that does nothing says so.
Rule 3: a mode that is about an ask ends with it; what was typed for it goes nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import decoders
from trunkline.cli.commands.chat.cards import Ask, heading
from trunkline.cli.terminal.form import DECLINE, fields_of
from trunkline.client import PolicyRule, Scope
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.visible import one_revealed_line
from trunkline.errors import Invalid

if TYPE_CHECKING:
    from trunkline.cli.commands.chat.conversation import Conversation

SCOPES: dict[str, Scope] = {"t": "turn", "s": "session", "w": "always"}


class Mode:
    """What is typed goes to ``enter``, or letter by letter to ``press``."""

    by_letters = False
    label = "› "
    hint = ""
    first = ""
    """What the line begins with."""

    def __init__(self, talk: Conversation, ask: Ask | None = None) -> None:
        self.talk = talk
        self.ask = ask

    def keys(self) -> str:
        """What can be done now."""
        return self.hint

    async def enter(self, text: str) -> None:
        """A line was typed."""

    async def press(self, letter: str) -> None:
        """A key was pressed."""

    def back(self) -> None:
        """Escape was pressed."""
        self.talk.leave_mode()


class Writing(Mode):
    """A prompt for the agent."""

    async def enter(self, text: str) -> None:
        """Send it."""
        await self.talk.say(text)

    def back(self) -> None:
        """To what waits."""
        self.talk.turn_to_cards()


class Gone(Mode):
    """What somebody was typing for an ask that is over: the rest of it decides nothing, and goes nowhere."""

    label = "this is no longer asked › "
    hint = "somebody else answered it, or it changed: Enter or Esc drops what you typed and goes on"

    async def enter(self, text: str) -> None:
        """Drop it."""
        self.talk.leave_mode()
        self.talk.tell("nothing done: what you typed for it is dropped")


class Over(Mode):
    """A card that took keys is gone, and no other came: a key that was meant for it is no text for the agent."""

    by_letters = True
    label = "this is no longer asked "
    hint = "somebody else answered it, or it changed"

    async def enter(self, text: str) -> None:
        """Do nothing."""
        self.talk.refuse("what was asked is over")

    async def press(self, letter: str) -> None:
        """Do nothing."""
        self.talk.refuse("what was asked is over")

    def back(self) -> None:
        """To writing, at once."""
        self.talk.leave_mode()


class OnCard(Mode):
    """The selected approval, by the keys of the page's Approvals, and some of our own."""

    by_letters = True

    def __init__(self, talk: Conversation, ask: Ask) -> None:
        super().__init__(talk, ask)
        assert ask.approval is not None
        self._approval = ask.approval
        self.label = "? "

    def keys(self) -> str:
        """Those that do something now."""
        cards = self.talk.cards
        if self._approval.answer_there:
            return "answer it in its terminal · Esc write"
        edit = " · e edit" if self._approval.editable else ""
        rest = " · v show all" if self._ask().id not in cards.whole else ""
        more = " · j k next, previous" if len(cards.asks) > 1 else ""
        return f"a approve · d deny{edit} · l for longer{rest}{more} · Esc write"

    async def enter(self, text: str) -> None:
        """Enter decides nothing: it ends what somebody wrote."""
        self.talk.refuse("Enter decides nothing here")

    async def press(self, letter: str) -> None:
        """Decide, or say why not."""
        if letter in ("j", "k"):
            self.talk.cards.step(1 if letter == "j" else -1)
        elif letter == "v":
            self.talk.print_card(self._ask(), whole=True)
        elif letter not in ("a", "d", "e", "l"):
            self.talk.refuse(f"{letter!r} is no key here")
        elif self._approval.answer_there:
            self.talk.refuse("it can be answered only in the terminal that asks it")
        elif why := self.talk.cards.rests():
            self.talk.refuse(why)
        else:
            await self._decide(letter)

    async def _decide(self, letter: str) -> None:
        talk, ask = self.talk, self._ask()
        if letter == "d":
            talk.go_to(Reason(talk, ask))
        elif talk.is_too_small():
            talk.refuse("the window is too small to show it")
        elif not talk.is_in_sight(ask):
            talk.print_card(ask)
            talk.refuse("it had left the screen, and is shown again")
        elif ask.id not in talk.cards.whole:
            talk.refuse("not all of it was shown: v shows the rest")
        elif not await talk.was_alone():
            talk.refuse("you were typing")
        elif talk.mode() is not self:
            talk.refuse("it is no longer what was asked")
        elif letter == "a":
            await talk.decide(ask, allow=True)
        elif letter == "l":
            await Longer(talk, ask).begin()
        elif self._approval.editable and self._approval.tool_input:
            talk.go_to(Editing(talk, ask))
        else:
            talk.refuse("the input of this cannot be edited")

    def _ask(self) -> Ask:
        assert self.ask is not None
        return self.ask

    def back(self) -> None:
        """To what somebody wants to write first."""
        self.talk.set_cards_aside()


class Reason(Mode):
    """Why it is denied."""

    label = "deny, because (optional) › "
    hint = "Enter denies · Esc back"

    async def enter(self, text: str) -> None:
        """Deny it."""
        assert self.ask is not None
        await self.talk.decide(self.ask, allow=False, reason=text.strip() or None)


class Editing(Mode):
    """Another input for the tool: its command, or all of it as JSON."""

    label = "approve this instead › "
    hint = "Enter approves exactly this, once · Esc back"

    def __init__(self, talk: Conversation, ask: Ask) -> None:
        super().__init__(talk, ask)
        given = ask.approval.tool_input if ask.approval else None
        self._input: dict[str, Any] = given if isinstance(given, dict) else {}
        self._is_command = isinstance(self._input.get("command"), str)
        self.first = self._input["command"] if self._is_command else msgspec.json.encode(self._input).decode()

    async def enter(self, text: str) -> None:
        """Approve it so. Where that cannot be, what was typed is there again."""
        assert self.ask is not None
        self.first = text if text.strip() else self.first
        if why := self.talk.cards.rests_for_text():
            self.talk.refuse(why)
            return
        await self.talk.decide(self.ask, allow=True, updated_input=self._edited(text))

    def _edited(self, text: str) -> dict[str, Any]:
        if self._is_command:
            return {**self._input, "command": text}
        try:
            return decoders.decode(text, dict[str, Any])
        except BROKEN as error:
            raise Invalid(f"this is no JSON object: {error}") from error


class Longer(Mode):
    """For how long an approval counts; the rule that would be kept is shown before."""

    by_letters = True
    label = "for longer "
    hint = "t this turn · s this session · w always, in this folder · Esc back"

    async def begin(self) -> None:
        """Show the rule."""
        assert self.ask is not None
        preview = await self.talk.hub.preview_rule(self.ask.id, allow=True)
        self.talk.screen.line("the hub would keep this rule and answer for you:", dim=True, indent="    ")
        for line in _rule_lines(preview.rule):
            self.talk.screen.line(one_revealed_line(line), indent="      ")
        others = len(preview.answers) - 1
        if others > 0:
            self.talk.screen.line(f"it also answers what waits besides: {others}", mark="!", colour="yellow", indent="    ")
        self.talk.go_to(self)

    async def press(self, letter: str) -> None:
        """Approve for so long."""
        assert self.ask is not None
        if letter not in SCOPES:
            self.talk.refuse(f"{letter!r} is no key here")
        elif why := self.talk.cards.rests():
            self.talk.refuse(why)
        elif not self.talk.is_same_window(self.ask):
            self.talk.leave_mode()
            self.talk.refuse("the window has changed")
        elif not await self.talk.was_alone():
            self.talk.refuse("you were typing")
        elif self.talk.mode() is not self:
            self.talk.refuse("it is no longer what was asked")
        else:
            await self.talk.decide(self.ask, allow=True, scope=SCOPES[letter])


class Filling(Mode):
    """A question, one field after the other."""

    def __init__(self, talk: Conversation, ask: Ask) -> None:
        super().__init__(talk, ask)
        assert ask.question is not None
        self._is_page = bool(ask.question.url)
        packet = msgspec.to_builtins(ask.question)
        self._fields = [] if self._is_page else fields_of({name: value for name, value in packet.items() if value is not None})
        self._answers: dict[str, Any] = {}
        self._name()

    def _name(self) -> None:
        """Ask for the next field."""
        self.hint = f"{DECLINE} refuses to answer · Esc write"
        if self._is_page:
            self.label = "Enter when you are done there › "
        elif not self._fields:
            self.label = "Enter to agree › "
        else:
            field = self._fields[len(self._answers)]
            choices = " · ".join(f"{number} {one_revealed_line(choice.title)}" for number, choice in enumerate(field.choices, 1))
            self.label = f"{one_revealed_line(field.title)} › "
            self.hint = f"{choices}   {self.hint}" if choices else self.hint

    async def enter(self, text: str) -> None:
        """Take the answer to this field; after the last one, send them."""
        assert self.ask is not None
        if text.strip() == DECLINE:
            await self.talk.answer(self.ask, None, action="decline")
        elif why := self.talk.cards.rests_for_text():
            self.talk.refuse(why)
        elif not self._fields:
            await self.talk.answer(self.ask, None if self._is_page else {})
        elif self._take(text.strip()):
            await self._send()

    def _take(self, text: str) -> bool:
        """Keep an answer; True after the last one."""
        field = self._fields[len(self._answers)]
        try:
            self._answers[field.name] = field.read(text)
        except ValueError as error:
            self.talk.refuse(str(error))
            return False
        if len(self._answers) < len(self._fields):
            self._name()
            return False
        return True

    async def _send(self) -> None:
        assert self.ask is not None
        given = {name: answer for name, answer in self._answers.items() if answer is not None}
        self._answers = {}
        self._name()  # where the hub says that it does not fit, all is asked once more
        await self.talk.answer(self.ask, given)

    def back(self) -> None:
        """To what somebody wants to write first."""
        self.talk.set_cards_aside()


def _rule_lines(rule: PolicyRule) -> list[str]:
    """A rule as it would stand in the file."""
    from trunkline.session.policy.rules import Rule  # only who approves for longer waits for what reads rules
    from trunkline.session.policy.text import written_rule

    return written_rule(decoders.convert(msgspec.to_builtins(rule), Rule)).splitlines()


def mode_for(talk: Conversation, ask: Ask) -> Mode:
    """What the line is for while this ask is selected."""
    return OnCard(talk, ask) if ask.approval is not None else Filling(talk, ask)


def summary(ask: Ask) -> str:
    """What it is about and how risky that is, for the line above the keys."""
    risk = f"{ask.approval.risk_level} risk · " if ask.approval and ask.approval.risk_level else ""
    return f"{risk}{heading(ask)}"
