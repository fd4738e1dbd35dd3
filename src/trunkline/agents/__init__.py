"""Step 1 of the data path: a running agent.

``catalog`` says what can be run, ``process`` runs it (the only place that spawns), ``demo`` is the agent we ship.

Rule 1: nothing here knows what the bytes mean; that is ``dialects``.
Rule 2: this module imports nothing: the demo starts through it, and must start fast.
"""
