"""What all deliveries share: tries, what an answer means, room, and what is left when a hub stops."""

from __future__ import annotations

import logging

import pytest

from tests.aio import run
from tests.server.delivery.receiver import HandClock, Receiver, receiver
from tests.tooling.rows import every_row
from trunkline.errors import Forbidden, Unavailable
from trunkline.server.delivery.outbox import Outbox, OutboxLimits, check_status
from trunkline.server.delivery.post import OutgoingMessage
from trunkline.server.delivery.webhooks.rules import Webhook

log = logging.getLogger("trunkline.notify")
LIMITS = OutboxLimits(backoff_s=(1.0, 2.0), room=2)


class Parcel:
    """A delivery that writes down what happens to it."""

    def __init__(self, there: Receiver, *, wanted_tries: int = 9, final: tuple[int, ...] = ()) -> None:
        self.destination: Webhook = there.hook()
        self.owner = "one"
        self.ended = 0
        self._wanted_tries = wanted_tries
        self._final = final

    async def is_wanted(self, tries: int) -> bool:
        return tries < self._wanted_tries

    async def message(self) -> OutgoingMessage:
        return OutgoingMessage(b"{}", ())

    def on_answer(self, status: int) -> bool:
        return status in self._final

    def on_end(self) -> None:
        self.ended += 1


@every_row(("status", "error"), [
    (200, None), (204, None), (301, Forbidden), (400, Forbidden), (410, Forbidden), (408, Unavailable), (425, Unavailable),
    (429, Unavailable), (500, Unavailable), (599, Unavailable)])
def test_an_answer_is_a_success_a_refusal_or_worth_another_try(status: int, error: type[Exception] | None) -> None:
    if error is None:
        check_status("h", status)
    else:
        with pytest.raises(error, match=f"h .*{status}"):
            check_status("h", status)


def test_a_delivery_ends_once_whether_it_arrived_was_refused_or_was_given_up() -> None:
    async def check(statuses: tuple[int, ...], tries: int) -> None:
        async with receiver(*statuses) as there:
            clock, parcel = HandClock(), Parcel(there)
            outbox = Outbox(LIMITS, log, "parcel", clock=clock)
            outbox.send(parcel)
            for _ in range(tries - 1):
                await clock.pass_one()
            await outbox.settled()
            assert (there.connections, parcel.ended) == (tries, 1)

    run(check((204,), 1))
    run(check((403,), 1))
    run(check((500, 204), 2))
    run(check((500, 500, 500), 3))


def test_what_is_not_wanted_any_more_is_not_tried_and_a_final_answer_is_no_complaint(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with receiver(500, 404) as there:
            clock, late, gone = HandClock(), Parcel(there, wanted_tries=1), Parcel(there, final=(404,))
            outbox = Outbox(LIMITS, log, "parcel", clock=clock)
            outbox.send(late)
            await clock.pass_one()
            await outbox.settled()
            assert (there.connections, late.ended) == (1, 1)
            outbox.send(gone)
            await outbox.settled()
            assert (there.connections, gone.ended) == (2, 1)

    with caplog.at_level(logging.WARNING):
        run(check())
    assert caplog.text == ""


def test_one_more_than_there_is_room_for_ends_at_once_and_what_a_stop_interrupts_does_not_end() -> None:
    async def check() -> None:
        async with receiver() as there:
            there.silent = True
            outbox = Outbox(LIMITS, log, "parcel", clock=HandClock())
            parcels = [Parcel(there) for _ in range(3)]
            for parcel in parcels:
                outbox.send(parcel)
            assert [parcel.ended for parcel in parcels] == [0, 0, 1]
            await outbox.close()
            assert [parcel.ended for parcel in parcels] == [0, 0, 1]

    run(check())
