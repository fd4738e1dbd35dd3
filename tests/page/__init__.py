"""The page in a real browser, against a real hub.

    person.py     somebody at a browser: logs in, looks, and notes whatever a page must never do
    journal.py    what the hub's history says, to hold against what the page shows
    conftest.py   one browser for all, a fresh profile for each person

Rule 1: what is on the page is found as people find it: by role, label and text.
Rule 2: nothing is slept for. A test waits until something is so, and fails with what is there instead.
Rule 3: an error in the console, a request to elsewhere or a breach of the page's policy fails the test, whatever it tests.
"""
