"""One simple command out of its syntax node: words, assignments, redirections, and then what it runs itself.

Rule 1: a command's index is taken before its words are read, so that the commands in its substitutions can name it as their
parent.
Rule 2: what the grammar may have got wrong is a doubt, and the line is not complete.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct, structs

from trunkline.dialects.shell.bindings import BINDERS, UNKNOWN_VALUE, assigned_in, bound_by, names_descriptor
from trunkline.dialects.shell.computing import (
    NOTHING,
    SURELY_OPEN,
    NameValues,
    Needs,
    all_of,
    of_bracket,
    of_expression,
    of_index,
    of_indexes,
    of_test,
    set_to_numbers,
)
from trunkline.dialects.shell.doubts import backtick_texts, heredoc_ends
from trunkline.dialects.shell.redirects import mistaken_word, read_heredoc, read_redirect, skipped_words
from trunkline.dialects.shell.syntax import Binding, Redirect, SimpleCommand
from trunkline.dialects.shell.words import Nested, Word, add_words, bare_word, quoted_word, read_text, read_words
from trunkline.dialects.shell.wrappers import Inner, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 40
"""Statements inside statements; deeper nesting is never written by hand."""
MAX_COMMANDS: Final = 500
REDIRECTS: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
ARGUMENTS: Final = frozenset(
    {"word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "number", "brace_expression"}
    | {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)

_PLACEHOLDER: Final = SimpleCommand(text="", words=())
_SAME_SHELL: Final = frozenset({"eval", "command", "builtin", "alias", "trap"})
_BARE: Final = frozenset({"word", "number", "command_name", "==", "=~", "$"})
"""Leaves that are a word as they stand; the last three are those that the grammar takes for operators of a test."""
_SUBSTITUTIONS: Final = frozenset({"command_substitution", "process_substitution"})
_STRINGS: Final = frozenset({"string", "raw_string"})

_OPENED: Final = frozenset("*?[{")
_READS_FILES: Final = frozenset(("source", ".", "eval"))
_TOUCHES_NAMES: Final = _READS_FILES | BINDERS.keys() | {"test", "[", "[[", "coproc", None}
"""Commands that give values to names, or compute them; None: one that only the run knows."""

Trailing = tuple["Node", ...] | list["Node"]
"""Redirections that stand behind a statement."""


class ShellPlace(Struct, frozen=True, gc=False):
    """Where a statement stands."""

    inside: str = ""
    parent: int = -1
    stdin_from: int = -1
    depth: int = 0
    scope: tuple[int, ...] = ()


class CommandReader(ABC):
    """Collects simple commands. What is inside them is read by whoever knows statements."""

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.tested: list[str] = []
        self.bound: list[Binding] = []
        self.values = NameValues()
        self.computed: list[tuple[int, Needs, bool]] = []
        """Commands that compute, what they need to be sure, and whether they are only there because they may not be."""
        self.problem = ""
        self._source = b""
        self._computed_end = -1
        self._pipelines = 0
        self._scopes = 0

    @abstractmethod
    def read(self, text: str, place: ShellPlace) -> None:
        """Read a text as shell; inside another command when ``place`` says so."""

    @abstractmethod
    def _substitution(self, node: Node, place: ShellPlace) -> None:
        """Read the commands of a substitution."""

    def _command(self, node: Node | None, place: ShellPlace, behind: Trailing, pipeline: int, position: int) -> None:
        """A simple command: its words, its assignments, its redirections, and then what it runs itself."""
        index = self._reserve()
        deeper = ShellPlace(place.inside, index, place.stdin_from, place.depth + 1, place.scope)
        words: list[Word] = []
        assignments: list[str] = []
        redirects: list[Redirect] = []
        source, ends_at, before = self._source, -1, ""
        for child in node.children if node is not None else ():
            kind, start, end = child.type, child.start_byte, child.end_byte
            if kind == "variable_assignment":
                assignments.append(self._assignment(child, deeper)[1])
            elif kind in REDIRECTS:
                redirects.extend(self._redirects([child], deeper))
            elif kind != "comment":
                written = source[start:end]
                word = bare_word(written) if kind in _BARE else self._simple_word(child, kind, written, deeper)
                gap = b" " if ends_at < 0 else source[ends_at:start]
                if word is not None and gap == b" ":
                    words.append(word)
                else:
                    more = [word] if word is not None else self._words(child, self._nested(deeper))
                    self._doubt(add_words(words, more, gap, before in ARGUMENTS or before == "command_name"))
            ends_at, before = end, kind
        if behind:
            found, more = self._behind(behind, deeper)
            redirects.extend(found)
            words.extend(more)
        self._finish(index, words, tuple(redirects), tuple(assignments), place, pipeline, position)

    def _behind(self, behind: Trailing, place: ShellPlace) -> tuple[tuple[Redirect, ...], list[Word]]:
        """Redirections behind a statement, and the words between and after them (``cat > x -n``), which are its arguments."""
        redirects: list[Redirect] = []
        words: list[Word] = []
        nested = self._nested(place)
        for redirect in behind:
            if skipped := skipped_words(redirect, self._source):
                self._doubt("" if set(skipped) <= {"-"} else "words that the grammar cannot have read right")
                words.extend([Word(*(one,) * 3) for one in skipped])
            redirects.extend(self._redirects([redirect], place))
            words.extend(self._trailing(redirect, nested))
        return tuple(redirects), words

    def _simple_word(self, node: Node, kind: str, written: bytes, place: ShellPlace) -> Word | None:
        """A word in quotes, or a substitution, that needs no look at what its node is made of; None: it does."""
        if kind in _STRINGS:
            return quoted_word(written)
        if kind in _SUBSTITUTIONS:
            self._substitution(node, place)
            text = written.decode("utf-8", "replace")
            return Word(None, text, text)
        return None

    def _words(self, node: Node, nested: Nested) -> list[Word]:
        """The words of one argument."""
        words = read_words(node, self._source, nested)
        if words and words[0].strange:
            self._doubt("words that the grammar cannot have read right")
        return words

    def _trailing(self, redirect: Node, nested: Nested) -> list[Word]:
        """Arguments that the grammar files under a redirection."""
        before = mistaken_word(redirect, self._source)
        skip = 0 if redirect.type == "heredoc_redirect" else 1
        parts = [child for child in redirect.children if child.type in ARGUMENTS]
        if len(parts) <= skip and not before:
            return []  # as mostly: nothing but its target
        if len(parts) > skip > 0 and not self._source[parts[0].end_byte : parts[skip].start_byte].replace(b"\\\n", b""):
            self._doubt("a target that goes on in the next line")
        after = redirect.next_sibling
        if parts[skip:] and after is not None and parts[-1].end_byte == after.start_byte and self._slice(parts[-1]).isdigit():
            parts.pop()  # the descriptor of the redirection that follows: ``>& x 0>&1``
        words = [word for child in parts[skip:] for word in self._words(child, nested)]
        return [Word(before, before, before), *words] if before else words

    def _declaration(self, node: Node, place: ShellPlace, behind: Trailing, pipeline: int, position: int) -> None:
        """``export A=1``, ``unset A``: a command whose name the grammar makes a keyword."""
        index = self._reserve()
        deeper = ShellPlace(place.inside, index, place.stdin_from, place.depth + 1, place.scope)
        nested = self._nested(deeper)
        words: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment":
                words.append(Word(*self._assignment(child, deeper), self._slice(child)))
            elif child.child_count or child.type in ARGUMENTS:
                words.extend(self._words(child, nested))
            else:
                words.append(Word(*(self._slice(child),) * 3))
        redirects, more = self._behind(behind, deeper)
        self._finish(index, [*words, *more], redirects, (), place, pipeline, position)

    def _assigned(self, node: Node, place: ShellPlace, behind: Trailing) -> None:
        """A statement of assignments only; with redirections behind it there may be a command behind those."""
        nodes = [node] if node.type == "variable_assignment" else node.named_children
        index = self._reserve()
        deeper = ShellPlace(place.inside, index, place.stdin_from, place.depth + 1, place.scope)
        texts = tuple([self._assignment(child, deeper)[1] for child in nodes])
        redirects, words = self._behind(behind, deeper)
        self._finish(index, words, redirects, texts, place, -1, 0)

    def _assignment(self, node: Node, place: ShellPlace) -> tuple[str | None, str]:
        """``NAME=value`` with the quotes of the value removed: its value, None if dynamic, and its sketch."""
        nested = self._nested(place)
        children = node.named_children
        name = self._slice(children[0]) if children else ""
        if self._source[node.end_byte : node.end_byte + 1].isalnum():
            self._doubt("words that the grammar cannot have read right")
        if children and children[0].child_count:
            read_text(children[0], self._source, nested)  # the index of an array may run something
        if len(children) < 2:
            self._put(name, "", "")
            return f"{name}=", f"{name}="
        value, sketch = read_text(children[-1], self._source, nested)
        if children[-1].type == "array":
            self._may_compute("((", self._slice(node), of_indexes(sketch), place)
        self._put(name, value, sketch)
        return (None if value is None else f"{name}={value}"), f"{name}={sketch}"

    def _redirects(self, nodes: list[Node], place: ShellPlace) -> list[Redirect]:
        """The redirections of a statement; commands in their targets are read on the way."""
        nested = self._nested(place)
        found: list[Redirect] = []
        for node in nodes:
            if node.type == "heredoc_redirect":
                found.append(read_heredoc(node, self._source, nested))
                self._doubt("" if heredoc_ends(node, self._source) else "a here-doc without an end")
                if found[-1].body is None and "`" in found[-1].sketch:
                    self._backticks(found[-1].sketch, ShellPlace("$(…)", place.parent, -1, place.depth + 1, self._scope(place)))
                further = [c for c in node.named_children if c.type in REDIRECTS]
                if any(skipped_words(one, self._source) for one in further):
                    self._doubt("words that the grammar cannot have read right")
                found.extend(self._redirects(further, place))
            else:
                found.append(read_redirect(node, self._source, nested))
                if found[-1].operator in (">&", "<&") and "(" in found[-1].sketch:  # bash runs ``>&2"<(a)"``, quotes or not
                    self._doubt("a substitution that the grammar has not read")
        return found

    def _finish(
        self,
        index: int,
        words: list[Word],
        redirects: tuple[Redirect, ...],
        assignments: tuple[str, ...],
        place: ShellPlace,
        pipeline: int,
        position: int,
    ) -> None:
        """Put the command at its index, then read what it runs itself."""
        values = tuple([word.value for word in words])
        sketch = tuple([word.sketch for word in words]) if None in values else cast("tuple[str, ...]", values)
        if words and words[0].globs and words[0].written not in ("[", "[["):
            values = (None, *values[1:])
        number = self._next_pipeline() if pipeline < 0 else pipeline
        text = " ".join([word.written for word in words])
        command = SimpleCommand(text, values, redirects, assignments, number, position, place.inside, sketch,
                                place.parent, place.stdin_from, place.scope)
        if command.name in _TOUCHES_NAMES or (redirects and names_descriptor(command)):
            if binds := bound_by(command):
                command = structs.replace(command, binds=binds)
            if words:
                self._learn(command, index)
        inner = unwrap(command)
        self.commands[index] = structs.replace(command, transparent=True) if inner is not None and inner.transparent else command
        if inner is not None:
            self._inner(inner, words, index, place)

    def _put(self, name: str, value: str | None, sketch: str) -> None:
        """A name gets a value."""
        is_known = value is not None and _OPENED.isdisjoint(value)
        self.bound.append(Binding(name, value if is_known else None, sketch))
        self.values.put(name, value, sketch)

    def _learn(self, command: SimpleCommand, index: int) -> None:
        """What a command does to names, and what it computes of them."""
        name = command.name
        for one in command.binds:
            target, _, value = one.partition("=")
            is_open = value == UNKNOWN_VALUE or "$" in value or "`" in value
            self._put(target, None if is_open else value, value)
        if name is None or (name in _READS_FILES and (name != "eval" or None in command.words)):
            self.values.is_open = True
        if name == "let":
            self.values.count(set_to_numbers(";".join(command.sketch[1:])))
        needs = _needs_of(command)
        if needs != NOTHING:
            self.computed.append((index, needs if self.values.settles(needs) else SURELY_OPEN, False))
        if name == "let":
            self.values.count(assigned_in(" ".join(command.sketch[1:])))

    def _may_compute(self, name: str, text: str, needs: Needs, place: ShellPlace) -> None:
        """A place in which something is computed; where that is not sure, it is a command of its own."""
        if needs == NOTHING:
            return
        index = self._reserve()
        self.computed.append((index, needs if self.values.settles(needs) else SURELY_OPEN, True))
        self.commands[index] = SimpleCommand(text, (name, None), (), (), self._next_pipeline(), 0, place.inside, (name, text),
                                             place.parent, place.stdin_from, place.scope, computes=True)

    def _inner(self, inner: Inner, words: list[Word], index: int, place: ShellPlace) -> None:
        """Read the commands that a command runs: texts as shell, words as one more simple command."""
        scope = place.scope if inner.inside in _SAME_SHELL else self._scope(place)
        below = ShellPlace(inner.inside, index, place.stdin_from, place.depth + 1, scope)
        if below.depth > MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self._doubt("nested too deep")
            return
        for text in inner.texts:
            self.read(text, below)
        redirects = self.commands[index].redirects
        if redirects:
            redirects = tuple([r for r in redirects if r.operator.startswith("<") or r.sketch.startswith("/dev/")])
        for picked in inner.commands:
            chosen = [words[at] if isinstance(at, int) else Word(None, at, at) for at in picked]
            self._finish(self._reserve(), chosen, redirects, inner.assignments, below, -1, 0)

    def _nested(self, place: ShellPlace) -> Nested:
        """What ``read_words`` calls for a substitution."""
        return lambda node: self._substitution(node, place)

    def _backticks(self, text: str, below: ShellPlace) -> None:
        """The commands between backticks. The grammar takes ```a` `b``` for one, and those of a here-doc for text."""
        texts, ended = backtick_texts(text)
        self._doubt("" if ended else "backticks without an end")
        for one in texts:
            self.read(one, below)

    def _reserve(self) -> int:
        self.commands.append(_PLACEHOLDER)
        return len(self.commands) - 1

    def _next_pipeline(self) -> int:
        self._pipelines += 1
        return self._pipelines - 1

    def _scope(self, place: ShellPlace) -> tuple[int, ...]:
        """A shell of its own below another: what it changes about itself ends with it."""
        self._scopes += 1
        return (*place.scope, self._scopes)

    def _doubt(self, why: str) -> None:
        """Remember the first reason why commands may be missing."""
        self.problem = self.problem or why

    def _slice(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _needs_of(command: SimpleCommand) -> Needs:
    """What the words of a builtin need that are computed: of ``let`` all, of others indexes and numbers."""
    name = command.name
    if name == "let":
        return of_expression(" ".join(command.sketch[1:]))
    if name in ("test", "[", "[["):
        return of_test(command.text) if name == "[[" else of_bracket(command.text)
    found: list[Needs] = []
    if command.redirects:  # ``{a[x]}>f`` gives the element the number of the descriptor
        words = (*command.sketch, *[redirect.descriptor for redirect in command.redirects])
        found += [of_index(word[1:-1]) for word in words if word[:1] == "{" and word[-2:] == "]}"]
    if name in BINDERS:
        is_integer = _is_integer(command)
        for word in command.sketch[1:]:
            found += _needs_of_operand(word, is_integer=is_integer)
    return all_of(found)


def _needs_of_operand(word: str, *, is_integer: bool) -> Iterator[Needs]:
    target, equal, value = word.partition("=")
    yield of_index(target.removesuffix("+"))
    if value[:1] == "(":
        yield of_indexes(value)
    if is_integer and word[:1] != "-":
        yield of_expression(value) if equal else SURELY_OPEN
        yield Needs(frozenset((target,)))


def _is_integer(command: SimpleCommand) -> bool:
    """``declare -i``: whatever such a name gets is computed first."""
    if command.name in ("integer", "float"):
        return True
    return command.name in _DECLARES and any(word[:1] == "-" and "i" in word for word in command.sketch[1:])


_DECLARES: Final = frozenset(("declare", "typeset", "local", "export", "readonly"))
