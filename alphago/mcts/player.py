"""`MCTSPlayer`: play one game with a search; methods are named as in AlphaGo.jl."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from alphago.env.game import GameEnv, check_env
from alphago.env.position import Position
from alphago.mcts.analysis_result import PLIES, Analysis
from alphago.mcts.evaluator import as_evaluator, network_and_game
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.level_choice import level_move
from alphago.mcts.levels import FULL_STRENGTH, Level, check_level, level_conditions
from alphago.mcts.lost_turns import LostTurns
from alphago.mcts.opponent import StrengthEstimator
from alphago.mcts.questions import Answer
from alphago.mcts.rule import temperature_plies
from alphago.mcts.search import Search
from alphago.mcts.search_specs import SearchSpec, make_search
from alphago.mcts.tree_reading import read_analysis
from alphago.records.record import GameRecord, RecordBuilder
from alphago.system.validation import MOST_READOUTS, check_bool, check_float, check_int, checks_keywords

# Results of searches, by the moves before the searched position.  A result is the root's value, from the view of the
# player to move, and the visits or probabilities of the actions, [A].
SearchResults = dict[tuple[int, ...], tuple[float, np.ndarray]]

USUAL_LEAVES = 8  # `SearchSettings.leaves` if neither `settings` nor `leaves` says it

_GAME = np.zeros(1, np.int64)  # the only game of the search, as an array of indices


@checks_keywords()
class MCTSPlayer:
    """The search and the moves of one game.

    Args:
        network: a NeuralNet; its name, file or run folder ("7x7", see `load_model`); an evaluator; or a function from a
            position to (policy [A], value), +1 for a Black win, as in AlphaGo.jl.
        num_readouts: simulations that `suggest_move` adds to the tree kept from the previous move.
        two_player_mode: whether to play the search's best move from the first ply on, without randomness;
            `suggest_move` then stops as soon as that move is certain.
        resign_threshold: the root value below which the mover holds the game for lost, see `should_resign`; -1 for
            never.  None for the threshold that the network's run has measured (`NeuralNet.resign_threshold`), or never
            if it does not hold in this game (see `measured_threshold`).
        settings: the search: settings such as Puct(c_puct=1.5); "puct" (also None) or "gumbel"; or a dictionary that
            changes some settings, {"kind": "gumbel", "c_scale": 0.5}.
        leaves: number of leaves per wave, which are evaluated together; None for `leaves` of `settings`, or
            USUAL_LEAVES if `settings` does not have it.
        seed: seed of the random choice of moves; None for a random seed.
        device: the device of a NeuralNet and of the search's boards: "cpu", "cuda", or "auto" for the GPU if there is
            one that supports game and network.
        level: the strength of `suggest_move`, from 1 (a beginner) to 10, or "even" to follow the other side's strength
            (see `alphago.mcts.levels`).  With a level boards are on the CPU, and `analysis` has the scores that the
            network forecasts.  None for full strength without scores.
    """

    def __init__(
        self,
        env: GameEnv,
        network: object,
        num_readouts: int = 800,
        two_player_mode: bool = False,
        resign_threshold: float | None = -0.9,
        *,
        settings: SearchSpec = None,
        leaves: int | None = None,
        seed: int | None = None,
        device: str = "auto",
        level: Level | None = None,
    ) -> None:
        check_env(env)
        # A network's name is replaced by the loaded network.  The game gets the planes that this network reads.
        self.network, self.env = network_and_game(network, env)
        self.num_readouts = check_int("num_readouts", num_readouts, 1, MOST_READOUTS)
        self.two_player_mode = check_bool("two_player_mode", two_player_mode)
        is_measured = resign_threshold is None  # by the network's run
        self.resign_threshold = None if is_measured else check_float("resign_threshold", resign_threshold, -1, 1)
        self.temperature_plies = 0 if two_player_mode else temperature_plies(self.env)  # 0: never drawn by chance
        self.generator = np.random.default_rng(None if seed is None else check_int("seed", seed, 0))
        search_settings = make_search(settings, self.num_readouts, USUAL_LEAVES)
        if leaves is not None:
            search_settings = replace(search_settings, leaves=leaves)
        self.level = None if level is None else check_level(level)
        evaluator = as_evaluator(self.network, self.env, device, forecasts=self.level is not None)
        self.search = Search(self.env, evaluator, 1, search_settings)
        self.initialize_game()

    def initialize_game(self, position: Position | None = None) -> None:
        """Start a game at `position` (None: the start position) with an empty tree.

        Raises:
            ValueError: for a position of another game; then nothing is changed.
        """
        position = position if position is not None else self.env.position()
        if not self.env.accepts(position.env):
            raise ValueError(f"position must be of {self.env}, got one of {position.env}")
        self.search.start(0, position)
        self.position = position
        self._searched: SearchResults = {}
        self._lost_turns = LostTurns()
        self._least_behind = 0.0  # points by which a player of a level must be behind to resign
        self._winner: int | None = None
        self._was_resign = False

    def tree_search(self, parallel_readouts: int | None = None) -> int:
        """Add simulations to the tree; return how many were added, 0 once the game is over.

        Args:
            parallel_readouts: number of simulations; None for one wave.
        """
        if self.is_done():
            return 0
        readouts = self.search.settings.leaves if parallel_readouts is None else parallel_readouts
        check_int("parallel_readouts", readouts, 1, MOST_READOUTS)
        visits_before = max(self.root_visits, 1)  # the root's own evaluation, its first visit, is no simulation
        self.search.run(np.array([readouts], np.int32))
        return self.root_visits - visits_before

    @property
    def root_visits(self) -> int:
        """The number of visits of the root, including its own evaluation; 0 before the first search."""
        return int(self.search.tree.visits[0, ROOT])

    @property
    def root_value(self) -> float:
        """The mean value of the simulations, -1 .. 1, from the view of the player to move; 0 before any search."""
        return float(self.search.root_values(_GAME)[0])

    def visits(self) -> np.ndarray:
        """Return the number of visits of each action at the root, int32 [A]."""
        return self.search.visits(_GAME)[0]

    def analysis(self, plies: int = PLIES, move_ownership: bool = False) -> Analysis:
        """Return the evaluation of the position by the search so far.

        Before any search the analysis has no visits, only the network's priors and value, computed in the dtype that
        searches use. Scores and ownership are known to a player with a `level`.

        Args:
            plies: the most plies of each expected line of play.
            move_ownership: whether to return also the ownership expected after each action.

        Raises:
            ValueError: once the game is over.
        """
        self._check_going_on("no analysis")
        self.search.expand_roots(_GAME)
        return read_analysis(self.search, _GAME, plies=plies, move_ownership=move_ownership, positions=(self.position,))

    def _check_going_on(self, missing: str) -> None:
        """Raise ValueError once the game is over; missing: what there is not then."""
        if self.is_done():
            raise ValueError(f"{missing}: the game is over ({self.result_string})")

    def pick_move(self) -> int:
        """Return a move from the search so far, without playing it; before any search, one wave is run.

        In the first `temperature_plies` plies the move is drawn by chance: by PUCT in proportion to visits, by Gumbel
        search from its improved policy.  Later it is the best move: the most visited one, or the winner of sequential
        halving.

        Raises:
            ValueError: once the game is over.
        """
        self._check_going_on("no move to pick")
        if self.search.tree.at("first_child", _GAME)[0] == NONE:  # at most the root is evaluated
            self.tree_search()
        by_chance = np.array([len(self.position.moves) < self.temperature_plies])
        return int(self.search.choose(_GAME, by_chance, self.generator.random(1))[0])

    def suggest_move(self) -> int:
        """Add `num_readouts` simulations to the tree and return a move, without playing it; see `pick_move`.

        Gumbel search starts from a tree without visits (see `Search.begin_move`), since sequential halving divides the
        simulations of one search.  A `level` has simulations of its own, and its moves are drawn by chance (see
        `alphago.mcts.levels`).
        """
        self._check_going_on("no move to pick")
        level = self.opponent.estimate(self.position).level if isinstance(self.level, str) else self.level  # str: EVEN
        if level is not None and level < FULL_STRENGTH:
            return self._move_of_level(level)
        self.search.begin_move(_GAME, np.array([self.position.move_number], np.int32))
        # In two-player mode only the best move is ever played, so the search may end once this move is certain.
        self.search.run(np.array([self.num_readouts], np.int32), best_only=np.array([self.two_player_mode]))
        return self.pick_move()

    def _move_of_level(self, level: float) -> int:
        """Search with the readouts of a level below full strength, and return one of its moves.

        The visits of the kept tree count as part of these readouts, and so does the root's own evaluation.  The search
        does not end early when the best move is certain, since the worth of all moves matters.
        """
        readouts = level_conditions(level, self.env, self.search.has_forecasts).readouts
        self.search.run(np.array([max(0, readouts - self.root_visits)], np.int32))
        self.search.expand_roots(_GAME)  # `level_move` needs an evaluated root, also if no readouts were left
        move = level_move(self.search, game=0, level=level, chance=self.generator.random())
        self._least_behind = move.least_behind
        return move.action

    @cached_property
    def opponent(self) -> StrengthEstimator:
        """The estimator of the other side's strength, for the level "even"."""
        return StrengthEstimator(self.env, self.search.evaluator, self.network)

    def play_move(self, action: int | str) -> None:
        """Play a move of either side, an action or text such as 'd4'; raise IllegalMove if it is not legal.

        The part of the tree below the move is kept, except in Gumbel search.
        """
        action = self.position.check_action(action)
        if self.visits().any():
            self._searched[self.position.moves] = self.root_value, self.search.rule.policies(self.search.tree, _GAME)[0]
        # Before any search the value is 0, so that the turn counts as lost only under a threshold above 0.
        self._lost_turns.note_turn(self.position, self.root_value, self.network, self.resign_threshold)
        self.search.advance(_GAME, np.array([action], np.int32))
        if not self.search.rule.keeps_trees:
            self.search.forget(_GAME)
        self.position = self.position.play(action)

    def should_resign(self) -> bool:
        """Return whether the player to move should resign to an opponent that may be weaker than itself.

        It should if its value was below `resign_threshold` in its last turns and in this one, the game is long and the
        player is far behind; `alphago.mcts.lost_turns` has the numbers.  The result is False before any search.
        """
        if self.is_done() or not self.root_visits:
            return False
        answer = Answer(self.position, self.analysis(plies=1), is_last=True, least_behind=self._least_behind)
        return self._lost_turns.resigns(answer, self.network, self.resign_threshold)

    def set_result(self, winner: int, was_resign: bool) -> None:
        """End the game.

        Args:
            winner: 1 for Black, -1 for White, 0 for a draw; any other number raises ValueError.
            was_resign: whether the loser resigned.
        """
        if winner not in (1, 0, -1):
            raise ValueError(f"winner must be 1 (Black), -1 (White) or 0, got {winner!r}")
        self._winner, self._was_resign = winner, was_resign

    def is_done(self) -> bool:
        """Return whether the game is over, by its rules or by `set_result`."""
        return self._winner is not None or self.position.is_over

    @property
    def result(self) -> float:
        """The result of the game, or the result if it ended now: 1 if Black wins, -1 if White wins, 0 for a draw."""
        return self._winner if self._winner is not None else self.position.result

    @property
    def result_string(self) -> str:
        """The result as text: 'B+2.5', 'W+R' or 'draw'."""
        return self.game_record().result_string

    def extract_data(self) -> tuple[list[Position], list[np.ndarray], list[float]]:
        """Return the searched positions, their policies and Black's outcomes; see `GameRecord.training_data`."""
        return self.game_record().training_data(self.env)

    def game_record(self) -> GameRecord:
        """Return the game as a record, from its first move; moves before `initialize_game` are without a search."""
        return make_record(self.env, self.position, self._searched, self._winner, self._was_resign)


def make_record(
    env: GameEnv, position: Position, searched: SearchResults, winner: int | None = None, resigned: bool = False
) -> GameRecord:
    """Return the record of the game that leads to a position.

    Args:
        searched: the results of searches; a move without a search gets the weight 0.
        winner: as in `MCTSPlayer.set_result`; None for the result on the board.
        resigned: whether the loser resigned.
    """
    outcome, score = position.outcome, position.score()
    if winner is not None:
        outcome = float(winner)
        # The margin of the board counts only if its sign is the result; else the outcome, 1, 0 or -1, stands for it.
        if resigned or np.sign(score) != outcome:
            score = outcome
    builder = RecordBuilder(position.setup_in(env), env=env)
    for before, action in position.turns():
        legal = before.legal_mask
        value, shares = searched.get(before.moves, (0.0, legal))  # without a search all legal moves are equal
        weight = float(before.moves in searched)
        builder.add(action, shares / shares.sum(), value, int(legal.sum()), before.to_play, weight)
    return builder.finish(outcome, score, resigned, env.action_space)
