"""Faces over HTTP: one noun, one module.

    listen     sockets → requests (uvicorn)                   options   what can be set
    door       accepts connections                            protocol  one connection: HTTP, its bounds and deadlines
    connections  who holds a connection, strangers and friends  address  where a request comes from
    app        a request → a reply: Host and Origin, route, credential, error → response, headers
    routes     the table of everything that is answered       openapi   the same, described for machines
    call       what a handler gets; bodies within limits
    tokens     who may do what, stored hashed                 auth      which credential a request carries
    login      codes, cookies and tokens over HTTP            page      the built web page
    cookies    a browser's cookie and its path                tries     how often somebody may be wrong
    sessions   start, list, steer                             prompt    what a prompt looks like
    packets    the packets face, on sse (one stream to one reader), turns (one turn of it) and history (stored pages)
    live       readers that stand at the end of a session
    files      look, read, find, on content (one file to one reader)
    uploads    put files                                      diff      what changed
    preview    artifacts and their previews                   ops       health, metrics, OpenAPI, docs page

Rule 1: no business rule lives here: a handler decodes, calls the hub, encodes.
Rule 2: one face never imports another.
Rule 3: what a small hub does not need at start (prometheus-client) is imported where it is used.
"""
