"""Speaks an agent's language: bytes in, signals out; acts in, bytes out.

    base.py         what every driver offers, and what a session gives it
    acp/            agents that speak the Agent Client Protocol
    stream_json/    the one agent that is spoken to in its own language, lines of JSON
    watch.py        a session that somebody else's agent writes into a file
    link.py         the one driver of a session: started when it is needed, kept, stopped
    daemons.py      what an agent left running on purpose
"""
