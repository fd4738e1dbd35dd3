"""Commands for who runs agents in terminals: answered from anywhere (``hooks``, ``shell-init``), while one is away (``away``,
``here``), and with a session that changes hands (``continue``, ``release``)."""
