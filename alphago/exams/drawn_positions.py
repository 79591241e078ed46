"""Positions that are drawn from games for an exam or for labels, with a judge's evaluations of them."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.exams.positions import ExamPosition
from alphago.records.collection import read_collection
from alphago.records.record import GameRecord
from alphago.system.validation import MOST_READOUTS, setting, settings

LEAST_WIN = 0.03  # least win rate of either side in an undecided position
MOST_LEAD = 1.2  # largest lead in an undecided position, in points for each line of the board
# The limits of undecided positions, written into the provenance of an exam.
UNDECIDED = {"win_rate": [LEAST_WIN, 1 - LEAST_WIN], "lead_per_line": MOST_LEAD}
# When the best move is chosen, the loss of so many points of lead counts as much as the loss of a win rate of 1.
POINTS_PER_WIN_RATE = 10.0


@settings
class DrawSettings:
    """How positions are drawn from games."""

    positions: int = setting("number of positions", default=250, least=1, shown="number of positions")
    first_ply: int = setting("least number of moves before a position", default=4)
    last_ply: int | None = setting("largest number of moves before a position; None for no limit", default=None)
    per_game: int = setting("largest number of positions drawn from a game", default=1, least=1)
    komi: float | None = setting(
        "komi of all positions; None for each game's own", default=None, least=-1000, most=1000, step=0.5
    )
    seed: int = setting("seed of the drawing", default=0)


@settings
class MakeSettings(DrawSettings):
    """How an exam is drawn and judged."""

    visits: int = setting("visits of the search for a position's win rate and lead", default=12, least=1)
    move_visits: int = setting("visits for the position after each legal move", default=1, least=1)


@settings
class LabelSettings(DrawSettings):
    """How positions are drawn from games and labelled."""

    positions: int = setting("number of positions", default=100_000, least=1)
    first_ply: int = setting("least number of moves before a position", default=0)
    per_game: int = setting("largest number of positions drawn from a game", default=20, least=1)
    readouts: int = setting(
        "readouts (KataGo's visits) of the search for a position; 1: the teacher's network alone",
        default=1,
        least=1,
        most=MOST_READOUTS,
    )


@dataclass
class DrawnPosition:
    """A drawn position with the judge's answers so far.

    Attributes:
        number: the position's number in the order of drawing.
        game: the index of its game.
        root: the judge's win rate and lead, in Black's view; NaN before they are known.
        after: by action, the judge's win rate and lead after a legal move, in Black's view.
        label: the teacher's label, of `label_dtype`; None before it is known, and in an exam.
        unanswered: what the judge has not answered yet: moves as text, and "" for the position itself.
    """

    number: int
    position: GoPosition
    game: int = 0
    root: tuple[float, float] = (math.nan, math.nan)
    after: dict[int, tuple[float, float]] = field(default_factory=dict)
    label: np.ndarray | None = None
    unanswered: set[str] = field(default_factory=lambda: {""})

    @property
    def is_undecided(self) -> bool:
        """Whether either side may still win according to the judge; only such positions belong in an exam."""
        win, lead = self.root
        return LEAST_WIN <= win <= 1 - LEAST_WIN and abs(lead) <= MOST_LEAD * self.position.env.N

    def result(self) -> ExamPosition:
        """Return the judged position, in which each legal move has its losses against the best moves."""
        actions = sorted(self.after)
        values = np.array([self.after[action] for action in actions])  # [legal moves, 2], win rate and lead
        if self.position.to_play < 0:  # in White's view the win rate is 1 - Black's, and the lead is negated
            values = np.array([1.0, 0.0]) - values
        losses = np.full((2, self.position.env.action_space), np.nan, np.float32)  # NaN for illegal moves
        losses[:, actions] = (values.max(axis=0) - values).T  # of each kind of value, from the best one
        rate_losses, point_losses = losses
        black_win, black_lead = self.root
        return ExamPosition(
            komi=self.position.komi,
            moves=self.position.moves,
            black_win=black_win,
            black_lead=black_lead,
            # The move with the least loss, of win rate and points together.
            best=int(np.nanargmin(rate_losses + point_losses / POINTS_PER_WIN_RATE)),
            points=point_losses,
            rates=rate_losses,
        )


def read_games(paths: Sequence[str | Path], env: GoEnv, positions: int) -> list[GameRecord]:
    """Return games at `paths` that begin on the empty board, without skipped turns; raise ValueError for none.

    Args:
        positions: most positions in all games.  Of larger collections a random sample is read, the same on every call.
    """
    most_positions = positions // max(1, len(paths))  # from each path; without paths the error below is raised
    read = [record for path in paths for record in read_collection(path, env, most_positions)]
    records = list(filter(is_ordinary, read))
    if not records:
        listed = ", ".join(map(str, paths))
        raise ValueError(f"games must have one on the empty board without skipped turns, got none in {listed}")
    return records


def is_ordinary(record: GameRecord) -> bool:
    """Return whether a game begins on the empty board with Black, and no turn is skipped."""
    movers = 1 - 2 * (np.arange(len(record)) % 2)  # 1 for Black, -1 for White
    return set(record.setup) <= {"komi"} and np.array_equal(record.movers, movers)


def drawing_facts(records: Sequence[GameRecord], drawing: DrawSettings) -> dict[str, Any]:
    """Return plain data that tells from which games and with which settings the positions are drawn."""
    digest = hashlib.sha256()
    for record in records:
        digest.update(record.moves.tobytes())
    return {
        "games": len(records),
        "digest": digest.hexdigest(),
        "seed": drawing.seed,
        "per_game": drawing.per_game,
        "plies": [drawing.first_ply, drawing.last_ply],
        "komi": drawing.komi,
    }


def draw(env: GoEnv, records: Sequence[GameRecord], drawing: DrawSettings) -> Iterator[DrawnPosition]:
    """Yield positions of games in a random order; no two of them are equal or symmetric.

    One is drawn from every game, then another one from every game, and so on, `per_game` times.
    """
    generator = np.random.default_rng(drawing.seed)
    order = generator.permutation(len(records))
    seen: set[bytes] = set()  # a key for each position so far
    for _ in range(drawing.per_game):
        for game in order:
            record = records[game]
            last = len(record) - 1  # the position before the game's last move
            if drawing.last_ply is not None:
                last = min(last, drawing.last_ply)
            chance = generator.random()  # drawn for short games too, so that the other games' numbers stay the same
            if last < drawing.first_ply:
                continue
            ply = drawing.first_ply + int(chance * (last - drawing.first_ply + 1))
            komi = record.setup.get("komi", env.komi) if drawing.komi is None else drawing.komi
            position = env.position(komi=komi).after(record.moves[:ply].tolist())
            key = symmetric_key(position)
            if position.is_over or key in seen:
                continue
            seen.add(key)
            yield DrawnPosition(len(seen) - 1, position, int(game))


def symmetric_key(position: GoPosition) -> bytes:
    """Return a key that two positions share if they have the same side to move and komi, and symmetric stones."""
    boards = position.board.ravel()[position.env.symmetries.points]  # [S, N * N], one for each symmetry
    return min(board.tobytes() for board in boards) + f"{position.to_play} {position.komi}".encode()
