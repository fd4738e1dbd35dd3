"""Programs that run code: shells, interpreters, build tools."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Final

from msgspec import structs

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.inline.code import judge_code
from trunkline.dialects.risk.inline.magics import note_magics
from trunkline.dialects.risk.inline.perl import judge_perl_words
from trunkline.dialects.risk.places import look
from trunkline.dialects.risk.rules import reading
from trunkline.dialects.risk.rules.looking import asks_about_itself, only_looks
from trunkline.dialects.risk.rules.packages import manages
from trunkline.dialects.risk.runners.evaluating import given_code
from trunkline.dialects.risk.runners.words import options_of, row_of
from trunkline.dialects.risk.stdin import given
from trunkline.dialects.shell import SHELLS, STDIN_NAMES, module_at, shell_script
from trunkline.dialects.shell.options import given_value

_QUIET_MODULES: Final = frozenset(
    "pytest unittest mypy ruff flake8 pylint json.tool doctest timeit this platform sysconfig site compileall "
    "py_compile tokenize "
    "ast dis calendar coverage tabnanny pyflakes pycodestyle bandit pyright nose importlinter keyword".split()
)
_LOCAL_TOOLS: Final = frozenset(
    "jest vitest mocha tsc eslint prettier stylelint playwright cypress ava tap nyc c8 vue-tsc biome tsd jasmine karma "
    "svelte-check astro-check oxlint markdownlint cspell depcheck knip madge size-limit typedoc".split()
)
_INLINE: Final[dict[str, tuple[str, ...]]] = {
    "python": ("-c",),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "node": ("-e", "--eval", "-p", "--print", "-pe"),
    "deno": ("eval",),
    "bun": ("-e", "--eval", "-p", "--print"),
    "php": ("-r", "-B", "-R", "-E"),
    "lua": ("-e",),
    "r": ("-e",),
    "osascript": ("-e",),
    "elixir": ("-e", "--eval"),
    "julia": ("-e", "-E", "--eval"),
    "groovy": ("-e",),
    "scala": ("-e",),
    "tclsh": (),
    "expect": ("-c",),
    "pwsh": ("-c", "-Command", "-command", "-EncodedCommand", "-enc", "-e", "-ec"),
}
_IPYTHON: Final = frozenset(("IPython", "ipython"))
_CLUSTER: Final = re.compile(r"-[A-Za-z0-9]{2}")
_LETTERS: Final = re.compile(r"-([A-Za-z0]+)")
_JOINED: Final = re.compile(r"-[a-zA-Z]*?[ceEr](.+)", re.DOTALL)
_LANGUAGES: Final[dict[str, str]] = {
    "python": "python", "python2": "python", "python3": "python", "pypy": "python", "pypy3": "python", "ipython": "python",
    "perl": "perl", "ruby": "ruby", "jruby": "ruby", "node": "node", "nodejs": "node", "php": "php", "lua": "lua",
    "luajit": "lua", "rscript": "r", "r": "r", "osascript": "osascript", "elixir": "elixir", "iex": "elixir", "julia": "julia",
    "groovy": "groovy", "scala": "scala", "tclsh": "tclsh", "expect": "expect", "pwsh": "pwsh", "powershell": "pwsh",
    "deno": "deno", "tsx": "node", "ts-node": "node",
    **{name: name for name in "sbcl clisp ecl ccl octave octave-cli chicken csi scheme mit-scheme swipl prolog gprolog erl clj "
       "clojure jrunscript kotlin gnuplot wish nu xonsh osh ysh ion murex janet fennel hy bb qjs gjs gsi gosh chez petite "
       "newlisp picolisp maxima gap sage raku rakudo perl6 rebol wren pike moon luvit "
       "lune gforth bsh".split()}, "pry": "ruby", "bpython": "python",
    "irb": "ruby", "guile": "guile", "racket": "racket", "ghci": "ghci", "runghc": "ghci", "jshell": "jshell",
}  # fmt: skip


def run_file(call: ProgramCall) -> None:
    """A program given by its path: a file that somebody made."""
    path = call.command.words[0] or ""
    if "://" in path:  # uv run https://…
        call.note("critical", "runs a script from the network", path)
        return
    call.run(path)
    call.note("medium", "runs a file", call.command.text)
    _note_foreign(call, path)


def _note_foreign(call: ProgramCall, path: str) -> None:
    """Note a script that is neither the session's nor installed. A program in a folder of programs is, and what lies among
    temporary files was most likely written there to be run."""
    if path[:1] in "/~." and call.places.is_foreign(path):
        resolved, kind, _ = look(call.places, path)
        if kind not in ("temp", "null") and _PROGRAMS.search(resolved) is None:
            call.note("high", "runs a script from outside the session's folders", resolved)


_PROGRAMS: Final = re.compile(r"/(?:bin|sbin|libexec|node_modules|site-packages|shims)/")
"""Folders of installed programs, wherever they lie."""


def _script(call: ProgramCall, path: str) -> None:
    call.run(path)
    call.note("medium", "runs a script", path)
    _note_foreign(call, path)
    if call.places.kind(path) == "unknown":
        call.traits |= Trait.EXECUTES
        call.note("high", "runs a script that is only known when it runs", path)


def _from_input(call: ProgramCall) -> None:
    """A shell or an interpreter that reads its script from a file: ``sh < x``."""
    for redirect in call.command.redirects:
        if redirect.reads:
            _script(call, redirect.sketch)


def _shell(call: ProgramCall) -> None:
    """A shell: literal ``-c`` texts are judged as commands of the line already."""
    text, at = shell_script(call.command.words)
    words = call.command.words
    if text:
        if at < len(words) and words[at] is None:
            call.traits |= Trait.EXECUTES
            call.note("high", "runs a command that is only known when it runs", call.command.text)
    elif at < len(words) and call.command.sketch[at] not in STDIN_NAMES:
        if words[at] is None:
            call.traits |= Trait.EXECUTES
        _script(call, call.command.sketch[at])
    else:
        call.traits |= Trait.EXECUTES
        _from_input(call)
        if call.command.stdin_text is None:
            call.at_least("medium", "starts a shell", call.command.text)
    for option in ("--rcfile", "--init-file") if call.longs else ():
        path = call.value(option)
        if path is not None:
            _script(call, path)


def _eval(call: ProgramCall) -> None:
    if None in call.command.words[1:]:
        call.traits |= Trait.EXECUTES
        call.note("high", "runs a command that is only known when it runs", call.command.text)


def _source(call: ProgramCall) -> None:
    path = call.operands[0] if call.operands else ""
    dynamic = len(call.command.words) > 1 and call.command.words[1] is None
    if dynamic or path in STDIN_NAMES:
        call.traits |= Trait.EXECUTES
    if dynamic and not path.startswith(("$HOME/", "$VIRTUAL_ENV/")):
        call.note("high", "runs a script that is only known when it runs", path)
    else:
        call.run(path)
        if not re.search(r"(^|/)(\.?venv|env|\.virtualenvs/[^/]+)/bin/activate(\.fish)?$|nvm\.sh$", path):
            call.note("medium", "runs a script", path)


def _interpreter(call: ProgramCall) -> None:
    language = _LANGUAGES.get(call.name) or _LANGUAGES.get(call.name.rstrip("0123456789.")) or call.name
    words = call.command.words
    options = _INLINE.get(language, ())
    module = module_at(call.command)
    if call.name == "ipython" or (module and words[module] in _IPYTHON):
        _magics(call)
    if language in ("node", "deno"):
        _of_package(call)
        if (call.value("--import", "-r", "--require", "--loader", "--experimental-loader") or "").startswith("data:"):
            call.note("high", "loads code that is given with it", call.command.text)
    if language not in _INLINE and (codes := list(given_code(call.command))):
        for one in codes[:_CODES]:
            _judge_own(call, one.code, language)
        return
    inline = [at for at, word in enumerate(words[1:], start=1) if word is not None and _is_inline(word, options, language)]
    if inline and 0 < module < inline[0] and words[module] not in _IPYTHON:
        inline = []  # what stands behind a module's name is the module's
    if inline:
        for at in inline[:4]:
            _inline(call, at, language)
        if language == "python" and (script := _before(call, inline[0])):
            _script(call, script)
        if language == "perl":
            judge_perl_words(call)
        if language in ("perl", "ruby") and "i" in call.letters.partition("e")[0]:
            call.at_least("medium", "rewrites files", call.command.text)
        _brings_more(call)
        return
    is_module_help = module > 0 and call.args[module:] in (("--version",), ("--help",))  # as everybody asks a module
    if is_module_help or call.args[:1] in (("--version",), ("--help",)) or asks_about_itself(call):
        return
    if module:
        _module(call, module)
    else:
        _file_or_input(call, language)


_CODES: Final = 6


def _brings_more(call: ProgramCall) -> None:
    """Options beside inline code that load more: ``ruby -r./x -e``, ``perl -Mx -e``."""
    command, row = row_of(call.command)
    for option, value in options_of(command, row) if row is not None and not call.bare else ():
        if row is not None and option in row.changes and re.search(r"[/.\\]", value or "$/"):
            call.at_least("medium", "loads code that an option names", value or "")


_PACKAGED: Final = re.compile(r"(?:.{0,400}/)?node_modules/(?:\.bin/([^/]+)|((?:@[^/]+/)?[^/@.][^/]*)/.*)")


def _of_package(call: ProgramCall) -> None:
    """``node node_modules/.bin/x`` and ``deno x npm:x``: what is run is what the package's name says."""
    sketch = call.command.sketch
    at = next((place for place, word in enumerate(sketch[1:], 1) if "node_modules/" in word or word[:4] in ("npm:", "jsr:")), 0)
    if at and any(word[:1] != "-" and word not in ("run", "x", "-r") for word in sketch[1:at]):
        return
    found = _PACKAGED.fullmatch(sketch[at]) if at else None
    name = sketch[at][4:] if at and sketch[at][:4] in ("npm:", "jsr:") else (found[1] or found[2]) if found is not None else ""
    if name:
        call.note("medium", "runs a program of a package", sketch[at])
        call.bring(shlex.join((name, *sketch[at + 1:])))


def _judge_own(call: ProgramCall, code: str | None, language: str) -> None:
    """Code of a language; of one without a row, which may be a shell's, also as a line."""
    judge_code(call, code, language)
    if code is not None and language not in _INLINE:
        call.bring(code)


def _before(call: ProgramCall, at: int) -> str:
    """The script that stands before a word, whose option that then is: ``python manage.py shell -c``."""
    sketch = call.command.sketch
    return next((sketch[place] for place in range(1, at) if sketch[place][:1] != "-" and sketch[place - 1][:1] != "-"), "")


def _bun(call: ProgramCall) -> None:
    """bun is an interpreter, a package manager and a test runner."""
    remote = next((word for word in call.operands[:2] if "://" in word), None)
    if remote is not None and call.operands[0] in ("run", remote):
        call.note("critical", "runs a script from the network", remote)
    elif call.has("ep", "--eval", "--print") or "-" in call.args:
        _interpreter(call)
    else:
        manages(call)


def _is_inline(word: str, options: tuple[str, ...], language: str) -> bool:
    """Whether a word is an option that brings code: ``-c``, ``-ne``, ``-Ic``, ``--eval=…``."""
    if word in options:
        return True
    if word[:1] != "-":
        return False
    if word[:2] == "--":
        return word.partition("=")[0] in options and "=" in word
    if not _CLUSTER.match(word) or language in ("node", "pwsh", "osascript"):
        return False
    letters = _LETTERS.match(word)
    short = {option[1] for option in options if len(option) == 2}
    return letters is not None and any(letter in short for letter in (letters[1][:4] if language == "python" else letters[1][:6]))


def _inline(call: ProgramCall, at: int, language: str) -> None:
    """The code of an inline option: joined to it, or the next word."""
    word = call.command.words[at] or ""
    if word.startswith("--") and "=" in word:
        judge_code(call, word.partition("=")[2], language)
        return
    following = call.command.words[at + 1] if at + 1 < len(call.command.words) else ""
    joined = _JOINED.match(word) if len(word) > 2 else None
    if joined and len(joined[1]) > 3:
        judge_code(call, joined[1], language)
    if word.lower() in ("-encodedcommand", "-enc", "-ec"):
        call.note("high", "runs text that was made unreadable", call.command.text)
    judge_code(call, following, language)


def _magics(call: ProgramCall) -> None:
    """ipython runs a line that begins with ``!``, and has words of its own for more."""
    fed = given(call)
    for arg in call.args:
        name, _, value = arg.partition("=")
        if name == "--c" or name.endswith(("code_to_run", "exec_lines")):
            judge_code(call, value, "python")
        note_magics(call, value if name[:2] == "--" else arg[2:] if arg[:2] == "-c" else arg)
    for text in fed.texts if fed is not None else ():
        note_magics(call, text)


_MODULE_PROGRAMS: Final = {"awscli": "aws", "azure": "az", "dulwich": "git", "mercurial": "hg"}
"""Modules that are a program of another name."""
_CONSOLES: Final = frozenset(("code", "asyncio", "IPython", "bpython", "ptpython"))
"""Modules that run what is on their input."""


def _module(call: ProgramCall, at: int) -> None:
    """``python -m module``."""
    name = call.command.words[at] if at < len(call.command.words) else None
    if name is None:
        call.note("high", "runs a module that is only known when it runs", call.command.text)
    elif name in ("pip", "pip3", "ensurepip"):
        call.script(" ".join(call.command.sketch[at:]))
        call.note("medium", "installs packages" if "install" in call.args else "manages packages", call.command.text)
    elif name in _QUIET_MODULES and name in reading.JUDGES:
        _as_program(call, name, at)
    elif name == "timeit":
        codes = [code for code in call.command.words[at + 1:] if code is None or code[:1] != "-"]
        for code in ["\n".join(code for code in codes if code is not None), *([None] if None in codes else [])]:
            judge_code(call, code, "python")
    elif name in _CONSOLES:
        _reads_input(call, "python")
    elif name in ("zipfile", "tarfile"):
        _packs(call, call.command.sketch[at + 1:])
    elif name in ("http.server", "SimpleHTTPServer"):
        folder = call.value("-d", "--directory")
        is_whole = folder is not None and call.places.holds_secrets(folder)
        call.note("high" if is_whole else "medium", "serves files to the network", call.command.text)
    elif name not in _QUIET_MODULES:
        call.note("medium", "runs a module", call.command.text)
        name = name.partition(".")[0]
        call.bring(shlex.join((_MODULE_PROGRAMS.get(name, name), *call.command.sketch[at + 1:])))


def _as_program(call: ProgramCall, name: str, at: int) -> None:
    """A module that is a program of its own: ``python -m mypy`` is ``mypy``."""
    command = structs.replace(call.command, words=call.command.words[at:], sketch=call.command.sketch[at:])
    program = ProgramCall(command, call.places, name, feeders=call.feeders, lenders=call.lenders, values=call.values)
    reading.JUDGES[name](program)
    call.traits |= program.traits
    for text in program.brought:
        call.bring(text)
    for finding in program.findings:
        call.note(finding.level, finding.reason, unsure=finding.unsure)


def _packs(call: ProgramCall, words: tuple[str, ...]) -> None:
    """Python's own archivers: ``-c`` makes a file, ``-e`` fills a folder."""
    call.note("medium", "runs a module", call.command.text)
    if words[:1] in (("-c",), ("--create",)):
        call.write(" ".join(words[1:2]))
    elif words[:1] in (("-e",), ("--extract",)):
        call.write(words[2] if len(words) > 2 else ".")


_DENO_RUNS: Final = frozenset("run test eval repl install serve bench compile cache bundle jupyter x".split())


def _file_or_input(call: ProgramCall, language: str) -> None:
    operands = [path for path in call.operands if path not in STDIN_NAMES]
    if language == "deno" and operands[:1] and operands[0] in _DENO_RUNS:
        made = call.value("-o", "--output") if operands[0] in ("compile", "bundle") else None
        if made is not None:
            call.write(made)
        operands = [path for path in operands[1:] if path != made]
        if call.has("A", "--allow-all"):
            call.note("high", "runs a script that may do everything", call.command.text)
    remote = next((path for path in operands[:1] if "://" in path), None)
    if remote is not None:
        call.note("critical", "runs a script from the network", remote)
    elif operands and None not in call.command.words[1:2]:
        _script(call, operands[0])
    elif operands:
        call.traits |= Trait.EXECUTES
        call.note("high", "runs a script that is only known when it runs", operands[0])
    else:
        _reads_input(call, language)


def _reads_input(call: ProgramCall, language: str) -> None:
    """An interpreter that runs what it is given on its input."""
    call.traits |= Trait.EXECUTES
    _from_input(call)
    found = given(call)
    for text in found.texts if found is not None else ():
        _judge_own(call, text, language)
    call.judges_input = found is not None and found.is_known and language in _NO_SHELLS and call.name not in _IPYTHON
    call.at_least("medium", f"starts {language}", call.command.text)


_NO_SHELLS: Final = frozenset(("python", "node", "ruby"))
"""Languages in which a line of a shell is none of their own."""
_BUILD_FILES: Final = ("-f", "--file", "--makefile", "--justfile", "--rakefile", "-b", "--build-file", "-buildfile", "-C",
                       "--directory", "--working-directory", "-p", "--project-dir")  # fmt: skip


_WITH_PROPERTIES: Final = frozenset("mvn mvnw mvnd gradle gradlew ant java".split())
_PROGRAM_PROPERTY: Final = re.compile(
    r"-[DP][\w.-]{0,80}?(?:executable|exec\.(?:args|commandline)|argline|jvmargs|jvm)[\w.]{0,40}=(.*)", re.IGNORECASE | re.DOTALL)
_LOADING_PROPERTY: Final = re.compile(r"(?i)path|ext|plugin|agent|script|settings|lib|home|exe|tool")
_PATH_PROPERTY: Final = re.compile(r"-[DP][\w.-]{1,120}=([/~.].{0,400})", re.DOTALL)


def _properties(call: ProgramCall) -> None:
    """Properties of a Java build that name a program, or code from outside."""
    for arg in call.args:
        if (program := _PROGRAM_PROPERTY.fullmatch(arg)) is not None:
            call.script(program[1])
            if "exec" in arg.partition("=")[0].lower():
                call.note("high", "runs a program that an option names", arg)
        elif (path := _PATH_PROPERTY.fullmatch(arg)) is not None and _LOADING_PROPERTY.search(arg.partition("=")[0]) and (
                call.places.is_foreign(path[1])):
            call.note("high", "loads code from outside the session's folders", arg)


def _recipes(call: ProgramCall) -> None:
    """A build file on the input: its recipes are lines for a shell."""
    call.traits |= Trait.EXECUTES
    fed = given(call)
    if fed is None or not fed.is_known:
        call.note("high", "builds by a file that is only known when it runs", call.command.text)
    for line in [line for text in fed.texts for line in text.split("\n")][:_RECIPES] if fed is not None else ():
        recipe = line.strip() if line[:1] == "\t" else line.partition(";")[2] if ":" in line.partition(";")[0] else ""
        call.bring(recipe.lstrip("@-+ "))
        if "$(shell" in line or "!=" in line:
            call.note("high", "gives the build code of its own", line)


_RECIPES: Final = 16


_ADDRESS: Final = re.compile(r"(?:https?|git|ssh)://|git@|git\+|github:")
_BY_ADDRESS: Final = frozenset("archive.install escript.install local.hex try-repo install new init plugin add activate".split())
_SBT_CODE: Final = re.compile(r"\s{0,9}(?:;|~)?\s{0,9}(?:set|eval)\s")


def _build(call: ProgramCall) -> None:
    """make and its like run whatever the project's build file says; one from elsewhere is somebody else's program."""
    for option in _BUILD_FILES if not call.bare else ():
        path = call.value(option)
        if path in STDIN_NAMES:
            _recipes(call)
        elif path:
            call.build(path)
    if call.name in _WITH_PROPERTIES:
        _properties(call)
    if call.name == "dotnet" and call.operands[:1] == ("exec",) and len(call.operands) > 1:
        call.build(call.operands[1])
    if (address := next((word for word in call.operands[1:] if _ADDRESS.match(word)), None)) is not None and (
            not _BY_ADDRESS.isdisjoint(call.operands[:3])):
        call.note("high", "takes its code from an address", address)
    if call.name == "tox" and (setting := call.value("-x", "--override")):
        call.script(setting.partition("=")[2])
    for text in filter(_SBT_CODE.match, call.args if call.name == "sbt" else ()):
        judge_code(call, text, "scala")
    shell = next((arg for arg in call.args if arg.startswith(("SHELL=", ".SHELLFLAGS="))), None)
    if shell is not None:
        call.note("high", "changes the shell of the build", shell)
    code = call.value("--eval", "-E")
    if code:
        call.note("high", "gives the build code of its own", code)
    if only_looks(call.name, call.args) or call.args[:1] in (("--version",), ("--help",)) or _asks_about_verb(call):
        return
    if any(word in ("install", "uninstall", "distclean", "deploy", "publish", "release") for word in call.operands):
        call.note("medium", "installs, publishes or removes what was built", call.command.text)
    call.at_least("medium", "runs the project's build", call.command.text)
    call.run(call.value("-C", "--directory") or ".")


def _asks_about_verb(call: ProgramCall) -> bool:
    """``dotnet build --help``: behind a file, or a task, the option would be that one's."""
    return call.args[1:] == ("--help",) and call.args[0].isalpha() and call.name not in ("just", "task", "rake", "invoke")


_SOURCE: Final = re.compile(r"\.(?:py|m?js|tsx?|jsx|go|rs|c|cc|cpp|h|hpp|java|kt|rb|php|sh|md|toml|json|ya?ml|txt|html|css|sql)$")
"""What no compiler makes: written over, it is lost."""


def _compiles(call: ProgramCall) -> None:
    if call.name in ("ghc", "kotlinc"):
        for at, word in enumerate(call.command.words[:-1]):
            if word == "-e":
                judge_code(call, call.command.words[at + 1], call.name)
    target = call.value("-o", "--output", "-d")
    if target and (call.places.kind(target) not in ("inside", "temp", "null") or _SOURCE.search(target)):
        call.write(target)
    if any("plugin" in arg or arg.startswith(("-B", "-wrapper", "--wrapper")) for arg in call.args):
        call.note("high", "makes the compiler load or run something", call.command.text)


def _npx(call: ProgramCall) -> None:
    """npx: a tool of the project, or whatever the registry has under that name."""
    tool = next(iter(call.operands), "")
    if given_value(call.command.words, ("-c", "--call"), ("-p", "--package", "-w", "--workspace"), leading=True) is not None:
        call.note("medium", "runs a command of a package", call.command.text)
    elif re.search(r"^(git\+|https?:|github:|gitlab:|[\w-]+/[\w-]+$|file:|\.)", tool) and not tool.startswith("@"):
        call.note("high", "runs a package that is not from the registry", tool)
    elif tool not in _LOCAL_TOOLS:
        call.note("medium", "may fetch and run a package", call.command.text)


def _terminal(call: ProgramCall) -> None:
    """A terminal, or what starts a program anew: its words may be a command line, whatever they stand behind."""
    call.note("medium", "starts another terminal", call.command.text)
    for at in range(min(len(call.args), _STARTED_AMONG)):
        if call.args[at][:1] != "-" and (at == 0 or call.args[at - 1][:1] != "-" or call.args[at - 1] in _STARTING):
            call.bring(shlex.join(call.args[at:]))


_STARTED_AMONG: Final = 6
_STARTING: Final = frozenset("-e -x -c -d -dm -dmS -- --exec --command --hold".split())


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(_LANGUAGES, _interpreter),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(
        "make gmake bmake ninja cmake meson bazel bazelisk buck gradle gradlew mvn mvnw ant sbt rake just task mage scons "
        "tox nox invoke "
        "fab waf lake dune stack cabal mix rebar3 xcodebuild msbuild dotnet flutter dart gulp grunt turbo nx lerna vite "
        "webpack rollup "
        "esbuild next nuxt astro parcel storybook hugo jekyll mkdocs sphinx-build swift zig pre-commit act "
        "earthly".split(),
        _build,
    ),
    **dict.fromkeys(
        "gcc g++ cc c++ clang clang++ rustc javac kotlinc ghc ocamlc ld as nasm protoc swiftc nvcc".split(), _compiles
    ),
    **dict.fromkeys("tmux screen xterm gnome-terminal konsole alacritty kitty zellij entr nodemon watchexec".split(), _terminal),
    **dict.fromkeys(("npx", "bunx", "pnpx", "dlx"), _npx),
    "eval": _eval,
    "bun": _bun,
    "java": _build,
}
