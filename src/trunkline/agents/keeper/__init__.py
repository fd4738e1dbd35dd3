"""The processes between the hub and its agents: each agent has a parent of its own, its keeper.

    hub ──starts once──▶ nursery ──forks──▶ keeper ──forks, execs──▶ agent ──▶ whatever it starts
     └───────────── control socket of each ───┘                        │
     └───────────── the agent's own stdin, stdout, stderr ─────────────┘

``link`` is the hub's side. ``nursery`` and ``parent`` are the programs of the two kinds of process; ``launch`` is what happens
between fork and exec, ``proc`` what the kernel reports of processes, ``cgroup`` a second net where the system lends one, ``wire``
what the two sides say to each other.

Rule 1: a keeper is the subreaper of all that its agent starts. An orphan becomes the keeper's child, whatever it did to its
session, its group and its environment; so the keeper knows whose it is, reaps it, and ends it with its agent.
Rule 2: a keeper ends its agent when the hub wants it, and when its control socket ends: the hub cannot die without its agents.
Rule 3: a keeper is a fork of one small, already started process: no interpreter starts per agent, nothing is added to the
agent's pipes. Modules that run there import nothing of Trunkline and little else, and run on the bare standard library.
Rule 4: the nursery is a subreaper too. When somebody kills a keeper, what it kept comes to the nursery, which ends it. When
somebody kills the nursery, keepers go on, and the hub starts another for the next agent.
Rule 5: what comes from a keeper is text that is checked: its agent runs as the same user and may meddle with it.
"""
