"""Speaks an agent's language: bytes in, signals out; acts in, bytes out.

    base.py         what every driver offers, and what a session gives it
    acp/            agents that speak the Agent Client Protocol
    stream_json/    the one agent that is spoken to in its own language, lines of JSON
    watch.py        a session that somebody else's agent writes into a file
    elsewhere.py    what programs ask that others run                line.py    a live line to such a program
    live_text.py    what such a line tells before the file has it
    link.py         the one driver of a session: started when it is needed, kept, stopped
    daemons.py      what an agent left running on purpose
"""
