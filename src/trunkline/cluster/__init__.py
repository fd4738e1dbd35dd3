"""Beyond one machine: hubs that show each other's sessions, on NATS JetStream.

The local journal commits first; what it has is copied to a replicated stream, and other nodes read that stream. Nothing here
decides anything by itself: who leads, what is stored and in which order is the streams' own.

Rule 1: a hub without ``--cluster`` imports nothing of this package.
Rule 2: only what is here speaks to NATS. The faces above get objects, and give an application to be run.
Rule 3: an answer that did not come says nothing. Whatever is sent may be sent again with the same id.
"""
