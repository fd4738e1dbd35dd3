"""Somebody at a browser: a profile of their own, a page, and whatever happened there that must never happen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Error, Locator, Page, Request, WebError, expect

from scripts.traffic import Traffic
from tests.tooling.hub_process import HubProcess
from tests.tooling.processes import eventually

WAIT_MS = 15_000
LOST = r"net::ERR_|WebSocket connection to .* failed|status of 50[234]|unknown error occurred when fetching the script"
"""What the browser itself says to the console when the network or the hub goes away; it cannot be kept from saying it."""


class Person:
    """One browser profile with one page, at one hub."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.faults: list[str] = []
        self._expected: re.Pattern[str] | None = None
        self._known: tuple[str, ...] = (url, "data:", "blob:")
        self._traffic = Traffic(context)
        context.set_default_timeout(WAIT_MS)
        self._heard: dict[str, Callable[[Any], None]] = {
            "request": self._requested, "console": self._told, "weberror": self._failed, "dialog": self._asked}
        for name, heard in self._heard.items():
            context.on(name, heard)  # type: ignore[call-overload]
        self.page: Page = context.pages[0] if context.pages else context.new_page()

    def log_in(self, hub: HubProcess, path: str = "#/", scope: str = "admin") -> Page:
        """Come in by a one-time code, as the page that ``trunkline serve`` opens does, and go to a view."""
        code = hub.wire.post("/auth/codes", {"scope": scope}, 201)["path"]
        self.page.goto(self.url + code)
        expect(self.page.get_by_role("main")).to_be_visible()
        expect(self.page).not_to_have_url(re.compile("code="))
        if path != "#/":
            self.go(path)
        return self.page

    def go(self, path: str) -> None:
        """Go to a view as a link in the page does: without loading it anew."""
        self.page.evaluate("path => { location.hash = path }", path)

    def by_role(self, role: Any, name: str | re.Pattern[str] | None = None, **more: Any) -> Locator:
        """What has a role and a name."""
        return self.page.get_by_role(role, name=name, **more) if name is not None else self.page.get_by_role(role, **more)

    def rest(self) -> None:
        """Until nothing is loading any more."""
        self._traffic.rest(self.page)

    @contextmanager
    def losing_the_network(self, expected: str = "") -> Iterator[None]:
        """While this lasts, the browser's own complaints about a lost network, and what is expected besides, are no faults."""
        self._expected = re.compile(f"{LOST}|{expected}" if expected else LOST)
        try:
            yield
        finally:
            self._expected = None

    def leave(self) -> None:
        """Close the pages, before the hub goes. What happens after that is not seen. An empty one stays: the last page takes a
        browser's window with it, and to open another takes longer than to open a page."""
        empty = self.context.new_page()
        for page in self.context.pages:
            if page is not empty:
                page.close()
        for name, heard in self._heard.items():
            self.context.remove_listener(name, heard)
        self._heard.clear()
        self._traffic.forget()

    def expect_loss(self, what: str = LOST) -> None:
        """From now on the browser's own complaints about a lost network, or about something else, are no faults."""
        self._expected = re.compile(what)

    def expect_requests_to(self, url: str) -> None:
        """From now on a request to that address, however late, is no fault."""
        self._known = (*self._known, url)

    def assert_no_faults(self) -> None:
        """Nothing happened that must never happen."""
        assert not self.faults, "\n".join(self.faults)

    def _failed(self, error: WebError) -> None:
        self.faults.append(f"error: {error.error}")

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(self._known):
            self.faults.append(f"a request to elsewhere: {request.url[:200]}")

    def _told(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not (self._expected and self._expected.search(message.text)):
            self.faults.append(f"console: {message.text[:500]} ({message.location['url'][:200]})")

    def _asked(self, dialog: Dialog) -> None:
        self.faults.append(f"a dialog: {dialog.message[:200]}")
        dialog.dismiss()


def until(page: Page, what: str, arg: Any = None, within_s: float = WAIT_MS / 1000) -> None:
    """Until a function of the page's gives something true. (Playwright's own way to wait for one needs eval, which the page's
    policy does not allow.)"""
    eventually(lambda: _evaluated(page, what, arg), f"{what} of {str(arg)[:80]!r}", within_s)


def _evaluated(page: Page, what: str, arg: Any) -> Any:
    try:
        return page.evaluate(what, arg)
    except Error as error:
        if "context was destroyed" not in error.message:
            raise
        return False  # the page was just being loaded anew


def shows(page: Page, text: str, within_s: float = WAIT_MS / 1000) -> None:
    """Until the text is somewhere in the main part, as it is."""
    until(page, "text => document.querySelector('main').textContent.includes(text)", text, within_s)


def sideways(page: Page) -> int:
    """How many pixels the page can be scrolled sideways: none, where it is made well."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"))
