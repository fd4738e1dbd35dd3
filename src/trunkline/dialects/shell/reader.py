"""From a syntax tree to the simple commands of a line, those inside others included.

Rule 1: outer before inner, in the order written.
Rule 2: what may feed a command's input is a range of indices (``stdin_from`` to itself). It may name a command too many,
never one too few.
Rule 3: bounded. Past ``MAX_DEPTH`` or ``MAX_COMMANDS`` the line is not complete, which callers treat as the worst.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from msgspec import structs

from trunkline.dialects.shell.bindings import arithmetic, assigned_in, looped
from trunkline.dialects.shell.computing import (
    COUNTERS,
    SURELY_OPEN,
    is_unread,
    of_arithmetic,
    of_bracket,
    of_expansion,
    of_expression,
    of_index,
    of_test,
    set_to_numbers,
)
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
from trunkline.dialects.shell.syntax import Binding, ParsedLine, Redirect, SimpleCommand
from trunkline.dialects.shell.words import BINDING, Word, read_text

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTED: Final = re.compile(r"(?<!\S)-[a-hkprstuwxGLNOS]\s+([^\s$`]+)(?!\S)|(?<!\S)([^\s$`]+)\s+-(?:nt|ot|ef)\s+([^\s$`]+)(?!\S)")
"""Operators of a test that look at a file, and the word beside them."""
_QUOTES: Final = re.compile(r"['\"\\]")
_BESIDE_BODY: Final = REDIRECTS | {"comment"}
_DECLARERS: Final = frozenset({"declaration_command", "unset_command"})


class LineReader(CommandReader):
    """Collects the commands of one line; nested texts are read by the same reader."""

    def line(self) -> ParsedLine:
        """Everything read so far."""
        return ParsedLine(commands=tuple(self._settled()), complete=not self.problem, problem=self.problem,
                          tested=tuple(self.tested), bound=tuple(self.bound))

    def _settled(self) -> list[SimpleCommand]:
        """The commands, those left out that compute nothing but numbers: what names hold is known after the last one."""
        gone: set[int] = set()
        for index, needs, is_extra in self.computed:
            if self.values.meets(needs):
                gone.update((index,) if is_extra else ())
            elif not is_extra:
                one = self.commands[index]
                self.commands[index] = structs.replace(one, words=(*one.words[:1], *[None] * (len(one.words) - 1)), computes=True)
        return self.commands if not gone else _without(self.commands, gone)

    def read(self, text: str, place: ShellPlace) -> None:
        """Read a text as shell; inside another command when ``place`` says so."""
        source = text.encode("utf-8", "replace")
        refused = refusal(source) or ("nested too deep" if place.depth > MAX_DEPTH else "")
        if refused:
            self._doubt(refused)
            return
        outer, self._source = self._source, source
        computed, self._computed_end = self._computed_end, -1
        root = parse_tree(source)
        self._doubt("syntax that is not bash" if root.has_error or is_misread(source) else "")
        self._statement(root, place)
        self._source, self._computed_end = outer, computed

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
        body = next((child for child in node.children if child.is_named and child.type not in _BESIDE_BODY), None)
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
            name = self._slice(node.child_by_field_name("name") or node)
            deeper = structs.replace(deeper, inside=f"{name}()")
            self.bound.append(Binding(f"{name}()", None))
            self.values.is_open = self.values.is_open or name in COUNTERS
        elif node.type == "test_command":
            self._test(node, deeper)
        elif node.type == "subshell":
            deeper = structs.replace(deeper, scope=self._scope(place))
        elif node.type in BINDING:
            self._expansion(node, deeper)
        elif node.type == "for_statement":
            self._loop(node, deeper)
        elif node.type == "c_style_for_statement":
            self._counted(node, deeper)
        elif node.type == "compound_statement" and node.children[0].type == "((":
            self._computed(node, deeper)
        for child, follower in zip_longest(node.children, node.children[1:]):
            if not child.is_named:
                continue
            if child.child_count:
                self._statement(child, self._background(follower, deeper))
            elif child.type not in ("raw_string", "comment"):
                text = self._slice(child)
                if hides_substitution(text):
                    self._doubt("a substitution that the grammar has not read")
                elif is_unread(text):
                    self._may_compute("((", text, SURELY_OPEN, deeper)

    def _loop(self, node: Node, place: ShellPlace) -> None:
        """``for NAME in a b`` and ``select``: the name gets the values, as if it were assigned."""
        name = node.child_by_field_name("variable")
        written = node.children_by_field_name("value")
        values = [read_text(child, self._source, _nothing) for child in written]
        if name is None:
            return
        self._sets(looped(self._slice(name), values), place)
        for value, sketch in values or [(None, "")]:
            self._put(self._slice(name), value, sketch)

    def _counted(self, node: Node, place: ShellPlace) -> None:
        """``for ((a; b; c))``: what it begins with is set when the rest is computed."""
        begins = next((child.end_byte for child in node.children if child.type == "(("), node.start_byte)
        ends = next((child.start_byte for child in node.children if child.type == "))"), node.end_byte)
        header = self._source[begins:ends].decode("utf-8", "replace")
        self._sets(arithmetic(header), place)
        self.values.count(set_to_numbers(header.partition(";")[0]))
        self._may_compute("((", f"for (({header}))", of_expression(header), place)
        self.values.count(assigned_in(header))

    def _computed(self, node: Node, place: ShellPlace) -> None:
        """``((…))``: a command like ``let``, which may set names and run what stands in an index, quoted or in a variable."""
        text = self._slice(node)
        inside = text.removeprefix("((").removesuffix("))")
        self._finish(self._reserve(), [Word("let", "let", "(("), Word(inside, inside, f"{inside}))")], (), (), place, -1, 0)
        self._computed_end = node.end_byte

    def _sets(self, assignments: list[str], place: ShellPlace) -> None:
        """A statement that gives names a value is a command without words."""
        if assignments:
            self._finish(self._reserve(), [], (), tuple(assignments), place, -1, 0)

    def _background(self, follower: Node | None, place: ShellPlace) -> ShellPlace:
        """Where a statement stands, by what follows it: ``cd x &`` moves only itself."""
        if follower is None or follower.type != "&":
            return place
        return structs.replace(place, scope=self._scope(place))

    def _test(self, node: Node, place: ShellPlace) -> None:
        """``[ a > b ]`` writes the file b, though it looks like a comparison; an index in a name is computed when it is "
        "tested."""
        text = self._slice(node)
        self.tested += [_QUOTES.sub("", word) for found in _TESTED.finditer(text) for word in found.groups() if word]
        is_bracket = node.children[0].type == "["
        needs = SURELY_OPEN if has_computed_index(text) else of_bracket(text) if is_bracket else of_test(text)
        if needs.numbers or needs.is_open:
            self._sets(arithmetic(text), place)
        self._may_compute("[" if is_bracket else "[[", text, needs, place)
        if not is_bracket:
            return
        for child in node.named_children:
            operator = child.child_by_field_name("operator")
            right = child.child_by_field_name("right")
            if operator is not None and operator.type in ("<", ">") and right is not None:
                value, sketch = read_text(right, self._source, self._nested(place))
                self._finish(self._reserve(), [], (Redirect(operator.type, value, sketch),), (), place, -1, 0)

    def _substitution(self, node: Node, place: ShellPlace) -> None:
        """The commands in ``$(…)``, backticks, ``<(…)`` and ``>(…)``."""
        if node.type in BINDING:
            self._expansion(node, place)
            return
        if node.type not in ("command_substitution", "process_substitution"):
            text = self._slice(node)
            if hides_substitution(text):
                self._doubt("a substitution that the grammar has not read")
            else:
                self._may_compute("((", text, SURELY_OPEN, place)
            return
        opening = node.children[0].type if node.children else ""
        if self._source[node.start_byte:node.start_byte + 3] == b"$((" and self._source[node.end_byte - 2:node.end_byte] == b"))":
            text = self._slice(node)  # to bash it is arithmetic, whatever the grammar takes it for
            self._may_compute("((", text, of_arithmetic(text), place)
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

    def _expansion(self, node: Node, place: ShellPlace) -> None:
        """``${NAME:=value}``, ``$((NAME = 1))``, ``${a[NAME = 1]}``: it sets a name while it gives a value."""
        children, text = node.children, self._slice(node)
        if node.type == "expansion":
            needs = of_expansion(text)
        else:
            self._sets(arithmetic(text), place)
            needs = of_arithmetic(text) if node.type == "arithmetic_expansion" else of_index(text)
            self.values.count(set_to_numbers(text[2:]) if node.type == "arithmetic_expansion" else ())
        if node.end_byte > self._computed_end:  # else it is a part of one that is a command already
            self._may_compute("((", text, needs, place)
            self._computed_end = node.end_byte if needs.is_open else self._computed_end
        if node.type != "expansion":
            self.values.count(assigned_in(text))
        elif len(children) > 2 and children[1].type in ("variable_name", "subscript") and children[2].type in ("=", ":="):
            value = self._source[children[2].end_byte:node.end_byte - 1].decode("utf-8", "replace")
            name = self._slice(children[1])
            self._put(name, None if "$" in value or "`" in value or "'" in value or '"' in value else value, value)
            self._sets(looped(name, [(value, value)]) if children[1].type == "variable_name" else [], place)


def _without(commands: list[SimpleCommand], gone: set[int]) -> list[SimpleCommand]:
    """The commands that are left, with the indices that they have then."""
    moved, kept = [], 0
    for index in range(len(commands)):
        moved.append(kept)
        kept += index not in gone
    return [structs.replace(one, parent=moved[one.parent] if one.parent >= 0 else -1,
                            stdin_from=moved[one.stdin_from] if one.stdin_from >= 0 else -1)
            for index, one in enumerate(commands) if index not in gone]


def _nothing(node: Node) -> None:
    """For a text whose substitutions are read elsewhere."""


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
