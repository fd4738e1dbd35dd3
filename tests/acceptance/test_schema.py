"""Every route under requests that its own description allows, and some that it does not: each is answered as described.

Schemathesis makes the requests from ``/openapi.json``. Rule: an answer is the success that the document names, or an error of the
tree under its own status; 500 (``internal``) is neither. The seed is fixed: what fails, fails again.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from tests.tooling.hub_process import HubProcess, Session
from trunkline.errors import BY_CODE

Case = schemathesis.Case[Any]
NewHub = Callable[..., HubProcess]
EXAMPLES = 12
"""For each route and each caller: two minutes are the most that this may take."""
ALSO_FINE = {101, 200, 204, 206, 302, 304, 307, 416}
"""Answers that HTTP itself knows: a part of a file, a file that has not changed, a folder's proper address."""
WAIT_S = 10
ENDS_THE_TEST = {("POST", "/auth/logout")}
"""With the main token this forgets nothing, but is no request of a program either."""


class Described:
    """A hub, the operations that it describes, and a session that is there for them."""

    def __init__(self, hub: HubProcess) -> None:
        self.hub = hub
        self.document = hub.wire.get("/openapi.json")
        self._session: Session | None = None
        self.asked = 0

    def operations(self) -> list[Any]:
        """Every method on every path."""
        schema = schemathesis.openapi.from_dict(self.document)
        found: list[Any] = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]  # else it fails
        return [one for one in found if (one.method.upper(), one.path) not in ENDS_THE_TEST]

    def session_id(self) -> str:
        """A session that exists: another one, where a request has deleted it."""
        if self._session is None or self.hub.wire.ask("GET", self._session.path).status != 200:
            self._session = self.hub.new_session("puppet")
        return self._session.id

    def ask(self, case: Case, token: str | None) -> tuple[int, str, bytes]:
        """Status, type and, unless it is a stream, the body of the answer."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        asked = case.as_transport_kwargs(base_url=self.hub.url, headers=headers)
        asked.pop("timeout", None)
        self.asked += 1
        with requests.request(**{**asked, "stream": True, "timeout": WAIT_S, "allow_redirects": False}) as answer:
            kind = answer.headers.get("content-type", "")
            return answer.status_code, kind, b"" if kind.startswith("text/event-stream") else answer.content


@pytest.fixture
def described(new_hub: NewHub) -> Iterator[Described]:
    hub = new_hub()
    yield Described(hub)
    log = hub.log_path.read_text(errors="replace")
    assert "Traceback" not in log, log[-4000:]


def assert_answered(case: Case, status: int, kind: str, body: bytes) -> None:
    told = f"{case.method} {case.formatted_path}: {status} {body[:500]!r}"
    documented = {int(code) for code in case.operation.definition.raw["responses"] if code.isdigit()}
    if status in documented | ALSO_FINE:
        return
    assert kind.startswith("application/json"), told
    if status == 404 and json.loads(body).get("type") == "error":
        return  # the packet that the seeds' clients read
    error = json.loads(body)
    # A request that streams is answered in packets, also where it is refused.
    code = error["details"]["code"] if error.get("type") == "error" else error["code"]
    assert BY_CODE[code].http_status == status and code != "internal", told


@pytest.mark.slow
@pytest.mark.parametrize("as_admin", [True, False], ids=["an admin", "nobody"])
def test_every_route_answers_as_its_description_says(described: Described, as_admin: bool) -> None:
    token = described.hub.token if as_admin else None
    operations = described.operations()
    for operation in operations:
        for mode in GenerationMode:
            exercise(described, operation, mode, token)
    assert described.asked > len(operations) * EXAMPLES // 2


def exercise(described: Described, operation: Any, mode: GenerationMode, token: str | None) -> None:
    """Some requests to one operation, as it wants them or not; most go to a session that is there."""
    dice = random.Random(operation.label)

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        if "id" in case.path_parameters and case.path.startswith("/sessions/{id}") and dice.random() < 0.7:
            case.path_parameters["id"] = described.session_id()
        try:
            answer = described.ask(case, token)
        except requests.exceptions.InvalidHeader:
            return  # no client can send it
        assert_answered(case, *answer)

    with contextlib.suppress(Unsatisfiable):  # nothing can be wrong about a request without parameters
        ask()
