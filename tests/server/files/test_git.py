"""What git says of a folder, up to a bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.files.test_diff import asked, git, repository
from tests.server.site import site
from trunkline.server.files import git as server_git


def test_too_long_an_answer_of_git_counts_as_none_and_the_diff_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_git, "OUTPUT_BYTES", 600)

    async def check() -> None:
        async with site(tmp_path) as hub:
            repository(hub.folder)
            for number in range(50):
                (hub.folder / f"a-file-with-a-name-{number}.txt").write_text("x\n")
            git(hub.folder, "add", ".")
            told = await asked(hub, await hub.session())
            assert told["truncated"] is True

    run(check())
