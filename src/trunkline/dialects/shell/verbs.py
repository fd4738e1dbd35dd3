"""Programs whose sub-command decides what they do, and the options that may stand before it: a row for each.

Rule 1: an option that a row does not know may take the next word. That word is then either its value or the sub-command, and
there is a reading for each. Who judges takes the worst of them; who denies is sure only where there is one.
Rule 2: a row has what the program's manual says of its options before the sub-command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

READINGS: Final = 12
"""Ways to read one command that are looked at."""


class Verbs(NamedTuple):
    """The options of a program that may stand before its sub-command."""

    takes: frozenset[str] = frozenset()
    """These take the next word; so do words that name something (``yarn workspace x``)."""
    flags: frozenset[str] = frozenset()
    """These take nothing."""
    groups: frozenset[str] | None = frozenset()
    """Behind these words another sub-command follows, with options before it as well; None: behind any."""


class Reading(NamedTuple):
    """One way to read a command: without the options before its sub-command."""

    places: tuple[int, ...]
    """The words that are left, by index."""
    is_sure: bool
    """Whether nothing but rows was needed for it."""


def _row(takes: str = "", flags: str = "", groups: str | None = "") -> Verbs:
    return Verbs(frozenset(takes.split()), frozenset(flags.split()), None if groups is None else frozenset(groups.split()))


def _same(names: str, row: Verbs) -> dict[str, Verbs]:
    return dict.fromkeys(names.split(), row)


_CLOUD: Final = _row(
    "--profile --region --output -o --endpoint-url --query --ca-bundle --cli-read-timeout --cli-connect-timeout --color "
    "--cli-binary-format --project --account --configuration --format --verbosity --zone --billing-project --filter --limit "
    "--impersonate-service-account --access-token-file --subscription -g --resource-group --context --config --token -t "
    "--access-token -a --app --org --address -address --namespace -namespace --cluster --auth",
    "--debug -q --quiet --verbose --only-show-errors -y --yes --log-http -m --json -j --force", None)
VERBS: Final[dict[str, Verbs]] = {
    "git": _row("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source",
                "-p -P --paginate --bare --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs "
                "--html-path --man-path --info-path --exec-path -v --version -h --help"),
    **_same("docker podman nerdctl docker-compose podman-compose", _row(
        "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile "
        "--env-file --project-directory --ansi --parallel --progress --connection --root --runroot --url --identity --address "
        "--namespace -n",
        "-D --debug --tls --tlsverify --compatibility --dry-run --all-resources --remote -r -v --version",
        "compose container image volume network system builder buildx pod machine stack secret config context node service "
        "swarm plugin trust manifest alpha")),
    **_same("kubectl oc", _row(
        "-n --namespace --context --cluster --user --kubeconfig -s --server --as --as-group --as-uid --token --cache-dir "
        "--certificate-authority --client-certificate --client-key --request-timeout --tls-server-name --profile "
        "--profile-output -v --v --vmodule --username --password --log-dir --log-file --loglevel",
        "--insecure-skip-tls-verify --warnings-as-errors --match-server-version --disable-compression -A --all-namespaces",
        "config rollout auth adm alpha")),
    **_same("helm helmfile", _row(
        "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-user --kube-as-group --kube-ca-file --kube-token "
        "--kube-tls-server-name --registry-config --repository-cache --repository-config --burst-limit --qps -f --file -e "
        "--environment -l --selector",
        "--debug --kube-insecure-skip-tls-verify -q --quiet -i --interactive", "repo plugin registry dependency")),
    **_same("npm cnpm pnpm yarn bun", _row(
        "--prefix -C --dir --cwd -w --workspace --filter -F --registry --userconfig --globalconfig --loglevel --tag --otp "
        "--cache --scope --access --node-options --script-shell --omit --include --store-dir --reporter --config --use-yarnrc "
        "--modules-dir --network-timeout --cache-folder workspace",
        "-s --silent -q --quiet -d -dd -ddd --verbose --json -g --global -f --force --long -y --yes -D -r --recursive "
        "--workspaces --ws --if-present --ignore-scripts --offline --prefer-offline --production --legacy-peer-deps "
        "--frozen-lockfile --immutable --parallel --stream --save-dev --save-exact --dry-run --workspace-root "
        "--include-workspace-root --bun --hot --watch --smol -i -v --version -h --help", "npm global workspaces")),
    **_same("pip pip3", _row(
        "--python --log --proxy --retries --timeout --cert --cache-dir --exists-action --trusted-host --client-cert "
        "--use-feature --use-deprecated --keyring-provider",
        "-q -qq -v -vv -vvv --quiet --verbose --isolated --require-virtualenv --debug -V --version")),
    **_same("uv poetry pdm pipenv hatch rye pixi", _row(
        "--directory --project --config-file --color --cache-dir --python -p -C -P --allow-insecure-host -e --env --data-dir "
        "--config --manifest-path",
        "-q -v -vv --quiet --verbose --offline -n --native-tls --ansi -V --version", "pip tool self")),
    "cargo": _row("--config -Z -C --color --manifest-path --target-dir --explain",
                  "-q -v -vv --quiet --verbose --locked --offline --frozen --list -V --version"),
    "rustup": _row("", "-q -v --quiet --verbose", "toolchain target component override self"),
    **_same("terraform tofu", _row("", "-help -version -no-color --help --version", "state workspace")),
    "terragrunt": _row("--working-dir --terragrunt-working-dir --config --terragrunt-config --log-level --queue-include-dir "
                       "--queue-exclude-dir --parallelism --iam-assume-role", "--non-interactive --all -a --no-color",
                       "run run-all stack"),
    **_same("pulumi cdk cdktf", _row(
        "-C --cwd --color -s --stack --tracing --profiling -a --app -c --context --profile -o --output --toolkit-stack-name -r "
        "--role-arn", "-e --emoji --logtostderr --logflow --verbose -v --debug --json -j --non-interactive",
        "stack state config")),
    **_same("aws gcloud az doctl hcloud linode-cli ibmcloud oci eksctl flyctl fly heroku gsutil vault consul nomad etcdctl "
            "argocd flux istioctl vercel netlify firebase wrangler railway supabase bq openstack scw", _CLOUD),
    **_same("systemctl loginctl hostnamectl timedatectl machinectl localectl networkctl resolvectl", _row(
        "-H --host -M --machine -t --type -p --property -P --state -s --signal -n --lines -o --output --root --job-mode "
        "--kill-whom --kill-who -C --capsule --image",
        "--user --system --global -q --quiet -a --all -l --full --now -f --force --plain -r --recursive --wait --runtime "
        "--failed --version -h --help")),
    **_same("gh glab tea", _row("-R --repo --hostname -F --jq", "", None)),
    **_same("apt apt-get aptitude apt-cache dnf yum microdnf zypper apk brew snap flatpak", _row(
        "-o --option -c --config-file -t --target-release --root -R --installroot --repo --enablerepo --disablerepo -x --exclude "
        "--setopt -p --releasever --repository --arch --installation",
        "-y -q -qq -s -v -d -f -m -u -V -b --yes --quiet --assume-yes --assumeyes --simulate --dry-run --user --system "
        "--allow-downgrades --best --cask --formula -n --non-interactive --fix-broken --reinstall")),
    **_same("conda mamba micromamba", _row("-n --name -p --prefix -r --root-prefix --rc-file", "-q -v -y --yes --quiet --json",
                                           "env")),
    "go": _row("-C", "", "mod work"),
    **_same("composer", _row("-d --working-dir", "-n -q -v -vv -vvv --no-interaction --ansi --profile", "global")),
    **_same("bundle gem", _row("--gemfile --config-file", "--verbose --quiet")),
    "hg": _row("-R --repository --cwd --config --encoding --encodingmode --color --pager", "-y -q -v --quiet --verbose --debug "
               "--traceback --time --profile --hidden --noninteractive"),
    "svn": _row("--config-dir --config-option --username --password", "-q --quiet --non-interactive --trust-server-cert"),
    "jj": _row("-R --repository --at-op --at-operation --config --config-file --color", "--quiet --debug --ignore-working-copy",
               "git op operation bookmark branch workspace"),
    **_same("virsh lxc incus", _row("-c --connect -d --debug -k --keepalive-interval -l --log --project --target",
                                    "-q --quiet -r --readonly -t --timing -v --verbose")),
    **_same("ansible-galaxy ansible-vault", _row("", "-v -vv -vvv", "collection role")),
    **_same("dotnet", _row("--roll-forward --additionalprobingpath --fx-version", "-d --diagnostics", "nuget tool sln workload")),
}
"""One row per program; a program without one has no sub-command that decides."""


def readings(words: Sequence[str]) -> list[Reading]:
    """The ways to read a command, its options before the sub-command left out; none where it has no such options. ``words`` begin
    with the program, without its folder."""
    row = VERBS.get(words[0]) if words else None
    if row is None or len(words) < 3:
        return []
    found = list(islice(_read(words, 1, [0], row, True), READINGS))
    return [one for one in dict.fromkeys(found) if len(one.places) < len(words)]


def has_more_readings(words: Sequence[str]) -> bool:
    """Whether there are more ways to read a command than are looked at: it may be any of the program's sub-commands."""
    row = VERBS.get(words[0]) if len(words) > READINGS else None
    return row is not None and next(islice(_read(words, 1, [0], row, True), READINGS, None), None) is not None


def _read(words: Sequence[str], at: int, begun: list[int], row: Verbs, is_sure: bool) -> Iterator[Reading]:
    """The reading in which every word behind an unknown option is its value, then those in which one of them is not."""
    kept = list(begun)
    either: list[tuple[int, int]] = []
    """Words that may be a value, and how many were kept before each."""
    while at < len(words):
        word = words[at]
        if word[:1] == "-" and len(word) > 1 and word != "--":
            if _takes_next(word, row):
                at += 2
            elif _takes_nothing(word, row) or at + 1 >= len(words) or words[at + 1][:1] == "-":
                at += 1
            else:
                either.append((at + 1, len(kept)))
                at += 2
        elif word in row.takes:
            at += 2
        elif word[:1] == "+" and at == 1:
            at += 1  # a toolchain: ``cargo +nightly``
        elif _is_group(word, row):
            kept.append(at)
            at += 1
        else:
            break
    if at != begun[-1] + 1 or len(kept) != len(begun):
        yield Reading((*kept, *range(at, len(words))), is_sure and not either)
    for place, before in either:
        yield Reading((*kept[:before], *range(place, len(words))), False)
        if _is_group(words[place], row):
            yield from _read(words, place + 1, [*kept[:before], place], row, False)


def _takes_next(word: str, row: Verbs) -> bool:
    """Whether an option takes the next word, alone or as the last of a bundle."""
    return word in row.takes or (_is_bundle(word) and f"-{word[-1]}" in row.takes and _are_flags(word[1:-1], row))


def _takes_nothing(word: str, row: Verbs) -> bool:
    """Whether an option has its value with it, or is known to have none."""
    if "=" in word or word in row.flags or word.startswith("--no-"):
        return True
    return _is_bundle(word) and (word[:2] in row.takes or _are_flags(word[1:], row))


def _is_bundle(word: str) -> bool:
    return word[1] != "-" and len(word) > 2


def _are_flags(letters: str, row: Verbs) -> bool:
    return all([f"-{letter}" in row.flags for letter in letters])


def _is_group(word: str, row: Verbs) -> bool:
    return row.groups is None or word in row.groups
