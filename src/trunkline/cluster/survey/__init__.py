"""How a cluster is at this moment, for people who look: the server that answers, the streams, the nodes and who has what.

    server.py   the server that this connection is with, and its clock
    streams.py  each stream and bucket: what is in it, of how much, on whom, and whether it is set as we need it
    members.py  the nodes, how many sessions each has, when one was last heard of

Rule: nothing is written, and no hub is asked. What a key may not see is said to be so.
"""
