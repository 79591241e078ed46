"""The progress of a run: its share, the current activity, and an estimate of the remaining time."""

import math
from collections import deque

from alphago.env.games import selfplay_game
from alphago.system.stopwatch import EXAMINATION, MATCHES, OPTIMIZER, PLAYING, PUBLISHING, SAMPLING, SAVING
from alphago.training.history import Row
from alphago.training.run import Run
from alphago.training.watch.report import Progress, Report

LATEST = 6  # number of latest iterations over which the speed is averaged
LEAST_SECONDS = 2.0  # seconds of self-play in the first iteration from which its speed is estimated
ACTIVITIES = {
    PLAYING.name: "playing",
    OPTIMIZER.name: "learning",
    SAMPLING.name: "learning",
    PUBLISHING.name: "preparing the new network",
    SAVING.name: "saving",
    MATCHES.name: "playing a match",
    EXAMINATION.name: "playing the opponent",
}


class RunProgress(Report):
    """A report that estimates a run's progress; calling it, at any time and from any thread, returns the progress.

    The remaining time is estimated from the remaining games and the speed of the latest iterations.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        # The totals of the run when this object was created, then the rows of metrics.jsonl.
        first: Row = {"games": run.games, "steps": run.learner.steps, "seconds": run.clock.seconds}
        self.rows = deque([first], LATEST + 1)

    def iteration(self, metrics: Row) -> None:
        """Take the end of an iteration into account."""
        self.rows.append(metrics)

    def growth(self, key: str) -> float:
        """Return the increase of a total of the run over the latest iterations."""
        return float(self.rows[-1][key] - self.rows[0][key])

    def __call__(self) -> Progress:
        """Return the progress of the run at this moment."""
        run = self.run
        remaining, now = self.remaining(), run.clock.seconds
        share = run.progress if remaining is None else now / max(now + remaining, 1e-9)  # no division by 0
        kind, seconds = run.stopwatch.current
        return Progress(min(1.0, share), remaining, ACTIVITIES.get(kind, ""), seconds)

    def remaining(self) -> float | None:
        """Return the estimated seconds until the run ends, 0 when it is over; None while the speed is unknown."""
        if self.run.is_over:  # perhaps with gradient steps that are never taken
            return 0.0
        remaining, settings = self.run.clock.remaining, self.run.settings
        times = [] if math.isinf(remaining) else [remaining]
        if settings.num_games is not None and (seconds := self._seconds_until(settings.num_games)) is not None:
            times.append(seconds)
        return min(times, default=None)

    def _seconds_until(self, games: int) -> float | None:
        """Estimate the seconds until `games` games are trained on; None while the speed is unknown."""
        done = self.growth("games")
        return (games - self.rows[-1]["games"]) * self.growth("seconds") / done if done else None


class SelfPlayProgress(RunProgress):
    """The progress of a run of self-play, estimated from the remaining moves and gradient steps."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.games_before = run.games
        # Rows of this class have two more totals: moves, and seconds of gradient steps, since this object was created.
        self.rows[0] = {**self.rows[0], "moved": 0, "learned": 0.0}
        self.finished_games = 0
        self.finished_plies = 0.0  # moves of the finished games

    def iteration(self, metrics: Row) -> None:
        """Take the speed of an iteration and the length of its games into account.

        metrics: "games", "steps" and "seconds" are totals of the run; "moves", "optimizer_share" and the mean
            "game_length" are of this iteration.
        """
        last = self.rows[-1]
        new_games = metrics["games"] - last["games"]
        learned = last["learned"] + (metrics["seconds"] - last["seconds"]) * metrics["optimizer_share"]
        super().iteration({**metrics, "moved": last["moved"] + metrics["moves"], "learned": learned})
        if new_games and metrics["game_length"] is not None:
            self.finished_games += new_games
            self.finished_plies += new_games * metrics["game_length"]

    def _seconds_until(self, games: int) -> float | None:
        """Estimate the seconds until `games` games are played and trained on; None while the speed is unknown."""
        move_seconds, step_seconds = self._move_seconds(), self._step_seconds()
        if move_seconds is None or step_seconds is None:
            return None
        run, memory, settings = self.run, self.run.stage.memory, self.run.settings
        # Short games end first, so the first finished games are too short.  Therefore the mean length also counts, for
        # each of the games in parallel, one game of the usual length.
        side_by_side = settings.side_by_side(run.games)
        usual_plies = side_by_side * selfplay_game(run.goal).usual_length
        length = (self.finished_plies + usual_plies) / (self.finished_games + side_by_side)
        learned = run.counts.positions + (memory.added if memory.can_learn else 0)
        samples = run.counts.samples_due + max(0.0, games * length - learned) * memory.samples_per_position
        steps = samples / settings.learning.batch_size * settings.epochs
        return self._moves_left(games, length, side_by_side) * move_seconds + steps * step_seconds

    def _move_seconds(self) -> float | None:
        """Return the mean seconds of a move, with all work but gradient steps; None if unknown."""
        if len(self.rows) > 1:
            return (self.growth("seconds") - self.growth("learned")) / max(1.0, self.growth("moved"))
        moves, seconds = self.run.pace.so_far()
        return seconds / moves if moves and seconds >= LEAST_SECONDS else None

    def _step_seconds(self) -> float | None:
        """Return the mean seconds of a gradient step; None if unknown."""
        steps = self.growth("steps")
        return self.growth("learned") / steps if steps else None

    def _moves_left(self, games: int, length: float, side_by_side: int) -> float:
        """Estimate the number of moves until `games` games are played.

        length: a game's mean number of moves.  side_by_side: number of games in parallel.
        """
        moves_of_iteration, _ = self.run.pace.so_far()
        # Games that were in progress when this object was created: on average half of their moves were played.
        begun_before = min(self.games_before, side_by_side) / 2 * length
        played = begun_before + self.rows[-1]["moved"] + moves_of_iteration
        left = max(0.0, (games - self.games_before) * length - played)
        # The moves of the last games count twice: as games end, ever fewer are left to fill the network's batches.
        return left + min(left, side_by_side / 2 * length)
