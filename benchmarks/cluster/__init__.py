"""Hubs in a cluster, all on this machine: servers, owners and gateways as processes.

    world.py      servers with their streams, and hubs that are nodes
    commits.py    (B) what being in a cluster costs a commit; (E) what ``--commit all`` adds
    delivery.py   (C) a reader at another node beside one at the owner
    shipping.py   (D) entries to the stream, against the journal that they come from
    batches.py    (H) messages one by one, beside atomic batches
    crowd.py      (F) readers of one session at three gateways
    directory.py  (G) ten thousand sessions in the directory, and what a remote session takes

Rule: servers, hubs, agents and readers share the machine's cores here; ratios say more than rates.
"""
