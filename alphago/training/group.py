"""Some games of self-play side by side, on one thread, with one network call per wave."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.rule import resigns, temperature_plies
from alphago.mcts.search import Search, SearchSettings
from alphago.records.record import GameRecord, RecordBuilder, add_moves
from alphago.system.cores import available_cores
from alphago.system.stopwatch import Stopwatch
from alphago.system.validation import MOST_READOUTS, check_float, check_int, checks_keywords

# Hears of a finished game: its number and its record, in no order, and from several threads at once.
Tell = Callable[[int, GameRecord], object]

DECIDED_PLIES, DECIDED_SHARE, CHEAP_READOUTS = 6, 0.1, 4


@checks_keywords()
@dataclass(frozen=True)
class SelfPlaySettings:
    """How games are played.

    readouts: simulations added per move (800 in AlphaZero and AlphaGo.jl).
    games_in_flight: games played side by side, over all groups; None for 64, and 4096 on a GPU.
    groups: threads, each with its own share of the games; None for one per core, and 4 on a GPU, where the other cores
        help them with their trees.
    temperature_plies: plies whose move is drawn in proportion to visits; None for N^2 / 12.
    resign_threshold: a mover whose root value is below it resigns; None for never.
    no_resign_share: share of games in which nobody resigns (AlphaGo Zero: a tenth; AlphaGo.jl: 0.05).
    opening_plies: how many first moves are drawn from the network's policy, without search, on average; each
        game draws its number from an exponential distribution; None for a twentieth of the longest game, of which
        no more than 2 plies per action count.
        They are not trained on.
    decided_value: once the search has found one side's value above it for DECIDED_PLIES plies, only
        DECIDED_SHARE of the moves are searched in full and trained on, the others with CHEAP_READOUTS; 1
        searches all alike.  (KataGo goes on cheaply where others resign: Wu 2019, KataGoMethods.md.)
    played_out_share: share of games that go on to passes or the cap even where nothing can change the result any more
        (`GameBatch.settle`), which ends the others: passing has to be learned.
    search: how the tree chooses; `temperature_plies` matters where it is PUCT's only, since Gumbel's noise
        varies all moves.
    """

    readouts: int = 800
    games_in_flight: int | None = None
    groups: int | None = None
    temperature_plies: int | None = None
    resign_threshold: float | None = None
    no_resign_share: float = 0.05
    opening_plies: float | None = 0.0
    decided_value: float = 1.0
    played_out_share: float = 1.0
    search: SearchSettings = field(default_factory=lambda: SearchSettings(gumbel=True))

    def __post_init__(self) -> None:
        check_int("readouts", self.readouts, 1, MOST_READOUTS)
        for name in ("games_in_flight", "groups"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1)
        if self.temperature_plies is not None:
            check_int("temperature_plies", self.temperature_plies, 0)
        if self.opening_plies is not None:
            check_float("opening_plies", self.opening_plies, 0)
        if self.resign_threshold is not None:
            check_float("resign_threshold", self.resign_threshold, -1, 1)
        for name in ("no_resign_share", "decided_value", "played_out_share"):
            check_float(name, getattr(self, name), 0, 1)


def default_flight(device: str) -> int:
    """Games side by side that keep a device busy, "cpu" or another."""
    return 64 if device == "cpu" else 4096


def default_groups(device: str) -> int:
    """Threads of self-play: on a GPU so many that its network never waits for trees, and no more."""
    return available_cores() if device == "cpu" else 4


class Group:
    """Some games of a run, `width` of them side by side; `numbers` are those that have not begun.

    threads: see Search.
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
        self.played_out = np.zeros(width, np.bool_)
        self.plies = np.zeros(width, np.int32)
        self.opening = np.zeros(width, np.int32)  # plies that the policy plays alone
        self.decided = np.zeros(width, np.int32)  # plies since which one side has been sure, negative for White
        longest = min(env.max_moves, 2 * env.action_space)  # where there is a cap at all
        self.opening_plies = longest / 20 if settings.opening_plies is None else settings.opening_plies
        self.readouts = settings.readouts
        self.room = width  # slots for games now, the first ones; it only grows
        plies = settings.temperature_plies
        self.temperature_plies = temperature_plies(env) if plies is None else plies
        self.search: Search | None = None
        self.finished: list[tuple[int, GameRecord]] = []
        self.left = 0  # moves to play before the evaluator may change
        self.tell: Tell | None = None
        self.moves = 0
        self.readouts_done = 0  # simulations, and the roots' own evaluations
        self.watch = Stopwatch()  # of the thread that plays

    def make_search(self, evaluator: Evaluator) -> Search:
        """Trees and boards for the group's games."""
        return Search(self.env, evaluator, len(self.builders), self.settings.search, self.threads)

    def use(self, evaluator: Evaluator) -> None:
        """Plays on with another evaluator; what the trees hold of the old one is dropped."""
        if self.search is None:
            self.search = self.make_search(evaluator)
        for slot in range(self.room):
            if self.builders[slot] is None:
                self.begin(slot)
        self.search.evaluator = evaluator
        self.search.forget(np.arange(len(self.builders)))

    def begin(self, slot: int) -> None:
        """Starts the group's next game in a slot, or leaves the slot empty if there is none or no room yet."""
        assert self.search is not None
        self.builders[slot] = None
        if not self.numbers or slot >= self.room:
            return
        number, self.numbers = self.numbers[0], self.numbers[1:]
        generator = np.random.default_rng([self.seed, number])
        slots = np.array([slot])
        setup = self.env.random_setup(generator)
        self.search.batch.reset(slots, **setup)
        self.search.forget(slots)
        self.builders[slot] = RecordBuilder(setup, seed=(self.seed, number))
        self.generators[slot] = generator
        self.plies[slot] = self.decided[slot] = 0
        self.opening[slot] = int(generator.exponential(self.opening_plies))
        self.may_resign[slot] = generator.random() >= self.settings.no_resign_share
        self.played_out[slot] = generator.random() < self.settings.played_out_share

    def step(self) -> bool:
        """One move in every game; False if no game is left."""
        search = self.search
        assert search is not None
        games = np.array([slot for slot, builder in enumerate(self.builders) if builder is not None], np.int64)
        if not len(games):
            return False
        readouts, weights = self.budgets(games)
        search.begin_move(games)
        search.expand_roots(games)
        priors = search.priors(games)  # without noise
        search.add_noise(games, [self.generators[slot] for slot in games])
        searched = readouts > 0
        budget = np.zeros(len(self.builders), np.int32)
        budget[games] = readouts
        search.run(budget)
        values = search.root_values(games)
        movers = search.batch.to_play(games, np.empty(len(games), np.int8))
        legal = search.batch.legal_mask(games, np.empty((len(games), self.env.action_space), np.bool_)).sum(axis=1)
        policies = np.zeros((len(games), self.env.action_space), np.float32)
        actions = np.zeros(len(games), np.int32)
        policies[searched], actions[searched] = self.choose(games[searched])
        actions[~searched] = self.draw(games[~searched], priors[~searched])
        surprises = divergence(policies, priors)
        self.note_decided(games, values * movers)
        resigned = self.may_resign[games] & resigns(values, self.settings.resign_threshold) & searched
        playing = games[~resigned]
        columns = (policies, actions, values, legal, movers, weights, surprises)
        add_moves([self.builder(slot) for slot in playing], *(column[~resigned] for column in columns))
        search.advance(playing, actions[~resigned])
        self.plies[playing] += 1
        self.moves += len(playing)
        self.readouts_done += int(readouts.sum()) + len(games)
        for i in np.flatnonzero(resigned):
            self.finish(int(games[i]), -float(movers[i]), -float(movers[i]), True)
        self.finish_over(playing)
        return True

    def budgets(self, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Readouts of each game's next move, int32 [n], and the move's weight in training, float32 [n]."""
        full = np.ones(len(games), np.bool_)
        for i in np.flatnonzero(np.abs(self.decided[games]) >= DECIDED_PLIES):
            full[i] = self.generators[games[i]].random() < DECIDED_SHARE
        opening = self.plies[games] < self.opening[games]
        readouts = np.where(full, self.readouts, min(CHEAP_READOUTS, self.readouts))
        readouts[opening] = 0
        return readouts.astype(np.int32), (full & ~opening).astype(np.float32)

    def choose(self, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The searched games' policy targets, float32 [n, A], and moves, int32 [n]."""
        assert self.search is not None
        early = self.plies[games] < self.temperature_plies
        return self.search.selfplay_moves(games, early, [self.generators[slot] for slot in games])

    def draw(self, games: np.ndarray, priors: np.ndarray) -> np.ndarray:
        """Moves of the opening, int32 [n], by the policy; a pass only where there is nothing else.

        priors: the network's, float32 [n, A], overwritten.
        """
        if self.env.pass_action is not None:
            others = np.delete(priors, self.env.pass_action, axis=1).any(axis=1)
            priors[others, self.env.pass_action] = 0
        sums = np.cumsum(priors, axis=1)
        chance = np.array([self.generators[slot].random() for slot in games])
        return np.argmax(sums > chance[:, None] * sums[:, -1:], axis=1).astype(np.int32)

    def note_decided(self, games: np.ndarray, values: np.ndarray) -> None:
        """Counts the plies since which one side has been sure; `values` are Black's."""
        before = self.decided[games]
        sign = np.where(np.abs(values) > self.settings.decided_value, np.sign(values), 0).astype(np.int32)
        self.decided[games] = np.where(sign * before > 0, before + sign, sign)

    def finish_over(self, playing: np.ndarray) -> None:
        """Ends those of the games that are over by the rules, or settled."""
        assert self.search is not None
        batch = self.search.batch
        not_played_out = playing[~self.played_out[playing]]
        batch.settle(not_played_out, np.empty(len(not_played_out), np.bool_))
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
        builder = self.builder(slot)
        assert builder.seed is not None
        record = builder.finish(outcome, score, resigned, self.env.action_space)
        self.finished.append((builder.seed[1], record))
        if self.tell is not None:
            self.tell(builder.seed[1], record)
        self.begin(slot)


def divergence(policies: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """How far policies are from priors, Kullback and Leibler's, in nats: float32 [n, A] twice -> [n].

    A row of zeros, which no search made, gives 0.
    """
    ratio = np.divide(policies, priors, out=np.ones_like(policies), where=(policies > 0) & (priors > 0))
    return (policies * np.log(ratio)).sum(axis=1)
