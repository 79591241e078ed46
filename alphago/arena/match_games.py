"""Play the games of a match side by side, and evaluate their final boards."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.engine_player import RESIGN, EnginePlayer
from alphago.arena.openings import random_points
from alphago.arena.players import Player
from alphago.env.board import result_text
from alphago.env.game import GameEnv
from alphago.records.record import GameRecord, RecordBuilder, add_moves

MOST_OF_A_DRAW = 0.1  # with graded outcomes (OwareEnv) the outcome of a drawn game is not 0, but below this


@dataclass(frozen=True)
class MatchPlan:
    """Everything except the players that determines the games of a match.

    games: number of games in the match; the first player has Black in games 0, 2, 4, …
    opening_plies: number of first plies in which a move is drawn in proportion to its visits (or probability).
    random_opening: number of plies on random points before the players choose; games 2k and 2k + 1 share an opening.
    seed: random seed of openings, drawn moves and engines.
    leaves: `SearchSettings.leaves` for players without search settings of their own.
    """

    games: int
    opening_plies: int
    random_opening: int
    seed: int
    leaves: int

    def engine_seed(self, number: int) -> int:
        """Return the seed for engines in the game with this number, 1 .. 2^31 - 1."""
        return 1 + (self.games * self.seed + number) % (2**31 - 1)


@dataclass(frozen=True)
class MatchGame:
    """A finished game of a match.

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
    def black(self) -> float:
        """The outcome from Black's view."""
        return self.outcome if self.number % 2 == 0 else -self.outcome

    @property
    def result(self) -> str:
        """The result as text: 'B+2.5', 'draw', 'W+R' (Black resigned) or 'W+F' (Black forfeited)."""
        if self.margin is not None:
            return result_text(self.margin)
        return f"{'B' if self.black > 0 else 'W'}+{'F' if self.fault else 'R'}"


class ParallelGames:
    """Games that one thread plays side by side; each `step` plays a move in every unfinished game.

    players: the two players of the match; call `close` at the end.  numbers: the numbers of the games in the match.
    plan: what else determines the games.
    """

    def __init__(self, env: GameEnv, players: Sequence[Player], numbers: Sequence[int], plan: MatchPlan) -> None:
        self.players = players
        self.numbers = numbers
        self.plan = plan
        self.board = env.new_batch(len(numbers))
        self.generators = [np.random.default_rng([plan.seed, number]) for number in numbers]
        # Games 2k and 2k + 1 draw the same random opening.
        self.opening_generators = [np.random.default_rng([plan.seed, number // 2, 1]) for number in numbers]
        self.first_is_black = np.array([number % 2 == 0 for number in numbers])
        self.moves: list[list[int]] = [[] for _ in numbers]
        self.active = np.arange(len(numbers))  # slots of the unfinished games

    def close(self) -> None:
        """End the processes of players that are engines."""
        for player in self.players:
            if isinstance(player, EnginePlayer):
                player.close()

    def step(self) -> list[MatchGame]:
        """Play one move in every unfinished game; return the games that ended with this move."""
        active, board = self.active, self.board
        movers = board.to_play(active, np.empty(len(active), np.int8))
        first_moves = (movers > 0) == self.first_is_black[active]
        actions = self.choose(first_moves)
        resigns = actions == RESIGN
        resigned, played, actions = active[resigns], active[~resigns], actions[~resigns]
        board.play(played, actions)
        for player in self.players:
            player.follow(played, actions)
        for game, action in zip(played, actions, strict=True):
            self.moves[game].append(int(action))
        over = played[board.is_over(played, np.empty(len(played), np.bool_))]
        ended = self.score(over)
        for game, first_resigns in zip(resigned, first_moves[resigns], strict=True):
            ended.append(self.finish(game, outcome=-1.0 if first_resigns else 1.0, margin=None))
        self.active = np.setdiff1d(active, np.concatenate([over, resigned]))
        return ended

    def score(self, over: np.ndarray) -> list[MatchGame]:
        """Return the finished games of the slots `over`, int64 [n], which ended by the rules."""
        black_outcomes, margins = self.board.black_results(over)
        margins += 0.0  # no -0.0
        is_draw = (margins == 0) & (np.abs(black_outcomes) < MOST_OF_A_DRAW)
        black_outcomes[is_draw] = 0
        outcomes = np.where(self.first_is_black[over], black_outcomes, -black_outcomes)
        results = zip(over, outcomes.tolist(), margins.tolist(), strict=True)
        return [self.finish(game, outcome, margin) for game, outcome, margin in results]

    def choose(self, first_moves: np.ndarray) -> np.ndarray:
        """Return an action for each unfinished game, int32 [n].

        first_moves: bool [n], whether it is the first player's turn.
        """
        active, plan = self.active, self.plan
        plies = np.array([len(self.moves[game]) for game in active])
        # One number is drawn at each ply, even if it is not used, so that a game's numbers depend only on the ply.
        chance = np.array([self.generators[game].random() for game in active])
        actions = np.empty(len(active), np.int32)
        in_opening = plies < plan.random_opening
        if in_opening.any():
            generators = [self.opening_generators[game] for game in active[in_opening]]
            actions[in_opening] = random_points(self.board, active[in_opening], generators)
        for player, is_mover in zip(self.players, (first_moves, ~first_moves), strict=True):
            chooses = is_mover & ~in_opening  # bool [n]
            if chooses.any():
                by_chance = plies[chooses] < plan.opening_plies
                actions[chooses] = player.choose(active[chooses], by_chance, chance[chooses])
        return actions

    def finish(self, game: int, outcome: float, margin: float | None) -> MatchGame:
        """Return the finished game of the slot `game`; outcome, margin: as in `MatchGame`."""
        engines = [player for player in self.players if isinstance(player, EnginePlayer)]
        return MatchGame(
            self.numbers[game],
            outcome=outcome + 0.0,  # no -0.0
            moves=tuple(self.moves[game]),
            margin=margin,
            fault=next((player.faults[game] for player in engines if game in player.faults), ""),
            counted=any(game in player.scores for player in engines),
            disagreement="; ".join(filter(None, (player.disagreement(game) for player in engines))),
        )


def play_games(games: ParallelGames, on_game: Callable[[MatchGame], Any], stop: threading.Event | None = None) -> None:
    """Play games to their end, and call `on_game` with each finished game.

    stop: setting it ends the call at the next move.
    """
    while len(games.active) and not (stop and stop.is_set()):
        for game in games.step():
            on_game(game)


def distinct_games(games: Sequence[tuple[int, ...]], symmetries: np.ndarray | None = None) -> int:
    """Return the number of distinct games.

    symmetries: int64 [S, A], as `env.symmetries.actions`: games that differ only by a symmetry count once.  With None
        all games that differ in a move are distinct.
    """
    if symmetries is None:
        return len(set(games))
    # A game and its images under the symmetries have the same least image, by which they are counted once.
    images = (symmetries[:, list(game)].tolist() for game in games)  # each [S, plies]
    return len({tuple(min(images_of_game)) for images_of_game in images})


class FinalBoards(NamedTuple):
    """Averages over the final boards of a match, for the player that has Black in games 0, 2, …

    score: the player's margin in points.  captures: number of enemy stones captured.  captured: number of own stones
        lost.
    """

    score: float
    captures: float
    captured: float


def final_boards(env: GameEnv, games: Sequence[tuple[int, ...]]) -> FinalBoards:
    """Return averages over the final boards of games, for the player that has Black in games 0, 2, …

    env: a game with `has_captures`.  games: the actions of each game from the start position.
    Stones removed by suicide count as captured. If a game ended by resignation, its last board counts.
    """
    boards = []
    for number, moves in enumerate(games):
        first_colour = 1 if number % 2 == 0 else -1
        boards.append(final_board(env, moves, first_colour))
    return FinalBoards(*np.mean(boards, axis=0).tolist())


def records_of(env: GameEnv, games: Sequence[tuple[int, ...]]) -> list[GameRecord]:
    """Return games, given as actions from the start position, as records without policies and values."""
    batch = env.new_batch(len(games))
    builders = [RecordBuilder(env=env) for _ in games]
    lengths = np.array([len(game) for game in games])
    for ply in range(int(lengths.max(initial=0))):
        slots = np.flatnonzero(lengths > ply)
        actions = np.array([games[int(slot)][ply] for slot in slots], np.int32)
        legal = batch.legal_mask(slots, np.empty((len(slots), env.action_space), np.bool_))
        zeros = np.zeros(len(slots), np.float32)  # nothing was searched
        add_moves(
            [builders[slot] for slot in slots],
            policies=np.zeros((len(slots), env.action_space), np.float32),
            actions=actions,
            values=zeros,
            legal_counts=legal.sum(axis=1),
            movers=batch.to_play(slots, np.empty(len(slots), np.int8)),
            weights=zeros,
            surprises=zeros,
        )
        batch.play(slots, actions)
    outcomes, scores = batch.black_results(np.arange(len(games)))
    ends = zip(builders, outcomes.tolist(), scores.tolist(), strict=True)
    return [
        builder.finish(outcome, score, resigned=False, action_space=env.action_space)
        for builder, outcome, score in ends
    ]


def final_board(env: GameEnv, moves: Sequence[int], side: int) -> tuple[float, int, int]:
    """Return one side's margin in points, the stones that it captured and those that it lost.

    moves: the actions from the start position.  side: 1 for Black, -1 for White.
    """
    position: Any = env.position()  # Any: only games with captures have a `board`
    placed = {1: 0, -1: 0}  # by side, the stones placed so far
    for action in moves:
        if action != env.pass_action:
            placed[position.to_play] += 1
        position = position.play(action)
    lost = {colour: count - int((position.board == colour).sum()) for colour, count in placed.items()}
    return side * position.score(), lost[-side], lost[side]
