"""Web Push."""
