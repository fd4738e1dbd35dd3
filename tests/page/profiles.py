"""Browser profiles for people: what they leave behind is gone before somebody else gets one.

Rule 1: a profile in the usual size is used again, since making one and loading the page for the first time costs more than most
tests do. What a person could have left there goes: pages, cookies, storage, permissions, a lost network.
Rule 2: a profile with wishes of its own, and one that somebody wants alone, is used once.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext

DESK: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True,
                         "device_scale_factor": 2}
SIZES = {"desk": DESK, "phone": PHONE}

WATCH = """
document.addEventListener('securitypolicyviolation', (event) => {
  console.error(`breach of the page's policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


class Profiles:
    """All profiles of one browser."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[BrowserContext]] = {size: [] for size in SIZES}

    def take(self, size: str, alone: bool, **wishes: Any) -> BrowserContext:
        """A profile that nobody else has."""
        if not wishes and not alone and self._free[size]:
            return self._free[size].pop()
        made = self._browser.new_context(**{**SIZES[size], "locale": "en-US", "timezone_id": "UTC", **wishes})
        made.add_init_script(WATCH)
        return made

    def give_back(self, profile: BrowserContext, size: str, origin: str) -> None:
        """For the next one, as if it were new. Of its pages only an empty one is left."""
        (page,) = profile.pages
        profile.set_offline(False)
        profile.clear_cookies()
        profile.clear_permissions()
        tools = profile.new_cdp_session(page)
        tools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
        tools.detach()
        self._free[size].append(profile)
