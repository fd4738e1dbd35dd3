"""The nine commands: read as sent, refused with a reason when they are wrong."""

from __future__ import annotations

import json

import msgspec
import pytest

from tests.dialects.context.protocol import protocol, resolve, sample
from tests.tooling.rows import every_row
from trunkline.dialects.context.commands import (
    COMMANDS,
    CancelCommand,
    CommandEnvelope,
    SendMessageCommand,
    SetPermissionPolicyCommand,
    decode_command,
    decode_command_envelope,
    encode_command,
)
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.errors import Invalid


@pytest.mark.parametrize("optional", [True, False], ids=["full", "minimal"])
@pytest.mark.parametrize("name", protocol()["commands"])
def test_a_command_goes_through_decode_and_encode_byte_for_byte(name: str, optional: bool) -> None:
    wire = msgspec.json.encode({"command": name, **sample(resolve(protocol()["commands"][name]), optional=optional)})
    command = decode_command(wire)
    assert isinstance(command, COMMANDS[name])
    assert encode_command(command) == wire


@pytest.mark.parametrize(
    ("wire", "command"),
    [
        (b'{"command":"send_message","message":"Fix the login bug"}', SendMessageCommand(message="Fix the login bug")),
        (b'{"command":"cancel"}', CancelCommand()),
        (
            b'{"command":"set_permission_policy","policy":{"autoApprove":{"reads":true,"writes":["src/**/*.ts"],'
            b'"commands":["npm test"],"searches":true}}}',
            SetPermissionPolicyCommand(
                policy=PermissionPolicy(
                    auto_approve=AutoApprove(reads=True, writes=["src/**/*.ts"], commands=["npm test"], searches=True)
                )
            ),
        ),
    ],
)
def test_a_command_reads_as_documented(wire: bytes, command: object) -> None:
    assert decode_command(wire) == command


@every_row(
    ("wire", "names"),
    [
        (b'{"command":"fly"}', "fly"),
        (b'{"message":"hi"}', "command"),
        (b'{"command":"send_message"}', "message"),
        (b'{"command":"send_message","message":7}', "message"),
        (b'{"command":"approve_tool_call","requestId":"r"}', "toolCallId"),
        (b'{"command":"set_permission_policy","policy":{"autoApprove":{"reads":true}}}', "writes"),
        (b'{"command":"send_message","message":"x","attachments":[{"type":"video","url":"u"}]}', "video"),
        (b"[1]", "object"),
        (b"not json", "malformed"),
        (b"[" * 100_000, "not a command"),
    ],
)
def test_a_wrong_command_is_refused_and_the_reason_named(wire: bytes, names: str) -> None:
    with pytest.raises(Invalid, match=names):
        decode_command(wire)


def test_unknown_fields_of_a_command_are_skipped() -> None:
    assert decode_command(json.dumps({"command": "cancel", "hurry": True}).encode()) == CancelCommand()


def test_an_unknown_command_is_refused_with_those_that_exist() -> None:
    with pytest.raises(Invalid) as refused:
        decode_command(b'{"command":"fly"}')
    assert "'fly'" in refused.value.message and all(name in refused.value.message for name in COMMANDS)
    assert refused.value.details == {"commands": list(COMMANDS)}


def test_a_command_travels_in_an_envelope_with_or_without_an_id() -> None:
    named = decode_command_envelope(b'{"id":"c-1","command":{"command":"cancel"}}')
    assert named == CommandEnvelope(id="c-1", command=CancelCommand())
    bare = decode_command_envelope('{"command":{"command":"send_message","message":"hi","_meta":{"by":"phone"}}}')
    assert bare.id is msgspec.UNSET
    assert bare.command == SendMessageCommand(message="hi", meta={"by": "phone"})


@every_row(
    ("wire", "names"),
    [
        (b'{"command":{"command":"fly"}}', "there are send_message"),
        (b'{"id":7,"command":{"command":"cancel"}}', "id"),
        (b'{"id":"x"}', "command"),
        (b'{"command":"cancel"}', "Expected `object`"),
        (b'{"command":{"command":"send_message"}}', "message"),
        (b"[]", "object"),
        (b'{"command":' * 100_000, "not a command"),
    ],
)
def test_a_wrong_envelope_is_refused_and_the_reason_named(wire: bytes, names: str) -> None:
    with pytest.raises(Invalid, match=names):
        decode_command_envelope(wire)


def test_what_we_add_to_a_command_rides_in_its_meta_and_nowhere_else() -> None:
    for name in COMMANDS:
        fields = sample(resolve(protocol()["commands"][name]), optional=True)
        wire = {"command": name, "_meta": {"updatedInput": {"a": 1}}, **fields}
        command = decode_command(msgspec.json.encode(wire))
        assert command.meta == {"updatedInput": {"a": 1}}
        assert json.loads(encode_command(command)) == wire
