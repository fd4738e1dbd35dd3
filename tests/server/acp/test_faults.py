"""Our errors as an editor gets them."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.error_codes import ErrorCode
from trunkline.errors import AgentAuthRequired, Invalid, NotFound, SessionNotFound, TrunklineError, Unauthorized
from trunkline.server.acp.faults import fault_of, written_fault


@every_row(("error", "code"), [
    (Invalid("x"), ErrorCode.INVALID_PARAMS), (NotFound("x"), ErrorCode.RESOURCE_NOT_FOUND),
    (SessionNotFound("x"), ErrorCode.RESOURCE_NOT_FOUND), (Unauthorized("x"), ErrorCode.AUTH_REQUIRED),
    (AgentAuthRequired("x"), ErrorCode.AUTH_REQUIRED), (TrunklineError("x"), ErrorCode.INTERNAL_ERROR)])
def test_an_error_has_the_protocols_number_and_our_own_code(error: TrunklineError, code: int) -> None:
    fault = fault_of(error)
    assert (fault.code, fault.data["code"]) == (code, error.code)


def test_an_agents_own_number_is_kept_where_it_is_one() -> None:
    assert written_fault("agent_error", "no", {"a": 1}, "-32042").code == -32042
    assert written_fault("agent_error", "no", None, "E_FAIL").code == ErrorCode.INTERNAL_ERROR
    assert written_fault("agent_error", "no", None, "9" * 20).code == ErrorCode.INTERNAL_ERROR


def test_a_message_is_one_line() -> None:
    assert written_fault("internal", "two\n  lines").message == "two lines"
