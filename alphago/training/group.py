"""The games that one thread of self-play plays in parallel.

Game i has a random generator of its own, seeded with (seed, i), so games do not depend on the speed of threads.
"""

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.rule import choose_actions, resigns, temperature_plies
from alphago.mcts.search import Search
from alphago.records.record import GameRecord, RecordBuilder, add_moves
from alphago.system.stopwatch import GAMES, Stopwatch
from alphago.training.settings.selfplay_settings import SelfPlaySettings, draw_start
from alphago.training.source import OnGame

SAVED = ("left", "readouts", "resign_threshold", "capacity")  # attributes of a GameGroup that its state contains
# In `Slots.opening`, an opening without end: a player would have resigned, so no later move is searched, and the policy
# plays the rest of the game.
PLAYED_OUT = 2**31 - 1


class Slots(NamedTuple):
    """What a Group knows of the game in each of its W slots, beside its record and its random generator."""

    plies: np.ndarray  # int32 [W], number of moves played
    opening: np.ndarray  # int32 [W], number of first plies that the policy plays without search, or PLAYED_OUT
    may_resign: np.ndarray  # bool [W]

    def set(self, slot: int, **values: object) -> None:
        """Set the entries of one slot.

        Args:
            values: the entry of each field, by its name.  Values of other names, such as the "generator" of a saved
                slot, are ignored.
        """
        for name in self._fields:
            getattr(self, name)[slot] = values[name]

    def state(self, slot: int) -> dict[str, Any]:
        """Return the entries of one slot by name, as plain data."""
        return {name: column[slot].item() for name, column in self._asdict().items()}


class Moves(NamedTuple):
    """The next move of each of n games, before it is played; A actions."""

    games: np.ndarray  # int64 [n], the games' slots
    movers: np.ndarray  # int8 [n], the player to move, 1 Black, -1 White
    searched: np.ndarray  # bool [n], whether the move is searched; otherwise it is chosen by the network's policy
    legal: np.ndarray  # bool [n, A]
    priors: np.ndarray  # float32 [n, A], the network's policy
    values: np.ndarray  # float32 [n], the root's value in the mover's view
    policies: np.ndarray  # float32 [n, A], the policy target; zeros if the move was not searched
    actions: np.ndarray  # int32 [n], the move
    weights: np.ndarray  # float32 [n], the position's weight in training; 0 for a position that is not learned


class GameGroup:
    """A group of games that are played in parallel; a derived class plays them, in this process or elsewhere.

    This class keeps the numbers of the games, what the present iteration asks for, and the finished games.

    Args:
        settings: the settings of self-play.
        width: number of slots; a slot holds one game in progress, or is empty.
        seed: the run's seed.
        numbers: the numbers of the games that have not begun.
    """

    def __init__(self, env: GameEnv, settings: SelfPlaySettings, width: int, *, seed: int, numbers: range) -> None:
        self.env = env
        self.settings = settings
        self.width = width
        self.seed = seed
        self.numbers = numbers
        self.readouts = settings.readouts
        self.resign_threshold = settings.resign_threshold
        self.capacity = width  # number of slots in use: slots from this number on begin no game
        self.finished: list[tuple[int, GameRecord]] = []
        self.left = 0  # moves left to play in each game in this iteration, after which the evaluator may change
        self.on_game: OnGame | None = None  # called with each finished game
        self.moves = 0
        self.readouts_done = 0  # simulations and evaluations of root positions
        self.stopwatch = Stopwatch()  # measures the work of the thread that plays

    def use(self, evaluator: Evaluator) -> None:
        """Let the games continue with another evaluator; do nothing where workers have evaluators and trees."""

    def play(self, stop: threading.Event, until: float | None = None) -> None:
        """Play the moves that are left, until `stop` is set or time.monotonic() reaches `until`; None for no limit."""
        raise NotImplementedError

    def records(self) -> list[GameRecord]:
        """Return the games in progress, ordered by slot, then those in `finished`."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return plain data; from this data and the result of `records`, another group's `restore` continues the games.

        No move may be in progress.
        """
        return {
            # Not for `restore`, but for the caller, who makes the new group with the numbers from here on.
            "next": self.numbers.start,
            **{name: getattr(self, name) for name in SAVED},
            "finished": len(self.finished),  # the games themselves are in `records`
            "slots": self.slot_states(),
        }

    def slot_states(self) -> list[dict[str, Any] | None]:
        """Return plain data of the game in each slot; None for an empty slot."""
        raise NotImplementedError

    def restore(self, state: Mapping[str, Any], records: Iterator[GameRecord]) -> None:
        """Continue from a saved group's `state`; empty slots begin new games.

        Args:
            state: the result of the saved group's method `state`.
            records: iterator over the games of all groups, from this group's on.  This method takes the saved group's
                `records()` from it, and leaves it at the next group's.
        """
        for name in SAVED:
            setattr(self, name, state[name])
        # In `records`, a group's games in progress come before its finished games.
        self.restore_slots(state["slots"], records)
        self.add_finished(islice(records, state["finished"]))

    def restore_slots(self, slots: Sequence[Mapping[str, Any] | None], records: Iterator[GameRecord]) -> None:
        """Continue the games in progress.

        Args:
            slots: the result of the saved group's `slot_states`.
            records: as in `restore`.
        """
        raise NotImplementedError

    def add_finished(self, records: Iterable[GameRecord]) -> None:
        """Add finished games, played here or in another process, to `finished`; call `on_game` with each of them."""
        for record in records:
            assert record.seed is not None
            _, number = record.seed
            self.finished.append((number, record))
            if self.on_game is not None:
                self.on_game(number, record)


class Group(GameGroup):
    """Games that one thread plays in parallel: all searches share the network's batches.

    Args:
        evaluator: the evaluator of the network that plays, until `use` is given another.
        settings, width, seed, numbers: see GameGroup.
    """

    def __init__(
        self, env: GameEnv, evaluator: Evaluator, settings: SelfPlaySettings, width: int, *, seed: int, numbers: range
    ) -> None:
        super().__init__(env, settings, width, seed=seed, numbers=numbers)
        self.search = Search(env, evaluator, width, settings.search)
        self.builders: dict[int, RecordBuilder] = {}  # by slot; an empty slot has none
        self.generators = [np.random.default_rng(0)] * width  # `begin` replaces them by the games' own generators
        zeros = np.zeros(width, np.int32)
        self.slots = Slots(plies=zeros, opening=zeros.copy(), may_resign=np.zeros(width, np.bool_))
        plies = settings.temperature_plies
        self.temperature_plies = temperature_plies(env) if plies is None else plies

    def use(self, evaluator: Evaluator) -> None:
        """Let the games continue with another evaluator: clear the trees, and begin games in free slots."""
        for slot in range(self.capacity):  # all are free at first, and later some, if `capacity` has grown
            if slot not in self.builders:
                self.begin(slot)
        self.search.evaluator = evaluator
        self.search.forget(np.arange(self.width))

    def begin(self, slot: int) -> None:
        """Start the group's next game in a slot; leave the slot empty if no game is left or `slot` >= `capacity`."""
        self.builders.pop(slot, None)
        if not self.numbers or slot >= self.capacity:
            return
        number = self.numbers[0]
        self.numbers = self.numbers[1:]
        slots = np.array([slot])
        generator, setup, opening, may_resign = draw_start(self.env, self.settings, self.seed, number)
        self.search.batch.reset(slots, **setup)
        self.search.forget(slots)
        self.builders[slot] = RecordBuilder(setup, seed=(self.seed, number), env=self.env)
        self.generators[slot] = generator
        self.slots.set(slot, plies=0, opening=opening, may_resign=may_resign)

    def play(self, stop: threading.Event, until: float | None = None) -> None:
        with self.stopwatch.running(GAMES.name), self.search.stream():
            while self.left and not stop.is_set():
                has_played = self.step()
                self.left = self.left - 1 if has_played else 0  # if no game is in progress, no moves are left
                if until is not None and time.monotonic() >= until:
                    break

    def step(self) -> bool:
        """Play one move in every game in progress; return False if no game is in progress."""
        games = np.array(sorted(self.builders), np.int64)
        if not len(games):
            return False
        moves = self.search_next(games)
        self.choose_moves(moves)
        resigned = self.slots.may_resign[games] & moves.searched & resigns(moves.values, self.resign_threshold)
        if self.settings.play_out:  # instead of resigning, let the policy play the rest of the game without search
            self.slots.may_resign[games[resigned]] = False
            self.slots.opening[games[resigned]] = PLAYED_OUT  # an opening without end: no later move is searched
            resigned[:] = False
        self.record(moves, ~resigned)
        self.advance(moves, ~resigned)
        return True

    def search_next(self, games: np.ndarray) -> Moves:
        """Search the next move of each game; if the policy is to choose the move, evaluate the root only.

        Args:
            games: int64 [n], slots.

        Returns:
            The moves; their policies and actions are 0 until `choose_moves` fills them in.
        """
        search, count = self.search, len(games)
        searched = self.slots.plies[games] >= self.slots.opening[games]
        readouts = np.where(searched, self.readouts, 0).astype(np.int32)
        movers = search.batch.to_play(games, np.empty(count, np.int8))
        priors = self.search_moves(games, readouts)
        self.readouts_done += int(readouts.sum()) + count  # each root is evaluated, too
        return Moves(
            games=games,
            movers=movers,
            searched=searched,
            legal=search.batch.legal_mask(games, np.empty((count, self.env.action_space), np.bool_)),
            priors=priors,
            values=search.root_values(games),
            policies=np.zeros((count, self.env.action_space), np.float32),
            actions=np.zeros(count, np.int32),
            weights=searched.astype(np.float32),  # moves without search are not learned
        )

    def search_moves(self, games: np.ndarray, readouts: np.ndarray) -> np.ndarray:
        """Search the next move of each game; return the network's priors at the roots, without noise, float32 [n, A].

        Args:
            games: int64 [n], slots.
            readouts: int32 [n], simulations; with 0 only the root is evaluated.
        """
        search = self.search
        search.begin_move(games, self.slots.plies[games])
        search.expand_roots(games)
        priors = search.priors(games)
        search.add_noise(games, self.generators_of(games))
        readouts_by_slot = np.zeros(self.width, np.int32)
        readouts_by_slot[games] = readouts
        search.run(readouts_by_slot)
        return priors

    def choose_moves(self, moves: Moves) -> None:
        """Choose the moves, and fill in the policies and actions of `moves`.

        Searched moves are chosen by the search.  The other moves of a game's opening are drawn from the policy.  In
        games that are played out, the policy's most probable move is chosen.
        """
        searched_games = moves.games[moves.searched]
        by_chance = self.slots.plies[searched_games] < self.temperature_plies  # in first plies, moves should vary
        policies, actions = self.search.selfplay_moves(searched_games, by_chance, self.generators_of(searched_games))
        moves.policies[moves.searched] = policies
        moves.actions[moves.searched] = actions
        is_played_out = self.slots.opening[moves.games] == PLAYED_OUT  # the moves of these games are not searched
        moves.actions[is_played_out] = moves.priors[is_played_out].argmax(axis=1)
        in_opening = ~moves.searched & ~is_played_out
        # `draw_moves` changes the priors that it is given: here a copy, since a mask selects them.
        generators = self.generators_of(moves.games[in_opening])
        moves.actions[in_opening] = draw_moves(self.env, moves.priors[in_opening], generators)

    def record(self, moves: Moves, plays_on: np.ndarray) -> None:
        """Add the moves to the games' records.

        Args:
            plays_on: bool [n], whether the player to move plays the move instead of resigning.
        """
        surprises = divergence(moves.policies, moves.priors)
        add_moves(
            [self.builders[slot] for slot in moves.games[plays_on]],
            policies=moves.policies[plays_on],
            moves=moves.actions[plays_on],
            values=moves.values[plays_on],
            legal_counts=moves.legal[plays_on].sum(axis=1),
            movers=moves.movers[plays_on],
            weights=moves.weights[plays_on],
            surprises=surprises[plays_on],
        )

    def advance(self, moves: Moves, plays_on: np.ndarray) -> None:
        """Play the moves, and finish the games that are over or resigned; plays_on: as in `record`."""
        playing = moves.games[plays_on]
        self.search.advance(playing, moves.actions[plays_on])
        self.slots.plies[playing] += 1
        self.moves += len(playing)
        # The mover resigns and loses: -1 in Black's view if that is Black (1), and 1 if it is White (-1).
        for slot, mover in zip(moves.games[~plays_on], moves.movers[~plays_on], strict=True):
            self.finish_game(int(slot), outcome=-float(mover), score=-float(mover), resigned=True)
        batch = self.search.batch
        over = playing[batch.is_over(playing, np.empty(len(playing), np.bool_))]
        if len(over):  # without games, the call below would only cost time on a GPU
            for slot, outcome, score in zip(over, *batch.black_results(over), strict=True):
                self.finish_game(int(slot), outcome=float(outcome), score=float(score), resigned=False)

    def generators_of(self, games: np.ndarray) -> list[np.random.Generator]:
        """Return the random generators of the games in these slots, int64 [n]."""
        return [self.generators[slot] for slot in games]

    def finish_game(self, slot: int, *, outcome: float, score: float, resigned: bool) -> None:
        """Finish the game in a slot and begin the next one there.

        Args:
            outcome: the result in Black's view, -1 .. 1.
            score: the margin in points in Black's view.
            resigned: whether the game ended by resignation.
        """
        self.add_finished([self.builders[slot].finish(outcome, score, resigned, self.env.action_space)])
        self.begin(slot)

    def records(self) -> list[GameRecord]:
        begun = [self.builders[slot] for slot in sorted(self.builders)]
        actions = self.env.action_space
        # The record of a game in progress has no result: its outcome and score are 0.
        unfinished = [builder.finish(outcome=0.0, score=0.0, resigned=False, action_space=actions) for builder in begun]
        return unfinished + [record for _, record in self.finished]

    def slot_states(self) -> list[dict[str, Any] | None]:
        states: list[dict[str, Any] | None] = [None] * self.width
        for slot in self.builders:
            states[slot] = {**self.slots.state(slot), "generator": self.generators[slot].bit_generator.state}
        return states

    def restore_slots(self, slots: Sequence[Mapping[str, Any] | None], records: Iterator[GameRecord]) -> None:
        """Continue the saved games in their slots, and begin games in empty slots; see `GameGroup.restore_slots`."""
        games: dict[int, GameRecord] = {}
        for slot, state in enumerate(slots):
            if state is None:
                self.begin(slot)
                continue
            games[slot] = record = next(records)
            self.builders[slot] = RecordBuilder.of(record)
            self.slots.set(slot, **state)
            self.generators[slot] = np.random.default_rng(0)  # the next line sets its state
            self.generators[slot].bit_generator.state = state["generator"]
        if games:
            self._replay(games)

    def _replay(self, games: Mapping[int, GameRecord]) -> None:
        """Put the last position of each saved game into the game's slot; games: the records by slot.

        Calls of a batch on a GPU are slow.  So there is one call for each set-up, and one for the moves of all games.
        """
        batch = self.search.batch
        slots_of: dict[str, list[int]] = {}  # by set-up as JSON
        for slot, record in games.items():
            slots_of.setdefault(json.dumps(record.setup, sort_keys=True), []).append(slot)
        for same_setup in slots_of.values():
            batch.reset(np.array(same_setup), **games[same_setup[0]].setup)
        slots = np.array(list(games))
        lengths = np.array([len(record) for record in games.values()], np.int32)
        # Each game's moves, then zeros; at least one column, also if no game has a move.
        paths = np.zeros((len(games), max(1, lengths.max())), np.int32)
        for path, record in zip(paths, games.values(), strict=True):
            path[: len(record)] = record.steps(self.env)
        batch.replay(slots, paths, lengths, slots)  # the first `slots`: where to begin; the last: where to put the ends


def divergence(policies: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Return the Kullback-Leibler divergence of each policy from its prior, in nats, float32 [n].

    Args:
        policies: float32 [n, A], the search's policies; a row of zeros (no search) gives 0.
        priors: float32 [n, A], the network's policies.
    """
    # Where a policy or prior is 0, the ratio stays 1, whose logarithm adds nothing.
    ratio = np.divide(policies, priors, out=np.ones_like(policies), where=(policies > 0) & (priors > 0))
    return (policies * np.log(ratio)).sum(axis=1)


def draw_moves(env: GameEnv, weights: np.ndarray, generators: Sequence[np.random.Generator]) -> np.ndarray:
    """Draw a random move for each of n games, int32 [n].

    Args:
        weights: float32 [n, A], to which the actions' probabilities are proportional.  Changed in place: the weight of
            a pass becomes 0 if another action has a positive weight.
        generators: the random generators of the n games.
    """
    if env.pass_action is not None:
        can_move = np.delete(weights, env.pass_action, axis=1).any(axis=1)
        weights[can_move, env.pass_action] = 0
    chance = np.array([generator.random() for generator in generators])
    return choose_actions(weights, by_visits=np.ones(len(weights), np.bool_), chance=chance)
