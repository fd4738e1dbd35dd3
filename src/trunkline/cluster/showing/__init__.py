"""Sessions of all nodes, shown by this one: from the stream and the directory, without asking their owners.

    remote.py      one session of another node           opened.py    those that somebody reads
    everything.py  what happens in all sessions           listed.py    all of them in a list, and what waits
    sight.py       all of that together with this hub's own sessions

Rule 1: what is shown is in the stream: no machine that dies can take it back.
Rule 2: a cursor is a ``seq`` of its session, which is the same at every node, or a place in the stream, which says of which
        generation of the stream it is.
Rule 3: nothing is listened to for nobody.
"""
