"""Where credentials are kept: patterns for paths and for names of variables. Paths come lower-cased, a home as ``~``."""

from __future__ import annotations

import re
from typing import Final

OWN: Final = re.compile(
    r"(^|/)\.(ssh|aws|gnupg|azure|kube|password-store|electrum|bitcoin|ethereum|mozilla|thunderbird|oci|chef|vault-token|netrc"
    r"|pgpass|my\.cnf|s3cfg|boto|git-credentials|pypirc|htpasswd|dockercfg|authinfo(\.gpg)?|msmtprc|smbcredentials)(/|$)"
    r"|~/\.(npmrc|yarnrc\.yml|env|databrickscfg)$"
    r"|(^|/)\.(kaggle/kaggle\.json|snowsql/config|(fly|netlify)/config\.(ya?ml|json)|wrangler/config/default\.toml"
    r"|nuget/nuget/nuget\.config|(cache/)?huggingface/(stored_)?tokens?)$"
    r"|~/\.[^/]+/([^/]+/){0,4}([\w-]{0,40}[-_.])?(token|credentials?|secrets?|api_?keys?|keys?|auth|logins?|cookies)"
    r"(\.(json|ya?ml|toml|txt|ini|cfg|sqlite))?$|~/\.[^/]+/.*\.(pem|p12|pfx|p8|jks|keystore|ppk|key|env)$"
    r"|~/\.[^/]+/([^/]+/){0,4}(keys|secrets|private[-_]keys|keystores?|wallets|credentials)/[^/]+$"
    r"|~/\.[^/]+/([^/]+/){0,4}([\w-]{0,40}[-_.])?(vault[-_]pass\w{0,9}|pw|passw(or)?d|passphrase|accounts\.\w{1,5}|sec\.conf|key[34]\.db"
    r"|history\.sqlite)$"
    r"|~/\.(terraformrc|aliyun|bluemix|openai|wandb|purple|pki|puppetlabs|mutt|irssi|weechat|jira\.d|tailscale|heroku|duplicati|expo)(/|$)"
    r"|~/\.(mylogin\.cnf|fetchmailrc|offlineimaprc|mbsyncrc|muttrc|sentryclirc|near-credentials|cloudflared|ngrok2|age|argocd|railway"
    r"|render|aptos|sui|signal|subversion/auth|foundry/keystores|hex/hex\.config|dbt/profiles\.yml"
    r"|jupyter/jupyter_\w{0,20}config\.json)(/|$)"
    r"|\.docker/config\.json|\.terraform\.d/credentials|\.cargo/credentials|\.gem/credentials|\.m2/settings|\.gradle/gradle\.properties"
    r"|\.config/(gcloud|gh|op|rclone|doctl|hub|git/credentials|github-copilot|solana|containers/auth\.json|google-chrome|chromium|hcloud"
    r"|exercism|stripe|pulumi|openai|weechat|himalaya|restic|borg|eas|jira|netlify|vercel|heroku|fly|configstore|bravesoftware|microsoft-edge|vivaldi|opera|slack|discord|signal|bitwarden"
    r"|keepassxc|filezilla|ngrok|linode-cli|scw|glab-cli|tea|wandb|argocd|flyctl|sops|age|helm/registry|nuget|neomutt|wireguard"
    r"|code/user/globalstorage)(/|$)"
    r"|\.local/share/(keyrings|kwalletd|com\.vercel\.cli|telegramdesktop)"
    r"|library/(keychains|cookies|application support/(google/chrome|firefox|bitwarden"
    r"|1password))"
    r"|\.(bash|zsh|python|node_repl|psql|mysql|sqlite|irb)_history$|~/\.(\w{1,40}_history|zhistory|histfile|lesshst|viminfo)$|\.local/share/fish/fish_history"
    r"|\.claude/\.credentials|\.codex/auth|\.gemini/(oauth_creds|google_accounts)|\.config/opencode/auth|opencode/auth\.json"
    r"|\.qwen/oauth|\.trunkline/.*(token|key)|trunkline/(token|.*\.key)$"
    r"|(^|/)id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|(^|/)wallet\.dat$|\.kdbx$"
    r"|^/etc/(g?shadow|sudoers|master\.passwd|ssh/ssh_host_.*_key|ssl/private|krb5\.keytab|security/opasswd|kubernetes|wireguard"
    r"|networkmanager/system-connections|ppp/\w{1,10}-secrets|letsencrypt/(live|archive|accounts|keys)|openvpn/.*\.key|ipsec\.secrets)"
    r"|^/proc/(\d+|self|\*|\$[^/]*)/(environ|mem|maps|cmdline)|^/(var/)?run/secrets|^/var/(lib/(docker|kubelet)|spool/cron)"
)
"""The user's own, or the machine's."""

PROJECT: Final = re.compile(
    r"(^|/)(\.env(\.[a-z0-9_.-]+)?|\.envrc|\.dev\.vars|secrets?(\.[a-z0-9_-]+)?\.(ya?ml|json|toml|ini|properties|txt|env)"
    r"|credentials?(\.[a-z0-9_-]+)?(\.(ya?ml|json|toml|ini|txt|csv))?|(client_secret|service[-_]?account)[^/]*\.json"
    r"|terraform\.tfstate(\.backup)?|[^/]*\.tfvars|\.npmrc|\.htpasswd|\.vault[-_]pass(word)?|master\.key|tokens?\.(json|txt)"
    r"|passwords?(\.[a-z]+)?|[^/]+\.(pem|p12|pfx|jks|keystore|ppk|key|asc|gpg))$"
)
"""Those that a project keeps beside its code."""

HINT: Final = re.compile(
    r"secret|credential|service|tfstate|tfvars|token|passw|_history|library/|opencode/|trunkline/|id_|wallet|\.kdbx"
    r"|^/etc/|^/proc/|run/|^/var/|\.(pem|p12|pfx|jks|keystore|ppk|key|asc|gpg)$"
)
"""A part of every path that ``OWN`` or ``PROJECT`` matches without a hidden name in it."""


def may_match(path: str) -> bool:
    """Whether a path can match ``OWN`` or ``PROJECT``; decided quickly, since most paths match neither."""
    folder, _, name = path.rpartition("/")
    return "." in folder or name[:1] == "." or HINT.search(path) is not None


OPEN: Final = re.compile(
    r"\.pub$|known_hosts(\.old)?$|\.env\.(example|sample|template|dist|defaults?|schema|test)$|(^|/)(pubkey\.asc|public\.key)$"
    r"|(^|/)(test|tests|fixtures|testdata|examples?|docs?)/.*\.(pem|key|crt)$|/cacert\.pem$|/ca-bundle|/certs?/ca"
)
"""Looks like the above and is public."""

CERTIFICATE: Final = re.compile(r"(^|/)[^/]{0,80}(cert|chain|ca|public|pub)[^/]{0,20}\.(pem|asc|gpg)$")
"""Of what a project keeps, what is for everybody by its name."""

SAMPLES: Final = (
    "~/.ssh/id_rsa", "~/.ssh/id_ed25519", "~/.ssh/config", "~/.aws/credentials", "~/.aws/config", "~/.netrc", "~/.pgpass",
    "~/.git-credentials", "~/.docker/config.json", "~/.kube/config", "~/.gnupg/secring.gpg", "~/.config/gh/hosts.yml",
    "~/.bash_history", "~/.npmrc", "/etc/shadow", "/etc/sudoers", "/proc/self/environ", "~/.ssh", "~/.aws", "~/.gnupg",
)  # fmt: skip
"""What a path with wildcards is tried against."""

VARIABLE: Final = re.compile(
    r"\$\{?[!#]?([A-Za-z0-9_]*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|APIKEY"
    r"|AUTH_KEY|_PAT|_PWD)[A-Za-z0-9_]*)", re.IGNORECASE,
)  # fmt: skip
"""A variable that is named like a credential."""
