"""Reaching those who are not looking: programs by signed requests, paired browsers by their push services.

    following.py   what is new in the hub, and work that waits for its time
    outbox.py      deliveries on their way: tried, tried again, given up
    addresses.py   where something may be sent                post.py   one request to one checked address
    records.py     small files of what is owed or shown, which may be begun anew
    webhooks/      rules, notices, signatures                 push/     subscriptions, notes, encryption

Rule 1: a delivery grants nothing. Whoever follows its link has to be let in there.
Rule 2: a delivery never makes a session wait, and never goes where it could reach what only this machine can reach.
"""
