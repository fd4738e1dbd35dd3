"""Programs that talk to other machines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import structs

from trunkline.dialects.risk import secrets_list
from trunkline.dialects.risk.addresses import file_of, is_local, scheme_of
from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.places import look
from trunkline.dialects.risk.rules.looking import only_looks
from trunkline.dialects.risk.rules.requests import note_requests
from trunkline.dialects.risk.stdin import given
from trunkline.dialects.shell.options import given_value

_HEADERS: Final = ("-H", "--header", "-u", "--user", "--oauth2-bearer", "-b", "--cookie")
_DATA: Final = ("-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "--data-ascii", "--json", "--url-query")
_FORM: Final = ("-F", "--form", "--form-string")
_BODY_FILES: Final = ("--post-file", "--body-file", "--upload-file")
_SENDING: Final = frozenset({*_DATA, *_FORM, *_BODY_FILES, "-T", "--variable", "--post-data", "--body-data"})
_WITH_IT: Final = frozenset("-H --header --proxy-header -b --cookie --load-cookies -i --input-file".split())
"""Options whose value may be a file of which parts go out with a request."""
_IDENTITY: Final = frozenset("-E --cert --key --proxy-cert --proxy-key --certificate --private-key".split())
"""Options whose value is a key that logs in over there."""
_STORED: Final = frozenset("-n --netrc --netrc-optional --netrc-file".split())
_BODY_OPTIONS: Final = frozenset(option for option in (*_SENDING, "--get", "--remote-name", "--method") if option[:2] == "--")
_NOTED: Final = frozenset("-K --config --variable -X --request --method --use-askpass --engine -e --execute -Q --quote "
                            "--prequote --postquote".split())
_SENDERS_BY_OPERAND: Final = frozenset({"http", "https", "xh", "xhs"})
_SAVERS_BY_OPERAND: Final = frozenset({"aria2c", "axel", "lftp"})
_TAKES: Final = frozenset(
    """
    -Q --quote -H --header -u --user -b --cookie -c --cookie-jar -d --data --data-binary --data-raw --data-urlencode
    --json -F --form -o --output
    -X --request -A --user-agent -e --referer -m --max-time --connect-timeout -T --upload-file
    -x --proxy --preproxy --proxy1.0 --socks4 --socks4a --socks5 --socks5-hostname --connect-to --doh-url
    -w --write-out --variable -E --cert --key --unix-socket --abstract-unix-socket --proxy-cert --proxy-key
    --cacert --retry -K --config --resolve --url -D --dump-header -r --range
    --limit-rate --interface --data-ascii --form-string -C
    """.split()
)
_SENT_ON: Final = frozenset(
    "-x --proxy --preproxy --proxy1.0 --socks4 --socks4a --socks5 --socks5-hostname --resolve --connect-to --doh-url -K --config "
    "--proto-default --expand-url".split())
"""With these a request goes elsewhere than its address says, or may: a file with more options can have any of them."""
_CURL_VALUES: Final = frozenset("AbcCdDeEFhHKmoPQrtTuUwxXyYzZ")
"""Letters behind which the rest of a bundle is a value."""
_SENDS_ON: Final = re.compile(r"(?!no_proxy)\w{1,40}_proxy|curl_home|wgetrc|home|xdg_config_home", re.IGNORECASE)
"""Variables that name a proxy, or where the file with more options is."""
_OPTIONS_FILE: Final = re.compile(r"(?:CURL_HOME|WGETRC|SYSTEM_WGETRC|HOME|XDG_CONFIG_HOME)=.")
"""Variables that say where the file with more options is."""
_BARE: Final = frozenset(
    "gopher gophers dict telnet mqtt mqtts smtp smtps ldap ldaps imap imaps pop3 pop3s rtsp rtmp tcp unix".split())
"""Schemes by which a line of text goes to whatever listens there, also to a service that takes it for a command."""
_WGET_TAKES: Final = frozenset(
    """
    -O --output-document -P --directory-prefix -o --output-file -a --append-output -t --tries -T --timeout
    -w --wait -U --user-agent
    -e --execute --header --post-data --post-file --method --body-data --body-file -A -R -D -I -X -l --level -Q -i --input-file
    --limit-rate --load-cookies --referer --user --password --ca-certificate --certificate --private-key
    """.split()
)
_TAKES_LISTS: Final = frozenset({"wget", "wget2", "aria2c"})
"""They take addresses from a file: nobody knows which."""
_PRINTERS: Final = frozenset({"curl", "http", "https", "xh", "xhs", "curlie"})
"""They print what they fetch, unless an option says where to."""
_WRITTEN_OUT: Final = re.compile(r"%output\{([^{}]{1,400})\}")
_QUERY: Final = re.compile(r"[?#]")
_ORDERS: Final = re.compile(
    r"(?i)^(?:-Q|--quote=)?[-+*]{0,2}(?:dele|rmd|rnfr|site|rm|rmdir|rename|chmod|chown|chgrp|ln|symlink)\s")
"""What ``curl -Q`` has a server do that takes something away or changes it."""
_SSH_RUNS: Final = re.compile(r"(?i)(proxy|local|known.?hosts|match)\w{0,60}(command|exec)|permitlocalcommand|pkcs11provider")
_METHODS: Final = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS".split())


def _targets(call: ProgramCall) -> list[str]:
    """The addresses: operands that are no value of an option."""
    if call.bare:
        return [arg for arg in call.args if arg not in _METHODS]
    takes = _WGET_TAKES if call.name.startswith("wget") else _TAKES
    skip = {at + 1 for at, arg in enumerate(call.args) if arg in takes}
    found = [
        arg
        for at, arg in enumerate(call.args)
        if at not in skip and not (arg.startswith("-") and arg != "-") and arg not in _METHODS
    ]
    url = call.value("--url")
    return found + ([url] if url else [])


def _http(call: ProgramCall) -> None:
    """curl, wget and their like."""
    if call.longs:
        call.spell_out(_WGET_TAKES | _BODY_OPTIONS if call.name.startswith("wget") else _TAKES | _BODY_OPTIONS)
    if call.name == "curl" and len(call.letters) > 1:
        _unbundle(call)
    for path in _WRITTEN_OUT.findall(call.value("-w", "--write-out") or "") if call.name == "curl" else ():
        call.write(path.removeprefix(">>"))
    targets = _targets(call)
    sent_on = call.sent_on or any(map(sends_on, call.command.assignments)) or (
        not call.bare and not call.options.isdisjoint(_SENT_ON))
    files = [file_of(url) for url in targets if scheme_of(url) == "file"]
    remote = [url for url in targets if scheme_of(url) != "file" and (sent_on or not is_local(url))]
    if not targets and not call.bare and sent_on:
        remote = [call.command.text]
    listed = call.value("-i", "--input-file") if call.name in _TAKES_LISTS else None
    remote += [listed] if listed else []
    _files_sent(call, bool(remote))
    if remote:
        _credentials_sent(call)
    if any(map(_OPTIONS_FILE.match, call.command.assignments)):
        call.note("high", "takes its options from a file", call.command.text)
    _files_written(call, targets)
    for path in files:
        call.read(path)
    if (bare := next((url for url in targets if scheme_of(url) in _BARE), None)) is not None:
        call.note("high", "opens a bare connection", bare)
    if remote:
        call.traits |= Trait.FETCHES | Trait.SENDS
        call.at_least("medium", "talks to the network", remote[0])
    note_requests(call, targets)
    if not call.bare:
        _http_options(call, bool(remote))


def sends_on(assignment: str) -> bool:
    """Whether a variable sends requests elsewhere than their addresses say."""
    name, _, value = assignment.partition("=")
    return bool(value) and _SENDS_ON.fullmatch(name) is not None


def _unbundle(call: ProgramCall) -> None:
    """Make options of their own of those in a bundle that ends with one which takes a value: ``-sd x`` is ``-s -d x``."""
    words: list[str | None] = []
    sketch: list[str] = []
    for word, shown in zip(call.command.words, call.command.sketch, strict=True):
        at = next((at for at, letter in enumerate(shown) if letter in _CURL_VALUES), 0) if shown[:1] == "-" else 0
        if at > 1 and shown[1] != "-":
            words += [f"-{letter}" for letter in shown[1:at]]
            sketch += [f"-{letter}" for letter in shown[1:at]]
            word, shown = None if word is None else f"-{word[at:]}", f"-{shown[at:]}"
        words.append(word)
        sketch.append(shown)
    if len(words) > len(call.command.words):
        call.reread(structs.replace(call.command, words=tuple(words), sketch=tuple(sketch)))


def _http_options(call: ProgramCall, remote: bool) -> None:
    """Options that load something, or change something over there."""
    if remote and not call.options.isdisjoint(_IDENTITY):
        for path in [value.partition(":")[0] for option in sorted(_IDENTITY) if (value := call.value(option))]:
            if look(call.places, path).secret == "own":
                call.note("high", "logs in with a key of the user's own", path)
    if call.options.isdisjoint(_NOTED):
        return
    if call.value("-K", "--config") is not None and (call.name == "curl" or call.name.startswith("wget")):
        call.note("high", "takes its options from a file", call.command.text)
    method = (call.value("-X", "--request", "--method") or "").upper()
    if method in ("DELETE", "PUT", "PATCH") and remote:
        call.note(
            "medium" if method != "DELETE" else "high", "changes or deletes something on another machine", call.command.text
        )
    if call.name == "curl" and any([_ORDERS.search(arg) for arg in call.args]):
        call.note("high", "changes or deletes something on another machine", call.command.text)
    if call.value("--use-askpass", "--engine") is not None or (call.name.startswith("wget") and call.value("-e", "--execute")):
        call.note("high", "loads or runs a program", call.command.text)


_READ_INTO: Final = re.compile(
    r"[$][(]\s{0,9}(?:<|(?:cat|base64|base32|xxd|od|hexdump|head|tail|gzip|zcat|tar|sed|awk|grep|jq|strings|tr|openssl|sort)\b)")
"""A command in an address that prints what is in a file."""


def _note_read_into(call: ProgramCall, within: str = "") -> None:
    """Note a name or an address that has what is in a file in it."""
    for arg in call.args:
        if within in arg and "$(" in arg and (found := _READ_INTO.search(arg)) is not None:
            call.note("high", "sends what another command prints to the network", found[0])


def _files_sent(call: ProgramCall, remote: bool) -> None:
    """Files that go out with a request."""
    sent: list[str] = []
    if remote:
        _note_read_into(call, "://")
    for at, arg in enumerate(call.args if not call.options.isdisjoint(_SENDING | _WITH_IT) else ()):
        if arg[:1] != "-":
            continue
        option, _, joined = arg.partition("=") if arg[1:2] == "-" else (arg[:2], "", arg[2:])
        if option not in _SENDING and option not in _WITH_IT:
            continue
        value = joined or (call.args[at + 1] if at + 1 < len(call.args) else "")
        if remote and option in _SENDING and (found := _PRINTED.search(value)) is not None:
            call.note("high", "sends what another command prints to the network", found[0])
        if option in _WITH_IT:
            _note_sent_with(call, option, value)
        elif option in _DATA and "@" in value and (value.startswith("@") or option in ("--data-urlencode", "--url-query")):
            sent.append(value.partition("@")[2])
        elif option in _FORM and re.search(r"=[@<]", value):
            sent.append(re.split(r"=[@<]", value, maxsplit=1)[1].partition(";")[0])
        elif (option in ("-T", "--upload-file") and call.name == "curl") or option in _BODY_FILES:
            sent.append(value)
        elif option == "--variable":
            sent += [value.partition("@")[2]] if "@" in value.partition("=")[0] else []
            _note_variable(call, value, remote)
    if call.name in _SENDERS_BY_OPERAND:
        sent.extend(arg.partition("@")[2] for arg in call.args if re.match(r"[\w.-]{0,80}:?=?@", arg))
    if call.name in _SENDERS_BY_OPERAND and (call.command.stdin_from >= 0 or _is_fed(call)):
        sent.append("-")
    for path in sent:
        if path != "-":
            call.read(path)
        if call.places.holds_secrets(path):
            call.traits |= Trait.SECRET
        if remote and path == "-" and (fed := given(call)) is not None and not fed.is_known:
            call.note("high", "sends what another command prints to the network", call.command.text)
        elif remote:
            call.note("high" if path != "-" else "medium", "sends a file to the network", path)


_PRINTED: Final = re.compile(
    r"(?:\$\(|`)\s{0,9}(?!(?:date|uuidgen|echo|printf|hostname|whoami|id|pwd|basename|seq|uname|openssl\s+rand|git\s+(?:rev-parse|describe)"
    r"|jq\s+-n)\b)[^)`]{1,80}")
"""A substitution by a command that may print anything of this machine."""


def _is_fed(call: ProgramCall) -> bool:
    """Whether a redirection gives it a file to send."""
    return any([one.operator == "<" and one.target != "/dev/null" for one in call.command.redirects])


def _note_variable(call: ProgramCall, value: str, remote: bool) -> None:
    """curl takes variables of the environment by their names (``--variable %TOKEN``), which then go out."""
    name = value.partition("=")[0].removeprefix("%")
    if value[:1] == "%" and remote and secrets_list.VARIABLE.search(f"${name}"):
        call.note("critical", "sends a credential over the network", name)


def _note_sent_with(call: ProgramCall, option: str, value: str) -> None:
    """A file of headers, cookies or addresses: what it says goes out, too."""
    if option in ("-i", "--input-file"):
        path = value if call.name in _TAKES_LISTS else ""
    elif option in ("-b", "--cookie"):
        path = value if "=" not in value and call.name == "curl" else ""
    elif option == "--load-cookies":
        path = value
    else:
        path = value[1:] if value[:1] == "@" else ""
    if path and path != "-":
        call.read(path)


def _credentials_sent(call: ProgramCall) -> None:
    """Variables named like credentials: in a header they log in, elsewhere they leave. So do passwords that are stored."""
    if call.name == "curl" and not call.bare and not call.options.isdisjoint(_STORED):
        call.note("high", "sends a stored password", call.command.text)
    for at, arg in enumerate(call.args):
        found = secrets_list.VARIABLE.search(arg) if "$" in arg else None
        if found is None:
            continue
        header = (at > 0 and call.args[at - 1] in _HEADERS) or arg.startswith(("-H", "--header", "-u"))
        call.note("high" if header else "critical", "sends a credential over the network", f"${found[1]}")


def _files_written(call: ProgramCall, targets: list[str]) -> None:
    """What a download is saved as."""
    names: list[str] = []
    if call.bare and call.name in _PRINTERS:
        return
    if call.name in ("wget", "wget2"):
        target = given_value(call.command.sketch, ("-O", "--output-document"), _WGET_TAKES)
        folder = call.value("-P", "--directory-prefix")
        if target is not None:
            names = [] if target[0] in ("-", None) else [target[0]]
        elif not only_looks(call.name, call.args):
            names = [f"{folder}/{_last(url)}" if folder else _last(url) for url in targets]
    else:
        names = [target for target in _named(call, _WRITTEN) if target not in ("", "-")]
        if call.has("O", "--remote-name", "--remote-name-all") and call.name == "curl":
            names.extend(_last(url) for url in targets)
        if call.name in _SAVERS_BY_OPERAND:
            names.extend(_last(url) for url in targets)
    for name in names:
        call.download(name)
        call.write(name)


_WRITTEN: Final = frozenset("-o --output --out -D --dump-header -c --cookie-jar".split())


def _named(call: ProgramCall, options: frozenset[str]) -> Iterator[str]:
    """Every value of these options: of several the last may be the one that counts."""
    for at, arg in enumerate(call.args):
        option, _, joined = arg.partition("=") if arg[1:2] == "-" else (arg[:2], "", arg[2:])
        if option in options:
            yield joined or " ".join(call.args[at + 1:at + 2])


def _last(url: str) -> str:
    return _QUERY.split(url)[0].rstrip("/").rpartition("/")[2] or "index.html"


def _netcat(call: ProgramCall) -> None:
    """nc and its like: a bare connection, either way."""
    if only_looks(call.name, call.args) and not call.has("ec", "--exec", "--sh-exec"):
        call.note("medium", "looks for open ports", call.command.text)
        return
    call.traits |= Trait.SENDS | Trait.FETCHES
    if call.has("ec", "--exec", "--sh-exec", "--lua-exec") or any(
        re.search(r"(?i)\b(exec|system|shell):", arg) for arg in call.args
    ):
        call.note("critical", "gives a shell to another machine", call.command.text)
    else:
        call.note("high", "opens a bare connection", call.command.text)


def _ssh(call: ProgramCall) -> None:
    for option in call.args:
        if _SSH_RUNS.search(option):
            call.script(option.partition("=")[2].strip() or option)
            call.note("high", "makes ssh run a program", option)
    if call.has("RLDw"):
        call.note("high", "opens a tunnel", call.command.text)
    if call.args[:1] == ("-V",):
        return
    call.traits |= Trait.SENDS | Trait.FETCHES
    fed = given(call)
    for text in fed.texts if fed is not None else ():
        call.script(text)
    runs = len(call.operands) > 1 or fed is not None
    call.note("high" if runs else "medium", "runs commands on another machine", call.command.text)


def _transfers(call: ProgramCall) -> None:
    """ftp, sftp, rclone, mail and others that carry files away."""
    call.traits |= Trait.SENDS | Trait.FETCHES
    for path in call.operands:
        if call.places.secret(path):
            call.read(path)
        if call.places.holds_secrets(path):
            call.traits |= Trait.SECRET
    call.note("high", "sends files or messages to other machines", call.command.text)


def _looks_up(call: ProgramCall) -> None:
    """dig, ping: harmless, unless what they ask for carries something out."""
    if None in call.command.words[1:]:
        call.traits |= Trait.SENDS
        call.note("medium", "asks the network for something only known when it runs", call.command.text)
        _note_read_into(call)


def _tunnels(call: ProgramCall) -> None:
    call.note("high", "opens this machine to the network", call.command.text)


def _scans(call: ProgramCall) -> None:
    call.note("high", "looks into the network", call.command.text)


def _openssl(call: ProgramCall) -> None:
    verb = call.operands[0] if call.operands else ""
    if verb in ("s_client", "s_server"):
        call.traits |= Trait.SENDS | Trait.FETCHES
        call.note("high", "opens a bare connection", call.command.text)
    elif verb in ("enc", "base64", "aes-256-cbc", "smime", "cms", "rsautl", "pkeyutl"):
        if call.has("d"):
            call.traits |= Trait.DECODES
        call.note("medium", "encrypts or decrypts", call.command.text)
    elif verb not in ("version", "x509", "dgst", "rand", "ciphers", "verify", "sha256", "md5", "prime", "list", "help"):
        call.note("medium", "works with keys", call.command.text)
    for option in ("-in", "-key", "-inkey"):
        path = call.value(option) if option in call.args else None
        if path and verb != "s_client":
            call.read(path)
            if verb in _OF_KEYS and call.places.is_foreign(path) and "-pubin" not in call.args:
                call.traits |= Trait.SECRET
                call.note("high", "reads credentials", path)


_OF_KEYS: Final = frozenset("rsa dsa ec pkey pkcs8 pkcs12 genpkey gendsa".split())
"""Sub-commands of openssl that are given a key to show or to write it in another form."""


def _opens(call: ProgramCall) -> None:
    call.note("medium", "opens something outside the terminal", call.command.text)
    _note_read_into(call)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    "gist": _transfers,
    **dict.fromkeys(
        "curl wget wget2 http https xh xhs curlie aria2c axel lynx w3m links elinks lwp-request lwp-download get post".split(),
        _http,
    ),
    **dict.fromkeys(
        ("nc", "ncat", "netcat", "socat", "telnet", "nc.traditional", "nc.openbsd", "cryptcat", "websocat", "wscat"), _netcat
    ),
    **dict.fromkeys(("ssh", "mosh", "autossh", "sshpass", "slogin"), _ssh),
    **dict.fromkeys(
        "ftp sftp lftp tftp rclone mail mailx mutt sendmail msmtp swaks s3cmd s4cmd mc gsutil b2 ipfs croc wormhole "
        "magic-wormhole "
        "transfer ffsend dropbox gdrive kermit uucp rcp telegram-send slack-cli ntfy".split(),
        _transfers,
    ),
    **dict.fromkeys(
        ("dig", "nslookup", "host", "drill", "kdig", "ping", "ping6", "traceroute", "tracepath", "mtr", "whois", "finger"),
        _looks_up,
    ),
    **dict.fromkeys(
        ("ngrok", "cloudflared", "bore", "localtunnel", "lt", "serveo", "frpc", "chisel", "tailscale", "zerotier-cli"), _tunnels
    ),
    **dict.fromkeys(
        ("nmap", "masscan", "zmap", "tcpdump", "tshark", "wireshark", "ettercap", "arp-scan", "hydra", "sqlmap"), _scans
    ),
    **dict.fromkeys(
        ("open", "xdg-open", "start", "explorer", "pbcopy", "pbpaste", "xclip", "xsel", "wl-copy", "wl-paste"), _opens
    ),
    "openssl": _openssl,
    "libressl": _openssl,
}
