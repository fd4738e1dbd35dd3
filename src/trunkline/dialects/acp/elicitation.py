"""Elicitation: the agent asks a person something, by a form or by a web page."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from trunkline.dialects.acp.shape import SKIP, STRICT, Shape, Uint

StringFormat = Literal["email", "uri", "date", "date-time"]
ElicitationContentValue = str | int | float | bool | list[str]


class EnumOption(Shape, frozen=True, kw_only=True):
    """A choice with a title."""

    const: str
    title: str
    description: str | None = None


class _Property(Shape, frozen=True, kw_only=True, tag_field="type"):
    """Base of the form's fields: distinguished by ``type``."""

    title: str | None = None
    description: str | None = None


class StringProperty(_Property, frozen=True, kw_only=True, tag="string"):
    """A text field, or a choice of one (``enum`` or ``one_of``)."""

    min_length: Annotated[Uint | None, STRICT] = None
    max_length: Annotated[Uint | None, STRICT] = None
    pattern: Annotated[str | None, STRICT] = None
    format: Annotated[StringFormat | None, STRICT] = None
    default: str | None = None
    enum: Annotated[list[str] | None, STRICT] = None
    one_of: Annotated[list[EnumOption] | None, STRICT] = None


class NumberProperty(_Property, frozen=True, kw_only=True, tag="number"):
    """A number field."""

    minimum: Annotated[float | None, STRICT] = None
    maximum: Annotated[float | None, STRICT] = None
    default: float | None = None


class IntegerProperty(_Property, frozen=True, kw_only=True, tag="integer"):
    """A whole-number field."""

    minimum: Annotated[int | None, STRICT] = None
    maximum: Annotated[int | None, STRICT] = None
    default: int | None = None


class BooleanProperty(_Property, frozen=True, kw_only=True, tag="boolean"):
    """A check box."""

    default: bool | None = None


class MultiSelectItems(Shape, frozen=True, kw_only=True):
    """The choices of a multiple choice: plain (``enum``) or titled (``any_of``)."""

    type: str | None = None
    enum: Annotated[list[str] | None, STRICT] = None
    any_of: Annotated[list[EnumOption] | None, STRICT] = None


class MultiSelectProperty(_Property, frozen=True, kw_only=True, tag="array"):
    """A choice of several."""

    items: MultiSelectItems
    min_items: Annotated[Uint | None, STRICT] = None
    max_items: Annotated[Uint | None, STRICT] = None
    default: Annotated[list[str] | None, SKIP] = None


ElicitationProperty = StringProperty | NumberProperty | IntegerProperty | BooleanProperty | MultiSelectProperty


class ElicitationSchema(Shape, frozen=True, kw_only=True, tag_field="type", tag="object"):
    """A form: named fields, and which of them must be filled."""

    title: str | None = None
    description: str | None = None
    properties: Annotated[dict[str, ElicitationProperty] | None, STRICT] = None
    required: Annotated[list[str] | None, STRICT] = None


class _Elicitation(Shape, frozen=True, kw_only=True, tag_field="mode"):
    """What both ways of asking share: the question, and the session (and call) or the request that it belongs to."""

    message: str
    session_id: str | None = None
    tool_call_id: str | None = None
    request_id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        if self.session_id is None and self.request_id is msgspec.UNSET:
            raise ValueError("a question needs sessionId or requestId")


class FormElicitation(_Elicitation, frozen=True, kw_only=True, tag="form"):
    """Ask by a form. ``requested_schema`` stays as sent; read it as an ``ElicitationSchema``."""

    requested_schema: msgspec.Raw


class UrlElicitation(_Elicitation, frozen=True, kw_only=True, tag="url"):
    """Ask by sending the person to a page; ``elicitation/complete`` says when they were there."""

    elicitation_id: str
    url: str


CreateElicitationRequest = FormElicitation | UrlElicitation


class AcceptedElicitation(Shape, frozen=True, kw_only=True, tag_field="action", tag="accept"):
    """The person answered."""

    content: Annotated[dict[str, ElicitationContentValue] | None, STRICT] = None


class DeclinedElicitation(Shape, frozen=True, kw_only=True, tag_field="action", tag="decline"):
    """The person would not answer."""


class CancelledElicitation(Shape, frozen=True, kw_only=True, tag_field="action", tag="cancel"):
    """The person closed the question."""


CreateElicitationResponse = AcceptedElicitation | DeclinedElicitation | CancelledElicitation


class CompleteElicitationNotification(Shape, frozen=True, kw_only=True):
    """The person was at the page."""

    elicitation_id: str
