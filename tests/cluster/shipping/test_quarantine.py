"""What was put aside is counted, whatever lies beside it."""

from __future__ import annotations

import os
from pathlib import Path

from trunkline.cluster.shipping.quarantine import FOLDER, asides


def test_the_lines_of_each_file_are_counted(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "ses_a-2.jsonl").write_bytes(b"{}\n" * 500_000)
    assert asides(tmp_path, 10) == {"ses_a:2": 500_000}


def test_a_pipe_among_them_is_not_waited_for_and_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    os.mkfifo(tmp_path / FOLDER / "ses_a-2.jsonl")
    (tmp_path / FOLDER / "ses_b-1.jsonl").write_bytes(b"{}\n")
    assert asides(tmp_path, 10) == {"ses_b:1": 1}
