"""Commands about sessions, from a script or another terminal: seen (``sessions``, ``tail``), prompted (``send``), answered
(``approve``, ``deny``, ``answer``)."""
