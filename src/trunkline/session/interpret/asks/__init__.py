"""What an agent asks of people: from the ask to the answer.

    asks.py      permissions and questions            subjects.py   which calls an ask is about
    preview.py   what a person is shown beforehand    joined.py     asks under an id that is no call's
    denied.py    who did not allow it, and why        questions.py  questions through a tool of the agent
    waiting_bytes.py   how much all that waits holds
"""
