"""The cluster's small tables: one bucket each, key by key under a fence, and a copy of each in every node's memory.

    keys.py    write, take and read single keys          table.py   the copy that follows a bucket
    lease.py   something that one node has at a time
"""
