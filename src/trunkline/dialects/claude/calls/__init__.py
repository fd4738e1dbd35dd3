"""Tool calls, as the Agent Client Protocol has them; the same for the stream and for transcripts.

    tools.py     kind, title, places of a call      calls.py     the calls of a conversation, first sign to result
    results.py   how a call ended                   patches.py   what it changed in a file
"""
