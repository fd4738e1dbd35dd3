"""What goose says: its messages as it stores them, and its hooks.

Rule: pure, as every dialect.
"""
