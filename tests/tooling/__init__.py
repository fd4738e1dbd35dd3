"""What the tests of the whole stand on: a hub as a process, clients that speak only the wire, agents and models that obey."""
