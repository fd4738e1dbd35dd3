"""Lines that begin with a colon are for the chat itself: ``:help``, ``:mode auto``, ``:quit``. A slash is the agent's.

Rule: only the words of LOCAL are ours. A word with a colon that is nearly one of them is not sent, and says which may have been
meant; every other line goes to the agent as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from trunkline.cli.naming import meant
from trunkline.dialects.visible import one_line
from trunkline.errors import Invalid

if TYPE_CHECKING:
    from trunkline.cli.commands.chat.conversation import Conversation
    from trunkline.client import SessionView

KEYS = (
    ("Enter", "send; Alt-Enter for a new line"),
    ("Tab", "complete: / the agent's commands, @ files, : these"),
    ("Up, Down", "earlier lines; Ctrl-R looks for one"),
    ("Shift-Tab", "the agent's next mode"),
    ("Ctrl-C", "clear the line, or cancel the turn"),
    ("Ctrl-D", "leave; the session stays, and so does its turn"),
    ("Esc", "from a card to writing, and back"),
    ("on a card", "a approve, d deny, e edit, l for longer, v show all, j k next and previous"),
)


async def run_local(talk: Conversation, text: str) -> bool:
    """Do what the line says; False where it is for the agent."""
    word, _, rest = text.strip().partition(" ")
    if word not in LOCAL:
        _refuse_mistyped(text, word)
        return False
    await LOCAL[word][1](talk, rest.strip())
    return True


def _refuse_mistyped(text: str, word: str) -> None:
    """Invalid, where the line begins with what is nearly a word of ours: an agent would make something of it, and cost a turn."""
    if text.startswith(":") and (found := meant(word, LOCAL)):
        raise Invalid(f"no word {word!r} here{found} (a space before it sends it to the agent)")


async def _help(talk: Conversation, rest: str) -> None:
    for name, does in (*KEYS, *((word, does) for word, (does, _) in LOCAL.items())):
        talk.screen.line(f"{name:<14}{does}", indent="  ")


async def _mode(talk: Conversation, rest: str) -> None:
    known = dict(modes_of(talk.view))
    if rest not in known:
        raise Invalid(f"no mode {rest!r}; there {'are' if known else 'is none'} {', '.join(known)}".strip())
    await talk.hub.set_mode(talk.view.id, rest)


async def _set(talk: Conversation, rest: str) -> None:
    name, _, value = rest.partition(" ")
    known = options_of(talk.view)
    if name not in known:
        raise Invalid(f"no option {name!r}; there {'are' if known else 'is none'} {', '.join(known)}".strip())
    if not value:
        talk.screen.line(f"{name}: {', '.join(known[name]) or 'true, false'}", indent="  ")
        return
    await talk.hub.set_config(talk.view.id, name, value if known[name] else value == "true")


async def _title(talk: Conversation, rest: str) -> None:
    if not rest:
        raise Invalid("a title is needed: :title TEXT")
    talk.view = await talk.hub.rename(talk.view.id, rest)


async def _open(talk: Conversation, rest: str) -> None:
    from trunkline.cli.hosting.way_in import link_to_session, tunnel

    url = talk.hub.endpoint.url
    talk.screen.line(await link_to_session(talk.hub, url, talk.view.id), indent="  ")
    if away := tunnel(url):
        talk.screen.line(f"from your own machine, first run: {away}", indent="  ")


async def _cancel(talk: Conversation, rest: str) -> None:
    talk.tell("cancelling" if await talk.hub.cancel(talk.view.id) else "no turn is running")


async def _quit(talk: Conversation, rest: str) -> None:
    talk.leave()


LOCAL: dict[str, tuple[str, Callable[[Conversation, str], Awaitable[None]]]] = {
    ":help": ("these keys and words", _help),
    ":mode": ("switch the agent's mode", _mode),
    ":set": ("one of the agent's options, such as its model: :set OPTION VALUE", _set),
    ":title": ("name the session", _title),
    ":open": ("a link to the session on the page, which logs a browser in, once", _open),
    ":cancel": ("cancel the turn", _cancel),
    ":quit": ("leave; the session stays", _quit),
}


def modes_of(view: SessionView) -> list[tuple[str, str]]:
    """The agent's modes: (id, name)."""
    listed = view.modes.get("availableModes") if isinstance(view.modes, Mapping) else view.modes
    return [(str(each["id"]), str(each.get("name", ""))) for each in listed or () if isinstance(each, Mapping) and "id" in each]


def options_of(view: SessionView) -> dict[str, list[str]]:
    """The agent's options and the values of each; none for a switch."""
    found: dict[str, list[str]] = {}
    for option in view.config_options or ():
        if isinstance(option, Mapping) and "id" in option:
            found[one_line(str(option["id"]))] = [one_line(str(value)) for value in _values(option.get("options"))]
    return found


def _values(options: Any) -> list[Any]:
    """Values, of groups as well."""
    found: list[Any] = []
    for each in options if isinstance(options, list) else ():
        if isinstance(each, Mapping):
            found.extend(_values(each["options"]) if "options" in each else [each.get("value")])
    return [value for value in found if value is not None]
