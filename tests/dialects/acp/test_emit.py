"""Everything we can write is valid: by the official schema, and to the official SDK."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dialects.acp.schema import NOT_IN_SDK, faults, parse_with_sdk, shapes, wire_definition_of
from tests.dialects.acp.strategies import instances
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects.acp.client import RequestPermissionRequest, SessionNotification
from trunkline.dialects.acp.methods import METHODS, Method
from trunkline.dialects.acp.options import SessionConfigSelectEntry
from trunkline.dialects.acp.reading.decode import decode_params, decode_result, read_update
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import SessionUpdate
from trunkline.dialects.jsonrpc import Peer

ALL = shapes()

@every_row("kind", ALL)
def test_what_we_write_is_valid_to_the_schema_to_the_sdk_and_to_us(kind: Any) -> None:
    @settings(max_examples=examples(6), suppress_health_check=[HealthCheck.too_slow])
    @given(instances(kind))
    def check(value: Any) -> None:
        written = encode_acp(value)
        assert faults(_definition(value), written) == []
        assert encode_acp(read_lenient(written, kind)) == written
        if kind not in NOT_IN_SDK and not _has_newer(value):
            parse_with_sdk(kind, written)

    check()


@given(instances(SessionUpdate))
def test_an_update_of_ours_is_schema_true_to_ourselves(update: Any) -> None:
    raw = encode_acp(update)
    read, passed_on = read_update(raw)
    assert passed_on is raw
    assert encode_acp(read) == raw


@given(st.sampled_from([method for method in METHODS.values() if method.result is not None]), st.data())
def test_a_request_and_its_answer_cross_a_pair_of_peers(method: Method, data: st.DataObject) -> None:
    client, agent = Peer(), Peer()
    params = data.draw(instances(method.params).filter(lambda value: not _aliased(value)))
    result = data.draw(instances(method.result))
    client.send_request(method.name, params)
    agent.receive_data(b"".join(client.data_to_send()))
    [request] = agent.messages_received()
    assert encode_acp(decode_params(request.method, request.params)) == encode_acp(params)  # type: ignore[union-attr]
    agent.send_result(request.id, result)  # type: ignore[union-attr,arg-type]
    client.receive_data(b"".join(agent.data_to_send()))
    [answer] = client.messages_received()
    assert encode_acp(decode_result(method.name, answer.result)) == encode_acp(result)  # type: ignore[union-attr]


def _definition(value: Any) -> str:
    if isinstance(value, SessionConfigSelectEntry):
        return "SessionConfigSelectOption" if value.group is None else "SessionConfigSelectGroup"
    return wire_definition_of(type(value))


def _aliased(value: Any) -> bool:
    return isinstance(value, RequestPermissionRequest)


def _has_newer(value: Any) -> bool:
    """Whether a notification carries an update, or a call a url, that the SDK's older schema does not know."""
    if isinstance(value, SessionNotification):
        return json.loads(bytes(value.update))["sessionUpdate"] in ("notice", "compaction_update", "compaction_summary_chunk")
    return False
