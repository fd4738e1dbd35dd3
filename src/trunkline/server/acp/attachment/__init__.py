"""One session as one editor sees it: its place in the journal, and what becomes a message to it on the way.

    attachments.py  the sessions that the editor has open    attachment.py  one of them: a position that is read on
    updates.py      updates as it may get them               event_messages.py  what else the journal holds for it
    asks.py         permissions and questions, put to it     prompts.py     its prompts that are not answered yet
    usage.py        what a turn took                         settings.py    modes and options, as it may see them
"""
