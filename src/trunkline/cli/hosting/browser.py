"""The page in a browser, where there is somebody to look at it.

Rule 1: the address carries a one-time code; it goes to a browser or to a terminal, never to a log.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping


def offer_page(url: str) -> None:
    """Open the page for who sits at this machine; where no browser can be opened, tell them the address."""
    if not sys.stderr.isatty():
        return
    if has_display(os.environ, sys.platform):
        import webbrowser  # most hubs never open one

        # Some browsers only return when they are closed.
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    else:
        print(f"open {url} in a browser within a minute to log in", file=sys.stderr)


def has_display(env: Mapping[str, str], platform: str) -> bool:
    """Whether a window could be shown here; without one, a text browser would take over this terminal."""
    return platform in ("darwin", "win32") or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))
