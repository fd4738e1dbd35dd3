"""Turns over HTTP: a prompt goes in by POST, its packets come out, exactly once, whatever the agent and the client do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.tooling.hub_process import HubProcess, Session, end_of, text_of, types_of
from tests.tooling.pace import crowding
from tests.tooling.wire import Packet

NewHub = Callable[..., HubProcess]
T = TypeVar("T")


def steps(*script: list[Any]) -> str:
    """A prompt for the puppet."""
    return json.dumps(script)


def at_once(work: Callable[[int], T], times: int) -> list[T]:
    """Do something several times at the same moment."""
    together = threading.Barrier(times)

    def one(number: int) -> T:
        together.wait(60)
        return work(number)

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))


def test_a_prompt_streams_its_turn_from_the_prompt_to_the_response(session: Session) -> None:
    with session.send("/burst 3 10") as stream:
        packets = stream.rest()
    assert [packet.type for packet in packets] == ["user_message_chunk", *["agent_message_chunk"] * 3, "prompt_response"]
    assert packets[-1].value["stopReason"] == "end_turn"
    ids = [packet.id or 0 for packet in packets]
    assert ids == sorted(set(ids)) and ids[0] > 0
    assert all("timestamp" in packet.value for packet in packets)


def test_a_stream_tells_proxies_not_to_hold_it_back(session: Session) -> None:
    with session.send("/echo hi") as stream:
        headers = stream.answer.headers
        stream.rest()
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["x-accel-buffering"] == "no"
    assert "no-cache" in headers["cache-control"]


def test_without_asking_for_a_stream_a_prompt_is_accepted_with_its_place(session: Session) -> None:
    accepted = session.post("send-message", {"content": "/burst 2 5"}, 202)
    assert set(accepted) >= {"turnId", "seq"}
    with session.attach(after=accepted["seq"]) as stream:
        stream.until("prompt_response")
        types = [packet.type for packet in stream.seen]
    assert types == ["user_message_chunk", "agent_message_chunk", "agent_message_chunk", "prompt_response"]


def test_a_burst_is_exactly_its_chunks_in_order(session: Session) -> None:
    packets = session.say("/burst 500 20")
    texts = [packet["content"]["text"] for packet in packets if packet["type"] == "agent_message_chunk"]
    assert [int(text[:8]) for text in texts] == list(range(500))
    assert all(len(text) == 20 for text in texts)
    assert len(packets) == 502


def test_closing_the_post_never_cancels_the_turn(session: Session) -> None:
    with session.send("/burst 30 10 60") as stream:
        stream.until("agent_message_chunk")
        seen = stream.seen[-1].id
    with session.attach(after=seen) as rest:
        end = rest.until("prompt_response", "error")
        assert end.value["stopReason"] == "end_turn"
        assert sum(packet.type == "agent_message_chunk" for packet in rest.seen) == 29


def test_a_second_prompt_is_refused_while_a_turn_runs(session: Session) -> None:
    with session.send("/slow 60") as stream:
        stream.until("agent_message_chunk")
        refused = session.wire.ask("POST", f"{session.path}/send-message", {"content": "/echo no"}).expect(409)
        assert refused["code"] == "turn_in_progress" and refused["recoverable"] is True
        assert refused["details"]["turnId"] == session.view()["turn"]["turnId"]
        with session.wire.send_message(session.id, "/echo no") as second:
            assert second.reply().expect(409)["details"]["code"] == "turn_in_progress", "who reads packets gets one"
        session.post("cancel")
        stream.until("prompt_response")


def test_queued_prompts_wait_can_be_changed_and_taken_back_and_play_in_order(session: Session) -> None:
    with session.send("/slow 60") as stream:
        stream.until("agent_message_chunk")
        queued = [session.post("send-message", {"content": f"/echo {word}", "whenBusy": "queue"}, 202)
                  for word in ("one", "two", "three")]
        assert all(each["queued"] for each in queued)
        one, two, three = (each["turnId"] for each in queued)
        assert [each["turnId"] for each in session.wire.get(f"{session.path}/queue")] == [one, two, three]
        edited = session.wire.ask("PATCH", f"{session.path}/queue/{two}", {"content": "/echo TWO"}).expect(200)
        assert edited[1]["content"] == [{"type": "text", "text": "/echo TWO"}]
        session.wire.ask("DELETE", f"{session.path}/queue/{one}").expect(204)
        assert session.wire.ask("DELETE", f"{session.path}/queue/{one}").expect(404)["code"] == "not_found"
        assert session.wire.get(f"{session.path}/queue/{three}")["turnId"] == three
        assert [each["turnId"] for each in session.view()["queue"]] == [two, three]
        session.post("cancel")
        stream.until("prompt_response")
    with session.attach() as everything:
        everything.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "three")
        everything.until("prompt_response")
        said = [packet.value["content"]["text"] for packet in everything.seen if packet.type == "agent_message_chunk"]
    assert said[-2:] == ["TWO", "three"] and "one" not in said
    assert session.wire.get(f"{session.path}/queue") == []


def test_a_queued_prompt_streams_its_own_turn_and_nothing_of_the_one_before(session: Session) -> None:
    with session.send("/slow 60") as first:
        first.until("agent_message_chunk")
        with session.send("/echo mine", whenBusy="queue") as second:
            session.post("cancel")
            packets = [packet.value for packet in second]
        first.until("prompt_response")
    assert types_of(packets) == ["user_message_chunk", "agent_message_chunk", "prompt_response"]
    assert text_of(packets) == "mine"


def test_the_stream_of_a_prompt_that_was_taken_back_ends_and_says_so(session: Session) -> None:
    with session.send("/slow 60") as first:
        first.until("agent_message_chunk")
        with session.send("/echo never", whenBusy="queue") as second:
            waiting = session.wire.get(f"{session.path}/queue")[0]["turnId"]
            session.wire.ask("DELETE", f"{session.path}/queue/{waiting}").expect(204)
            packets = second.rest()
        assert [packet.type for packet in packets] == ["error"]
        assert packets[0].id is None, "what is no entry carries no id"
        session.post("cancel")
        first.until("prompt_response")


def test_the_whole_queue_can_be_emptied(session: Session) -> None:
    with session.send("/slow 60") as stream:
        stream.until("agent_message_chunk")
        for _ in range(3):
            session.post("send-message", {"content": "/echo no", "whenBusy": "queue"}, 202)
        session.wire.ask("DELETE", f"{session.path}/queue").expect(204)
        assert session.wire.get(f"{session.path}/queue") == []
        session.post("cancel")
        stream.until("prompt_response")


def test_the_same_idempotency_key_is_one_prompt(session: Session) -> None:
    key = {"Idempotency-Key": "once"}
    first = session.post("send-message", {"content": "/echo once"}, 202, headers=key)
    again = session.post("send-message", {"content": "/echo once"}, 202, headers=key)
    assert again == first
    with session.send("/echo once", headers=key) as stream:
        streamed = stream.rest()
    assert [packet.type for packet in streamed] == ["user_message_chunk", "agent_message_chunk", "prompt_response"]
    other = session.post("send-message", {"content": "/echo twice"}, 202, headers={"Idempotency-Key": "another"})
    assert other["turnId"] != first["turnId"]
    with session.attach() as everything:
        everything.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "twice")
        assert sum(packet.type == "user_message_chunk" for packet in everything.seen) == 2


def test_a_post_repeated_after_a_lost_connection_goes_on_after_the_last_id(session: Session) -> None:
    key = {"Idempotency-Key": "retry"}
    with session.send("/burst 40 10 100", headers=key) as stream:
        lost = [next(stream) for _ in range(5)]
    with session.send("/burst 40 10 100", headers={**key, "Last-Event-ID": str(lost[-1].id)}) as stream:
        rest = stream.rest()
    packets: list[Packet] = lost + rest
    assert [packet.type for packet in packets] == ["user_message_chunk", *["agent_message_chunk"] * 40, "prompt_response"]
    assert [packet.id for packet in packets] == sorted({packet.id for packet in packets}, key=lambda number: number or 0)


def test_cancel_ends_the_turn_as_cancelled(session: Session) -> None:
    with session.send("/slow 60") as stream:
        stream.until("agent_message_chunk")
        assert session.post("cancel") == {"cancelled": True}
        assert stream.rest()[-1].value["stopReason"] == "cancelled"
    assert session.post("cancel") == {"cancelled": False}
    assert end_of(session.say("/echo still here"))["stopReason"] == "end_turn"


def test_the_agent_may_refuse(session: Session) -> None:
    assert end_of(session.say("/refuse"))["stopReason"] == "refusal"


def test_an_error_of_the_agent_is_one_error_packet_with_its_code(session: Session) -> None:
    error = end_of(session.say("/error -32099"))
    assert error["code"] == -32099
    assert error["details"]["code"] == "agent_error"
    assert "as /error asks" in error["message"]
    assert end_of(session.say("/echo next"))["stopReason"] == "end_turn"


def test_a_failing_and_a_rejected_tool_are_told_in_the_seeds_form(session: Session) -> None:
    packets = session.say("/fail")
    failed = [packet for packet in packets if packet["type"] == "tool_call_progress" and packet["status"] == "failed"]
    assert len(failed) == 2
    assert failed[1]["rawOutput"] == {"error": "Error: The user rejected permission to use this specific tool call."}


def test_junk_on_stdout_breaks_nothing_around_it(session: Session) -> None:
    packets = session.say("/junk")
    assert end_of(packets)["stopReason"] == "end_turn"
    said = text_of(packets)
    assert said.count("Before the noise.") == 11
    assert "After the noise. The unknown request was answered with -32601." in said


@pytest.mark.parametrize("noise", [
    b"\xff\xfe\xfd\n",
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"puppet-session","update":{"x":"\xc3"}}}\n',
    b"\xef\xbb\xbf\n", b"\0\0\0\n", b"[" * 5000 + b"\n", b'{"a":' * 5000 + b"\n", b'"\\ud800"\n', b"\r\n\r\n", b"{}\n", b"[]\n",
    b"1\n",
])
def test_a_broken_line_leaves_the_lines_around_it_alone(puppet: Session, noise: bytes) -> None:
    packets = puppet.say(steps(["say", "before "], ["bytes", noise.hex()], ["say", "after"]))
    assert text_of(packets) == "before after"
    assert end_of(packets)["stopReason"] == "end_turn"


def test_a_lone_surrogate_in_an_update_does_not_break_the_stream(puppet: Session) -> None:
    line = (b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"puppet-session","update":{"sessionUpdate":'
            b'"agent_message_chunk","content":{"type":"text","text":"\\ud83d"}}}}\n')
    packets = puppet.say(steps(["say", "before "], ["bytes", line.hex()], ["say", "after"]))
    said = text_of(packets)
    assert said.startswith("before ") and said.endswith("after")
    assert end_of(packets)["stopReason"] == "end_turn"


def test_a_result_of_five_megabytes_arrives_whole(session: Session) -> None:
    packets = session.say("/big 5000000")
    done = next(packet for packet in packets if packet["type"] == "tool_call_progress" and packet["status"] == "completed")
    assert len(done["rawOutput"]["output"].removeprefix("<file>\n").removesuffix("\n</file>")) == 5_000_000
    assert end_of(packets)["stopReason"] == "end_turn"


def test_updates_after_the_response_are_kept(puppet: Session, tmp_path: Path) -> None:
    late = steps(["say", "before"], ["end", {"stopReason": "end_turn"}], ["await", str(tmp_path / "go")], ["say", "after"])
    assert end_of(puppet.say(late))["stopReason"] == "end_turn"
    (tmp_path / "go").touch()
    with puppet.attach() as stream:
        stream.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "after")
        assert [packet.type for packet in stream.seen][-2:] == ["prompt_response", "agent_message_chunk"]
    assert text_of(puppet.say(steps(["say", "next"]))) == "next"


def test_updates_on_the_heels_of_the_response_are_kept_too(session: Session) -> None:
    assert end_of(session.say("/late"))["stopReason"] == "end_turn"
    with session.attach() as stream:
        stream.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "After the answer.")
        stream.until("usage_update")  # the last of them
    assert end_of(session.say("/echo next"))["stopReason"] == "end_turn"
    assert session.view()["title"] == "Late title"


def test_a_prompt_answered_twice_ends_once(session: Session) -> None:
    assert end_of(session.say("/twice"))["stopReason"] == "end_turn"
    assert text_of(session.say("/echo next")) == "next"
    with session.attach(after=0) as stream:
        stream.until("agent_message_chunk", where=lambda packet: packet["content"]["text"] == "next")
        stream.until("prompt_response")
        assert sum(packet.type == "prompt_response" for packet in stream.seen) == 2


def test_prompts_may_be_content_blocks(session: Session) -> None:
    blocks = [
        {"type": "text", "text": "/echo blocks"},
        {"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "inside"}},
    ]
    packets = session.say(blocks)
    prompt = [packet for packet in packets if packet["type"] == "user_message_chunk"]
    assert [packet["content"]["type"] for packet in prompt] == ["text", "resource_link", "image", "resource"]
    assert text_of(packets) == "blocks"


def test_an_image_is_refused_where_the_agent_takes_none(puppet: Session) -> None:
    refused = puppet.wire.ask("POST", f"{puppet.path}/send-message",
                              {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]})
    assert refused.expect(501)["code"] == "unsupported"
    assert text_of(puppet.say(steps(["say", "fine"]))) == "fine"


@pytest.mark.parametrize("body", [
    {}, {"content": ""}, {"content": []}, {"content": 5}, {"content": "x", "whenBusy": "perhaps"}, {"content": "x", "extra": 1},
    {"content": [{"type": "unheard-of"}]}, {"content": [{"type": "text"}]}, [], "text",
])
def test_a_prompt_that_cannot_be_used_is_refused_and_named(session: Session, body: Any) -> None:
    refused = session.wire.ask("POST", f"{session.path}/send-message", body).expect(400)
    assert refused["code"] == "invalid" and refused["message"]
    assert session.view()["turn"] is None


def test_the_mode_can_be_switched(session: Session) -> None:
    assert session.view()["mode"] == "ask"
    assert session.post("mode", {"modeId": "plan"})["mode"] == "plan"
    with session.attach() as stream:
        assert stream.until("current_mode_update").value["currentModeId"] == "plan"
    refused = session.wire.ask("POST", f"{session.path}/mode", {"modeId": "no-such-mode"})
    assert refused.status == 502 and refused.json()["code"] == "agent_error"
    assert session.view()["mode"] == "plan"


def test_an_option_of_the_agent_can_be_set(session: Session) -> None:
    view = session.post("config", {"configId": "model", "value": "demo-2"})
    model = next(option for option in view["configOptions"] if option["id"] == "model")
    assert model["currentValue"] == "demo-2"
    assert session.wire.ask("POST", f"{session.path}/config", {"configId": "model", "value": "nope"}).status == 502


def test_the_agents_commands_are_told(session: Session) -> None:
    with session.attach() as stream:
        commands = stream.until("available_commands_update").value["availableCommands"]
    assert {"burst", "slow", "ask"} <= {command["name"] for command in commands}


def test_a_session_may_start_with_a_mode_a_title_and_a_prompt(hub: HubProcess) -> None:
    session = hub.new_session(title="My work", mode="auto", prompt="/echo at once")
    with session.attach() as stream:
        stream.until("prompt_response")
        assert "at once" in [packet.value["content"]["text"] for packet in stream.seen if packet.type == "agent_message_chunk"]
    view = session.view()
    assert (view["title"], view["mode"]) == ("My work", "auto")
    session.delete()


def test_of_prompts_that_come_at_the_same_moment_one_is_taken(session: Session) -> None:
    statuses = at_once(lambda number: session.wire.ask("POST", f"{session.path}/send-message", {"content": "/slow 60"}).status, 6)
    assert sorted(statuses) == [202, 409, 409, 409, 409, 409]
    session.post("cancel")


def test_the_same_key_at_the_same_moment_is_one_prompt(session: Session) -> None:
    key = {"Idempotency-Key": "together"}
    accepted = at_once(lambda number: session.post("send-message", {"content": "/echo one"}, 202, headers=key)["turnId"], 6)
    assert len(set(accepted)) == 1
    session.say("/echo two", whenBusy="queue")
    assert sum(b'"user_message_chunk"' in data for _, data in session.history()) == 2


def test_prompts_queued_at_the_same_moment_all_play(session: Session) -> None:
    at_once(lambda number: session.post("send-message", {"content": f"/echo {number}", "whenBusy": "queue"}, 202), 8)
    with session.attach() as stream:
        for _ in range(8):
            stream.until("prompt_response")
    said = {packet.value["content"]["text"] for packet in stream.seen if packet.type == "agent_message_chunk"}
    assert said == {str(number) for number in range(8)}


def test_mcp_servers_reach_the_agent_as_they_were_given(hub: HubProcess) -> None:
    servers = [{"name": "files", "command": "/bin/cat", "args": ["-u"], "env": [{"name": "A", "value": "b"}]}]
    session = hub.new_session("puppet", mcpServers=servers)
    opened = json.loads(text_of(session.say(steps(["opened"]))))
    assert opened["mcpServers"] == servers
    assert opened["cwd"] == str(session.folder)
    session.delete()


def test_a_prompt_and_an_answer_of_megabytes_pass_whole(session: Session) -> None:
    long = "".join(f"line {number} ü\n" for number in range(150_000))
    packets = session.say(f"/echo {long}", wait_s=40)
    assert packets[0]["content"]["text"] == f"/echo {long}"
    assert text_of(packets) == long.strip()


def test_line_breaks_of_every_kind_stay_inside_their_frame(puppet: Session) -> None:
    text = "a\r\nb\rc\nd\u2028e\u2029f\x85g\0h: i\n\ndata: j"
    with puppet.send(steps(["say", text])) as stream:
        stream.rest()
    assert text_of(packet.value for packet in stream.seen) == text
    assert not any(b"\r" in packet.data or b"\n" in packet.data for packet in stream.seen)


def test_white_space_in_an_agents_json_cannot_break_a_frame(puppet: Session) -> None:
    line = (b'{"jsonrpc":"2.0",\r"method":"session/update",\t"params":\r{"sessionId":"puppet-session","update":{'
            b'"sessionUpdate":\r"tool_call","toolCallId":"c","title":"t","rawInput":\r{"a":\r[1,\r2]}}}}\n')
    with puppet.send(steps(["bytes", line.hex()])) as stream:
        stream.rest()
    started = [packet for packet in stream.seen if packet.type == "tool_call_progress"]
    assert started[0].value["rawInput"] == {"a": [1, 2]}
    assert not any(b"\r" in packet.data for packet in stream.seen)


def test_many_sessions_work_at_once_and_none_hears_the_other(hub: HubProcess) -> None:
    sessions = [hub.new_session() for _ in range(12)]
    accepted = [session.post("send-message", {"content": f"/burst 400 {20 + number}"}, 202)
                for number, session in enumerate(sessions)]
    for number, session in enumerate(sessions):
        with session.attach(after=accepted[number]["seq"]) as stream:
            stream.until("prompt_response")
            texts = [packet.value["content"]["text"] for packet in stream.seen if packet.type == "agent_message_chunk"]
        assert [int(text[:8]) for text in texts] == list(range(400))
        assert {len(text) for text in texts} == {20 + number}
        session.delete()


def test_the_tour_shows_everything_in_under_fifteen_seconds(hub: HubProcess) -> None:
    """The one test at the speed people see."""
    session = hub.new_session("demo")
    began = time.monotonic()
    with session.send("Show me what you can do", wait_s=60) as stream:
        asked = stream.until("approval_requested").value
        session.post(f"permissions/{asked['requestId']}", {"decision": "allow"})
        packets = [packet.value for packet in [*stream.seen, *stream.rest()]]
    assert time.monotonic() - began < 15 * crowding()
    assert packets[-1]["stopReason"] == "end_turn"
    tools = {packet["title"] for packet in packets if packet["type"] == "tool_call_start"}
    assert tools >= {"glob", "grep", "bash", "write", "edit", "apply_patch", "todowrite", "task", "webfetch", "read"}
    assert {"agent_thought_chunk", "agent_plan_update", "usage_update", "artifact_created"} <= set(types_of(packets))
    made = [packet["artifact"] for packet in packets if packet["type"] == "artifact_created"]
    assert {artifact["path"] for artifact in made} == {"trunkline-demo/hello.py", "trunkline-demo/hello.md"}
    assert (session.folder / "trunkline-demo" / "hello.py").is_file()
    assert types_of(packets).index("artifact_created") < len(packets) - 1
    session.delete()


IDLE_S = 1.5
IDLE = f"{IDLE_S}s"
"""So long that an agent that does say something has said it, on a busy machine too."""


def test_an_agent_that_says_nothing_is_cancelled_and_the_turn_ends_in_one_error(some_hub: NewHub) -> None:
    session = some_hub("--idle-timeout", IDLE).new_session()
    error = end_of(session.say("/silent"))
    assert error["details"]["code"] == "idle_timeout"
    assert text_of(session.say("/echo back")) == "back"


def test_the_clock_of_a_silent_turn_stands_still_while_somebody_is_asked(some_hub: NewHub) -> None:
    idle_s = IDLE_S * crowding()  # what an agent says on a busy machine comes late
    session = some_hub("--idle-timeout", f"{idle_s:g}s").new_session()
    with session.send("/ask") as stream:
        request = stream.until("approval_requested").value["requestId"]
        stream.answer.allow(idle_s + 1)
        with pytest.raises(TimeoutError):
            stream.until("error", "approval_resolved", "prompt_response")  # nothing of the kind comes
        stream.answer.allow(60)
    session.post(f"permissions/{request}", {"decision": "allow"})
    with session.attach() as stream:
        assert stream.until("prompt_response", "error").type == "prompt_response"


@pytest.mark.slow
def test_an_agent_that_ignores_everything_is_killed_and_the_turn_ends_in_one_error(some_hub: NewHub) -> None:
    session = some_hub("--idle-timeout", IDLE).new_session()
    error = end_of(session.say("/deaf", wait_s=40))
    assert error["details"]["code"] == "idle_timeout"
    assert text_of(session.say("/echo back")) == "back"


@pytest.mark.slow
def test_an_agent_that_ignores_cancel_is_killed_by_the_second(hub: HubProcess) -> None:
    session = hub.new_session()
    with session.send("/deaf", wait_s=40) as stream:
        stream.until("user_message_chunk")
        assert session.post("cancel") == {"cancelled": True}
        assert session.post("cancel") == {"cancelled": True}
        assert stream.rest()[-1].value["stopReason"] == "cancelled"
    assert text_of(session.say("/echo back")) == "back"
    session.delete()
