"""Containers, clusters, clouds and databases."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import Call, Trait

_DOCKER_QUIET: Final = frozenset(
    "ps images logs inspect info version stats top port events history diff search ls df config help context-ls".split()
)
_DOCKER_GRAVE: Final = frozenset("rm rmi prune kill down remove login logout push swarm".split())
_ESCAPES: Final = re.compile(
    r"^--privileged|^--pid=host|^--userns=host|^--ipc=host|^--cap-add|^--device|^--security-opt=?.*unconfined|^--volumes-from|docker\.sock"
)
_MOUNT: Final = re.compile(
    r"^(?:type=bind,)?(?:source=|src=)?(/|/etc|/root|/home|/var|/usr|/boot|/dev|/proc|/sys|~|\$HOME)(?=[:,/]|$)[^:,]*[:,]"
)
_DESTROYS: Final = re.compile(
    r"^(delete|destroy|rm|remove|terminate|drop|purge|uninstall|drain|cordon|taint|apply|replace|rollback|reboot|stop|kill|unset|revoke|reset"
    r"|down|scale|deploy|release|publish|promote|up|upgrade|install|exec|ssh|wipe|flush|deregister|detach|disable)(-|$)"
)
_LOOKS: Final = re.compile(
    r"^(get|list|ls|describe|show|status|logs?|top|version|help|explain|plan|validate|fmt|output|graph|diff|config|whoami|info|history"
    r"|template|lint|search|events|tail|providers|console-url|env|view|check|cluster-info|api-resources|wait)(-|$)"
)
_SQL_LOSES: Final = re.compile(
    r"\b(drop|truncate|delete|alter|update|grant|revoke|shutdown|flushall|flushdb|dropdatabase|remove|deleteMany)\b", re.I
)
_SQL_READS: Final = re.compile(r"^\s*(select|show|describe|explain|\\d|\\l|\.tables|\.schema|pragma|get|keys|info|ping)\b", re.I)
_SQL_RUNS: Final = re.compile(
    r"\\!|\bcopy\b.*\bprogram\b|\.shell|\.system|\bsystem\s|xp_cmdshell|load_file|into\s+(out|dump)file|load_extension|eval\b",
    re.I,
)


def _container(call: Call) -> None:
    escape = next((arg for at, arg in enumerate(call.args) if _ESCAPES.search(arg) or _escape_apart(call, at, arg)), None)
    mount = next(
        (arg for arg in call.args if _MOUNT.match(arg.removeprefix("--volume=").removeprefix("--mount=").removeprefix("-v"))),
        None,
    )
    if escape is not None:
        call.note("high", "gives a container power over the machine", escape)
    if mount is not None:
        call.note("high", "gives a container the machine's files", mount)
    words = [
        word
        for word in call.operands
        if word not in ("compose", "container", "image", "volume", "network", "system", "builder", "buildx")
    ]
    verb = words[0] if words else ""
    if verb in _DOCKER_GRAVE:
        call.note("high", "deletes or publishes containers, images or volumes", call.command.text)
    elif verb and verb not in _DOCKER_QUIET:
        call.note("medium", "runs or changes containers", call.command.text)
        if verb == "cp" and ":" not in words[-1] and call.places.kind(words[-1]) not in ("inside", "temp"):
            call.write(words[-1])
    elif verb == "config" and call.operands[:1] == ("context",):
        call.note("medium", "changes containers", call.command.text)


def _escape_apart(call: Call, at: int, arg: str) -> bool:
    follows = call.args[at + 1] if at + 1 < len(call.args) else ""
    return (arg in ("--pid", "--userns", "--ipc", "--uts") and follows == "host") or (
        arg == "--security-opt" and "unconfined" in follows
    )


_CREDENTIAL: Final = re.compile(
    r"secrets?(/.*)?|get-secret-value|get-session-token|print-access-token|get-access-token|get-parameters?|export-credentials"
    r"|([\w-]+\.)?(aws_)?(secret_access_key|session_token)"
)


def _cluster(call: Call) -> None:
    """kubectl, helm, terraform and clouds: the first word that says what happens decides."""
    words = call.operands
    if any(_CREDENTIAL.fullmatch(word) for word in words):
        call.traits |= Trait.SECRET
        call.note("high", "reads credentials", call.command.text)
    verb = next((word for word in words if _DESTROYS.match(word) or _LOOKS.match(word)), "")
    if call.name in ("aws", "gcloud", "az", "doctl", "gsutil") and _moves_objects(call, words):
        return
    if verb and _DESTROYS.match(verb):
        call.note("high", "changes or deletes running systems", call.command.text)
    elif words[:1] == ("config",) and not _LOOKS.match(words[1] if len(words) > 1 else "get"):
        call.note("medium", "works on remote systems", call.command.text)
    elif not verb and words:
        call.note("medium", "works on remote systems", call.command.text)


def _moves_objects(call: Call, words: tuple[str, ...]) -> bool:
    """``aws s3 cp file s3://bucket``: files go out."""
    verbs = [word for word in words if word in ("cp", "sync", "mv", "upload", "put-object", "rsync", "upload-batch")]
    if not verbs:
        return False
    call.traits |= Trait.SENDS | Trait.FETCHES
    for path in words[words.index(verbs[0]) + 1 :]:
        if "://" not in path:
            call.read(path)
            if call.places.holds_secrets(path):
                call.traits |= Trait.SECRET
    call.note("high", "copies files to or from the cloud", call.command.text)
    return True


def _terraform(call: Call) -> None:
    verb = call.operands[0] if call.operands else ""
    if verb in (
        "apply",
        "destroy",
        "import",
        "taint",
        "untaint",
        "force-unlock",
        "up",
        "down",
        "refresh",
        "cancel",
    ) or call.operands[:2] in (
        ("state", "rm"),
        ("state", "mv"),
        ("state", "push"),
        ("workspace", "delete"),
    ):
        call.note("high", "changes or deletes running systems", call.command.text)
    elif verb in ("init", "get", "console", "login", "new", "config", "stack"):
        call.note("medium", "prepares changes of running systems", call.command.text)


def _deploys(call: Call) -> None:
    verb = call.operands[0] if call.operands else ""
    if _LOOKS.match(verb) or call.longs & {"--version", "--help"}:
        return
    call.note(
        "medium" if verb in ("dev", "build", "start", "serve", "init", "run") else "high",
        "deploys or changes running systems",
        call.command.text,
    )


def _database(call: Call) -> None:
    """psql, mysql, redis-cli: by the statement in the arguments."""
    statements = [arg for arg in call.args if " " in arg or _SQL_LOSES.fullmatch(arg) or arg.startswith((".", "\\"))]
    if any(_SQL_RUNS.search(text) for text in statements):
        call.note("high", "makes the database run a program or write a file", statements[0])
    elif any(_SQL_LOSES.search(text) for text in statements):
        call.note("high", "changes or deletes data", next(text for text in statements if _SQL_LOSES.search(text)))
    elif not (statements and all(_SQL_READS.match(text) for text in statements)):
        call.note("medium", "works on a database", call.command.text)
        if call.name.startswith("sqlite") and call.operands and call.places.kind(call.operands[0]) not in ("inside", "temp"):
            call.write(call.operands[0])


def _drops(call: Call) -> None:
    call.note("high", "changes or deletes data", call.command.text)


def _dumps(call: Call) -> None:
    call.note("medium", "copies a database", call.command.text)


def _remote_runs(call: Call) -> None:
    if not call.has("C", "--check", "--list-hosts", "--syntax-check", "--version"):
        call.note("high", "runs commands on other machines", call.command.text)


JUDGES: Final[dict[str, Callable[[Call], None]]] = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah", "ctr", "crictl"), _container),
    **dict.fromkeys(
        "kubectl oc helm k9s kustomize flux argocd aws gcloud az doctl hcloud linode-cli ibmcloud oci eksctl gsutil kops "
        "istioctl".split(),
        _cluster,
    ),
    **dict.fromkeys(("terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf"), _terraform),
    **dict.fromkeys(
        "vercel netlify fly flyctl heroku firebase wrangler railway render serverless sls sam eb cap amplify supabase surge "
        "gh-pages now".split(),
        _deploys,
    ),
    **dict.fromkeys(
        "psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli duckdb clickhouse-client cqlsh sqlcmd usql pgcli mycli "
        "influx".split(),
        _database,
    ),
    **dict.fromkeys(
        "dropdb dropuser createuser pg_restore mysqladmin mongorestore pg_ctl rabbitmqctl etcdctl consul nomad".split(), _drops
    ),
    **dict.fromkeys("pg_dump pg_dumpall mysqldump mongodump createdb pg_isready".split(), _dumps),
    **dict.fromkeys(
        "ansible ansible-playbook ansible-pull salt puppet chef-client knife fabric pssh pdsh cssh vagrant packer".split(),
        _remote_runs,
    ),
}
