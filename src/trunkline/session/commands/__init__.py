"""What consumers send: the nine commands of the Agent Context Protocol, and the shapes of other acts.

    execute.py   the commands, carried out once each    refused.py   those that were refused, written down
    requests.py  decisions, answers, acknowledgements   slash.py     the slash commands that an agent offers
"""
