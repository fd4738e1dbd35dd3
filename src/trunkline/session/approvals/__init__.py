"""What waits for a person, and who answers it: rules first, then people, then the clock.

    approvals.py       asks and questions that are open           decisions.py   what people decide and answer
    gatekeeper.py      what the rules say of a call               long_asks.py   the same for a long command, off the loop
    session_rules.py   the rules that decisions stand for         grants.py      what was allowed, exactly
    timeouts.py        how long they wait for somebody            answers.py     what goes back to whoever asked
    forms.py           what fits the form of a question
"""
