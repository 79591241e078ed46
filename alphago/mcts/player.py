"""`MCTSPlayer`: the search of one game, with AlphaGo.jl's verbs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import PLAYER_NAMES, GameEnv, Position, check_env
from alphago.mcts.evaluator import as_evaluator, as_network
from alphago.mcts.kernels.nodes import NONE, ROOT
from alphago.mcts.rule import resigns, temperature_plies, without_rash_passes
from alphago.mcts.search import Search, SearchSettings
from alphago.records.record import GameRecord, RecordBuilder
from alphago.system.validation import MOST_READOUTS, check_bool, check_float, check_int, checks_keywords, make_settings

USUAL_LEAVES = 8  # `SearchSettings.leaves` if neither settings nor leaves are given

_GAME = np.zeros(1, np.int64)


class SearchResult(NamedTuple):
    """What a search found for its position, in arrays over all actions, from the view of the player to move.

    Action a is row `a // N`, column `a % N` of a board of side N, and a pass the last one; `env.to_text(a)` names it.
    """

    actions: np.ndarray  # int64 [n], those with visits, the most visited first
    priors: np.ndarray  # float32 [A], the network's probabilities; 0 for illegal actions
    q: np.ndarray  # float32 [A], -1 .. 1, the mean value of the simulations through an action; NaN without any
    visits: np.ndarray  # int32 [A]
    value: float  # -1 .. 1, the mean value of all simulations; before any, the network's

    def __repr__(self) -> str:
        best = f", most of them of action {self.actions[0]}" if len(self.actions) else ""
        return f"<a search of {self.visits.sum()} visits{best}, value {self.value:+.3f} for the player to move>"


@checks_keywords()
class MCTSPlayer:
    """The search and the moves of one game.

    network: a NeuralNet, its name, file or run folder ("7x7", as `load_model` takes it), an evaluator, or any function
        of a position that returns (policy [A], value) with +1 for a Black win, as AlphaGo.jl's networks do.
    num_readouts: simulations that `suggest_move` adds to the tree it kept from the move before.
    two_player_mode: whether to play the search's best move from the first ply on, without chance; `suggest_move`
        then stops as soon as that move is certain.
    resign_threshold: `should_resign` is true when the mover's root value is below it; -1 for never.  None for what the
        network's run has measured in games that began on the empty board (`NeuralNet.resign_threshold`), as long as
        this one did, else never.
    seed: of the random choices among early moves.
    settings: how the search chooses, PUCT's defaults where it is None; a dictionary changes some of them.
    leaves: positions evaluated together, held apart by virtual loss; None for those of the settings, or
        USUAL_LEAVES where there are none.
    device: where a NeuralNet is computed and the boards of its search are: "cpu", "cuda", or "auto" for the GPU where
        there is one that suits game and network.
    """

    def __init__(
        self,
        env: GameEnv,
        network: Any,
        num_readouts: int = 800,
        two_player_mode: bool = False,
        resign_threshold: float | None = -0.9,
        *,
        settings: SearchSettings | Mapping[str, Any] | None = None,
        leaves: int | None = None,
        seed: int | None = None,
        device: str = "auto",
    ) -> None:
        check_env(env)
        self.env = env
        self.network = as_network(network, env)
        self.num_readouts = check_int("num_readouts", num_readouts, 1, MOST_READOUTS)
        self.two_player_mode = check_bool("two_player_mode", two_player_mode)
        if resign_threshold is not None:
            resign_threshold = check_float("resign_threshold", resign_threshold, -1, 1)
        self.resign_threshold = resign_threshold
        self.temperature_plies = -1 if two_player_mode else temperature_plies(env)
        self.generator = np.random.default_rng(None if seed is None else check_int("seed", seed, 0))
        if isinstance(settings, Mapping):
            settings = make_settings(SearchSettings, **{"leaves": USUAL_LEAVES, **settings})
        settings = settings or SearchSettings(leaves=USUAL_LEAVES)
        if leaves is not None:
            settings = replace(settings, leaves=leaves)
        self.search = Search(env, as_evaluator(self.network, env, device), 1, settings)
        self.initialize_game()

    def initialize_game(self, position: Position | None = None) -> None:
        """Start a game at `position` (None: the start position) with an empty tree.

        Raises ValueError, and changes nothing, for a position of another game.
        """
        position = position if position is not None else self.env.position()
        if not self.env.accepts(position.env):
            raise ValueError(f"position must be of {self.env}, got one of {position.env}")
        record = RecordBuilder(position.setup_in(self.env), env=self.env)
        before = position.env.position(**position.setup)  # its own game: the player's may differ in when one may pass
        for action in position.moves:
            note(record, before, action, 0, before.legal_mask.astype(np.int32), 0.0)
            before = before.play(action)
        self.search.batch.copy(_GAME, _GAME, of=position.batch)
        self.search.forget(_GAME)
        self.position, self._record = position, record
        self._winner: int | None = None
        self._was_resign = False

    def tree_search(self, parallel_readouts: int | None = None) -> int:
        """Add simulations (None: those of one wave) to the tree and return how many; 0 once the game is over."""
        if self.is_done():
            return 0
        readouts = self.search.settings.leaves if parallel_readouts is None else parallel_readouts
        check_int("parallel_readouts", readouts, 1)
        before = self.root_visits
        self.search.run(np.array([readouts], np.int32))
        return self.root_visits - max(before, 1)

    @property
    def root_visits(self) -> int:
        """The number of evaluations backed up to the root, its own included; 0 before the first search."""
        return int(self.search.tree.visits[0, ROOT])

    @property
    def root_value(self) -> float:
        """The mean value of the simulations, -1 .. 1, from the view of the player to move; 0 before any search."""
        return float(self.search.root_values(_GAME)[0])

    def visits(self) -> np.ndarray:
        """Return the visits of each action at the root, int32 [A]."""
        return self.search.visits(_GAME)[0]

    def search_result(self) -> SearchResult:
        """Return priors, mean values and visits of all actions, as the search stands.

        Without a search the position is evaluated: priors and value are then the network's, in the precision in which
        searches compute, and there are no visits.  Raises ValueError once the game is over.
        """
        if self.is_done():
            raise ValueError(f"there is no search of a game that is over ({self.result_string})")
        self.search.expand_roots(_GAME)
        tree, nodes = self.search.tree, [node for node in self._best_children() if self.search.tree.visits[0, node]]
        actions, q = tree.action[0, nodes].astype(np.int64), np.full(self.env.action_space, np.nan, np.float32)
        q[actions] = tree.value_sum[0, nodes] / tree.visits[0, nodes]
        return SearchResult(actions, self.search.priors(_GAME)[0], q, self.visits(), self.root_value)

    def pick_move(self) -> int:
        """Return a move by the search so far: drawn in proportion to visits in the first plies, later the most visited.

        Gumbel search draws from its improved policy in the first plies, and later returns the action that sequential
        halving ends with.
        """
        if self.is_done():
            raise ValueError(f"no move to pick: the game is over ({self.result_string})")
        if self.root_visits < 2:
            self.tree_search()
        by_chance = np.array([len(self.position.moves) < self.temperature_plies])
        return int(self.search.choose(_GAME, by_chance, self.generator.random(1))[0])

    def suggest_move(self) -> int:
        """Add `num_readouts` simulations to the tree and return a move, without playing it.

        Gumbel search begins with an empty tree, since sequential halving divides the simulations of one search.
        """
        if not self.is_done():
            self.search.begin_move(_GAME)
            self.search.run(np.array([self.num_readouts], np.int32), np.array([self.two_player_mode]))
        return self.pick_move()

    def policy_move(self) -> int:
        """Return the most probable action by the network's priors, except passes that would lose a won game.

        Call it before any search of the position.
        """
        if self.is_done():
            raise ValueError(f"no move to pick: the game is over ({self.result_string})")
        self.search.expand_roots(_GAME)
        priors, values = self.search.priors(_GAME), self.search.root_values(_GAME)
        outcomes = np.array([self.position.to_play * self.position.outcome])
        return int(without_rash_passes(self.env, priors, values, outcomes)[0].argmax())

    def expected_line(self, action: int, plies: int = 6) -> str:
        """Return the most visited continuation from `action` on, as text; only the action if it was not searched."""
        tree = self.search.tree
        nodes = [node for node in self._children(ROOT) if tree.action[0, node] == action]
        return self._line(nodes[0], plies) if nodes else self.env.to_text(action)

    def play_move(self, action: int | str) -> None:
        """Play a move of either side, also a written one ('d4'), or raise IllegalMove.

        The tree below it is kept, except in Gumbel search.
        """
        action = self.position.check_action(action)
        position = self.position.play(action)
        searched = bool(self.visits().any())
        policy = self.search.policies(_GAME)[0] if searched else self.position.legal_mask.astype(np.int32)
        note(self._record, self.position, action, self.root_value, policy, float(searched))
        self.search.advance(_GAME, np.array([action], np.int32))
        if not self.search.rule.keeps_trees:
            self.search.forget(_GAME)
        self.position = position

    def should_resign(self, value: float | None = None) -> bool:
        """Return whether the player to move should resign.

        value: the game's value from its view, -1 .. 1; None for that of the search, and False before any search.
        """
        if value is None:
            value = self.root_value if self.root_visits else 1.0
        threshold = self.resign_threshold
        if threshold is None and self.position.began_empty:
            threshold = getattr(self.network, "resign_threshold", None)
        return bool(resigns(value, threshold))

    def set_result(self, winner: int, was_resign: bool) -> None:
        """End the game: `winner` is +1 Black, -1 White, 0 draw."""
        if winner not in (1, 0, -1):
            raise ValueError(f"winner must be 1 (Black), -1 (White) or 0, got {winner!r}")
        self._winner, self._was_resign = winner, was_resign

    def is_done(self) -> bool:
        """Return whether the game is over, by its rules or by `set_result`."""
        return self._winner is not None or self.position.is_over

    @property
    def result(self) -> float:
        """The result: +1 Black wins, -1 White wins, 0 a draw; for an unfinished game, by the board as it stands."""
        return self._winner if self._winner is not None else self.position.result

    @property
    def result_string(self) -> str:
        """The result as text: 'B+2.5', 'W+R' or 'draw'."""
        return self.game_record().result_string

    def extract_data(self) -> tuple[list[Position], list[np.ndarray], list[float]]:
        """Return the game's searched positions, their policies [A] and Black's outcome at each, as three lists.

        They are what AlphaGo.jl's loop learns from; see `GameRecord.training_data`.
        """
        return self.game_record().training_data(self.env)

    def game_record(self) -> GameRecord:
        """Return the game since `initialize_game` as a record."""
        outcome, score = self.position.outcome, self.position.score()
        if self._winner is not None:
            outcome = float(self._winner)
            # If the board's margin contradicts the result, it is not this game's margin.
            score = outcome if self._was_resign or np.sign(score) != outcome else score
        return self._record.finish(outcome, score, self._was_resign, self.env.action_space)

    def describe(self, lines: int = 5) -> str:
        """Return the most visited moves as text, a line each: visits, mean value, prior, and the expected line.

        Values are from the view of the player to move, whom the head line names.  `search_result` has the numbers.
        """
        tree = self.search.tree
        mover = PLAYER_NAMES[self.position.to_play]
        head = f"{mover} to play, {self.root_visits} visits, value {self.root_value:+.3f} for {mover}"
        rows = [
            f"  {self.env.to_text(int(tree.action[0, node])):>5} {tree.visits[0, node]:6d} visits"
            f"  value {tree.value_sum[0, node] / max(tree.visits[0, node], 1):+.3f}"
            f"  prior {tree.prior[0, node]:.3f}  {self._line(node)}"
            for node in self._best_children()[:lines]
        ]
        return "\n".join([head, *rows])

    def _best_children(self) -> list[int]:
        """Return the root's children, the most visited first."""
        return sorted(self._children(ROOT), key=lambda node: -self.search.tree.visits[0, node])

    def _children(self, node: int) -> list[int]:
        tree, children = self.search.tree, []
        child = int(tree.first_child[0, node])
        while child != NONE:
            children.append(child)
            child = int(tree.next_sibling[0, child])
        return children

    def _line(self, node: int, plies: int = 6) -> str:
        """Return the most visited continuation below a node, as text."""
        tree, moves = self.search.tree, []
        for _ in range(plies):
            moves.append(self.env.to_text(int(tree.action[0, node])))
            children = self._children(node)
            if not children:
                break
            node = max(children, key=lambda child: tree.visits[0, child])
        return " ".join(moves)


def note(
    record: RecordBuilder, position: Position, action: int, value: float, shares: np.ndarray, weight: float
) -> None:
    """Add a move to a record; `shares` [A] are visits or probabilities, `weight` is 0 if the move was not searched."""
    record.add(action, shares / shares.sum(), value, int(position.legal_mask.sum()), position.to_play, weight)
