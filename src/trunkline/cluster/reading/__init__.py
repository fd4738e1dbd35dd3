"""Sessions of other nodes, read from the cluster's stream.

    decoding  a stored message becomes entries       reader  the journal's reads, in pages of the stream
    index     where in the stream a seq is           follow  one session, live: what is stored is said again

Rule 1: a cursor is a ``seq``. It goes on at every node, and over a stream that was put together again.
Rule 2: what the stream has and we cannot read is shown as a gap, or as a kind that we do not know; a reader never stands still.
"""
