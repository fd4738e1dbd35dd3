"""Live lines: what a program tells while somebody uses it in a terminal, and what it is told from here.

    lines.py            the lines of one hub, open for agents whose person has agreed      consent.py   that they have
    server_line.py      a program that serves terminals on a socket          program_socket.py   whose socket that is
    plugin_line.py      a plugin of ours in the program                      file_pairs.py       two files for each start
    line_sessions.py    the sessions that a program tells of                 live.py             one session's line

Rule: a line that fails costs nobody a session. Its file is followed as ever, and its terminal asks.
"""
