"""Variables that name code which other programs load, or files which they write: by their names, and the paths in their values.

Rule 1: a variable for a program, a library, a plugin or a home of settings is one of these by what its name ends with, whichever
program reads it. What its value names decides: a path of the project, or of the system, loads what is loaded anyway.
Rule 2: a folder for what comes and goes (a cache, a log, a build) holds no code that is looked for there; it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.variables import loading_level

_BY_NAME: Final = re.compile(
    r"HOME|USERPROFILE|CLASSPATH|RUBYLIB|GOROOT|GOPATH|GOENV|GOTOOLDIR|MYPYPATH|NODE_PATH|ZDOTDIR|TERMINFO|GTK_MODULES|MANPATH|CDPATH|COMPOSE_FILE"
    r"|UV_PYTHON|KUBECONFIG|PYTHONPATH|PYTHONHOME|GOWORK|FLASK_APP|PSQLRC|SCREENRC|AR|AS|NM|RANLIB|STRIP|OBJCOPY|YACC|LEX|BISON|FLEX|PKG_CONFIG"
    r"|GIT_(?:DIR|WORK_TREE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE)|COVERAGE_PROCESS_(?:START|CONFIG)"
    r"|ERL_\w{1,40}|ELIXIR_ERL_OPTIONS|DOTNET_\w{1,40}|COR(?:ECLR)?_\w{0,20}PROFILER\w{0,20}|R_\w{1,40}|XDG_(?:CONFIG|DATA)_(?:HOME|DIRS)"
    r"|(?:NPM_CONFIG|YARN|PNPM|BUN|DENO|CARGO|RUSTUP|BUNDLE|GEM|COMPOSER|MAVEN|GRADLE|SBT|JULIA|LUA|PHP|OPENSSL|CMAKE|PKG_CONFIG|TS_NODE"
    r"|BABEL|ESLINT|JEST|PRETTIER|GUILE|PERL|PERL5|PYTHON|NODE|JAVA|JDK|KOTLIN|SCALA|LEIN|MIX|HEX|REBAR|OTP|TCL|VIM|EMACS|QT|GST|GIO"
    r"|LD|DYLD|NIX|CONDA|PIPX|POETRY|PDM|HATCH|TOX|NOX|PRE_COMMIT|DOCKER|HELM|TF|TERRAGRUNT|PULUMI|ANSIBLE|AWS|KUBE)_\w{1,80}"
    r"|(?:C|CXX|CPP|LD|F|FC|GO|RUST|CGO_C|CGO_LD|JAVAC|SCALAC)FLAGS")
"""Variables of programs that load code, and of those only the families that say what."""
_BY_END: Final = re.compile(
    r"\w{0,80}_(?:OPTS|OPTIONS|FLAGS|PRELOAD|PLUGINS?|PLUGIN_PATH|PLUGINS_PATH|LIBRARY_PATH|MODULES?_PATH|LOAD_PATH|HOOKS?|WRAPPER|LINKER"
    r"|COMPILER|RUNNER|INTERPRETER|SHELL|RC|RCFILE|CONFIG_PATH|CONFIG_FILE|CONFIG_HOME|INIT|PROFILE_USER|LOADER|AGENT|BINARY|EXECUTABLE|EXECUTABLE_PATH)")
_COMES_AND_GOES: Final = re.compile(
    r"CACHE|TE?MP|LOG|TARGET_DIR|OUTPUT|OUT_DIR|DATA_FILE|DOWNLOAD|HISTORY|STORE_DIR|BUILD_DIR|CREDENTIALS|TOKEN|KEY|CERT|CA_BUNDLE|SOCK"
    r"|TRACE|REPORT|PID|STATE_DIR")
_WRITTEN: Final = re.compile(
    r"GIT_TRACE\w{0,30}|GIT_INDEX_FILE|GIT_REDIRECT_STD\w{1,9}|SSLKEYLOGFILE|GOCOVERDIR|GOBIN|GOCACHE|GOTMPDIR|LLVM_PROFILE_FILE|GCOV_PREFIX"
    r"|LD_DEBUG_OUTPUT|MALLOC_TRACE|PYTHONPYCACHEPREFIX|HISTFILE|LESSHISTFILE|COVERAGE_FILE|DESTDIR|CARGO_TARGET_DIR|CARGO_INSTALL_ROOT"
    r"|PIP_(?:TARGET|PREFIX|ROOT)|NPM_CONFIG_PREFIX|CONDA_PREFIX|VIRTUAL_ENV(?:_DIR)?|UV_PROJECT_ENVIRONMENT|TMPDIR|TMUX_TMPDIR"
    r"|PREFIX|INSTALL_ROOT|GEM_HOME|BUNDLE_(?:PATH|BIN)|PYTHONUSERBASE|BUN_INSTALL|PNPM_HOME|LUAROCKS_PREFIX|HOMEBREW_PREFIX"
    r"|PERL_LOCAL_LIB_ROOT|\w{1,80}_(?:INSTALL_ROOT|BIN_DIR|TOOL_DIR|INSTALL_BIN)"
    r"|\w{1,80}_(?:LOG|LOGS|LOGFILE|LOG_FILE|LOG_PATH|LOG_DIR|LOG_OUTPUT|TRACE_FILE|TRACE_DIR|OUTPUT|OUTPUT_FILE|OUTPUT_PATH|OUTPUT_DIR|OUTFILE"
    r"|OUT_DIR|OUTDIR|TARGET_DIR|BUILD_DIR|DIST_DIR|REPORT|REPORT_FILE|REPORT_DIR|DUMP_DIR|DUMP_FILE|PIDFILE|PID_FILE|CACHE_DIR|CACHE"
    r"|STATE_DIR|INSTALL_DIR|INSTALL_PREFIX|HISTORY|HISTFILE|HISTORY_FILE|COVERAGE_DIR|PROFILE_OUTPUT)")
"""Variables that say where a program writes."""
_CACHES: Final = re.compile(r"/(?:\.cache|\.npm|\.yarn|\.pnpm-store|Library/Caches|\.local/state|\.local/share)(?:/|$)")
"""Where programs of a user keep what comes and goes."""
_PATHS: Final = re.compile(r"(?:^|[\s'\":;,=@]|-[A-Za-z]{1,3}(?=[/~]))((?:/|~|\.\./)[^\s'\":;,]{0,4096})")
_PROGRAMS: Final = re.compile(
    r"NPM_CONFIG_(?:SCRIPT_SHELL|SHELL|NODE_OPTIONS|GIT|EDITOR|VIEWER|USERCONFIG|GLOBALCONFIG|INIT_MODULE|REGISTRY|BROWSER)"
    r"|YARN_(?:YARN_PATH|PLUGINS|RC_FILENAME|NPM_REGISTRY_SERVER)|CARGO_BUILD_RUSTC\w{0,30}|CARGO_BUILD_RUSTDOC|RUSTDOC"
    r"|CARGO_TARGET_\w{1,60}_LINKER|DOTNET_STARTUP_HOOKS|COR(?:ECLR)?_PROFILER_PATH\w{0,10}|GOTOOLCHAIN|ELIXIR_ERL_OPTIONS")
"""Variables whose value is a program, or code, wherever it is."""
FLAG_RUNS: Final = re.compile(r"(?:^|[\s,])--?(?:fplugin|wrapper|specs|plugin|load|B(?=\s{0,9}[./~\w])|Xclang|fuse-ld|ccc-)")
"""Flags of compilers and linkers by which these load or run something."""
_FLAGS: Final = re.compile(r"(?:CGO_)?(?:C|CXX|CPP|LD|F|FC)FLAGS")
NAME_CHARS: Final = 120
_WORDS_FOR: Final = {"PYTEST_ADDOPTS": "pytest", "GOFLAGS": "go test"}
"""Variables whose value is words of a program that follow its own."""
PATH_CHARS: Final = 4 << 10
PATHS: Final = 64
"""Of one value that are looked at."""


def names_program(assignment: str) -> bool:
    """Whether a variable says which program, or which code, another program runs."""
    name, equals, value = assignment.partition("=")
    if not equals or not value or len(name) > NAME_CHARS:
        return False
    return _PROGRAMS.fullmatch(name.upper()) is not None or (
        _FLAGS.fullmatch(name) is not None and FLAG_RUNS.search(value) is not None)


def command_of(assignment: str) -> str | None:
    """The command that a variable adds words to, with these words; None where it does not."""
    name, _, value = assignment.partition("=")
    return f"{_WORDS_FOR[name]} {value}" if name in _WORDS_FOR and value else None


_TO_RECIPES: Final = tuple("LD_ DYLD_ BASH_ENV PATH GIT_ NODE_OPTIONS PERL5 RUBYOPT PYTHON MAKEFLAGS".split())


def loads_in_build(assignment: str) -> bool:
    """Whether recipes get a variable by which programs load or run something: what a build is given is in their environment.
    Names that builds have for things of their own (``ENV=prod``) count where the value is more than a word."""
    name, _, value = assignment.partition("=")
    if names_program(assignment):
        return True
    return loading_level(assignment) == "high" and ("/" in value or " " in value or name.startswith(_TO_RECIPES))


_INSTALLED: Final = re.compile(r"(?:.*/)?(?:node_modules/\.bin|\.?v?env/(?:bin|Scripts)|vendor/bin|\.tox/[^/]+/bin)/?")


def searched_folders(assignment: str) -> Iterator[str]:
    """The folders in which programs are looked for from then on, but those where packages of a project are installed."""
    name, equals, value = assignment.partition("=")
    if equals and name.rstrip("+") == "PATH" and len(value) <= PATH_CHARS:
        for part in value.split(":"):
            if part and part not in ("$PATH", "${PATH}") and _INSTALLED.fullmatch(part) is None:
                yield part


def loaded_paths(assignment: str) -> Iterator[str]:
    """The paths in the value of a variable by which other programs load code."""
    name, equals, value = assignment.partition("=")
    name = name.rstrip("+")
    if not equals or len(name) > NAME_CHARS or not ("/" in value or "~" in value):
        return
    upper = name.upper()
    if _COMES_AND_GOES.search(upper) or not (_BY_NAME.fullmatch(upper) or _BY_END.fullmatch(upper)):
        return
    for count, found in enumerate(_PATHS.finditer(value)):
        if count < PATHS and not (upper == "KUBECONFIG" and "/.kube/" in found[1]):  # its own folder for these
            yield found[1]


_FOR_ALL: Final = re.compile(
    r"NPM_CONFIG_(?:GLOBAL|G)|NPM_CONFIG_LOCATION|PNPM_CONFIG_GLOBAL|(?:PIP|UV)_BREAK_SYSTEM_PACKAGES|UV_SYSTEM_PYTHON|BUNDLE_SYSTEM"
    r"|PIPX_GLOBAL")
_FOR_PROJECT: Final = re.compile(r"POETRY_VIRTUALENVS_CREATE|PIP_REQUIRE_VIRTUALENV")
"""Variables by which packages are installed for the whole machine where they are on, and where they are off."""
_OFF: Final = frozenset(("", "0", "false", "no", "off", "project", "user", "null"))


def installs_for_all(assignment: str) -> bool:
    """Whether a variable makes a package manager install for the whole machine."""
    name, equals, value = assignment.partition("=")
    if not equals or len(name) > NAME_CHARS:
        return False
    wanted, is_off = name.upper(), value.strip("'\"").lower() in _OFF
    return (_FOR_ALL.fullmatch(wanted) is not None and not is_off) or (
        _FOR_PROJECT.fullmatch(wanted) is not None and is_off and value != "")


def names_file(assignment: str) -> bool:
    """Whether a variable that says where a program writes says a file, and no folder."""
    return not assignment.partition("=")[0].upper().endswith(
        ("DIR", "CACHE", "PREFIX", "BIN", "ROOT", "HOME", "PATH", "TARGET", "ENV", "ENVIRONMENT", "BASE", "INSTALL"))


def written_paths(assignment: str) -> Iterator[str]:
    """The paths in the value of a variable that says where a program writes; its user's own caches are none."""
    name, equals, value = assignment.partition("=")
    if equals and len(name) <= NAME_CHARS and ("/" in value or value[:1] in ("~", "$")) and "://" not in value and (
            _WRITTEN.fullmatch(name.upper())):
        found = [path[1] for path in islice(_PATHS.finditer(value), PATHS)]
        yield from [path for path in found or [value[:PATH_CHARS]] if _CACHES.search(path) is None]
