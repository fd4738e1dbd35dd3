"""The packets face: a web product sends a prompt and reads packets.

    packets.py   its routes      turns.py   one turn as a stream      history.py   stored packets by the page
"""
