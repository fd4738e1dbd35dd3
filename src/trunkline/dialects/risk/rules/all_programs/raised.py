"""Words by which a program does what nobody expects of it: it opens the machine, installs a hook, runs a program,
sends.

Rule 1: this only ever raises; what else a program does its own judge says, or nobody.
Rule 2: it is data. A row is a program (in small letters), an expression for its words with one blank between them, and why.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import ProgramCall, Trait

_CHARS: Final = 4000
"""Of the words of a command that are looked at."""
_OPENS: Final = "opens this machine to the network"
_HOOKS: Final = "installs what runs by itself from then on"
_RUNS: Final = "runs a program, or code, that its words name"
_SECRETS: Final = "reads credentials"
_SYSTEM: Final = "changes how the system runs"
_PUBLISHES: Final = "publishes something"
_ASKS_SERVICE: Final = "asks a service of the machine to do something"
_SERVICES: Final = "starts, stops or changes services"
_KEEPS: Final = "changes or deletes what a service keeps"
_RECORDS: Final = "records the screen, the sound or the camera"
_TYPES: Final = "types and clicks in place of a person"
_TRUSTS: Final = "changes what this machine trusts, or where its programs come from"
_ATTACKS: Final = "attacks other machines, or breaks what keeps something secret"
_EVERYWHERE: Final = r"(?:0\.0\.0\.0|\[?::\]?|\*)"


class Raised(NamedTuple):
    """One row: what the words are like, and what that means."""

    words: re.Pattern[str]
    reason: str
    traits: int = Trait.NONE


def _rows(*rows: tuple[str, str]) -> tuple[Raised, ...]:
    return tuple(Raised(re.compile(words, re.IGNORECASE), reason, Trait.SECRET if reason is _SECRETS else Trait.NONE)
                 for words, reason in rows)


_ANY: Final = r"\S"
_ALWAYS: Final = r"(?s).*"
RAISED: Final[dict[str, tuple[Raised, ...]]] = {
    # servers for everybody
    "rsync": _rows((r"(?:^| )--daemon\b", _OPENS)),
    "git": _rows((r"(?:^| )(?:daemon|instaweb|cvsserver|http-backend)(?: |$)", _OPENS)),
    "php": _rows((rf"(?:^| )-S ?{_EVERYWHERE}:", _OPENS)),
    "kubectl": _rows((r"^config .{0,400}--exec-command[= ]", _RUNS),
                     (rf"port-forward .{{0,400}}--address[= ]{_EVERYWHERE}", _OPENS)),
    **dict.fromkeys(("http-server", "serve", "live-server", "browser-sync"),
                    _rows((rf"(?:-a|-l|--host)[= ]{_EVERYWHERE}", _OPENS))),
    **dict.fromkeys("ttyd gotty tmate upterm sshd dropbear telnetd in.telnetd rshd vsftpd pure-ftpd proftpd smbd "
                    "vncserver x11vnc tigervncserver wayvnc xrdp gost frpc frps chisel ngrok bore rathole sshuttle "
                    "iodine ptunnel dns2tcp teleport tailscaled devtunnel zrok pagekite pagekite.py sish upnpc "
                    "gsocket gs-netcat uploadserver pyftpdlib".split(),
                    _rows((r"^(?!--?(?:version|help|V|h)$)", _OPENS))),
    **dict.fromkeys("xhost".split(), _rows((r"\+", _OPENS))),
    **dict.fromkeys("redis-server mongod mysqld postgres memcached dockerd flask uvicorn gunicorn hypercorn".split(),
                    _rows((rf"{_EVERYWHERE}(?::\d{{1,5}})? .{{0,400}}--debug|--protected-mode no"
                           rf"|bind_ip_all|-H[= ]?tcp://(?!127|localhost)", _OPENS))),
    # hooks and extensions
    "pre-commit": _rows((r"^(?:-\S+ )*(?:install|init-templatedir)(?: |$)", _HOOKS)),
    **dict.fromkeys("husky simple-git-hooks overcommit captainhook".split(), _rows((_ALWAYS, _HOOKS))),
    "lefthook": _rows((r"^(?:install|add|uninstall)", _HOOKS)),
    **dict.fromkeys("code code-insiders codium cursor windsurf".split(),
                    _rows((r"^tunnel|^serve-web|--(?:un)?install-extension|--add-mcp|--extensions-dir"
                           r"|--extensionDevelopmentPath", _HOOKS))),
    **dict.fromkeys("jupyter jupyter-labextension jupyter-lab".split(),
                    _rows((r"kernelspec (?:install|remove|uninstall)", _HOOKS),
                          (r"(?:lab|server|nb)?extension (?:install|enable|develop)", _HOOKS))),
    # programs and code that words name
    "aria2c": _rows((r"--on-[\w-]{1,40}[= ]", _RUNS)),
    "rake": _rows((r"(?:^| )(?:-e|-E|-p|--execute(?:-print|-continue)?)[ =]", _RUNS)),
    "just": _rows((r"--shell(?:-arg|-command)?[= ]|--chooser[= ]|--set \S+ .{0,400}`", _RUNS)),
    "fab": _rows((r"(?:^| )-- ", "runs commands on another machine")),
    "kustomize": _rows((r"--enable-exec|--enable-alpha-plugins|--helm-command", _RUNS)),
    "ssh-add": _rows((r"(?:^| )-[a-z]{0,8}s", _RUNS), (r"(?:^| )-D", "throws away keys")),
    "ssh-keygen": _rows((r"(?:^| )-D", _RUNS), (r"(?:^| )-[RH](?: |$)", "changes which machines are trusted")),
    "micro": _rows((r"-config-dir[= ](?:/|~|\.\.)", _RUNS)),
    "run-parts": _rows((r"(?:^| )(?:/|~|\.\.)", _RUNS)),
    **dict.fromkeys(("dtrace", "bpftrace"), _rows((r"(?:^| )-c(?:[ =]|$)|--unsafe|(?:^| )-w(?: |$)|system ?\(", _RUNS))),
    **dict.fromkeys("xdotool ydotool dotool wtype xte cliclick".split(), _rows(
        (r"(?:^| )(?:type|key|keydown|click|mousemove|exec|str|t:|kp:|c:)", _TYPES),
        (_ANY, _RUNS))),
    "kitty": _rows((r"@ .{0,200}?(?:send-text|send-key|launch|run)\b", _TYPES)),
    "zellij": _rows((r"^(?:-\S+ )*action (?:write|write-chars)\b", _TYPES)),
    "wezterm": _rows((r"^cli .{0,80}?send-text\b", _TYPES)),
    "tmux": _rows((r"^(?:-\S+ )*(?:if-shell|if|set-hook|run-shell|run|bind(?:-key)?|pipe-pane|confirm-before)\b"
                   r"|default-(?:command|shell)", _RUNS),
                  (r"^(?:-\S+ )*kill-(?:server|session|window|pane)\b", "ends processes")),
    "jj": _rows((r"^(?:-\S+ )*util exec|(?:^| )--tool[= ]", _RUNS), (r"git remote (?:set-url|add)|config set --user", _SYSTEM)),
    "svn": _rows((r"^(?:co|checkout|export) .{0,400} (?:/|~|\.\.)", "writes outside the session's folders"),
                 (r"--remove-(?:unversioned|ignored)", "deletes files for good")),
    "loginctl": _rows((
        r"(?:^| )(?:poweroff|reboot|halt|suspend|hibernate|kill-\w+|terminate-\w+|enable-linger|kexec)\b", _SYSTEM)),
    "act": _rows((r"--privileged|-self-hosted|--container-options", _RUNS)),
    "gpg": _rows((r"--photo-viewer|--exec-path|--(?:edit|sign|lsign)-key|--import(?:-ownertrust)?\b|--send-keys|--gen-revoke",
                   _TRUSTS)),
    "latexmk": _rows((r"(?:^| )-\w{0,6}(?:la)?tex=", _RUNS)),
    "swift": _rows((r"^-e |--disable-sandbox", _RUNS)),
    "bun": _rows((r"^(?:un)?link(?: |$)|^pm trust", "changes what is installed for all projects")),
    "podman": _rows((r"--showsecret", _SECRETS), (r"image trust set", _TRUSTS),
                    (r"(?:play kube|kube play) .{0,200}https?://", _RUNS)),
    "trivy": _rows((r"^plugin install .{0,200}(?:https?:|github\.com)", _RUNS)),
    "k6": _rows((r"^(?:cloud|login)\b", _PUBLISHES)),
    "mix": _rows((r"^do .{0,400}(?:ecto\.(?:drop|reset)|hex\.publish)", _KEEPS),
                 (r"^hex\.(?:user|organization|owner) (?:key|auth|add|remove|transfer)", _SECRETS)),
    "direnv": _rows((r"^(?:allow|permit|grant)", _HOOKS)),
    "mise": _rows((r"^(?:-\S+ )*(?:trust|activate)", _HOOKS), (r"^(?:-\S+ )*implode", "deletes files for good"),
                  (r"^(?:-\S+ )*(?:use|u) .{0,100}(?:-g|--global)\b", "changes what is installed for all projects")),
    **dict.fromkeys(("apt", "apt-get"), _rows((r"(?:^| )(?:-o|--option) ?=?\S{0,80}(?:Invoke|Dpkg::)", _RUNS))),
    "emerge": _rows((r"(?:^| )(?:-\w{0,6}[Cc]|--unmerge|--depclean|--prune)(?: |$)", "removes packages")),
    "snap": _rows((r"--(?:dangerous|devmode|classic)", "installs what nobody has looked at")),
    "nix": _rows((r"^profile install .{0,400}(?:github:|gitlab:|git\+|https?:|tarball)", _RUNS),
                 (r"^eval .{0,200}--impure|^registry (?:add|pin|remove)", _RUNS),
                 (r"^(?:store|store-) ?(?:gc|delete)|^profile wipe-history", "deletes files for good")),
    "go": _rows((rf"^tool .{{0,400}}-http[= ]{_EVERYWHERE}:", _OPENS)),
    "dotnet": _rows((r"^dev-certs .{0,400}(?:-t|--trust|--clean)(?: |$)", _TRUSTS)),
    "bundle": _rows((r"^clean .{0,200}--force|^config .{0,200}(?:--global .{0,200}|^|\s)mirror\.", _SYSTEM)),
    **dict.fromkeys(("npm", "pnpm"), _rows((r"^stage (?:publish|approve)", _PUBLISHES),
                                           (r"^(?:link|ln)(?: |$)", "changes what is installed for all projects"))),
    "yarn": _rows((r"^(?:un)?link(?: |$)", "changes what is installed for all projects"),
                  (r"^(?:set version|plugin import) (?:\.|/|~|https?:)", _HOOKS)),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _rows((
        r"^init\b|^env export .{0,200}(?:-f|--file)[ =](?:/|~|\.\.)"
        r"|^config .{0,200}--(?:add|append|prepend|set)(?: |$)", "changes where packages come from"))),
    **dict.fromkeys(("kafka-consumer-groups", "kafka-consumer-groups.sh"), _rows((r"--(?:reset-offsets|delete)", _KEEPS))),
    # services of the machine and of others
    "gdbus": _rows((r"^(?:call|emit)", _ASKS_SERVICE)),
    "dbus-send": _rows((r"^(?!--?(?:version|help)$)", _ASKS_SERVICE)),
    "busctl": _rows((r"^(?:-\S+ )*(?:call|set-property|emit|monitor|capture)", _ASKS_SERVICE)),
    **dict.fromkeys("qdbus qdbus6 qdbus-qt5 dbus-monitor".split(), _rows((r"^\S{1,200} \S{1,400} \S|--system", _ASKS_SERVICE))),
    "nginx": _rows((r"(?:^| )-s ?(?:stop|quit|reload|reopen)", _SERVICES)),
    **dict.fromkeys(("apachectl", "apache2ctl", "httpd"),
                    _rows((r"(?:^| )(?:stop|start|restart|graceful[\w-]*)(?: |$)", _SERVICES))),
    "forever": _rows((r"^(?:start|stop|stopall|restart|restartall|cleanlogs)", _SERVICES)),
    **dict.fromkeys(("pg_ctl", "pg_ctlcluster"), _rows((r"(?:^| )(?:stop|start|restart|reload|promote|kill)(?: |$)", _SERVICES))),
    "varnishadm": _rows((r"(?:^| )(?:stop|start|ban|vcl\.\w+|param\.set)(?: |$)", _SERVICES)),
    "nats": _rows((r"^(?:-\S+ )*(?:stream|str|s|kv|obj|object|consumer|con|c) (?:rm|del|delete|purge|rmm|edit|put|seal)",
                   _KEEPS)),
    "rabbitmqctl": _rows((r"^(?!(?:-\S+ )*(?:list_\w+|status|cluster_status|environment|report|ping|version|help|await_\w+|"
                          r"node_health_check|check_\w+|name|info)\b)", _KEEPS)),
    "influx": _rows((r"^(?:v1 )?(?:auth|user|secret|config) .{0,40}?(?:create|list|ls|password|update|delete|set)\b", _SECRETS),
                    (r"^restore", _KEEPS)),
    "rabbitmqadmin": _rows((r"(?:^| )(?:delete|purge|close|import)\b", _KEEPS)),
    # the machine
    "fastboot": _rows((r"(?:^| )(?:flash\w*|erase|format\S*|oem|boot|update|set_active|wipe\S*)(?: |$)|(?:^| )-w", _SYSTEM)),
    "resolvectl": _rows((
        r"^(?:dns|domain|dnsovertls|dnssec|llmnr|mdns|nta|default-route) \S+ \S|^(?:revert|flush-caches|reset)", _SYSTEM)),
    "smartctl": _rows((r"(?:^| )(?:-s|-S|-o|--smart|--set|--saveauto|--offlineauto)[ =]", _SYSTEM)),
    "alternatives": _rows((r"--(?:install|set|remove|auto|config)", _SYSTEM)),
    "dpkg": _rows((r"(?:^| )(?:-\w{0,4}i|--install|--unpack|--configure)(?: |$)", "runs what a package file brings")),
    **dict.fromkeys(("wg-quick", "wg"), _rows((r"^(?:up|down|set|setconf|addconf|syncconf)", _SYSTEM))),
    "nix-collect-garbage": _rows((_ALWAYS, "deletes files for good")),
    "qemu-img": _rows((r"^(?:resize .{0,400}--shrink|commit|rebase|amend|snapshot .{0,200}-[da]\b)", "overwrites files")),
    **dict.fromkeys("scrot maim grim xwd import gnome-screenshot spectacle flameshot screencapture wf-recorder arecord parecord "
                    "pw-record fswebcam imagesnap".split(), _rows((r"^(?!--?(?:version|help|V|h)$)", _RECORDS))),
    "ffmpeg": _rows((r"(?:^| )(?:udp|rtmps?|rtp|srt|tcp|icecast|ftp|sftp|tee):\S{1,400}$", "sends data to another machine"), (
        r"(?:^| )-f (?:x11grab|avfoundation|gdigrab|dshow|kmsgrab|v4l2|video4linux2|alsa|pulse|pipewire)(?: |$)", _RECORDS)),
    # what keeps credentials, and what publishes
    **dict.fromkeys(("keyctl", "kwallet-query", "kwalletcli"), _rows((r"print|pipe|read|-r|-f", _SECRETS))),
    "hg": _rows((r"^(?:-\S+ )*(?:email|patchbomb)\b", "sends data to another machine"), (r"ssh://-", _RUNS),
                (r"^(?:update|up|checkout|co) .{0,200}(?:-C\b|--clean\b)|^(?:strip|purge|rollback)\b", "throws away changes")),
    "databricks": _rows((r"^(?:-\S+ )*auth (?:token|env)\b|^(?:-\S+ )*secrets get", _SECRETS)),
    "argocd": _rows((r"generate-token|(?:^| )admin initial-password", _SECRETS)),
    **dict.fromkeys(("aws-vault", "aws-okta", "saml2aws", "granted", "assume"),
                    _rows((r"^(?:-\S+ )*(?:exec|export|script|login -s|console)(?: |$)", _SECRETS))),
    **dict.fromkeys("docker-credential-desktop docker-credential-osxkeychain docker-credential-secretservice "
                    "docker-credential-pass docker-credential-wincred docker-credential-ecr-login docker-credential-gcr "
                    "git-credential-osxkeychain git-credential-manager git-credential-libsecret git-credential-store".split(),
                    _rows((r"^(?:get|list|erase|store)\b", _SECRETS))),
    **dict.fromkeys(("yt-dlp", "youtube-dl", "gallery-dl"), _rows((r"--cookies-from-browser|--netrc", _SECRETS))),
    "tsh": _rows((r"^(?:-\S+ )*(?:login|ssh|scp|apps? login|db login)\b", "logs in somewhere")),
    **dict.fromkeys(("trash-empty", "trash-rm"), _rows((_ALWAYS, "deletes files for good"))),
    "unison": _rows((r"-(?:force|nodeletion|batch)\b", "overwrites files")),
    "luarocks": _rows((r"^(?:-\S+ )*upload", _PUBLISHES)),
    "xcrun": _rows((r"--upload-app|--upload-package|notarytool submit|stapler", _PUBLISHES)),
    **dict.fromkeys(("dput", "dupload", "cpan-upload"), _rows((_ANY, _PUBLISHES))),
    "brew": _rows((r"^bump", _PUBLISHES), (r"^services (?:start|stop|restart|run|kill|cleanup)", _SERVICES)),
    "cosign": _rows((r"^(?:sign|attest|attach|upload|copy)", _PUBLISHES)),
    "hub": _rows((r"^(?:release (?:create|edit|delete)|delete|merge|create|gist create)", _PUBLISHES)),
    "aws": _rows((r"codecommit (?:merge-|delete-|put-file|create-commit)", "changes or merges what others use")),
    "az": _rows((r"--expose-token", _SECRETS),
                (r"repos pr (?:update|create) .{0,400}(?:--status[= ](?:completed|abandoned)|--auto-complete|--bypass-policy)",
                 "changes or merges what others use"), (r"repos (?:pr )?(?:ref )?delete", "changes or merges what others use")),
    "helm": _rows((r"registry login", "logs in somewhere")),
    "earthly": _rows((r"--push\b", _PUBLISHES)),
    "dbt": _rows((r"--full-refresh|run-operation \S*(?:drop|delete|truncate|grant)",
                   "deletes or rebuilds what is in a database")),
    "cargo": _rows((
        r"--config[= ]['\"]?[\w.-]{0,80}(?:rustc|rustdoc|runner|linker|rustflags|credential|alias|registr|source|proxy)"
        r"[\w.'\"-]{0,80} {0,4}=", _RUNS)),
    **dict.fromkeys(("ldapmodify", "ldapadd", "ldapmodrdn", "ldappasswd", "snmpset"), _rows((_ANY, _KEEPS))),
    "ipmitool": _rows((r"(?:^| )(?:power|chassis|raw|user|lan set|sol) ?", _SYSTEM)),
    "mkcert": _rows((r"(?:^| )-(?:un)?install", _TRUSTS)),
    **dict.fromkeys(("update-ca-certificates", "update-ca-trust"), _rows((_ALWAYS, _TRUSTS))),
    "trust": _rows((r"^anchor", _TRUSTS)),
    "keytool": _rows((r"^(?=.{0,400}-cacerts).{0,400}-(?:import|delete|genkey|changealias|storepasswd)", _TRUSTS)),
    "factor": _rows((r"(?:^| )-(?:e|run|script|i)\b", _RUNS)),  # the language of that name, not the numbers
    "dlv": _rows((r"^(?:-\S+ )*attach", "works in another program")),
    "nix-channel": _rows((r"--(?:add|remove|rollback)", _TRUSTS)),
    "flatpak": _rows((r"^(?:-\S+ )*remote-(?:add|modify|delete)", _TRUSTS)),
    "ansible-galaxy": _rows((r"install .{0,400}(?:git\+|https?://|git@)", _RUNS)),
    **dict.fromkeys("arpspoof bettercap mitmproxy mitmdump mitmweb aircrack-ng aireplay-ng airodump-ng msfconsole msfvenom nikto "
                    "gobuster ffuf wfuzz feroxbuster wpscan responder hashcat john medusa patator zmap slowloris".split(),
                    _rows((r"^(?!--?(?:version|help|V|h)$)", _ATTACKS))),
    "dmsetup": _rows((r"^(?!ls|info|status|table|version|deps)", "works on disks")),
    # of Windows and PowerShell
    **dict.fromkeys("invoke-expression iex mshta rundll32 regsvr32 cscript wscript installutil msbuild.exe odbcconf cmstp "
                    "forfiles pcalua invoke-command icm invoke-cimmethod invoke-wmimethod".split(), _rows((_ANY, _RUNS))),
    **dict.fromkeys(("start-process", "saps"), _rows((r"-Verb ", "runs with other rights"), (_ANY, _RUNS))),
    **dict.fromkeys(("invoke-restmethod", "irm", "invoke-webrequest", "iwr"), _rows(
        (r"-(?:InFile|Body|Form)\b", "sends data to another machine"),
        (r"-Me[a-z]* (?:post|put|patch|delete)", "sends data to another machine"),
        (r"-OutFile .{0,400}\.(?:exe|ps1|bat|cmd|dll|msi|vbs|js)\b", "fetches a program"))),
    "wmic": _rows((r"call|delete|create|set ", _RUNS)),
    "certutil": _rows((r"-(?:urlcache|addstore|importpfx|delstore|decode)", "fetches a program, or changes what is trusted")),
    "wevtutil": _rows((r"^(?:cl|clear-log|sl|im|um)", "erases logs")),
    **dict.fromkeys("set-executionpolicy new-service set-service remove-service stop-computer restart-computer new-localuser "
                    "add-localgroupmember set-mppreference add-mppreference register-scheduledtask "
                    "disable-windowsoptionalfeature new-netfirewallrule set-netfirewallprofile setx netsh clear-eventlog "
                    "stop-service new-itemproperty set-itemproperty remove-itemproperty set-acl import-certificate "
                    "enable-psremoting".split(),
                    _rows((_ALWAYS, _SYSTEM))),
    **dict.fromkeys("clear-recyclebin format-volume clear-disk initialize-disk remove-partition remove-psdrive".split(),
                    _rows((_ALWAYS, "deletes files for good"))),
    **dict.fromkeys(("powershell", "pwsh"), _rows(
        (r"-(?:ep|ex\w*|executionpolicy) (?:bypass|unrestricted)|-(?:e|ec|enc\w*) \S", _RUNS))),
    **dict.fromkeys("xcopy robocopy copy-item copy".split(),
                    _rows((r"[\\/]\.(?:ssh|aws|gnupg|kube|docker|netrc|config)\b", _SECRETS))),
}
"""By program, the rows; the first that fits counts."""


def note_raised(call: ProgramCall) -> None:
    """Note what the words of a call say beyond its program."""
    rows = RAISED.get(call.name)
    if rows is None:
        return
    words = " ".join(call.args)[:_CHARS]
    for one in rows:
        if one.words.search(words) is not None:
            call.traits |= one.traits
            call.at_least("high", one.reason, call.command.text)
            return
