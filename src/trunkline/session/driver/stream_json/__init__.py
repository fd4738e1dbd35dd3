"""The driver of the one agent that is spoken to in its own language: lines of JSON, one process per conversation.

Read ``driver.py`` first: it lists the others.
"""
