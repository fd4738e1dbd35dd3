"""A session that changes nodes: its owner lets it go, or is away; another one takes it in, under the next epoch.

    history     what the new owner gets: the session's row, its state and all of its entries, as a stream of bytes
    letting_go  the owner stops the agent, ships the rest, and holds the session until it is another's
    taking_in   the new owner writes the history into its own journal, claims the session, and goes on

Rule 1: the claim decides, under the stream's fence. Whatever fails before it leaves the session where it was.
Rule 2: within one pool only: a node's key writes the journals of its own pool, and no other key can claim there.
Rule 3: whoever moves a session reads its history and sends it: a runner's key reads nobody's journal.
"""
