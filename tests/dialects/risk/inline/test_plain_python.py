"""Python code is plain where every node of its syntax tree is known. Data only: nothing is run."""

from __future__ import annotations

import ast
import warnings

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.risk.inline.plain_python import NODES_MOST, PARTS_MOST, is_plain_python

PLAIN = [
    "import sys; sys.path.insert(0, 'src'); import app; print(app.__version__)", "import sys; sys.path.append('.')",
    "from pathlib import Path; print(Path('x').open().read())", "from pathlib import Path; print(Path('x').open('rb').read())",
    "import gzip; print(gzip.open('x.gz', 'rt').read())", "with open('x', encoding='utf-8') as f: print(f.read())",
    "import sys\nfor line in sys.stdin:\n    print(line.strip().replace('a', 'b'))",
    "import os; print([f.replace('.py', '') for f in os.listdir('.')])", "import re; print(re.findall('\\d+', open('x').read()))",
    "import json,sys; print('\\n'.join(x['a'] for x in json.load(sys.stdin)))", "print(f'''{1 + 1}''')", "print(str(1).zfill(3))",
    "import os; print(os.environ.get('HOME'), os.environ['USER'])", "import sys; v = sys.version_info; print(v[0])",
    "import os; print(sorted(os.listdir('.'), key=lambda name: len(name)))", "import app; x = app.value; print(x)",
    "from collections import Counter; print(Counter(open('x').read().split()).most_common(3))",
    "import torch; print(torch.backends.mps.is_available())", "import datetime as d; print(d.datetime.now().isoformat())",
    "try:\n    import x\n    print(x.__file__)\nexcept ImportError as e:\n    print(e)", "print(list(map(str.upper, ['a'])))",
]
NOT_KNOWN = [
    "import os as o; o.replace('x','/home/ann/.bashrc')", "import os; os .replace('a', 'b')",
    "import os; o=os; o.replace('a','b')",
    "import os; [o.replace('a','b') for o in [os]]", "import os as o; list(map(o.replace,['x'],['../y']))",
    "import os; r = os.replace; list(map(r, ['a'], ['b']))", "from os import replace as r; list(map(r, ['a'], ['b']))",
    "import platform; platform.os.replace('a', 'b')", "import os; max(['x'], key=os.system)", "o.replace('a', 'b')",
    "from pathlib import Path; (Path.cwd().parent/'notes.txt').open('w')", "from pathlib import Path; Path('a').open(m)",
    "from pathlib import Path; print('x', file=Path('../notes').open('r+'))", "from pathlib import Path; Path('a').open('x')",
    "from pathlib import Path; Path('a').open(*m)", "open('x', **m)", "open('x', 'w')", "open('x', mode='a')", "open('x', m)",
    "list(map(open, ['x'], ['w']))", "open('x', opener=f)", "import webbrowser; webbrowser.open('http://x')",
    "from pathlib import Path; list(map(Path('x').replace, ['y']))",
    "from pathlib import Path; list(map(Path.replace, ['x'], ['y']))",
    "import sys; sys.path.insert(0,'/tmp/evil'); import x", "import sys; sys.path.append('/home/ann/Downloads')",
    "import sys; sys.path.append('../x')", "import sys; sys.path.insert(0, x)", "import sys; sys.path[:0]=['/tmp/x']",
    "import sys; sys.path += ['/tmp/x']", "import sys; p = sys.path; p.insert(0, '/tmp/x')",
    "from sys import path; path.insert(0, 'x')",
    "from sys import path as p; p += ['x']", "import sys; list.insert(sys.path, 0, '/tmp/x')",
    "import sys; (sys.path or 0).append('x')",
    "import sys; max(sys.path, []).append('x')", "import sys; sys.modules['os'].replace('a', 'b')",
    "import sys; sys.path = ['x']",
    "import dill; dill.loads(b'x')", "import cloudpickle as j; j.loads(open('x').read())", "import dill as json; json.load('x')",
    "print(f'''{open('x','w')}''')", "print(f'{open(\"x\", \"w\")}')", "type('X', (), {'__getitem__': f})", "type(*x)",
    "(lambda: 0)()", "x()()", "x['a']()", "@f\ndef g(): pass", "class A: pass", "async def f(): pass", "f'{x.__class__}'",
    "print(1if 1else 2)", "from os import *", "import os; del os.environ['x']", "import os; os.x = 1", "len = f; len('a')",
    "print 'x'", "%timeit f(1)", "%run x", "(" * 300, "-" * 4000 + "1", "[" * 90 + "]" * 90 + "()", "getattr(x, 'y')('z')",
]


@every_row("code", PLAIN)
def test_code_that_only_looks_and_prints_is_plain(code: str) -> None:
    assert is_plain_python(code)


@every_row("code", NOT_KNOWN)
def test_code_of_which_not_all_is_known_is_not(code: str) -> None:
    assert not is_plain_python(code)


@every_row("code", ["print('\\d \\400 \\8')", "print(1if 1else 2)", "print(0x1for x in y)", "x is 'a'", "assert (1, 'a')",
    "'a'()"])
def test_nothing_that_is_read_makes_python_warn(code: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        is_plain_python(code)
    assert told == []


def test_code_that_is_too_long_or_too_deep_to_be_looked_at_is_not_known() -> None:
    assert is_plain_python("text = ''; print(text" + ".a" * PARTS_MOST + ")")
    assert not is_plain_python("text = ''; print(text" + ".a" * (PARTS_MOST + 1) + ")")
    assert is_plain_python("x = 1\n" * (NODES_MOST // 5))
    assert not is_plain_python("x = 1\n" * NODES_MOST)


@every_row("code", ["(" * 5000, "-" * 5000 + "1", "not " * 5000 + "1", "1" + "+1" * 5000, "f(" * 5000 + ")" * 5000,
    "lambda:" * 5000 + "1"])
def test_code_that_python_itself_finds_too_deep_is_not_known(code: str) -> None:
    assert not is_plain_python(code)


def test_code_that_python_loses_count_of_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(code: str) -> ast.Module:
        raise SystemError("AST constructor recursion depth mismatch (before=147, after=190)")

    monkeypatch.setattr(ast, "parse", parse)
    assert not is_plain_python("print(1)")
