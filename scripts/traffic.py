"""What the pages of a browser's profile are loading, so that one can wait until that is over.

Rule: what waits for news does not count. The page always has such a request open, so Playwright's own way to wait
(``networkidle``) never ends there.
"""

from __future__ import annotations

import re
import time

from playwright.sync_api import BrowserContext, Page, Request

WAITS_FOR_NEWS = re.compile(r"[?&]wait=\d")
"""What the page asks the hub for, who answers when there are news: one is open all the time."""
QUIET_S = 0.5
"""As long as this without a request, nothing is loading: what is drawn now asks within a frame or two."""
WITHIN_S = 60.0
POLL_S = 0.01


class Traffic:
    """The requests of a profile that are not answered yet."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._loading: set[Request] = set()
        self._loaded_at = 0.0
        context.on("request", self._asked)
        context.on("requestfinished", self._answered)
        context.on("requestfailed", self._answered)

    def rest(self, page: Page) -> None:
        """Until nothing is loading any more."""
        deadline = time.monotonic() + WITHIN_S
        while not self._rests(page):
            if time.monotonic() > deadline:
                raise TimeoutError(f"still loading: {sorted(request.url for request in self._loading)}")
            time.sleep(POLL_S)

    def forget(self) -> None:
        """Hear of no request any more."""
        self._context.remove_listener("request", self._asked)
        self._context.remove_listener("requestfinished", self._answered)
        self._context.remove_listener("requestfailed", self._answered)

    def _rests(self, page: Page) -> bool:
        page.evaluate("null")  # what happened meanwhile is heard of in a call only
        return not self._loading and time.monotonic() - self._loaded_at > QUIET_S

    def _asked(self, request: Request) -> None:
        if not WAITS_FOR_NEWS.search(request.url):
            self._loading.add(request)

    def _answered(self, request: Request) -> None:
        self._loading.discard(request)
        self._loaded_at = time.monotonic()
