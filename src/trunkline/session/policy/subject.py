"""What an agent wants to do, as rules look at it: the ask, and what its paths and its command line name, mention and may mean.

Rule: pure, and looked at once for all rules. Paths are judged by their spelling; what only the shell can know is a pattern.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.session.policy import globs
from trunkline.session.policy.behind import Behind, behind
from trunkline.session.policy.commands import (
    ANYTHING,
    bundle_ends,
    glob_outline,
    mentions,
    moves,
    outline,
    path_like_parts,
    path_outline,
    pieces,
    spellings,
    values,
)
from trunkline.session.policy.globs import Place
from trunkline.session.policy.hidden import TEXTS, hidden, runs_unknown, without_options
from trunkline.session.policy.names import fed_outlines

if TYPE_CHECKING:
    from trunkline.dialects.shell import ParsedLine, SimpleCommand

COMMAND_CHARS = 64 << 10
"""A longer command is not parsed: nothing but its exact text allows it."""
WORDS = 300
"""Words of a command that are looked at as paths; what has more may be about any path."""
BASES = 9
"""Folders that a line goes to, one after the other; what goes to more may be about any path."""
BUNDLE_ENDS = 600
"""Ends of bundles of short options that are looked at as paths; what has more may be about any path."""


class PolicyAsk(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What an agent wants to do, as far as a policy cares. ``paths`` are as the agent wrote them, or real ones."""

    tool: str
    category: ToolCategory
    shown_category: ToolCategory | None = field(default=None, name="toldAs")
    """The category in the call's events, where rules hold another one against the call as well; stored, and shown to clients,
    under the name that it had first."""
    agent: str
    risk: RiskLevel
    paths: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    """Globs among the paths, and patterns that may be globs: what they find is not named, but a rule may be about it."""
    command: str | None = None
    claimed: str = ""
    """What only a title says that it runs: rules that ask or deny look at it, no rule allows by it."""
    root: str
    session_id: str = ""
    turn_id: str | None = None
    cwd: str | None = None
    """Where a command runs; the root, where absent."""
    roots: tuple[str, ...] = ()
    """Further folders of the session: inside, but no pattern is relative to them."""
    home: str | None = None
    guarded: tuple[str, ...] = ()
    """The hub's own folders, which no rule opens."""
    risk_reason: str = ""
    """Why the risk is what it is, for people."""
    doubts: tuple[str, ...] = ()
    """What is not sure about it, for people: no rule allows it then but one that is this very command."""
    only_looks: bool = False
    """Whether nothing in it contradicts that it reads or searches."""
    input: str = ""
    """The exact input (``asks.input_print``), where neither a command nor paths say all that is asked for."""


class Subject:
    """An ask, looked at once for all rules: its places and its parsed command."""

    def __init__(self, ask: PolicyAsk) -> None:
        self.ask = ask

    @cached_property
    def claimed(self) -> Subject | None:
        """The ask as its title has it, where only that says what it runs."""
        return Subject(replace(self.ask, command=self.ask.claimed, claimed="")) if self.ask.claimed else None

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where the paths of the ask lie, and the folder its command runs in."""
        ask = self.ask
        folder = () if ask.command is None else (ask.cwd or ask.root,)
        return tuple(globs.place(path, ask.root, ask.home) for path in (*ask.paths, *folder))

    @cached_property
    def parsed(self) -> ParsedLine | None:
        """The command line's simple commands; None without a command, or with one too long to look at."""
        if self.ask.command is None or len(self.ask.command) > COMMAND_CHARS:
            return None
        from trunkline.dialects.shell import parse_shell  # only who asks for a command needs the parser

        return parse_shell(self.ask.command)

    @cached_property
    def commands(self) -> tuple[SimpleCommand, ...]:
        """The simple commands that could be read."""
        return self.parsed.commands if self.parsed is not None else ()

    @cached_property
    def is_whole(self) -> bool:
        """Whether ``commands`` is all that the line runs."""
        return self.ask.command is None or (self.parsed is not None and self.parsed.complete)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        """Every word of the command that may be a path."""
        ask = self.ask
        found = [*mentions(self.commands, ask.home), *(self.parsed.tested if self.parsed is not None else ())]
        if not self.is_whole and ask.command is not None:
            found += ask.command[:COMMAND_CHARS].split()
        return tuple(dict.fromkeys(values(found)))[:WORDS + 1]

    @cached_property
    def base(self) -> str:
        """Where a relative path in the command begins."""
        return posixpath.join(self.ask.root, self.ask.cwd or "")

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """Where relative paths in the command may begin: where it runs, and each folder that it goes to."""
        ask, found = self.ask, [self.base]
        for folder in moves(self.commands):
            gone = [globs.place(folder, ask.root, ask.home, base).absolute for base in found]
            found = list(dict.fromkeys((*found, *gone)))[:BASES]
            if len(found) == BASES:
                break
        return tuple(found)

    @cached_property
    def mentioned(self) -> tuple[Place, ...]:
        """Every place that is named: by the paths, and by each word of the command read as a path."""
        ask, elsewhere = self.ask, self.bases[1:]
        named = [globs.place(word, ask.root, ask.home, self.base) for word in self._words]
        relative = [word for word in self._words if word[:1] not in ("/", "~", "-", "")] if elsewhere else ()
        return (*self.places, *named, *(globs.place(word, ask.root, ask.home, base) for base in elsewhere for word in relative))

    @cached_property
    def may_be_named(self) -> tuple[Place, ...]:
        """Places that the end of a bundle of options may be (``-czfsecrets``)."""
        ask = self.ask
        return tuple(globs.place(end, ask.root, ask.home, self.base) for end in dict.fromkeys(self._ends))

    @cached_property
    def _ends(self) -> list[str]:
        """Ends of bundles, each as often as it stands there: of those that are the same, the last may not be looked at."""
        return list(islice(bundle_ends(self._words), BUNDLE_ENDS))

    @cached_property
    def fed(self) -> tuple[str, ...]:
        """Patterns of the names that come out of a pipe, a list or ``find``."""
        return tuple(dict.fromkeys(fed_outlines(self.commands, self.base, self.ask.home)))

    @cached_property
    def path_outlines(self) -> tuple[str, ...]:
        """Patterns of the places that are not named but may be meant."""
        ask = self.ask
        hidden = list(dict.fromkeys(piece for word in self._words for piece in path_like_parts(word)))
        if not self.is_whole or len(self._words) + len(hidden) > WORDS or len(self._ends) >= BUNDLE_ENDS:
            return (ANYTHING,)
        with_hidden = any("dotglob" in word or "globdots" in word.replace("_", "").lower() for word in self._words)
        if len(self.bases) >= BASES:
            return (ANYTHING,)
        found = [path_outline(word, base, ask.home, with_hidden) for base in self.bases for word in self._words]
        found += self._glob_outlines
        named = [globs.escape(globs.place(piece, ask.root, ask.home, self.base).absolute) for piece in hidden]
        return tuple(dict.fromkeys((*(one for one in found if one is not None), *named)))

    @cached_property
    def _glob_outlines(self) -> list[str | None]:
        """What the globs may find, and what only may be a glob as it is written."""
        ask = self.ask
        unsure = [globs.escape(path) for path in ask.globs if path not in ask.paths]
        return [*unsure, *(glob_outline(globs.place(path, ask.root), ask.root) for path in ask.globs)]

    @cached_property
    def behind(self) -> dict[int, Behind]:
        """What stands behind the commands, by their identity."""
        return dict(zip(map(id, self.commands), behind(self.commands), strict=True))

    def runs_unknown(self, one: SimpleCommand) -> bool:
        """Whether a command of the line may run what its words do not say."""
        return runs_unknown(one) or self.behind[id(one)].unknown

    def hidden_in(self, one: SimpleCommand) -> Iterator[str]:
        """What a command of the line may run in turn."""
        yield from hidden(one)
        yield from self.behind[id(one)].texts

    @cached_property
    def outlines(self) -> tuple[str, ...]:
        """Patterns of the commands that only the shell knows in full."""
        if not self.is_whole or len(self.hidden) > TEXTS or any(map(self.runs_unknown, self.commands)):
            return ("*",)
        found = [outline(one) for one in self.commands]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """What the commands of the line may run in turn, as far as it is in their words."""
        return tuple(islice((text for one in self.commands for text in self.hidden_in(one)), TEXTS + 1))

    @cached_property
    def spellings(self) -> tuple[list[str], ...]:
        """Each simple command in every way that a rule may have written it; the whole line comes last."""
        line = self.ask.command
        if line is None:
            return ()
        rough = [] if self.is_whole else [[piece] for piece in dict.fromkeys(pieces(line[:COMMAND_CHARS]))]
        return (*map(self.every_spelling, self.commands), *rough, [" ".join(line.split()), line])

    def every_spelling(self, one: SimpleCommand) -> list[str]:
        """A command of the line in every way that a rule may have written it, other names of it included."""
        bare = without_options(one)
        return [*spellings(one), *([bare] if bare is not None else []), *self.behind[id(one)].names]

    @cached_property
    def guarded(self) -> str:
        """The hub's own folder that this touches, or nothing. Who changes a folder above it changes it as well."""
        ask = self.ask
        changes = ask.category not in ("file_read", "search")
        named = self.mentioned if ask.command is None else (*self.places[:-1], *self.mentioned[len(self.places):])
        for folder in map(globs.clean, ask.guarded):
            pattern = [globs.escape(folder)]
            if any(globs.path_concerned(pattern, where) or (changes and _holds(where.absolute, folder)) for where in named):
                return folder
            if any(globs.path_may_match(pattern, one, ask.root) for one in self.path_outlines if one != ANYTHING):
                return folder
        return ""


def _holds(folder: str, path: str) -> bool:
    return globs.relative_to(globs.folded(path), globs.folded(folder)) is not None
