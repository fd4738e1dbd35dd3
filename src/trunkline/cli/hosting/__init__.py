"""A hub on this machine: started, found, kept in order.

    hosting.py   a hub in this process        locate.py      find one, or start one
    datadir.py   its lock, address, log       logs.py        how it logs
    secrecy.py   its memory is its own        loop_guard.py, collecting.py   nothing holds its loop
"""
