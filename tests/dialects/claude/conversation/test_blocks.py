"""Which of an answer's blocks a whole text is: known by its text, and nothing is told twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from tests.tooling.rows import every_row

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@every_row(("pieces", "whole", "told"), [
    (["", "hello"], ["hello"], "hello"),
    (["", "hello"], ["", "hello"], "hello"),
    (["a", "", "b"], ["a", "b"], "ab"),
    (["x", "x"], ["x", "x"], "xx"),
    (["\n\nhi"], ["hi there"], "\n\nhi there"),
    (["\n\nhi\n"], ["hi"], "\n\nhi\n"),
    (["\n\n"], ["hi"], "\n\nhi"),
    (["one"], ["two"], "onetwo"),
    (["one"], ["one", "two"], "onetwo"),
    ([""], ["whole"], "whole"),
])
def test_a_whole_text_is_known_by_what_its_block_said(pieces: list[str], whole: list[str], told: str) -> None:
    lines = [line for index, piece in enumerate(pieces) for line in (f.block(index), f.say(index, piece))]
    heard = f.hear(translator(), f.begin("m"), lines, [f.whole("m", f.text(each)) for each in whole], f.stop())
    assert f.said(heard) == told


def test_silent_blocks_before_a_text_do_not_make_a_second_attempt_speak_twice() -> None:
    attempt = [f.block(0), f.block(1, "thinking", thinking="", signature=""), f.block(2)]
    told = f.hear(translator(), f.begin("m1"), attempt, f.say(2, "Hello wo"), f.begin("m2"), attempt, f.say(2, "Hello world"),
                  f.whole("m2", f.text("Hello world")), f.stop())
    assert f.said(told) == "Hello world"


@given(st.lists(st.text("ab \n", max_size=4), max_size=5), st.data())
def test_however_blocks_are_cut_into_pieces_and_frames_each_is_told_once(texts: list[str], data: st.DataObject) -> None:
    """Blocks in pieces, the last of them perhaps not to its end; whole ones behind each or in the end, silent ones or not."""
    lines, late = [f.begin("m")], []
    for index, text in enumerate(texts):
        until = data.draw(st.integers(0, len(text))) if index == len(texts) - 1 else len(text)
        cuts = sorted(data.draw(st.lists(st.integers(0, until), max_size=3)))
        lines.append(f.block(index))
        lines += [f.say(index, text[start:end]) for start, end in zip([0, *cuts], [*cuts, until], strict=True)]
        if text or data.draw(st.booleans()):
            late.append(f.text(text))
        if data.draw(st.booleans()):
            lines.append(f.whole("m", *late))
            late = []
    lines += [f.whole("m", *late), *f.stop()]
    assert f.said(f.hear(translator(), lines)) == "".join(texts)
