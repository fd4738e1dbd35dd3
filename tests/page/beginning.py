"""The form for a new session, as a person fills it in: what it begins with is in one line, and each of it opens on a click."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page


def chip(page: Page, what: str) -> Locator:
    """What says which agent, or which folder, it is going to be."""
    return page.get_by_role("button", name=re.compile(f"^{what}:"))


def opened(page: Page, what: str) -> None:
    """Have the choice of agents, or of folders, open."""
    if chip(page, what).get_attribute("aria-expanded") != "true":
        chip(page, what).click()


def choose_agent(page: Page, name: str) -> None:
    """Choose an agent by the beginning of its name."""
    opened(page, "Agent")
    page.get_by_role("radio", name=re.compile(f"^{re.escape(name)}")).check()


def choose_folder(page: Page, folder: Path) -> None:
    """Type a folder."""
    opened(page, "Folder")
    page.get_by_label("Folder", exact=True).fill(str(folder))
