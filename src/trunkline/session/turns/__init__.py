"""Turns: a prompt, what comes of it, exactly one end; and what holds them.

    turns.py     what people do with them                       prompts.py    prompts taken, queued, changed, taken back
    turn.py      one turn after the other                       spending.py   caps, and what happens at them
    elsewhere.py turns of a session that runs elsewhere, by a live line
    ending.py    what is done when one ends                     hold.py       paused, resumed, ended for good
"""
