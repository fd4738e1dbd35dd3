"""The nodes of a cluster as people deal with them: which there are, where a new session goes, which takes none.

    marks         what outlives a node's lease: that it was there, that it drains, that it is gone for good
    standing      every node, as people see it
    placement     the node for a new session
    start_places  the same for one that is started under a key: once, at whichever gateway

Rule: nothing here decides who has a session. That is the stream's fence alone.
"""
