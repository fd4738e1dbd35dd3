"""Lines that differ in their text only: found by what stands around it, and nothing else passes for one."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.session.driver.acp.usual_line import LINE_MOST, UsualLine, UsualLines, usual_line

UPDATE = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}'
LINE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":' + UPDATE + b"}}\n"


class Taker:
    """Takes what it is given."""

    def __init__(self) -> None:
        self.taken: list[tuple[bytes, bytes]] = []

    def take(self, token: bytes, update: bytes) -> bool:
        self.taken.append((token, update))
        return True


def learnt() -> tuple[UsualLine, Taker]:
    taker = Taker()
    line = usual_line(LINE, UPDATE, b'"a"', taker.take)
    assert line is not None
    return line, taker


def test_the_same_line_with_another_text_is_taken_with_its_update() -> None:
    line, taker = learnt()
    assert line.take(LINE.replace(b'"a"', rb'"b\n\u00e9"'))
    assert taker.taken == [(rb'"b\n\u00e9"', UPDATE.replace(b'"a"', rb'"b\n\u00e9"'))]


NOT_SO_PLAIN = {
    "two lines": LINE * 2,
    "half a line": LINE[:-5],
    "no newline yet": LINE[:-1],
    "another session": LINE.replace(b'"s"', b'"t"'),
    "more behind the text": LINE.replace(b'"a"', b'"a","annotations":null'),
    "a member within": LINE.replace(b'"a"', b'"a","text":"b"'),
    "no string": LINE.replace(b'"a"', b"7"),
    "one quote for both": LINE.replace(b'"a"', b'"'),
    "an escaped end": LINE.replace(b'"a"', b'"a\\"'),
    "a line break within": LINE.replace(b'"a"', b'"a\nb"'),
    "no UTF-8": LINE.replace(b'"a"', b'"\xff"'),
    "half a surrogate pair": LINE.replace(b'"a"', rb'"\ud800"'),
    "a long text": LINE.replace(b'"a"', b'"' + b"x" * LINE_MOST + b'"'),
}


@every_row("data", NOT_SO_PLAIN.values())
def test_anything_else_is_read_by_the_common_way(data: bytes) -> None:
    line, taker = learnt()
    assert not line.take(data) and not taker.taken


@every_row(("line", "update", "token"), [
    (LINE.replace(b'"a"', b'"text"'), UPDATE.replace(b'"a"', b'"text"'), b'"text"'),  # the text stands there twice
    (LINE.replace(b'"s",', b'"s","old":' + UPDATE + b","), UPDATE, b'"a"'),  # the update does
    (LINE * 2, UPDATE, b'"a"'),
    (LINE[20:], UPDATE.replace(b"a", b"b"), b'"b"'),  # the update is in what was read before
    (LINE[:-1], UPDATE, b'"a"'),
    (LINE.replace(b'"a"', b'":"'), UPDATE.replace(b'"a"', b'":"'), b'":"'),  # twice, and the two overlap
])
def test_nothing_is_learnt_where_it_is_not_clear_where_the_text_stands(line: bytes, update: bytes, token: bytes) -> None:
    assert usual_line(line, update, token, Taker().take) is None


def test_lines_that_never_come_twice_in_one_shape_are_learnt_less_and_less() -> None:
    usual, learnings = UsualLines(), 0
    for _ in range(1000):
        if usual.is_worth_it():
            usual.line, _taker = learnt()
            learnings += 1
        usual.end()
    assert learnings < 30


def test_a_shape_that_was_met_again_is_learnt_at_once_the_next_time() -> None:
    usual = UsualLines()
    for _ in range(3):
        while not usual.is_worth_it():
            pass
        usual.line, _taker = learnt()
        usual.end()
    assert not usual.is_worth_it()
    usual.line, _taker = learnt()
    assert usual.line.take(LINE)
    usual.end()
    assert usual.is_worth_it()
