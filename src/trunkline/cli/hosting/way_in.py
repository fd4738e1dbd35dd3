"""How a person gets to the page: its address, a link that logs a browser in, and the command that makes one.

Rule 1: a link with a code goes to a browser or to a terminal, never to a log: where nobody sits before stderr, the command that
makes a link is named instead.
Rule 2: a command is named as it was installed, so that it can be copied.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from trunkline.cli.read_settings import usual_data
from trunkline.errors import Forbidden

if TYPE_CHECKING:
    from trunkline.client import Client
    from trunkline.settings import Settings

NEAR = frozenset({"127.0.0.1", "::1", "localhost"})


def session_page(url: str, session_id: str, login: str = "") -> str:
    """Where the page shows a session: to a browser that is logged in, or with a ``login`` path (``/#code=…``) to any, once."""
    place = f"/s/{quote(session_id, safe='')}"
    return f"{url}{login}&to={place}" if login else f"{url}/#{place}"


async def link_to_session(hub: Client, url: str, session_id: str) -> str:
    """A link to a session that logs in on its way; its plain address for who may not let others in."""
    try:
        return session_page(url, session_id, (await hub.new_code()).path)
    except Forbidden:
        return session_page(url, session_id)


def own_command(python: str = sys.executable, environ: Mapping[str, str] = os.environ) -> str:
    """What to type for ``trunkline``, as the person installed it."""
    script = os.path.join(os.path.dirname(python), "trunkline")
    if not os.path.exists(script):
        return f"{shlex.quote(python)} -m trunkline"
    found = shutil.which("trunkline", path=_path_of_the_shell(os.path.dirname(script), environ))
    return "trunkline" if found and os.path.realpath(found) == os.path.realpath(script) else shlex.quote(script)


def _path_of_the_shell(folder: str, environ: Mapping[str, str]) -> str:
    """Where the person's own shell looks for commands. ``uvx`` and ``uv run``, which name themselves in ``UV``, put the
    ``folder`` of what they run before all others, for that run alone."""
    places = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(place for place in places if place != folder or "UV" not in environ)


def login_command(settings: Settings) -> str:
    """The command that makes a link to this hub."""
    folder = "" if settings.data == usual_data() else f" --data {shlex.quote(str(settings.data))}"
    return f"{own_command()} open --print{folder}"


def tell_way_in(settings: Settings, url: str, new_link: Callable[[], str]) -> None:
    """Tell who sits at this terminal how to get in, and open the page where that is wanted and can be."""
    at_terminal = sys.stderr.isatty()
    if at_terminal and settings.open and has_display(os.environ, sys.platform):
        open_browser(new_link())
    print_way_in(settings, url, new_link() if at_terminal else None)


def print_way_in(settings: Settings, url: str, link: str | None) -> None:
    """The link, and how to reach it over ssh; without a link the command that makes one."""
    if link is None:
        print(f"for a link that logs a browser in, run: {login_command(settings)}", file=sys.stderr)
        return
    print(f"open {link} in a browser within a minute to log in", file=sys.stderr)
    if away := tunnel(url):
        print(f"from your own machine, run this first: {away}", file=sys.stderr)


def tunnel(url: str, environ: Mapping[str, str] = os.environ) -> str:
    """What to type at home, where somebody came over ssh and the hub listens on this machine alone; empty elsewhere."""
    parts, came = urlsplit(url), environ.get("SSH_CONNECTION", "").split()
    if len(came) != 4 or parts.hostname not in NEAR:
        return ""
    _, _, server, port = came
    at = f" -p {shlex.quote(port)}" if port != "22" else ""
    near = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    user = environ.get("USER") or environ.get("LOGNAME") or "you"
    return f"ssh{at} -L {parts.port}:{near}:{parts.port} {shlex.quote(user)}@{shlex.quote(server)}"


def has_display(env: Mapping[str, str], platform: str) -> bool:
    """Whether a window could be shown here; without one, a text browser would take over this terminal."""
    if platform in ("darwin", "win32"):
        return not env.get("SSH_CONNECTION")  # it would be shown where nobody sits
    return bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def open_browser(url: str) -> None:
    """Open the page for who sits at this machine."""
    import webbrowser  # most hubs never open one

    # Some browsers only return when they are closed.
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
