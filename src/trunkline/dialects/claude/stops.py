"""How a turn ended: the CLI's ``result`` as a stop reason or an error."""

from __future__ import annotations
