"""AlphaZero's algorithm on one page: play, remember, learn, publish, judge.

    Run                   everything that lasts from one iteration to the next
    play, remember        self-play by one frozen network (group.py) fills the memory (memory.py)
    learn                 gradient steps on samples from memory (learner.py)
    run.publish, judge    the new network plays next; a judge may decide otherwise (judge.py, judges/)

An iteration plays some moves in every game, trains on `samples_per_position` samples for each new position, and
publishes the new network.  If `stop` is set, training stops between two moves or two gradient steps.  The next call
continues from there, and a run limited by `num_games` ends with bit-identical weights.

`train_run` in call/session.py calls `train_loop`.
"""

import threading

from alphago.records.record import GameRecord
from alphago.system import stopwatch
from alphago.system.interrupts import Stopped
from alphago.training.metrics import game_metrics
from alphago.training.run import Run

Metrics = dict[str, float]
FRESH_POSITIONS = 256  # positions of new games on which the network is tested before it is trained on them


def train_loop(run: Run, stop: threading.Event) -> None:
    """Train until the run is over; raise Stopped if `stop` is set within an iteration or a match."""
    run.judge(stop)  # repeats a match that an earlier `stop` has interrupted
    while not run.is_over and not stop.is_set():
        run.begin_iteration()  # enters a larger board, raises readouts and the number of games in parallel
        remember(run, play(run, stop))
        learn(run, stop, run.settings.epochs)
        run.publish()  # self-play gets the new network
        run.end_iteration()  # metrics, reports, autosave
        run.judge(stop)  # the gate and other judges, if due


def play(run: Run, stop: threading.Event) -> list[GameRecord]:
    """Play the iteration's moves in every game, but end when the run's time is over; return the finished games.

    Raises:
        Stopped: if `stop` is set while moves are left to play.
    """
    source = run.stage.source
    while not stop.is_set():
        with stopwatch.PLAYING:
            # Self-play also pauses when an autosave is due: then moves are left, and the loop goes on after `autosave`.
            all_moves_played = source.advance(stop, run.pause_at)
        run.note(*source.news())  # reports sentences, such as that a worker has come or gone
        if all_moves_played or run.clock.is_over:
            return source.take()
        run.autosave()
    raise Stopped


@stopwatch.SAMPLING
def remember(run: Run, records: list[GameRecord]) -> None:
    """Put finished games into memory, and test the network on their positions before it is trained on them.

    The memory decides how many samples `learn` then trains on.
    """
    run.pace.end_play()
    run.add_games(records)
    losses: Metrics = {}
    if run.learner.steps:  # a network that is not trained yet is not tested
        fresh = run.stage.memory.fresh(FRESH_POSITIONS, run.generator)
        with stopwatch.NET:
            losses = {} if fresh is None else run.learner.losses_on(fresh)
    if records:
        run.game_metrics = losses | game_metrics(records, run.stage.env)


def learn(run: Run, stop: threading.Event, epochs: int = 1) -> None:
    """Take the gradient steps that are due, but end when the run's time is over.

    Args:
        epochs: gradient steps on each batch.

    Raises:
        Stopped: if `stop` is set while batches are still due.
    """

    def may_go_on() -> bool:
        return not stop.is_set() and not run.clock.is_over

    for batch in run.batches(may_go_on):
        for _ in range(epochs):
            with stopwatch.OPTIMIZER:
                metrics = run.learner.step(batch, progress=run.progress)
            if metrics is not None:  # a step whose loss is not finite is skipped
                run.step_metrics.append(metrics)
        run.autosave()
    if run.batches_due and stop.is_set():
        raise Stopped
