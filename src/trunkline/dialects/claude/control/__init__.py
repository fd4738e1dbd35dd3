"""Control: what the CLI asks of us and what we send to it.

    requests.py   control requests, both ways      asks.py       permissions and questions that are open
    questions.py  ``AskUserQuestion`` as forms     outgoing.py   the lines that we write to its stdin
"""
