"""Who may do what: credentials, tokens, devices.

    credentials.py  who is asking          tokens.py   what a token may do       scopes.py   what an act needs
    login.py        codes and cookies      cookies.py  how a cookie is written
    devices.py      pairing and revoking   pairings.py its codes                 tries.py    how often one may fail
    reach.py        the address for other devices
    joining.py      a cluster's tokens, codes and cookies, in shared_tokens.py and shared_pairings.py; loaded with one only
"""
