"""A cluster over HTTP: its nodes. A hub without one answers that it has none, and loads nothing of it."""
