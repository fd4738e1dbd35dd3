"""Which of what waits is meant."""

from __future__ import annotations

import pytest

from trunkline.cli.waiting import Kind, check_was_seen, line_of, the_one
from trunkline.client import ApprovalView, PendingAsk, QuestionView
from trunkline.errors import Invalid, NotFound

ASKS = [PendingAsk(session_id="ses_1", approval=ApprovalView(request_id="req_a")),
        PendingAsk(session_id="ses_2", approval=ApprovalView(request_id="req_b"))]

QUESTIONS = [PendingAsk(session_id="ses_3", question=QuestionView(question_id="req_c"))]


def test_what_waits_is_named_by_its_own_id_or_its_sessions() -> None:
    assert the_one(ASKS, "approval", "req_b") is the_one(ASKS, "approval", "ses_2") is the_one(ASKS, "approval", "2") is ASKS[1]
    with pytest.raises(Invalid, match="2 wait; name one of them"):
        the_one(ASKS, "approval", None)
    with pytest.raises(NotFound, match="did you mean req_b"):
        the_one(ASKS, "approval", "rq_b")


def test_an_empty_name_is_nothings() -> None:
    cases: list[tuple[Kind, list[PendingAsk]]] = [("approval", ASKS[:1]), ("question", QUESTIONS)]
    for kind, asks in cases:
        with pytest.raises(Invalid, match="the id is empty"):
            the_one(asks, kind, "")


def test_where_only_something_else_waits_that_is_told() -> None:
    with pytest.raises(NotFound, match="no approval waits for anybody; a question does: trunkline answer"):
        the_one(QUESTIONS, "approval", None)
    with pytest.raises(NotFound, match="no question waits for anybody; an approval does"):
        the_one(ASKS, "question", None)
    with pytest.raises(NotFound, match=r"no question waits for anybody$"):
        the_one([], "question", None)


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


def test_a_line_of_what_waits_has_the_tool_and_why_it_is_not_sure() -> None:
    approval = ApprovalView(request_id="r", tool_name="mcp__db__drop", title="Read the docs", doubts=["a member"],
                            description='mcp__db__drop, titled "Read the docs"')
    ask = PendingAsk(session_id="s", approval=approval)
    assert line_of(ask) == 'r  s  mcp__db__drop, titled "Read the docs" (not sure: a member)'
    ask = PendingAsk(session_id="s", approval=ApprovalView(request_id="r", tool_name="bash", description="Run: make"))
    assert line_of(ask) == "r  s  Run: make"
