"""Web Push: a paired device learns of what waits for it, through the push service of its own browser.

    face.py            GET, POST and DELETE /push            subscriptions.py  who gets what, in ``push.json``
    keys.py            the hub's key pair, in ``push.key``   crypt.py          RFC 8291, 8188 and 8292, without I/O
    notes.py           what is sent of an entry              pusher.py         follows the hub
    shown.py           which asks devices show, in ``push.told``
    sender.py          one note to one subscription, encrypted

Rule 1: what a push says is encrypted for the one browser; acting on it needs that browser's cookie.
Rule 2: who is not let in gets nothing: each message is sent only if the token behind the subscription still counts.
Rule 3: nothing of this is loaded by a hub that nobody wants pushes from.
"""
