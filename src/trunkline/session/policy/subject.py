"""What an agent wants to do, as rules look at it: the ask, and what its paths and its command line name, mention and may mean.

Rule: pure, and looked at once for all rules. Paths are judged by their spelling; what only the shell can know is a pattern.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.loaders import installs_for_all
from trunkline.dialects.calls.names import verb_in
from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.dialects.glob_climbs import ANYWHERE, climbing
from trunkline.dialects.roaming import may_roam
from trunkline.session.policy import globs
from trunkline.session.policy.behind import Behind, behind
from trunkline.session.policy.commands import (
    ANYTHING,
    braced,
    bundle_ends,
    entries_named,
    glob_outline,
    is_only_text,
    mentions,
    moves,
    moves_where_it_stands,
    other_names,
    outline,
    path_like_parts,
    path_outline,
    pieces,
    quoted_patterns,
    spellings,
    values,
    wild_parts,
)
from trunkline.session.policy.globs import Place
from trunkline.session.policy.handed import handling
from trunkline.session.policy.hidden import (
    TEXTS,
    brings_code_in,
    hidden,
    line_steers_hub,
    options_behind,
    runs_unknown,
    without_options,
)
from trunkline.session.policy.loops import known_in_loop
from trunkline.session.policy.names import Tree, fed_outlines, put_into, read_by_default, whole_folders
from trunkline.session.policy.reach import may_lead_to, of_home_in_code, parts_that_hold, within_path
from trunkline.session.policy.spoken import spoken
from trunkline.session.policy.synonyms import MOST, Standing, perhaps, synonyms
from trunkline.session.workspace import PLAYGROUND

if TYPE_CHECKING:
    from trunkline.dialects.shell import ParsedLine, SimpleCommand, Values

COMMAND_CHARS = 64 << 10
"""A longer command is not parsed: nothing but its exact text allows it."""
WORDS = 300
"""Words of a command that are looked at as paths; what has more may be about any path."""
BASES = 9
"""Folders that a line goes to, one after the other; what goes to more may be about any path."""
LOOSE = 1000
"""Words of a line of which not all is known that are held against the hub's own; what has more is left to people."""
_HERE = re.compile(r"^(?:\$PWD|\$\{PWD\})/")
_DEFAULT = re.compile(r"\$\{\w+:?[-=+]([^{}]*)\}")
_DYNAMIC = re.compile(r"[$`]")
_VARIABLE = re.compile(r"\$\w+|\$\{[^{}]*\}")
_BETWEEN_WORDS = re.compile(r"[\s;|&()<>'\"`]+")
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
        found = [*mentions(self.commands, ask.home, self._looped), *(self.parsed.tested if self.parsed is not None else ())]
        if not self.is_whole and ask.command is not None:
            found += ask.command[:COMMAND_CHARS].split()
        found += [*braced(found), *read_by_default(self.commands), *put_into(self.commands)]
        return tuple(dict.fromkeys(values(found)))[:WORDS + 1]

    @cached_property
    def _looped(self) -> frozenset[str]:
        """Words of a loop that can be nothing but what the line says: they are among ``_spelled``."""
        if self.parsed is None or not self.is_whole or not self.parsed.bound or self.ask.command is None:
            return frozenset()
        return known_in_loop(self.ask.command, self.commands, self._values)

    @cached_property
    def _values(self) -> Values:
        """What the variables of the line may be."""
        from trunkline.dialects.shell import Values, goes_elsewhere  # as heavy as the parser

        bound = self.parsed.bound if self.parsed is not None else ()
        return Values(bound, posixpath.basename(self.ask.home or ""), moves=goes_elsewhere(self.commands))

    @cached_property
    def _spelled(self) -> tuple[str, ...]:
        """What the words that only the shell knows may be, by the values that the line and the environment give their variables;
        parts of them may still be open."""
        if self.parsed is None:
            return ()
        open_words = [one.sketch[at] for one in self.commands if None in one.words
                      for at, word in enumerate(one.words) if word is None and not is_only_text(one, at)]
        open_words += [each.sketch for one in self.commands for each in one.redirects if each.target is None]
        if not open_words:
            return ()
        found = dict.fromkeys(one for word in dict.fromkeys(open_words) for one in self._values.possible(word))
        return tuple(islice(found, WORDS))

    @cached_property
    def _settled(self) -> tuple[Place, ...]:
        """Places that these may be."""
        ask, words = self.ask, dict.fromkeys(values(one for one in self._spelled if not _DYNAMIC.search(one)))
        return tuple(globs.place(each, ask.root, ask.home, base) for word in words for each in (word, *climbing(word))
                     for base in self.bases)

    @cached_property
    def _within(self) -> tuple[Place, ...]:
        """Folders that a part of a word may name, to somebody who is given all that is in them."""
        ask, words = self.ask, (*self._words, *(one for one in self._spelled if not _DYNAMIC.search(one)))
        parts = [part for word in words for part in parts_that_hold(word)]
        if ask.home is not None:
            parts += [part for word in words for part in of_home_in_code(word, ask.home)]
        return tuple(globs.place(part, ask.root, ask.home, self.base) for part in islice(dict.fromkeys(parts), WORDS))

    @cached_property
    def roams(self) -> bool:
        """Whether a path in it leads through a process, or from a folder that only the shell knows, and may be any place."""
        places = (*self.mentioned, *self._climbed_to, *self._settled, *self._within, *self._gone)
        return any(where.roams for where in places) or any(map(may_roam, self._wild_outlines))

    @cached_property
    def _above(self) -> tuple[str, ...]:
        """What words and globs stand for where a part of them is ``..`` to the shell (``.?/x``)."""
        literal = quoted_patterns(self.commands) if self.is_whole else frozenset[str]()
        words = [word for word in (*self._words, *self.ask.globs) if word not in literal]
        found = dict.fromkeys(above for word in words for above in climbing(word))
        return (*found, ANYTHING) if ANYWHERE in found else tuple(found)

    @cached_property
    def base(self) -> str:
        """Where a relative path in the command begins."""
        return posixpath.join(self.ask.root, self.ask.cwd or "")

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """Where relative paths in the command may begin: where it runs, and each folder that it goes to."""
        return tuple(dict.fromkeys((self.base, *(where.absolute for where in self._gone[1:]))))[:BASES]

    @cached_property
    def _gone(self) -> tuple[Place, ...]:
        """The folders that the command goes to, each from every one before."""
        ask = self.ask
        found = {self.base: globs.place(self.base, ask.root)}
        for folder in moves(self.commands):
            for base in tuple(found):
                for one in (folder, *climbing(folder)):
                    where = globs.place(one, ask.root, ask.home, base)
                    found[where.absolute] = where if where.roams else found.get(where.absolute, where)
            if len(found) >= BASES:
                break
        return tuple(found.values())

    @cached_property
    def mentioned(self) -> tuple[Place, ...]:
        """Every place that is named: by the paths, and by each word of the command read as a path."""
        ask, elsewhere = self.ask, self.bases[1:]
        named = [globs.place(word, ask.root, ask.home, self.base) for word in self._words]
        relative = [word for word in self._words if word[:1] not in ("/", "~", "-", "")] if elsewhere else ()
        named += [globs.place(word, ask.root, ask.home, self.base) for word in self._through_names]
        return (*self.places, *named, *(globs.place(word, ask.root, ask.home, base) for base in elsewhere for word in relative))

    @property
    def _through_names(self) -> Iterator[str]:
        """Words by what they mean where they begin with a name that the line itself gives to a folder."""
        for name, target in islice(other_names(self.commands), BASES):
            before = f"{name.removeprefix('./').rstrip('/')}/"
            words = [word.removeprefix("./") for word in self._words] if before != "/" else ()
            yield from (f"{target.rstrip('/')}/{word[len(before):]}" for word in words if word.startswith(before))

    @cached_property
    def may_be_named(self) -> tuple[Place, ...]:
        """Places that the end of a bundle of options may be (``-czfsecrets``), and those that a glob may climb to."""
        ask = self.ask
        return (*(globs.place(end, ask.root, ask.home, self.base) for end in dict.fromkeys(self._ends)), *self._climbed_to,
                *self._settled, *self.within_paths)

    @cached_property
    def within_paths(self) -> tuple[Place, ...]:
        """Places that a tool's own paths may be to one that takes more than a path there: with lines (``.env:1-20``), in quotes,
        behind an ``@``, several in one text, or with escapes of addresses."""
        ask = self.ask
        own = [_below(path, (ask.root, *ask.roots)) for path in ask.paths] if ask.command is None else []
        paths = [*own, *(unquote(path) for path in own if "%" in path)]
        parts = islice(dict.fromkeys(part for path in paths for part in within_path(path) if part not in own), WORDS)
        return tuple(globs.place(part, ask.root, ask.home, self.base) for part in parts)

    @cached_property
    def _climbed_to(self) -> tuple[Place, ...]:
        return tuple(globs.place(word, self.ask.root, self.ask.home, base) for base in self.bases for word in self._above)

    @cached_property
    def _ends(self) -> list[str]:
        """Ends of bundles, each as often as it stands there: of those that are the same, the last may not be looked at."""
        return list(islice(bundle_ends(self._words), BUNDLE_ENDS))

    @cached_property
    def fed(self) -> tuple[str, ...]:
        """Patterns of the names that come out of a pipe, a list or ``find``."""
        return tuple(dict.fromkeys(fed_outlines(self.commands, self.base, self.ask.home)))

    @cached_property
    def gone_through(self) -> tuple[Tree, ...]:
        """Folders outside the root of which a command reads, copies or changes all that is below."""
        ask = self.ask
        return tuple(dict.fromkeys(islice(whole_folders(self.commands, self.bases, ask.root, ask.home), WORDS)))

    @cached_property
    def path_outlines(self) -> tuple[str, ...]:
        """Patterns of the places that are not named but may be meant."""
        ask = self.ask
        hidden = list(dict.fromkeys(piece for word in self._words for piece in path_like_parts(word)))
        if not self.is_whole or len(self._words) + len(self._above) + len(hidden) > WORDS or len(self._ends) >= BUNDLE_ENDS:
            return (ANYTHING,)
        if len(self.bases) >= BASES:
            return (ANYTHING,)
        named = [globs.escape(globs.place(piece, ask.root, ask.home, self.base).absolute) for piece in hidden]
        roaming = (ANYTHING,) if self.roams else ()
        return tuple(dict.fromkeys((*self._wild_outlines, *named, *roaming)))

    @cached_property
    def _wild_outlines(self) -> tuple[str, ...]:
        """Patterns of what words, parts of words and globs with wildcards may stand for."""
        ask = self.ask
        with_hidden = any("dotglob" in word or "globdots" in word.replace("_", "").lower() for word in self._words)
        settled = [word for word in values(one for one in self._spelled if not _DYNAMIC.search(one))]
        words = (*self._words, *self._above, *settled, *islice(dict.fromkeys(wild_parts(self.commands)), WORDS))
        found = [path_outline(word, base, ask.home, with_hidden) for base in self.bases for word in words]
        return tuple(dict.fromkeys(one for one in (*found, *self._glob_outlines) if one is not None))

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
        yield from perhaps(one)
        yield from self.behind[id(one)].texts

    @cached_property
    def outlines(self) -> tuple[str, ...]:
        """Patterns of the commands that only the shell knows in full."""
        if not self.is_whole or len(self.hidden) > TEXTS or any(map(self.runs_unknown, self.commands)):
            return ("*",)
        if any(len(one) > MOST for one in self.spellings):
            return ("*",)
        found = [one for command in self.commands if (one := outline(command)) is not None]
        scripts = [one for one in found if "/" in one]  # `bash scripts/*.sh` may be `./scripts/deploy.sh`
        return tuple(dict.fromkeys((*found, *(self.in_other_words(scripts) if scripts else ()))))

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
        found = [*spellings(one), *without_options(one), *options_behind(one), *self.behind[id(one)].names]
        found += [f"{text} -g --global" for text in found if any(map(installs_for_all, one.sets))]
        found += self._spoken.get(id(one), ())
        return list(dict.fromkeys((*found, *self.in_other_words(found))))

    @cached_property
    def _spoken(self) -> dict[int, list[str]]:
        """The commands with what the line puts on their input among their words."""
        return spoken(self.commands)

    def in_other_words(self, texts: Sequence[str]) -> list[str]:
        """Commands as others would write them."""
        return synonyms(texts, self._standing)

    @cached_property
    def _standing(self) -> Standing:
        ask = self.ask
        bases = tuple(map(globs.folded, self.bases))
        return Standing(globs.folded(ask.root), bases, globs.folded(ask.home) if ask.home is not None else None)

    @cached_property
    def unsure(self) -> str:
        """What of the command is known only when it runs: where it changes something, or what its code does; or nothing. A long
        line is left to people, where it has a word that only the shell knows or brings code."""
        ask = self.ask
        if ask.command is None or self.parsed is None:
            return ""
        from trunkline.dialects.risk import Places, unsure_line  # as heavy as the parser
        from trunkline.dialects.shell import is_long

        if is_long(ask.command) and not (self._spelled or any(map(brings_code_in, self.commands))):
            return ""

        return unsure_line(ask.command, Places.of(self.base, (ask.root, *ask.roots), ask.home))

    @cached_property
    def steers_hub(self) -> bool:
        """Whether it may be the hub's own command line, changing what the hub allows."""
        return bool(self.ask.guarded) and line_steers_hub([(one, self.behind[id(one)]) for one in self.commands])

    @cached_property
    def guarded(self) -> str:
        """The hub's own folder that this touches, or nothing. Who changes a folder above it changes it as well; what lies in its
        playground is for agents, but where that is, is the hub's."""
        ask = self.ask
        if self.steers_hub:
            return ask.guarded[0]
        changes = ask.category not in ("file_read", "search")
        named = self.mentioned if ask.command is None else (*self.places[:-1], *self.mentioned[len(self.places):])
        open_words = [one for one in self._spelled if _DYNAMIC.search(one)]
        if ask.guarded and self.roams:
            return globs.clean(ask.guarded[0])
        for folder in map(globs.clean, ask.guarded):
            pattern, playground = [globs.escape(folder)], f"{folder.rstrip('/')}/{PLAYGROUND}"
            if any((globs.path_concerned(pattern, where) and not (where.plain and _is_in(where.absolute, playground)))
                   for where in (*named, *self._climbed_to, *self._settled, *self._within)):
                return folder
            if changes and any(_holds(where.absolute, folder) for where in (
                    *(named if self._handed is None else self._handed), *self._climbed_to, *self._settled, *self._within)):
                return folder
            if any(may_lead_to(folder, one, base, ask.home) for one in open_words for base in self.bases):
                return folder
            if changes and self._may_replace(playground):
                return folder
            if self._loose is None or any(where.absolute == playground or (
                    globs.path_concerned(pattern, where) and not _is_in(where.absolute, playground)) or (
                    changes and where.absolute != "/" and _holds(where.absolute, folder)) for where in self._loose):
                return folder
            if any(globs.path_may_match(pattern, one, ask.root) and not self._stays_in(playground, one)
                   for one in self.path_outlines if one != ANYTHING):
                return folder
        return ""

    @cached_property
    def _handed(self) -> tuple[Place, ...] | None:
        """The places that something in the line may change or hand on as a whole: what commands name that do more than look,
        and where they stand once the line has gone elsewhere; None where nobody knows, and it may be all that is named."""
        ask = self.ask
        if ask.command is None or self.parsed is None or not self.is_whole or self.parsed.tested:
            return None
        found = handling(ask.command, self.commands, self.base, ask.home)
        if found is None:
            return None
        words = dict.fromkeys((word, base) for one in found for base in one.folders
                              for word in (*one.words, *braced(one.words), *(() if base == self.base else (".",))))
        return (*self.places[:-1], *(globs.place(word, ask.root, ask.home, base) for word, base in words))

    @cached_property
    def _loose(self) -> tuple[Place, ...] | None:
        """Places that stand anywhere in a line in which only the shell knows a word (``for x in PATH; do cat $x; done``), and
        in no word of its commands; None where there are too many."""
        ask = self.ask
        if ask.command is None or not any(None in one.words for one in self.commands):
            return ()
        known = {*self._words, "", "."}
        written = _BETWEEN_WORDS.split(ask.command[:COMMAND_CHARS])
        words = dict.fromkeys(_without_variables(word) for word in written if word not in known)
        found = list(islice((each for word in values(words) for each in (word, *climbing(word)) if each), LOOSE + 1))
        return tuple(globs.place(word, ask.root, ask.home, self.base) for word in found) if len(found) <= LOOSE else None

    def _may_replace(self, playground: str) -> bool:
        """Whether this may move, remove or replace a folder itself, and not what is in it."""
        ask = self.ask
        if ask.command is None:
            is_known = ask.category in ("file_write", "file_edit", "terminal", "git")
            return (is_known or verb_in(ask.tool) is not None) and any(where.absolute == playground for where in self.places)
        if playground in map(globs.clean, self.bases) and moves_where_it_stands(self.commands):
            return True
        words = entries_named(PLAYGROUND, self.commands, ask.home) if self.is_whole else self._words
        return any(globs.place(word, ask.root, ask.home, base).absolute == playground for word in words for base in self.bases)

    @property
    def guard(self) -> str:
        """What the hub guards of itself that this is about, in words for people; or nothing."""
        if not self.guarded:
            return ""
        return "the hub's own command line" if self.steers_hub else f"the hub's own {self.guarded}"

    def _stays_in(self, playground: str, outline: str) -> bool:
        """Whether all that an outline stands for is in the playground. Where something climbs (``..``), a link on the way may
        lead elsewhere."""
        return _is_in(outline, globs.escape(playground)) and not self._climbs

    @cached_property
    def _climbs(self) -> bool:
        return any(".." in word for word in (*self._words, *self._above, *self.ask.globs))


def _below(path: str, roots: tuple[str, ...]) -> str:
    """A path as it is called from the first of these folders that it is in; what such a folder is called says nothing of it."""
    return next((inside for root in roots if (inside := globs.relative_to(path, root))), path)


def _without_variables(word: str) -> str:
    """A word with what it has where a variable is not set, with the folder itself for ``$PWD/``, and a star for other variables
    behind its beginning."""
    word = _HERE.sub("./", _DEFAULT.sub(r"\1", word))
    return word[:1] + _VARIABLE.sub("*", word[1:])


def _is_in(path: str, folder: str) -> bool:
    return globs.relative_to(path, folder) is not None


def _holds(folder: str, path: str) -> bool:
    return globs.relative_to(globs.folded(path), globs.folded(folder)) is not None
