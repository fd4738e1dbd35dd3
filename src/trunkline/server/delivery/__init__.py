"""Telling those who are not looking.

    webhooks/   programs, by signed requests      push/   paired browsers, by their push services
    addresses.py, post.py   where something may be sent, and one request
"""
