"""Faults of a cluster: hubs as processes, real nats-servers, links that are cut; clients speak HTTP to hubs and nothing else.

    net.py       links between processes, to be cut, stalled one way or both, and slowed down
    servers.py   three nats-servers with links between them, or one
    keys.py      a key for each, and what servers are told of them
    world.py     the servers and the hubs of a cluster, each hub behind links of its own
    load.py      sessions at work: who prompts, who watches at a gateway and at the owner, and what they count
    faults.py    what is done to them, and how it is mended
    judge.py     what became of it: lost, twice, out of order, two owners, done more than once, hung

Rule 1: what goes wrong depends on a seed, which a failure names.
Rule 2: every wait has an end, and no process outlives its test.
Rule 3: nothing needs root: a network that is cut is a proxy, a full disk a small one of a namespace of its own.
"""
