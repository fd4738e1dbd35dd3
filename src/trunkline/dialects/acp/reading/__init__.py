"""From an agent's bytes to typed values: what agents really write, read as what the schema says.

    decode    bytes to typed values; the hot path for text    lenient   the schema's parsing policy
    aliases   names in circulation that the schema does not   large     updates of many megabytes
              know, for input only

Read ``decode`` first. Nothing here writes: what we send is written by ``shape``.
"""
