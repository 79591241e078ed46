"""The games that one thread of self-play plays in parallel.

Each game has a random generator of its own, seeded with (seed, i), so games
do not depend on the speed of threads.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.rule import resigns, temperature_plies
from alphago.mcts.search import Search
from alphago.records.record import GameRecord, RecordBuilder, add_moves
from alphago.system.stopwatch import Stopwatch
from alphago.training.beginning import draw_beginning
from alphago.training.lineup import BEST_ALONE, Seats, Shares, learns
from alphago.training.settings import SelfPlaySettings
from alphago.training.source import OnGame

# Attributes of a Group with one entry per slot, which are saved with the slot's record and random generator.
SLOT_FIELDS = ("plies", "opening", "may_resign")


class Group:
    """Games that one thread plays in parallel: all searches share the network's batches.

    width: number of slots; a slot holds one game in progress, or is empty at first.
    seed: the run's seed.  numbers: the numbers of the games that have not begun.
    threads: number of threads of the group's Search.
    """

    def __init__(
        self, env: GameEnv, settings: SelfPlaySettings, width: int, seed: int, numbers: range, *, threads: int = 1
    ) -> None:
        self.env = env
        self.threads = threads
        self.settings = settings
        self.seed = seed
        self.numbers = numbers
        self.builders: list[RecordBuilder | None] = [None] * width
        self.generators: list[np.random.Generator] = [np.random.default_rng(0)] * width
        self.may_resign = np.zeros(width, np.bool_)
        self.plies = np.zeros(width, np.int32)
        self.opening = np.zeros(width, np.int32)  # number of first plies that the policy plays without search
        self.readouts = settings.readouts
        self.resign_threshold = settings.resign_threshold
        self.capacity = width  # number of slots in use, counted from the first; it only grows
        plies = settings.temperature_plies
        self.temperature_plies = temperature_plies(env) if plies is None else plies
        self.search: Search | None = None
        self.seats = Seats(width)
        self.finished: list[tuple[int, GameRecord]] = []
        self.left = 0  # moves left to play in this iteration, after which the evaluator may change
        self.on_game: OnGame | None = None
        self.moves = 0
        self.readouts_done = 0  # simulations and evaluations of root positions
        self.stopwatch = Stopwatch()  # measures the work of the thread that plays

    def use(self, evaluator: Evaluator, others: tuple[Evaluator, ...] = (), shares: Shares = BEST_ALONE) -> None:
        """Let the games continue with another evaluator: clear the trees, and begin games in free slots.

        evaluator: the evaluator of the best network.
        others: the evaluators of a lineup's second best and recent networks; () if the best network plays alone.
        shares: the lineup's shares of the kinds of games, see Lineup.
        """
        search = self._search_with(evaluator)
        self.seats.use((evaluator, *others), shares)
        for slot in range(self.capacity):
            if self.builders[slot] is None:
                self.begin(slot)
        search.evaluator = evaluator
        search.forget(np.arange(len(self.builders)))

    def make_search(self, evaluator: Evaluator) -> Search:
        """Return a Search with a tree and a board for each slot."""
        settings = self.settings.search_for(len(self.builders))
        return Search(self.env, evaluator, len(self.builders), settings, self.threads)

    def _search_with(self, evaluator: Evaluator) -> Search:
        if self.search is None:
            self.search = self.make_search(evaluator)
        return self.search

    def begin(self, slot: int) -> None:
        """Start the group's next game in a slot; leave the slot empty if no game is left or `slot` >= `capacity`."""
        assert self.search is not None
        self.builders[slot] = None
        if not self.numbers or slot >= self.capacity:
            return
        number, self.numbers = self.numbers[0], self.numbers[1:]
        slots = np.array([slot])
        generator, setup, opening, may_resign = draw_beginning(self.env, self.settings, self.seed, number)
        self.search.batch.reset(slots, **setup)
        self.search.forget(slots)
        self.builders[slot] = RecordBuilder(setup, seed=(self.seed, number), env=self.env)
        self.generators[slot] = generator
        self.seats.begin(slot, generator)
        self.plies[slot] = 0
        self.opening[slot] = opening
        self.may_resign[slot] = may_resign

    def step(self) -> bool:
        """Play one move in every game in progress; return False if no game is in progress."""
        search = self.search
        assert search is not None
        games = np.array([slot for slot, builder in enumerate(self.builders) if builder is not None], np.int64)
        if not len(games):
            return False
        searched = self.plies[games] >= self.opening[games]
        readouts = np.where(searched, self.readouts, 0).astype(np.int32)
        movers = search.batch.to_play(games, np.empty(len(games), np.int8))
        roles = self.seats.to_move(games, movers)
        priors = np.empty((len(games), self.env.action_space), np.float32)
        for role in np.unique(roles):
            own = roles == role
            search.evaluator = self.seats.evaluators[role]
            priors[own] = self.look_ahead(games[own], readouts[own])
        values = search.root_values(games)
        legal = search.batch.legal_mask(games, np.empty((len(games), self.env.action_space), np.bool_))
        policies = np.zeros((len(games), self.env.action_space), np.float32)
        actions = np.zeros(len(games), np.int32)
        policies[searched], actions[searched] = self.choose(games[searched])
        actions[~searched] = self.draw(games[~searched], priors[~searched])
        random = self.random_moves(games, searched)
        if random.any():
            actions[random] = self.draw(games[random], legal[random].astype(np.float32))
        surprises = divergence(policies, priors)
        resigned = self.may_resign[games] & resigns(values, self.resign_threshold) & searched
        playing = games[~resigned]
        for slot in games[random & ~resigned]:
            self.builder(slot).drop_samples()
        weights = (searched & ~random & learns(roles)).astype(np.float32)
        columns = (policies, actions, values, legal.sum(axis=1), movers, weights, surprises)
        add_moves([self.builder(slot) for slot in playing], *(column[~resigned] for column in columns))
        search.advance(playing, actions[~resigned])
        if len(self.seats.evaluators) > 1:
            search.forget(self.seats.mixed(playing))  # the opponent's network must not use this one's evaluations
        self.plies[playing] += 1
        self.moves += len(playing)
        self.readouts_done += int(readouts.sum()) + len(games)
        for i in np.flatnonzero(resigned):
            self.finish(int(games[i]), -float(movers[i]), -float(movers[i]), True)
        self.finish_over(playing)
        return True

    def look_ahead(self, games: np.ndarray, readouts: np.ndarray) -> np.ndarray:
        """Search the next move of each game; return the network's priors at the roots, without noise, float32 [n, A].

        games: int64 [n], slots.  readouts: int32 [n], simulations; with 0 only the root is evaluated.
        """
        search = self.search
        assert search is not None
        search.begin_move(games, self.plies[games])
        search.expand_roots(games)
        priors = search.priors(games)
        search.add_noise(games, [self.generators[slot] for slot in games])
        budget = np.zeros(len(self.builders), np.int32)
        budget[games] = readouts
        search.run(budget)
        return priors

    def choose(self, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return policy targets, float32 [n, A], and moves, int32 [n], from the searches in `games` (int64 [n])."""
        assert self.search is not None
        early = self.plies[games] < self.temperature_plies
        return self.search.selfplay_moves(games, early, [self.generators[slot] for slot in games])

    def random_moves(self, games: np.ndarray, searched: np.ndarray) -> np.ndarray:
        """Return which games, drawn at random, play a random move instead of the searched move, bool [n].

        See `SelfPlaySettings.random_move_share`.

        games: int64 [n], slots.  searched: bool [n], whether the game's move was searched.
        """
        random = np.zeros(len(games), np.bool_)
        if self.settings.random_move_share:
            for i in np.flatnonzero(searched & (self.plies[games] < self.settings.random_move_plies)):
                random[i] = self.generators[games[i]].random() < self.settings.random_move_share
        return random

    def draw(self, games: np.ndarray, priors: np.ndarray) -> np.ndarray:
        """Draw a random move for each game, int32 [n], with probabilities in proportion to `priors`.

        games: int64 [n], slots.
        priors: float32 [n, A], weights of the actions such as the network's policy, changed in place.  The weight of a
            pass becomes 0 if another action has a positive weight.
        """
        if self.env.pass_action is not None:
            others = np.delete(priors, self.env.pass_action, axis=1).any(axis=1)
            priors[others, self.env.pass_action] = 0
        sums = np.cumsum(priors, axis=1)
        chance = np.array([self.generators[slot].random() for slot in games])
        return np.argmax(sums > chance[:, None] * sums[:, -1:], axis=1).astype(np.int32)

    def finish_over(self, playing: np.ndarray) -> None:
        """Finish the games that are over by the rules; playing: int64 [n], the slots to check."""
        assert self.search is not None
        batch = self.search.batch
        over = playing[batch.is_over(playing, np.empty(len(playing), np.bool_))]
        sides = batch.to_play(over, np.empty(len(over), np.int8))
        outcomes = sides * batch.outcome(over, np.empty(len(over), np.float32))
        scores = sides * batch.score(over, np.empty(len(over), np.float32))
        for slot, outcome, score in zip(over, outcomes, scores, strict=True):
            self.finish(int(slot), float(outcome), float(score), False)

    def builder(self, slot: int) -> RecordBuilder:
        builder = self.builders[slot]
        assert builder is not None
        return builder

    def finish(self, slot: int, outcome: float, score: float, resigned: bool) -> None:
        """Finish the game in a slot and begin the next one there.

        outcome, score: in Black's view.  resigned: whether the game ended by resignation.
        """
        builder = self.builder(slot)
        assert builder.seed is not None
        record = builder.finish(outcome, score, resigned, self.env.action_space)
        self.finished.append((builder.seed[1], record))
        if self.on_game is not None:
            self.on_game(builder.seed[1], record)
        self.begin(slot)

    def records(self) -> list[GameRecord]:
        """Return the games in progress, ordered by slot, then the finished games that `take` has not returned yet."""
        begun = [builder for builder in self.builders if builder is not None]
        unfinished = [builder.finish(0.0, 0.0, False, self.env.action_space) for builder in begun]
        return unfinished + [record for _, record in self.finished]

    def state(self) -> dict[str, Any]:
        """Return plain data; from this data and the result of `records`, another group's `restore` continues the games.

        No move may be in progress.
        """
        return {
            "next": self.numbers.start,
            "left": self.left,
            "readouts": self.readouts,
            "resign_threshold": self.resign_threshold,
            "capacity": self.capacity,
            "finished": len(self.finished),
            "slots": [self._slot_state(slot) for slot in range(len(self.builders))],
        }

    def _slot_state(self, slot: int) -> dict[str, Any] | None:
        if self.builders[slot] is None:
            return None
        fields = {name: getattr(self, name)[slot].item() for name in SLOT_FIELDS}
        return {**fields, **self.seats.state(slot), "generator": self.generators[slot].bit_generator.state}

    def restore(
        self,
        state: Mapping[str, Any],
        records: Iterator[GameRecord],
        evaluator: Evaluator,
        others: tuple[Evaluator, ...] = (),
        shares: Shares = BEST_ALONE,
    ) -> None:
        """Continue from a saved group's `state`; empty slots begin new games.

        state: the result of the saved group's method `state`.
        records: iterator over the games of all groups.  This method takes from it the saved group's `records()`.
        evaluator, others, shares: as in the method `use`.
        """
        for name in ("left", "readouts", "resign_threshold", "capacity"):
            setattr(self, name, state[name])
        self._search_with(evaluator)
        self.seats.use((evaluator, *others), shares)
        for slot, slot_state in enumerate(state["slots"]):
            if slot_state is None:
                self.begin(slot)
            else:
                self._restore_game(slot, slot_state, next(records))
        for record in islice(records, state["finished"]):
            assert record.seed is not None
            self.finished.append((record.seed[1], record))

    def _restore_game(self, slot: int, state: Mapping[str, Any], record: GameRecord) -> None:
        """Put a saved game into a slot by replaying its moves.

        state: from `_slot_state`.  record: the game's moves so far.
        """
        assert self.search is not None
        slots, batch = np.array([slot]), self.search.batch
        batch.reset(slots, **record.setup)
        batch.replay(slots, record.moves.astype(np.int32)[None, :], np.array([len(record)], np.int32), slots)
        self.builders[slot] = RecordBuilder.of(record)
        for name in SLOT_FIELDS:
            getattr(self, name)[slot] = state[name]
        self.seats.restore(slot, state)
        self.generators[slot] = np.random.default_rng(0)
        self.generators[slot].bit_generator.state = state["generator"]


def divergence(policies: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Return the Kullback-Leibler divergence of each policy from its prior, in nats, float32 [n].

    policies: float32 [n, A], the search's policies; a row of zeros (no search) gives 0.  priors: float32 [n, A].
    """
    ratio = np.divide(policies, priors, out=np.ones_like(policies), where=(policies > 0) & (priors > 0))
    return (policies * np.log(ratio)).sum(axis=1)
