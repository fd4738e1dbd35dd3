"""An upload to another node's session while something goes wrong in the middle of it: it is refused or whole, never short."""

from __future__ import annotations

import os
import random
import socket
import time

import pytest

from tests.faults.cluster.faults import OF_HUBS, OF_ONE_SERVER, Fault
from tests.faults.cluster.load import DEADLINE_S
from tests.faults.cluster.world import World
from tests.faults.conftest import Report
from tests.tooling.hub_process import Session
from tests.tooling.wire import Answer, Broken

pytestmark = pytest.mark.slow
RULE = 9
SIZE = 8 << 20
STRIKES = [fault for fault in (*OF_ONE_SERVER, *OF_HUBS) if "slow" not in fault.what and "moved" not in fault.what]


def named(fault: Fault) -> str:
    return fault.what


@pytest.mark.parametrize("fault", STRIKES, ids=named)
def test_an_upload_that_is_cut_is_refused_or_whole(one_server: World, fault: Fault, report: Report) -> None:
    world, dice, body = one_server, random.Random(fault.what), os.urandom(SIZE)
    session = world.new_session("box")
    world.wait_whole()
    began = time.monotonic()
    status = upload(world, session, body, fault, dice)
    took_s = time.monotonic() - began
    world.wait_whole()
    path = session.folder / "sent.bin"
    assert not path.exists() or path.read_bytes() == body, "a file that is there is whole"
    assert path.exists() or status != 201
    sent = world.wire("web").ask("POST", f"{session.path}/files?path=sent.bin&overwrite=true", body)
    assert sent.status < 300 and path.read_bytes() == body, sent
    assert took_s < DEADLINE_S + fault.most_s
    report(RULE, f"an upload through a gateway, in its middle: {fault.what}", tried=1, held=1, worst_ms=took_s * 1000)


def upload(world: World, session: Session, body: bytes, fault: Fault, dice: random.Random) -> int | None:
    """Send a file in two halves, with the fault between them; the answer's status, or None where the connection broke."""
    wire = world.wire("web")
    head = (f"POST {session.path}/files?path=sent.bin HTTP/1.1\r\nHost: {wire.host}:{wire.port}\r\nConnection: close\r\n"
            f"Authorization: Bearer {wire.token}\r\nAccept: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    with socket.create_connection((wire.host, wire.port), DEADLINE_S) as connection:
        connection.sendall(head + body[:SIZE // 2])
        mend = fault.strike(world, dice)
        try:
            time.sleep(fault.least_s)
            mend()
            connection.sendall(body[SIZE // 2:])
            answer = Answer(connection, DEADLINE_S)
            answer.read_all()
            return answer.status
        except (Broken, OSError) as error:
            assert not isinstance(error, TimeoutError), "it hangs"
            return None
