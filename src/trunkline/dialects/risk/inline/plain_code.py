"""Whether code in an argument is known to compute, look and print only: every name in it is one of ``harmless_names.py``.

Rule 1: what dangerous code looks like nobody can list; what harmless code looks like is short. So code is plain only where all of
it is known, and whoever cannot be read for sure is not plain.
Rule 2: it is not parsed. Strings and patterns are taken out (what they compute stays in), and names are looked at.
Rule 3: every repetition has an end.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.inline.harmless_names import (
    ELSEWHERE,
    NODE,
    NODE_GRAVE,
    OTHERS,
    PYTHON,
    PYTHON_DUNDERS,
    PYTHON_MODULES,
)
from trunkline.dialects.shell import SimpleCommand

MAX_CODE: Final = 4096
"""Longer code is nothing that anybody writes into a line to look at something."""
LANGUAGES: Final[dict[str, str]] = {
    **dict.fromkeys("python python2 python3 pypy pypy3 ipython bpython".split(), "python"),
    **dict.fromkeys("node nodejs deno bun tsx ts-node".split(), "node"),
    **dict.fromkeys("ruby jruby irb pry".split(), "ruby"),
    **dict.fromkeys(("lua", "luajit"), "lua"),
    **dict.fromkeys(("r", "rscript", "R", "Rscript"), "r"),
    **dict.fromkeys(("elixir", "iex", "mix"), "elixir"),
    **dict.fromkeys(("pwsh", "powershell"), "pwsh"),
    **dict.fromkeys("ed ex vi vim nvim view gvim rvim vimdiff".split(), "vim"),
    **{name: name for name in "perl php julia osascript emacs".split()},
}
_MORE: Final = frozenset(
    "groovy scala tclsh expect guile racket ghci runghc ghc jshell rails django-admin flask artisan drush wp jupyter sbcl clisp "
    "ecl ccl octave octave-cli chicken csi scheme mit-scheme swipl prolog gprolog erl clj clojure jrunscript kotlin gnuplot "
    "wish nu xonsh osh ysh ion murex janet fennel hy bb qjs gjs gsi gosh chez petite newlisp picolisp maxima gap sage "
    "raku".split())
"""Programs that run code of languages without a row."""
_STRING: Final = re.compile(
    r"([fF]?)(\"\"\"[^\\]{0,2000}?\"\"\"|\"(?:[^\"\\\n]|\\.){0,800}\"|'(?:[^'\\\n]|\\.){0,800}'"
    r"|`(?:[^`\\]|\\.){0,800}`)", re.DOTALL)
_HOLES: Final = re.compile(r"[#$@]?\{([^{}]{0,200})\}")
"""What a string computes: ``#{…}``, ``${…}``, ``{…}`` of Python."""
_SUBSTITUTES: Final = re.compile(
    r"(?<![\w$@%])(?:s|tr|y)([/|#,!])((?:[^\\]|\\.){0,200}?)\1((?:[^\\]|\\.){0,200}?)\1([a-z]{0,8})")
_PATTERN: Final = re.compile(r"(?:^|(?<=[\s(,=!~&|;{]))/((?:[^/\\\n]|\\.){1,200})/([a-z]{0,8})")
_RUNS_IN_PATTERN: Final = ("(?{", "(??{")
_ODD_CALL: Final = re.compile(r"[\])}]\s{0,9}\(|\?\.\(|[\w$]\s{0,9}`|(?<!&)&(?!&)\s{0,9}[${\w]"
                              r"|->\s{0,9}[($]|\$\w{1,80}\s{0,9}\(")
"""Calls of something that has no name there: ``x['a']()``, ``$f()``, a tag before a template."""
_ODD_IN_PYTHON: Final = re.compile(r"[\])}]\s{0,9}\(|@|`")
_ODD_IN_NODE: Final = re.compile(r"\]\s{0,9}\(|\)\s{0,9}\(|\?\.\(|[\w$)]\s{0,9}``|\.\s{0,9}\[")
_CALLED: Final = re.compile(r"([A-Za-z_$][\w$]{0,80})\s{0,9}\(")
_ATTRIBUTE: Final = re.compile(r"\.\s{0,9}([A-Za-z_$][\w$]{0,80})")
_IMPORTED: Final = re.compile(r"\b(?:from\s{1,9}([\w.]{1,120})\s{1,9}import\s{1,9}([^;\n]{1,400})|import\s{1,9}([^;\n]{1,400}))")
_REQUIRED: Final = re.compile(r"\b(?:require|import)\s{0,9}\(?\s{0,9}(['\"])([^'\"\n]{0,400})\1")
_OPENED: Final = re.compile(
    r"\bopen\(\s{0,9}(?:S|[A-Za-z_]\w{0,40}(?:\.argv\[\d\])?)(?:\s{0,9},\s{0,9}R)?(?:\s{0,9},\s{0,9}encoding\s{0,9}=\s{0,9}S)?\s{0,9}\)")
"""``open`` for reading, where strings are ``S`` and a mode that reads is ``R``."""
_READ_MODE: Final = frozenset(("r", "rb", "rt"))
_DUNDER: Final = re.compile(r"\b__\w{1,40}")
_TAKES_FUNCTIONS: Final = re.compile(r"\b(?:map|filter|sorted|sort|min|max|reduce|defaultdict|iter|forEach|then|find|some|every"
                                     r"|flatMap|findIndex|findLast|replace|replaceAll|from|groupby|sub|accumulate|stringify|parse)\s{0,9}\(")
_FOREIGN_NAMES: Final = frozenset(
    "open exec eval compile input breakpoint globals locals vars getattr setattr delattr class def async global".split())
_NODE_FOREIGN: Final = frozenset(
    "eval Function globalThis global constructor prototype Reflect Proxy WebAssembly with class dlopen binding "
    "mainModule".split())
_BOUND: Final = re.compile(
    r"(?:^|[;\n:{,(]|\b(?:const|let|var)\b)\s{0,9}([\w$ ,.\[\]{}:]{1,200}?)\s{0,9}=(?![=>])|\bas\s{1,9}(\w{1,80})"
    r"|\bfor\s{1,9}([\w,\s()]{1,120}?)\s{1,9}(?:in|of)\b|\blambda\s{1,9}([^:]{1,120}):|(\w{1,80})\s{0,9}:=|\.(\w{1,80})\s{0,9}=(?!=)"
    r"|[{,]\s{0,9}(\w{1,80})\s{0,9}:|(\w{1,80})\s{0,9}=>|\(([\w\s,{}:]{1,120})\)\s{0,9}=>")
"""Names that code gives a value; of keyword arguments too, whose names nobody calls."""
_BEFORE_PATTERN: Final = frozenset(
    "print if unless and or not split grep return when while until x puts map join typeof case in of".split())
_UNSURE_SLASH: Final = re.compile(r"[\])}]\s{0,9}/[^/\n]{0,200}['\"`]")
"""A slash that may divide, or begin a pattern with a quote in it: what is a string behind it is not sure."""
_NAME: Final = re.compile(r"(?<![\w$@%])[A-Za-z_][\w]{0,80}(?:-[A-Za-z][\w-]{0,40})?")
_ODD_ANYWHERE: Final = re.compile(r"['\\#`]|!(?!=)")
"""What begins a string in one language, and quotes, comments or runs something in another."""
_NAMED: Final = re.compile(
    r"([a-z_]\w{0,40})\s{0,9}(?:,\s{0,9}[a-z_]\w{0,40}\s{0,9})?(?:=(?![=~>])|\bin\b)|\|([\w\s,()]{1,80})\||->\s{0,9}([a-z]\w{0,20})")


def brings_code(command: SimpleCommand) -> bool:
    """Whether a command may have code in its words, or on its input, that is judged by ``is_plain``."""
    name = (command.name or "").lower()
    if (name if name in LANGUAGES else name.rstrip("0123456789.")) not in LANGUAGES and name not in _MORE:
        return False
    fed = command.stdin_from >= 0 or any(one.operator[:1] == "<" for one in command.redirects)
    return fed or any(word[:1] in "-+" or word == "eval" for word in command.sketch[1:])


def is_plain(code: str, program: str) -> bool:
    """Whether a piece of code, as this program runs it, can only compute, look and print."""
    if len(code) > MAX_CODE or not code.replace("\n", "").replace("\t", "").isprintable():
        return False
    language = LANGUAGES.get(program.rstrip("0123456789.") or program, "")
    if language == "python":
        return _plain_python(code)
    if language == "node":
        return _plain_node(code)
    return _plain_other(code, language)


def _without_strings(code: str, is_python: bool = False) -> str:
    """The code with ``S`` for each string, and what the strings compute behind it."""
    computed: list[str] = []

    def take(found: re.Match[str]) -> str:
        text = found[2].strip("\"'`")
        if (found[1] or not is_python) and "{" in text:
            computed.extend(_HOLES.findall(text))
        if is_python and text in _READ_MODE:
            return "R"
        return "S" if found[2][0] != "`" else "``"

    bare = _STRING.sub(take, code)
    return f"{bare} ; {' ; '.join(computed)}" if computed else bare


def _plain_python(code: str) -> bool:
    if "#" in code and ('"""' in code or "'''" in code):
        return False
    bare = _OPENED.sub("S", _without_strings(code, True))
    if _ODD_IN_PYTHON.search(bare) or any(one not in PYTHON_DUNDERS for one in _DUNDER.findall(bare)):
        return False
    modules, bound, taken = set[str](), set[str](), False
    for source, names, imported in _IMPORTED.findall(bare):
        if "*" in names or "(" in names:
            return False
        modules.update([source] if source else [one.split()[0] for one in imported.split(",") if one.strip()])
        taken = taken or bool(source)
        if source and source not in PYTHON_MODULES and source not in _LOOKING_MODULES:
            bound |= set(re.findall(r"\w+", names))
    words, called = set(re.findall(r"[A-Za-z_]\w{0,80}", bare)), set(_CALLED.findall(bare))
    if not _FOREIGN_NAMES.isdisjoint(words) or "modules" in words or not called <= PYTHON | _KEYWORDS:
        return False
    if not bound.isdisjoint(called) or _is_rebound(_IMPORTED.sub(" ", bare), called) or _renames(bare, called):
        return False
    if not called.isdisjoint(("load", "replace")) and not modules <= PYTHON_MODULES | {"os", "os.path"}:
        return False
    return _knows_values(bare, modules <= PYTHON_MODULES, taken, PYTHON | PYTHON_DUNDERS)


def _is_rebound(bare: str, called: set[str]) -> bool:
    """Whether code gives a name that it calls another meaning."""
    bound = {name for found in _BOUND.findall(bare) for one in found for name in re.findall(r"[A-Za-z_$][\w$]*", one)}
    return not bound.isdisjoint(called - _KEYWORDS)


def _without_patterns(code: str) -> str:
    """The code with ``S`` for each pattern between slashes; behind a value a slash divides."""

    def take(found: re.Match[str]) -> str:
        before = code[max(0, found.start() - 40):found.start()].rstrip()
        word = re.search(r"[\w$\])}\"']+$", before)
        return "S" if word is None or word[0] in _BEFORE_PATTERN else found[0]

    return _PATTERN.sub(take, code)


_KEYWORDS: Final = frozenset("in and or not if else for while return lambda yield assert is print with as elif del "
                             "except".split())


def _renames(bare: str, called: set[str]) -> bool:
    return not called.isdisjoint(re.findall(r"\bas\s{1,9}(\w{1,80})", bare))


_LOOKING_MODULES: Final = frozenset(("pathlib", "os.path", "glob"))


def _plain_node(code: str) -> bool:
    required = {name for _, name in _REQUIRED.findall(code)}
    bare = _without_strings(_without_patterns(code))
    if _UNSURE_SLASH.search(code) or ("`" in code and ("//" in code or "/*" in code)):
        return False
    if _ODD_IN_NODE.search(bare) or not all(map(_is_harmless_module, required)):
        return False
    if len(re.findall(r"\b(?:require|import)\b", bare)) > len(_REQUIRED.findall(code)):
        return False
    words, called = set(re.findall(r"[A-Za-z_$][\w$]{0,80}", bare)), set(_CALLED.findall(bare))
    if not _NODE_FOREIGN.isdisjoint(words) or "__proto__" in words or not called <= NODE | _KEYWORDS or _is_rebound(bare, called):
        return False
    bare = re.sub(r"\bprocess\.stdout\.write\b", "S", bare)
    if re.search(r"\.write\b", bare):
        return False
    is_pure = required.isdisjoint(("fs", "node:fs")) or _only_reads_files(code)
    return _knows_values(bare, is_pure, False, NODE | {"argv", "env", "stdout", "stdin", "length"})


def _only_reads_files(code: str) -> bool:
    """Whether all that code does with node's files is to call something known of theirs."""
    named = _FILES_NAMED.sub(" ", _FILES.sub("fs", code))
    return len(re.findall(r"\bfs\b", named)) == len(_FILES_READ.findall(named))


_FILES: Final = re.compile(r"require\((['\"])(?:node:)?fs\1\)")
_FILES_NAMED: Final = re.compile(r"\b(?:const|let|var)\s{1,9}fs\s{0,9}=\s{0,9}fs\b(?!\.)")
_FILES_READ: Final = re.compile(r"\bfs\.(?:readFileSync|existsSync|readdirSync|statSync)\(")


def _is_harmless_module(name: str) -> bool:
    plain = name.removeprefix("node:")
    return plain not in NODE_GRAVE and plain.partition("/")[0] not in NODE_GRAVE and plain != "fs/promises" and (
        name[:1] not in ("/", "~", "") and ".." not in name and ":" not in plain)


def _knows_values(bare: str, is_pure: bool, taken: bool, known: frozenset[str]) -> bool:
    """Whether nothing that is not known is handed to somebody who may call it."""
    if is_pure or _TAKES_FUNCTIONS.search(bare) is None:
        return True
    return not taken and set(_ATTRIBUTE.findall(bare)) <= known


def _plain_other(code: str, language: str) -> bool:
    """Languages where a name alone may be a call: every one has to be known."""
    if not language and _ODD_ANYWHERE.search(code):
        return False
    if any(sign in code for sign in _RUNS_IN_PATTERN) or "`" in code or _UNSURE_SLASH.search(code) or (
            language == "perl" and "ARGV" in code):
        return False
    for found in _SUBSTITUTES.finditer(code) if language == "perl" else ():
        if "e" in found[4]:
            return False
    bare = _without_strings(_without_patterns(_SUBSTITUTES.sub("S", code) if language == "perl" else code))
    if _ODD_CALL.search(bare) or "%x" in bare:
        return False
    if language == "ruby" and any("/" in one or "." in one for one in re.findall(r"require\s{0,9}\(?['\"]([^'\"]{0,200})", code)):
        return False
    given = {name.strip(" ()") for found in _NAMED.findall(bare) for one in found for name in one.split(",")}
    names = {name.lower() if language == "pwsh" else name for name in _NAME.findall(bare)} - {"S", *given}
    return names <= OTHERS.get(language, ELSEWHERE)
