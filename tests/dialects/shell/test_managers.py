"""Managers of versions, packages and workspaces: which of their words are the command that they run."""

from __future__ import annotations

import shlex

from tests.tooling.rows import every_row
from trunkline.dialects.shell.managers import Managed, bound_texts, managed


def _run(line: str) -> Managed | None:
    words = tuple(shlex.split(line))
    return managed(words[0], words)


@every_row(("line", "begins"), [
    ("volta run --node 20 npm test", "npm test"), ("fnm exec --using=20 node x", "node x"),
    ("fnm exec --using 20 node x", "node x"),
    ("nvm exec 20 node x", "node x"), ("pyenv exec pytest -q", "pytest -q"), ("asdf exec make", "make"),
    ("mise x node@20 -- node x", "node x"), ("mise exec -- make all", "make all"), ("npm exec -- eslint .", "eslint ."),
    ("npm x eslint .", "eslint ."), ("npm exec -p eslint eslint .", "eslint ."), ("pnpm -F web exec vite build", "vite build"),
    ("pnpm --filter web exec -- vite build", "vite build"), ("yarn workspace web exec vite", "vite"),
    ("yarn workspaces foreach exec make", "make"), ("lerna exec --scope web -- make all", "make all"),
    ("nx exec -- make", "make"),
    ("nix develop -c make all", "make all"), ("nix shell nixpkgs#x --command make", "make"),
])
def test_the_words_behind_the_verb_and_its_options_are_the_command(line: str, begins: str) -> None:
    found = _run(line)
    assert found is not None and " ".join(shlex.split(line)[found.begins:]) == begins


@every_row(("line", "text"), [
    ("mise x -c 'make all'", "make all"), ("npm exec -c 'make all'", "make all"), ("npm exec --call='make all'", "make all"),
    ("npm exec -- 'make all'", "make all"), ("yarn exec 'make all'", "make all"), ("lerna exec 'make all'", "make all"),
    ("pnpm exec -c make all", "make all"), ("pnpm exec --shell-mode 'make all'", "make all"),
])
def test_a_text_for_a_shell_is_given_as_a_text(line: str, text: str) -> None:
    assert _run(line) == Managed((text,))


@every_row("line", [
    "npm install", "npm run build", "pnpm install exec", "yarn add exec", "mise install", "nvm use 20", "volta list", "nix build",
    "nix develop", "pyenv exec", "mise x", "npm exec", "npm --version", "pyenv",
])
def test_a_manager_that_runs_nothing_of_its_words_gives_nothing(line: str) -> None:
    assert _run(line) is None


def test_words_that_only_the_run_knows_are_no_verb_and_no_text() -> None:
    assert managed("npm", ("npm", None, "exec", "x")) is None
    assert managed("npm", ("npm", "exec", None)) == Managed(begins=2)
    assert managed("pnpm", ("pnpm", "exec", "-c", "make", None)) == Managed(begins=3)


@every_row(("line", "texts"), [
    ("fzf --bind 'enter:execute(less {})'", ("less {}",)), ("fzf --bind='ctrl-r:reload[ls]'", ("ls",)),
    ("fzf --bind 'enter:become:vim {}'", ("vim {}",)), ("fzf --bind 'a:execute(ls),b:execute(cat)'", ("ls", "cat")),
    ("fzf --bind 'ctrl-a:select-all'", ()), ("fzf --preview 'cat {}'", ()), ("fzf", ()),
])
def test_what_keys_of_a_finder_run_is_found_in_whatever_brackets(line: str, texts: tuple[str, ...]) -> None:
    assert bound_texts(shlex.split(line)) == texts
