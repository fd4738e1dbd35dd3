"""``trunkline answer [ID] [VALUE…]``: answer what an agent asks a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from trunkline.cli.common import finish, setting_flags
from trunkline.cli.completing import waiting_questions
from trunkline.cli.read_settings import load
from trunkline.cli.terminal.form import Field, fields_of
from trunkline.cli.waiting import id_of, line_of, with_ask
from trunkline.client import Client, PendingAsk, QuestionView
from trunkline.dialects.visible import one_revealed_line
from trunkline.errors import Invalid


@click.command(short_help="Answer a question of an agent's.")
@click.argument("name", metavar="ID", shell_complete=waiting_questions)
@click.argument("values", metavar="[VALUE|FIELD=VALUE]...", nargs=-1)
@click.option("--decline", is_flag=True, help="refuse to answer")
@setting_flags("clients")
def command(name: str, values: tuple[str, ...], decline: bool, **flags: Any) -> None:
    """Answer a question of an agent's.

    ID is the beginning of the question's id or of its session's; - is the only question that waits. A form's fields are given
    as FIELD=VALUE, what has a default may be left out; a question with one field takes its VALUE alone. One of several choices
    is given by its name or its number.
    """

    async def work(hub: Client, ask: PendingAsk) -> None:
        assert ask.question is not None
        if decline:
            await hub.answer_question(ask.session_id, id_of(ask), None, action="decline")
        else:
            await hub.answer_question(ask.session_id, id_of(ask), filled_in(ask.question, values))
        click.echo(f"{'declined' if decline else 'answered'} {line_of(ask)}")

    if decline and values:
        raise Invalid("--decline takes no values")
    finish(with_ask(load(flags), "question", None if name == "-" else name, work))


def filled_in(question: QuestionView, values: Sequence[str]) -> dict[str, Any] | None:
    """The form with these values; Invalid names the field that is missing or wrong."""
    if question.url:
        return None
    packet = msgspec.to_builtins(question)
    fields = fields_of({name: value for name, value in packet.items() if value is not None})
    typed = _by_field(fields, values)
    answers = {field.name: _read(field, typed.get(field.name, "")) for field in fields}
    return {name: answer for name, answer in answers.items() if answer is not None}


def _by_field(fields: Sequence[Field], values: Sequence[str]) -> dict[str, str]:
    names = [field.name for field in fields]
    if len(names) == 1 and len(values) == 1 and not values[0].startswith(f"{names[0]}="):
        return {names[0]: values[0]}
    typed = {}
    for each in values:
        name, equals, value = each.partition("=")
        if not equals or name not in names:
            raise Invalid(f"{each!r} is no FIELD=VALUE; the fields are {', '.join(names) or 'none'}")
        typed[name] = value
    return typed


def _read(field: Field, value: str) -> Any:
    try:
        return field.read(value)
    except ValueError as error:
        choices = ", ".join(f"{number} {one_revealed_line(choice.title)}" for number, choice in enumerate(field.choices, 1))
        raise Invalid(f"{field.name}: {error}{f': {choices}' if choices else ''}") from error
