"""Which language a file is written in, by its name; "" where its name does not say."""

from __future__ import annotations

import os.path
from typing import Final

_ENDINGS: Final[dict[str, str]] = {
    language_ending: language
    for language, endings in {
        "python": ".py .pyi", "javascript": ".js .mjs .cjs .jsx", "typescript": ".ts .mts .cts .tsx", "html": ".html .htm",
        "css": ".css", "scss": ".scss .sass", "json": ".json .jsonl .jsonc", "yaml": ".yaml .yml", "toml": ".toml",
        "markdown": ".md .mdx .markdown", "text": ".txt", "shell": ".sh .bash .zsh .fish", "rust": ".rs", "go": ".go",
        "java": ".java", "kotlin": ".kt .kts", "swift": ".swift", "c": ".c .h", "cpp": ".cc .cpp .cxx .hpp .hh", "csharp": ".cs",
        "ruby": ".rb", "php": ".php", "perl": ".pl .pm", "lua": ".lua", "r": ".r", "scala": ".scala", "dart": ".dart",
        "elixir": ".ex .exs", "erlang": ".erl", "haskell": ".hs", "clojure": ".clj .cljs", "sql": ".sql", "xml": ".xml .svg",
        "vue": ".vue", "svelte": ".svelte", "graphql": ".graphql .gql", "protobuf": ".proto", "hcl": ".tf .hcl",
        "ini": ".ini .cfg", "zig": ".zig", "nix": ".nix", "tex": ".tex", "notebook": ".ipynb", "diff": ".diff .patch",
        "csv": ".csv",
    }.items()
    for language_ending in endings.split()
}
_NAMES: Final[dict[str, str]] = {"dockerfile": "dockerfile", "makefile": "makefile", "cmakelists.txt": "cmake"}


def language_of(path: str) -> str:
    """The language of a file."""
    name = os.path.basename(path).lower()
    return _NAMES.get(name) or _ENDINGS.get(os.path.splitext(name)[1], "")
