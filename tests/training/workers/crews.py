"""Workers for tests: in this process, which do, fail, lie or die as they are told."""

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from alphago.training.workers.group_player import GroupPlayer
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.training.workers.task import Played, Task
from alphago.training.workers.transport import TaskAnswer

NEVER = threading.Event()
Behaviour = Callable[[TaskAnswer], TaskAnswer | None]  # what a worker makes of the right answer; None: it dies instead


def honest(answer: TaskAnswer) -> TaskAnswer:
    return answer


def lying(answer: TaskAnswer) -> TaskAnswer:
    assert answer.played is not None
    played = Played.from_bytes(answer.played)
    return answer._replace(played=played._replace(state={**played.state, "readouts": 99}).to_bytes())


def failing(answer: TaskAnswer) -> TaskAnswer:
    return TaskAnswer(answer.worker, answer.key, error="Traceback\nArithmeticError: one too many")


def damaging(answer: TaskAnswer) -> TaskAnswer:
    return answer._replace(played=(answer.played or b"")[:-1])


def refusing(answer: TaskAnswer) -> TaskAnswer:
    return TaskAnswer(answer.worker, answer.key, refused="this worker must be another one")


def dying(_: TaskAnswer) -> None:
    return None


class Local:
    """A transport whose workers do one task at a time, when answers are asked for."""

    def __init__(self, **workers: Behaviour) -> None:
        self.behaviours = workers
        self.versions: dict[str, bytes] = {}
        self.player = GroupPlayer(lambda version: self.versions[version])
        self.given: deque[tuple[str, str, bytes]] = deque()
        self.done: list[tuple[str, str]] = []
        self.told: dict[str, str] = {}
        self.closed = 0

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        self.versions = {name: data} | {old: self.versions[old] for old in keep - {name}}

    def workers(self) -> dict[str, int]:
        return dict.fromkeys(self.behaviours, 1)

    def give(self, worker: str, key: str, version: str, task: bytes) -> None:
        assert version in self.versions
        self.given.append((worker, key, task))

    def answers(self) -> list[TaskAnswer]:
        if not self.given:
            NEVER.wait(0.001)
            return []
        worker, key, task = self.given.popleft()
        if worker not in self.behaviours:
            return []
        played = self.player.play(Task.from_bytes(task), NEVER)
        assert played is not None
        self.done.append((worker, key))
        answer = self.behaviours[worker](TaskAnswer(worker, key, played.to_bytes()))
        if answer is None:
            del self.behaviours[worker]
        return [] if answer is None else [answer]

    def leave_out(self, worker: str, why: str) -> None:
        self.told[worker] = why

    def how_to_join(self) -> str:
        return "add one"

    def close(self) -> None:
        self.closed += 1


def source_of(transport: Any, **options: Any) -> Callable[..., RemoteSelfPlay]:
    """Return a MakeSource whose workers are those of a transport."""
    return partial(RemoteSelfPlay, connect=lambda: transport, **options)
