"""Clusters, clouds and what deploys to them: kubectl, helm, terraform, aws. Rows, and code for what rows cannot express."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trunkline.dialects.risk.call import ProgramCall, Trait
from trunkline.dialects.risk.row_matching import judge_of, row

TERRAFORM_ROWS: Final = (
    row("apply destroy import taint untaint force-unlock up down refresh cancel", "high", "changes or deletes running systems",
        "terraform apply"),
    row("state", "high", "changes or deletes running systems", "terraform state rm x", then="rm mv push"),
    row("workspace", "high", "changes or deletes running systems", "terraform workspace delete x", then="delete"),
    row("init get console login new config stack", "medium", "prepares changes of running systems", "terraform init"),
)
_DESTROYS: Final = re.compile(
    r"^(delete|destroy|rm|remove|terminate|drop|purge|uninstall|drain|cordon|taint|apply|replace|rollback|reboot|stop|kill|unset|revoke|reset"
    r"|down|scale|deploy|release|publish|promote|up|upgrade|install|exec|ssh|wipe|flush|deregister|detach|disable)(-|$)"
)
_LOOKS: Final = re.compile(
    r"^(get|list|ls|describe|show|status|logs?|top|version|help|explain|plan|validate|fmt|output|graph|diff|config|whoami|info|history"
    r"|template|lint|search|events|tail|providers|console-url|env|view|check|cluster-info|api-resources|wait)(-|$)"
)


_CREDENTIAL: Final = re.compile(
    r"secrets?(/.*)?|get-secret-value|get-session-token|print-access-token|get-access-token|get-parameters?|export-credentials"
    r"|([\w-]+\.)?(aws_)?(secret_access_key|session_token)"
)


def _cluster(call: ProgramCall) -> None:
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


def _deploys(call: ProgramCall) -> None:
    verb = call.operands[0] if call.operands else ""
    if _LOOKS.match(verb) or call.longs & {"--version", "--help"}:
        return
    call.note(
        "medium" if verb in ("dev", "build", "start", "serve", "init", "run") else "high",
        "deploys or changes running systems",
        call.command.text,
    )


def _remote_runs(call: ProgramCall) -> None:
    if not call.has("C", "--check", "--list-hosts", "--syntax-check", "--version"):
        call.note("high", "runs commands on other machines", call.command.text)


JUDGES: Final[dict[str, Callable[[ProgramCall], None]]] = {
    **dict.fromkeys(
        "kubectl oc helm k9s kustomize flux argocd aws gcloud az doctl hcloud linode-cli ibmcloud oci eksctl gsutil kops "
        "istioctl".split(),
        _cluster,
    ),
    **dict.fromkeys(("terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf"), judge_of(TERRAFORM_ROWS)),
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
