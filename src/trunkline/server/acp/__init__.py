"""The acp face: every session of the hub for editors, which speak the Agent Client Protocol: ``/acp``.

    socket.py      over a WebSocket                     http.py, streams.py   over streamable HTTP
    connection.py  messages to and from the editor      tasks.py       what is being done because of them
    agent.py       requests, answered                   handshake.py   who is connected, what is offered
    sessions.py    requests about sessions              attachments.py the sessions that the editor has open
    attachment.py  one session as the editor sees it    prompts.py     its prompts that are not answered
    updates.py     updates as it may get them           events.py      what else the journal says
    asks.py        permissions and questions, put to it usage.py       what a turn took
    settings.py    modes and options                    offers.py      our own additions
    listing.py     the sessions, page by page           faults.py      errors as numbers

Rule 1: a session belongs to the hub. A connection that ends takes nothing with it.
Rule 2: a request is answered exactly once; what it may do is what the caller's token may.
Rule 3: what we add to the protocol stands in ``_meta.trunkline``, or in methods that begin with ``_trunkline/``.
"""

from __future__ import annotations

PATH = "/acp"
