"""The acp face: every session of the hub for editors, which speak the Agent Client Protocol: ``/acp``. In the order of a request:

    transport/     how messages travel: over a WebSocket, or over streamable HTTP
    connection.py  messages to and from the editor       tasks.py       what is being done because of them
    agent.py       requests, answered                    faults.py      errors as numbers
    handshake.py   who is connected, what is offered     offers.py      our own additions
    sessions.py    requests about sessions               listing.py     the sessions, page by page
    attachment/    one session as the editor sees it: its prompts, what it is sent of the journal

Rule 1: a session belongs to the hub. A connection that ends takes nothing with it.
Rule 2: a request is answered exactly once; what it may do is what the caller's token may.
Rule 3: what we add to the protocol stands in ``_meta.trunkline``, or in methods that begin with ``_trunkline/``.
"""

from __future__ import annotations

PATH = "/acp"
