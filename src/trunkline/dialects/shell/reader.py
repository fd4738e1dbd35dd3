"""From a syntax tree to the simple commands of a line, those inside others included.

Rule 1: outer before inner, in the order written.
Rule 2: what may feed a command's input is a range of indices (``stdin_from`` to itself). It may name a command too many,
never one too few.
Rule 3: bounded. Past ``MAX_DEPTH`` or ``MAX_COMMANDS`` the line is not complete, which callers treat as the worst.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import structs

from trunkline.dialects.shell.doubts import has_computed_index, hides_substitution, is_misread
from trunkline.dialects.shell.grammar import parse_tree, refusal
from trunkline.dialects.shell.simple import (
    ARGUMENTS,
    MAX_COMMANDS,
    MAX_DEPTH,
    REDIRECTS,
    CommandReader,
    ShellPlace,
    Trailing,
)
from trunkline.dialects.shell.syntax import ParsedLine, Redirect
from trunkline.dialects.shell.words import Word, read_text

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTED: Final = re.compile(r"(?<!\S)-[a-hkprstuwxGLNOS]\s+([^\s$`]+)(?!\S)|(?<!\S)([^\s$`]+)\s+-(?:nt|ot|ef)\s+([^\s$`]+)(?!\S)")
"""Operators of a test that look at a file, and the word beside them."""
_QUOTES: Final = re.compile(r"['\"\\]")
_DECLARERS: Final = frozenset({"declaration_command", "unset_command"})


class LineReader(CommandReader):
    """Collects the commands of one line; nested texts are read by the same reader."""

    def line(self) -> ParsedLine:
        """Everything read so far."""
        return ParsedLine(commands=tuple(self.commands), complete=not self.problem, problem=self.problem,
                          tested=tuple(self.tested))

    def read(self, text: str, place: ShellPlace) -> None:
        """Read a text as shell; inside another command when ``place`` says so."""
        source = text.encode("utf-8", "replace")
        refused = refusal(source) or ("nested too deep" if place.depth > MAX_DEPTH else "")
        if refused:
            self._doubt(refused)
            return
        outer, self._source = self._source, source
        root = parse_tree(source)
        self._doubt("syntax that is not bash" if root.has_error or is_misread(source) else "")
        self._statement(root, place)
        self._source = outer

    def _statement(self, node: Node, place: ShellPlace, behind: Trailing = (), pipeline: int = -1, position: int = 0) -> None:
        """Read one statement of any kind; ``behind`` are the redirections that stand behind it."""
        if place.depth > MAX_DEPTH or len(self.commands) > MAX_COMMANDS:
            self._doubt("nested too deep" if place.depth > MAX_DEPTH else "too many commands")
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

    def _list(self, node: Node, place: ShellPlace, behind: Trailing) -> None:
        """``a && b || c``; redirections belong to its last command."""
        *parts, last = _parts(node)
        for part in parts:
            self._statement(part, place)
        self._statement(last, place, behind)

    def _pipeline(self, node: Node, place: ShellPlace, behind: Trailing, first: int = -1) -> None:
        """``a | b | c``: each stage may be fed by all before it. ``first`` is where a pipeline went on behind a here-doc."""
        number = self._next_pipeline()
        begin = len(self.commands) if first < 0 else first
        stages, after = _stages(node)
        last = after[-1] if after else stages[-1]
        for position, stage in enumerate(stages, start=0 if first < 0 else 1):
            stdin_from = place.stdin_from if position == 0 else begin
            own = behind if stage is last else ()
            below = ShellPlace(place.inside, place.parent, stdin_from, place.depth + 1, self._scope(place))
            self._statement(stage, below, own, number, position)
        for part in after:
            self._statement(part, place, behind if part is last else ())

    def _redirected(self, node: Node, place: ShellPlace, behind: Trailing, pipeline: int, position: int) -> None:
        """A statement and its redirections; without a statement, what follows them is the command (``> x ls``)."""
        own = [child for child in node.children if child.type in REDIRECTS]
        body = next((child for child in node.named_children if child.type not in REDIRECTS and child.type != "comment"), None)
        begin = len(self.commands)
        if body is None:
            self._command(None, place, (*own, *behind), pipeline, position)
        else:
            deeper = place if body.type == "command" else _deeper(place)
            self._statement(body, deeper, (*own, *behind), pipeline, position)
        self._after_heredocs(own, place, begin)

    def _after_heredocs(self, own: list[Node], place: ShellPlace, begin: int) -> None:
        """What stands behind ``<<EOF`` on its line: a pipeline that goes on, or ``&& more``."""
        for redirect in own:
            if redirect.type != "heredoc_redirect":
                continue
            for child in redirect.named_children:
                if child.type == "pipeline":
                    self._pipeline(child, place, (), first=begin)
                elif child.type not in ARGUMENTS and child.type not in REDIRECTS and not child.type.startswith("heredoc_"):
                    self._statement(child, _deeper(place))

    def _compound(self, node: Node, place: ShellPlace, behind: Trailing) -> None:
        """Loops, conditions, groups, functions, tests: every statement and substitution below.

        Redirections around them are a command without words that stands before them and may feed them.
        """
        deeper = _deeper(place)
        if behind:
            begin = len(self.commands)
            redirects, words = self._behind(behind, deeper)
            self._finish(self._reserve(), [], redirects, (), place, -1, 0)
            deeper = structs.replace(deeper, stdin_from=begin if place.stdin_from < 0 else place.stdin_from)
            if words:
                self._doubt("words behind a group")
        if node.type == "function_definition":
            deeper = structs.replace(deeper, inside=f"{self._slice(node.child_by_field_name('name') or node)}()")
        elif node.type == "test_command":
            self._test(node, deeper)
        elif node.type == "subshell":
            deeper = structs.replace(deeper, scope=self._scope(place))
        for child in node.named_children:
            if child.child_count:
                self._statement(child, self._background(child, deeper))
            elif hides_substitution(self._slice(child)) and child.type not in ("raw_string", "comment"):
                self._doubt("a substitution that the grammar has not read")

    def _background(self, node: Node, place: ShellPlace) -> ShellPlace:
        """``cd x &`` moves only itself."""
        if b"&" not in self._source or node.next_sibling is None or node.next_sibling.type != "&":
            return place
        return structs.replace(place, scope=self._scope(place))

    def _test(self, node: Node, place: ShellPlace) -> None:
        """``[ a > b ]`` writes the file b, though it looks like a comparison; an index in a name is computed when it is "
        "tested."""
        text = self._slice(node)
        self.tested += [_QUOTES.sub("", word) for found in _TESTED.finditer(text) for word in found.groups() if word]
        if has_computed_index(text):
            self._finish(self._reserve(), [Word("[", "[", "["), Word(text, text, text)], (), (), place, -1, 0)
        if node.children[0].type != "[":
            return
        for child in node.named_children:
            operator = child.child_by_field_name("operator")
            right = child.child_by_field_name("right")
            if operator is not None and operator.type in ("<", ">") and right is not None:
                value, sketch = read_text(right, self._source, self._nested(place))
                self._finish(self._reserve(), [], (Redirect(operator.type, value, sketch),), (), place, -1, 0)

    def _substitution(self, node: Node, place: ShellPlace) -> None:
        """The commands in ``$(…)``, backticks, ``<(…)`` and ``>(…)``."""
        if node.type not in ("command_substitution", "process_substitution"):
            self._doubt("a substitution that the grammar has not read")
            return
        opening = node.children[0].type if node.children else ""
        inside = {"<(": "<(…)", ">(": ">(…)"}.get(opening, "$(…)")
        below = ShellPlace(inside, place.parent, place.stdin_from if opening == ">(" else -1, place.depth + 1, self._scope(place))
        if opening == "`":
            self._backticks(self._slice(node), below)
            return
        for child in node.named_children:
            if child.type in REDIRECTS:
                self._finish(self._reserve(), [], tuple(self._redirects([child], below)), (), below, -1, 0)
            else:
                self._statement(child, below)


def _parts(node: Node) -> list[Node]:
    """The statements of a list. It leans to the left, so a long one is taken apart by a loop."""
    parts: list[Node] = []
    while node.type == "list":
        named = node.named_children
        parts.extend(reversed(named[1:]))
        node = named[0]
    return [node, *reversed(parts)]


def _named(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _stages(node: Node) -> tuple[list[Node], list[Node]]:
    """The stages of a pipeline, and what stands behind it: the grammar takes ``a | b | c && d`` for ``a | (b | c && d)``."""
    stages = _named(node)
    after: list[Node] = []
    while stages[-1].type == "list":
        goes_on, *more = _parts(stages.pop())
        after[:0] = more
        stages.extend(_named(goes_on) if goes_on.type == "pipeline" else [goes_on])
    return stages, after


def _deeper(place: ShellPlace) -> ShellPlace:
    """The same place, one statement further down."""
    return ShellPlace(place.inside, place.parent, place.stdin_from, place.depth + 1, place.scope)
