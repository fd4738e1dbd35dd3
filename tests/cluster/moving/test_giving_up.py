"""What a node has put aside is counted, over restarts too; the newest files are told of."""

from __future__ import annotations

import os
from pathlib import Path

from trunkline.cluster.moving.giving_up import TOLD_MOST
from trunkline.cluster.shipping.quarantine import FOLDER, asides


def test_the_newest_files_of_the_quarantine_are_told_of_with_their_entries(tmp_path: Path) -> None:
    assert asides(tmp_path, TOLD_MOST) == {}
    folder = tmp_path / FOLDER
    folder.mkdir()
    for number in range(TOLD_MOST + 5):
        path = folder / f"ses_{number}-{number + 2}.jsonl"
        path.write_text("{}\n" * number)
        os.utime(path, (number, number))
    found = asides(tmp_path, TOLD_MOST)
    assert len(found) == TOLD_MOST and next(iter(found.items())) == ("ses_104:106", 104)
    assert "ses_4:6" not in found and found["ses_5:7"] == 5
