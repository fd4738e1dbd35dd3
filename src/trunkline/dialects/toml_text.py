"""Values as TOML writes them: texts, switches, numbers, lists, tables in one line. ``tomllib`` reads the same again.

Rule: pure, and only for what we write ourselves; a file that a person wrote is never written anew as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: str | bool | int | Sequence[Any] | Mapping[str, Any]) -> str:
    """Booleans, numbers and strings of JSON are those of TOML, but for the one control character that only TOML wants escaped."""
    if isinstance(value, str | bool | int):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_key(key)} = {toml_value(each)}' for key, each in value.items())} }}" if value else "{}"
    return f"[{', '.join(map(toml_value, value))}]"


def toml_key(key: str) -> str:
    """A key: bare where it may be, else in quotes."""
    return key if _BARE.fullmatch(key) else toml_value(key)
