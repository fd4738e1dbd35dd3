"""The audit trail of approvals: sealed, each with the seal of the one before.

    chain.py   the seals (pure)     key.py   the key they are made with     log.py   how far the chains had come
"""
