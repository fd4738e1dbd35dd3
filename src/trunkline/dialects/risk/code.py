"""Code that stands in an argument: ``python -c``, ``perl -e``, ``node -e``, awk and sed scripts.

It is not parsed. A few telling words decide, shell texts in its strings are handed on, and what tells nothing is medium.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.risk import secrets_list
from trunkline.dialects.risk.call import Call, Trait

_RUNS: Final = re.compile(
    r"\bos\.(system|popen|exec\w*|spawn\w*|posix_spawn)|subprocess|\bpopen\b|\bPopen\b|child_process|exec(File)?(Sync)?\s*\(|spawn(Sync)?\s*\("
    r"|\bsystem\s*[( \"']|\bqx\b|%x[\[{(]|\bIO\.popen|\bshell_exec|\bpassthru|\bproc_open|Runtime\.getRuntime|pty\.spawn|\bgetoutput"
    r"|os\.startfile|Deno\.(run|Command)|Bun\.(spawn|\$)|\bOpen3|\bPTY\.|do shell script|\bshell\s*\(|ctypes|\bwin32api|ShellExecute"
    r"|\bfork\s*\(|\bfork\b|\.Process\s*\(|cmd\.Start"
)
_BACKTICK: Final = re.compile(r"`[^`]+`")
_DELETES: Final = re.compile(
    r"rmtree|os\.(remove|unlink|rmdir|removedirs|truncate|rename|replace|chmod|chown|kill\w*)|\.unlink\s*\(|\bunlink\b|\brmSync|\brmdirSync"
    r"|\bfs\w*(\.promises)?\.rm|FileUtils\.(rm|remove)|File\.(delete|unlink)|\brmdir\b|\.rmdir\(|truncate|chmod|chown|process\.kill|\bkill\b"
    r"|DROP\s+(TABLE|DATABASE)|removeSync|\.deleteTree|Deno\.remove|send2trash"
)
_NETWORK: Final = re.compile(
    r"urllib|urlopen|requests\b|httpx|aiohttp|http\.client|\bsocket\b|fetch\s*\(|axios|Net::HTTP|net/http|\bLWP|open-uri|URI\.open"
    r"|file_get_contents\s*\(\s*['\"]https?:|curl_(init|exec)|XMLHttpRequest|https?\.(get|request)|require\(['\"]n?et['\"]\)|ftplib|smtplib"
    r"|paramiko|TCPSocket|UDPSocket|IO::Socket|fsockopen|/inet/(tcp|udp)|websocket|telnetlib|Invoke-WebRequest|Net\.WebClient|\biwr\b"
    r"|DownloadString|dns\.(resolve|lookup)|gethostbyname|getaddrinfo"
)
_EVALUATES: Final = re.compile(
    r"\beval\b|\bexec\s*\(|\bFunction\s*\(|\bcompile\s*\(|__import__|importlib|\brunpy|execfile|instance_eval|class_eval|create_function"
    r"|assert\s*\(\s*\$|vm\.run|loadstring|\bload\s*\(|marshal\.loads|pickle\.loads|\bIEX\b|Invoke-Expression|execute\s*\(|\bdo\s+FILE"
    r"|__builtins__|getattr\s*\(|globals\s*\(|\.constructor\b|\bsource\s*\("
)
_DECODES: Final = re.compile(
    r"b64decode|base64|fromhex|unhexlify|fromCharCode|atob|zlib|codecs\.decode|\\x[0-9a-f]{2}\\x|rot13|pack\s*\(|chr\s*\(", re.I
)
_WRITES: Final = re.compile(
    r"open\s*\([^)]*['\"][rb]?[wax]\+?b?['\"]|write_text|write_bytes|writeFile|appendFile|File\.(write|open)|file_put_contents|\bfopen|>\s*\$?\w"
    r"|createWriteStream|shutil\.(copy|move)|os\.(mkdir|makedirs|symlink|link)|fs\w*\.(copy|rename|mkdir|symlink)|print\s*>|\bto_csv|json\.dump\b"
)
_ENVIRONMENT: Final = re.compile(
    r"os\.environ(?![.\[]\w*['\"]?(get|HOME|PATH|USER))|process\.env(?!\.\w)|\bENV\.(to_h|each|inspect)|%ENV\b|\$_ENV\b|getenv\s*\(\s*\)"
)
_LITERAL: Final = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`")
_LIST: Final = re.compile(r"[\[(]\s*((?:['\"][^'\"]*['\"]\s*,?\s*){2,})[\])]")
_PURE: Final = re.compile(
    r"^(\s*(import|from)\s+(sys|json|math|re|platform|datetime|collections|itertools|functools|string|textwrap|statistics|decimal|fractions"
    r"|random|time|pprint|typing|locale|calendar|uuid|hashlib|struct|unicodedata|sysconfig|site|ast|difflib|operator)(\s|,|;|$)"
    r"|(?!\s*(import|from)\s)[^`])*$", re.DOTALL,
)  # fmt: skip
_SUSPECT: Final = re.compile(
    r"require|import|open|globalThis|process\.(?!version|platform|arch|cwd)|__|\bos\b|\bfs\b|\bmodules\b|`|\binclude\b"
)
_MAX_LITERALS: Final = 12
_MAX_CODE: Final = 8192
"""Longer code is only searched up to here, and is medium at least."""


def judge_code(call: Call, code: str | None, language: str) -> None:
    """Note what a piece of code seems to do; None: it is only known when it runs."""
    if code is None:
        call.traits |= Trait.EXECUTES
        call.note("high", f"runs {language} code that is only known when it runs")
        return
    text = code[:_MAX_CODE]
    runs = _RUNS.search(text) or (language in ("perl", "ruby", "php") and _BACKTICK.search(text))
    network, evaluates = _NETWORK.search(text), _EVALUATES.search(text)
    if network and (runs or evaluates):
        call.note("critical", f"{language} code that talks to the network and runs what it gets", text)
    elif runs or _DELETES.search(text):
        call.note("high", f"{language} code that runs programs or deletes files", text)
    elif evaluates:
        call.note("high", f"{language} code that builds code", text)
    _traits(call, text, bool(network), bool(evaluates))
    _literals(call, text, bool(runs), bool(_WRITES.search(text)))
    if len(code) > _MAX_CODE or not _harmless(text, language):
        call.at_least("medium", f"runs {language} code", text)


def _harmless(text: str, language: str) -> bool:
    """Whether it can only compute and print."""
    if _NETWORK.search(text) or _WRITES.search(text) or _DECODES.search(text) or _ENVIRONMENT.search(text):
        return False
    if language == "python":
        return _PURE.match(text) is not None and not re.search(r"\bopen\b|__|\bos\b|\binput\b|\bsite\b", text)
    return not _SUSPECT.search(text)


def _traits(call: Call, text: str, network: bool, evaluates: bool) -> None:
    if network:
        call.traits |= Trait.FETCHES | Trait.SENDS
    if evaluates:
        call.traits |= Trait.EXECUTES
    if _DECODES.search(text):
        call.traits |= Trait.DECODES
    if _ENVIRONMENT.search(text) or secrets_list.VARIABLE.search(text):
        call.traits |= Trait.SECRET
        call.note("medium", "code that reads the environment, which may hold credentials")


def _literals(call: Call, text: str, runs: bool, writes: bool) -> None:
    """Paths and shell texts in the code's strings."""
    for found in list(_LITERAL.finditer(text))[:_MAX_LITERALS]:
        literal = found[1] or found[2] or found[3] or ""
        if runs and literal.strip():
            call.scripts.append(_unescaped(literal))
        if len(literal) < 200 and literal and " " not in literal:
            if call.places.secret(literal) and ("/" in literal or literal.startswith((".", "id_"))):
                call.read(literal)
            elif writes and literal.startswith(("/", "~", "..")):
                call.write(literal)
    if runs:
        for group in _LIST.findall(text)[:4]:
            call.scripts.append(" ".join(a or b for a, b, _ in _LITERAL.findall(group)))


def _unescaped(literal: str) -> str:
    return re.sub(r"\\(.)", r"\1", literal)


def judge_awk(call: Call, script: str | None) -> None:
    """awk: it can run commands, write files and open connections."""
    if script is None:
        call.traits |= Trait.EXECUTES
        call.note("high", "runs an awk script that is only known when it runs")
        return
    runs = re.search(r"system\s*\(|\|\s*&?\s*getline|\|&?\s*[\"a-z]|@load|\beval\b", script)
    if "/inet" in script:
        call.traits |= Trait.SENDS | Trait.FETCHES
        call.note("critical" if runs else "high", "an awk script that opens a connection", script)
    if runs:
        call.traits |= Trait.EXECUTES
        call.note("high", "an awk script that runs commands", script)
        call.scripts.extend(_unescaped(found) for found, _, _ in _LITERAL.findall(script)[:_MAX_LITERALS] if found.strip())
    for target in re.findall(r"print[^;}]*>{1,2}\s*\"([^\"]+)\"", script):
        call.write(target)
    if re.search(r"print[^;}]*>{1,2}\s*[a-z$(]", script):
        call.note("medium", "an awk script that writes files", script)
    if "ENVIRON" in script:
        call.traits |= Trait.SECRET
        call.note("medium", "an awk script that reads the environment")


def judge_sed(call: Call, scripts: list[str]) -> None:
    """sed: its ``e`` runs commands, its ``w`` writes files."""
    for script in scripts:
        run = re.search(r"(?:^|[;\n{}]|^\d+|\$|/)\s*e(?:\s+([^\n]+)|\s*$)", script)
        substitute = re.search(r"s(.)(?:(?!\1)[^\\]|\\.)*\1((?:(?!\1)[^\\]|\\.)*)\1[gpiImM0-9]*e", script)
        if run or substitute:
            call.traits |= Trait.EXECUTES
            call.note("high", "a sed script that runs commands", script)
            call.scripts.extend(text for text in (run and run[1], substitute and substitute[2]) if text)
        target = re.search(r"(?:^|[;\n{}/|#,])\s*[gpiIm0-9]*[wW]\s+([^\s;}]+)", script)
        if target:
            call.write(target[1])
