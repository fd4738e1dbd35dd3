"""Whether Python code is known to compute, look and print only: by its syntax tree, in which every node has to be a known one.

Rule 1: code is only parsed, never compiled or run. What this Python cannot parse is not known.
Rule 2: a function is called by a name that is known, and by no other way. A module is named only to take something known from it:
it is not given another name, handed on, or changed (``sys.path``).
Rule 3: a harmless name is that on data (``text.replace``); of a module it may be something else (``os.replace``).
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from trunkline.dialects.outside import NOT_PYTHON
from trunkline.dialects.risk.inline.harmless_names import PYTHON, PYTHON_DUNDERS, PYTHON_MODULES

NODES_MOST: Final = 4_000
"""Nodes of a tree that are looked at: a screenful of code has a tenth of that."""
PARTS_MOST: Final = 30
"""Parts of a name."""

_BUILTINS: Final = frozenset(dir(builtins))
_TAKEN: Final = _BUILTINS & PYTHON | {"True", "False", "None"} | {
    name for name in _BUILTINS if isinstance(found := getattr(builtins, name), type) and issubclass(found, BaseException)}
"""What is known without an import. ``open`` has a rule of its own."""
_LOOKING: Final = frozenset(("os", "os.path", "pathlib", "glob"))
"""Modules whose harmless names are that, though they have others."""
_MODES: Final = frozenset(("r", "rb", "rt", "U"))
_OPENERS: Final = frozenset(("io", "gzip", "bz2", "lzma", "codecs", "tokenize"))
"""Modules whose ``open`` takes a file and a mode, as the one without a module does. A method takes the mode first."""
_OPEN_OPTIONS: Final = frozenset(("mode", "encoding", "errors", "newline", "buffering"))
_OF_DATA: Final = frozenset("replace load loads insert append extend sort reverse update format".split())
"""Harmless of data. Of a module that is not known to be harmless they may be anything, and its lists are not to be changed."""
_CHANGES_LISTS: Final = frozenset("insert append extend sort reverse".split())
_TOUCHY: Final = _OF_DATA | frozenset("system path path_hooks meta_path path_importer_cache".split())
"""What of a module is only looked at, or called where it is known which module it is."""
_SHOWS: Final = frozenset(
    "print len str repr list set tuple dict sorted type dir bool int float any all enumerate reversed isinstance hasattr id hash "
    "join pprint pformat getsource signature getdoc dumps format".split())
"""What takes a value only to look at it, or makes another of it."""
_TAKES_FUNCTIONS: Final = frozenset(
    "map filter sorted sort min max reduce defaultdict iter groupby sub accumulate load loads".split())
_VALUES: Final = frozenset(
    "path environ stdin stdout stderr argv version_info name stem suffix parent parts st_size st_mtime sep".split())
"""What is no function."""
_NODES: Final = (
    ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Try,
    ast.ExceptHandler, ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.Delete, ast.Import, ast.ImportFrom,
        ast.alias, ast.BoolOp,
    ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.arguments, ast.arg, ast.IfExp, ast.Dict, ast.Set, ast.ListComp,
        ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call, ast.keyword, ast.FormattedValue, ast.JoinedStr,
    ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice, ast.expr_context,
        ast.boolop,
    ast.operator, ast.unaryop, ast.cmpop,
)
_ESCAPE: Final = re.compile(r"\\(?:[\n\\'\"abfnrtvxuUN]|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7])|(.))", re.DOTALL)
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\w.]*+")
_GLUED: Final = ("and", "else", "for", "if", "in", "is", "or", "not")
"""Words that end a number without a blank, which Python itself warns of."""

_MAGIC: Final = re.compile(
    r"^[ \t]{0,9}%{1,2}(?:(?:time|timeit|prun)\b(?:[ \t]{1,9}-\w{1,9})*[ \t]*|(?:pwd|whos?|matplotlib|pylab|lsmagic)\b[^\n]*)",
        re.MULTILINE)
"""Words of ipython's own that change nothing; to Python they are no syntax."""


def is_plain_python(code: str) -> bool:
    """Whether a piece of Python code can only compute, look and print."""
    if any(number.endswith(_GLUED) for number in _NUMBER.findall(code)):
        return False
    try:
        tree = ast.parse(_ESCAPE.sub(_escaped, _MAGIC.sub("", code) if "%" in code else code))
    except NOT_PYTHON:
        return False
    return _Reader(tree).is_plain()


def _escaped(found: re.Match[str]) -> str:
    """An escape that Python does not know is two characters to it, and it warns of that."""
    return found[0] if found[1] is None else f"\\\\{found[1]}"


class _Reader:
    """Looks at every node of a tree once."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._modules: dict[str, str] = {}
        """Names of modules, and which they are."""
        self._from: dict[str, tuple[str, str]] = {}
        """Names taken from modules: from which, and what they are called there."""
        self._given: set[str] = set()
        """Names that the code gives a value itself."""

    def is_plain(self) -> bool:
        """Whether all of it is known."""
        if len(self._nodes) > NODES_MOST or not all(isinstance(node, _NODES) for node in self._nodes) or self._has_long_chain():
            return False
        for node in self._nodes:
            self._note(node)
        if self._given & (self._modules.keys() | self._from.keys()) or self._given & _TAKEN & self._called():
            return False
        return all(map(self._is_known, self._nodes)) and self._knows_what_is_handed_on()

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for one in node.names:
                self._modules[one.asname or one.name.partition(".")[0]] = one.name if one.asname else one.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                self._from[one.asname or one.name] = (f"{'.' * node.level}{node.module or ''}", one.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._given.add(node.id)
        elif isinstance(node, ast.arg):
            self._given.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._given.add(node.name)

    def _called(self) -> set[str]:
        return {node.func.id for node in self._nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}

    def _has_long_chain(self) -> bool:
        """Whether there is a ``name.part.part…`` of very many parts: each of them is looked at from its front."""
        parts: dict[ast.AST, int] = {}
        for node in self._nodes:  # a node comes behind the one that it is part of
            if isinstance(node, ast.Attribute | ast.Subscript):
                parts[node] = parts.get(self._parents[node], 0) + 1
        return max(parts.values(), default=0) > PARTS_MOST

    @cached_property
    def _imported(self) -> set[str]:
        dotted = {one.name for node in self._nodes if isinstance(node, ast.Import) for one in node.names}
        return dotted | {module for module, _ in self._from.values()}

    def _is_known(self, node: ast.AST) -> bool:
        if isinstance(node, ast.ImportFrom):
            return all(one.name != "*" for one in node.names)
        if isinstance(node, ast.Name):
            return self._is_known_name(node)
        if isinstance(node, ast.Attribute):
            return self._is_known_attribute(node)
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return not self._is_of_module(node.value)
        return self._is_known_call(node) if isinstance(node, ast.Call) else True

    def _is_known_name(self, node: ast.Name) -> bool:
        if not isinstance(node.ctx, ast.Load) or node.id in self._given:
            return True
        parent = self._parents.get(node)
        if node.id in self._modules:
            return (isinstance(parent, ast.Attribute) and parent.value is node) or self._is_shown(node)
        if node.id in self._from:
            return self._from[node.id][1] not in _TOUCHY or self._is_looked_at(node)
        if node.id == "open" and self._is_called(node):
            return True
        return node.id in _TAKEN or node.id in PYTHON_DUNDERS or self._is_shown(node)

    def _is_taken(self, name: str) -> bool:
        """Whether a name that was taken from a module stands for something known."""
        module, original = self._from[name]
        return original in PYTHON and (module in PYTHON_MODULES or module in _LOOKING) and original not in _OF_DATA | {"system"}

    def _is_known_attribute(self, node: ast.Attribute) -> bool:
        if not isinstance(node.ctx, ast.Load) or (node.attr.startswith("__") and node.attr not in PYTHON_DUNDERS):
            return False
        if self._is_called(node):
            return True  # which is looked at as a call
        if not self._is_of_module(node):
            return self._is_known_method(node)
        return node.attr != "modules" and (node.attr not in _TOUCHY or self._is_looked_at(node))

    def _is_looked_at(self, node: ast.AST) -> bool:
        """Whether a value goes nowhere, but for a part or a copy of it."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.Attribute | ast.Subscript):
            return parent.value is node
        if isinstance(parent, ast.For | ast.comprehension):
            return parent.iter is node
        return isinstance(parent, ast.BinOp) or self._is_shown(node)

    def _is_shown(self, node: ast.AST) -> bool:
        """Whether a value is only given to something that looks at it."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.FormattedValue | ast.Expr | ast.Compare):
            return True
        return isinstance(parent, ast.Call) and node in parent.args and _name_of(parent.func) in _SHOWS

    def _is_called(self, node: ast.AST) -> bool:
        parent = self._parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def _is_known_call(self, node: ast.Call) -> bool:
        name = _name_of(node.func)
        if name == "open":
            return self._opens_to_read(node)
        if name not in PYTHON or (name == "type" and not _is_one(node)):
            return False
        if isinstance(node.func, ast.Name):
            return node.func.id not in self._given and (
                self._is_taken(node.func.id) if node.func.id in self._from else node.func.id in _TAKEN)
        return isinstance(node.func, ast.Attribute) and (self._is_known_method(node.func) or self._adds_own_folder(node))

    def _is_known_method(self, func: ast.Attribute) -> bool:
        """A method of data, or something of a module."""
        root = self._root(func)
        if root is None or (root not in self._modules and root not in self._from):
            is_pure = self._imported <= PYTHON_MODULES | {"os", "os.path"}
            return is_pure or func.attr not in ("replace", "load", "loads") or isinstance(func.value,
                ast.Constant | ast.JoinedStr)
        module = self._modules.get(root) or self._from[root][0]
        is_own = isinstance(func.value, ast.Name)
        if func.attr in _CHANGES_LISTS:
            return False
        if func.attr in _OF_DATA or func.attr == "system":
            return is_own and root in self._modules and module in PYTHON_MODULES
        return True

    def _adds_own_folder(self, node: ast.Call) -> bool:
        """Whether it only adds a folder of the project to where modules are looked for."""
        at = {"sys.path.insert": 1, "sys.path.append": 0}.get(_dotted(node.func), -1)
        folder = node.args[at] if 0 <= at == len(node.args) - 1 else None
        text = folder.value if isinstance(folder, ast.Constant) and self._modules.get("sys") == "sys" else None
        return isinstance(text, str) and text[:1] not in ("/", "~", "\\") and ".." not in text and ":" not in text

    def _opens_to_read(self, node: ast.Call) -> bool:
        if any(one.arg not in _OPEN_OPTIONS for one in node.keywords) or any(isinstance(one, ast.Starred) for one in node.args):
            return False
        modes = [one.value for one in node.keywords if one.arg == "mode"]
        if isinstance(node.func, ast.Name):
            given = node.func.id in self._given or node.func.id in self._from
            return not given and bool(node.args) and all(map(_reads, (*node.args[1:2], *modes)))
        root = self._root(node.func)
        if root in self._modules:
            return self._modules[root] in _OPENERS and all(map(_reads, (*node.args[1:2], *modes)))
        return root not in self._from and all(map(_reads, (*node.args[:1], *modes)))

    def _root(self, node: ast.AST) -> str | None:
        """The name at the front of ``name.part.part``."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else None

    def _is_of_module(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Subscript):
            node = node.value
        root = self._root(node)
        return root is not None and (root in self._modules or root in self._from)

    def _knows_what_is_handed_on(self) -> bool:
        """Whether nothing that is not known is handed to somebody who may call it."""
        if self._imported <= PYTHON_MODULES or not _TAKES_FUNCTIONS & set(self._names_called()):
            return True
        attributes = {node.attr for node in self._nodes if isinstance(node, ast.Attribute)}
        taken = all(map(self._is_taken, self._from))
        return taken and attributes <= PYTHON | PYTHON_DUNDERS | _VALUES

    def _names_called(self) -> Iterator[str]:
        return (_name_of(node.func) for node in self._nodes if isinstance(node, ast.Call))


def _is_one(node: ast.Call) -> bool:
    return len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def _reads(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and mode.value in _MODES


def _name_of(func: ast.AST) -> str:
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join((node.id, *parts)) if isinstance(node, ast.Name) else ""
