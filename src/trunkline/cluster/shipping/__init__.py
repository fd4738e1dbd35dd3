"""What is committed here, copied to the cluster's stream: each session in order, each group once.

    verdict    what an answer means: the table                 line       one session's way to the stream
    outbox     what a session has that the stream has not      parts      entries too large for one message
    ledger     how far each session is, over restarts          shipper    all sessions: fed by commits, bounded, paced
    quarantine what a session had when another took it over    claim      taking over a session

Rule 1: the local journal commits first. What is here may be lost at any time: it is made again from the journal and the stream.
Rule 2: one message of a session is in flight. What is committed meanwhile goes with the next.
Rule 3: right without the stream's memory of ids: fences and a look at the last message decide.
"""
