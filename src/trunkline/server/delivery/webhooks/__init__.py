"""Webhooks: let a program know that a session needs somebody who is not looking.

    rules.py       what goes to whom                     notices.py    what in the journal is worth sending
    notifier.py    follows the hub, sends when nobody watches
    ledger.py      what is owed, kept over a stop        sender.py     one body to one webhook, signed
"""
