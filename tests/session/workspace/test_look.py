"""What is found out on the disk about something that is asked for, and what of it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from trunkline.session.fold import Disk, SeenFile
from trunkline.session.policy.decide import PolicyAsk
from trunkline.session.workspace import look as looking
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import DiskLook, look_at, places_of, see, spelled_place


def about(*paths: str) -> PolicyAsk:
    return PolicyAsk(agent="x", tool="t", category="file_write", risk="low", root="/w", paths=paths)


def test_where_paths_lead_is_looked_up_and_the_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    found = run(look_at(Workspace([str(tmp_path)]), str(tmp_path), ["link", "new.txt"], ["a.txt", "gone.txt"]))
    real = tmp_path.resolve()
    assert found.places == {"link": str(real / "a.txt"), "new.txt": str(real / "new.txt")}
    assert found.texts == {"a.txt": "words"}
    assert found.knows(["link", "new.txt"]) and not found.knows(["link", "another"])


def test_what_is_known_is_not_looked_up_again(tmp_path: Path) -> None:
    known = DiskLook({"a.txt": "/known/a.txt"})
    space = Workspace([str(tmp_path)])
    assert run(look_at(space, str(tmp_path), ["a.txt"], known=known)) is known
    found = run(look_at(space, str(tmp_path), ["a.txt", "b.txt"], known=known))
    assert found.real("a.txt") == "/known/a.txt" and found.real("b.txt") == str(tmp_path.resolve() / "b.txt")


def test_a_disk_that_does_not_answer_in_time_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(*_: object) -> None:
        raise TimeoutError

    space = Workspace([str(tmp_path)])
    monkeypatch.setattr(space.lane, "run_within", late)
    assert run(look_at(space, str(tmp_path), ["a.txt"])) == DiskLook()
    assert run(see(space, ["a.txt"])) == {}


def test_a_file_outside_the_session_is_not_seen_and_a_folder_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "out.txt").write_text("secret")
    found = run(see(Workspace([str(tmp_path / "in")]), ["../out.txt", "sub", "new"]))
    assert set(found) == {"sub", "new"}
    assert found["sub"].text is None and found["new"] == SeenFile(exists=False)


def test_only_what_the_spelling_does_not_say_is_kept_and_all_of_it_is_known_again() -> None:
    asks = [about("a.txt", "link", "lost")]
    look = DiskLook({"a.txt": "/w/a.txt", "link": "/elsewhere/b"})
    kept = look.to_keep(asks)
    assert kept == Disk(real={"link": "/elsewhere/b"}, unknown=["lost"])
    assert DiskLook.kept(kept, asks).places == look.places
    assert look.to_keep([about()]) is None and DiskLook.kept(None, asks) == DiskLook()


def test_of_more_places_than_are_kept_the_rest_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "DISK_PLACES", 2)
    asks = [about("a", "b", "c")]
    kept = DiskLook({name: f"/elsewhere/{name}" for name in "abc"}).to_keep(asks)
    assert kept is not None and kept.cut
    assert DiskLook.kept(kept, asks).places == {"a": "/elsewhere/a", "b": "/elsewhere/b"}


def test_a_path_that_no_system_can_spell_leads_nowhere() -> None:
    assert places_of("/w", ["a\0b", "/"]) == {"/": "/"}
    assert spelled_place("/w", "../x/./y") == "/x/y"
