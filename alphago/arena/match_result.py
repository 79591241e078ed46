"""`MatchResult`: the results of a match, with an interval for the win rate, statistics of its games, and a picture."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from alphago.arena.elo import Z
from alphago.drawing.shapes import sheet
from alphago.drawing.svg import Svg, to_svg
from alphago.env.board import result_text
from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.records.record import small_drawing
from alphago.system.validation import check_int


@dataclass(frozen=True)
class MatchGame:
    """A finished game of a match.

    Attributes:
        number: index of the game in the match; the first player has Black if it is even.
        outcome: -1 .. 1, the first player's result.
        moves: the actions of the game.
        margin: Black's margin in points, komi included; None if a side resigned or forfeited.
        fault: why an engine forfeited the game; "" for games that ended by resignation or by the rules.
        counted: whether the final board was scored by an engine too.
        disagreement: both scores as text if the engine's score differs from the Tromp-Taylor score, else "".
    """

    number: int
    outcome: float
    moves: tuple[int, ...]
    margin: float | None = None
    fault: str = ""
    counted: bool = False
    disagreement: str = ""

    @property
    def result(self) -> str:
        """The result as text: 'B+2.5', 'draw', 'W+R' (Black resigned) or 'W+F' (Black forfeited)."""
        if self.margin is not None:
            return result_text(self.margin)
        first_won, first_is_black = self.outcome > 0, self.number % 2 == 0  # "first": the match's first player
        return f"{'B' if first_won == first_is_black else 'W'}+{'F' if self.fault else 'R'}"


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The results of a match, from the view of the player given as `black`, which has Black in games 0, 2, …

    Attributes:
        played: the games in the order of their numbers.
        env: the game; None if unknown.
    """

    played: tuple[MatchGame, ...]
    env: GameEnv | None = None

    @classmethod
    def of(cls, env: GameEnv, games: Iterable[MatchGame]) -> "MatchResult":
        """Return the result of a match, given all its games in any order."""
        return cls(tuple(sorted(games, key=lambda game: game.number)), env)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """The results of `black`, float32 [games]: 1, 0 or -1, or fractions in games with graded outcomes."""
        return np.array([game.outcome for game in self.played], np.float32)

    @cached_property
    def games(self) -> tuple[tuple[int, ...], ...]:
        """The actions of each game."""
        return tuple(game.moves for game in self.played)

    @property
    def forfeits(self) -> dict[int, str]:
        """By game number, why an engine forfeited the game (a crash, an illegal move)."""
        return {game.number: game.fault for game in self.played if game.fault}

    @property
    def counted(self) -> int:
        """The number of games whose final board was scored by an engine too."""
        return sum(game.counted for game in self.played)

    @property
    def disagreements(self) -> dict[int, str]:
        """By game number, both scores, if the engine's score differs from the Tromp-Taylor score."""
        return {game.number: game.disagreement for game in self.played if game.disagreement}

    @property
    def wins(self) -> int:
        """The number of games that `black` won, with either colour."""
        return counts(self.outcomes)[0]

    @property
    def draws(self) -> int:
        """The number of games without a winner."""
        return counts(self.outcomes)[1]

    @property
    def losses(self) -> int:
        """The number of games that `black` lost, with either colour."""
        return counts(self.outcomes)[2]

    @property
    def by_colour(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Two tuples (wins, draws, losses) of the match's first player: of the games as Black, and of those as White.

        The first player, called `black` in `evaluate`, has Black in games 0, 2, 4, … and White in the others.
        """
        return counts(self.outcomes[::2]), counts(self.outcomes[1::2])

    @property
    def distinct(self) -> int:
        """The number of distinct games; games that differ only by a rotation or reflection count once."""
        return distinct_games(self.games, None if self.env is None else self.env.symmetries.actions)

    @property
    def win_rate(self) -> float:
        """The share of wins, 0 .. 1; a draw counts half."""
        return (self.wins + self.draws / 2) / len(self.outcomes)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the win rate (Wilson 1927), in which repeated games count once."""
        return wilson(self.win_rate, self.distinct)

    def svg(self, *, columns: int = 4, most: int = 12) -> Svg:
        """Return an SVG picture of the final positions of the first `most` games, `columns` in a row.

        Raises:
            ValueError: if there are no games, or if `env` is None.
        """
        check_int("columns", columns, 1)
        if self.env is None or not self.games:
            raise ValueError(f"a sheet must have a game's final positions, got {len(self.games)} games of {self.env}")
        ends = [self.env.position().after(moves) for moves in self.games[: check_int("most", most, 1)]]
        outcomes = self.outcomes.tolist()
        captions = [f"{i + 1}: {result_caption(end, outcomes[i], i, end.is_over)}" for i, end in enumerate(ends)]
        return to_svg(sheet([small_drawing(end) for end in ends], captions, columns, title=repr(self)))

    def _repr_svg_(self) -> str | None:
        """Return the picture of final positions for a notebook; None (the notebook shows text) if there is none."""
        return str(self.svg()) if self.env is not None and self.games else None

    def __repr__(self) -> str:
        if not len(self.outcomes):
            return "no games"
        low, high = self.interval
        (black_wins, *_), (white_wins, *_) = self.by_colour
        text = (
            f"{self.wins} wins ({black_wins} as Black, {white_wins} as White), "
            f"{self.draws} draws, {self.losses} losses in {len(self.outcomes)} games ({self.distinct} distinct): "
            f"{self.win_rate:.1%}, 95 % interval {low:.1%} to {high:.1%}"
        )
        if self.counted:
            text += f"; an engine scored {self.counted} final boards, {len(self.disagreements)} of them differently"
        if self.forfeits:
            number, why = min(self.forfeits.items())
            text += f"; {len(self.forfeits)} games were lost by a player's fault, the first game {number}: {why}"
        return text


def counts(outcomes: np.ndarray) -> tuple[int, int, int]:
    """Return how many outcomes are wins, draws and losses."""
    return int((outcomes > 0).sum()), int((outcomes == 0).sum()), int((outcomes < 0).sum())


def wilson(rate: float, games: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a success rate, 0 to 1, observed in `games` games."""
    centre = rate + Z * Z / (2 * games)
    spread = Z * math.sqrt(rate * (1 - rate) / games + Z * Z / (4 * games * games))
    scale = 1 + Z * Z / games
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def distinct_games(games: Sequence[tuple[int, ...]], symmetries: np.ndarray | None = None) -> int:
    """Return the number of distinct games.

    Args:
        symmetries: int64 [S, A], as `env.symmetries.actions`: games that differ only by a symmetry count once.  With
            None all games that differ in a move are distinct.
    """
    if symmetries is None:
        return len(set(games))
    # Games that are images of each other under a symmetry have the same set of images, so the same least image.
    images = (symmetries[:, list(game)].tolist() for game in games)  # each [S, plies]
    return len({tuple(min(images_of_game)) for images_of_game in images})


def final_board_means(env: GameEnv, games: Sequence[tuple[int, ...]]) -> dict[str, float]:
    """Return means over the final boards of games, in the view of the player that has Black in games 0, 2, …

    Stones removed by suicide count as captured. If a game ended by resignation, its last board counts.

    Args:
        env: a game with `has_captures`.
        games: the actions of each game from the start position.

    Returns:
        By name: "score", the player's margin in points; "captures", the number of stones that the player captured;
        "captured", the number of its own stones that were captured.
    """
    rows = []  # for each game, the three numbers
    for number, moves in enumerate(games):
        end: Any = env.position().after(moves)
        side = -1 if number % 2 else 1  # the player's colour
        # `captures` has the stones that Black captured, then those that White captured; [::-1] exchanges them.
        rows.append((side * end.score(), *end.captures[::side]))
    return dict(zip(("score", "captures", "captured"), np.mean(rows, axis=0).tolist(), strict=True))


def result_caption(position: Position, outcome: float, number: int, is_over: bool) -> str:
    """Return a caption with the first player's colour and result: "Black, won by 5.5", "White, lost", "Black, a draw".

    Args:
        position: the last position of the game.
        outcome: the first player's result.
        number: the number of the game; the first player has Black if it is even.
        is_over: whether the game ended by the rules; only then the caption has a margin.  It can differ from
            `position.is_over`: the match may have had a lower limit of moves than the game of `position`.
    """
    colour, sign = ("Black", 1) if number % 2 == 0 else ("White", -1)
    if outcome == 0:
        return f"{colour}, a draw"
    caption = f"{colour}, won" if outcome > 0 else f"{colour}, lost"
    margin = sign * position.score()
    agrees = np.sign(margin) == np.sign(outcome)  # not if an engine scored the game differently
    has_points = position.env.has_ownership and is_over and agrees
    return f"{caption} by {abs(margin):g}" if has_points else caption
