"""A newline-delimited JSON-RPC 2.0 peer: bytes in, messages out, and the other way round.

The contract is four verbs and no I/O: ``receive_data(bytes)``, ``messages_received()``, ``send_*()``, ``data_to_send()``,
plus ``receive_eof()``. Whoever owns the pipe or socket pumps the bytes.

Rule 1: nothing here raises at the driver. A line that is no message becomes a ``Malformed`` value at its place in the
order, and the lines around it survive.
Rule 2: a line is decoded once, as an envelope; params, results and ids stay the peer's own bytes.
Rule 3: an id is opaque. The peer's are echoed byte for byte; ours are integers, and the two never meet in one table.
One over ID_BYTES is refused with id null: it would have to be kept and sent back.
Rule 4: what has only one right answer is answered here: requests we do not serve (-32601), batches and requests
without a method name (-32600). Noise from an agent is never answered: agents log on stdout and would answer the answers.
Where we are the agent (``complains``), noise is answered as JSON-RPC says (-32700, -32600, id null).
Rule 5: nobody waits for a line that cannot be read. Where its id can be (``broken.py``), a request is refused by it, and an
answer ends what waited for it with an error. Where it cannot, whoever waits has a time of his own: ours are over when the agent
has been silent for ``idle_timeout``, or its time for that call is.

Two leniencies, both because the alternative is a dead session: the ``jsonrpc`` member is not looked at, and an answer
with neither ``result`` nor ``error`` counts as ``result: null`` (what JavaScript writes for an undefined result).

    messages.py   messages, as values              lines.py   bytes to lines
    envelope.py   a line to what it carries        peer.py    the peer
    broken.py     whom an unreadable line concerns
"""

from __future__ import annotations

from trunkline.dialects.jsonrpc.envelope import is_id
from trunkline.dialects.jsonrpc.lines import KEPT_OF_MALFORMED, MAX_LINE, LineSplitter
from trunkline.dialects.jsonrpc.messages import (
    CANCEL_REQUEST,
    ID_BYTES,
    NULL,
    Message,
    Notification,
    Request,
    Response,
    RpcError,
)
from trunkline.dialects.jsonrpc.peer import Peer
from trunkline.dialects.signals import Malformed

__all__ = [
    "CANCEL_REQUEST",
    "ID_BYTES",
    "KEPT_OF_MALFORMED",
    "MAX_LINE",
    "NULL",
    "LineSplitter",
    "Malformed",
    "Message",
    "Notification",
    "Peer",
    "Request",
    "Response",
    "RpcError",
    "is_id",
]
