"""The index follows its journal: what is there is found, what is gone is not, and a lost index comes back by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.journal.samples import row
from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import Event, MessageCompleteEvent, ToolCallExecutingEvent, ToolCallStartEvent
from trunkline.dialects.context.types import to_raw
from trunkline.dialects.context.unions import TextPart
from trunkline.errors import HubStopping, Invalid, StorageError, Unavailable
from trunkline.journal.base import Entry, Group, Journal
from trunkline.journal.search import FoundText, SearchIndex, index_file
from trunkline.journal.search.index_file import remove
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.journal.stores.sqlite.store import SqliteJournal

AT = 1_700_000_000_000_000


class Book:
    """A journal and its index, written to by session and told by what was found."""

    def __init__(self, journal: Journal, path: Path | None) -> None:
        self.journal = journal
        self.index = SearchIndex(journal, path)
        self._seq: dict[str, int] = {}

    async def tell(self, session: str, *events: Event, title: str = "A title") -> None:
        """Commit events of a session."""
        entries = []
        for event in events:
            seq = self._seq[session] = self._seq.get(session, 0) + 1
            entries.append(Entry(seq, AT + seq, encode_event(seq, session, AT + seq, event)))
        await self.journal.append(Group({session: entries} if entries else {}, {session: row(session, title=title)}))

    async def find(self, typed: str, limit: int = 20) -> list[tuple[str, int, str]]:
        """(session, seq, kind) of what is found, the best first."""
        found, complete = await self.index.find(typed, limit=limit, patience_s=60)
        assert complete
        return [(each.row.id, each.seq, each.kind) for each in found]


@asynccontextmanager
async def book(folder: Path, *, sqlite: bool = True) -> AsyncIterator[Book]:
    journal: Journal = SqliteJournal(folder / "journal.db") if sqlite else MemoryJournal()
    async with journal:
        opened = Book(journal, folder / "search.db" if sqlite else None)
        try:
            yield opened
        finally:
            await opened.index.close()


def said(text: str, role: Any = "assistant") -> Event:
    return MessageCompleteEvent(message_id="m", role=role, content=[TextPart(text=text)])


def started(call: str, title: str) -> Event:
    return ToolCallStartEvent(tool_call_id=call, name="run", category="terminal", description=title)


def ran(call: str, command: str) -> Event:
    return ToolCallExecutingEvent(tool_call_id=call, name="run", input=to_raw({"command": command}),
                                  risk_level="low", requires_approval=False)


@pytest.mark.parametrize("sqlite", [True, False])
def test_words_titles_and_commands_are_found_with_their_place(tmp_path: Path, sqlite: bool) -> None:
    async def check() -> None:
        async with book(tmp_path, sqlite=sqlite) as it:
            await it.tell("a", said("mend the tokenizer", "user"), said("Done: the tokenizer splits Ümlaute now"), title="Mend")
            await it.tell("b", started("c1", "Run the tests"), ran("c1", "pytest tests/journal"), title="A tokenizer by name")
            assert sorted(await it.find("tokenizer")) == [("a", 1, "user"), ("a", 2, "assistant"), ("b", 0, "title")]
            assert (await it.find("tokenizer"))[0] == ("b", 0, "title")
            assert await it.find("umlaute") == [("a", 2, "assistant")]
            assert await it.find("journal pytest") == [("b", 1, "tool")]
            assert await it.find('"run the tests"') == [("b", 1, "tool")]
            assert await it.find('"tests the run"') == []
            assert await it.find("tokenizer", limit=1) == [("b", 0, "title")]

    run(check())


def test_a_snippet_shows_the_match_in_its_surroundings(tmp_path: Path) -> None:
    async def check() -> FoundText:
        async with book(tmp_path) as it:
            await it.tell("a", said("before \2the\3 match " + "far " * 100))
            (found,), _ = await it.index.find("mat", limit=5)
            return found

    found = run(check())
    assert ("match", True) in found.snippet
    assert "".join(text for text, _ in found.snippet).startswith("before  the  match far")
    assert (found.row.id, found.at, len(found.snippet)) == ("a", AT + 1, 3)


def test_a_search_sees_what_was_committed_a_moment_ago(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            for number in range(5):
                await it.tell("a", said(f"word{number}x"))
                assert await it.find(f"word{number}x") == [("a", number + 1, "assistant")]

    run(check())


def test_searches_at_the_same_time_all_see_everything(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", *(said(f"needle {number}") for number in range(300)))
            found = await asyncio.gather(*(it.find("needle", limit=400) for _ in range(5)))
            assert [len(each) for each in found] == [300] * 5

    run(check())


def test_a_new_title_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("x"), title="Oldname")
            assert await it.find("oldname") == [("a", 0, "title")]
            await it.tell("a", said("y"), title="Newname")
            assert (await it.find("oldname"), await it.find("newname")) == ([], [("a", 0, "title")])

    run(check())


def test_a_call_is_one_passage_and_an_id_that_comes_again_is_another(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", started("c1", "deploy"), ran("c1", "make first"), ran("c1", "make first"))
            await it.tell("a", started("c1", "deploy"), ran("c1", "make second"))
            assert sorted(await it.find("deploy")) == [("a", 1, "tool"), ("a", 4, "tool")]
            assert await it.find("second") == [("a", 4, "tool")]
            assert await it.find("first") == [("a", 1, "tool")]

    run(check())


def test_a_deleted_session_is_not_found_from_the_first_moment_on(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("secretword"))
            await it.tell("b", said("secretword"))
            assert len(await it.find("secretword")) == 2
            it.index.hide("a")
            assert await it.find("secretword") == [("b", 1, "assistant")]
            await it.journal.delete("a")
            await it.index.forget("a")
            assert await it.find("secretword") == [("b", 1, "assistant")]
            assert await it.index._run(lambda store: store.sessions()) == {"b": 1}

    run(check())


def test_what_is_hidden_while_the_index_reads_does_not_come_in(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("secretword"))
            it.index.hide("a")
            assert await it.find("secretword") == []

    run(check())


def test_an_index_that_was_deleted_comes_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("needle"))
            assert await it.find("needle")
        remove(tmp_path / "search.db")
        async with book(tmp_path) as it:
            assert await it.find("needle") == [("a", 1, "assistant")]

    run(check())


@pytest.mark.parametrize("junk", [b"not a database at all" * 100, b""])
def test_a_file_that_is_no_index_is_made_anew(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "search.db").write_bytes(junk)

    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("needle"))
            assert await it.find("needle") == [("a", 1, "assistant")]

    run(check())


def test_an_index_that_breaks_while_it_is_used_is_made_anew(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", *(said(f"needle {number} " + "hay " * 500) for number in range(200)))
            assert await it.find("needle", limit=100)
        file = tmp_path / "search.db"
        body = bytearray(file.read_bytes())
        body[8192:] = b"\xff" * (len(body) - 8192)
        file.write_bytes(bytes(body))
        async with book(tmp_path) as it:
            try:
                await it.index.find("needle", limit=1, patience_s=60)
            except StorageError as error:
                assert "search.db" in error.message
            assert len(await it.find("needle", limit=100)) == 100

    run(check())


def test_an_index_that_knows_more_than_its_journal_begins_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", *(said("needle") for _ in range(30)))
            assert len(await it.find("needle", limit=50)) == 30
        remove(tmp_path / "journal.db")
        async with book(tmp_path) as it:
            await it.tell("b", said("needle"))
            assert await it.find("needle") == [("b", 1, "assistant")]

    run(check())


def test_what_a_crash_left_of_a_deleted_session_goes_at_the_next_start(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("needle"))
            await it.tell("b", said("hay"))
            assert await it.find("needle")
            await it.journal.delete("a")
        async with book(tmp_path) as it:
            assert await it.find("hay")
            assert await it.index._run(lambda store: store.sessions()) == {"b": 1}

    run(check())


def test_without_a_search_there_is_no_index_to_keep_up(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("needle"))
            await it.index.keep_up()
            assert not (tmp_path / "search.db").exists()
            await it.find("x")
            await it.tell("a", said("needle"))
            await it.index.keep_up()
            assert await it.index._run(lambda store: store.pos) == 2
            assert (tmp_path / "search.db").stat().st_mode & 0o777 == 0o600

    run(check())


def test_a_search_that_has_no_time_answers_with_what_there_is_and_says_so(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("needle"))
            found, complete = await it.index.find("needle", limit=5, patience_s=0)
            assert (complete, found) == (False, [])
            assert await it.find("needle") == [("a", 1, "assistant")]

    run(check())


def test_a_search_after_the_end_is_told_so(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", said("needle"))
            await it.index.close()
            with pytest.raises(HubStopping):
                await it.index.find("needle", limit=5)

    run(check())


def test_a_question_without_words_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            with pytest.raises(Invalid):
                await it.index.find("***", limit=5)
            assert not (tmp_path / "search.db").exists()

    run(check())


def test_a_search_that_takes_too_long_is_given_up_and_the_next_one_is_answered(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with book(tmp_path) as it:
            await it.tell("a", *(said(f"alpha beta gamma {number}") for number in range(3_000)))
            assert len(await it.find("alpha")) == 20
            with monkeypatch.context() as patched:
                patched.setattr(index_file, "FIND_S", 0.0)
                patched.setattr(index_file, "LOOK_STEPS", 100)
                with pytest.raises(Unavailable, match="longer than 0 s"):
                    await it.find("a b g")
            assert len(await it.find("a b g")) == 20

    run(check())
