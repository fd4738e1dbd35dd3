"""The packets face: a web product sends a prompt and reads packets.

    frames.py    the packet of an entry, and what one write sends
    packets.py   its routes      turns.py   one turn as a stream      history.py   stored packets by the page
"""
