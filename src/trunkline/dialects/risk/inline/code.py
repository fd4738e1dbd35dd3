"""Code that stands in an argument: ``python -c``, ``perl -e``, ``node -e``, awk and sed scripts.

It is not parsed. A few telling words decide, shell texts in its strings are handed on, and what tells nothing is medium.

Rule 1: what a regular expression looks through has an end, and what it has looked through it does not look through again. One
that takes long keeps every thread waiting.
Rule 2: what is not looked through may do anything, so code with such a rest is high, in every language (``_read_part``).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from trunkline.dialects.risk import secrets_list
from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.inline.awk import read_awk
from trunkline.dialects.risk.inline.plain_code import LANGUAGES, is_plain
from trunkline.dialects.risk.inline.sed import read_sed


class Signs(NamedTuple):
    """What gives a kind of code away: whole names, and texts that are looked for as they are."""

    names: frozenset[str]
    texts: tuple[str, ...] = ()

    def found(self, names: set[str], text: str) -> bool:
        """Whether any of it is there."""
        if not self.names.isdisjoint(names):
            return True
        for one in self.texts:
            if one in text:
                return True
        return False


def _signs(names: str, *texts: str) -> Signs:
    return Signs(frozenset(names.split()), texts)


_RUNS: Final = _signs(
    "system popen Popen subprocess child_process exec execSync execFile execFileSync execv execve execl execlp execvp "
    "execvpe spawn spawnSync "
    "spawnl spawnv posix_spawn qx shell_exec passthru proc_open pcntl_exec getRuntime ProcessBuilder pty getoutput "
    "getstatusoutput startfile "
    "Open3 PTY ctypes win32api ShellExecute fork multiprocessing",
    "os.execute", "io.popen", "%x[", "%x{", "%x(", "Deno.run", "Deno.Command", "do shell script",
    "System.cmd", "os:cmd", "run-program", "cmd.Start", "exec.Command",
)  # fmt: skip
_DELETES: Final = _signs(
    "rmtree unlink unlinkSync rmdir rmdirSync rmSync removedirs removeSync rm_rf rm_r truncate truncateSync chmod "
    "chmodSync chown killpg "
    "send2trash taskkill deleteTree",
    "os.remove", "os.rename", "os.replace", "os.kill", "fs.rm", "promises.rm", "FileUtils.rm", "FileUtils.remove", "File.delete",
    "process.kill", "Deno.remove", "DROP TABLE", "DROP DATABASE", "drop table",
)  # fmt: skip
_DELETES_IN: Final[dict[str, Signs]] = {
    "julia": _signs("rm mv", "Base.Filesystem"),
    "elixir": _signs("", ":os.cmd", "File.rm", "File.write", "File.rename", "file.delete", ":file."),
    "groovy": _signs("deleteDir deleteRecursively deleteOnExit", ".delete(", "execute("),
    "scala": _signs("deleteRecursively deleteIfExists", ".delete(", "sys.process"),
    "ghc": (_haskell := _signs("removeFile removeDirectory removeDirectoryRecursive removePathForcibly renameFile callCommand")),
    "ghci": _haskell,
    "r": _signs("", "file.remove", "file.rename", "system2("),
    "jshell": _signs("deleteIfExists", ".delete("),
    "guile": _signs("", "delete-file", "system*"),
    "racket": _signs("", "delete-file", "delete-directory", "process*"),
    "tclsh": (_tcl := _signs("", "file delete", "file rename")),
    "expect": _tcl,
    "osascript": _signs("delete"),
    "python": _signs("", ".delete(", "import remove", "import unlink", "import rename", "['remove']", "['unlink']", "['system']",
                     ".delete_bucket(", ".delete_object", ".drop_database(", ".drop_all(", ".flushall(", ".flushdb(",
                     ".remove_tree(",
                     ".prune(", "create_subprocess", "exec_command(", ".kill(", ".terminate(", ".push("),
    "node": (_scripts := _signs("renameSync", "Bun.$", "process.binding", "'DELETE'", '"DELETE"')),
    "bun": _scripts,
    "deno": _scripts,
    "ruby": _signs("", "File.rename", "Process.kill", ".send(:sys", "IO.popen", "FileUtils.mv"),
    "perl": _signs("rename kill rmtree remove_tree syscall"),
    "php": _signs("rename mail"),
    "erl": (_erlang := _signs("", "file:delete", "file:del_dir", "file:rename", "file:write_file", "os:cmd")),
    "octave": _signs("delete unlink rmdir rename"),
    "ocaml": _signs("", "Sys.remove", "Sys.rename", "Sys.command", "Unix.unlink"),
}
"""What deletes or runs in one language only; elsewhere these are words like others."""
_STARTS_SOMETHING: Final = re.compile(
    r"(?i)\b(?:shell|sh|bash|run|system|exec\w{0,20}|spawn\w{0,20}|proc(?:ess)?(?:[-_.:]?\w{0,20})|popen|q?qx|call|command|cmd|launch"
    r"|invoke|eval\w{0,20}|unlink|rm|rmdir|rmtree|delete\w{0,20}|remove\w{0,20}|rename\w{0,20}|kill\w{0,20})\b|run-process")
"""Words by which code of a language that is not read here starts, ends or deletes something."""
_LINES: Final = frozenset("nu xonsh osh ysh ion murex elvish rc fish".split())
"""Languages whose code is lines of a shell: those are judged as such."""
MAGIC: Final = re.compile(
    r"(?:^|[\n;=])\s{0,9}(?:!+|%%?(?:sx|system|sh|bash|zsh|script|cmd|run|sc|perl|ruby|pypy|python[23]?|edit|ed|alias|alias_magic"
    r"|rehashx|rerun|recall|macro)\b|get_ipython\(\)\.\w{1,20})([^\n]{0,400})")
"""How ipython runs a command."""
_NETWORK: Final = _signs(
    "urllib urllib2 urllib3 urlopen urlretrieve requests httpx aiohttp socket fetch axios LWP curl_init curl_exec "
    "XMLHttpRequest ftplib "
    "smtplib paramiko TCPSocket UDPSocket fsockopen telnetlib websocket websockets WebSocket gethostbyname getaddrinfo "
    "DownloadString iwr "
    "WebClient https httplib pycurl boto3 dns",
    "http.client", "http.get", "http.request", "Net::HTTP", "net/http", "open-uri", "URI.open", "IO::Socket", "/inet/",
    "'http://", '"http://', "'https://", '"https://', "Invoke-WebRequest", "'net'", '"net"',
)  # fmt: skip
_EVALUATES: Final = _signs(
    "eval exec Function compile __import__ importlib runpy execfile instance_eval class_eval module_eval "
    "create_function loadstring "
    "runInThisContext runInNewContext __builtins__ getattr globals constructor IEX marshal pickle vm",
    "Invoke-Expression", "load(", "assert($", "do FILE",
)  # fmt: skip
_DECODES: Final = _signs(
    "b64decode base64 fromhex unhexlify fromCharCode atob zlib rot13 rot_13 pack chr codecs", "\\x", "base64"
)
_WRITES: Final = re.compile(
    r"open\s{0,20}\([^)]{0,300}['\"][rb]?[wax]\+?b?['\"]|write_text|write_bytes|writeFile|appendFile|File\.(write|open)|file_put_contents|\bfopen|>\s*\$?\w"
    r"|createWriteStream|shutil\.(copy|move|make_archive)|extractall|basicConfig|O_WRONLY|O_CREAT|O_RDWR|IO\.write|Bun\.write|Deno\.write|writeLines|write-region"
    r"|\bwrite\s{0,9}\(\s{0,9}['\"][/~.]|\bopen\b[^;\n]{0,60}?['\"]\s{0,9}\+?[<>]|os\.(mkdir|makedirs|symlink|link)|fs\w{0,30}\.(copy|rename|mkdir|symlink)|print\s*>|\bto_csv|json\.dump\b"
)
_ENVIRONMENT: Final = re.compile(
    r"os\.environ(?![.\[]\w*['\"]?(get|HOME|PATH|USER))|process\.env(?!\.\w)|\bENV\.(to_h|each|inspect)|%ENV\b|\$_ENV\b|getenv\s{0,20}\(\s{0,20}\)"
)
_PIPES: Final = re.compile(r"\bopen\b[^;\n]{0,60}?['\"]\s{0,9}\|\s{0,9}\w")
"""A file that is opened and is a program: ``open("|rm x")``."""
_LOADS_FILE: Final = re.compile(
    r"\b(?:require(?:_relative)?|import|load|include(?:_once)?|require_once|source|do|loadfile|dofile|run_path|Worker"
    r"|path\.(?:insert|append))\b[ \t(]{1,4}(?:\d{1,3},[ \t]{0,4})?['\"]((?:/|~|\.\./)[^'\"\n]{1,400})['\"]")
"""A file whose code is run, by its path."""
_LOADS_ADDRESS: Final = re.compile(r"\b(?:source|include|import|require|load)\b[ \t(]{1,4}['\"]https?://")
_NAME: Final = re.compile(r"\w+")
_LITERAL: Final = re.compile(r"\"((?:[^\"\\]++|\\.){0,400})\"|'((?:[^'\\]++|\\.){0,400})'|`([^`]{0,2000})`")
_LIST: Final = re.compile(r"[\[(]\s*+((?>(?:['\"][^'\"]*+['\"][\s,]*+){2,}))[\])]")
_IMPORT: Final = re.compile(r"\b(?:import|from)\s++([\w.]++(?>(?:\s*+,\s*+[\w.]++)*))")
_PURE_MODULES: Final = frozenset(
    "sys json math re platform datetime collections itertools functools string textwrap statistics decimal fractions "
    "random time pprint "
    "typing locale calendar uuid hashlib struct unicodedata sysconfig ast difflib operator".split()
)
_SUSPECT: Final = re.compile(
    r"require|import|open|globalThis|process\.(?!version|platform|arch|cwd)|__|\bos\b|\bfs\b|\bmodules\b|`|\binclude\b"
)
_LOADS_DATA: Final = re.compile(
    r"\b(?:json|JSON|tomllib|toml)\.load\(|\byaml\.safe_load\("
    r"|\bimport\s{1,9}importlib\.metadata\s{1,9}as\b|\bfrom\s{1,9}importlib\.metadata\s{1,9}import\b")
"""What reads data, and no code; so does what names the versions of packages."""
_PIPING: Final = frozenset(("perl", "ruby"))
_BACKTICK_RUNS: Final = frozenset(("perl", "ruby", "php", "julia"))
_SHELL_LIKE: Final = frozenset(("pwsh", "expect", "tclsh"))
_MAX_LITERALS: Final = 12
_MAX_CODE: Final = 8192
"""Longer code is only searched up to here, which takes about a millisecond, and is high for what nobody has read."""


def _read_part(call: ProgramCall, code: str, what: str) -> str:
    """The part of a piece of code that is looked through; that there is more is noted."""
    if len(code) > _MAX_CODE:
        call.note("high", f"{what} that is too long to be read to its end")
    return code[:_MAX_CODE]


def may_run_commands(code: str, language: str) -> bool:
    """Whether a piece of code may run programs, as far as a few telling words say; what is too long to be read may."""
    if len(code) > _MAX_CODE:
        return True
    if language in ("ipython", "jupyter") and MAGIC.search(code):
        return True
    code = _LOADS_DATA.sub(" ", code)
    names = set(_NAME.findall(code))
    return (_RUNS.found(names, code) or _EVALUATES.found(names, code) or _DECODES.found(names, code)
            or ("`" in code and language in _BACKTICK_RUNS))


def is_not_read(language: str) -> bool:
    """Whether of a language nothing is known but that there are words in it."""
    return language not in LANGUAGES and language not in _LINES and language not in _DELETES_IN


def judge_code(call: ProgramCall, code: str | None, language: str) -> None:
    """Note what a piece of code seems to do; None: it is only known when it runs."""
    if code is None:
        call.traits |= Trait.EXECUTES
        call.note("high", f"runs {language} code that is only known when it runs")
        return
    call.codes = [*call.codes, code]
    text, plain = _read_part(call, code, f"{language} code"), is_plain(code, language)
    names = set(_NAME.findall(text))
    runs = _RUNS.found(names, text) or ("`" in text and language in _BACKTICK_RUNS) or (
        language in _PIPING and _PIPES.search(text) is not None)
    data = _LOADS_DATA.sub(" ", text)
    network, evaluates = _NETWORK.found(names, text), _EVALUATES.found(set(_NAME.findall(data)), data)
    if (network and (runs or evaluates)) or _LOADS_ADDRESS.search(text) is not None:
        call.note("critical", f"{language} code that talks to the network and runs what it gets", text)
    elif runs or _DELETES.found(names, text) or (language in _DELETES_IN and _DELETES_IN[language].found(names, text)) or (
            not plain and is_not_read(language) and _STARTS_SOMETHING.search(text) is not None):
        call.note("high", f"{language} code that runs programs or deletes files", text)
    elif evaluates:
        call.note("high", f"{language} code that builds code", text)
    if any([call.places.is_foreign(found[1]) for found in _LOADS_FILE.finditer(text)]):
        call.at_least("high", "loads code from outside the session's folders", text)
    decodes = _DECODES.found(names, text)
    _traits(call, text, network, evaluates, decodes)
    writes = _WRITES.search(text) is not None
    _literals(call, text, runs, writes)
    if language in _SHELL_LIKE:
        call.script(re.sub(r"^\s*spawn\s+", "", text))
    if not plain:
        call.note("medium", f"runs {language} code of which not all is known", text, unsure=True)
    elif network or writes or decodes or not _harmless(text, names, language):
        call.at_least("medium", f"runs {language} code", text)


def _harmless(text: str, names: set[str], language: str) -> bool:
    """Whether it can only compute and print."""
    if language in _SHELL_LIKE or _ENVIRONMENT.search(text):
        return False
    if language == "python":
        modules = {name.strip() for found in _IMPORT.findall(text) for name in found.split(",")}
        return modules <= _PURE_MODULES and names.isdisjoint(("open", "os", "input", "modules")) and "__" not in text
    return not _SUSPECT.search(text)


def _traits(call: ProgramCall, text: str, network: bool, evaluates: bool, decodes: bool) -> None:
    if network:
        call.traits |= Trait.FETCHES | Trait.SENDS
    if evaluates:
        call.traits |= Trait.EXECUTES
    if decodes:
        call.traits |= Trait.DECODES
    if _ENVIRONMENT.search(text) or secrets_list.VARIABLE.search(text):
        call.traits |= Trait.SECRET
        call.note("medium", "code that reads the environment, which may hold credentials")


def _literals(call: ProgramCall, text: str, runs: bool, writes: bool) -> None:
    """Paths and shell texts in the code's strings."""
    for found in list(_LITERAL.finditer(text))[:_MAX_LITERALS]:
        literal = found[1] or found[2] or found[3] or ""
        if runs and literal.strip():
            call.script(_unescaped(literal))
        if len(literal) < 200 and literal and " " not in literal:
            if call.places.secret(literal) and ("/" in literal or literal.startswith((".", "id_"))):
                call.read(literal)
            elif writes and (path := literal.lstrip("+<> ")).startswith(("/", "~", "..")):
                call.write(path)
    if runs:
        for group in _LIST.findall(text)[:4]:
            call.script(" ".join(a or b for a, b, _ in _LITERAL.findall(group)))


def _unescaped(literal: str) -> str:
    return re.sub(r"\\(.)", r"\1", literal)


def judge_awk(call: ProgramCall, script: str | None, values: dict[str, list[str]]) -> None:
    """awk: it can run commands, write files and open connections. ``values`` are those that its variables have from outside."""
    if script is None:
        call.traits |= Trait.EXECUTES
        call.note("high", "runs an awk script that is only known when it runs")
        return
    found = read_awk(_read_part(call, script, "an awk script"), values)
    if "/inet" in script:
        call.traits |= Trait.SENDS | Trait.FETCHES
        call.note("critical" if found.runs else "high", "an awk script that opens a connection", script)
    if found.runs or found.odd:
        call.traits |= Trait.EXECUTES
        call.note("high", "an awk script that runs commands" if found.runs else "an awk script that is not understood", script)
        for text in found.texts[:_MAX_LITERALS] if found.runs else ():
            if text.strip():
                call.script(text)
    for path in found.writes:
        call.write(path)
    for path in found.reads:
        call.read(path)
    for path in found.includes:
        call.load(path)
    if found.opens:
        call.note("medium", "an awk script that writes files which only the run knows", script, unsure=True)
    elif found.looks:
        call.note("medium", "an awk script that reads files which only the run knows", script, unsure=True)
    if "ENVIRON" in script:
        call.traits |= Trait.SECRET
        call.note("medium", "an awk script that reads the environment")


def judge_sed(call: ProgramCall, scripts: list[str]) -> None:
    """sed: its ``e`` runs commands, its ``w`` writes files, its ``r`` reads them."""
    found = read_sed(_read_part(call, "\n".join(scripts), "a sed script"))
    if found.runs or found.odd:
        call.traits |= Trait.EXECUTES
        call.note("high", "a sed script that runs commands" if found.runs else "a sed script that is not understood", scripts[0])
    for text in found.runs:
        if text:
            call.script(text)
    for path in found.writes:
        call.write(path)
    for path in found.reads:
        call.read(path)
