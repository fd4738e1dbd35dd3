"""How an editor's messages travel: over one WebSocket (``socket.py``), or over streamable HTTP (``http.py``, with the connections
that there are in ``connections.py`` and the streams that it reads in ``streams.py``). What a message means is not known here.
"""
