"""A session's files over HTTP.

    files.py     look, read, find      content.py   one file to one reader     uploads.py   files put there
    diff.py      what changed (git.py: by git)      preview.py  artifacts shown under an address of their own,
    images.py    pictures of entries   folders.py   folders to start a session in      by keys (preview_keys.py)
"""
