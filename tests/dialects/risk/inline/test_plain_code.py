"""Code in an argument is plain where all of it is known; what is not known is never taken for harmless.

Data only: nothing is run."""

from __future__ import annotations

import time

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.risk.inline.plain_code import is_plain
from trunkline.dialects.risk.line import recent_line
from trunkline.dialects.risk.places import Places

ROOT = "/home/u/proj"

PLAIN = [
    ("python", "import x; print(x.__version__)"), ("python3", "import json,sys; d=json.load(sys.stdin); print(d['a'], len(d))"),
    ("python", "import json; print(json.dumps(json.load(open('package.json')), indent=2))"),
    ("python3.12", "import torch; print(torch.cuda.is_available())"), ("python", "import sys; print('\\n'.join(sys.path))"),
    ("python", "print(sorted(set('abc')), f'{1+1}')"), ("python", "from app.models import User; print(User.__name__)"),
    ("python", "import tomllib; print(tomllib.load(open('pyproject.toml','rb'))['project'])"),
    ("python", "import os; print(os.path.exists('x'), os.getcwd())"), ("python", "print([x for x in range(3)])"),
    ("python", "from pathlib import Path; print(Path('x').read_text())"), ("python", "print('os.remove is a name')"),
    ("node", "console.log(require('./package.json').version)"), ("node", "process.versions"),
    ("node", "console.log([3,1].sort((a,b)=>a-b).join(','))"), ("node", "console.log(/a\\/b/.test('x'))"),
    ("node", "const fs=require('fs'); console.log(fs.readFileSync('x','utf8').length)"),
    ("node", "const d=JSON.parse(require('fs').readFileSync('x.json','utf8')); console.log(d.a.length)"),
    ("ruby", "puts 1+1"), ("ruby", "puts JSON.parse(File.read(\"x.json\"))[\"a\"]"), ("ruby", "puts $_ if $_ =~ /foo/"),
    ("perl", "print if /foo/"), ("perl", "print $F[0]"), ("perl", "s/foo/bar/g"), ("perl", "print \"hi\\n\""),
    ("perl", "/foo/ and print"), ("php", "echo PHP_VERSION;"), ("lua", "print(1+1)"), ("julia", "println(1 + 1)"),
    ("python", "import base64; print(base64.b64encode(b'x'), base64.b64decode('eA=='))"),
    ("python", "from urllib.parse import quote; print(quote('a b'))"), ("python", "import secrets; print(secrets.token_hex(16))"),
    ("python", "import urllib.parse; print(urllib.parse.urlparse('http://a/b'))"),
    ("python", "import inspect, json; print(inspect.getsource(json.dumps), inspect.signature(json.dumps))"),
    ("python", "import numpy as np; print(np.arange(5))"), ("python", "import pandas as pd; print(pd.read_csv('a.csv').head())"),
    ("python", "import pandas as pd; print(pd.read_csv('a.csv').describe())"),
    ("node", "console.log(require('crypto').randomBytes(16).toString('hex'))"),
    ("pwsh", "Get-ChildItem"), ("vim", "q"), ("emacs", "(message \"x\")"),
]
NOT_KNOWN = [
    ("ruby", "IO.write(\"x\", \"y\")"), ("ruby", "FileUtils.cp \"a\", \"b\""), ("ruby", "Pathname(\"x\").delete"),
    ("ruby", "Kernel.send(:x, \"y\")"), ("ruby", "load \"x.rb\""), ("ruby", "require \"./x\""), ("ruby", "Process.kill 9, 1"),
    ("ruby", "File.new(\"x\",\"w\")"), ("ruby", "puts \"#{foo}\""), ("ruby", "[\"x\"].each(&:foo)"),
    ("php", "copy(\"a\",\"b\");"), ("php", "rename(\"a\",\"b\");"), ("php", "$f=\"x\"; $f(\"y\");"),
    ("php", "print_r(file(\"x\"));"),
    ("php", "include \"x\";"), ("lua", "dofile(\"x\")"), ("lua", "package.loadlib(\"x\",\"y\")"),
    ("perl", "open F, \">x\"; print F 1"), ("perl", "open F, \"ls|\"; print <F>"), ("perl", "remove_tree(\"x\")"),
    ("perl", "do \"x.pl\""), ("perl", "kill 9, 1"), ("perl", "1 / foo(\"x\") / 1"), ("perl", "s/a/foo(1)/e"),
    ("perl", "@ARGV=(\"ls|\"); print <>"), ("perl", "/(?{ foo })/"), ("perl", "print \"@{[foo]}\""),
    ("python", "from pathlib import Path; (Path.home()/'.bashrc').write_text('x')"), ("python", "from os import *; remove('x')"),
    ("python", "import os; os.open('x', os.O_WRONLY)"), ("python", "import tarfile; tarfile.open('x').extractall('/')"),
    ("python", "import linecache; print(linecache.getline('x',1))"), ("python", "import shutil; shutil.copy('a','b')"),
    ("python", "import fileinput; [0 for l in fileinput.input('x', inplace=True)]"), ("python", "open('x','w')"),
    ("python", "import os; list(map(os.truncate, ['x']))"), ("python", "x={}; x['a']('b')"), ("python", "print(f'{foo(1)}')"),
    ("python", "import shutil; len = shutil.move; len('a','b')"), ("python", "from shutil import move as len; len('a','b')"),
    ("python", "import shutil; [len('a','b') for len in [shutil.move]]"),
    ("python", "from pathlib import Path; Path('a').replace('b')"),
    ("python", "#\"\"\"\nfoo()\n#\"\"\""), ("python", "().__class__.__base__"), ("python", "import foo; foo.load('x')"),
    ("node", "require('fs/promises').rm('x')"), ("node", "require('fs').cpSync('a','b')"), ("node", "require('rimraf')('x')"),
    ("node", "const r=require('rimraf'); r.sync('x')"), ("node", "require('/tmp/x')"), ("node", "require(process.argv[1])"),
    ("node", "['x'].map(require('fs').cpSync)"), ("node", "const fs=require('fs'); ({map: fs.cpSync}).map('a','b')"),
    ("node", "const {cpSync: log} = require('fs'); log('a','b')"), ("node", "if(1) /'/.test('x'), foo('a'), /'/"),
    ("node", "//`\nfoo()\n//`"), ("node", "import('./x.js').then(foo.bar)"), ("bun", "await Bun.$`ls`"),
    ("emacs", "(delete-file \"x\")"), ("pwsh", "Remove-Item x"), ("pwsh", "UmVtb3ZlLUl0ZW0="),
    ("vim", "call writefile([], \"x\")"),
    ("gnuplot", "foo \"x\""), ("python", "1\x00"), ("python", "1" * 5000),
]


@every_row(("program", "code"), PLAIN)
def test_code_that_only_looks_and_prints_is_plain(program: str, code: str) -> None:
    assert is_plain(code, program)


@every_row(("program", "code"), NOT_KNOWN)
def test_code_with_a_name_that_is_not_known_is_not(program: str, code: str) -> None:
    assert not is_plain(code, program)


@every_row(("line", "unsure"), [
    ("python -c 'print(1)'", False), ("python -c 'foo(1)'", True), ("sh -c \"python -c 'foo(1)'\"", True),
    ("tsx -e 'foo(1)'", True),
    ("npx tsx -e 'foo(1)'", True), ("python - <<E\nfoo(1)\nE", True), ("python - <<E\nprint(1)\nE", False),
    ("emacs --batch --eval '(foo)'", True), ("vim -c 'call foo()' x", True), ("vim +12 x", False),
    ("python x.py", False), ("bun -e 'foo(1)'", True), ("deno eval 'foo(1)'", True), ("pwsh -c 'foo'", True),
])
def test_a_line_says_whether_its_code_is_known(line: str, unsure: bool) -> None:
    risk = recent_line(line, Places.of(ROOT, [ROOT], "/home/u"))
    assert (bool(risk.unsure), risk.level in ("low", "medium")) == (unsure, True), risk


@every_row("line", ["perl -ne print 'ls|'", "perl -pe 's/a/b/' '|ls'"])
def test_a_command_that_perl_opens_as_a_file_is_high(line: str) -> None:
    assert explain_risk("Bash", {"command": line}, cwd=ROOT, roots=[ROOT], home="/home/u").level == "high"


@every_row(("program", "code"), [
    (program, sign * (4000 // len(sign))) for program in ("python", "node", "perl", "ruby")
    for sign in ("'", "\"", "/", "s/", "a=", "f(", "{", "import a,", "x.", "|a", "for a ", "lambda a", "`", "\\", "a:", "(a,",
                 "open(")
])
def test_code_is_read_quickly_whatever_it_is(program: str, code: str) -> None:
    began = time.thread_time()
    is_plain(code, program)
    assert time.thread_time() - began < 0.2
