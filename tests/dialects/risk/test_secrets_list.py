"""Where credentials are kept: the quick look leaves out nothing that the patterns would find."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.secrets_list import OPEN, OWN, PROJECT, SAMPLES, VARIABLE, may_match


@every_row("path", [*SAMPLES, ".env", "config/secrets.yml", "deploy/server.pem", "terraform.tfstate", "tokens.json",
                    "app/credentials.json", "x/wallet.dat", "passwords.txt", "~/.zsh_history"])
def test_what_is_a_credential_passes_the_quick_look(path: str) -> None:
    assert OWN.search(path) or PROJECT.search(path)
    assert may_match(path)


@every_row("path", ["src/main.py", "readme.md", "/usr/bin/make", "docs/keys.md", "environment.py"])
def test_everyday_files_are_none(path: str) -> None:
    assert not OWN.search(path) and not PROJECT.search(path)


@every_row("path", ["~/.ssh/id_rsa.pub", "~/.ssh/known_hosts", ".env.example", "tests/data/server.pem"])
def test_what_only_looks_like_one_is_open(path: str) -> None:
    assert OPEN.search(path)


@every_row(("text", "named"), [
    ("echo $GITHUB_TOKEN", True), ("${AWS_SECRET_ACCESS_KEY}", True), ("$api_key", True), ("$HOME", False), ("TOKEN", False)])
def test_a_variable_that_is_named_like_a_credential_is_found(text: str, named: bool) -> None:
    assert bool(VARIABLE.search(text)) is named
