"""The driver of agents that speak the Agent Client Protocol over stdio: we are their client. Read it in this order:

    connection.py  the process, its bytes, and our requests that wait    opening.py  the handshake and the way into a session
    driver.py      what a session has of a running agent                 turn.py     the prompt that runs, and how it ends
    asks.py        what a person decides, and which request waits        service.py  files and terminals for the agent
    limits.py      how much it may have us do at once                    listing.py  the sessions that an agent has
    usual_line.py  lines that differ in their text alone
"""
