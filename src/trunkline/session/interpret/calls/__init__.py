"""Tool calls: from the first sign of one to its result.

    tools.py      announced, changed, ended, in whatever order the agent says it     facts.py     one call, read once
    evidence.py   what an update says beside its fields                              bodies.py    inputs and outputs, bounded
    output.py     what a running call prints                                         blocks.py    calls in a message's blocks
    endings.py    result, error, or the turn's end                                   outcome.py   completed, but failed
    structured.py, spliced.py, leftover.py, event_meta.py: what the events carry of it
"""
