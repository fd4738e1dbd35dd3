"""Answers that are kept for a while, so that who must not wait finds them: written in one thread, looked up in another."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class AnswerCache(Generic[K, V]):
    """The newest answers by their question. Needs no lock: each step on the table is one step of the interpreter."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: dict[K, V] = {}

    def get(self, question: K) -> V | None:
        """The answer; None where there is none, or none any more."""
        return self._answers.get(question)

    def put(self, question: K, answer: V) -> V:
        """Keep an answer, and forget the oldest for it."""
        self._answers[question] = answer
        while len(self._answers) > self._most:
            try:
                self._answers.pop(next(iter(self._answers)), None)
            except (RuntimeError, StopIteration):
                continue  # another thread was at it in between
        return answer
