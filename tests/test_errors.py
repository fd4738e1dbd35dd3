"""Every error in one tree: codes are unique, the map at the top is true, and who catches a kind catches what is below it."""

from __future__ import annotations

import re

from trunkline import errors
from trunkline.errors import BY_CODE, LocalError, NotFound, RemoteError, SessionDeleted, TrunklineError, Unavailable


def every(kind: type[TrunklineError]) -> list[type[TrunklineError]]:
    return [each for child in kind.__subclasses__() for each in (child, *every(child))]


OURS = [kind for kind in every(TrunklineError) if kind.__module__ == errors.__name__]


def test_the_map_at_the_top_has_every_error_with_its_status_and_code() -> None:
    drawn = {name: (int(status), code) for name, status, code in re.findall(r"(\w+) +(\d{3})  (\w+)", errors.__doc__ or "")}
    kinds = {kind.__name__: (kind.http_status, kind.code) for kind in OURS if kind not in (LocalError, RemoteError, Unavailable)}
    assert drawn == kinds


def test_an_error_is_found_by_its_code_on_the_other_side() -> None:
    assert [kind for kind in OURS if not issubclass(BY_CODE[kind.code], kind)] == [], "a child stands for what shares its code"


def test_an_error_carries_what_a_client_needs_to_react() -> None:
    error = SessionDeleted("it is gone", details={"sessionId": "s"}, agent_code="7")
    assert isinstance(error, NotFound) and str(error) == error.message == "it is gone"
    assert (error.code, error.details, error.agent_code) == ("session_deleted", {"sessionId": "s"}, "7")
