"""Rule 6: damage stays where it is. Journals that are overwritten, cut, torn and filled up, under a real hub."""

from __future__ import annotations

import json
import random
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Report
from tests.tooling.hub_process import HubProcess, Session, end_of, text_of
from tests.tooling.processes import eventually
from tests.tooling.readers import Background, Seen, take
from tests.tooling.wire import Broken

PAGE = 4096
WORDS = "a sentence that fills a page of the journal "


class Kept:
    """A data folder with sessions, as a hub left it, and every packet that each session has."""

    def __init__(self, root: Path, *, killed: bool = False) -> None:
        self.root = root
        with HubProcess(root) as hub:
            sessions = [hub.new_session() for _ in range(3)]
            for number, session in enumerate(sessions):
                session.say("/burst 300 40")
                session.say(f"/echo {WORDS * 20}{number}")
            self.packets = {session.id: session.history() for session in sessions}
            if killed:
                hub.kill()
        self.folders = {session.id: session.folder for session in sessions}

    def copy(self, to: Path) -> Path:
        """The whole folder, to be damaged."""
        shutil.copytree(self.root, to, symlinks=True, ignore=shutil.ignore_patterns("hub.lock", "*.sock"))
        return to


def look_over(root: Path, kept: Kept, *, spoiled: bool = True) -> tuple[int, int, float]:
    """Start a hub on a damaged folder: it starts, each session is there, whole or with gaps, and goes on.

    Returns (sessions, packets lost without a gap, milliseconds to start)."""
    begun = time.monotonic()
    lost = 0
    with HubProcess(root) as hub:
        took = 1000 * (time.monotonic() - begun)
        assert hub.wire.get("/readyz")["status"] == "ready"
        listed = {view["id"] for view in hub.wire.get("/sessions")["sessions"]}
        for session_id, packets in kept.packets.items():
            if session_id not in listed:
                assert hub.wire.get("/journal")["state"] == "hurt"
                lost += not spoiled
                continue
            session = Session(hub, session_id, kept.folders[session_id])
            if not _is_readable(hub, session_id):
                continue
            lost += _lost_without_a_word(dict(session.history()), packets)
            if session.view()["status"] != "error":
                assert text_of(session.say("/echo on we go")) == "on we go"
        assert text_of(hub.new_session().say("/echo new")) == "new"
    return len(listed), lost, took


def _is_readable(hub: HubProcess, session_id: str) -> bool:
    """Whether a session can be shown; one that cannot is answered with why, and told of."""
    answer = hub.wire.ask("GET", f"/sessions/{session_id}/messages?limit=1")
    if answer.status == 200:
        return True
    assert (answer.status, answer.json()["code"]) == (503, "session_unreadable")
    assert hub.wire.get("/journal")["state"] == "hurt"
    return False


def _lost_without_a_word(here: dict[int, bytes], packets: Seen) -> int:
    gaps = [json.loads(data) for data in here.values() if json.loads(data)["type"] == "gap"]
    missing = 0
    for seq, data in packets:
        if here.get(seq) != data and not any(gap["from"] <= seq <= gap["to"] for gap in gaps):
            missing += 1
    return missing


def overwrite(path: Path, page: int, seed: int) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(random.Random(seed).randbytes(PAGE))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The same of a hub that was killed: its logs hold what is not in the database yet."""
    return Kept(tmp_path_factory.mktemp("killed"), killed=True)


def damaged_pages(kept: Kept, folder: Path, pages: list[int]) -> tuple[int, int, float]:
    """(hubs that started, packets lost without a word, the slowest start)."""
    lost, slowest = 0, 0.0
    for page in pages:
        root = kept.copy(folder / str(page))
        overwrite(root / "data" / "journal.db", page, page)
        _, missing, took = look_over(root, kept)
        lost, slowest = lost + missing, max(slowest, took)
        shutil.rmtree(root)
    return len(pages), lost, slowest


def test_a_hub_starts_on_a_journal_with_a_page_of_random_bytes(kept: Kept, tmp_path: Path, report: Report) -> None:
    pages = [1]
    held, lost, slowest = damaged_pages(kept, tmp_path, pages)
    report(6, "the journal's first page overwritten", tried=len(pages), held=held, worst_ms=slowest, lost=lost)


@pytest.mark.slow
def test_a_hub_starts_whichever_page_of_the_journal_is_overwritten(kept: Kept, tmp_path: Path, report: Report) -> None:
    count = (kept.root / "data" / "journal.db").stat().st_size // PAGE
    pages = list(range(1, count + 1, max(1, count // 40)))
    held, lost, slowest = damaged_pages(kept, tmp_path, pages)
    report(6, "a page of the journal overwritten with random bytes", tried=len(pages), held=held, worst_ms=slowest, lost=lost)


LOGS = {"the write-ahead log": ["-wal"], "the group log": ["-log0", "-log1"], "every log": ["-wal", "-log0", "-log1"]}


@pytest.mark.parametrize("which", list(LOGS))
def test_a_log_that_is_lost_after_a_crash_is_told_and_no_number_comes_again(
        killed: Kept, tmp_path: Path, report: Report, which: str) -> None:
    root = killed.copy(tmp_path / "copy")
    for suffix in LOGS[which]:
        (root / "data" / f"journal.db{suffix}").unlink()
    _, lost, took = look_over(root, killed)
    with HubProcess(root) as hub:
        for session_id, packets in killed.packets.items():
            answer = hub.wire.ask("GET", f"/sessions/{session_id}")
            if answer.status == 200:
                assert answer.json()["lastSeq"] > packets[-1][0]
        state = hub.wire.get("/journal")
        assert state["state"] == "hurt" and state["damages"] and state["asides"]
        status = hub.command("status").stdout
        assert "cannot be read any more" in status, status
    report(6, f"{which} lost after a crash", tried=1, held=1, worst_ms=took, lost=lost)


def test_a_session_with_a_bad_checkpoint_is_made_again_from_its_entries(kept: Kept, tmp_path: Path, report: Report) -> None:
    import sqlite3

    root = kept.copy(tmp_path / "rows")
    with sqlite3.connect(root / "data" / "journal.db") as database:
        database.execute("UPDATE sessions SET checkpoint = x'00'")
    sessions, lost, took = look_over(root, kept)
    report(6, "the checkpoints of all sessions damaged", tried=len(kept.packets), held=sessions - 1 if lost else sessions,
           worst_ms=took, lost=lost)


@pytest.mark.parametrize("what", [pytest.param("zero length", marks=pytest.mark.slow), "no database",
                                  pytest.param("audit.log", marks=pytest.mark.slow)])
def test_a_hub_starts_with_what_is_there(kept: Kept, tmp_path: Path, report: Report, what: str) -> None:
    root = kept.copy(tmp_path / "odd")
    if what == "audit.log":
        (root / "data" / "audit.log").write_bytes(b"not what was written")
    else:
        (root / "data" / "journal.db").write_bytes(b"" if what == "zero length" else b"a letter " * 1000)
    _, lost, took = look_over(root, kept)
    if what == "audit.log":
        assert (root / "data" / "audit.log").read_bytes().startswith(b"not what was written\n"), "it is evidence"
    if what == "no database":
        [aside] = (root / "data").glob("journal.db.damaged-*")
        assert aside.read_bytes() == b"a letter " * 1000
    report(6, f"the journal's folder with {what} in it", tried=1, held=1, worst_ms=took, lost=lost)


def test_verify_finds_damage_repair_mends_it_and_salvage_makes_a_journal_of_it(kept: Kept, tmp_path: Path) -> None:
    import sqlite3

    root = kept.copy(tmp_path / "tools")
    hub = HubProcess(root)
    assert hub.command("journal", "verify").stdout == "the journal is whole\n"
    with sqlite3.connect(root / "data" / "journal.db") as database:
        database.execute("UPDATE blocks SET body = zeroblob(length(body)) WHERE first_pos = (SELECT min(first_pos) FROM blocks)")
    verified = hub.command("journal", "verify")
    assert verified.returncode == 1 and "do not fit their checksum" in verified.stdout
    new = tmp_path / "salvaged.db"
    salvaged = hub.command("journal", "salvage", "--to", str(new))
    assert salvaged.returncode == 0 and "3 sessions" in salvaged.stdout and new.exists()
    assert hub.command("journal", "verify").returncode == 1, "salvage only reads"
    repaired = hub.command("journal", "repair")
    assert repaired.returncode == 0 and ".damaged-" in repaired.stdout
    assert hub.command("journal", "verify").returncode == 0
    assert look_over(root, kept)[1] == 0
    with HubProcess(root) as running:
        refused = running.command("journal", "repair")
        assert refused.returncode != 0 and "stop it first" in refused.stderr


# A full disk.


class Quota:
    """Lets the hub's files grow no further, and lets them grow again."""

    def __init__(self, hub: HubProcess) -> None:
        self._hub = hub
        self._log = hub.data / "journal.db-wal"

    def fill(self, dice: random.Random) -> None:
        """No write succeeds behind some place of the log, so that a group may fail in its middle; a log that has started again
        writes before that place, so then nowhere."""
        size = dice.choice((0, self._log.stat().st_size, dice.randint(0, self._log.stat().st_size)))
        for limit in (size, 0):
            resource.prlimit(self._hub.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            with suppress(AssertionError):  # the next limit, or the next write, then fills it
                eventually(lambda: is_full(self._hub), "the log cannot grow", 1)

    def clear(self) -> None:
        resource.prlimit(self._hub.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class Follower:
    """Reads a session in a thread, from its beginning on; it comes back when its connection ends, or after ``cut`` packets."""

    def __init__(self, session: Session, cut: int) -> None:
        self.seen: Seen = []
        self._session = session
        self._cut = cut
        self.stopping = False
        self._reading = Background(self._read)
        self._reading.__enter__()

    def join(self) -> None:
        """The hub is gone: wait for the end."""
        self._reading.__exit__(None, None, None)

    def _read(self) -> None:
        while not self.stopping:
            try:
                with self._session.attach(last_event_id=self.seen[-1][0] if self.seen else None, wait_s=30) as stream:
                    for _, packet in zip(range(self._cut), stream, strict=False):
                        take(packet, self.seen)
            except (Broken, ConnectionError, TimeoutError):
                continue  # cut off, or quiet for long: a client comes back with its position


def is_full(hub: HubProcess) -> bool:
    answer = hub.wire.ask("GET", "/readyz")
    return answer.status == 503 and answer.json()["code"] == "storage_error"


def full_again_and_again(hub: HubProcess, episodes: int, seed: int) -> tuple[int, int, float]:
    """Fill the disk under load so many times; returns (episodes that held, packets lost, the slowest GET while it was full)."""
    dice = random.Random(seed)
    quota = Quota(hub)
    sessions = [hub.new_session() for _ in range(3)]
    readers = [[Follower(session, 1 << 40), Follower(session, 700)] for session in sessions]
    held, slowest = 0, 0.0
    for _ in range(episodes):
        for session in sessions:
            if session.view()["turn"] is None:
                prompt = {"content": f"/burst {dice.randint(2000, 6000)} 60 1500"}
                answer = hub.wire.ask("POST", f"{session.path}/send-message", prompt)
                assert answer.status in (202, 503), answer  # 503: what this session has waiting is offered again each second
        time.sleep(dice.random() / 5)  # real time: the disk fills at any moment of the load
        quota.fill(dice)
        hub.wire.ask("PATCH", sessions[0].path, {"title": "a load that has just ended fills nothing"})
        eventually(lambda: is_full(hub), "the hub says that nothing can be stored", 30)
        begun = time.monotonic()
        for session in sessions:
            assert session.view()["id"] == session.id
            assert hub.wire.get(f"{session.path}/messages?limit=10")["messages"]
        assert hub.wire.get("/journal")["state"] == "unwritable"
        slowest = max(slowest, 1000 * (time.monotonic() - begun) / 7)
        quota.clear()
        eventually(lambda: hub.wire.ask("GET", "/readyz").status == 200, "the hub can store again", 30)
        held += 1
    for session in sessions:
        eventually(lambda session=session: session.view()["turn"] is None, "the turns come to their ends", 60)  # type: ignore[misc]
    lost = sum(_lost(session, pair) for session, pair in zip(sessions, readers, strict=True))
    everybody = [reader for pair in readers for reader in pair]
    for reader in everybody:
        reader.stopping = True
    hub.stop(signal.SIGTERM)
    for reader in everybody:
        reader.join()
    return held, lost, slowest


def _lost(session: Session, readers: list[Follower]) -> int:
    """Packets that one of stored and seen has, and the other has not; and bursts in which a number is missing."""
    stored = session.history()
    lost = 0
    for reader in readers:
        eventually(lambda reader=reader: reader.seen and reader.seen[-1][0] >= stored[-1][0], "a reader comes to the end")  # type: ignore[misc]
        lost += len(set(reader.seen) ^ set(stored)) + (reader.seen != stored)
    chunks = [json.loads(data)["content"]["text"][:8] for _, data in stored if b'"agent_message_chunk"' in data[:300]]
    return lost + sum(turn != [f"{number:08d}" for number in range(len(turn))] for turn in _split_turns(chunks))


def _split_turns(chunks: list[str]) -> list[list[str]]:
    """The numbers of each burst: one begins with 0."""
    turns: list[list[str]] = []
    for chunk in chunks:
        if not turns or chunk == "0" * 8:
            turns.append([])
        turns[-1].append(chunk)
    return turns


def test_a_full_disk_is_told_and_loses_no_packet(new_hub: Callable[..., HubProcess], report: Report) -> None:
    held, lost, slowest = full_again_and_again(new_hub(), 1, 1)
    report(6, "the disk full under load", tried=1, held=held, worst_ms=slowest, lost=lost)


@pytest.mark.slow
def test_two_hundred_full_disks_lose_no_packet(new_hub: Callable[..., HubProcess], report: Report) -> None:
    held, lost, slowest = full_again_and_again(new_hub(), 200, 2)
    report(6, "the disk full under load, again and again", tried=200, held=held, worst_ms=slowest, lost=lost)


# Deleting.


def forms_of(marker: str) -> Iterator[bytes]:
    yield marker.encode()
    yield marker.encode("utf-16-le")
    yield marker[1:].encode()
    yield marker[3:].encode()


def files_with(folder: Path, marker: str) -> list[str]:
    """The files below a folder in which the marker stands, in any form."""
    forms = list(forms_of(marker))
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if any(form in content for form in forms):
                found.append(path.name)
    return found


def test_what_is_deleted_is_gone_from_every_file(new_hub: Callable[..., HubProcess], report: Report) -> None:
    hub = new_hub()
    marker = "xylophonequartzjigsaw"
    other = hub.new_session()
    other.say("/echo stays")
    doomed = hub.new_session(title=f"about {marker}")
    for number in range(3):
        doomed.say(f"/echo {marker} {number}")
    hits: Any = hub.wire.get(f"/search?q={marker}")
    assert hits["hits"], "it is in the index"
    doomed.say(f"/echo {marker} once more")
    assert set(files_with(hub.data, marker)) >= {"journal.db-wal", "search.db-wal"}
    begun = time.monotonic()
    doomed.delete()
    eventually(lambda: files_with(hub.data, marker) == [], "nothing of it is left in the data folder")
    took = 1000 * (time.monotonic() - begun)
    assert marker not in hub.log()
    assert end_of(other.say("/echo on"))["stopReason"] == "end_turn"
    report(6, "text of a deleted session in the data folder", tried=1, held=1, worst_ms=took)
