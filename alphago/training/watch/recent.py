"""Average metrics over the latest iterations and games of a run."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from alphago.training.history import Row, number

RECENT_ROWS = 20  # iterations to average over, since a single iteration is noise
FEWEST_ROWS = RECENT_ROWS // 2
SETTLED = 30.0  # seconds from which the use of the processor and the speed of a run are judged
JUDGED_GAMES = 64  # games to average over; a side that wins 80 % of all games wins 95 % of 64 with p < 0.001


class Recent:
    """Averages of metrics over the latest iterations of a run.

    The methods return None if the rows lack the metric or are too few; a mean needs FEWEST_ROWS rows that have it.

    rows: the run's rows of metrics.jsonl, oldest first.  settings: the run's settings by name, see `flat_settings`.
    """

    def __init__(self, rows: Sequence[Row], settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.rows = rows[-RECENT_ROWS:]
        self.is_whole = bool(rows) and number(rows[0], "iteration") == 1 and len(rows) <= RECENT_ROWS
        self.trained = [row for row in rows if number(row, "policy_loss") is not None][-RECENT_ROWS:]
        self.blocks = game_blocks(rows)

    def latest(self, key: str) -> float | None:
        """Return a metric's newest value; None if no recent row has the metric."""
        return next(reversed(numbers(self.rows, key)), None)

    def mean(self, key: str) -> float | None:
        """Return a metric's mean over the recent iterations that took gradient steps."""
        values = numbers(self.trained, key)
        return sum(values) / len(values) if len(values) >= FEWEST_ROWS else None

    def growth(self, key: str) -> float | None:
        """Return the increase of a cumulative count from the oldest to the newest recent row."""
        values = numbers(self.rows, key)
        return values[-1] - values[0] if len(values) >= FEWEST_ROWS else None

    def has_selfplay(self) -> bool:
        """Return whether the games of the recent rows were played by the run itself."""
        return any(number(row, "selfplay_share") is not None for row in self.rows)

    def selfplay_share(self) -> float | None:
        """Return self-play's share of the time in the recent rows; None before training has begun."""
        if not self.rows or not number(self.rows[0], "steps"):
            return None
        pairs = []
        for before, row in pairwise(self.rows):
            share, began, ended = number(row, "selfplay_share"), number(before, "seconds"), number(row, "seconds")
            if share is not None and began is not None and ended is not None:
                pairs.append((share, ended - began))
        total = sum(seconds for _, seconds in pairs)
        return sum(share * seconds for share, seconds in pairs) / total if total > 0 else None

    def processor_share(self) -> float | None:
        """Return the share of the recent rows' time in which the threads worked; None for less than SETTLED seconds."""
        times = [0.0, *numbers(self.rows, "seconds")] if self.is_whole else numbers(self.rows, "seconds")
        shares = numbers(self.rows, "processor_share")[-len(times) + 1 :]
        spans = [after - before for before, after in pairwise(times)]
        if len(shares) != len(spans) or sum(spans) < SETTLED:
            return None
        return sum(share * seconds for share, seconds in zip(shares, spans, strict=True)) / sum(spans)

    def training_share(self) -> float | None:
        """Return training's share of the time, as `selfplay_share`."""
        share = self.selfplay_share()
        return None if share is None else 1 - share

    def white_wins(self) -> float | None:
        """Return the share of games that White won, as `of_games`."""
        black, draws = self.of_games("black_wins"), self.of_games("draws")
        return None if black is None or draws is None else 1 - black - draws

    def of_games(self, key: str, block: int = 0) -> float | None:
        """Return a metric's mean over the games of a block; None if the block or the metric is missing.

        block: the block's index in `game_blocks`, 0 for the latest games.
        """
        if block >= len(self.blocks):
            return None
        pairs = [(value, games) for row, games in self.blocks[block] if (value := number(row, key)) is not None]
        if not pairs:
            return None
        return sum(value * games for value, games in pairs) / sum(games for _, games in pairs)

    def games(self) -> str:
        """Return the number of games in the latest block as text, such as "64 games"."""
        return f"{sum(games for _, games in self.blocks[0]):.0f} games"

    def progress(self) -> float:
        """Return the share of the run's games or minutes that is over, whichever is larger; 0 without a limit."""
        game_limit = number(self.settings, "num_games")
        time_limit = 60 * (number(self.settings, "max_minutes") or 0)
        limits = ((self.latest("games"), game_limit), (self.latest("seconds"), time_limit))
        return max((amount / limit for amount, limit in limits if amount is not None and limit), default=0.0)


def numbers(rows: Sequence[Row], key: str) -> list[float]:
    """Return the values of a metric in the rows that have it."""
    return [value for row in rows if (value := number(row, key)) is not None]


def game_blocks(rows: Sequence[Row]) -> list[list[tuple[Row, float]]]:
    """Group rows into blocks of at least JUDGED_GAMES finished games, newest block and newest row first.

    Each block is a list of pairs: a row, and the number of games finished in its iteration.  Iterations before the
    first gradient step are left out, and so is an oldest block that is not complete.
    """
    blocks: list[list[tuple[Row, float]]] = []
    block: list[tuple[Row, float]] = []
    for row, before in pairwise(reversed(rows)):
        if not number(before, "steps"):
            break
        finished = (number(row, "games") or 0) - (number(before, "games") or 0)
        if finished > 0:
            block.append((row, finished))
        if sum(games for _, games in block) >= JUDGED_GAMES:
            blocks.append(block)
            block = []
    return blocks
