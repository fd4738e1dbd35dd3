"""What a tool call did, read from its result: each kind of effect has its own event.

    changes.py   files (diff.py, patches.py, languages.py, disk.py)     git.py         repositories
    web.py       pages and searches on the web                          search.py      code that was found
    subagents.py agents that the agent started
"""
