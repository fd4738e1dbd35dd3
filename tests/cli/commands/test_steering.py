"""``send``, ``tail``, ``approve``, ``deny``, ``answer``, ``open``, ``completion``: a session from elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.aio import run
from tests.cli.conftest import Place
from tests.tooling.processes import eventually
from tests.tooling.wire import Wire
from trunkline.cli.commands.answer import filled_in
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.naming import meant
from trunkline.cli.waiting import check_was_seen, line_of, the_one
from trunkline.client import ApprovalView, PendingAsk, QuestionView
from trunkline.errors import Invalid, NotFound


def begun(place: Place, prompt: str | None = None) -> str:
    """A session with the demo agent, which may have a prompt already."""

    async def begin() -> str:
        settings = place.settings()
        async with connected(await find_or_start(settings), settings) as hub:
            return (await hub.create_session("demo", str(place.work), prompt=prompt)).id

    return run(begin())


def state(place: Place, session_id: str) -> dict[str, Any]:
    view = json.loads(place.call_here("sessions", "show", session_id, "--json").stdout)
    assert isinstance(view, dict)
    return view


def wait_for(place: Place, session_id: str, key: str) -> None:
    eventually(lambda: bool(state(place, session_id)[key]), f"{key} is there", 20)


def test_send_gives_a_session_a_prompt_and_wait_prints_the_answer(shared: Place) -> None:
    session = begun(shared)
    done = shared.call("send", session[:12], "/echo hello", "--wait")
    assert (done.returncode, done.stdout) == (0, b"hello\n"), done.stderr
    assert shared.call("send", session, "/refuse", "--wait").returncode == 3
    sent = shared.call("send", session.removeprefix("ses_"), "-", stdin=b"/slow 60")
    assert sent.stdout.decode() == f"sent to {session}\n"
    assert shared.call("send", session, "/echo later").stdout.decode() == f"queued in {session}\n"


def test_tail_is_the_short_name_of_sessions_tail(shared: Place) -> None:
    session = begun(shared, "/echo to be seen")
    wait_for(shared, session, "lastText")
    assert b"to be seen" in shared.call("tail", session, "--no-follow", "--after", "0").stdout


def test_the_only_request_that_waits_is_approved_or_denied_without_naming_it(place: Place) -> None:
    place.serve()
    nothing = place.call("approve")
    assert (nothing.returncode, nothing.stderr) == (1, b"trunkline: no approval waits for anybody\n")
    session = begun(place, "/ask")
    wait_for(place, session, "pendingApprovals")
    assert place.call("approve").stdout.startswith(b"approved req_")
    eventually(lambda: "allow-once" in state(place, session)["lastText"], "the agent was told", 20)
    place.call("send", session, "/ask")
    wait_for(place, session, "pendingApprovals")
    assert place.call("deny", session[:14], "--reason", "not today").stdout.startswith(b"denied req_")
    eventually(lambda: "reject-once" in state(place, session)["lastText"], "the agent was told", 20)


def test_where_several_wait_they_are_listed_and_nothing_is_decided(place: Place) -> None:
    place.serve()
    session = begun(place, "/ask 2")
    eventually(lambda: len(state(place, session)["pendingApprovals"]) == 2, "both wait", 20)
    refused = place.call("approve", session)
    assert refused.returncode == 2
    ids = re.findall(r"req_\w+", refused.stderr.decode())
    assert len(set(ids)) == 2
    assert len(state(place, session)["pendingApprovals"]) == 2
    assert place.call("approve", ids[1]).returncode == 0
    eventually(lambda: [each["requestId"] for each in state(place, session)["pendingApprovals"]] == [ids[0]], "one is left", 20)


def test_a_question_is_answered_by_its_fields_or_declined(place: Place) -> None:
    place.serve()
    session = begun(place, "/question")
    wait_for(place, session, "pendingQuestions")
    wrong = place.call("answer", "-", "nme=Ada")
    assert wrong.returncode == 2 and b"the fields are name, colour, steps, sure" in wrong.stderr
    assert b"name: an answer is needed" in place.call("answer", "-", "steps=4").stderr
    assert place.call("answer", session, "name=Ada", "colour=1", "steps=4").stdout.startswith(b"answered ")
    eventually(lambda: '"Ada"' in state(place, session)["lastText"], "the agent has it", 20)
    place.call("send", session, "/question")
    wait_for(place, session, "pendingQuestions")
    assert place.call("answer", "-", "--decline").stdout.startswith(b"declined ")


@pytest.mark.parametrize("command", ["approve", "deny", "answer"])
def test_without_a_hub_nothing_waits_and_none_is_started(place: Place, command: str) -> None:
    done = place.call(command, *(["-"] if command == "answer" else []))
    assert done.returncode == 1 and b"no hub is running" in done.stderr
    assert place.data.holder() is None


@pytest.mark.parametrize("words", [("sessions", "--json"), ("pair", "--json"), ("open", "--print")])
def test_who_starts_a_hub_says_so_on_stderr(place: Place, words: tuple[str, ...]) -> None:
    first, second = place.call(*words), place.call(*words)
    assert first.returncode == 0, first.stderr
    assert re.search(rb"no hub was running: started one in the background at http://\S+;", first.stderr)
    assert b"no hub was running" not in first.stdout + second.stderr


def test_open_prints_a_link_that_logs_in_and_leads_to_a_session(shared: Place) -> None:
    session = begun(shared)
    env = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SSH_CONNECTION": ""}
    link = shared.call("open", "--print", env=env).stdout.decode().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#code=[\w-]{32}", link)
    there = shared.call("open", session[:14], env=env).stdout.decode().strip()
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/#code=[\w-]{{32}}&to=/s/{session}", there)
    tunnel = shared.call("open", "--print", env={**env, "SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"})
    assert b"ssh -L " in tunnel.stderr and b"ssh" not in tunnel.stdout


def test_open_gives_who_may_not_let_others_in_the_address_of_a_session(shared: Place) -> None:
    session, settings = begun(shared), shared.settings()
    url = run(find_or_start(settings)).url
    wire = Wire(urlsplit(url).hostname or "", urlsplit(url).port or 0, (shared.data.path / "token").read_text().strip())
    token = wire.post("/auth/tokens", {"name": "a program", "scope": "control"}, 201)["secret"]
    done = shared.call("open", session, "--print", "--url", url, env={"TRUNKLINE_TOKEN": token, "SSH_CONNECTION": ""})
    assert (done.stdout.decode(), done.stderr) == (f"{url}/#/s/{session}\n", b"")


def test_what_is_mistyped_is_answered_with_what_may_have_been_meant(shared: Place) -> None:
    assert b"Did you mean sessions" in shared.call("sesions").stderr
    assert b"Did you mean delete?" in shared.call("sessions", "delte", "x").stderr
    session = begun(shared)
    wrong = session[:-1] + ("0" if session[-1] != "0" else "1")
    told = shared.call("tail", wrong)
    assert told.returncode == 1 and session.encode() in told.stderr
    assert meant("zzz", ["demo"]) == ""


def completed(shared: Place, *words: str) -> list[str]:
    """What bash gets to choose from."""
    env = {**os.environ, "_TRUNKLINE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["trunkline", *words]),
           "COMP_CWORD": str(len(words)), "TRUNKLINE_DATA": str(shared.data.path)}
    done = subprocess.run([sys.executable, "-m", "trunkline"], env=env, capture_output=True, text=True, check=True, timeout=30)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    done = subprocess.run([sys.executable, "-m", "trunkline", "completion", shell], capture_output=True, text=True, check=True)
    assert "_TRUNKLINE_COMPLETE" in done.stdout and "trunkline" in done.stdout


def test_commands_agents_sessions_and_flags_are_completed(shared: Place) -> None:
    session = begun(shared)
    assert completed(shared, "app") == ["approve"]
    assert "demo" in completed(shared, "run", "de")
    assert session in completed(shared, "tail", "ses_")
    assert session in completed(shared, "chat", session[:10])
    assert "--reason" in completed(shared, "deny", "--re")


def test_completing_never_starts_a_hub(place: Place) -> None:
    assert completed(place, "tail", "ses_") == []
    assert place.data.holder() is None


ASKS = [PendingAsk(session_id="ses_1", approval=ApprovalView(request_id="req_a")),
        PendingAsk(session_id="ses_2", approval=ApprovalView(request_id="req_b"))]


def test_what_waits_is_named_by_its_own_id_or_its_sessions() -> None:
    assert the_one(ASKS, "approval", "req_b") is the_one(ASKS, "approval", "ses_2") is the_one(ASKS, "approval", "2") is ASKS[1]
    with pytest.raises(Invalid, match="2 wait; name one of them"):
        the_one(ASKS, "approval", None)
    with pytest.raises(NotFound, match="did you mean req_b"):
        the_one(ASKS, "approval", "rq_b")


def test_a_question_with_one_field_takes_its_value_alone() -> None:
    assert filled_in(QuestionView(question_id="q", options=["red", "blue"]), ["2"]) == {"answer": "blue"}
    assert filled_in(QuestionView(question_id="q"), ["answer=x=y"]) == {"answer": "x=y"}
    assert filled_in(QuestionView(question_id="q", url="https://example.com"), []) is None


def test_what_was_asked_anew_is_approved_by_its_whole_id_alone() -> None:
    ask = PendingAsk(session_id="ses_1", approval=ApprovalView(request_id="req_a-2", description="Run: touch other"))
    for name in (None, "req_a", "req_a-", "ses_1", "1"):
        assert the_one([ask], "approval", name) is ask
        with pytest.raises(Invalid, match=r"changed while it waited(?s:.*)req_a-2  ses_1  Run: touch other"):
            check_was_seen(ask, name)
    check_was_seen(ask, "req_a-2")


def test_a_line_of_what_waits_hides_nothing_and_says_where_it_is_cut() -> None:
    about = "Run: touch a\x1b]0;; touch b\x07"
    ask = PendingAsk(session_id="ses_1", approval=ApprovalView(request_id="req_a", description=about + "\ntouch c" + "x" * 100))
    assert "touch a␛]0;; touch b␇ ⏎ touch c" in line_of(ask) and line_of(ask).endswith("x…")
