"""Commands: a person's and a script's way to the hub, through its HTTP API. In the order in which a call passes them:

    main.py            from the first line to the exit code      exits.py   the exit codes, and Ctrl-C before there is a loop
    commands/          the list of commands, and a file or folder for each
    common.py          what commands share: flags from the table of settings, one loop, tables, JSON
    naming.py          what a name means      waiting.py   what waits, by its name      completing.py   what Tab completes
    read_settings.py   where settings are read from
    hosting/           a hub on this machine: found, started, kept in order
    terminal/          what a person sees and types

Rule: only ``hosting`` imports the hub and the server; everything else is a client like any other.
"""
