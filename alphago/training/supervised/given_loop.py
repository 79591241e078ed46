"""Supervised learning on one page: take games, learn their positions, test the network on held-out games.

An iteration takes the next given games, each game once an epoch in a random order, and trains on as many samples as
these games have positions, drawn from all games.  If `stop` is set, training stops between two gradient steps, and the
next call continues from there, with bit-identical weights.
"""

import threading

from alphago.training.loop import learn
from alphago.training.supervised.supervised_run import SupervisedRun


def learn_games(run: SupervisedRun, stop: threading.Event) -> None:
    """Train until the run is over; raise Stopped if `stop` is set within an iteration or a test."""
    run.judge(stop)  # the test of the untrained network, or one that was interrupted by `stop`
    while not run.is_over and not stop.is_set():
        run.begin_iteration()
        steps = learn(run, stop)
        run.end_iteration(steps)  # metrics, reports, autosave
        run.judge(stop)  # the test on held-out games, if due
