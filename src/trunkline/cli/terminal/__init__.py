"""A person's terminal: what is shown there, and what is asked.

    screen.py   lines and streamed text     show.py   packets in words
    ask.py      permissions and questions   form.py   one field after the other
    card.py     what is asked, in lines     outlet.py where standard output leads
"""
