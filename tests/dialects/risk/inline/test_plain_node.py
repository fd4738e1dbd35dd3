"""JavaScript is plain where all of its names are known, and all that is called has one. Data only: nothing is run."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.inline.bare_text import without_strings
from trunkline.dialects.risk.inline.plain_node import is_plain_node

PLAIN = [
    "const p=require('./package.json'); Object.keys(p.scripts).forEach(k => console.log(k, p.scripts[k]))",
    "console.log(process.argv[2], [1,2][0], [[1],[2]])", "const f = x => x + 1; console.log([1].map(f))",
    "console.log(JSON.stringify(require('./a.json'), null, 2))", "const a=[1,2]; console.log(a[a.length-1], a[0])",
    "console.log(require('./package.json')['version'])", "console.log(['a'].map(String).filter(Boolean).join(','))",
    "for (const [k, v] of Object.entries(process.versions)) console.log(k, v)", "console.log('a-b'.replace(/-/g, '_'))",
    "console.log(Array.from(new Set([1,1])))", "console.log([3,1].sort((a, b) => a - b))",
    "console.log(Math.max(1, 2).toString())",
    "process.stdout.write('x')", "console.log('require is a word')",
]
NOT_KNOWN = [
    "['src'].map(require('f'+'s')['rmS'+'ync'])", "['x'].forEach(require('f'+'s')['unlinkS'+'ync'])",
    "module.paths.push('/tmp/evil'); require('x')", "const s=\"require('a')\"; require(process.argv[1])",
    "let F=(x=>x)['constr'+'uctor'],g=Array.from(['a=1'],F);''+{toString:g[0]}", "let F=(x=>x)['constructor']",
    "let k='constr'+'uctor', F=(x=>x)[k]; Array.from(['a=1'], F)", "for (const k of ['x']) {F=(x=>x)[k]; Array.from(['a=1'], F)}",
    "const {['constr'+'uctor']:F} = x=>x; Array.from(['a'], F)", "const {'constructor':F} = x=>x; Array.from(['a'], F)",
    "const m=require('./x'); ['src'].map(m[k])", "const m=require('./x'); ['src'].map(m.go)", "const r=require; r('fs')",
    "(x=>x)[`constructor`]", "(x=>x)['con\\x73tructor']", "import('f'+'s').then(m => console.log(m))", "({valueOf: f}) + 1",
    "const f=x.stdout; f.write('x')", "x?.['a']('b')", "require.main.require('x')", "require.cache", "fs['rm'+'Sync']",
    "setTimeout(f, 1)", "a[b](c)", "a[f()]",
]


@every_row("code", PLAIN)
def test_code_that_only_looks_and_prints_is_plain(code: str) -> None:
    assert is_plain_node(code)


@every_row("code", NOT_KNOWN)
def test_code_of_which_not_all_is_known_is_not(code: str) -> None:
    assert not is_plain_node(code)


def test_strings_are_found_by_the_sign_that_stands_for_them() -> None:
    bare = without_strings("f('a', \"b\", `c${d}`)")
    assert bare.text == "f(S, S, ``) ; d"
    assert {bare.text[at]: text for at, text in bare.strings.items()} == {"S": "b", "`": "c${d}"}
