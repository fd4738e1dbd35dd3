"""``trunkline cluster``: hubs that show each other's sessions. What is not steering speaks to the
cluster's servers, and needs no hub.

    init.py     the streams and buckets, and the servers' configuration
    looking.py  who is there, what they have, how the streams are
    sweeping.py what deleted sessions left in the streams
    steering.py which node takes sessions, and which has one; these ask a hub of the cluster
    reaching.py a connection for one command

Rule: without the extra ``cluster`` of the package it says what to install, and nothing else.
"""

from __future__ import annotations

import click

from trunkline.cli.commands import GuessingGroup
from trunkline.cli.commands.cluster.init import init
from trunkline.cli.commands.cluster.looking import nodes, status
from trunkline.cli.commands.cluster.steering import drain, forget, move
from trunkline.cli.commands.cluster.sweeping import sweep


@click.group(cls=GuessingGroup, short_help="Set up and look at a cluster of hubs.")
def command() -> None:
    """Set up and look at a cluster of hubs.

    A cluster is one or three NATS servers with JetStream, and hubs that are started with --cluster.
    """


for each in (init, status, nodes, drain, forget, move, sweep):
    command.add_command(each)
