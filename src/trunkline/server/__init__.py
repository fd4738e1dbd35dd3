"""Faces over HTTP: one noun, one module.

    listen     sockets → requests (uvicorn)
    app        a request → a reply: Host and Origin, route, credential, error → response, headers
    routes     the table of everything that is answered; OpenAPI and the docs are made from it
    call       what a handler gets: the request, who asked, the parts it may use; bodies within limits
    tokens     who may do what, stored hashed             auth      which credential a request carries
    login      codes, cookies and tokens over HTTP        options   what can be set
    sessions   sessions and how they are steered          packets   the packets face
    sse        one stream to one reader                   content   one file to one reader
    files      files, search, diff, upload                preview   artifacts and their previews
    page       `/` and `/assets/*`                        ops       health, metrics, OpenAPI, docs page

Rule 1: no business rule lives here: a handler decodes, calls the hub, encodes.
Rule 2: one face never imports another.
Rule 3: what a small hub does not need at start (prometheus-client) is imported where it is used.
"""
