"""`analyze`: evaluate one position or thousands with a network, alone or with a search."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import with_planes
from alphago.env.position import Position
from alphago.mcts.analysis_result import PLIES, Analysis, join_analyses
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import as_evaluator, check_symmetries
from alphago.mcts.forbidden_moves import Forbidden
from alphago.mcts.questions import Limit
from alphago.mcts.raw_analysis import evaluate_alone
from alphago.mcts.search import leaves_for, node_bytes
from alphago.mcts.search_specs import SearchSpec, make_search
from alphago.system.cores import available_cores
from alphago.system.validation import MOST_READOUTS, check_bool, check_int, check_positive, checks_keywords, shown

TREE_BYTES = 2**27  # memory for the trees that one thread searches side by side
NO_LIMIT = 2**62  # bytes: a search of known positions ends with its readouts only
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
    settings: SearchSpec = None,
    device: str = "auto",
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Analysis:
    """Evaluate positions with a network, and with a search that uses it.

    Args:
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

    Returns:
        An `Analysis` of the n positions, for the player to move, with a row for each: among others `visits` int32 [n,
        A]; `prior`, `q`, `win_rate`, `lower_bound` and `score` float32 [n, A]; `value` and `root_score` float32 [n];
        `lines` int32 [n, A, plies]; `ownership` and `ownership_stdev` float32 [n, H, W], None if unknown;
        `move_ownership` float32 [n, A, H, W], None unless requested.

    Raises:
        ValueError: for positions of different games, if no legal move is left to search, and if both `avoid` and
            `allow` are given.
    """
    search = BatchSearch(positions, net, readouts, settings, symmetries, device, threads)
    options = search.options(avoid, allow, depth, plies, move_ownership)
    if search.readouts == 0 and search.evaluator.device == "cpu":
        averaged = check_symmetries(search.env, search.evaluator, search.symmetries)
        return evaluate_alone(search.env, search.evaluator, search.positions, averaged, search.threads)
    with search.analyst() as analyst:
        questions = analyst.ask_all(search.limited(readouts, stop), **options)
        return join_analyses([question.last().found for question in questions])


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
    settings: SearchSpec = None,
    device: str = "auto",
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Analysis]:
    """Yield intermediate results of `analyze` for all positions; the last one is the complete result.

    Other arguments and exceptions are those of `analyze`.

    Args:
        every: seconds between two results.  The first result comes at once and has only the network's evaluations.
        stop: an event that ends the search early; one last result follows.
    """
    search = BatchSearch(positions, net, readouts, settings, symmetries, device, threads)
    options = search.options(avoid, allow, depth, plies, move_ownership)
    return growing(search, stop or threading.Event(), check_positive("every", every), options)


def growing(
    search: "BatchSearch", stop: threading.Event, every: float, options: Mapping[str, Any]
) -> Iterator[Analysis]:
    """Yield an analysis of all positions every `every` seconds, the last one complete; options: for the analyst."""
    with search.analyst(at_once=len(search.positions)) as analyst:
        alone = analyst.ask_all(search.limited(0), **options)
        answers = [replace(question.last(), is_last=False) for question in alone]  # the searches are still to come
        yield join_analyses([answer.found for answer in answers])
        if search.readouts == 0 or stop.is_set():
            return
        questions = analyst.ask_all(search.limited(search.readouts, stop), every=every, **options)
        while not all(answer.is_last for answer in answers):
            due = time.monotonic() + every
            for question in questions:
                question.wait(max(0.0, due - time.monotonic()))
            answers = [question.newest or answer for question, answer in zip(questions, answers, strict=True)]
            yield join_analyses([answer.found for answer in answers])


class BatchSearch:
    """A search of positions that are known at once; its results do not depend on `threads`.

    The arguments and the ValueErrors are those of `analyze`.
    """

    def __init__(
        self,
        positions: Position | Sequence[Position],
        net: object,
        readouts: int,
        settings: SearchSpec = None,
        symmetries: bool = False,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.positions = [positions] if isinstance(positions, Position) else list(positions)
        self.env = common_game(self.positions)
        self.readouts = check_int("readouts", readouts, 0, MOST_READOUTS)
        self.symmetries = check_bool("symmetries", symmetries)
        self.settings = make_search(settings, max(1, readouts), leaves_for(len(self.positions), readouts))
        self.evaluator: Any = as_evaluator(net, self.env, device, forecasts=True)
        seen = with_planes(self.env, of=getattr(self.evaluator, "env", self.env))
        if not seen.accepts(self.env):  # the network reads other planes
            self.env, self.positions = seen, [position.again_in(seen) for position in self.positions]
        self.threads = available_cores() if threads is None else check_int("threads", threads, 1)

    def analyst(self, at_once: int | None = None) -> Analyst:
        """Return an analyst for the positions; close it after use.

        Args:
            at_once: most positions that a thread searches side by side; None for as many as fit into TREE_BYTES.
        """
        nodes = self.readouts + 2  # of a tree: the root, and one that is spare
        fitting = max(1, min(MOST_GAMES, TREE_BYTES // (nodes * node_bytes(self.env))))
        return Analyst(
            settings=self.settings,
            symmetries=self.symmetries,
            threads=self.threads,
            evaluators=lambda env: self.evaluator,
            slots=at_once or fitting,
            tree_bytes=NO_LIMIT,
        )

    def limited(self, readouts: int, stop: threading.Event | None = None) -> list[tuple[Position, Limit]]:
        """Return the positions with the limit of their searches."""
        return [(position, Limit(readouts, until=stop)) for position in self.positions]

    def options(self, avoid: Moves, allow: Moves, depth: int, plies: int, move_ownership: bool) -> dict[str, Any]:
        """Return options of `Analyst.ask_all` by arguments of `analyze`."""
        check_int("depth", depth, 1)
        avoided, allowed = to_actions("avoid", avoid, self.env), to_actions("allow", allow, self.env)
        if avoided and allowed:
            raise ValueError("avoid and allow must not be given together")
        if allowed:
            avoided = frozenset(range(self.env.action_space)) - allowed
        return {
            "avoid": [(Forbidden(position.to_play, avoided, depth),) for position in self.positions],
            "plies": check_int("plies", plies, 1),
            "move_ownership": check_bool("move_ownership", move_ownership),
            "reuse": False,
        }


def common_game(positions: Sequence[Any]) -> GameEnv:
    """Return the game of the positions.

    Raises:
        ValueError: if there are no positions or their games differ.
        TypeError: for anything that is not a Position.
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


def to_actions(name: str, moves: Moves, env: GameEnv) -> frozenset[int]:
    """Return moves as actions; raise ValueError for a move that is not in the game.

    Args:
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
