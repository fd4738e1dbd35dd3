"""Answers that are kept for a while: the newest are found, the oldest forgotten, whoever else is at it."""

from __future__ import annotations

import threading

from trunkline.dialects.answer_cache import AnswerCache


def test_the_newest_answers_are_kept() -> None:
    cache: AnswerCache[str, int] = AnswerCache(2)
    assert cache.get("a") is None
    assert [cache.put(key, value) for value, key in enumerate("abc")] == [0, 1, 2]
    assert [cache.get(key) for key in "abc"] == [None, 1, 2]
    cache.put("b", 7)
    assert cache.get("b") == 7 and cache.get("c") == 2, "an answer that is known already pushes none out"


def test_threads_that_meet_here_leave_no_more_than_is_kept() -> None:
    cache: AnswerCache[tuple[int, int], int] = AnswerCache(5)
    workers = [threading.Thread(target=lambda number=number: [cache.put((number, each), each) for each in range(500)])
               for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(cache.get((number, each)) is not None for number in range(4) for each in range(500)) <= 5
