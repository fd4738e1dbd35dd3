"""Places: who has one, and who goes when there are too many."""

from __future__ import annotations

import resource

import pytest

from tests.tooling.rows import every_row
from trunkline.errors import Unavailable
from trunkline.server.http.connections import (
    CONNECTIONS,
    FILES_WANTED,
    OVERFLOW,
    ConnectionPlace,
    Connections,
    connections_limit,
    files_limit,
)

HERE = "127.0.0.1"


class Crowd:
    """Connections, and which of them were dropped."""

    def __init__(self, limit: int) -> None:
        self.all = Connections(limit)
        self.dropped: list[int] = []
        self._number = 0

    def enter(self, address: str = HERE) -> ConnectionPlace:
        """One more; they are numbered from 1."""
        self._number += 1
        number = self._number
        return self.all.enter(address, lambda: self.dropped.append(number))


def test_strangers_get_half_of_all_places_and_one_address_a_quarter() -> None:
    crowd = Crowd(400)
    for number in range(1_000):
        crowd.enter(f"10.0.0.{number % 50}")
    assert crowd.all.strangers == 200
    other = Crowd(400)
    for _ in range(1_000):
        other.enter()
    assert other.all.strangers == 100
    assert other.dropped == list(range(1, 901)), "the oldest go first"


def test_who_crowds_makes_room_for_the_others() -> None:
    crowd = Crowd(400)
    quiet = [crowd.enter(f"10.0.0.{number}") for number in range(100)]
    for _ in range(100):
        crowd.enter("10.9.9.9")
    late = crowd.enter("10.0.1.1")
    assert not any(place.has_left for place in [*quiet, late])
    assert crowd.dropped == [101]


def test_friends_do_not_count_for_their_address_and_are_never_dropped_for_strangers() -> None:
    crowd = Crowd(40)
    friends = [crowd.enter() for _ in range(30)]
    for place in friends[-10:]:
        place.befriend()
    more = [crowd.enter() for _ in range(10)]
    for place in more:
        place.befriend()
    for _ in range(100):
        crowd.enter()
    assert (crowd.all.friends, crowd.all.strangers) == (20, 10)
    assert not any(place.has_left for place in [*friends[-10:], *more])


def test_of_strangers_the_one_goes_whose_last_whole_request_is_longest_ago() -> None:
    crowd = Crowd(16)
    first, second = crowd.enter(), crowd.enter()
    crowd.enter(), crowd.enter()
    first.begin(HERE)
    first.whole()
    crowd.enter()
    assert second.has_left and not first.has_left


def test_friends_beyond_the_limit_are_told_so_and_come_in_when_somebody_left() -> None:
    crowd = Crowd(8)
    friends = [crowd.enter() for _ in range(1)]
    friends[0].befriend()
    for _ in range(7):
        friends.append(crowd.enter())
        friends[-1].befriend()
    late = crowd.enter()
    with pytest.raises(Unavailable):
        late.befriend()
    assert not late.is_friend and not late.has_left
    friends[0].leave()
    late.befriend()
    assert (crowd.all.friends, crowd.all.strangers) == (8, 0)


def test_a_connection_is_a_strangers_again_when_its_next_request_comes() -> None:
    crowd = Crowd(40)
    place = crowd.enter()
    place.befriend()
    place.begin(HERE)
    assert (place.is_friend, crowd.all.friends, crowd.all.strangers) == (False, 0, 1)
    place.befriend()
    place.leave()
    place.leave()
    assert (crowd.all.friends, crowd.all.strangers) == (0, 0)


def test_a_proxys_connection_is_counted_for_whom_its_request_is_from() -> None:
    crowd = Crowd(400)
    places = [crowd.enter() for _ in range(100)]
    for number, place in enumerate(places):
        place.begin(f"10.0.0.{number}")
    crowd.enter()
    assert crowd.dropped == []


def test_who_was_dropped_can_do_nothing_more() -> None:
    crowd = Crowd(8)
    gone, _, _ = crowd.enter(), crowd.enter(), crowd.enter()
    assert crowd.dropped == [1]
    gone.befriend()
    gone.begin("10.0.0.1")
    gone.whole()
    gone.leave()
    assert (crowd.all.friends, crowd.all.strangers, gone.is_friend) == (0, 2, False)


@every_row(("files", "connections"), [
    (20_000, CONNECTIONS), (8_192, CONNECTIONS), (1_024, 448), (256, 64), (64, 16),
])
def test_connections_get_at_most_half_of_the_descriptors(files: int, connections: int) -> None:
    assert connections_limit(files) == connections
    assert connections + OVERFLOW <= max(files // 2, 80)


def test_the_hub_asks_for_the_descriptors_that_it_wants() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        assert files_limit() == min(FILES_WANTED, before[1])
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(FILES_WANTED, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_strangers_find_room_though_friends_hold_every_place() -> None:
    crowd = Crowd(400)
    for _ in range(400):
        crowd.enter().befriend()
    for number in range(200):
        crowd.enter(f"10.0.0.{number}")
    assert crowd.all.strangers == OVERFLOW
    assert len(crowd.dropped) == 200 - OVERFLOW
