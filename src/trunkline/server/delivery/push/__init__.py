"""Web Push: a paired device is told of what waits for it, through the push service of its own browser.

    face.py            GET, POST and DELETE /push            subscriptions.py  who is told what, in ``push.json``
    keys.py            the hub's key pair, in ``push.key``   crypt.py          RFC 8291, 8188 and 8292, without I/O
    notes.py           what is told of an entry              pusher.py         follows the hub
    told.py            which asks were told of, in ``push.told``
    sender.py          one message to one push service, tried again, given up

Rule 1: a push grants nothing. What it says is encrypted for the one browser; acting on it needs that browser's cookie.
Rule 2: a push never makes a session wait, and never goes where it could reach what only this machine can reach.
Rule 3: who is not let in is not told: each message is sent only if the token behind the subscription still counts.
Rule 4: nothing of this is loaded by a hub that nobody wants pushes from.
"""
