"""Events as bytes and back: the envelope first, nothing lost, nothing raised over what a newer hub may send."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.dialects.context.protocol import protocol, resolve, sample
from tests.tooling.rows import every_row
from trunkline.dialects.context.envelope import (
    UnknownEvent,
    decode_event,
    delta_event,
    delta_prefix,
    encode_event,
    iso_ms,
    stamp_ms,
)
from trunkline.dialects.context.events import (
    EVENTS,
    CustomEvent,
    Event,
    EventBase,
    GitOperationEvent,
    MessageCompleteEvent,
    MessageDeltaEvent,
    SessionErrorEvent,
    SessionStatusChangedEvent,
    ThinkingDeltaEvent,
    ToolCallExecutingEvent,
    event_types,
)
from trunkline.dialects.context.types import ErrorInfo, MessageRole
from trunkline.dialects.context.unions import DescriptionPreview, GitBranchCreate, TextPart
from trunkline.errors import Invalid

AT = 1_769_109_210_917_345
AT_ISO = "2026-01-22T19:13:30.917Z"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Any JSON value of a resolved type."""
    if isinstance(kind, dict):
        if kind.keys() == {"by", "variants"}:
            return st.one_of([values_of({kind["by"]: [tag], **body}) for tag, body in kind["variants"].items()])
        needed = {name: values_of(inner) for name, inner in kind.items() if not name.endswith("?")}
        return st.fixed_dictionaries(needed, optional={n[:-1]: values_of(k) for n, k in kind.items() if n.endswith("?")})
    if isinstance(kind, list):
        is_enum = isinstance(kind[0], str) and kind != ["string"]
        return st.sampled_from(kind) if is_enum else st.lists(values_of(kind[0]), max_size=3)
    return {
        "string": st.text(),
        "string|null": st.none() | st.text(),
        "number": st.integers(0, 2**53),
        "boolean": st.booleans(),
        "object": st.dictionaries(st.text(), json_values, max_size=3),
        "any": json_values,
    }[kind]


events = st.sampled_from(list(protocol()["events"])).flatmap(
    lambda name: values_of(resolve(protocol()["events"][name])).map(lambda body: {"type": name, **body})
)


def enveloped(name: str, *, optional: bool) -> dict[str, Any]:
    payload = sample(resolve(protocol()["events"][name]), optional=optional)
    return {"seq": 7, "sessionId": "s-1", "timestamp": AT_ISO, "type": name, **payload}


@every_row("optional", [True, False])
@every_row("name", protocol()["events"])
def test_an_event_goes_through_decode_and_encode_byte_for_byte(name: str, optional: bool) -> None:
    wire = msgspec.json.encode(enveloped(name, optional=optional))
    event = decode_event(wire)
    assert isinstance(event, EVENTS[name])
    assert (event.seq, event.session_id, event.timestamp) == (7, "s-1", AT_ISO)
    assert encode_event(7, "s-1", AT, event) == wire


@every_row("name", protocol()["events"])
def test_an_event_without_a_required_field_is_not_taken_for_one(name: str) -> None:
    whole = enveloped(name, optional=False)
    for field in sample(resolve(protocol()["events"][name]), optional=False):
        read = decode_event(json.dumps({key: value for key, value in whole.items() if key != field}).encode())
        assert isinstance(read, UnknownEvent) and field in read.why


@every_row("name", protocol()["events"])
def test_fields_of_tomorrow_are_skipped(name: str) -> None:
    today = enveloped(name, optional=True)
    event = decode_event(msgspec.json.encode(today | {"tomorrow": {"x": [1]}}))
    assert isinstance(event, EventBase)
    assert encode_event(7, "s-1", AT, event) == msgspec.json.encode(today)


@given(events)
def test_any_event_of_the_protocol_survives_the_trip(wire: dict[str, Any]) -> None:
    event = decode_event(msgspec.json.encode({"seq": 1, "sessionId": "s", "timestamp": AT_ISO, **wire}))
    assert isinstance(event, EventBase)
    again = json.loads(encode_event(9, "other", AT, event))
    assert again == {"seq": 9, "sessionId": "other", "timestamp": AT_ISO, **wire}


def test_the_envelope_comes_first_and_in_order() -> None:
    event = MessageDeltaEvent(message_id="m", role="assistant", delta="Hello ")
    assert encode_event(1, "session-123", AT, event) == (
        b'{"seq":1,"sessionId":"session-123","timestamp":"2026-01-22T19:13:30.917Z",'
        b'"type":"message:delta","messageId":"m","role":"assistant","delta":"Hello "}'
    )


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        (
            SessionStatusChangedEvent(from_="running", to="waiting_for_approval"),
            b'"type":"session:status_changed","from":"running","to":"waiting_for_approval"}',
        ),
        (
            ToolCallExecutingEvent(
                tool_call_id="t",
                name="bash",
                input=Raw(b'{ "command" : "ls", "n":1.0}'),
                risk_level="low",
                requires_approval=False,
            ),
            b'"type":"tool:executing","toolCallId":"t","name":"bash","input":{ "command" : "ls", "n":1.0},'
            b'"riskLevel":"low","requiresApproval":false}',
        ),
        (
            SessionErrorEvent(error=ErrorInfo(code="agent_exited", message="gone", recoverable=True, details=Raw(b"[1]"))),
            b'"type":"session:error","error":{"code":"agent_exited","message":"gone","recoverable":true,"details":[1]}}',
        ),
        (
            MessageCompleteEvent(message_id="m", role="assistant", content=[TextPart(text="hi")], stop_reason="end_turn"),
            b'"type":"message:complete","messageId":"m","role":"assistant","content":[{"type":"text","text":"hi"}],'
            b'"stopReason":"end_turn"}',
        ),
        (
            GitOperationEvent(operation=GitBranchCreate(name="fix", from_="main"), tool_call_id="t"),
            b'"type":"git:operation","operation":{"kind":"branch_create","name":"fix","from":"main"},"toolCallId":"t"}',
        ),
        (
            CustomEvent(namespace="acp", event_name="x", data=Raw(b'{"a":1}'), meta={"by": "me"}),
            b'"type":"custom","_meta":{"by":"me"},"namespace":"acp","eventName":"x","data":{"a":1}}',
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, EventBase) else "",
)
def test_an_event_is_written_exactly_so(event: Event, payload: bytes) -> None:
    assert encode_event(2, "s", AT, event) == b'{"seq":2,"sessionId":"s","timestamp":"2026-01-22T19:13:30.917Z",' + payload


def test_a_decoded_event_gets_a_new_envelope_when_it_is_encoded_again() -> None:
    first = encode_event(1, "a", 0, MessageDeltaEvent(message_id="m", role="user", delta="x"))
    event = decode_event(first)
    assert isinstance(event, MessageDeltaEvent)
    again = encode_event(2, "b", AT, event)
    assert again.count(b'"seq"') == again.count(b'"sessionId"') == again.count(b'"timestamp"') == 1
    assert json.loads(again)["seq"] == 2


def test_meta_survives_on_every_event() -> None:
    for name in EVENTS:
        event = decode_event(json.dumps(enveloped(name, optional=False) | {"_meta": {"by": "phone", "n": [1]}}).encode())
        assert isinstance(event, EventBase) and event.meta == {"by": "phone", "n": [1]}


def test_an_unknown_type_is_kept_whole_with_its_envelope() -> None:
    raw = b'{"seq":4,"sessionId":"s","timestamp":"t","type":"voice:started","x":1}'
    event = decode_event(raw)
    assert isinstance(event, UnknownEvent)
    assert (event.raw, event.type, event.seq, event.session_id, event.timestamp) == (raw, "voice:started", 4, "s", "t")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"seq":1,"sessionId":"s","timestamp":"t","type":"message:start","messageId":"m","role":"robot"}',
        b'{"type":"message:complete","messageId":"m","role":"user","content":[{"type":"hologram","x":1}]}',
        b'{"type":"custom","namespace":"n","eventName":"e","data":[1]}',
        b'{"type":"tool:executing","toolCallId":"t","name":"n","input":"ls","riskLevel":"low","requiresApproval":true}',
    ],
    ids=["new enum value", "new variant", "data is no object", "input is no object"],
)
def test_a_known_type_that_cannot_be_read_is_unknown_and_says_why(raw: bytes) -> None:
    event = decode_event(raw)
    assert isinstance(event, UnknownEvent) and event.raw == raw and event.why


@every_row(
    "raw", [b"", b"{", b"[]", b"3", b'{"seq":1}', b'{"type":7}', b'{"type":"x","seq":"one"}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_event_is_refused(raw: bytes) -> None:
    with pytest.raises(Invalid, match="not an event"):
        decode_event(raw)


@given(st.binary(max_size=64))
def test_arbitrary_bytes_never_raise_anything_else(raw: bytes) -> None:
    try:
        assert isinstance(decode_event(raw), EventBase | UnknownEvent)
    except Invalid:
        pass


roles: st.SearchStrategy[MessageRole] = st.sampled_from(["user", "assistant", "system"])


@given(st.text(), st.text(), roles, st.text(), st.integers(1, 2**53), st.integers(0, 4 * 10**15))
def test_a_spliced_delta_is_the_encoded_delta(
    session: str, message: str, role: MessageRole, text: str, seq: int, at: int
) -> None:
    token = msgspec.json.encode(text)
    spliced = delta_event(delta_prefix(session, message, role), seq, stamp_ms(at), token)
    assert spliced == encode_event(seq, session, at, MessageDeltaEvent(message_id=message, role=role, delta=text))
    thought = delta_event(delta_prefix(session, message, None), seq, stamp_ms(at), Raw(token))
    assert thought == encode_event(seq, session, at, ThinkingDeltaEvent(message_id=message, delta=text))


def test_a_spliced_delta_keeps_the_agents_token() -> None:
    wire = delta_event(delta_prefix("s%d", "m%b", "assistant"), 3, stamp_ms(AT), Raw(b'"\\u00e9 %s"'))
    assert wire == (
        b'{"seq":3,"sessionId":"s%d","timestamp":"2026-01-22T19:13:30.917Z","type":"message:delta",'
        b'"messageId":"m%b","role":"assistant","delta":"\\u00e9 %s"}'
    )


@every_row(
    ("at", "iso"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (999, "1970-01-01T00:00:00.000Z"),
        (1_000, "1970-01-01T00:00:00.001Z"),
        (999_999, "1970-01-01T00:00:00.999Z"),
        (1_748_781_000_000_000, "2025-06-01T12:30:00.000Z"),
        (AT, AT_ISO),
    ],
)
def test_timestamps_are_utc_with_milliseconds(at: int, iso: str) -> None:
    assert iso_ms(at) == iso and stamp_ms(at) == iso.encode()


@given(st.integers(0, 250_000_000_000_000_000))
def test_timestamps_agree_with_the_calendar(at: int) -> None:
    moment = datetime.fromtimestamp(at // 1_000_000, UTC).replace(microsecond=at % 1_000_000)
    assert iso_ms(at) == moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_types_are_found_by_prefix() -> None:
    assert event_types("tool:") == ("tool:start", "tool:args_delta", "tool:executing", "tool:result", "tool:error")
    assert event_types("session:")[0] == "session:started" and len(event_types("session:")) == 6
    assert len(event_types()) == 37
    assert event_types("nothing:") == ()


def test_events_are_frozen() -> None:
    event = DescriptionPreview(text="x")
    with pytest.raises(AttributeError):
        event.text = "y"  # type: ignore[misc]  # the very thing that must fail
