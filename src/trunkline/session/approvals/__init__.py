"""Permissions and questions: who may answer, until when, and what the agent gets for an answer.

    approvals.py    from the ask to its one answer          gatekeeper.py   what the rules say of it
    long_asks.py    the same of long commands, off the loop forms.py        answers as people give them
"""
