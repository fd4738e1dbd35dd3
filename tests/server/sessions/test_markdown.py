"""A session as markdown for people: everything is told once, and nothing of it can harm who prints it."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trunkline.server.sessions.markdown import DIFF_MOST, OUTPUT_MOST, MarkdownTranscript, fenced


def told(*events: dict[str, Any]) -> str:
    transcript = MarkdownTranscript()
    body = "".join(transcript.render(json.dumps({"seq": seq, "sessionId": "s", "timestamp": "t", **event}).encode())
                   for seq, event in enumerate(events, 1))
    return body + transcript.end()


def delta(text: str, message: str = "m", role: str = "assistant") -> dict[str, Any]:
    return {"type": "message:delta", "messageId": message, "role": role, "delta": text}


def thought(text: str) -> dict[str, Any]:
    return {"type": "thinking:delta", "messageId": "t", "delta": text}


def complete(text: str, message: str = "m", role: str = "assistant") -> dict[str, Any]:
    return {"type": "message:complete", "messageId": message, "role": role, "content": [{"type": "text", "text": text}]}


def executing(name: str = "Bash", call: str = "c", asks: bool = False, **given: Any) -> dict[str, Any]:
    return {"type": "tool:executing", "toolCallId": call, "name": name, "input": given, "riskLevel": "low",
            "requiresApproval": asks, "_meta": {"reading": {"command": given["command"]} if "command" in given else {}}}


def asked(command: str, risk: str) -> dict[str, Any]:
    return {"type": "approval:requested", "requestId": "r", "toolCallId": "c", "toolName": "Bash", "riskLevel": risk,
            "toolInput": {"command": command}, "description": f"Run: {command}", "expiresAt": "2026-01-01T00:00:00.000Z",
            "_meta": {"reading": {"command": command}}}


def result(output: str, name: str = "Bash", call: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": "tool:result", "toolCallId": call, "name": name, "output": output, "duration": 1, **more}


def test_what_was_said_is_told_once_as_it_was_said() -> None:
    text = told(delta("Hello", "u", "user"), complete("Hello", "u", "user"), thought("Hm"), thought("m."),
                {"type": "thinking:complete", "messageId": "t", "content": "Hmm."}, delta("Good "), delta("*day*"),
                complete("Good *day*"))
    assert text == ("\n## You\n\nHello\n\n<details><summary>Thinking</summary>\n\nHmm.\n\n</details>\n\n## Agent\n\nGood *day*\n")


def test_a_message_without_deltas_is_told_by_its_end() -> None:
    picture = {"type": "message:complete", "messageId": "m", "role": "assistant",
               "content": [{"type": "image", "url": "/sessions/s/images/3"}]}
    assert told(complete("All of it")) == "\n## Agent\n\n\nAll of it\n"
    assert "![an image](/sessions/s/images/3)" in told(picture)


def test_something_in_the_middle_of_a_message_neither_loses_nor_doubles_text() -> None:
    text = told(delta("one "), {"type": "session:error", "error": {"code": "x", "message": "oh", "recoverable": True}},
                delta("two"), complete("one two"))
    assert (text.count("one "), text.count("two"), text.count("> **Error**: oh")) == (1, 1, 1)


def test_a_tool_is_told_with_its_input_its_output_and_who_let_it_run() -> None:
    text = told(
        executing(command="npm test", asks=True),
        asked("npm test", "medium"),
        {"type": "approval:resolved", "requestId": "r", "toolCallId": "c", "approved": True, "resolvedBy": "user",
         "reason": "fine", "_meta": {"by": "phone (d1)"}},
        result("ok\n"))
    assert text == ("\n### Tool: Bash\n\n```sh\nnpm test\n```\n\n> **Approval needed** (risk medium): Run: npm test\n"
                    "\n> **Approved** by phone (d1): fine\n\n```\nok\n```\n")


def test_the_command_of_a_call_is_the_one_that_was_read_whatever_its_member_is_called() -> None:
    event = executing("do_steps", steps=[{"run": "make all"}])
    event["_meta"]["reading"]["command"] = "make all"
    assert told(event) == "\n### Tool: do_steps\n\n```sh\nmake all\n```\n"
    assert told(executing("do_steps", steps=[])) == "\n### Tool: do_steps\n\n- steps: `[]`\n"


def test_a_call_that_is_asked_for_while_it_runs_is_told_once() -> None:
    text = told(executing(command="ls"), executing(command="ls", asks=True), asked("ls", "low"))
    assert text.count("### Tool: Bash") == 1


def test_results_of_calls_at_the_same_time_say_whose_they_are() -> None:
    text = told(executing("One", "c1", x=1), executing("Two", "c2", x=2), result("first", "One", "c1"),
                result("second", "Two", "c2"))
    assert "Result of **One**:\n\n```\nfirst" in text and "Result of **Two**" not in text


def test_a_change_is_told_by_its_diff_and_only_once() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    structured = {"type": "file_diff", "path": "x", "diff": diff, "changeType": "modified"}
    text = told(executing("Edit"), result("done", structured=structured),
                {"type": "file:change", "path": "x", "changeType": "modified", "diff": diff, "linesAdded": 1, "linesRemoved": 1})
    assert text.count("+b") == 1 and "```diff\n" in text and "`x` (+1 −1)" in text


def test_several_changes_are_told_one_by_one() -> None:
    changes = [{"path": "a`b", "changeType": "created", "diff": "+x\n", "linesAdded": 1}, {"path": "c", "changeType": "deleted"}]
    text = told({"type": "file:batch", "changes": changes})
    assert "**created** ``a`b`` (+1 −0)\n\n```diff\n+x\n```\n\n**deleted** `c` (+0 −0)" in text


def test_an_input_is_told_by_its_fields_and_none_is_long() -> None:
    text = told(executing("Write", path="a b", content="x\n" * 500, lines=[1, 2]))
    assert "- path: `a b`\n" in text and "- lines: `[1,2]`" in text
    assert "- content: \n\n  ```\n  x\n  x\n" in text, "lines stay lines"
    assert "… (3000 characters)" in told(executing("Write", content="x" * 3_000))
    assert "more characters" in told(executing("Write", content="x\n" * 3_000))


def test_lines_of_questions_errors_and_sub_agents_stay_lines() -> None:
    asked_for = {"type": "interaction:question", "questionId": "q", "question": "Run this?\n\n```sh\nmake a\nmake b\n```"}
    assert "> **Question**: Run this?\n> \n> ```sh\n> make a\n> make b\n> ```" in told(asked_for)
    failed = {"type": "tool:error", "toolCallId": "c1", "name": "Bash",
              "error": {"code": "x", "message": "one\n  two\n", "recoverable": True}}
    assert "**Bash failed**:\n\n```\none\n  two\n```" in told(failed)


def test_what_a_program_said_to_its_terminal_is_left_out_and_its_exit_code_is_told() -> None:
    ended = {"type": "command_output", "exitCode": 1, "stdout": "", "stderr": ""}
    printed = "\x1b]0;title\x07\x1b[31m1 failed\x1b[0m\r\n 9%\r99%\r\r\nend"
    text = told(executing(command="pytest"), result(printed, structured=ended))
    assert text == "\n### Tool: Bash\n\n```sh\npytest\n```\n\n```\n1 failed\n 9%\n99%\nend\n```\n\nExit code: 1\n"
    assert told(executing(command="true"), result("", structured={**ended, "exitCode": 0})).endswith("```\n\nExit code: 0\n")
    assert "Result of **One**:\n\nExit code: 1" in told(executing("One", "c1"), executing("Two", "c2"),
                                                        result("\x1b[0m", "One", "c1", structured=ended))


def test_no_control_character_of_anybody_reaches_who_prints_the_file() -> None:
    hostile = "\x1b[2J\x9b2J\x07\x08"
    text = MarkdownTranscript().head(title=hostile, agent="a", folder=hostile, started="t") + told(
        delta(f"said {hostile}"), executing(command=f"echo {hostile}"), result(hostile),
        {"type": "tool:error", "toolCallId": "c", "name": "Bash",
         "error": {"code": "x", "message": f"oh {hostile}", "recoverable": True}},
        {"type": "file:change", "path": "x", "changeType": "modified", "diff": f"+{hostile}\r\n"})
    assert not set(text) & set(map(chr, (*range(9), 11, 12, *range(14, 32), 127, *range(0x80, 0xA0))))
    assert "said ␛[2J\ufffd2J␇␈" in text and "echo ␛[2J" in text  # nothing that was run is shown as something else


def test_a_todo_list_is_told_when_it_changed_and_not_again_by_the_call_that_brought_it() -> None:
    todos = {"type": "progress:todo_update", "todos": [{"content": "one", "status": "in_progress"}]}
    text = told(executing("Todo", "c1", todos=1), todos, todos, result("[one]", "Todo", "c1"))
    assert text.count("- [~] one") == 1 and "[one]" not in text


def test_questions_todos_sub_agents_and_costs_are_told() -> None:
    text = told(
        {"type": "interaction:question", "questionId": "q", "question": "Which?", "options": ["a", "b"]},
        {"type": "custom", "namespace": "trunkline", "eventName": "question_resolved", "_meta": {"by": "main"},
         "data": {"questionId": "q", "action": "accept", "content": {"x": "a"}}},
        {"type": "progress:todo_update",
         "todos": [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]},
        {"type": "subagent:spawned", "subAgentId": "a", "parentToolCallId": "c", "task": "look"},
        {"type": "git:operation", "operation": {"kind": "commit", "hash": "abc", "message": "m", "filesChanged": 1}},
        {"type": "resource:cost", "delta": {"total": 1, "input": 0, "output": 0, "currency": "USD"},
         "cumulative": {"total": 1.5, "input": 0, "output": 0, "currency": "USD"}},
        {"type": "from-tomorrow", "x": 1})
    for part in ("> **Question**: Which?\n> - a", '> **Answered** (accept) by main: {"x":"a"}', "- [x] one\n- [ ] two",
                 "> **Sub-agent**: look", "> **Git commit**: hash abc", "- Cost: 1.5 USD"):
        assert part in text


def test_long_outputs_are_cut_and_say_so() -> None:
    assert "… 5 more characters" in told(result("x" * (OUTPUT_MOST + 5)))
    long = {"type": "file:change", "path": "x", "changeType": "modified", "diff": "x" * (DIFF_MOST + 7)}
    assert "… 7 more characters" in told(long)


@given(st.text(alphabet="`~a\n ", max_size=60))
def test_no_output_can_end_its_own_fence(text: str) -> None:
    block = fenced(text, "sh")
    fence = block[:block.index("sh")]
    assert set(fence) == {"`"} and fence not in text
    assert block.endswith(f"\n{fence}") and block.startswith(f"{fence}sh\n{text}")


def test_what_is_remembered_does_not_grow_with_what_was_said() -> None:
    transcript = MarkdownTranscript()
    tracemalloc.start()
    for number in range(8_000):
        event = {"type": "message:delta", "messageId": "m", "role": "assistant", "delta": "x" * 50}
        transcript.render(json.dumps({"seq": number, "sessionId": "s", "timestamp": "t", **event}).encode())
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 200_000
