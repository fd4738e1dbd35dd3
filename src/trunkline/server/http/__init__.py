"""HTTP as bytes: sockets, connections, limits. Nothing in here knows a route.

    listen.py     the server                          door.py          connections come in
    protocol.py   requests from bytes, with bounds    ws_protocol.py   the same for WebSockets
    connections.py who makes room for whom            address.py       where a request comes from
    answer.py     an answer in as few writes as can be
"""
