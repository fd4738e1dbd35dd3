"""The seed documents, taken apart: every section, table row and code block gets an id that a test can be held against.

Rule 1: ids come from the text (headings, first cells, order of blocks), never from line numbers.
Rule 2: a section is an item if it is numbered or says something itself; a heading with only blocks, rows or sections under
it is a place, not an item.
Rule 3: this module only reads; what an item means is said by its test.

    000/3.4                         a numbered section
    001/3-tool-call-progress/examples/bash-completed
                                    a section without a number of its own, under its parents
    000/3.4/row:empty               a table row, by its first cell
    000/3.4/code:1                  a code block, by its order in the section
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

FOLDER = Path(__file__).parent / "seeds"

HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")
NUMBER = re.compile(r"^(\d+(?:\.\d+)*)\.?\s")
FENCE = re.compile(r"^```(\w*)\s*$")
SILENT = re.compile(r"^\s*$|^---+$|^\*\*.*\*\*:?$|^</?(details|summary)\b")
"""Lines that say nothing themselves: blank ones, rules, and bold labels above a block."""


class Item(msgspec.Struct, frozen=True):
    """One thing a seed says; ``text`` is the heading, the cells or the block."""

    id: str
    kind: Literal["section", "row", "code"]
    text: str
    cells: tuple[str, ...] = ()
    language: str = ""


def slug(text: str) -> str:
    """A heading or cell as part of an id: lower case, words joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "empty"


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a table line, trimmed."""
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


class Reader:
    """Walks one document's lines and keeps where it is: the heading path, the table, the fence."""

    def __init__(self, number: str) -> None:
        self.number = number
        self.path: list[tuple[int, str]] = []
        self.items: list[Item] = []
        self.silent: tuple[str, str] | None = None
        """The section whose heading was read but which has said nothing yet: id and title."""
        self.header_seen = False
        self.code: list[str] | None = None
        self.language = ""

    @property
    def place(self) -> str:
        return "/".join([self.number, *(part for _, part in self.path)])

    def read(self, text: str) -> list[Item]:
        for line in text.splitlines():
            self.line(line)
        return self.items

    def line(self, line: str) -> None:
        fence = FENCE.match(line)
        if fence:
            self.fence(fence[1])
        elif self.code is not None:
            self.code.append(line)
        elif line.startswith("|"):
            self.row(line)
        else:
            self.header_seen = False
            if heading := HEADING.match(line):
                self.heading(len(heading[1]), heading[2])
            elif self.silent and not SILENT.match(line):
                self.add("section", *self.silent)
                self.silent = None

    def heading(self, level: int, title: str) -> None:
        """A numbered heading is named by its number alone where that places it; the document's title by ``title``."""
        while self.path and self.path[-1][0] >= level:
            self.path.pop()
        number = NUMBER.match(title)
        if level == 1:
            self.silent = f"{self.number}/title", title
            return
        if number and "." in number[1]:
            self.path = []  # 3.4 says by itself that it is under 3
        self.path.append((level, number[1] if number else slug(title)))
        self.silent = None if number else (self.place, title)
        if number:
            self.add("section", self.place, title)

    def fence(self, language: str) -> None:
        if self.code is None:
            self.code, self.language = [], language
            return
        count = 1 + sum(item.id.startswith(f"{self.place}/code:") for item in self.items)
        self.add("code", f"{self.place}/code:{count}", "\n".join(self.code), language=self.language)
        self.code = None

    def row(self, line: str) -> None:
        cells = cells_of(line)
        if set("".join(cells)) <= set("-: "):
            self.header_seen = True
        elif self.header_seen:
            self.add("row", f"{self.place}/row:{slug(cells[0])}", line, cells=cells)

    def add(self, kind: Literal["section", "row", "code"], id: str, text: str, *, cells: tuple[str, ...] = (),
            language: str = "") -> None:
        self.items.append(Item(id, kind, text, cells, language))


@functools.cache
def seed(number: str) -> dict[str, Item]:
    """The items of one seed, by id, in the order of the text."""
    (path,) = FOLDER.glob(f"{number}_*.md")
    items = Reader(number).read(path.read_text(encoding="utf-8"))
    by_id = {item.id: item for item in items}
    assert len(by_id) == len(items), f"two items of seed {number} share an id"
    return by_id


def numbers() -> list[str]:
    """The seeds there are: 000 … 004."""
    return sorted(path.name.split("_")[0] for path in FOLDER.glob("*.md"))


def item(id: str) -> Item:
    """The item with that id; KeyError if the seeds have none."""
    return seed(id.split("/")[0])[id]


def code(id: str) -> str:
    """The text of a code block."""
    return item(id).text


def example(id: str) -> Any:
    """The JSON value in a code block."""
    return json.loads(code(id))


def rows(section: str) -> list[tuple[str, ...]]:
    """The cells of every table row of a section, back-quotes and quotes around the whole cell removed."""
    number = section.split("/")[0]
    found = [item.cells for item in seed(number).values() if item.kind == "row" and item.id.rpartition("/row:")[0] == section]
    assert found, f"no table in {section}"
    return [tuple(cell.strip("`") for cell in cells) for cells in found]


INTERFACE = re.compile(r"(?:interface|type)\s+(\w+)\s*(?:=\s*)?\{\n(.*?)\n\}", re.S)
FIELD = re.compile(r"^\s*(\w+)(\?)?:\s*(.*?);?\s*(?://.*)?$")


class Field(msgspec.Struct, frozen=True):
    """A field of a TypeScript interface, as written; a nested object's fields are in ``fields``."""

    name: str
    optional: bool
    type: str
    fields: dict[str, Field] = {}


def interfaces(text: str) -> dict[str, dict[str, Field]]:
    """The interfaces of a TypeScript block: name → fields by name. Enough of the language for the seeds, no more."""
    return {name: fields_of(body.splitlines()) for name, body in INTERFACE.findall(text)}


def fields_of(lines: list[str]) -> dict[str, Field]:
    """The fields in an interface body; an object type spans lines until its brace closes."""
    found: dict[str, Field] = {}
    at = 0
    while at < len(lines):
        match = FIELD.match(lines[at])
        at += 1
        if not match:
            continue
        name, mark, kind = match[1], match[2], match[3].strip()
        inner: list[str] = []
        if kind == "{":
            depth = 1
            while depth:
                depth += lines[at].count("{") - lines[at].count("}")
                if depth:
                    inner.append(lines[at])
                at += 1
        found[name] = Field(name, mark is not None, kind, fields_of(inner))
    return found


def literals(kind: str) -> list[str]:
    """The string literals of a TypeScript union: ``"a" | "b"`` → a, b."""
    return re.findall(r'"([^"]*)"', kind)
