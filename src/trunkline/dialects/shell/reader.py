"""From a syntax tree to the simple commands of a line, those inside others included.

Rule 1: outer before inner, in the order written. A command's index is taken before its words are read, so that the commands
in its substitutions can name it as their parent.
Rule 2: what may feed a command's input is a range of indices (``stdin_from`` to itself). It may name a command too many,
never one too few.
Rule 3: bounded. Past ``MAX_DEPTH`` or ``MAX_COMMANDS`` the line is not complete, which callers treat as the worst.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs

from trunkline.dialects.shell.grammar import parse_tree, refusal
from trunkline.dialects.shell.redirects import read_heredoc, read_redirect
from trunkline.dialects.shell.syntax import ParsedLine, Redirect, SimpleCommand
from trunkline.dialects.shell.words import Nested, Word, hides_substitution, plain_command, plain_word, read_text, read_words
from trunkline.dialects.shell.wrappers import Inner, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 40
"""Statements inside statements; deeper nesting is never written by hand."""
MAX_COMMANDS: Final = 500

_PLACEHOLDER: Final = SimpleCommand(text="", words=())
_REDIRECTS: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_DECLARERS: Final = frozenset({"declaration_command", "unset_command"})
_ARGUMENTS: Final = frozenset(
    {"word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "number", "brace_expression"}
    | {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
_BARE: Final = frozenset({"word", "command_name"})
_MISREAD: Final = re.compile(rb"\$\\\n|(?:^|[\s;|&(){}<>])\\[ \t]")
"""What bash and the grammar read differently: a line joined inside ``$(``, and an escaped blank at the start of a word."""
_COMPUTED_INDEX: Final = re.compile(r"['\"\w]\[[^\]]*(\$\(|`)")
_BACKTICK: Final = re.compile(r"(?<!\\)`")
_BACKTICK_ESCAPE: Final = re.compile(r"\\([`\\$])")


Behind = tuple["Node", ...] | list["Node"]
"""Redirections that stand behind a statement."""


class Place(NamedTuple):
    """Where a statement stands."""

    inside: str = ""
    parent: int = -1
    stdin_from: int = -1
    depth: int = 0


class LineReader:
    """Collects the commands of one line; nested texts are read by the same reader."""

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.problem = ""
        self._source = b""
        self._pipelines = 0

    def line(self) -> ParsedLine:
        """Everything read so far."""
        return ParsedLine(commands=tuple(self.commands), complete=not self.problem, problem=self.problem)

    def read(self, text: str, place: Place) -> None:
        """Read a text as shell; inside another command when ``place`` says so."""
        source = text.encode("utf-8", "replace")
        refused = refusal(source) or ("nested too deep" if place.depth > MAX_DEPTH else "")
        if refused:
            self.problem = self.problem or refused
            return
        outer, self._source = self._source, source
        root = parse_tree(source)
        if root.has_error or _MISREAD.search(source):
            self.problem = self.problem or "syntax that is not bash"
        self._statement(root, place)
        self._source = outer

    def _statement(self, node: Node, place: Place, behind: Behind = (), pipeline: int = -1, position: int = 0) -> None:
        """Read one statement of any kind; ``behind`` are the redirections that stand behind it."""
        if place.depth > MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self.problem = self.problem or ("nested too deep" if place.depth > MAX_DEPTH else "too many commands")
            return
        kind = node.type
        if kind == "command":
            self._command(node, place, behind, pipeline, position)
        elif kind in _DECLARERS:
            self._declaration(node, place, behind, pipeline, position)
        elif kind == "redirected_statement":
            self._redirected(node, place, behind, pipeline, position)
        elif kind == "pipeline":
            self._pipeline(node, place, behind)
        elif kind == "list":
            self._list(node, place, behind)
        elif kind in ("variable_assignment", "variable_assignments"):
            self._assigned(node, place, behind)
        elif kind in ("command_substitution", "process_substitution"):
            self._substitution(node, place)
        else:
            self._compound(node, place, behind)

    def _list(self, node: Node, place: Place, behind: Behind) -> None:
        """``a && b || c`` leans to the left, so a long one is taken apart by a loop; redirections belong to its last command."""
        parts: list[Node] = []
        while node.type == "list":
            named = node.named_children
            parts.extend(reversed(named[1:]))
            node = named[0]
        parts.append(node)
        for part in reversed(parts[1:]):
            self._statement(part, place)
        self._statement(parts[0], place, behind)

    def _pipeline(self, node: Node, place: Place, behind: Behind, first: int = -1) -> None:
        """``a | b | c``: each stage may be fed by all before it. ``first`` is where a pipeline went on behind a here-doc."""
        number = self._next_pipeline()
        begin = len(self.commands) if first < 0 else first
        stages = [child for child in node.named_children if child.type != "comment"]
        for position, stage in enumerate(stages, start=0 if first < 0 else 1):
            stdin_from = place.stdin_from if position == 0 else begin
            own = behind if stage is stages[-1] else ()
            self._statement(stage, Place(place.inside, place.parent, stdin_from, place.depth + 1), own, number, position)

    def _redirected(self, node: Node, place: Place, behind: Behind, pipeline: int, position: int) -> None:
        """A statement and its redirections; without a statement, what follows them is the command (``> x ls``)."""
        own = [child for child in node.children if child.type in _REDIRECTS]
        body = next((child for child in node.named_children if child.type not in _REDIRECTS and child.type != "comment"), None)
        begin = len(self.commands)
        if body is None:
            self._command(None, place, (*own, *behind), pipeline, position)
        else:
            deeper = place if body.type == "command" else place._replace(depth=place.depth + 1)
            self._statement(body, deeper, (*own, *behind), pipeline, position)
        self._after_heredocs(own, place, begin)

    def _after_heredocs(self, own: list[Node], place: Place, begin: int) -> None:
        """What stands behind ``<<EOF`` on its line: a pipeline that goes on, or ``&& more``."""
        for redirect in own:
            if redirect.type != "heredoc_redirect":
                continue
            for child in redirect.named_children:
                if child.type == "pipeline":
                    self._pipeline(child, place, (), first=begin)
                elif child.type not in _ARGUMENTS and child.type not in _REDIRECTS and not child.type.startswith("heredoc_"):
                    self._statement(child, place._replace(depth=place.depth + 1))

    def _compound(self, node: Node, place: Place, behind: Behind) -> None:
        """Loops, conditions, groups, functions, tests: every statement and substitution below.

        Redirections around them are a command without words that stands before them and may feed them.
        """
        deeper = place._replace(depth=place.depth + 1)
        if behind:
            begin = len(self.commands)
            redirects, words = self._behind(behind, deeper)
            self._finish(self._reserve(), [], redirects, (), place, -1, 0)
            deeper = deeper._replace(stdin_from=begin if place.stdin_from < 0 else place.stdin_from)
            if words:
                self.problem = self.problem or "words behind a group"
        if node.type == "function_definition":
            deeper = deeper._replace(inside=f"{self._slice(node.child_by_field_name('name') or node)}()")
        elif node.type == "test_command":
            self._test(node, deeper)
        for child in node.named_children:
            if child.child_count:
                self._statement(child, deeper)
            elif hides_substitution(self._slice(child)) and child.type not in ("raw_string", "comment"):
                self.problem = self.problem or "a substitution that the grammar has not read"

    def _test(self, node: Node, place: Place) -> None:
        """``[ a > b ]`` writes the file b, though it looks like a comparison; an index in a name is computed when it is "
        "tested."""
        text = self._slice(node)
        if _COMPUTED_INDEX.search(text):
            self._finish(self._reserve(), [Word("[", "[", "["), Word(text, text, text)], (), (), place, -1, 0)
        if node.children[0].type != "[":
            return
        for child in node.named_children:
            operator = child.child_by_field_name("operator")
            right = child.child_by_field_name("right")
            if operator is not None and operator.type in ("<", ">") and right is not None:
                value, sketch = read_text(right, self._source, self._nested(place))
                self._finish(self._reserve(), [], (Redirect(operator.type, value, sketch),), (), place, -1, 0)

    def _command(self, node: Node | None, place: Place, behind: Behind, pipeline: int, position: int) -> None:
        """A simple command: its words, its assignments, its redirections, and then what it runs itself."""
        index = self._reserve()
        if node is not None and not behind and (plain := plain_command(self._source[node.start_byte : node.end_byte])):
            self._finish(index, plain, (), (), place, pipeline, position)
            return
        deeper = Place(place.inside, index, place.stdin_from, place.depth + 1)
        nested = self._nested(deeper)
        words: list[Word] = []
        assignments: list[str] = []
        redirects: list[Redirect] = []
        source, ends_at, joins = self._source, -1, False
        for child in node.named_children if node is not None else ():
            kind, start, end = child.type, child.start_byte, child.end_byte
            if kind == "variable_assignment":
                assignments.append(self._assignment(child, nested)[1])
            elif kind in _REDIRECTS:
                redirects.extend(self._redirects([child], deeper))
            elif kind != "comment":
                word = plain_word(source[start:end]) if kind in _BARE else None
                gap = b" " if ends_at < 0 else source[ends_at:start]
                if word is not None and gap == b" ":
                    words.append(word)
                else:
                    self._append(words, [word] if word is not None else self._words(child, nested), gap, joins)
            ends_at, joins = end, kind in _ARGUMENTS or kind == "command_name"
        if behind:
            found, more = self._behind(behind, deeper)
            redirects.extend(found)
            words.extend(more)
        self._finish(index, words, tuple(redirects), tuple(assignments), place, pipeline, position)

    def _behind(self, behind: Behind, place: Place) -> tuple[tuple[Redirect, ...], list[Word]]:
        """Redirections behind a statement, and the words between and after them (``cat > x -n``), which are its arguments."""
        redirects: list[Redirect] = []
        words: list[Word] = []
        nested = self._nested(place)
        for redirect in behind:
            redirects.extend(self._redirects([redirect], place))
            words.extend(self._trailing(redirect, nested))
        return tuple(redirects), words

    def _words(self, node: Node, nested: Nested) -> list[Word]:
        """The words of one argument."""
        words = read_words(node, self._source, nested)
        if words and words[0].strange:
            self.problem = self.problem or "words that the grammar cannot have read right"
        return words

    def _append(self, words: list[Word], more: list[Word], gap: bytes, joins: bool) -> None:
        """Add words; one that follows without a blank, or on a joined line, is the rest of the word before it."""
        gap = gap.replace(b"\\\n", b"")
        if b"\n" in gap or not (gap or joins):  # bash ends the command here, or goes on with a redirection's target
            self.problem = self.problem or "a line that ends in the middle of a command"
        if gap or not more or not words or not joins:
            words.extend(more)
            return
        last, first = words.pop(), more[0]
        value = None if last.value is None or first.value is None else last.value + first.value
        words.append(Word(value, last.sketch + first.sketch, last.written + first.written, last.globs or first.globs))
        words.extend(more[1:])

    def _trailing(self, redirect: Node, nested: Nested) -> list[Word]:
        """Arguments that the grammar files under the redirection before them."""
        skip = 1 if redirect.type == "file_redirect" else 0
        parts = [child for child in redirect.named_children if child.type in _ARGUMENTS]
        if redirect.type == "herestring_redirect":
            skip = 1
        if len(parts) > skip > 0 and not self._source[parts[0].end_byte : parts[skip].start_byte].replace(b"\\\n", b""):
            self.problem = self.problem or "a target that goes on in the next line"
        after = redirect.next_sibling
        if parts[skip:] and after is not None and parts[-1].end_byte == after.start_byte and self._slice(parts[-1]).isdigit():
            parts.pop()  # the descriptor of the redirection that follows: ``>& x 0>&1``
        return [word for child in parts[skip:] for word in self._words(child, nested)]

    def _declaration(self, node: Node, place: Place, behind: Behind, pipeline: int, position: int) -> None:
        """``export A=1``, ``unset A``: a command whose name the grammar makes a keyword."""
        index = self._reserve()
        deeper = Place(place.inside, index, place.stdin_from, place.depth + 1)
        nested = self._nested(deeper)
        words: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment":
                words.append(Word(*self._assignment(child, nested), self._slice(child)))
            elif child.child_count or child.type == "word":
                words.extend(self._words(child, nested))
            else:
                words.append(Word(*(self._slice(child),) * 3))
        redirects, more = self._behind(behind, deeper)
        self._finish(index, [*words, *more], redirects, (), place, pipeline, position)

    def _assigned(self, node: Node, place: Place, behind: Behind) -> None:
        """A statement of assignments only; with redirections behind it there may be a command behind those."""
        nodes = [node] if node.type == "variable_assignment" else node.named_children
        index = self._reserve()
        deeper = Place(place.inside, index, place.stdin_from, place.depth + 1)
        texts = tuple([self._assignment(child, self._nested(deeper))[1] for child in nodes])
        redirects, words = self._behind(behind, deeper)
        self._finish(index, words, redirects, texts, place, -1, 0)

    def _assignment(self, node: Node, nested: Nested) -> tuple[str | None, str]:
        """``NAME=value`` with the quotes of the value removed: its value, None if dynamic, and its sketch."""
        children = node.named_children
        name = self._slice(children[0]) if children else ""
        if self._source[node.end_byte : node.end_byte + 1].isalnum():
            self.problem = self.problem or "words that the grammar cannot have read right"
        if children and children[0].child_count:
            read_text(children[0], self._source, nested)  # the index of an array may run something
        if len(children) < 2:
            return f"{name}=", f"{name}="
        value, sketch = read_text(children[-1], self._source, nested)
        return (None if value is None else f"{name}={value}"), f"{name}={sketch}"

    def _redirects(self, nodes: list[Node], place: Place) -> list[Redirect]:
        """The redirections of a statement; commands in their targets are read on the way."""
        nested = self._nested(place)
        found: list[Redirect] = []
        for node in nodes:
            if node.type == "heredoc_redirect":
                found.append(read_heredoc(node, self._source, nested))
                self._ended(node)
                if found[-1].body is None and "`" in found[-1].sketch:
                    self._backticks(found[-1].sketch, Place("$(…)", place.parent, -1, place.depth + 1))
                found.extend(self._redirects([c for c in node.named_children if c.type in _REDIRECTS], place))
            else:
                found.append(read_redirect(node, self._source, nested))
                if found[-1].operator in (">&", "<&") and "(" in found[-1].sketch:  # bash runs ``>&2"<(a)"``, quotes or not
                    self.problem = self.problem or "a substitution that the grammar has not read"
        return found

    def _substitution(self, node: Node, place: Place) -> None:
        """The commands in ``$(…)``, backticks, ``<(…)`` and ``>(…)``."""
        if node.type not in ("command_substitution", "process_substitution"):
            self.problem = self.problem or "a substitution that the grammar has not read"
            return
        opening = node.children[0].type if node.children else ""
        inside = {"<(": "<(…)", ">(": ">(…)"}.get(opening, "$(…)")
        below = Place(inside, place.parent, place.stdin_from if opening == ">(" else -1, place.depth + 1)
        if opening == "`":
            self._backticks(self._slice(node), below)
            return
        for child in node.named_children:
            if child.type in _REDIRECTS:
                self._finish(self._reserve(), [], tuple(self._redirects([child], below)), (), below, -1, 0)
            else:
                self._statement(child, below)

    def _ended(self, node: Node) -> None:
        """A here-doc must end with its delimiter; the grammar does not mind when it does not."""
        start = next((self._slice(child) for child in node.named_children if child.type == "heredoc_start"), "")
        end = next((self._slice(child) for child in node.named_children if child.type == "heredoc_end"), "")
        if not end or end.strip() != re.sub(r"['\"\\]", "", start):
            self.problem = self.problem or "a here-doc without an end"

    def _backticks(self, text: str, below: Place) -> None:
        """The commands between backticks. The grammar takes ```a` `b``` for one, and those of a here-doc for text."""
        pieces = _BACKTICK.split(text)
        if len(pieces) % 2 == 0:
            self.problem = self.problem or "backticks without an end"
        for piece in pieces[1::2]:
            self.read(_BACKTICK_ESCAPE.sub(r"\1", piece), below)

    def _nested(self, place: Place) -> Nested:
        """What ``read_words`` calls for a substitution."""
        return lambda node: self._substitution(node, place)

    def _reserve(self) -> int:
        self.commands.append(_PLACEHOLDER)
        return len(self.commands) - 1

    def _finish(
        self,
        index: int,
        words: list[Word],
        redirects: tuple[Redirect, ...],
        assignments: tuple[str, ...],
        place: Place,
        pipeline: int,
        position: int,
    ) -> None:
        """Put the command at its index, then read what it runs itself."""
        values = tuple([word.value for word in words])
        if words and words[0].globs and words[0].written not in ("[", "[["):
            values = (None, *values[1:])
        number = self._next_pipeline() if pipeline < 0 else pipeline
        command = SimpleCommand(
            text=" ".join([word.written for word in words]),
            words=values,
            redirects=redirects,
            assignments=assignments,
            pipeline=number,
            position=position,
            inside=place.inside,
            sketch=tuple([word.sketch for word in words]),
            parent=place.parent,
            stdin_from=place.stdin_from,
        )
        inner = unwrap(command)
        transparent = inner is not None and inner.transparent
        self.commands[index] = structs.replace(command, transparent=True) if transparent else command
        if inner is not None:
            self._inner(inner, words, index, place)

    def _inner(self, inner: Inner, words: list[Word], index: int, place: Place) -> None:
        """Read the commands that a command runs: texts as shell, words as one more simple command."""
        below = Place(inner.inside, index, place.stdin_from, place.depth + 1)
        if below.depth > MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self.problem = self.problem or "nested too deep"
            return
        for text in inner.texts:
            self.read(text, below)
        redirects = tuple(r for r in self.commands[index].redirects if r.operator.startswith("<") or r.sketch.startswith("/dev/"))
        for picked in inner.commands:
            chosen = [words[at] if isinstance(at, int) else Word(None, at, at) for at in picked]
            self._finish(self._reserve(), chosen, redirects, inner.assignments, below, -1, 0)

    def _next_pipeline(self) -> int:
        self._pipelines += 1
        return self._pipelines - 1

    def _slice(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")
