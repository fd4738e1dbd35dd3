"""Commands: a person's and a script's way to the hub, through its HTTP API.

    main.py            from the first line to the exit code     group.py      the commands by name, imported when called
    exits.py           what they return                         interrupt.py  Ctrl-C, before and in a command
    read_settings.py   where settings are read from             command.py    flags from their table, one loop, tables, JSON
    hosting/           a hub on this machine                    terminal/     what a person sees and types
    serve.py           what can be refused before a hub starts  run.py        one turn, watched
    acp/               an agent to an editor                    check/        whether an agent keeps to the protocol
    agents.py · audit.py · devices.py · journal.py · pair.py · policy.py · sessions.py · status.py · stop.py

Rule: only ``hosting`` imports the hub and the server; everything else is a client like any other.
"""
