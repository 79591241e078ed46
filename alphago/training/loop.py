"""The algorithm, AlphaZero's, on one page: play, remember, learn, publish, judge.

    Run (run.py)          everything that goes on from one iteration to the next
    play, remember        self-play by one frozen network (group.py) fills the memory (memory.py, or pool.py)
    learn                 gradient steps on samples of it (learner.py)
    run.publish, judge    the new network plays next; gate, champions or proof may decide otherwise (judges/)

An iteration plays some moves in every game, takes the gradient steps that the finished games are worth, and lets the
new network play.  `stop` ends it between two moves or two gradient steps; the next call continues from there, and a run
that is counted in games ends with bit-identical weights.

`session.py` is the call, `train`, around it.
"""

import threading

from alphago.records.record import GameRecord
from alphago.system.stopwatch import NET, OPTIMIZER, SAMPLING
from alphago.training.run import Run, Stopped
from alphago.training.watch.metrics import PLAYING, board_metrics, weighted_means

Metrics = dict[str, float]
FRESH_POSITIONS = 256  # positions of the newest games to measure the network on before it learns from them


def train_loop(run: Run, stop: threading.Event) -> None:
    """Train until the run is over; raise Stopped if `stop` is set within an iteration or a match."""
    run.judge(stop)  # a match that a stop has interrupted
    while not run.is_over and not stop.is_set():
        run.begin_iteration()  # a larger board, more readouts, more games side by side, as the run goes on
        remember(run, play(run, stop))
        steps = learn(run, stop)
        run.publish()  # the new network plays next
        run.end_iteration(steps)  # metrics, reports, autosave
        run.judge(stop)  # the gate or the proof, if due


def play(run: Run, stop: threading.Event) -> list[list[GameRecord]]:
    """Play the iteration's moves in every game, or as many as time allows; return each board's finished games."""
    while not stop.is_set():
        with PLAYING:
            played = all(source.go_on(stop, run.pause_at) for source in run.boards.sources)
        if played or run.clock.is_over:
            return [source.take() for source in run.boards.sources]
        run.autosave()
    raise Stopped


@SAMPLING
def remember(run: Run, games: list[list[GameRecord]]) -> None:
    """Put finished games into memory, and count the samples that are due for them."""
    run.pace.has_played()
    capacity = run.boards.capacity
    losses = []
    for board, records in zip(run.boards, games, strict=True):
        new, due = board.remember(records, round(board.share * capacity), run.settings.samples_per_position)
        run.add_games(board, records)
        run.samples_due += due
        if new and run.learner.steps:  # how well is the network doing on games it has not seen?
            sample = board.memory.sample(FRESH_POSITIONS, run.prefetcher.generator, newest=new)
            with NET:
                losses.append((board.size, new, run.learner.losses_on(sample)))
    if any(games):
        run.game_metrics = weighted_means(losses, apart=len(run.boards) > 1) | board_metrics(run.boards, games)


def learn(run: Run, stop: threading.Event) -> list[Metrics]:
    """Take the gradient steps that are due, or as many as time allows; return the metrics of each."""
    steps: list[Metrics] = []
    for batch in run.batches(lambda: not stop.is_set() and not run.clock.is_over):
        for _ in range(run.settings.epochs):
            with OPTIMIZER:
                metrics = run.learner.step(*batch, progress=run.progress)
            if metrics is not None:  # a step whose loss is not finite is skipped
                steps.append(metrics)
        run.autosave()
    if run.batches_due and stop.is_set():
        raise Stopped
    return steps
