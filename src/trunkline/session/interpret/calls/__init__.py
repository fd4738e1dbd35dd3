"""Tool calls: from the first sign of one to its result.

    tools.py      writes the entries of a call                                 followed.py   which calls, what is known of each
    facts.py      one call, read once                                          evidence.py   what an update has beside its fields
    endings.py    result, error, or the turn's end                             outcome.py    completed, but failed
    terminals.py  what the hub's terminals print for calls                     packets.py    a call as a progress packet
    output.py     what a running call prints                                   bodies.py     inputs and outputs, bounded
    structured.py, long_outputs.py, leftover.py, event_meta.py: what the events carry of it; blocks.py: calls in message blocks
"""
