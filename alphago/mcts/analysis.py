"""`analyze`: what a network, and a search with it, say of one position or of thousands."""

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from alphago.env.game import GameEnv, Position
from alphago.mcts.analysis_group import PositionGroup, evaluate_alone
from alphago.mcts.analysis_result import PLIES, Analysis, join_analyses
from alphago.mcts.analysis_search import Forbidden
from alphago.mcts.evaluator import as_forecast_evaluator
from alphago.mcts.search import SearchSettings, leaves_for
from alphago.system.cores import available_cores
from alphago.system.validation import (
    MOST_READOUTS,
    check_bool,
    check_int,
    check_positive,
    checks_keywords,
    shown,
)

TREE_BYTES = 2**27  # of the trees that one thread searches side by side
MOST_GAMES = 256  # of these trees: larger batches are not faster

Moves = Iterable[int | str]


@checks_keywords()
def analyze(
    positions: Position | Sequence[Position],
    net: Any,
    readouts: int = 800,
    *,
    avoid: Moves = (),
    allow: Moves = (),
    depth: int = 1,
    symmetries: bool = False,
    plies: int = PLIES,
    move_ownership: bool = False,
    settings: SearchSettings | None = None,
    device: str = "auto",
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Analysis:
    """Return what a network, and a search with it, say of positions.

    positions: one, or any number of one game, which are evaluated together; their komi may differ.
    net: as `MCTSPlayer` takes it.  Scores and ownership come from networks that forecast them.
    readouts: simulations for each position; 0 evaluates the network alone.
    avoid, allow: moves, as actions or text, that the side to move does not try, or the only ones that it tries.
    depth: how many plies, from the position on, `avoid` and `allow` hold for that side's moves.
    symmetries: whether the network sees each position in all symmetries of the board, and the mean counts.
    plies: the greatest length of a line of play.
    move_ownership: whether to add up ownership below each action too.
    settings: how the search chooses; None for PUCT's defaults, with as many leaves a wave as fill the network's batch.
    device: where the network is computed, as in `MCTSPlayer`; the boards are on the CPU.
    threads: that search parts of the positions; None for all cores.
    stop: an event that ends the search; the result has the readouts so far, of each position at least its evaluation.

    Raises ValueError for positions of different games, and where no legal move is left to search.
    """
    maker = GroupMaker(positions, net, readouts, settings, symmetries, device)
    maker.forbid(avoid, allow, depth)
    check_int("plies", plies, 1)
    check_bool("move_ownership", move_ownership)
    cores = available_cores() if threads is None else check_int("threads", threads, 1)
    if maker.readouts == 0 and maker.evaluator.device == "cpu":
        return evaluate_alone(maker.env, maker.evaluator, maker.positions, maker.symmetries, cores)
    end = stop or threading.Event()

    def one(rows: range) -> Analysis:
        group = maker.group(rows)
        group.run(end)
        return group.analysis(plies, move_ownership)

    parts = maker.parts(cores, maker.most_games())
    if len(parts) == 1:
        return one(parts[0])
    with ThreadPoolExecutor(min(cores, len(parts))) as pool:
        return join_analyses(list(pool.map(one, parts)))


@checks_keywords()
def iter_analysis(
    positions: Position | Sequence[Position],
    net: Any,
    readouts: int = 800,
    *,
    every: float = 0.5,
    avoid: Moves = (),
    allow: Moves = (),
    depth: int = 1,
    symmetries: bool = False,
    plies: int = PLIES,
    move_ownership: bool = False,
    settings: SearchSettings | None = None,
    device: str = "auto",
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Analysis]:
    """Yield what `analyze` returns as it grows, all positions side by side; the last one is the whole result.

    every: seconds between two results.  The first follows at once, with the evaluations alone.
    stop: an event after which one last result follows.
    The other arguments, and what is raised, are as in `analyze`.
    """
    maker = GroupMaker(positions, net, readouts, settings, symmetries, device)
    maker.forbid(avoid, allow, depth)
    check_positive("every", every)
    check_int("plies", plies, 1)
    check_bool("move_ownership", move_ownership)
    cores = available_cores() if threads is None else check_int("threads", threads, 1)
    return growing(maker, maker.parts(cores), every, (plies, move_ownership), stop or threading.Event())


def growing(
    maker: "GroupMaker", parts: Sequence[range], every: float, reading: tuple[int, bool], stop: threading.Event
) -> Iterator[Analysis]:
    """Yield the analyses of `iter_analysis`; reading: plies and move_ownership."""
    with ThreadPoolExecutor(len(parts)) as pool:
        groups = list(pool.map(maker.group, parts))
        while True:
            yield join_analyses([group.analysis(*reading) for group in groups])
            if stop.is_set() or not any(group.readouts_left for group in groups):
                return
            until = time.monotonic() + every
            list(pool.map(partial(PositionGroup.run, stop=stop, until=until), groups))


class GroupMaker:
    """The positions of an analysis, checked, and what is needed to search parts of them; arguments as in `analyze`."""

    def __init__(
        self,
        positions: Position | Sequence[Position],
        net: Any,
        readouts: int,
        settings: SearchSettings | None,
        symmetries: bool,
        device: str,
    ) -> None:
        self.positions = [positions] if isinstance(positions, Position) else list(positions)
        self.env = game_of(self.positions)
        self.readouts = check_int("readouts", readouts, 0, MOST_READOUTS)
        self.symmetries = check_bool("symmetries", symmetries)
        self.settings = settings or SearchSettings(leaves=leaves_for(len(self.positions), self.readouts))
        self.evaluator = as_forecast_evaluator(net, self.env, device)
        self.rules: list[tuple[Forbidden, ...]] = [()] * len(self.positions)

    def forbid(self, avoid: Moves, allow: Moves, depth: int) -> None:
        """Leave moves out of the search, as `analyze` describes it."""
        check_int("depth", depth, 1)
        avoided, allowed = actions_of("avoid", avoid, self.env), actions_of("allow", allow, self.env)
        if avoided and allowed:
            raise ValueError("avoid and allow must not be given together")
        if allowed:
            avoided = frozenset(range(self.env.action_space)) - allowed
        if avoided:
            self.rules = [(Forbidden(position.to_play, avoided, depth),) for position in self.positions]

    def most_games(self) -> int:
        """Return how many trees of this many readouts fit into the memory that one thread may use."""
        node = self.env.action_space * 4 + self.env.plane_shape[0] * self.env.plane_shape[1]
        return max(1, min(MOST_GAMES, TREE_BYTES // ((self.readouts + 2) * node)))

    def parts(self, threads: int, most: int | None = None) -> list[range]:
        """Return ranges of the positions: one for each thread, or more if none may have more than `most`."""
        count = len(self.positions)
        size = max(1, min(math.ceil(count / threads), most or count))
        return [range(begin, min(begin + size, count)) for begin in range(0, count, size)]

    def group(self, rows: range) -> PositionGroup:
        """Return the search of some of the positions, with their roots evaluated."""
        return PositionGroup(
            self.env, self.evaluator, self.settings, [self.positions[i] for i in rows], self.readouts,
            [self.rules[i] for i in rows], self.symmetries,
        )  # fmt: skip


def game_of(positions: Sequence[Any]) -> GameEnv:
    """Return the game of positions; raise ValueError if there are none, or for those of several games."""
    if not positions:
        raise ValueError("positions must be one or more, got none")
    for position in positions:
        if not isinstance(position, Position):
            raise TypeError(f"positions must be Positions, such as env.position(), got {shown(position)}")
        if position.env is not positions[0].env and not positions[0].env.accepts(position.env):
            raise ValueError(f"positions must be of one game, {positions[0].env}, got one of {position.env}")
    env: GameEnv = positions[0].env
    return env


def actions_of(name: str, moves: Moves, env: GameEnv) -> frozenset[int]:
    """Return moves as actions; raise ValueError, which names the argument, for what is no move of the game."""
    if isinstance(moves, str):
        moves = moves.replace(",", " ").split()
    actions = set()
    for move in moves:
        try:
            actions.add(env.from_text(move) if isinstance(move, str) else check_int("a move", move, 0))
        except ValueError as error:
            raise ValueError(f"{name} must be moves: {error}") from None
        if max(actions) >= env.action_space:
            raise ValueError(f"{name} must be actions from 0 to {env.action_space - 1}, got {max(actions)}")
    return frozenset(actions)
