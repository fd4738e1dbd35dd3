"""Every slash prompt does what the table says."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.agents.demo.client import Json, calls_of, demo, text_of, update_of
from tests.aio import WITHIN_S
from trunkline.agents.demo import DEMO_PROMPTS, REJECTED
from trunkline.agents.demo.scripts import SCRIPTS

END = {"stopReason": "end_turn"}


def test_every_documented_prompt_is_there_and_every_prompt_is_documented() -> None:
    assert set(SCRIPTS) == {prompt.name for prompt in DEMO_PROMPTS}


def test_what_the_table_says_needs_no_glossary() -> None:
    inner = re.compile(r"\b(?:artifacts?|hubs?|polic(?:y|ies)|turns?)\b")
    assert [prompt.does for prompt in DEMO_PROMPTS if inner.search(prompt.does)] == []


@pytest.mark.parametrize("text", ["/help", "/no-such-prompt"])
def test_help_and_an_unknown_prompt_show_the_table(tmp_path: Path, text: str) -> None:
    with demo(tmp_path) as client:
        answer, updates = client.prompt(client.open(), text)
        assert answer["result"] == END
        for prompt in DEMO_PROMPTS:
            assert f"`/{prompt.name}" in text_of(updates)


@pytest.mark.parametrize("text", ["hello", "ünïcödé €𝄞", 'quo"te\\', "lone \ud800 surrogate"])
def test_echo_is_one_chunk(tmp_path: Path, text: str) -> None:
    with demo(tmp_path) as client:
        _, updates = client.prompt(client.open(), f"/echo {text}")
        assert [update["content"]["text"] for update in updates] == [text]


@pytest.mark.parametrize(("count", "size"), [(0, 10), (1, 0), (3, 1), (1500, 250), (20000, 20)])
def test_a_burst_is_exactly_n_numbered_chunks_of_size_and_nothing_else(tmp_path: Path, count: int, size: int) -> None:
    with demo(tmp_path) as client:
        session = client.open("session/load", sessionId="100% odd %d id")
        client.is_strict = count < 100
        answer, updates = client.prompt(session, f"/burst {count} {size}")
        assert answer["result"] == END
        assert {update["sessionUpdate"] for update in updates} <= {"agent_message_chunk"}
        texts = [update["content"]["text"] for update in updates]
        digits = min(8, size)
        assert texts == [(f"{i % 10**digits:0{digits}d}" if digits else "") + "x" * (size - digits) for i in range(count)]


def test_a_burst_can_keep_a_rate(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        began = time.monotonic()
        _, updates = client.prompt(session, "/burst 50 10 100")
        assert len(updates) == 50
        assert time.monotonic() - began >= 0.49


def test_slow_is_a_chunk_a_second(tmp_path: Path) -> None:
    with demo(tmp_path, "--fast") as client:
        session = client.open()
        began = time.monotonic()
        _, updates = client.prompt(session, "/slow 1")
        assert text_of(updates) == "1 "
        assert time.monotonic() - began >= 1


def test_ask_can_have_several_permissions_open_at_once(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        running = client.begin_prompt(client.open(), "/ask 3")
        asks = [client.until(lambda message: message.get("method") == "session/request_permission") for _ in range(3)]
        assert len({ask["params"]["toolCall"]["toolCallId"] for ask in asks}) == 3
        kinds = [option["kind"] for option in asks[0]["params"]["options"]]
        assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]
        for ask in reversed(asks):
            client.send({"id": ask["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow-once"}}})
        assert client.answer_to(running)["result"] == END
        outputs = [call[-1]["rawOutput"]["output"] for call in calls_of([update_of(m) for m in client.messages])]
        assert outputs == [f"permission {number} was given\n" for number in (1, 2, 3)]


def test_a_client_that_cannot_ask_counts_as_no(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        running = client.begin_prompt(client.open(), "/ask")
        ask = client.until(lambda message: message.get("method") == "session/request_permission")
        client.send({"id": ask["id"], "error": {"code": -32603, "message": "no screen"}})
        assert client.answer_to(running)["result"] == END
        assert calls_of([update_of(m) for m in client.messages])[0][-1]["rawOutput"] == {"error": REJECTED}


def test_a_question_is_asked_only_of_a_client_that_can_show_it(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert "cannot show" in text_of(client.prompt(session, "/question")[1])
        assert "cannot show" in text_of(client.prompt(session, "/question url")[1])


@pytest.mark.parametrize(
    "answer", [{"action": "accept", "content": {"name": "Ada"}}, {"action": "decline"}, {"action": "cancel"}]
)
def test_a_question_shows_its_answer(tmp_path: Path, answer: Json) -> None:
    with demo(tmp_path, capabilities={"elicitation": {"form": {}, "url": {}}}) as client:
        client.replies["elicitation/create"] = lambda params: answer
        session = client.open()
        for prompt in ("/question", "/question url"):
            _, updates = client.prompt(session, prompt)
            assert str(answer["action"]) in text_of(updates)


def test_fail_shows_a_failed_and_a_rejected_call(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        answer, updates = client.prompt(client.open(), "/fail")
        failed, rejected = calls_of(updates)
        assert failed[-1]["status"] == rejected[-1]["status"] == "failed"
        assert failed[-1]["rawOutput"]["error"].startswith("Error: File not found: ")
        assert rejected[-1]["rawOutput"] == {"error": REJECTED}
        assert answer["result"] == END


@pytest.mark.parametrize(("text", "code"), [("/crash", 1), ("/crash 7", 7)])
def test_crash_exits_in_the_middle_of_the_turn(tmp_path: Path, text: str, code: int) -> None:
    with demo(tmp_path) as client:
        running = client.begin_prompt(client.open(), text)
        client.until(lambda message: update_of(message).get("status") == "in_progress")
        assert client.process.wait(WITHIN_S) == code
        assert client.process.stderr and b"crashing" in client.process.stderr.read()
        assert running not in [message.get("id") for message in client.messages]


def test_deaf_ignores_cancel_end_of_input_and_sigterm(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session, other = client.open(), client.open()
        client.begin_prompt(session, "/deaf")
        client.until(lambda message: "deaf" in text_of([update_of(message)]))
        client.cancel(session)
        os.kill(client.process.pid, signal.SIGTERM)
        assert text_of(client.prompt(other, "/echo still there")[1]) == "still there"
        assert client.process.stdin
        client.process.stdin.close()
        with pytest.raises(Exception, match="timed out"):
            client.process.wait(0.3)


def test_junk_is_survivable_noise_between_good_messages(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        client.is_strict = False
        running = client.begin_prompt(session, "/junk")
        unknown = client.until(lambda message: message.get("method") == "demo/no_such_request")
        client.send({"id": unknown["id"], "error": {"code": -32601, "message": "no"}})
        assert client.answer_to(running)["result"] == END
        kinds = [update_of(message).get("sessionUpdate") for message in client.messages]
        assert kinds.count("agent_message_chunk") == 12
        assert "demo_unknown_update" in kinds
        assert any(b"\xff" in line for line in client.junk)
        assert any(line.startswith(b"[") for line in client.junk)
        assert any(line.startswith(b"Debugger") for line in client.junk)
        assert any(line.endswith(b"session/upd") for line in client.junk)


@pytest.mark.parametrize("size", [0, 1, 100_000, 5_000_000])
def test_big_is_one_result_of_that_size(tmp_path: Path, size: int) -> None:
    with demo(tmp_path) as client:
        _, updates = client.prompt(client.open(), f"/big {size}")
        (call,) = calls_of(updates)
        assert len(call[-1]["rawOutput"]["output"]) == size
        assert call[-1]["status"] == "completed"


def test_late_goes_on_after_the_answer(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        _, before = client.prompt(session, "/late")
        assert text_of(before) == "Before the answer. "
        after = [update_of(client.next()) for _ in range(4)]
        kinds = [update["sessionUpdate"] for update in after]
        assert kinds == ["agent_message_chunk", "tool_call_update", "session_info_update", "usage_update"]
        assert text_of(client.prompt(session, "/echo next")[1]) == "next"


def test_twice_answers_twice(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        answer, _ = client.prompt(client.open(), "/twice")
        again = client.next()
        assert again["id"] == answer["id"]
        assert [answer["result"]["stopReason"], again["result"]["stopReason"]] == ["end_turn", "max_tokens"]


def test_refuse_and_error_end_the_turn_their_way(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert client.prompt(session, "/refuse")[0]["result"] == {"stopReason": "refusal"}
        assert client.prompt(session, "/error")[0]["error"]["code"] == -32603
        assert client.prompt(session, "/error -32000")[0]["error"]["code"] == -32000


@pytest.mark.parametrize("text", ["/burst", "/burst x 1", "/burst 1", "/burst -1 5", "/slow", "/big many", "/ask x"])
def test_bad_arguments_are_invalid_params(tmp_path: Path, text: str) -> None:
    with demo(tmp_path) as client:
        assert client.prompt(client.open(), text)[0]["error"]["code"] == -32602


def test_spawn_leaves_a_process_in_a_session_of_its_own(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        _, updates = client.prompt(client.open(), "/spawn")
        pid = int(text_of(updates).rpartition(" ")[2])
        try:
            assert os.getsid(pid) == pid
            assert client.end() == 0
        finally:
            os.kill(pid, signal.SIGKILL)


def test_stderr_is_written(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        client.prompt(client.open(), "/stderr 1000")
        client.end()
        assert client.process.stderr and len(client.process.stderr.read()) == 1000


def test_files_of_the_client_are_read_and_written_where_it_offers_them(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        assert "does not read" in text_of(client.prompt(session, "/read a.txt")[1])
        assert "does not write" in text_of(client.prompt(session, "/write a.txt hi")[1])
    with demo(tmp_path, capabilities={"fs": {"readTextFile": True, "writeTextFile": True}}) as client:
        written: dict[str, str] = {}
        client.replies["fs/write_text_file"] = lambda params: written.update({params["path"]: params["content"]}) or {}
        client.replies["fs/read_text_file"] = lambda params: {"content": f"text of {params['path']}"}
        session = client.open()
        assert text_of(client.prompt(session, "/write a.txt hi there")[1]) == "Written."
        assert written == {str(tmp_path / "a.txt"): "hi there"}
        assert text_of(client.prompt(session, "/read /elsewhere/b.txt")[1]) == "text of /elsewhere/b.txt"


def test_a_refusal_of_the_client_is_shown(tmp_path: Path) -> None:
    with demo(tmp_path, capabilities={"fs": {"readTextFile": True}}) as client:
        running = client.begin_prompt(client.open(), "/read /etc/passwd")
        ask = client.until(lambda message: message.get("method") == "fs/read_text_file")
        client.send({"id": ask["id"], "error": {"code": -32602, "message": "outside"}})
        client.answer_to(running)
        assert text_of([update_of(m) for m in client.messages]) == "Refused: outside (-32602)"


def test_a_terminal_of_the_client_runs_a_command(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        assert "no terminals" in text_of(client.prompt(client.open(), "/terminal ls")[1])
    with demo(tmp_path, capabilities={"terminal": True}) as client:
        client.replies["terminal/create"] = lambda params: {"terminalId": f"t-{params['args'][1]}"}
        client.replies["terminal/wait_for_exit"] = lambda params: {"exitCode": 0}
        client.replies["terminal/output"] = lambda params: {"output": params["terminalId"], "truncated": False}
        client.replies["terminal/release"] = lambda params: {}
        _, updates = client.prompt(client.open(), "/terminal ls -l")
        (call,) = calls_of(updates)
        assert call[-1]["content"] == [{"type": "terminal", "terminalId": "t-ls -l"}]
        assert call[-1]["rawOutput"]["metadata"]["exit"] == 0
        assert text_of(updates) == "t-ls -l"
        released = [m for m in client.messages if m.get("method") == "terminal/release"]
        assert len(released) == 1


def test_raw_sends_an_update_as_given(tmp_path: Path) -> None:
    with demo(tmp_path) as client:
        session = client.open()
        client.is_strict = False
        _, updates = client.prompt(session, '/raw {"sessionUpdate":"tomorrow",\n"n": 1.50}')
        assert updates == [{"sessionUpdate": "tomorrow", "n": 1.5}]
