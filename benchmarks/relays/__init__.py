"""What stands between an agent and its readers, measured the same way each: nothing at all, a hub, or another program.

    stub.py       the agent of all of them: light enough for hundreds, stamps each chunk with the time of its write
    reading.py    one reader for all streams of a run: plain descriptors, the time from a chunk's stamp to its arrival
    processes.py  CPU time of a process and of what it has started, without the agents
    relay.py      what every relay can be asked for: sessions, prompts, a window of paced chunks, echoes, new sessions, fan-out
    bare.py       nothing in between: the agent's own pipe
    hub.py        the hub, by its packets
    workloads.py  what is measured of relays, in turns

Rule: same agent, same reader, same phases of the agents; relays take turns within a round.
"""
