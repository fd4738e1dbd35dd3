"""Sessions that people run in terminals: their programs ask through hooks, and are answered from here, too.

    trunkline_hook.py   what their programs start: stdin to the hub's socket, the answer to stdout
    socket.py           the hub's end of it            desk.py       an ask becomes an approval of its session, and ends
    door.py             opens it; the desk is loaded by the first call                    ending.py    how an ask ends there
    there.py            asks that only their terminals can answer: watched, and told      panes.py     a key in a tmux pane
    sessions.py         sessions by their programs' ids                                   foreign.py   hooks of others
    notices.py          what people are told of a terminal that waits for them
    lines/              live lines: programs that tell what they do, and take prompts
    plugins/            what runs in programs that have plugins and no hooks
    install.py          hooks put into a vendor's settings file, and taken out again      shapes.py   what is put there
    settings_file.py    such a file as text: members put in and taken out, all else as it was
    shell_functions.py  what a shell starts a program with

Rule: the terminal stays in charge. Whatever goes wrong in here, its program asks its person as if we were not there.
"""
