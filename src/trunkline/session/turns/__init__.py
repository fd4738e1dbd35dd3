"""Turns: a prompt, what comes of it, exactly one end; and what holds them.

    prompts.py      prompts taken, queued, changed, taken back     turn.py       one turn after the other
    hold.py         paused, resumed, ended for good                spending.py   caps, and what happens at them
    beginnings.py   how a session begins: new, adopted, followed, recovered
"""
