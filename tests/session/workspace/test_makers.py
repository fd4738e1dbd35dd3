"""Whose a new file is, where several sessions work in one folder."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff, ToolCallLocation
from trunkline.session.workspace.makers import PLACES, STILL_RUNS, TICK_NS, Act, Makers, MakingTurn, acts_of

S = 1_000_000_000


def named(word: str, since_s: int = 0, until_s: int = 0) -> Act:
    return Act([word.encode()], since_s * S, until_s * S, False)


def command(word: str, since_s: int, until_s: int) -> Act:
    return Act([word.encode()], since_s * S, until_s * S, True)


def turn(*acts: Act, root: str = "/work", since_ns: int = 0) -> MakingTurn:
    return MakingTurn(root, since_ns, lambda: list(acts))


def running(*turns: MakingTurn) -> Makers:
    makers = Makers()
    for each in turns:
        makers.begin(each)
    return makers


def test_what_only_another_turn_names_is_given_away() -> None:
    one, other = turn(named("write a.txt"), named("both.txt")), turn(named("cat > b.txt"), named("both.txt"))
    claims = running(one, other).claims(one)
    assert [claims.gives_away(f"/work/{name}", S) for name in ("a.txt", "b.txt", "both.txt", "nobody.txt")] == [
        False, True, False, False]


@every_row(("own", "other", "gives_away"), [
    ([], [command("make", 1, 3)], True),
    ([command("make", 1, 3)], [], False),
    ([command("make lint", 0, 1)], [command("make", 1, 3)], True),
    ([command("make", 1, 3)], [command("make too", 1, STILL_RUNS // S)], False),
    ([command("make", 1, 3)], [command("cat a.csv", 4, 5)], False),
    ([command("cat a.csv", 4, 5)], [command("make", 1, 3)], True),
    ([command("make", 1, 3)], [named("a.csv", 2, 2)], True),
    ([command("make", 1, 3)], [named("a.csv", 1, 3)], True),
    ([command("make > a.csv", 1, 3)], [named("a.csv", 4, 5)], False),
])
def test_what_ran_when_a_file_was_written_tells_whose_it_is(own: list[Act], other: list[Act], gives_away: bool) -> None:
    one = turn(*own)
    assert running(one, turn(*other)).claims(one).gives_away("/work/a.csv", 2 * S) is gives_away


def test_a_file_may_be_stamped_a_tick_before_the_command_that_made_it() -> None:
    act = command("make", 1, 3)
    assert (act.claim(b"z", S - TICK_NS), act.claim(b"z", S - TICK_NS - 1)) == (2, 0)


def test_a_turn_in_a_folder_elsewhere_says_nothing() -> None:
    one = turn()
    assert not running(one, turn(named("b.txt"), root="/elsewhere")).claims(one).gives_away("/work/b.txt", 0)
    assert not running(one, turn(named("b.txt"), root="/work2")).claims(one).gives_away("/work/b.txt", 0)
    assert running(one, turn(named("b.txt"), root="/work/deep")).claims(one).gives_away("/work/deep/b.txt", 0)
    assert running(one, turn(named("b.txt"), root="/")).claims(one).gives_away("/work/b.txt", 0)


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


def test_who_made_something_since_is_remembered_by_folder() -> None:
    makers = Makers()
    makers.made("one", "/work", 5)
    assert makers.others_made("two", "/work", 5) and makers.others_made("two", "/work/deep", 5)
    assert not makers.others_made("one", "/work", 5)
    assert not makers.others_made("two", "/work", 6)
    assert not makers.others_made("two", "/elsewhere", 5)


def test_of_more_folders_than_are_remembered_anybody_may_have_made_something_there() -> None:
    makers = Makers()
    makers.made("one", "/work", 5)
    for number in range(PLACES):
        makers.made("one", f"/place/{number}", 10 + number)
    assert len(makers._made) == PLACES
    assert makers.others_made("two", "/work", 5)
    assert not makers.others_made("two", "/work", 10)


def test_a_call_says_what_it_does_in_its_title_its_input_its_places_and_its_changes() -> None:
    call = CallState(tool_call_id="c", title="Write", raw_input=b'{"path":"a"}', raw_output=b"every name", kind="edit",
                     locations=[ToolCallLocation(path="/b")], content=[Diff(path="/c", new_text="x")])
    assert acts_of([call], lambda call: (1, 2)) == [Act([b"Write", b"/b", b"/c", b'{"path":"a"}'], 1, 2, False)]


def test_a_command_may_make_anything_and_what_only_looks_makes_nothing() -> None:
    calls = [CallState(tool_call_id=kind, kind=kind) for kind in ("execute", "other", "move", "read", "search")]
    assert [act.makes_any for act in acts_of(calls, lambda call: (0, 0))] == [True, True, False]
