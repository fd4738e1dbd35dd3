"""What is done to a cluster: each fault strikes, lasts for a while and is mended.

Rule: whom it strikes is chosen by the dice that it is given, and nothing else.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from typing import Final, NamedTuple

from tests.faults.cluster.net import cut_all, mend_all, slow_all, stall_all
from tests.faults.cluster.servers import leader_of
from tests.faults.cluster.world import World
from tests.tooling.nats import NatsServer

Mend = Callable[[], None]
Strike = Callable[[World, random.Random], Mend]
SLOW_S: Final = 0.05
MOVED: Final = 3
MOVE_S: Final = 60.0
"""A move that is not answered by then hangs."""


class Fault(NamedTuple):
    """What, how, and for how long at least and at most."""

    what: str
    strike: Strike
    least_s: float
    most_s: float


def _owner(world: World, dice: random.Random) -> str:
    return dice.choice(list(world.owners))


def _gateway(world: World, dice: random.Random) -> str:
    return dice.choice(list(world.gateways))


def _leader(world: World, dice: random.Random) -> NatsServer:
    return leader_of(world.servers) or dice.choice(world.servers)


def _follower(world: World, dice: random.Random) -> NatsServer:
    leader = leader_of(world.servers)
    return dice.choice([server for server in world.servers if server is not leader])


Who = Callable[[World, random.Random], str]
Which = Callable[[World, random.Random], NatsServer]


def kill_hub(who: Who) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        hub = world.hubs[who(world, dice)]
        hub.kill()
        return hub.start

    return strike


def freeze_hub(who: Who) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        name = who(world, dice)
        world.freeze(name)
        return lambda: world.thaw(name)

    return strike


def kill_server(which: Which, how: signal.Signals = signal.SIGKILL) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        server = which(world, dice)
        server.kill(how)
        return server.start

    return strike


def kill_two(world: World, dice: random.Random) -> Mend:
    some = dice.sample(world.servers, 2)
    for server in some:
        server.kill()

    def mend() -> None:
        for server in some:
            server.start()

    return mend


def freeze_server(which: Which) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        server = which(world, dice)
        server.freeze()
        return server.thaw

    return strike


def cut_hub(who: Who) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        links = world.links[who(world, dice)]
        cut_all(links)
        return lambda: mend_all(links)

    return strike


def stall_hub(who: Who, *, forth: bool = True, back: bool = True) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        links = world.links[who(world, dice)]
        stall_all(links, forth=forth, back=back)
        return lambda: mend_all(links)

    return strike


def slow_hub(who: Who) -> Strike:
    def strike(world: World, dice: random.Random) -> Mend:
        links = world.links[who(world, dice)]
        slow_all(links, SLOW_S)
        return lambda: mend_all(links)

    return strike


def part_leader(world: World, dice: random.Random) -> Mend:
    """The leader is cut off from the other servers, and not from the hubs."""
    assert world.linked is not None
    links = world.linked.around(_leader(world, dice))
    stall_all(links)
    return lambda: mend_all(links)


def move_some(world: World, dice: random.Random) -> Mend:
    """Some sessions go on at another owner, whatever they are doing."""
    for session_id in dice.sample(list(world.sessions), min(MOVED, len(world.sessions))):
        others = [name for name in world.owners if name != world.sessions[session_id]]
        answer = world.move(session_id, dice.choice(others), MOVE_S)
        assert answer.status in (200, 409, 412, 503, 504), answer
    return world.locate


OF_HUBS: Final = [
    Fault("SIGKILL of an owner", kill_hub(_owner), 0.0, 2.0),
    Fault("SIGKILL of a gateway", kill_hub(_gateway), 0.0, 2.0),
    Fault("an owner frozen", freeze_hub(_owner), 1.0, 13.0),
    Fault("a gateway frozen", freeze_hub(_gateway), 1.0, 13.0),
    Fault("an owner's network cut", cut_hub(_owner), 0.0, 4.0),
    Fault("an owner's network silent both ways", stall_hub(_owner), 1.0, 12.0),
    Fault("an owner's network silent towards the servers", stall_hub(_owner, back=False), 1.0, 12.0),
    Fault("an owner's network silent towards the owner", stall_hub(_owner, forth=False), 1.0, 12.0),
    Fault("an owner's network slow", slow_hub(_owner), 1.0, 5.0),
    Fault("a gateway's network cut", cut_hub(_gateway), 0.0, 4.0),
    Fault("a gateway's network silent both ways", stall_hub(_gateway), 1.0, 12.0),
    Fault("a gateway's network silent towards the servers", stall_hub(_gateway, back=False), 1.0, 12.0),
    Fault("a gateway's network silent towards the gateway", stall_hub(_gateway, forth=False), 1.0, 12.0),
    Fault("a gateway's network slow", slow_hub(_gateway), 1.0, 5.0),
    Fault("sessions moved to another owner", move_some, 0.0, 1.0),
]
OF_ONE_SERVER: Final = [
    Fault("SIGKILL of the server", kill_server(_leader), 0.0, 4.0),
    Fault("the server ended properly", kill_server(_leader, signal.SIGTERM), 0.0, 4.0),
    Fault("the server frozen", freeze_server(_leader), 1.0, 10.0),
]
OF_THREE_SERVERS: Final = [
    Fault("SIGKILL of a follower", kill_server(_follower), 0.0, 4.0),
    Fault("SIGKILL of the leader", kill_server(_leader), 0.0, 8.0),
    Fault("the leader ended properly", kill_server(_leader, signal.SIGTERM), 0.0, 4.0),
    Fault("SIGKILL of two servers of three", kill_two, 1.0, 6.0),
    Fault("a follower frozen", freeze_server(_follower), 1.0, 10.0),
    Fault("the leader frozen", freeze_server(_leader), 1.0, 12.0),
    Fault("the leader cut off from the other servers", part_leader, 1.0, 10.0),
]
