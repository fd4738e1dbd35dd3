"""Webhooks: tell somebody who is not looking that a session needs them.

    rules.py       what is to be told to whom            notices.py    what in the journal is worth telling
    notifier.py    follows the hub, tells when nobody watches
    ledger.py      what is owed, kept over a stop
    outbox.py      signs, sends, tries again             addresses.py  where a webhook may go
    post.py        one request to one checked address

Rule 1: a webhook grants nothing. Its link opens the page, and whoever opens it has to be let in there.
Rule 2: a webhook never makes a session wait, and never goes where it could reach what only this machine can reach.
"""
