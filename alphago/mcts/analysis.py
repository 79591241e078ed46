"""`analyze`: evaluate one position or thousands with a network, alone or with a search."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.games import with_planes
from alphago.env.position import Position
from alphago.mcts.analysis_result import PLIES, Analysis, join_analyses
from alphago.mcts.analyst import Analyst, Evaluators
from alphago.mcts.evaluator import Evaluator, evaluate_all, new_boards, points_forecast
from alphago.mcts.questions import LONG, Limit
from alphago.mcts.search import FULL_BATCH, Forbidden, leaves_for, node_bytes
from alphago.mcts.search_specs import SearchSpec, make_search
from alphago.system.validation import MOST_READOUTS, check_bool, check_int, check_positive, checks_keywords, shown

TREE_BYTES = 2**27  # memory for the trees that one thread searches side by side
NO_LIMIT = 2**62  # bytes: a search of known positions ends with its readouts only
MOST_GAMES = 256  # positions that one thread searches or evaluates side by side: larger batches are not faster

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
        readouts: simulations for each position; 0 for the network alone, which knows of no moves that win at once.
        avoid: moves, as actions or text, that the player to move must not play.
        allow: the only moves that the player to move may play; empty for all moves.
        depth: `avoid` and `allow` hold for the moves of that player in the first `depth` plies from the position on.
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
    boards = [positions] if isinstance(positions, Position) else list(positions)
    with open_analyst(boards, net, readouts, settings, symmetries, device=device, threads=threads) as analyst:
        options = analyst_options(boards, avoid, allow, depth, plies=plies, move_ownership=move_ownership)
        evaluator = analyst.evaluators(boards[0].env)
        if readouts == 0 and getattr(evaluator, "device", "cpu") == "cpu":
            # Without a search there are no moves to avoid and no lines, so the options, now checked, have no effect.
            # On the CPU whole batches are faster than a question for each position.
            chunks = [boards[begin : begin + MOST_GAMES] for begin in range(0, len(boards), MOST_GAMES)]
            with ThreadPoolExecutor(analyst.threads) as pool:
                return join_analyses(list(pool.map(lambda chunk: evaluate_alone(chunk, evaluator), chunks)))
        return analyst.analyze(boards, Limit(readouts, until=stop), **options)


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

    `analyze` explains the arguments that are not listed here, and the exceptions.

    Args:
        every: seconds between two results.  The first result comes at once and has only the network's evaluations; as
            in a search, a position in which a move wins at once has the value 1.
        stop: an event that ends the search early; one last result follows.
    """
    boards = [positions] if isinstance(positions, Position) else list(positions)
    slots = len(boards)  # all side by side, so that each result has news of every position
    analyst = open_analyst(boards, net, readouts, settings, symmetries, device=device, threads=threads, slots=slots)
    options = analyst_options(boards, avoid, allow, depth, plies=plies, move_ownership=move_ownership)
    check_positive("every", every, threading.TIMEOUT_MAX)
    return yield_analyses(analyst, boards, Limit(readouts, until=stop), every, options)


def yield_analyses(
    analyst: Analyst, positions: Sequence[Position], limit: Limit, every: float, options: Mapping[str, Any]
) -> Iterator[Analysis]:
    """Yield an analysis of all positions every `every` seconds, the last one complete; close the analyst.

    Args:
        options: of `Analyst.ask_all`.
    """
    with analyst:
        questions = analyst.ask_all(positions, Limit(0), **options)  # for the network alone
        answers = [replace(question.last(), is_last=False) for question in questions]  # the searches are still to come
        yield join_analyses([answer.found for answer in answers])
        if limit.readouts == 0 or (limit.until is not None and limit.until.is_set()):
            return
        questions = analyst.ask_all(positions, limit, every=every, **options)
        while not all(answer.is_last for answer in answers):
            due = time.monotonic() + every
            for question in questions:
                question.wait(max(0.0, due - time.monotonic()))
            answers = [question.newest or answer for question, answer in zip(questions, answers, strict=True)]
            yield join_analyses([answer.found for answer in answers])


def open_analyst(
    positions: Sequence[Position],
    net: object,
    readouts: int,
    settings: SearchSpec = None,
    symmetries: bool = False,
    *,
    device: str = "auto",
    threads: int | None = None,
    slots: int | None = None,
) -> Analyst:
    """Return an analyst for positions that are known at once; the caller closes it.

    Its results do not depend on the number of threads.

    Args:
        positions: the positions that it will analyze.
        net, readouts, settings, symmetries, device, threads: as in `analyze`.
        slots: most positions that a thread searches side by side; None for as many as fit into TREE_BYTES.

    Raises:
        ValueError: as `analyze`; also the errors of a network that cannot be loaded.
    """
    env = common_game(positions)
    check_int("readouts", readouts, 0, MOST_READOUTS)
    # For the network alone the settings are those of one readout, since a search has at least one.
    search_settings = make_search(settings, max(1, readouts), leaves_for(len(positions), readouts))
    if search_settings.leaves and readouts <= LONG:  # as many as all positions have together in full batches
        leaves = min(search_settings.leaves, max(1, FULL_BATCH // len(positions)))
        search_settings = replace(search_settings, leaves=leaves)
    evaluator = Evaluators(net, device, symmetries=check_bool("symmetries", symmetries))(env)
    nodes = readouts + 2  # about how many a tree has room for
    return Analyst(
        settings=search_settings,
        threads=threads,
        evaluators=lambda env: evaluator,
        slots=slots or max(1, min(MOST_GAMES, TREE_BYTES // (nodes * node_bytes(env)))),
        tree_bytes=NO_LIMIT,
    )


def analyst_options(
    positions: Sequence[Position], avoid: Moves, allow: Moves, depth: int, **options: Any
) -> dict[str, Any]:
    """Check arguments of `analyze`, and return options of `Analyst.ask_all`; options: plies and move_ownership."""
    check_int("depth", depth, 1)
    check_int("plies", options["plies"], 1)
    check_bool("move_ownership", options["move_ownership"])
    env = positions[0].env
    avoided, allowed = to_actions("avoid", avoid, env), to_actions("allow", allow, env)
    if avoided and allowed:
        raise ValueError("avoid and allow must not be given together")
    if allowed:
        avoided = frozenset(range(env.action_space)) - allowed
    forbidden = [(Forbidden(position.to_play, avoided, depth),) for position in positions]
    # Trees of earlier questions are not reused, so that the results depend on the arguments only.
    return {"avoid": forbidden, "reuse": False, **options}


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
    # Positions share games as objects, so that few need to be compared.
    for game in {id(position.env): position.env for position in positions}.values():
        if game is not env and not env.accepts(game):
            raise ValueError(f"positions must be of one game, {env}, got one of {game}")
    return env


def to_actions(name: str, moves: Moves, env: GameEnv) -> frozenset[int]:
    """Return moves as actions; raise ValueError for a move that is not in the game.

    Args:
        name: the name of the argument with these moves, for the error message.
        moves: actions or texts, or one text with several moves, such as "D4, E5".
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


def evaluate_alone(positions: Sequence[Position], evaluator: Evaluator) -> Analysis:
    """Return the analysis of positions by the network alone, in one batch; its lines of play have no plies.

    Args:
        evaluator: for boards on the CPU.
    """
    # The network may read other planes than those of the positions' game.
    env = with_planes(positions[0].env, of=getattr(evaluator, "env", positions[0].env))
    positions = [position.again_in(env) for position in positions]
    batch = new_boards(env, evaluator, len(positions))
    batch.gather([position.batch for position in positions])
    points = points_forecast(env, evaluator)
    priors, values, scores, owners = evaluate_all(evaluator, batch, points)
    ownership = owners.reshape(-1, *env.plane_shape) if points else None
    # Of actions only the priors are known without a search; their lines have no plies.
    unknown, no_plies = np.full(priors.shape, np.nan, np.float32), np.zeros((*priors.shape, 0), np.int32)
    arrays: dict[str, Any] = dict.fromkeys(("q", "lower_bound", "score", "score_stdev"), unknown)
    arrays |= {"prior": priors, "lines": no_plies, "line_visits": no_plies}
    # The network's own numbers are also the means over all simulations, since there is only its evaluation.
    arrays |= {"value": values, "root_score": scores, "ownership": ownership}
    arrays |= {"raw_value": values, "raw_score": scores, "raw_ownership": ownership}
    return Analysis(
        env,
        to_play=np.array([position.to_play for position in positions], np.int8),
        visits=np.zeros(priors.shape, np.int32),
        root_visits=np.array([not position.is_over for position in positions], np.int32),  # its own evaluation, or 0
        root_score_stdev=np.where(np.isnan(scores), scores, 0),  # 0 of a single score, NaN of an unknown one
        ownership_stdev=None if ownership is None else np.zeros_like(ownership),
        positions=tuple(positions),
        **arrays,
    )
