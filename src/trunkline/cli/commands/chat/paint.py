"""Markdown and changes as a terminal shows them.

Rule 1: what an agent wrote is data: it is cleared of what a terminal obeys before it is laid out, and of what Markdown has names
for (``&#x202e;``) after that; links are shown with the address that they lead to.
Rule 2: rich is imported here and nowhere else, when the first text is to be laid out.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, ClassVar

from trunkline.dialects.visible import printable, styled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.markdown import Markdown

CHANGE_LINES = 4_000
"""Lines of a file beyond which a change is told by its size: comparing costs the square of it."""
WIDEST = 110
"""Prose that is wider is hard to read."""
STYLES = {"markdown.code": "cyan", "markdown.h1": "bold underline"}
"""Without backgrounds: nobody knows what the terminal's own is."""


class Paint:
    """Lays text out for a terminal of the width that it has now."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def markdown(self, text: str) -> str:
        """Markdown, laid out, with the escape sequences of its colours."""
        if not text.strip():
            return ""
        console = self._console()
        console.print(_page_type()(printable(text), code_theme="ansi_dark", hyperlinks=False))
        assert isinstance(console.file, StringIO)
        lines = styled(console.file.getvalue()).split("\n")
        return "\n".join(line.rstrip(" ") for line in lines)  # what fills a line up would be copied with it

    def _console(self) -> Console:
        from rich.console import Console  # Rule 2
        from rich.theme import Theme

        width = min(shutil.get_terminal_size().columns, WIDEST)
        return Console(file=StringIO(), force_terminal=True, width=max(width - 1, 20), no_color=not self._colour, highlight=False,
                       markup=False, emoji=False, legacy_windows=False, theme=Theme(STYLES))


def wants_colour() -> bool:
    """Whether a terminal is to have colours."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def changed_lines(old: str, new: str) -> Iterator[str]:
    """A change as the lines of a unified diff, without its head."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > CHANGE_LINES:
        yield f"@@ {len(before)} lines before, {len(after)} lines after @@"
        return
    for number, line in enumerate(difflib.unified_diff(before, after, lineterm="", n=2)):
        if number > 1:  # the names of the files
            yield line


def colour_of(line: str) -> str | None:
    """The colour of a line of a diff."""
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])


@cache
def _page_type() -> type[Markdown]:
    """Markdown whose headings stand at the left, as everything else."""
    from rich.console import ConsoleOptions, RenderResult
    from rich.markdown import Heading, Markdown

    class LeftHeading(Heading):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            self.text.stylize("bold")
            yield self.text

    class Page(Markdown):
        elements: ClassVar = {**Markdown.elements, "heading_open": LeftHeading}

    return Page
