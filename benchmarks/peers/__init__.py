"""Other programs that stand between an agent and its readers, driven as ``benchmarks/relays`` drives the hub.

    sandbox_agent.py   a server that stores nothing: requests by POST, updates by SSE
    stdio_to_ws.py     a pipe to a WebSocket
    sdk.py             the official Python client of the protocol, in a process of its own: sdk_client.py
    places.py          where they are installed, free ports, waiting for a first answer
    run.py             all workloads over all of them
    table.py           what docs/performance.md says of it
    __main__.py        ``python -m benchmarks.peers [--rounds N] [--quick]``

Their versions are pinned in ``package.json`` beside this and in ``requirements/peers.txt``; ``make bench-peers`` installs them.
"""
