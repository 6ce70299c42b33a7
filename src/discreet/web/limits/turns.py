"""Turns: how many requests of one person, or of one address, are worked on at the same time; further ones wait for their turn.

The server answers with a fixed number of threads. Without turns, one program that sends a hundred requests at once would hold
all of them, and everybody else would wait.

Of several web processes, each has turns of its own for the requests of a user, because each has its own threads. All other turns
are counted together (:mod:`discreet.web.limits.shared_counts`).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Hashable

from discreet.web.errors import TooManyRequests
from discreet.web.limits.shared_counts import SharedCounts

PER_USER = 2
"""Few, because Python runs one thread at a time: each request at work makes all others that much slower."""
STREAMS_PER_USER = 30
"""Open event streams of one user: one per page that is open in a browser."""
UPLOADS_PER_USER = DOWNLOADS_PER_USER = 2
"""They take long, mostly waiting, so they have turns of their own."""
ANONYMOUS_PER_ADDRESS = 4
LOGINS_PER_ADDRESS = 1
LOGINS_IN_TOTAL = 3
HURRIED_PER_USER, HURRIED_PER_ADDRESS, HURRIED_IN_TOTAL = 1, 2, 2
"""Of those who send requests faster than people do: how many requests of one of them, and of all together, are at work."""
WAITING, LOGINS_WAITING_WHERE_MANY_FAIL = 300, 20
"""Requests of one person or address that wait; further ones are refused."""
WAITING_SECONDS = 30.0
HURRY_SECONDS = 0.2
"""Seconds that each request of those in a hurry waits."""
FAILED_LOGIN_SECONDS = 0.5
"""Seconds between a failed login and the next one from an address from which many fail."""

POLL_SECONDS = 0.05
"""Seconds between looks at the counts of other processes, which cannot wake those that wait here."""


class Turns:
    """Counts of requests at work by key (a person, an address), and queues of those that wait."""

    def __init__(self, counts: SharedCounts | None = None) -> None:
        self._counts = counts
        self._resting: dict[Hashable, float] = {}
        self._at_work: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    async def take(self, key: Hashable, at_once: int, waiting: int = WAITING) -> None:
        """Wait for a turn; raises where too many wait already, or where the turn does not come."""
        if self._has_room(key, at_once):
            self._count(key, 1)
            return
        queue = self._waiting.setdefault(key, deque())
        if len(queue) >= waiting:
            raise TooManyRequests(f"{at_once + waiting} requests at the same time are too many; send fewer at once", seconds=1)
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        queue.append(turn)
        deadline = loop.time() + WAITING_SECONDS
        try:
            while not turn.done():
                remaining = deadline - loop.time()
                if remaining <= 0:
                    raise TimeoutError
                await asyncio.wait([turn], timeout=remaining if self._counts is None else min(remaining, POLL_SECONDS))
                if not turn.done() and queue[0] is turn and self._has_room(key, at_once):
                    queue.popleft()
                    self._count(key, 1)
                    turn.set_result(None)
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # the turn came just as the request was given up
                self.release(key)
            elif turn in queue:
                queue.remove(turn)
            if isinstance(error, TimeoutError):
                raise TooManyRequests("the server is busy with your other requests; try again in a moment", seconds=5) from None
            raise

    def rest(self, key: Hashable, seconds: float) -> None:
        """Let the next turn of a key begin after so many seconds, whoever takes it."""
        current_time = time.monotonic()
        self._resting = {other: until for other, until in self._resting.items() if until > current_time}
        self._resting[key] = current_time + seconds

    async def finish_rest(self, key: Hashable) -> None:
        """Wait until the rest of a key is over; call it while its turn is held."""
        while (remaining := self._resting.get(key, 0.0) - time.monotonic()) > 0:
            await asyncio.sleep(remaining)

    def release(self, key: Hashable) -> None:
        """End a turn: the next one that waits gets it."""
        queue = self._waiting.get(key)
        while queue:
            turn = queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._waiting.pop(key, None)
        self._count(key, -1)

    def _has_room(self, key: Hashable, at_once: int) -> bool:
        elsewhere = self._counts.elsewhere(key) if self._counts is not None and self._is_shared(key) else 0
        return self._at_work.get(key, 0) + elsewhere < at_once

    def _count(self, key: Hashable, difference: int) -> None:
        at_work = self._at_work.get(key, 0) + difference
        if at_work > 0:
            self._at_work[key] = at_work
        else:
            self._at_work.pop(key, None)
        if self._counts is not None and self._is_shared(key):
            self._counts.add(key, difference)

    @staticmethod
    def _is_shared(key: Hashable) -> bool:
        return not (isinstance(key, tuple) and key[0] in ("user", "hurried", "all hurried"))
