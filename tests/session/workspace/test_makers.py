"""Whose a new file is, where several turns run in one folder."""

from __future__ import annotations

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff, ToolCallLocation
from trunkline.session.workspace.makers import Makers, MakingTurn, words_of


def turn(*words: str, root: str = "/work", since_ns: int = 0) -> MakingTurn:
    return MakingTurn(root, since_ns, lambda: [word.encode() for word in words])


def running(*turns: MakingTurn) -> Makers:
    makers = Makers()
    for each in turns:
        makers.begin(each)
    return makers


def test_what_only_another_turn_names_is_given_away() -> None:
    one, other = turn("write a.txt", "both.txt"), turn("cat > b.txt", "both.txt")
    claims = running(one, other).claims(one)
    assert [claims.gives_away(f"/work/{name}") for name in ("a.txt", "b.txt", "both.txt", "nobody.txt")] == [
        False, True, False, False]


def test_a_turn_in_a_folder_elsewhere_says_nothing() -> None:
    one = turn()
    assert not running(one, turn("b.txt", root="/elsewhere")).claims(one).gives_away("/work/b.txt")
    assert running(one, turn("b.txt", root="/work/deep")).claims(one).gives_away("/work/deep/b.txt")


def test_what_nobody_names_is_of_the_turn_that_takes_it_first() -> None:
    one, other = turn(), turn()
    makers = running(one, other)
    assert makers.take(one, "/work/a", 5) and makers.take(one, "/work/a", 6)
    assert not makers.take(other, "/work/a", 7)


def test_what_was_taken_before_a_turn_began_can_be_made_anew_by_it() -> None:
    one, longest = turn(), turn()
    makers = running(one, longest)
    assert makers.take(one, "/work/a", 5)
    makers.end(one)
    assert not makers.take(longest, "/work/a", 6)
    later = turn(since_ns=10)
    makers.begin(later)
    assert makers.take(later, "/work/a", 11)


def test_nothing_is_remembered_when_nobody_runs() -> None:
    one, other = turn(), turn()
    makers = running(one, other)
    makers.take(one, "/work/a", 5)
    makers.end(one)
    makers.end(other)
    assert makers._taken == {}


def test_a_call_says_what_it_does_in_its_title_its_input_its_places_and_its_changes() -> None:
    call = CallState(tool_call_id="c", title="Write", raw_input=b'{"path":"a"}', raw_output=b"every name",
                     locations=[ToolCallLocation(path="/b")], content=[Diff(path="/c", new_text="x")])
    assert words_of([call]) == [b"Write", b"/b", b"/c", b'{"path":"a"}']
