"""One way to the node that owns a session: HTTP and WebSockets in messages of NATS.

    subjects   where messages go, and who may send them     frames   the bytes of one message
    heads      what a request and its answer begin with      flow     numbers and credits of one end
    link       one end that others wait at                   switch   a node's links: which message is whose
    owner      runs the application for what comes in        gateway  sends a request to the owner, and its answer back
    repeating  the same request again, under the same id     duplex   messages both ways, for editors

Rule 1: every message of a tunnel is numbered. One that is missing ends the tunnel with an error, never with a short body.
Rule 2: whoever sends pieces needs credit for them. A reader that stalls holds one window, wherever it stalls.
Rule 3: nobody waits for ever: who is away is told at once, who is silent after ``SILENT_S``, who is slow at its deadline.
Rule 4: a caller's token never enters a tunnel; who it is, and how far it may go, does.
"""
