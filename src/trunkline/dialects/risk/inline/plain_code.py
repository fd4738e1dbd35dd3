"""Whether code in an argument is known to compute, look and print only: every name in it is one of ``harmless_names.py``.

Rule 1: what dangerous code looks like nobody can list; what harmless code looks like is short. So code is plain only where all of
it is known, and whoever cannot be read for sure is not plain.
Rule 2: Python is parsed (``plain_python.py``), other languages are not: strings and patterns are taken out (what they compute
stays in), and names are looked at.
Rule 3: every repetition has an end.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk.inline.bare_text import UNSURE_SLASH, without_patterns, without_strings
from trunkline.dialects.risk.inline.harmless_names import ELSEWHERE, OTHERS
from trunkline.dialects.risk.inline.plain_node import is_plain_node
from trunkline.dialects.risk.inline.plain_python import is_plain_python
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
NOT_READ: Final = frozenset(
    "groovy scala tclsh expect guile racket ghci runghc ghc jshell rails django-admin flask artisan drush wp jupyter sbcl clisp "
    "ecl ccl octave octave-cli chicken csi scheme mit-scheme swipl prolog gprolog erl clj clojure jrunscript kotlin gnuplot "
    "wish nu xonsh osh ysh ion murex janet fennel hy bb qjs gjs gsi gosh chez petite newlisp picolisp maxima gap sage "
    "raku rakudo perl6 rebol wren pike moon luvit lune gforth bsh".split())
"""Programs that run code of languages without a row."""
_SUBSTITUTES: Final = re.compile(
    r"(?<![\w$@%])(?:s|tr|y)([/|#,!])((?:[^\\]|\\.){0,200}?)\1((?:[^\\]|\\.){0,200}?)\1([a-z]{0,8})")
_RUNS_IN_PATTERN: Final = ("(?{", "(??{")
_ODD_CALL: Final = re.compile(r"[\])}]\s{0,9}\(|\?\.\(|[\w$]\s{0,9}`|(?<!&)&(?!&)\s{0,9}[${\w]"
                              r"|->\s{0,9}[($]|\$\w{1,80}\s{0,9}\(")
"""Calls of something that has no name there: ``x['a']()``, ``$f()``, a tag before a template."""
_NAME: Final = re.compile(r"(?<![\w$@%])[A-Za-z_][\w]{0,80}(?:-[A-Za-z][\w-]{0,40})?")
_ODD_ANYWHERE: Final = re.compile(r"['\\#`]|!(?!=)")
"""What begins a string in one language, and quotes, comments or runs something in another."""
_NAMED: Final = re.compile(
    r"([a-z_]\w{0,40})\s{0,9}(?:,\s{0,9}[a-z_]\w{0,40}\s{0,9})?(?:=(?![=~>])|\bin\b)|\|([\w\s,()]{1,80})\||->\s{0,9}([a-z]\w{0,20})")


def brings_code(command: SimpleCommand) -> bool:
    """Whether a command may have code in its words, or on its input, that is judged by ``is_plain``."""
    name = (command.name or "").lower()
    if (name if name in LANGUAGES else name.rstrip("0123456789.")) not in LANGUAGES and name not in NOT_READ:
        return False
    fed = command.stdin_from >= 0 or any(one.operator[:1] == "<" for one in command.redirects)
    return fed or any(word[:1] in "-+" or word == "eval" for word in command.sketch[1:])


def is_plain(code: str, program: str) -> bool:
    """Whether a piece of code, as this program runs it, can only compute, look and print."""
    if len(code) > MAX_CODE or not code.replace("\n", "").replace("\t", "").isprintable():
        return False
    language = LANGUAGES.get(program.rstrip("0123456789.") or program, "")
    if language == "python":
        return is_plain_python(code)
    if language == "node":
        return is_plain_node(code)
    return _plain_other(code, language)


def _sets_loading(bare: str) -> bool:
    """Whether code names a variable of the language itself, by which code may be loaded from elsewhere: ``@INC``, ``$:``."""
    return any(name not in _OWN_VARIABLES for name in _SPECIAL.findall(bare))


_SPECIAL: Final = re.compile(r"[$@%]\{?(\^|:(?!:)|[A-Z][A-Z0-9_]{1,40})")
_OWN_VARIABLES: Final = frozenset(("ENV", "ARGV", "NR", "PROGRAM_NAME"))


def _plain_other(code: str, language: str) -> bool:
    """Languages where a name alone may be a call: every one has to be known."""
    if not language and _ODD_ANYWHERE.search(code):
        return False
    if any(sign in code for sign in _RUNS_IN_PATTERN) or "`" in code or UNSURE_SLASH.search(code) or (
            language == "perl" and "ARGV" in code):
        return False
    for found in _SUBSTITUTES.finditer(code) if language == "perl" else ():
        if "e" in found[4]:
            return False
    bare = without_strings(without_patterns(_SUBSTITUTES.sub("S", code) if language == "perl" else code)).text
    if _ODD_CALL.search(bare) or "%x" in bare or (language in ("perl", "ruby") and _sets_loading(bare)):
        return False
    if language == "ruby" and any("/" in one or "." in one for one in re.findall(r"require\s{0,9}\(?['\"]([^'\"]{0,200})", code)):
        return False
    given = {name.strip(" ()") for found in _NAMED.findall(bare) for one in found for name in one.split(",")}
    names = {name.lower() if language == "pwsh" else name for name in _NAME.findall(bare)} - {"S", *given}
    return names <= OTHERS.get(language, ELSEWHERE)
