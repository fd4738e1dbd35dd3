"""Parsers of outside bytes under mutated input: one target each, with the inputs that taught us something kept beside it.

    targets.py   what is fed, one function per parser      corpora/<target>/   small inputs, replayed and mutated
    mutate.py    one input becomes another                 run.py              a pass over one target, and what it found
    python -m tests.fuzz [TARGET …] --minutes 10 --keep    a long run; keeps new inputs

Rule 1: a target ends in a value or in an error of our tree. Anything else that it raises is a finding.
Rule 2: no input takes more than its share of time, and a longer one takes no more than linearly longer.
Rule 3: the mutator is seeded: a finding is found again by the same seed, and its input is printed.
Rule 4: inputs are data. A line of shell is read, never run.
"""
