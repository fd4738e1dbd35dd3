"""What a reading of a tool call says: values, and what follows from them.

Rule 1: a reading never unsays. ``acts`` is everything that any evidence says the call does; more evidence can only add to it.
Rule 2: a doubt is a sentence for people. Whatever has one is left to them: no rule that allows fits it.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from trunkline.dialects.context.types import ToolCategory

ToolRole = Literal[
    "read", "write", "edit", "patch", "delete", "move", "search", "terminal", "fetch", "web_search", "task", "todos",
    "ask_user", "plan", "think", "mcp",
]
Source = Literal["name", "catalog", "title", "kind", "input", "content", "meta"]
"""Where something was found."""
Act = Literal["read", "search", "write", "delete", "move", "run", "fetch", "delegate", "unknown"]
"""What a call does to the world; one that does nothing (a thought, a plan) has none."""

ACT_OF_ROLE: Final[dict[ToolRole, Act | None]] = {
    "read": "read", "write": "write", "edit": "write", "patch": "write", "delete": "delete", "move": "move", "search": "search",
    "terminal": "run", "fetch": "fetch", "web_search": "fetch", "task": "delegate", "mcp": "unknown", "todos": None,
    "ask_user": None, "plan": None, "think": None,
}
_ONLY_LOOKS: Final[frozenset[Act]] = frozenset({"read", "search"})
_CHANGES: Final[frozenset[Act]] = frozenset({"write", "delete", "move"})
_LOOKS: Final[frozenset[ToolCategory]] = frozenset({"file_read", "search"})
_OWN: Final[frozenset[ToolCategory]] = frozenset({"git", "mcp", "agent"})


class Claims(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was claimed of a call and is claimed no more, or was claimed beside what names it: it can only make the call worse."""

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """Commands that stand in ``_meta``."""
    titles: tuple[str, ...] = ()
    """Titles that say that something is done."""
    announced: tuple[str, ...] = ()
    """Commands that its words announced."""
    named: tuple[str, ...] = ()
    """Members of ``_meta`` that are named after a deletion."""
    deeds: tuple[tuple[Act, str], ...] = ()
    """What members of ``_meta`` say that it does as well, and the names of these."""
    places: tuple[str, ...] = ()
    """Paths that stand in ``_meta``, or in other members beside its input."""
    folders: tuple[str, ...] = ()
    """Folders that stand there, and that a command may run in."""
    terminal: bool = False
    """It shows a terminal, though by its name or kind it runs nothing."""
    brings: bool = False
    """Beside its input stands something to write, though by its name or kind it only looks."""
    more: bool = False
    """More was said of it than is kept, or than is looked at."""


class CarriedReading(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What ``_meta.reading`` of an event says of a call, for faces that would have to look into its input otherwise."""

    category: ToolCategory = "other"
    role: ToolRole | None = None
    command: str | None = None
    paths: tuple[str, ...] = ()
    subject: str = ""
    only_runs: bool = False
    """Its command and the folder of that are all that there is to it."""


class CallReading(Struct, frozen=True, kw_only=True):
    """One tool call, as everybody who names, judges, allows or shows it has to take it."""

    tool: str
    """Its name in events and rules: the usual name of a tool where one fits, else the agent's own."""
    named_by: Source = "name"
    role: ToolRole | None = None
    """What it says it is for."""
    kind: str = "other"
    category: ToolCategory = "other"
    """What it is shown as: by its name, its kind and its role."""
    acts: frozenset[Act] = frozenset()
    command: str | None = None
    """Every line that it would run, with variables in front; one under the other."""
    command_from: Source = "input"
    claimed: str = ""
    """What only its title or its ``_meta`` says that it runs: held against it by risk and rules that restrict, never shown as its
    command."""
    said_to_run: str = ""
    """The member beside its input that says that it runs something, and not what."""
    folder: str | None = None
    """The folder that it names for that."""
    paths: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    """Globs among the paths, and patterns that may be globs."""
    deleted: tuple[str, ...] = ()
    """Of the paths, those that a patch deletes; where the tool itself is for deleting, all are."""
    moved: tuple[tuple[str, str], ...] = ()
    """From where to where a patch moves files."""
    linked: tuple[tuple[str, str], ...] = ()
    """Links that a patch makes, and where they lead; empty where that is not known."""
    queries: tuple[str, ...] = ()
    """Statements for a database that change something there."""
    unseen: str = ""
    """A character in a name or path that cannot be seen or looks like another one, shown to people."""
    doubts: tuple[str, ...] = ()
    cut: bool = False
    """Not all of it is known."""
    description: str = ""
    """What it does, in a line for people."""
    subject: str = ""
    """What it is about, where neither a command nor a path shows it."""
    beside: bool = False
    """Its input says something else beside its command and the folder that this runs in."""

    @property
    def sure(self) -> bool:
        """Whether all that it does is known."""
        return not self.doubts and not self.cut

    @property
    def only_runs(self) -> bool:
        """Whether its command and its folder are all that there is to it: who sees these has seen everything."""
        return (self.role == "terminal" and self.command is not None and self.command_from == "input" and self.sure
                and not self.beside and not self.unseen)

    @property
    def is_named(self) -> bool:
        """Whether the agent itself says which tool it is."""
        return self.named_by in ("name", "catalog", "title", "meta")

    @property
    def only_looks(self) -> bool:
        """Whether nothing in it contradicts that it reads or searches, and nothing else."""
        return bool(self.acts) and self.acts <= _ONLY_LOOKS and self.command is None and self.sure

    @property
    def judged_as(self) -> ToolCategory:
        """The category that rules hold against it: by what it brings, for its name could say anything."""
        if self.command is not None:
            return self.category if self.category in _OWN else "terminal"
        if self.category in _LOOKS and not self.acts <= _ONLY_LOOKS:
            return "file_edit" if self.acts & _CHANGES else "other"
        if self.category == "file_edit" and self.role in ("delete", "move"):
            return "file_write"  # an editor that is told to delete does what a tool for that does
        if self.category == "file_read" and self.kind == "search":
            return "search"  # by their names some are reads, but which files they read is not known beforehand
        return self.category
