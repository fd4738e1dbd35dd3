"""Whether this Python's regular expressions can be trusted with possessive repetitions of groups.

Before 3.11.5 they lose the beginning of what a group matched: ``rm`` is read as ``m``. There every line goes to the grammar,
which gives the same and takes longer.
"""

from __future__ import annotations

import sys
from typing import Final

READS_POSSESSIVE: Final = sys.version_info >= (3, 11, 5)
