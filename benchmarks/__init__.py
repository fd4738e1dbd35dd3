"""Ratios against a bare pipe and a raw server, in one run on one machine.

    agent.py      the agent of every run: writes chunks that were encoded beforehand
    machine.py    processes, CPU time, memory
    wire.py       the smallest HTTP client that can do the job
    readers.py    a process that only reads streams and counts frames
    rawserver.py  what a server could do at best: the same frames, written straight to the sockets
    memoryhub.py  the hub without SQLite, as a control
    scenarios.py  what is measured of the hub
    everyday.py   what is measured of many sessions that write a little each
    creation.py   what a session's creation adds to its agent's start
    relays/       what everyday.py measures with: the hub, a bare pipe and other programs, each in the same way
    page.py       what is measured of the page, in a browser
    tunnel.py     what the tunnel between two nodes costs; node.py is such a node
    cluster/      what is measured of hubs in a cluster
    against.py    this tree and an older commit, in turns
    __main__.py   ``python -m benchmarks [letters] [--rounds N] [--quick]``

Rule: never an absolute figure where a ratio can be had; variants are interleaved, medians are told.
"""
