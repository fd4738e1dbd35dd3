"""What a shell line is made of, as values: simple commands, redirections, spans."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SpanRole = Literal["command", "argument", "operator", "redirect", "string", "substitution"]


class Redirect(Struct, frozen=True, gc=False):
    """One redirection: ``2>> log`` is operator ``>>``, descriptor ``2``, target ``log``."""

    operator: str
    target: str | None
    """Where to or from; None where it is dynamic. Empty for a here-doc."""
    sketch: str
    """The target with its dynamic parts as written (``$HOME/x``)."""
    descriptor: str = ""
    body: str | None = None
    """The text of a here-doc or a here-string; None where it is dynamic, or where the redirection has none."""

    @property
    def writes(self) -> bool:
        """Whether it can change a file; ``2>&1`` cannot."""
        return ">" in self.operator and not (self.operator in (">&", "<&") and is_descriptor(self.sketch))

    @property
    def reads(self) -> bool:
        """Whether it reads a file."""
        return self.operator == "<" or (self.operator == "<>" and not is_descriptor(self.sketch))


class SimpleCommand(Struct, frozen=True, gc=False):
    """One program with its arguments, as the shell would start it."""

    text: str
    """As written, one space between words, without redirections and leading assignments. Globs of a policy match this."""
    words: tuple[str | None, ...]
    """Without quotes, braces expanded. None: only known when it runs (a variable, a substitution)."""
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[str, ...] = ()
    pipeline: int = 0
    """Which pipeline of the line it is in. Commands of one pipeline share the number."""
    position: int = 0
    """Its stage in that pipeline, from 0."""
    inside: str = ""
    """What runs it: nothing for the line itself, else ``sh -c``, ``$(…)``, ``xargs``, ``find -exec``, ``sudo`` …"""
    sketch: tuple[str, ...] = ()
    """The words again, with dynamic parts as written: ``$HOME/.ssh``."""
    parent: int = -1
    """The index, in the line, of the command that it is inside of."""
    stdin_from: int = -1
    """Its input may come from the commands from this index up to its own; -1: from none of them."""
    scope: tuple[int, ...] = ()
    """The shell that it runs in: empty for the line's own, one number more for each below (a subshell, a pipe's stage)."""
    transparent: bool = False
    """It only starts the command inside it and adds nothing (``env``, ``timeout 5``, ``nohup``)."""
    computes: bool = False
    """It computes the value of a name or of words: that may set any name and run any command (``computing.py``)."""
    binds: tuple[str, ...] = ()
    """What its own words and redirections give a value to, as ``NAME=value`` (``bindings.py``)."""

    @property
    def sets(self) -> tuple[str, ...]:
        """All that it gives a value to: the assignments in front of it, and what it binds itself."""
        return (*self.assignments, *self.binds) if self.binds else self.assignments

    @property
    def name(self) -> str | None:
        """The program without its folder; None where it is dynamic, empty where there is only a redirection."""
        if not self.words:
            return ""
        first = self.words[0]
        return first if first is None or "/" not in first else first.rpartition("/")[2] or first

    @property
    def plain(self) -> str:
        """The words without quotes, dynamic ones as written: what a deny rule must see behind ``r''m`` and ``/bin/rm``."""
        if not self.sketch:
            return ""
        return " ".join((self.name or self.sketch[0], *self.sketch[1:]))

    @property
    def stdin_text(self) -> str | None:
        """The here-doc or here-string that it reads, where it is literal."""
        if not self.redirects:
            return None
        bodies = [redirect.body for redirect in self.redirects if redirect.operator.startswith("<<")]
        return bodies[-1] if bodies else None


class Binding(Struct, frozen=True, gc=False):
    """A name that gets a value somewhere in a line, or a function (``name()``)."""

    name: str
    value: str | None
    """None: only the run knows it."""
    sketch: str = ""
    """The value with its dynamic parts as written: ``$HOME/x``."""


class ParsedLine(Struct, frozen=True):
    """Every simple command of a line, outer before inner, in the order written."""

    commands: tuple[SimpleCommand, ...]
    complete: bool
    """False: it has syntax errors, is too long or too deep, so commands may be missing."""
    problem: str = ""
    """Why it is not complete."""
    tested: tuple[str, ...] = ()
    """Files that ``[ -s x ]`` looks at, as far as they stand there: it is no command, and still a look."""
    bound: tuple[Binding, ...] = ()
    """Every name that gets a value, the shell's own included, once for each value."""


class Span(Struct, frozen=True, gc=False):
    """A part of a line, in characters, and what it is."""

    start: int
    end: int
    role: SpanRole


def is_descriptor(text: str) -> bool:
    """Whether a redirection goes to another descriptor (``2>&1``, ``>&-``) and not to a file."""
    return text == "-" or text.rstrip("-").isdigit()
