"""The table of programs that start the command behind them: ``sudo``, ``env``, ``timeout 5``, ``xargs``, ``uv run``."""

from __future__ import annotations

from typing import Final, NamedTuple


class Prefix(NamedTuple):
    """A wrapper whose inner command is simply the rest of its words."""

    values: frozenset[str] = frozenset()
    """Options that take the next word."""
    operands: int = 0
    """Words of its own before the command (``timeout 5``)."""
    transparent: bool = False
    assigns: bool = False
    """Takes ``NAME=value`` before the command."""


def prefix(values: str = "", operands: int = 0, transparent: bool = False, assigns: bool = False) -> Prefix:
    """A row of the table; ``values`` are options separated by blanks."""
    return Prefix(frozenset(values.split()), operands, transparent, assigns)


PREFIXES: Final[dict[str, Prefix]] = {
    "sudo": prefix("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role", assigns=True),
    "doas": prefix("-u -C"),
    "pkexec": prefix("--user"),
    "run0": prefix("-u --user -D"),
    "env": prefix("-u -C --unset --chdir", transparent=True, assigns=True),
    "nohup": prefix(transparent=True),
    "timeout": prefix("-s -k --signal --kill-after", 1, transparent=True),
    "gtimeout": prefix("-s -k --signal --kill-after", 1, transparent=True),
    "nice": prefix("-n --adjustment", transparent=True),
    "ionice": prefix("-c -n --class --classdata", transparent=True),
    "time": prefix("-f -o --format --output", transparent=True),
    "command": prefix(transparent=True),
    "builtin": prefix(transparent=True),
    "exec": prefix("-a", transparent=True),
    "coproc": prefix(transparent=True),
    "stdbuf": prefix("-i -o -e", transparent=True),
    "unbuffer": prefix(transparent=True),
    "setsid": prefix(transparent=True),
    "noglob": prefix(transparent=True),
    "nocorrect": prefix(transparent=True),
    "caffeinate": prefix("-t -w", transparent=True),
    "chronic": prefix(transparent=True),
    "xvfb-run": prefix("-n -s -e -f --server-args", transparent=True),
    "dbus-run-session": prefix(transparent=True),
    "taskset": prefix("", 1, transparent=True),
    "chrt": prefix("", 1),
    "strace": prefix("-o -e -p -s -u -E -a -I -P -X"),
    "ltrace": prefix("-o -e -p -s -u -n -a"),
    "faketime": prefix("", 1),
    "torsocks": prefix(),
    "proxychains": prefix("-f"),
    "proxychains4": prefix("-f"),
    "firejail": prefix(),
    "bwrap": prefix("--bind --ro-bind --dev --proc --tmpfs --chdir"),
    "chroot": prefix("", 1),
    "unshare": prefix("-S -G"),
    "nsenter": prefix("-t -S -G --target"),
    "systemd-run": prefix("-u -p -M -H --unit --property --on-calendar"),
    "setarch": prefix("", 1),
    "linux32": prefix(),
    "linux64": prefix(),
    "busybox": prefix(),
    "toybox": prefix(),
    "xargs": prefix("-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file"),
    "gxargs": prefix("-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file"),
    "parallel": prefix("-j --jobs -a --arg-file -I -n -N --colsep --delay --timeout --joblog --results"),
    "dotenv": prefix("-f -e"),
    "cross-env": prefix(assigns=True, transparent=True),
    "winpty": prefix(transparent=True),
    "rtk": prefix(transparent=True),
    "choom": prefix("-n --adjust"),
    "uclampset": prefix("-m -M"),
    "systemd-cat": prefix("-t --identifier -p --priority --stderr-priority"),
}
WRAPPERS: Final = frozenset(PREFIXES) | {"alias", "trap", "watch", "script", "flock", "entr"}
"""Commands that are only as dangerous as what they run."""
FEEDS_ARGUMENTS: Final = frozenset({"xargs", "gxargs", "parallel"})

RUNNERS: Final[dict[tuple[str, str], Prefix]] = {
    ("uv", "run"): prefix("--with --python -p --directory --project --extra --group --env-file --package"),
    ("npm", "explore"): prefix("", 1),
    ("tox", "exec"): prefix("-e -c --conf --root --workdir"),
    ("poetry", "run"): prefix(),
    ("pipenv", "run"): prefix(),
    ("pdm", "run"): prefix("-p"),
    ("rye", "run"): prefix(),
    ("pixi", "run"): prefix("-e"),
    ("bundle", "exec"): prefix(),
    ("pnpm", "dlx"): prefix("--package"),
    ("yarn", "dlx"): prefix("-p --package"),
    ("bun", "x"): prefix(),
    ("direnv", "exec"): prefix("", 1),
    ("conda", "run"): prefix("-n -p --name --prefix --cwd"),
    ("mamba", "run"): prefix("-n -p --name --prefix --cwd"),
    ("micromamba", "run"): prefix("-n -p --name --prefix --cwd -r --root-prefix -e --env"),
    ("rustup", "run"): prefix("", 1),
    ("op", "run"): prefix("--env-file --environment"),
    ("doppler", "run"): prefix("-p --project -c --config -t --token"),
    ("dotenvx", "run"): prefix("-f --env-file -e --env"),
    ("honcho", "run"): prefix("-e --env"),
    ("foreman", "run"): prefix("-e --env"),
    ("devbox", "run"): prefix("-c --config -e --env"),
    ("perf", "stat"): prefix("-e --event -o --output -r --repeat"),
    ("perf", "record"): prefix("-e --event -o --output -F --freq"),
    ("rr", "record"): prefix("-o --output-trace-dir"),
    **dict.fromkeys((("podman", "unshare"), ("buildah", "unshare")), prefix()),
    **dict.fromkeys((("podman", "machine ssh"), ("docker", "sandbox exec"), ("docker", "debug")),
                    prefix("--username -c --shell")),
    ("buildah", "run"): prefix("-v --volume --mount -e --env -u --user --workingdir --network --isolation --hostname --runtime "
                               "--cap-add --cap-drop --device --security-opt --add-history", 1),
    **dict.fromkeys((("crictl", "exec"), ("runc", "exec"), ("crun", "exec")), prefix(
        "--timeout --transport --cwd -e --env -u --user --pid-file --console-socket --process -p -c --cap", 1)),
    ("ctr", "run"): prefix("--mount --env --label --runtime --device --cwd --snapshotter --platform --user --memory-limit --cni "
                           "--log-uri --pid-file --gpus --with-ns --hostname --annotation --config", 2),
    **{("ctr", f"{tasks} exec"): prefix("--exec-id --cwd --user --log-uri --fifo-dir --pid-file", 1)
       for tasks in ("tasks", "task", "t")},
    **{("gh", f"{noun} ssh"): prefix("-c --codespace -R --repo --config --profile --server-port -d --debug-file --repo-owner")
       for noun in ("codespace", "cs")},
    **{("gh", f"{noun} exec"): prefix() for noun in ("extension", "extensions", "ext")},
}
"""By a program and its sub-command, which may be two words. Of a machine or a container whose name may be left out, the name is
taken for the program: it is none that is known, and its words count."""
