"""`analyze`: evaluate one position or thousands with a network, alone or with a search."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_group import PositionGroup, evaluate_alone
from alphago.mcts.analysis_result import PLIES, Analysis, join_analyses
from alphago.mcts.analysis_search import Forbidden, node_bytes
from alphago.mcts.evaluator import as_forecast_evaluator
from alphago.mcts.search import leaves_for
from alphago.mcts.search_forms import SearchForm, make_search
from alphago.system.cores import available_cores
from alphago.system.validation import (
    MOST_READOUTS,
    check_bool,
    check_int,
    check_positive,
    checks_keywords,
    shown,
)

TREE_BYTES = 2**27  # memory for the trees that one thread searches side by side
MOST_GAMES = 256  # most trees that one thread searches side by side: larger batches are not faster

Moves = Iterable[int | str]


@checks_keywords()
def analyze(
    positions: Position | Sequence[Position],
    net: object,
    readouts: int = 800,
    *,
    avoid: Moves = (),
    allow: Moves = (),
    depth: int = 1,
    symmetries: bool = False,
    plies: int = PLIES,
    move_ownership: bool = False,
    settings: SearchForm = None,
    device: str = "auto",
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Analysis:
    """Evaluate positions with a network, and with a search that uses it.

    positions: one position, or any number of positions of the same game; their komi may differ.
    net: as in `MCTSPlayer`.  Scores and ownership are known only if the network forecasts them.
    readouts: simulations for each position; 0 for the network alone.
    avoid: moves, as actions or text, that the player to move must not play.
    allow: the only moves that the player to move may play; empty for all moves.
    depth: `avoid` and `allow` hold for that player's moves in the first `depth` plies from the position on.
    symmetries: whether to average the network's evaluation over all symmetries of the board.
    plies: the most plies of each expected line of play.
    move_ownership: whether to return also the ownership expected after each action.
    settings: the search, as in `MCTSPlayer`; without `leaves`, a number of them is chosen that fills the network's
        batch.
    device: where the network is computed, as in `MCTSPlayer`; boards stay on the CPU.
    threads: number of threads, among which the positions are divided; None for all cores.
    stop: an event that ends the search early; the network evaluates every position even then.

    Returns an `Analysis` of the n positions, for the player to move, with a row for each: among others `visits` int32
    [n, A]; `prior`, `q`, `win_rate`, `lower_bound` and `score` float32 [n, A]; `value` and `root_score` float32 [n];
    `lines` int32 [n, A, plies]; `ownership` and `ownership_stdev` float32 [n, H, W], None if unknown;
    `move_ownership` float32 [n, A, H, W], None unless requested.

    Raises ValueError for positions of different games, if no legal move is left to search, and if both `avoid` and
    `allow` are given.
    """
    maker = GroupMaker(positions, net, readouts, settings, symmetries, device)
    maker.forbid(avoid, allow, depth)
    check_int("plies", plies, 1)
    check_bool("move_ownership", move_ownership)
    cores = available_cores() if threads is None else check_int("threads", threads, 1)
    if maker.readouts == 0 and maker.evaluator.device == "cpu":
        return evaluate_alone(maker.env, maker.evaluator, maker.positions, maker.symmetries, threads=cores)
    stop_event = stop or threading.Event()

    def analyze_part(rows: range) -> Analysis:
        group = maker.group(rows)
        group.run(stop_event)
        return group.analysis(plies, move_ownership)

    parts = maker.parts(cores, maker.most_games())
    if len(parts) == 1:
        return analyze_part(parts[0])
    with ThreadPoolExecutor(min(cores, len(parts))) as pool:
        return join_analyses(list(pool.map(analyze_part, parts)))


@checks_keywords()
def iter_analysis(
    positions: Position | Sequence[Position],
    net: object,
    readouts: int = 800,
    *,
    every: float = 0.5,
    avoid: Moves = (),
    allow: Moves = (),
    depth: int = 1,
    symmetries: bool = False,
    plies: int = PLIES,
    move_ownership: bool = False,
    settings: SearchForm = None,
    device: str = "auto",
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Analysis]:
    """Yield intermediate results of `analyze` for all positions; the last one is the complete result.

    every: seconds between two results.  The first result comes at once and has only the network's evaluations.
    stop: an event that ends the search early; one last result follows.
    Other arguments and exceptions are those of `analyze`.
    """
    maker = GroupMaker(positions, net, readouts, settings, symmetries, device)
    maker.forbid(avoid, allow, depth)
    check_positive("every", every)
    check_int("plies", plies, 1)
    check_bool("move_ownership", move_ownership)
    cores = available_cores() if threads is None else check_int("threads", threads, 1)
    read = partial(PositionGroup.analysis, plies=plies, move_ownership=move_ownership)
    parts = maker.parts(cores)  # however many positions they have: all are searched side by side
    return yield_analyses(maker, parts, every, read, stop or threading.Event())


def yield_analyses(
    maker: "GroupMaker",
    parts: Sequence[range],
    every: float,
    read: Callable[[PositionGroup], Analysis],
    stop: threading.Event,
) -> Iterator[Analysis]:
    """Search the positions, and yield an analysis of all of them every `every` seconds, the last one complete.

    maker: makes the searches.  parts: the ranges of positions, each searched by its own thread.
    read: returns the analysis of a group of positions by its search so far.
    """
    with ThreadPoolExecutor(len(parts)) as pool:
        groups = list(pool.map(maker.group, parts))
        while True:
            yield join_analyses([read(group) for group in groups])
            if stop.is_set() or not any(group.readouts_left for group in groups):
                return
            until = time.monotonic() + every
            list(pool.map(partial(PositionGroup.run, stop=stop, until=until), groups))


class GroupMaker:
    """Checks the arguments of `analyze`, and makes a `PositionGroup` for each part of the positions."""

    def __init__(
        self,
        positions: Position | Sequence[Position],
        net: object,
        readouts: int,
        settings: SearchForm,
        symmetries: bool,
        device: str,
    ) -> None:
        self.positions = [positions] if isinstance(positions, Position) else list(positions)
        self.env = game_of(self.positions)
        self.readouts = check_int("readouts", readouts, 0, MOST_READOUTS)
        self.symmetries = check_bool("symmetries", symmetries)
        self.settings = make_search(settings, self.readouts, leaves=leaves_for(len(self.positions), self.readouts))
        self.evaluator = as_forecast_evaluator(net, self.env, device)
        self.rules: list[tuple[Forbidden, ...]] = [()] * len(self.positions)  # for each position

    def forbid(self, avoid: Moves, allow: Moves, depth: int) -> None:
        """Exclude moves from the search; the arguments and the ValueErrors are those of `analyze`."""
        check_int("depth", depth, 1)
        avoided, allowed = actions_of("avoid", avoid, self.env), actions_of("allow", allow, self.env)
        if avoided and allowed:
            raise ValueError("avoid and allow must not be given together")
        if allowed:
            avoided = frozenset(range(self.env.action_space)) - allowed
        if avoided:
            self.rules = [(Forbidden(position.to_play, avoided, depth),) for position in self.positions]

    def most_games(self) -> int:
        """Return how many trees of `readouts` simulations fit into TREE_BYTES.

        The number is at least 1 and at most MOST_GAMES.
        """
        nodes = self.readouts + 2  # of a tree: the root, and one that is spare
        return max(1, min(MOST_GAMES, TREE_BYTES // (nodes * node_bytes(self.env))))

    def parts(self, threads: int, most: int | None = None) -> list[range]:
        """Divide the positions into ranges, one for each thread; return the ranges.

        most: the greatest number of positions in a range; None for no limit.  If needed, there are more ranges than
            threads.
        """
        count = len(self.positions)
        size = min(math.ceil(count / threads), most or count)
        return [range(begin, min(begin + size, count)) for begin in range(0, count, size)]

    def group(self, rows: range) -> PositionGroup:
        """Return a search of the positions in the range `rows`, with their roots evaluated."""
        return PositionGroup(
            self.env,
            self.evaluator,
            self.settings,
            positions=[self.positions[i] for i in rows],
            readouts=self.readouts,
            rules=[self.rules[i] for i in rows],
            symmetries=self.symmetries,
        )


def game_of(positions: Sequence[Any]) -> GameEnv:
    """Return the game of the positions.

    Raises ValueError if there are no positions or their games differ, TypeError for anything that is not a Position.
    """
    if not positions:
        raise ValueError("positions must be one or more, got none")
    for position in positions:
        if not isinstance(position, Position):
            raise TypeError(f"positions must be Positions, such as env.position(), got {shown(position)}")
    env: GameEnv = positions[0].env
    games = {id(position.env): position.env for position in positions}  # many positions share few games
    for game in games.values():
        if game is not env and not env.accepts(game):
            raise ValueError(f"positions must be of one game, {env}, got one of {game}")
    return env


def actions_of(name: str, moves: Moves, env: GameEnv) -> frozenset[int]:
    """Return moves as actions; raise ValueError for a move that is not in the game.

    name: the name of the argument with these moves, for the error message.
    """
    if isinstance(moves, str):
        moves = moves.replace(",", " ").split()
    actions = set()
    for move in moves:
        try:
            action = env.from_text(move) if isinstance(move, str) else check_int("a move", move, 0)
        except ValueError as error:
            raise ValueError(f"{name} must be moves: {error}") from None
        if action >= env.action_space:
            raise ValueError(f"{name} must be actions from 0 to {env.action_space - 1}, got {action}")
        actions.add(action)
    return frozenset(actions)
