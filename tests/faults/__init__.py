"""Faults that were found by attack, each as a bounded test on a real hub.

Rule 1: a test reports its figures (tried, held, worst time, lost) by the ``report`` fixture, which also asserts them; the
table of ``make test-faults`` is made of them.
Rule 2: traffic stays on loopback, counts and times are bounded, and every process that a test starts is ended by pid.
Rule 3: hostile text is data: it is written to files by a program and passed as strings, never run.
"""
