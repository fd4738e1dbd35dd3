"""What a path means, judged as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk, places, secrets_list
from trunkline.dialects.risk.places import Places

HERE = Places.of("/home/u/proj", ["/home/u/proj", "/srv/shared"], "/home/u")


@every_row(
    ("path", "kind"),
    [
        ("x", "inside"),
        ("./a/../b", "inside"),
        ("/home/u/proj", "inside"),
        ("$PWD/x", "inside"),
        ("$(pwd)/x", "inside"),
        ("~/proj/x", "inside"),
        ("/srv/shared/x", "inside"),
        ("/home/u/project", "home"),
        ("..", "home"),
        ("../x", "home"),
        (".?/x", "home"),
        (".*/.?/etc/x", "outside"),
        (".?/.?/.?/etc/x", "system"),
        (".?/.?/.?/.?/.?/x", "system"),
        (".?/proj/x", "inside"),
        (".[!.]*/x", "inside"),
        ("~/x", "home"),
        ("$HOME/x", "home"),
        ("/data/x", "outside"),
        ("/etc/passwd", "system"),
        ("//etc/passwd", "system"),
        ("/", "system"),
        ("/tmp/x", "temp"),
        ("$TMPDIR/x", "temp"),
        ("/dev/null", "null"),
        ("/dev/fd/3", "null"),
        ("/dev/sda", "raw"),
        ("/dev/../dev/nvme0n1p1", "raw"),
        ("/dev/ttyUSB0", "device"),
        ("/dev/tcp/1.2.3.4/80", "net"),
        ("~/.bashrc", "startup"),
        ("~/.ssh/authorized_keys", "startup"),
        ("~/Library/LaunchAgents/x.plist", "startup"),
        (".git/hooks/x", "hook"),
        ("sub/.git/config", "hook"),
        (".claude/settings.local.json", "agent"),
        ("$X/y", "unknown"),
        ("a/$X", "unknown"),
    ],
)
def test_a_path_has_a_kind(path: str, kind: str) -> None:
    assert HERE.kind(path) == kind


@pytest.mark.parametrize(("path", "kind"), [("x", "inside"), ("../x", "outside"), ("/opt/x", "elsewhere"), ("~/x", "home")])
def test_without_roots_a_path_elsewhere_is_outside_of_nothing(path: str, kind: str) -> None:
    assert Places.of(None, [], None).kind(path) == kind


@every_row(
    "path",
    [
        "~/.ssh/id_rsa",
        "$HOME/.ssh/config",
        "/home/other/.aws/credentials",
        "/root/.ssh/id_ed25519",
        "../.netrc",
        "~/.config/gh/hosts.yml",
        "~/.docker/config.json",
        "/etc/shadow",
        "/proc/1/environ",
        "~/.ssh/*",
        "~/.s?h/id_r*",
        "$X/.ssh/id_rsa",
        "~/.SSH/ID_RSA",
    ],
)
def test_the_users_credentials_are_known(path: str) -> None:
    assert HERE.secret(path) == "own"


@every_row("path", [".env", ".env.production", "config/secrets.yml", "server.key", "a/b/credentials.json", ".env*"])
def test_credentials_of_the_project_are_known(path: str) -> None:
    assert HERE.secret(path) == "project"


@every_row(
    "path", ["~/.ssh/id_rsa.pub", "~/.ssh/known_hosts", ".env.example", "src/keys.py", "*.py", "tests/data/key.pem"]
)
def test_what_only_looks_like_credentials_is_none(path: str) -> None:
    assert HERE.secret(path) == ""


@given(st.from_regex(secrets_list.OWN) | st.from_regex(secrets_list.PROJECT))
def test_no_path_of_credentials_is_passed_over_quickly(path: str) -> None:
    assert secrets_list.may_match(path)


@given(st.from_regex(places._HOOK) | st.from_regex(places._AGENT) | st.from_regex(places._STARTUP))
def test_no_path_of_a_hook_an_agent_or_a_login_is_passed_over_quickly(path: str) -> None:
    assert places.may_be_special(path)


def test_after_a_change_of_folder_paths_are_relative_to_it() -> None:
    assert HERE.moved("/etc").resolve("x") == "/etc/x"
    assert HERE.moved("..").kind("x") == "home"
    assert HERE.moved(None).resolve("x").startswith("?")
    assert HERE.moved(None).kind("x") == "unknown"


AT_HOME = Places.of("/home/u", ["/home/u"], "/home/u")


@every_row(("path", "kind"), [
    ("~/.bashrc", "startup"), (".bashrc", "startup"), ("/home/u/.zshrc", "startup"), (".ssh/config", "startup"),
    (".config/fish/config.fish", "startup"), (".npmrc", "startup"), (".gitconfig", "startup"), (".cargo/config.toml", "startup"),
    (".local/bin/ls", "startup"), (".git/hooks/pre-commit", "hook"), ("proj/.git/hooks/pre-commit", "hook"),
    (".claude/settings.json", "agent"), (".netrc", "home"), (".anything/else", "home"),
    ("notes.txt", "inside"), ("proj/.gitignore", "inside"), ("proj/.npmrc", "loaded"), ("proj/.bashrc", "startup"),
])
def test_what_a_login_runs_is_that_in_a_session_of_the_home_too(path: str, kind: str) -> None:
    assert AT_HOME.kind(path) == kind
    if not path.startswith(("~", "/")):
        assert Places.of("/home/u", ["/home/u"], None).kind(path) == kind, "where the home is not known but looks like one"
        assert Places.of("/home/u", ["/"], "/home/u").kind(path) == kind, "where the root lies above the home"


@pytest.mark.parametrize("path", [".gitignore", ".env.example", ".vimrc", ".github/x.yml"])
def test_a_project_keeps_its_own_dot_files(path: str) -> None:
    assert HERE.kind(path) == "inside"
    assert Places.of("/home/u/.config/app", ["/home/u/.config/app"], "/home/u").kind(path) == "inside"


LOADED = """
    .envrc sub/.envrc .vscode/tasks.json .vscode/launch.json .vscode/settings.json .idea/workspace.xml
    .idea/runConfigurations/x.xml
    .npmrc
    pkg/.npmrc .yarnrc .yarnrc.yml .yarn/releases/yarn.cjs .github/workflows/ci.yml .github/actions/x/action.yml
    .gitea/workflows/x.yml
    .forgejo/workflows/x.yml .gitlab-ci.yml .circleci/config.yml .travis.yml .drone.yml .woodpecker.yml .buildkite/pipeline.yml
    .cirrus.yml
    Jenkinsfile ci/Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml lefthook.yml .pre-commit-config.yaml .devcontainer.json
    .devcontainer/devcontainer.json .devcontainer/Dockerfile .cargo/config.toml .mvn/extensions.xml .bazelrc .dir-locals.el .ENVRC
""".split()
HARMLESS = """
    .gitignore .gitattributes .editorconfig .prettierrc .prettierrc.json .prettierignore .eslintrc .eslintrc.json .eslintignore
    .dockerignore
    .npmignore .nvmrc .python-version .stylelintrc .markdownlint.json .flake8 .coveragerc .browserslistrc .vscode/extensions.json
    .github/CODEOWNERS .github/pull_request_template.md .github/dependabot.yml .vscode .github/workflows .env.example .gitkeep
    docs/pipelines.md src/jenkins.py
""".split()


@every_row("root", ["/home/u/proj", "/srv/app", "/tmp/x"])
@every_row("path", LOADED)
def test_what_a_projects_programs_run_by_themselves_is_that_wherever_the_root_is(path: str, root: str) -> None:
    assert Places.of(root, [root], "/home/u").kind(path) == "loaded"
    assert explain_risk("Write", {"path": path, "content": "x"}, cwd=root, roots=[root], home="/home/u").level == "high"
    assert explain_risk("Bash", {"command": f"echo x > {path}"}, cwd=root, roots=[root], home="/home/u").level == "high"


@every_row("path", [".husky/pre-commit", ".git/hooks/pre-push", ".git/config", ".mcp.json", ".vscode/mcp.json",
                    ".claude/settings.json", ".kiro/hooks/x", ".cursor/mcp.json", ".aider.conf.yml", "crush.json"])
@every_row("root", ["/home/u/proj", "/srv/app", "/home/u"])
def test_hooks_and_agents_settings_are_high_wherever_the_root_is(path: str, root: str) -> None:
    assert explain_risk("Write", {"path": path, "content": "x"}, cwd=root, roots=[root], home="/home/u").level == "high"


@every_row("path", HARMLESS)
def test_a_projects_other_dot_files_are_files_like_others(path: str) -> None:
    for root in ("/home/u/proj", "/srv/app"):
        assert Places.of(root, [root], "/home/u").kind(path) == "inside"
        assert explain_risk("Write", {"path": path, "content": "x"}, cwd=root, roots=[root], home="/home/u").level == "medium"


@every_row("path", [path for path in HARMLESS if path[:1] == "."])
def test_every_dot_file_of_a_home_is_high(path: str) -> None:
    for home in ("/home/u", None):
        assert explain_risk("Write", {"path": path, "content": "x"}, cwd="/home/u", roots=["/home/u"], home=home).level == "high"


@pytest.mark.parametrize("path", [".envrc", ".github/workflows/ci.yml", "Jenkinsfile", ".vscode/settings.json"])
def test_what_programs_run_by_themselves_may_be_read_as_before(path: str) -> None:
    level = explain_risk("Bash", {"command": f"cat {path}"}, cwd="/srv/app", roots=["/srv/app"], home="/home/u").level
    assert level == ("medium" if path == ".envrc" else "low"), "direnv's file may hold credentials"
