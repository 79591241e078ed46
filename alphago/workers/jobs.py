"""JobPool: the workers of a call, which do its jobs: chunks of games, the games of a match, or shards of files."""

import itertools
import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue

from alphago.env.game import GameEnv
from alphago.system.live_bar import LiveBar
from alphago.workers.crew import crew_of
from alphago.workers.dispatcher import Dispatcher
from alphago.workers.transport import Transport
from alphago.workers.work import RemoteWork, to_publish

AHEAD = 2  # jobs under way for each core: enough to keep it busy, few enough to keep memory flat
FEWEST = 4  # least number of jobs under way, also before workers are there
WAIT = 0.1  # seconds between two looks for news of the workers


class JobPool:
    """Workers that stay connected until `close`.

    transport: carries the jobs.  tell: called with sentences about workers.
    """

    def __init__(self, transport: Transport, tell: Callable[[str], object] | None = None) -> None:
        self.tell = tell or partial(LiveBar.write, file=sys.stderr)
        self.session = secrets.token_hex(4)  # part of the names of jobs and works, which may meet those of other calls
        self.numbers = itertools.count(1)
        self.dispatcher = Dispatcher(transport)

    def map(
        self, kind: type[RemoteWork], data: bytes, jobs: Iterable[bytes], stop: threading.Event | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each job and its answer, as they arrive.

        kind, data: the work, as in `to_publish`.
        stop: an event that ends the iteration and drops the jobs under way.
        Raises RuntimeError if no worker can do a job.
        """
        work = f"{self.session}-w{next(self.numbers)}"
        self.dispatcher.publish(work, to_publish(kind, data))
        arrived: SimpleQueue[tuple[int, bytes]] = SimpleQueue()  # from the dispatcher's thread
        waiting, under_way = enumerate(jobs), 0

        def hand_back(number: int, answer: bytes) -> int:
            arrived.put((number, answer))
            return 1

        try:
            while not (stop is not None and stop.is_set()):
                most = max(FEWEST, AHEAD * self.dispatcher.cores)  # workers come and go
                for number, job in itertools.islice(waiting, max(0, most - under_way)):
                    key = f"{self.session}-{next(self.numbers)}"
                    self.dispatcher.submit(key, work, job, partial(hand_back, number))
                    under_way += 1
                if not under_way:
                    return
                try:
                    number, answer = arrived.get(timeout=WAIT)
                except Empty:
                    self.dispatcher.check()
                    for sentence in self.dispatcher.news():
                        self.tell(sentence)
                    continue
                under_way -= 1
                yield number, answer
        finally:
            self.dispatcher.withdraw()

    def in_order(self, kind: type[RemoteWork], data: bytes, jobs: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the answers as `map` does, but in the order of the jobs."""
        early: dict[int, bytes] = {}  # answers that have arrived before their turn, by the number of the job
        due = 0
        for number, answer in self.map(kind, data, jobs):
            early[number] = answer
            while due in early:
                yield early.pop(due)
                due += 1

    def close(self) -> None:
        self.dispatcher.close()


@contextmanager
def pool_of(workers: str | int | None, env: GameEnv | None = None) -> Iterator[JobPool | None]:
    """Yield the pool of the workers that a user names, as `crew_of` takes them; None for this process's threads.

    env: the game that the workers need to know.
    """
    crew = crew_of(workers)
    if crew is None:
        yield None
        return
    pool = JobPool(crew.connect(env))
    try:
        yield pool
    finally:
        pool.close()
