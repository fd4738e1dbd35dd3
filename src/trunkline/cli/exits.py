"""Exit codes of the commands, in one place."""

from __future__ import annotations

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_REFUSAL = 3
EXIT_MAX_TOKENS = 4
EXIT_MAX_REQUESTS = 5
EXIT_LOCKED = 75
"""Another hub has the data folder; sysexits calls this "try again"."""
EXIT_INTERRUPTED = 130
"""What shells say of a program that Ctrl-C ended."""
EXIT_BROKEN_PIPE = 141
"""What shells say of a program whose reader left."""
