"""Folders of the hub's own, in its data folder.

Rule: something else in the place of one is an error that names it and says what to do, before anything is written.
"""

from __future__ import annotations

from pathlib import Path

from trunkline.errors import StorageError


def make_own_folder(path: Path) -> None:
    """Make it, closed to others, where it is not there; StorageError where it cannot be."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise StorageError(f"{path} is no folder: move it away, the hub makes its own") from None
    except OSError as error:
        raise StorageError(f"cannot make the folder {path}: {error.strerror}") from error
