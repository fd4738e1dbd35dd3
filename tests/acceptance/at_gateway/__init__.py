"""The faces' acceptance tests once more, against a gateway that owns nothing.

Each module runs the tests of its namesake in ``tests/acceptance/``, but for those that look into the hub's own folder or process:
there the owner is another one.
"""
