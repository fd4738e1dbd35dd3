"""A hub that is started where one runs already: it is told how to get into that one, as far as it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.cli.hosting.second_start import tell_about_the_first
from trunkline.settings import Settings


def test_where_no_hub_answers_nothing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell_about_the_first(Settings(data=tmp_path))
    assert capsys.readouterr() == ("", "")
