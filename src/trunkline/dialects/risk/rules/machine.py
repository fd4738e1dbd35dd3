"""Programs that act on the machine: processes, services, schedules, disks, users, the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.row_matching import judge_of, row
from trunkline.dialects.risk.rules.looking import asks_about_itself, only_looks
from trunkline.dialects.shell.verbs import VERBS
from trunkline.dialects.shell.wrappers import first_operand

_POWER: Final = "shutdown reboot halt poweroff init telinit kexec pm-suspend pmset systemsetup".split()
_USERS: Final = (
    "useradd usermod userdel groupadd groupmod groupdel adduser deluser addgroup delgroup passwd chpasswd newusers vipw "
    "vigr visudo chsh "
    "chfn gpasswd chage dscl dseditgroup newgrp pam-auth-update faillock authconfig".split()
)
_KERNEL: Final = (
    "modprobe insmod rmmod depmod sysctl setenforce auditctl swapon swapoff ldconfig update-initramfs grub-install "
    "update-grub efibootmgr "
    "dracut kmod hwclock ntpdate chronyc setsebool semanage apparmor_parser aa-disable csrutil spctl nvram kextload "
    "bpftool".split()
)
_FIREWALL: Final = (
    "iptables ip6tables iptables-restore nft ufw firewall-cmd pfctl ipset ebtables route ifconfig iwconfig nmcli tc brctl".split()
)
_DISKS: Final = (
    "fdisk sfdisk gdisk sgdisk cfdisk parted partprobe wipefs blkdiscard hdparm nvme cryptsetup lvremove lvcreate "
    "vgremove vgcreate "
    "pvremove pvcreate lvm mdadm zfs zpool btrfs mkswap losetup tune2fs resize2fs e2fsck fsck xfs_repair debugfs "
    "badblocks diskutil hdiutil "
    "newfs newfs_apfs format diskpart flashrom fwupdmgr ddrescue partclone mke2fs mkfs mkdosfs mkntfs sg_format".split()
)
_BECOMING: Final = (
    "sudo su doas pkexec runuser run0 sudoedit gosu setpriv runas sg su-exec sudo-rs su-rs gsudo dzdo dzedit calife ksu sux "
    "super please pleaseedit kdesu kdesudo gksu gksudo beesu pfexec priv userdo setuidgid chpst".split())
_ENTERING: Final = "chroot nsenter unshare capsh machinectl lxc incus virsh qemu-system-x86_64".split()
_TRACING: Final = "strace ltrace perf dtrace bpftrace gcore ptrace pyspy py-spy rr".split()
POWER: Final = (row("", "high", "stops or restarts the machine", "reboot"),)
USERS: Final = (row("", "high", "changes users or passwords", "useradd x"),)
BECOMING: Final = (row("", "high", "runs with other rights", "sudo ls"),)
ENTERING: Final = (row("", "high", "enters another system or its namespaces", "virsh list"),)
TRACING: Final = (row("", "medium", "looks into running processes", "strace ls"),)
FILLING: Final = (row("", "high", "uses up the machine", "stress -c 8"),)
_DISK_LOOKS: Final[dict[str, frozenset[str]]] = {
    "diskutil": frozenset(("list", "info")), "hdiutil": frozenset(("info",)), "nvme": frozenset(("list",)),
    "zpool": frozenset(("list", "status")), "zfs": frozenset(("list",)), "cryptsetup": frozenset(("status",)),
}
"""Words by which tools for disks look, where these stand first."""
_BTRFS_LOOKS: Final = frozenset((group, verb) for group in ("filesystem", "fi", "subvolume", "sub", "device", "dev")
                                for verb in ("show", "list", "scan"))
_LISTS_SIGNALS: Final = frozenset(("kill", "killall", "skill", "fuser"))
_NET_LOOKS: Final = frozenset(("status", "list", "show", "monitor"))
_BY_WORD: Final = frozenset(("ufw", "nft", "ipset", "nmcli", "brctl"))
"""Of what changes the network: what is told by its first word what to do."""
_PLAIN: Final = frozenset("-a -j -n -nn -s -t -y -4 -6".split())
"""Options before that word which take nothing."""


def _kills(call: ProgramCall) -> None:
    lists = call.name in _LISTS_SIGNALS and call.args[:1] in (("-l",), ("-L",), ("--list",))
    if lists or call.args[:1] == ("-0",):
        return
    everything = call.args[-1:] == ("-1",) and len(call.args) > 1
    call.note("high", "ends every process it may" if everything else "ends processes", call.command.text)


def _kernel(call: ProgramCall) -> None:
    if (
        call.name == "sysctl"
        and not call.has("wpf", "--write", "--load", "--system")
        and not any("=" in arg for arg in call.args)
    ):
        return
    call.note("high", "changes how the system runs", call.command.text)


def _firewall(call: ProgramCall) -> None:
    if not call.args or only_looks(call.name, call.args):
        return
    first = next((arg for arg in call.args if arg not in _PLAIN), "")
    if call.name in _BY_WORD and first in _NET_LOOKS:
        return
    call.note("high", "changes the network of the machine", call.command.text)


def _ip(call: ProgramCall) -> None:
    if any(word in ("add", "del", "delete", "set", "flush", "replace", "change", "exec") for word in call.operands):
        call.note("high", "changes the network of the machine", call.command.text)


def _disks(call: ProgramCall) -> None:
    """Disk tools: on a raw device there is no way back."""
    raw = next((path for path in call.args if call.places.kind(path) in ("raw", "device")), None)
    looks = not _DISK_LOOKS.get(call.name, frozenset()).isdisjoint(call.args[:1]) or (
        call.name == "btrfs" and call.args[:2] in _BTRFS_LOOKS)
    if looks or only_looks(call.name, call.args) or asks_about_itself(call):
        return
    if raw is not None:
        call.note("critical", "works on a raw device", raw)
    else:
        call.note("high", "works on disks", call.command.text)


def _mounts(call: ProgramCall) -> None:
    if call.operands or call.has("aA", "--all"):
        call.note("high", "mounts or unmounts a file system", call.command.text)


_NAME_FIRST: Final = frozenset(("service", "rc-service"))
"""They are told which service before what to do with it."""


def _services(call: ProgramCall) -> None:
    quiet = (
        "status",
        "list",
        "list-units",
        "list-unit-files",
        "list-timers",
        "list-sockets",
        "show",
        "cat",
        "is-active",
        "is-enabled",
    )
    at = first_operand(call.command.words, 1, VERBS[call.name].takes if call.name in VERBS else frozenset())
    verb = "".join(call.command.sketch[at + (call.name in _NAME_FIRST):][:1])
    if verb in quiet or verb.startswith(("is-", "list-", "print")) or not call.args:
        return
    call.note("high", "starts, stops or changes services", call.command.text)


def _schedule(call: ProgramCall) -> None:
    """crontab and at: something will run later."""
    if call.args[:1] in (("-l",), ("--list",)) or call.name in ("atq", "crontab-list"):
        return
    call.traits |= Trait.EXECUTES if call.name in ("at", "batch") else Trait.NONE
    call.note("high", "schedules commands", call.command.text)


def _secrets(call: ProgramCall) -> None:
    """Programs that hand out credentials."""
    if call.args[:1] in (("ls",), ("list",), ("status",), ("version",), ("help",)) or asks_about_itself(call):
        return
    call.traits |= Trait.SECRET
    call.note("high", "reads or changes credentials", call.command.text)


def _gpg(call: ProgramCall) -> None:
    if call.has("", "--export-secret-keys", "--export-secret-subkeys", "--delete-keys", "--delete-secret-keys"):
        call.traits |= Trait.SECRET
        call.note("high", "exports or deletes secret keys", call.command.text)
    elif call.has("d", "--decrypt"):
        call.traits |= Trait.DECODES
        call.note("medium", "decrypts something", call.command.text)
    elif not only_looks(call.name, call.args):
        call.note("medium", "works with keys", call.command.text)


def _sshkeys(call: ProgramCall) -> None:
    if call.name == "ssh-copy-id":
        call.note("high", "lets a key into another machine", call.command.text)
    elif call.name == "ssh-keygen" and only_looks("ssh-keygen", call.args):
        return
    else:
        target = call.value("-f")
        if target:
            call.write(target)
        call.at_least("medium", "works with keys", call.command.text)


def _settings(call: ProgramCall) -> None:
    words = call.args[1:] if call.args[:1] == ("-currentHost",) else call.args
    if words[:1] in (("read",), ("domains",), ("find",), ("list-schemas",), ("get",)):
        return
    call.note("high", "changes settings of the desktop or the system", call.command.text)


_SYSTEM_LOOKS: Final = ("get", "list", "is", "show", "print", "dns", "proxy", "nwi", "pkg", "files", "info", "version", "help")


def _system_tool(call: ProgramCall) -> None:
    """Tools of macOS for the network and the system: what does not look changes something."""
    options = [arg for arg in call.args if arg[:1] == "-"]
    if not options or not all([arg == "-l" or arg.lstrip("-").lower().startswith(_SYSTEM_LOOKS) for arg in options]):
        call.note("high", "changes settings of the desktop or the system", call.command.text)


def _logs(call: ProgramCall) -> None:
    if call.has("", "--vacuum-time", "--vacuum-size", "--rotate", "--flush", "--vacuum-files") or (
        call.name == "dmesg" and call.has("cC", "--clear")
    ):
        call.note("high", "erases logs", call.command.text)


AGENTS: Final = frozenset(
    "trunkline claude codex gemini opencode aider goose cursor-agent qwen crush amp copilot droid auggie cline kilo kimi grok "
    "openhands vibe fast-agent plandex claude-agent-acp codex-acp fast-agent-acp hermes-acp vibe-acp pi-acp".split())
PACKAGES: Final[dict[str, str]] = {
    "@anthropic-ai/claude-code": "claude", "@openai/codex": "codex", "@google/gemini-cli": "gemini", "@github/copilot": "copilot",
    "@augmentcode/auggie": "auggie", "@aaif/goose": "goose", "@xai-official/grok": "grok", "@kilocode/cli": "kilo",
    "@moonshot-ai/kimi-code": "kimi", "@qwen-code/qwen-code": "qwen", "@sourcegraph/amp": "amp", "opencode-ai": "opencode",
    "@agentclientprotocol/claude-agent-acp": "claude", "@agentclientprotocol/codex-acp": "codex",
    "@zed-industries/codex-acp": "codex", "@zed-industries/claude-code-acp": "claude", "@charmland/crush": "crush",
    "@earendil-works/pi-coding-agent": "pi-acp", "fast-agent-mcp": "fast-agent", "hermes-agent": "hermes-acp",
    "del-cli": "rimraf", "del": "rimraf", "trash-cli": "trash",
    "mistral-vibe": "vibe", "aider-chat": "aider", "claude-code": "claude",
}
"""What registries call the packages of programs that have a judge."""


def _agents(call: ProgramCall) -> None:
    if call.args in (("--version",), ("--help",), ("-v",), ("-V",), ("-h",)):
        return
    call.note("high", "starts an agent, or changes what one may do, past this session", call.command.text)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(("kill", "pkill", "killall", "killall5", "xkill", "skill", "tskill", "taskkill", "fuser"), _kills),
    **dict.fromkeys(_POWER, judge_of(POWER)),
    **dict.fromkeys(_USERS, judge_of(USERS)),
    **dict.fromkeys(_KERNEL, _kernel),
    **dict.fromkeys(_FIREWALL, _firewall),
    **dict.fromkeys((*_DISKS, "mkfs.*"), _disks),
    **dict.fromkeys(
        "mount mount.* umount fusermount fusermount3 sshfs s3fs gcsfuse goofys bindfs encfs gocryptfs davfs2 blobfuse2".split(),
        _mounts),
    **dict.fromkeys(
        (
            "systemctl",
            "service",
            "launchctl",
            "rc-service",
            "rc-update",
            "update-rc.d",
            "chkconfig",
            "supervisorctl",
            "initctl",
            "sc",
            "sv",
            "pm2",
        ),
        _services,
    ),
    **dict.fromkeys("crontab at batch atrm atq schtasks anacron systemd-run fcron incrontab".split(), _schedule),
    **dict.fromkeys(_BECOMING, judge_of(BECOMING)),
    **dict.fromkeys(_ENTERING, judge_of(ENTERING)),
    **dict.fromkeys(_TRACING, judge_of(TRACING)),
    **dict.fromkeys(
        (
            "pass",
            "op",
            "bw",
            "vault",
            "secret-tool",
            "security",
            "keyring",
            "lpass",
            "rbw",
            "keepassxc-cli",
            "gopass",
            "sops",
            "age",
            "chamber",
            "doppler",
            "infisical",
        ),
        _secrets,
    ),
    **dict.fromkeys(("gpg", "gpg2"), _gpg),
    **dict.fromkeys(("ssh-keygen", "ssh-add", "ssh-copy-id", "ssh-agent", "ssh-keyscan"), _sshkeys),
    **dict.fromkeys(("defaults", "gsettings", "dconf", "reg", "plistbuddy", "tccutil", "xattr-clear"), _settings),
    **dict.fromkeys(("networksetup", "scutil", "softwareupdate", "pkgutil"), _system_tool),
    **dict.fromkeys(("journalctl", "dmesg", "logrotate", "wevtutil"), _logs),
    **dict.fromkeys(("stress", "stress-ng", "fork-bomb"), judge_of(FILLING)),
    **dict.fromkeys(AGENTS, _agents),
    "ip": _ip,
}
