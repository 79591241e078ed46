"""Play the games of a match side by side, and evaluate their final boards."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.alphabeta import AlphaBetaPlayer, AlphaBetaSettings
from alphago.arena.engine import Engine
from alphago.arena.engine_player import EnginePlayer, disagreement
from alphago.arena.entrant import Entrant, PlayerSource
from alphago.arena.match_result import MatchGame
from alphago.arena.players import RESIGN, LevelPlayer, Player, PolicyPlayer, RandomPlayer, SearchPlayer
from alphago.arena.playout_player import PlayoutPlayer, PlayoutSettings
from alphago.arena.submission import Submission, SubmissionPlayer
from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import is_go, require_go
from alphago.mcts.evaluator import PlayoutEvaluator, as_evaluator
from alphago.mcts.puct import Puct
from alphago.mcts.rule import choose_actions
from alphago.mcts.search_specs import make_search

# The search of "uct:N" in games other than Go; c_puct 2 won 64 % of 40 games of Connect Four against the default 0.96.
UCT = Puct(c_puct=2.0, first_play_reduction=0.0)
ENOUGH = 500  # number of possible openings that is enough for a match; 400 games have 200 openings
MOST_PLIES = 6  # of an opening
LEAST_POINTS = 5  # with fewer points off the edge, as on small boards of Go, openings use all points
LARGEST_DRAW = 0.1  # with graded outcomes (OwareEnv) the outcome of a drawn game is not 0, but smaller than this


@dataclass(frozen=True)
class MatchPlan:
    """Everything except the players that determines the games of a match.

    Attributes:
        games: number of games in the match; the first player has Black in games 0, 2, 4, …
        sampled_plies: number of first plies in which players draw moves in proportion to visits (or probabilities);
            `opening_plies` of `evaluate`.
        random_opening: number of plies on random points before the players choose; games 2k and 2k + 1 share an
            opening.
        seed: random seed of openings, drawn moves and engines.
        leaves: `SearchSettings.leaves` for players without search settings of their own.
    """

    games: int
    sampled_plies: int
    random_opening: int
    seed: int
    leaves: int

    def engine_seed(self, number: int) -> int:
        """Return the seed for engines in the game with this number, 1 .. 2^31 - 1."""
        # `games * seed` keeps the engine seeds of matches with different seeds apart.
        return 1 + (self.games * self.seed + number) % (2**31 - 1)


class MatchSetup(NamedTuple):
    """A match: its game, its two players, and what else determines its games."""

    env: GameEnv
    entrants: Sequence[Entrant]
    plan: MatchPlan


class ParallelGames:
    """Games that one thread plays side by side; each `step` plays a move in every unfinished game.

    Args:
        players: the two players of the match, for these games.
        plan: what else determines the games.
        numbers: the numbers of the games in the match.
    """

    def __init__(self, env: GameEnv, players: Sequence[Player], plan: MatchPlan, numbers: Sequence[int]) -> None:
        self.players, self.plan, self.numbers = players, plan, numbers
        self.board = env.new_batch(len(numbers))
        self.generators = [np.random.default_rng([plan.seed, number]) for number in numbers]
        # Games 2k and 2k + 1 draw the same random opening.  The 1 makes these generators differ from all those above.
        self.opening_generators = [np.random.default_rng([plan.seed, number // 2, 1]) for number in numbers]
        self.first_is_black = np.array([number % 2 == 0 for number in numbers])
        self.moves: list[list[int]] = [[] for _ in numbers]
        self.active = np.arange(len(numbers))  # slots of the unfinished games; slot i has the game numbers[i]

    def step(self) -> list[MatchGame]:
        """Play one move in every unfinished game; return the games that ended with this move."""
        active, board = self.active, self.board
        movers = board.to_play(active, np.empty(len(active), np.int8))
        first_to_move = (movers > 0) == self.first_is_black[active]
        actions = self.choose(first_to_move)
        resigns = actions == RESIGN
        resigned, played = active[resigns], active[~resigns]
        actions = actions[~resigns]
        board.play(played, actions)
        for player in self.players:
            player.follow(played, actions)
        for slot, action in zip(played, actions, strict=True):
            self.moves[slot].append(int(action))
        over = played[board.is_over(played, np.empty(len(played), np.bool_))]
        ended = self.score(over)
        for slot, first_resigns in zip(resigned, first_to_move[resigns], strict=True):
            fault = self.players[0 if first_resigns else 1].faults.get(slot, "")
            ended.append(self.to_game(slot, outcome=-1.0 if first_resigns else 1.0, fault=fault))
        self.active = np.setdiff1d(active, np.concatenate([over, resigned]))
        return ended

    def score(self, over: np.ndarray) -> list[MatchGame]:
        """Return the finished games of the slots `over`, int64 [n], whose games have ended by the rules."""
        black_outcomes, margins = self.board.black_results(over)
        margins += 0.0  # no -0.0
        # With graded outcomes a draw may have a small outcome other than 0.  In a user's own game a player may win at
        # equal points, so a margin of 0 alone does not show a draw.
        is_draw = (margins == 0) & (np.abs(black_outcomes) < LARGEST_DRAW)
        black_outcomes[is_draw] = 0
        outcomes = np.where(self.first_is_black[over], black_outcomes, -black_outcomes)
        ended = []
        for slot, outcome, margin in zip(over, outcomes.tolist(), margins.tolist(), strict=True):
            # One text for each player that has scored the board itself; "" if its score agrees.
            scorers = [player for player in self.players if slot in player.scores]
            texts = [disagreement(margin, player.scores[slot], player.name) for player in scorers]
            differences = "; ".join(filter(None, texts))
            ended.append(self.to_game(slot, outcome, margin=margin, counted=bool(texts), disagreement=differences))
        return ended

    def choose(self, first_to_move: np.ndarray) -> np.ndarray:
        """Return an action for each unfinished game, int32 [n].

        Args:
            first_to_move: bool [n], whether it is the first player's turn.
        """
        active, plan = self.active, self.plan
        plies = np.array([len(self.moves[slot]) for slot in active])
        # One number is drawn at each ply, even if it is not used, so that a game's numbers depend only on the ply.
        chance = np.array([self.generators[slot].random() for slot in active])
        actions = np.empty(len(active), np.int32)
        in_random_opening = plies < plan.random_opening
        if in_random_opening.any():
            generators = [self.opening_generators[slot] for slot in active[in_random_opening]]
            actions[in_random_opening] = random_points(self.board, active[in_random_opening], generators)
        for player, is_mover in zip(self.players, (first_to_move, ~first_to_move), strict=True):
            chooses = is_mover & ~in_random_opening  # bool [n]
            if chooses.any():
                by_chance = plies[chooses] < plan.sampled_plies
                actions[chooses] = player.choose(active[chooses], by_chance, chance[chooses])
        return actions

    def to_game(self, slot: int, outcome: float, **more: Any) -> MatchGame:
        """Return the game of a slot as a finished one; outcome, more: fields of `MatchGame`."""
        return MatchGame(self.numbers[slot], outcome + 0.0, tuple(self.moves[slot]), **more)  # + 0.0: no -0.0


def play_games(
    match: MatchSetup, numbers: Sequence[int], on_game: Callable[[MatchGame], Any], *, stop: threading.Event
) -> None:
    """Play games to their end, side by side in this thread, and call `on_game` with each finished game.

    Args:
        numbers: the numbers of the games in the match.
        stop: setting it ends the call at the next move.
    """
    env, entrants, plan = match
    seeds = [plan.engine_seed(number) for number in numbers]
    with ExitStack() as stack:  # ends the processes of engines, also where a second player cannot be made
        players = [stack.enter_context(closing(make_player(env, entrant, seeds, plan.leaves))) for entrant in entrants]
        games = ParallelGames(env, players, plan, numbers)
        while len(games.active) and not stop.is_set():
            for game in games.step():
                on_game(game)


def make_player(env: GameEnv, entrant: Entrant, seeds: Sequence[int], leaves: int = 1) -> Player:
    """Return an entrant as a player of many games at once; close it after use.

    Args:
        env: the game of the match.
        seeds: an engine's seed for each game.
        leaves: `SearchSettings.leaves` of an evaluator's search, unless the entrant's search is settings that have it.
    """
    source, games = entrant.player, len(seeds)
    env = own_view(env, source)  # the same game, with the planes of the player's network
    if source == "random":
        return RandomPlayer(env.new_batch(games))
    if isinstance(source, PlayoutSettings):
        if source.equivalence == 0 and not is_go(env):  # UCT, without RAVE's `equivalence`, in another game
            # The evaluator's seed is constant, so that a game is the same whichever thread or worker plays it.
            return SearchPlayer(env, PlayoutEvaluator(env, seed=0), games, source.playouts, UCT)
        return PlayoutPlayer(require_go(env, source.name), source, games)  # raises for RAVE in another game
    if isinstance(source, AlphaBetaSettings):
        return AlphaBetaPlayer(env, source, games)
    if isinstance(source, Engine):
        return EnginePlayer(require_go(env, source.name), source, seeds)
    if isinstance(source, Submission):
        return SubmissionPlayer(env, source, seeds)
    evaluator = as_evaluator(source)
    if entrant.level is not None:
        return LevelPlayer(env, evaluator, games, entrant.level)
    if entrant.readouts == 0:
        return PolicyPlayer(env, evaluator, games)
    settings = make_search(entrant.search, entrant.readouts, leaves)
    return SearchPlayer(env, evaluator, games, entrant.readouts, settings)


def own_view(env: GameEnv, player: PlayerSource) -> GameEnv:
    """Return the match's game as a player's search plays it (`GameEnv.player_view`), with its network's planes.

    For a program the game is not changed.
    """
    if isinstance(player, (Engine, Submission)):
        return env
    network_env = getattr(player, "env", None)  # None for a player without a network
    # The names of planes belong to one class of games.  A game without `planes` in its config has no choice of them.
    if type(network_env) is type(env) and "planes" in env.config:
        env = env.replace(planes=network_env.config["planes"])
    return env.player_view()


def opening_length(env: GameEnv) -> int:
    """Return the default number of random plies at the start of a match's games: 2, 4 or MOST_PLIES.

    It is the least number with ENOUGH openings, if every ply has as many choices as the first: 2 plies in Go from 7x7
    on and in Gomoku, 4 in Oware and Connect Four, 6 in Reversi.  With fewer openings deterministic players would repeat
    games, which an interval would count as independent.
    """
    legal = env.position().legal_mask
    choices = int((legal & env.opening_actions).sum())
    if choices < LEAST_POINTS:  # the few points are soon taken; then `random_points` draws from all legal actions
        choices = int(legal.sum())
    return next((plies for plies in range(2, MOST_PLIES, 2) if choices**plies >= ENOUGH), MOST_PLIES)


def random_points(board: GameBatch, games: np.ndarray, generators: list[np.random.Generator]) -> np.ndarray:
    """Return a random legal action for each game, int32 [n].

    The action is drawn from `GameEnv.opening_actions`; if none of them is legal, from all legal actions.

    Args:
        generators: the random generator of each game.
    """
    env = board.env
    legal = board.legal_mask(games, np.empty((len(games), env.action_space), np.bool_))
    allowed = legal & env.opening_actions
    allowed = np.where(allowed.any(axis=1, keepdims=True), allowed, legal)
    chance = np.array([generator.random() for generator in generators])
    # The weights of all allowed actions are 1, so they are equally likely.
    return choose_actions(allowed.astype(np.int32), by_visits=np.ones(len(games), np.bool_), chance=chance)
