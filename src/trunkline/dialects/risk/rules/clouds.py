"""Clusters, clouds and what deploys to them: kubectl, helm, terraform, aws. Rows, and code for what rows cannot express."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.row_matching import note_row, row
from trunkline.dialects.risk.rules.looking import asks_about_itself, only_looks
from trunkline.dialects.shell.verbs import VERBS

_CHANGES: Final = "changes or deletes running systems"
TERRAFORM_ROWS: Final = (
    row("apply destroy import taint untaint force-unlock up down refresh cancel", "high", _CHANGES, "terraform apply"),
    row("deploy apply-all destroy-all deploy-all bootstrap rollback watch", "high", _CHANGES, "cdk deploy"),
    row("run-all run", "high", _CHANGES, "terragrunt run-all apply", then="apply destroy import refresh taint"),
    row("state", "high", _CHANGES, "terraform state rm x", then="rm mv push delete unprotect"),
    row("state", "high", "reads credentials", "terraform state pull", then="pull", effect="secret"),
    row("show", "high", "reads credentials", "terraform show -json", word=r"^--?json$", effect="secret"),
    row("config", "high", "reads credentials", "pulumi config get x", then="get", effect="secret"),
    row("output", "high", "reads credentials", "terraform output -json", word=r"^--?(json|raw)$", effect="secret"),
    row("", "high", "reads credentials", "pulumi config --show-secrets", given="--show-secrets", effect="secret"),
    row("workspace stack", "high", _CHANGES, "terraform workspace delete x", then="delete rm"),
    row("init", "high", "takes its code from an address", "terraform init -from-module=https://x",
        word=r"^--?from-module=.*(://|::|@|^git)"),
    row("init", "high", _CHANGES, "terraform init -migrate-state", word=r"^--?(migrate-state|force-copy)"),
    row("init get console login new config stack", "medium", "prepares changes of running systems", "terraform init"),
    row("workspace", "medium", "prepares changes of running systems", "terraform workspace select x", then="select new"),
    row("test", "medium", "makes systems and takes them down again", "terraform test"),
)
_TERRAFORM_VERBS: Final = frozenset(verb for one in TERRAFORM_ROWS for verb in one.verbs) | frozenset(
    "plan plan-all preview show validate fmt graph diff synth ls list providers version output logs about whoami".split())
_VERB_AMONG: Final = 4
"""Operands in which the verb is looked for: options before it may have values that stand apart."""
_DESTROYS: Final = re.compile(
    r"^(delete|destroy|rm|remove|terminate|drop|purge|uninstall|drain|cordon|taint|apply|replace|rollback|reboot|stop|kill|unset|revoke|reset|rb|del|erase|empty|undeploy"
    r"|down|scale|deploy|release|publish|promote|up|upgrade|install|exec|ssh|wipe|flush|deregister|detach|disable|push|submit)(-|$)"
)
_LOOKS: Final = re.compile(
    r"^(get|list|ls|describe|show|status|logs?|top|version|help|explain|plan|validate|fmt|output|graph|diff|config|whoami|info|history"
    r"|template|lint|search|events|tail|providers|console-url|env|view|check|cluster-info|api-resources|wait)(-|$)"
)


_CREDENTIAL: Final = re.compile(
    r"secrets?|get-secret-value|batch-get-secret-value|get-(session|federation|authorization|id|web-identity|open-id|auth)?-?token"
    r"|print-(access|identity)-token|get-access-token|get-parameters?(-by-path)?|export-credentials|get-login(-password)?|assume-role[\w-]*"
    r"|get-[\w-]*credentials[\w-]*|generate-(db-auth|login)-token|decrypt|create-access-key|create-login-profile|create-for-rbac"
    r"|create-service-specific-credential|create-key-pair|download-default-key-pair|get-password-data|get-private-key|show-connection-string|list-keys"
    r"|list-publishing-credentials|config-helper|([\w-]+\.)?(aws_)?(secret_access_key|session_token)")
"""Words that hand out credentials."""
_SECRET_KIND: Final = re.compile(r"(^|,)secrets?([./,]|$)|/secrets([/?]|$)")
"""Among the kinds of things that a cluster is asked for, or in an address of its own."""
_GIVING: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    **dict.fromkeys(("kubectl", "oc"), (
        ("config", "view", "--raw"), ("config", "view", "--flatten"), ("create", "token"), ("whoami", "-t"),
        ("whoami", "--show-token"), ("sa", "get-token"), ("serviceaccounts", "get-token"))),
    "gcloud": (("keys", "create"), ("versions", "access")),
    "nomad": (("var", "get"),),
    "az": (("connection-string", "list"), ("credential", "show"),
           ("keys", "list"), ("key", "list"), ("credential", "list"), ("appsettings", "list")),
    "heroku": (("config",), ("auth:token",), ("config:get",), ("pg:credentials:url",)),
    **dict.fromkeys(("fly", "flyctl"), (("auth", "token"), ("tokens",))),
    **dict.fromkeys(("vercel", "now", "netlify", "railway"), (("env", "pull"), ("env:list",), ("env:get",), ("variables",))),
    "helm": (("get", "all"), ("get", "values"), ("get", "manifest"), ("get", "hooks")),
    "firebase": (("login:ci",), ("functions:config:get",)),
    "doctl": (("auth", "token"), ("registry", "docker-config"), ("kubeconfig", "show")),
}
"""The program, and words and options that make it show credentials; the words follow one another."""
_GRAVE: Final = re.compile(
    r"update-(function-[\w-]+|service|stack[\w-]*|distribution|assume-role-policy|access-key|login-profile)|create-(stack[\w-]*|deployment"
    r"|user|role|policy[\w-]*|grant|access-key|login-profile)|execute-change-set|start-deployment|set-iam-policy|add-iam-policy-binding"
    r"|put-(bucket-(policy|acl)|image|(role|user|group)-policy|public-access-block|key-policy)|attach-[\w-]*policy|authorize-[\w-]+"
    r"|add-(user-to-group|permission|role-to-instance-profile)|modify-[\w-]+|rotate-[\w-]+|put-[\w-]*permissions?[\w-]*"
    r"|schedule-[\w-]*deletion|cancel-[\w-]+|disassociate-[\w-]+|put-object-acl"
    r"|send-(command|ssh-public-key|serial-console-ssh-public-key)|start-(session|automation-execution|task)|run-(command|task|instances)"
    r"|execute-(command|statement)|batch-execute-statement")
"""What deploys, deletes later, runs commands elsewhere, or says who may do what."""
_CHANGED_PARTS: Final = frozenset(
    "delete destroy remove terminate drop purge wipe erase deallocate put update change restore set import close modify replace "
    "reset associate enable disable write".split())
"""Parts of an action's name by which something is changed or lost: ``batch-delete-image``, ``DeleteInstance``."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+")
_ACTION_CHARS: Final = 100
_ACTIONS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "gsutil": (("iam", "ch"), ("iam", "set"), ("acl", "ch"), ("acl", "set"), ("defacl", "ch"), ("defacl", "set")),
    "gcloud": (("users", "set-password"), ("roles", "update"), ("databases", "import"), ("firestore", "import"),
               ("sql", "import")),
    "az": (("command", "invoke"), ("deployment", "create"), ("source", "config-zip"), ("vm", "deallocate")),
    "helmfile": (("sync",),),
    "argocd": (("sync",), ("set",)),
    "flux": (("reconcile",), ("suspend",), ("resume",), ("create",), ("bootstrap",)),
    "velero": (("create",),),
    "eksctl": (("create",),),
}
"""Further words of a program, which follow one another, that change what runs elsewhere."""
_BY_ADDRESS: Final = re.compile(r"(?:-[fk]=?|--(?:filename|kustomize|values|template-ur[li])=)?(?:https?|git|ssh)://")
_GRANTS: Final = (("role", "assignment"), ("ad", "sp"), ("ad", "app"), ("service-accounts", "keys"))
_BY_SERVICE: Final = frozenset(
    "aws gcloud az doctl gsutil hcloud linode-cli ibmcloud oci bq openstack scw consul nomad etcdctl aliyun yc".split())
"""A service comes first, which may be named like something harmless (``aws logs``), and then what is done to it."""


def gives_credentials(call: ProgramCall) -> bool:
    """Whether a call makes its program show credentials."""
    return any(_says(call, phrase) for phrase in _GIVING.get(call.name, ()))


def _says(call: ProgramCall, phrase: tuple[str, ...]) -> bool:
    rest = iter(call.operands)
    return all(word in call.options if word[:1] == "-" else any(word == one for one in rest) for word in phrase)


def _note_credentials(call: ProgramCall) -> None:
    is_kind = call.name in ("kubectl", "oc") and any(_SECRET_KIND.search(arg) for arg in call.args)
    if is_kind or any(map(_CREDENTIAL.fullmatch, call.operands)) or gives_credentials(call):
        call.traits |= Trait.SECRET
        call.note("high", "reads credentials", call.command.text)


def _cluster(call: ProgramCall) -> None:
    """kubectl, helm, terraform and clouds: the first word that says what happens decides."""
    words = call.operands
    _note_credentials(call)
    address = next((word for word in call.args if _BY_ADDRESS.match(word)), None)
    if address is not None and not _LOOKS.match(" ".join(words[:1])):
        call.note("high", "does what an address says", address)
    if call.name in ("kubectl", "oc"):
        _of_cluster(call, words)
    if not SAVES.isdisjoint(words[:_VERB_AMONG]):
        _saves(call)
    if call.name in ("kubectl", "oc") and "cp" in words[:_VERB_AMONG]:
        _copies_pods(call, words[words.index("cp") + 1:])
    if call.name == "aws" and words[:2] == ("configure", "set") and any(map(_STEERS.search, words[2:3])):
        call.write("~/.aws/config")
    verb = next((word for word in words if _DESTROYS.match(word) or _LOOKS.match(word)), "")
    if call.name in ("aws", "gcloud", "az", "doctl", "gsutil") and _moves_objects(call, words):
        return
    if _rehearses(call):
        call.note("medium", "works on remote systems", call.command.text)
        return
    if _acts(call, words):
        call.note("high", _CHANGES, call.command.text)
    if call.name in _BY_SERVICE and any(_DESTROYS.match(word) or _GRAVE.fullmatch(word) for word in words[:_VERB_AMONG]):
        call.note("high", _CHANGES, call.command.text)
    elif any(_says(call, grant) for grant in _GRANTS) and not {"create", "reset", "update"}.isdisjoint(words):
        call.note("high", "changes who may do what", call.command.text)
    elif (verb and _DESTROYS.match(verb)) or (call.name in ("kubectl", "oc") and any(map(_CLUSTER_CHANGES.fullmatch, words[:1]))
                                              and words[1:2] not in (("status",), ("history",))):
        call.note("high", _CHANGES, call.command.text)
    elif words[:1] == ("config",) and not _LOOKS.match(words[1] if len(words) > 1 else "get"):
        call.note("medium", "works on remote systems", call.command.text)
    elif call.name in _BY_SERVICE and words and not _asks(call):
        call.note("high", "does something to remote systems that is not known to be harmless", call.command.text)
    elif not verb and words:
        call.note("medium", "works on remote systems", call.command.text)


def _of_cluster(call: ProgramCall, words: tuple[str, ...]) -> None:
    """What kubectl does beside looking that its first word does not say."""
    if words[:1] == ("proxy",) and (address := call.value("--address")) and not address.startswith(("127.", "localhost")):
        call.note("high", "opens this machine to the network", call.command.text)
    if not _AS_OTHERS.isdisjoint(call.longs):
        call.note("high", "acts with the rights of somebody else", call.command.text)
    if words[:1] == ("config",) and _SETS.match(" ".join(words[1:2])):
        call.note("high", "changes which cluster later commands are about", call.command.text)
    if words and call.args[:1] == words[:1] and words[0] not in _CLUSTER_VERBS and _CLUSTER_CHANGES.fullmatch(words[0]) is None:
        call.note("high", "runs a plugin that is not known here", call.command.text)
    if words[:2] == ("auth", "reconcile"):
        call.note("high", "changes who may do what", call.command.text)


_CLUSTER_VERBS: Final = frozenset(
    "get describe logs log top version explain config cluster-info api-resources api-versions auth diff wait events "
    "event plugin completion options kustomize port-forward proxy attach alpha help exec cp apply delete replace "
    "scale drain cordon uncordon taint rollout krew status projects project whoami login logout new-app new-project "
    "start-build import-image adm process extract rsh tag idle policy observe sa serviceaccounts secrets registry "
    "image debug run edit".split())
"""Sub-commands of kubectl and oc; another word is a plugin."""
_AS_OTHERS: Final = frozenset(("--as", "--as-group", "--as-uid"))
_SETS: Final = re.compile(r"set(?!-context)|use-|delete-|rename-|unset")


_ASKING: Final = re.compile(
    r"(?:(?:batch-)?(?:describe|get|list|head|check)|ls|show|status|logs?|info|version|help|read|print|members?|search|lookup|filter|estimate|"
    r"preview|test|validate|wait|tail|simulate|query|scan|view|detect|history|top|events|operations|metrics|explain|diff|lint|inspect|"
    r"watch|docs|interactive|completion|servers?|endpoint|alarm|plan|fmt|format|feedback|cheat-sheet|survey|find|stat|cat|du|hash|"
    r"catalog|intention|monitor|rtt|keygen|fingerprint)(?:-.*)?|--help")
_CHANGING: Final = re.compile(
    r"(?:set|create|update|add|import|export|activate|login|logout|start|run|invoke|send|leave|enable|restart|link|unlink|register|copy|move|"
    r"upload|download|restore|build|builds|submit|trigger|resume|pause|suspend|cancel|connect|tunnel|start-.*|set-.*|add-.*|create-.*|update-.*|"
    r"put|force-leave|maint|defrag|compact)")
"""Words by which a cloud's program looks, and by which it does more."""


_AWS_VALUES: Final = frozenset(
    "--profile --region --output --query --color --ca-bundle --endpoint-url --cli-read-timeout --cli-connect-timeout "
    "--cli-binary-format".split())
"""Options of aws with a value, which may stand before what is done."""
_AWS_MILD: Final = frozenset("send-message invoke login create-tags tag-resource configure".split())
"""What is done there by everyday work; where that is put, and what is set, is looked at elsewhere."""


def _asks(call: ProgramCall) -> bool:
    """Whether a call of a cloud's program is known to look: what nobody here knows may do anything."""
    if call.name == "aws":
        words = [word for word, before in zip(call.args, ("", *call.args), strict=False)
                 if word[:1] != "-" and before not in _AWS_VALUES]
        action = words[1] if len(words) > 1 else "help"
        return words[:1] == ["help"] or _ASKING.fullmatch(action) is not None or not _AWS_MILD.isdisjoint(words[:2])
    given = call.operands[:_VERB_AMONG + 1]
    return any(map(_ASKING.fullmatch, given)) and not any(map(_CHANGING.fullmatch, given))


def _acts(call: ProgramCall, words: tuple[str, ...]) -> bool:
    """Whether the words of a call, or a part of its action's name, say that something is changed."""
    action = words[1] if call.name == "aws" and len(words) > 1 and words[0] not in ("configure", "s3") else ""
    named = (action,) if call.name == "aws" else words[:_VERB_AMONG] if call.name in ("aliyun", "ibmcloud", "oci") else ()
    if any(not _CHANGED_PARTS.isdisjoint(map(str.lower, _PART.findall(word[:_ACTION_CHARS]))) for word in named):
        return True
    return any(_says(call, phrase) for phrase in _ACTIONS.get(call.name, ()))


def _rehearses(call: ProgramCall) -> bool:
    """``kubectl apply --dry-run=client``: said once, and nothing else by that name."""
    if call.name not in ("kubectl", "oc", "helm") or "--dry-run" not in call.longs:
        return False
    given = [arg for arg in call.args if arg.startswith("--dry-run")]
    return given in (["--dry-run=client"], ["--dry-run=server"]) or (call.name == "helm" and given == ["--dry-run"])


_STEERS: Final = re.compile(r"(?:^|\.)(?:credential_process|endpoint_url|ca_bundle|role_arn|source_profile|sso_start_url)$")
"""Settings by which later calls run a program, or go elsewhere."""


_CLUSTER_CHANGES: Final = re.compile(
    r"patch|edit|set|rollout|autoscale|expose|rsync|debug|certificate|create|run|label|annotate|reconcile")
"""What changes a cluster as ``apply`` does."""


def _copies_pods(call: ProgramCall, paths: tuple[str, ...]) -> None:
    """``kubectl cp file pod:/place``: files go out, or come in."""
    call.traits |= Trait.SENDS
    for path in paths[:1] if paths and ":" not in paths[0] else ():
        call.read(path)
        if call.places.holds_secrets(path):
            call.traits |= Trait.SECRET
    for path in paths[1:2] if paths and ":" in paths[0] else ():
        call.write(path)
        call.download(path)


SAVES: Final = frozenset(
    "scp get-object get-object-torrent invoke invoke-endpoint get-job-output get-snapshot-block select-object-content download "
    "download-batch get-export get-sdk".split())
"""Verbs that put what they fetch where an operand says."""


def _saves(call: ProgramCall) -> None:
    """Note where something fetched is put: every word that is a path of this machine, else the last one."""
    named = call.value("-f", "--file", "-d", "--destination")
    paths = [word for word in call.operands if word[:1] in ("/", "~", ".", "$")]
    for path in [named] if named else paths or call.operands[-1:]:
        call.write(path)
        call.download(path)


def _provisions(call: ProgramCall) -> None:
    """terraform and its like: the verb may stand behind values of options."""
    words = call.operands
    at = next((at for at, word in enumerate(words[:_VERB_AMONG]) if word in _TERRAFORM_VERBS), 0)
    note_row(call, TERRAFORM_ROWS, " ".join(words[at:at + 1]), (*words[at + 1:], *call.args), call.has)


def _moves_objects(call: ProgramCall, words: tuple[str, ...]) -> bool:
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


_LISTS: Final = re.compile(r"ps|releases|[\w:-]{1,60}:(?:list|info|log|wait)|tail")


def _deploys(call: ProgramCall) -> None:
    verb = call.operands[0] if call.operands else ""
    if gives_credentials(call):
        call.traits |= Trait.SECRET
        call.note("high", "reads credentials", call.command.text)
        return
    is_first = call.args[:1] == (verb,) or call.name in VERBS
    does_more = any(_DESTROYS.match(word) or word in ("add", "set", "pull") for word in call.operands[1:3])
    if (is_first and (_LOOKS.match(verb) or _LISTS.fullmatch(verb)) and not does_more) or asks_about_itself(call):
        return
    is_local = verb in ("dev", "build", "start", "serve", "init", "run") and (call.name, verb) != ("heroku", "run")
    call.note(
        "medium" if is_local else "high",
        "deploys or changes running systems",
        call.command.text,
    )


_ONLY_SHOW: Final = {"vagrant": frozenset("status global-status validate version port ssh-config".split()),
                     "packer": frozenset("validate inspect version".split())}


def _remote_runs(call: ProgramCall) -> None:
    if any(map(call.places.is_foreign, call.operands)):
        call.note("high", "loads code from outside the session's folders", call.command.text)
    is_shown = not _ONLY_SHOW.get(call.name, frozenset()).isdisjoint(call.operands[:1])
    if not is_shown and not only_looks(call.name, call.args) and not asks_about_itself(call):
        call.note("high", "runs commands on other machines", call.command.text)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(
        "kubectl oc helm k9s kustomize flux argocd aws gcloud az doctl hcloud linode-cli ibmcloud oci eksctl gsutil kops "
        "istioctl helmfile nomad consul etcdctl velero bq openstack scw aliyun yc".split(),
        _cluster,
    ),
    **dict.fromkeys(("terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf"), _provisions),
    **dict.fromkeys(
        "vercel netlify fly flyctl heroku firebase wrangler railway render serverless sls sam eb cap amplify supabase surge "
        "gh-pages now".split(),
        _deploys,
    ),
    **dict.fromkeys(
        "ansible ansible-playbook ansible-pull salt puppet chef-client knife fabric pssh pdsh cssh vagrant packer".split(),
        _remote_runs,
    ),
}
