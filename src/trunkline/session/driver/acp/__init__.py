"""The driver of agents that speak the Agent Client Protocol over stdio: we are their client.

    driver.py    requests and updates of a running agent    opening.py   the handshake and the way into a session
    asks.py      which request waits for which answer       prompts.py   what the agent takes in a prompt
    listing.py   the sessions that an agent has             limits.py    how much it may have us do at once
"""
