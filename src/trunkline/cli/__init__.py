"""Commands: a person's and a script's way to the hub, through its HTTP API.

    main       from the first line to the exit code           group     the commands by name, imported when called
    exits      what they return                               interrupt Ctrl-C, before and in a command
    settings   every setting in one table                     command   flags from it, one loop, tables, JSON
    datadir    the lock, hub.json and log of a data folder    locate    find the hub, or start one
    serve      what can be refused before a hub starts        hosting   the hub in this process    browser  its page
    run        one turn, watched                              show      packets for a reader       screen   a terminal
    ask        permissions and questions                      form      a question's fields
    agents · sessions · status · stop

Rule: only ``hosting`` imports the hub and the server; everything else is a client like any other.
"""
