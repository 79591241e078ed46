"""An iteration: some moves in every game, then the gradient steps that what was finished is worth.

It can be stopped at any move and before any gradient step, and goes on there.
"""

import math
import time
from typing import Any

import numpy as np

from alphago.system.stopwatch import NET, OPTIMIZER, SAMPLING
from alphago.training.batches import Part, sent
from alphago.training.boards import Boards
from alphago.training.run import Phase, Trainer
from alphago.training.watch.game_metrics import Told, describe_boards, weighted_means
from alphago.training.watch.measures import mean_metrics
from alphago.training.watch.time_shares import PLAYING, time_shares

FRESH_POSITIONS = 256  # of the newest games, on which the network is measured before it learns from them


def iterate(trainer: Trainer) -> dict[str, Any] | None:
    """One iteration, or the rest of an interrupted one; its metrics, or None if `stop` came before its end."""
    if trainer.phase is Phase.BEGIN:
        trainer.judge_if_due()
        if trainer.stop.is_set():
            return None
        trainer.enter_next_stage()
        trainer.readouts_now = trainer.readouts
        trainer.boards.begin(trainer.readouts_now, trainer.settings.side_by_side(trainer.games))
        trainer.phase = Phase.PLAY
    pace = Pace(trainer.boards, trainer.workers.count)
    if trainer.phase is Phase.PLAY:
        if not play(trainer):
            return None
        collect(trainer)
        trainer.phase = Phase.LEARN
    pace.has_played()
    rows: list[dict[str, float]] = []
    finished = learn(trainer, rows)
    if rows and trainer.gatekeeper is None:
        trainer.publish()
    if not finished:
        return None
    trainer.phase = Phase.BEGIN
    trainer.iterations += 1
    if trainer.clock.ready is None:
        trainer.clock.ready = trainer.clock.seconds
    return described(trainer, pace, rows)


def play(trainer: Trainer) -> bool:
    """The moves that are left of an iteration, or as many as the time allows; False if `stop` came before."""
    # Trees that last from move to move are not saved: between iterations there are none.
    between_moves = not trainer.settings.selfplay().search.keeps_trees
    while not trainer.stop.is_set():
        until = min(trainer.saving.next if between_moves else math.inf, trainer.clock.deadline)
        with PLAYING:
            finished = trainer.boards.go_on(trainer.workers, trainer.stop, until)
        if finished or trainer.clock.used >= 1.0:
            return True
        if between_moves and trainer.saving.due:
            trainer.checkpoint()
    return False


@SAMPLING
def collect(trainer: Trainer) -> None:
    """Puts the games that are over into memory, and says how many samples they are worth."""
    boards, capacity = trainer.boards.boards, trainer.boards.capacity
    said: list[Told] = []
    for board in boards:
        new, due = board.collect(round(board.share * capacity))
        trainer.folder.shards.add(board.records, board.env.N)
        trainer.games += len(board.records)
        trainer.samples_due += due * trainer.settings.samples_per_position
        if new and trainer.learner.steps:
            sample = board.memory.sample(FRESH_POSITIONS, trainer.drawing.generator, newest=new)
            with NET:
                said.append((board.size, new, trainer.learner.unseen(sample)))
    trainer.fresh = weighted_means(said, apart=len(boards) > 1)


def learn(trainer: Trainer, rows: list[dict[str, float]]) -> bool:
    """The gradient steps that are due, or as many as the time allows; appends their metrics to `rows`.

    False if `stop` came before.
    """
    batch_size = trainer.settings.batch_size
    due = int(trainer.samples_due // batch_size) if trainer.boards.learning() else 0

    def draw(generator: np.random.Generator) -> list[Part]:
        return [sent(part, trainer.learner.place) for part in trainer.boards.draw(generator)]

    def may_go_on() -> bool:
        return not trainer.stop.is_set() and trainer.clock.used < 1.0

    for batch in trainer.drawing.batches(due, draw, may_go_on):
        due -= 1
        trainer.samples_due -= batch_size
        for _ in range(trainer.settings.epochs):
            with OPTIMIZER:
                metrics = trainer.learner.step(*batch, progress=trainer.progress)
            if metrics is not None:
                rows.append(metrics)
        if trainer.saving.due:
            trainer.checkpoint()
    return due == 0 or not trainer.stop.is_set()


class Pace:
    """How fast the games of an iteration are played, how much of its time that takes, and how much the run had of it.

    threads: how many work for the run.
    """

    def __init__(self, boards: Boards, threads: int) -> None:
        self.boards = boards
        self.threads = threads
        self.moves, self.readouts = boards.moves, boards.readouts_done
        self.began = self.played = time.monotonic()
        self.processor = time.process_time()

    def has_played(self) -> None:
        """From now on it learns."""
        self.played = time.monotonic()

    def metrics(self) -> dict[str, float]:
        """At the end of the iteration."""
        playing, whole = self.played - self.began, time.monotonic() - self.began
        return {
            "moves_per_second": (self.boards.moves - self.moves) / max(playing, 1e-9),
            "readouts_per_second": (self.boards.readouts_done - self.readouts) / max(playing, 1e-9),
            "selfplay_share": playing / max(whole, 1e-9),
            "processor_share": (time.process_time() - self.processor) / max(whole * self.threads, 1e-9),
        }


def described(trainer: Trainer, pace: Pace, rows: list[dict[str, float]]) -> dict[str, Any]:
    """The metrics of an iteration that is over; `rows` are those of its gradient steps."""
    boards = trainer.boards.boards
    return {
        "iteration": trainer.iterations,
        "seconds": round(trainer.clock.seconds, 3),
        "processor_seconds": round(trainer.clock.processor, 3),
        "games": trainer.games,
        "board_size": boards[0].env.N if len(boards) == 1 else None,
        "positions": trainer.positions + trainer.boards.added,
        "memory": sum(len(board.memory) for board in boards),
        "steps": trainer.learner.steps,
        "skipped_steps": trainer.learner.skipped,
        "learning_rate": trainer.learner.rate(trainer.progress),
        "readouts": trainer.readouts_now,
        **pace.metrics(),
        **time_shares(trainer.watch.take(), trainer.boards.spent(), trainer.workers.count),
        "compacted": trainer.compacted,
        **mean_metrics(rows),
        **trainer.fresh,
        **describe_boards(boards),
    }
