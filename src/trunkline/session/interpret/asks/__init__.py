"""What an agent asks of people: from the ask to the answer.

    asks.py       permissions                          questions.py       questions, and their answers
    subjects.py   which calls an ask is about          policy_asks.py     what the rules look at in it
    preview.py    what a person is shown beforehand    requested.py       how it is described, and its event
    waiting.py    how much may wait, and until when    joined.py          asks under an id that is no call's
    denied.py     who did not allow it, and why        tool_questions.py  questions through a tool of the agent
"""
