"""The progress of a run: its share, the current activity, and an estimate of the remaining time."""

import math

from alphago.system import stopwatch
from alphago.training.run import Run
from alphago.training.watch.diagnosis import games_a_second
from alphago.training.watch.report import Progress

ACTIVITIES = {
    stopwatch.PLAYING.name: "playing",
    stopwatch.OPTIMIZER.name: "learning",
    stopwatch.SAMPLING.name: "learning",
    stopwatch.PUBLISHING.name: "preparing the new network",
    stopwatch.SAVING.name: "saving",
    stopwatch.MATCHES.name: "playing a match",
    stopwatch.EXAMINATION.name: "playing the opponent",
}


def run_progress(run: Run) -> Progress:
    """Return the progress of a run at this moment; it may be called at any time and from any thread."""
    left, now = remaining(run), run.clock.seconds
    # The share of the run's time that has passed; while the time left is unknown, the share of the games that are over.
    share = run.progress if left is None else now / max(now + left, 1e-9)  # no division by 0
    kind, seconds = run.stopwatch.current
    return Progress(min(1.0, share), left, ACTIVITIES.get(kind, ""), seconds)


def remaining(run: Run) -> float | None:
    """Return the estimated seconds until a run ends, 0 when it is over; None while the speed is unknown.

    It is the time until all games are played, at the speed of the latest iterations, or until the limit of time.
    """
    if run.is_over:
        return 0.0
    time_left, num_games = run.clock.remaining, run.settings.num_games
    speed = games_a_second(run.reporter.diagnosis.rows)
    times = [] if math.isinf(time_left) else [time_left]  # infinite without a limit of time
    if num_games is not None and speed > 0:
        times.append((num_games - run.games) / speed)
    return min(times, default=None)
