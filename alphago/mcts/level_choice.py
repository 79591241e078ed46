"""Choose moves that lose a given amount on average, from a search's own estimate of what each move loses.

The candidates are the moves that `GameBatch.sensible_mask` leaves, and of these the ones with the greatest shares: the
share of a move mixes the search's visits with the network's prior.  A player that loses more has more candidates.
Their probabilities are the softmax of

    (ln(share) - loss / WORTH) / temperature,

so that moves that a person might consider come first, and those that lose most come last.  In each position the
temperature is the one with which the expected loss is the target: 0 plays the search's best move, an infinite one any
candidate.
"""

from typing import NamedTuple

import numpy as np

from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analysis_search import AnalysisSearch
from alphago.mcts.kernels.nodes import ROOT
from alphago.mcts.rule import without_rash_passes
from alphago.mcts.tree_reading import read_analysis

WORTH = {"points": 4.0, "win rate": 0.2}  # a loss that makes a move e times less probable at temperature 1
IDLE = {"points": 0.75, "win rate": 0.01}  # most that a pass may lose if the board is done
OPEN = 1 / 3  # share of it while the search is not sure who wins
NO_HOPE = -0.8  # value below which a lost board may be left as it is; above 0.8 the search is sure to win
PASS_READOUTS = 400  # simulations that a pass needs between the two: fewer tell a last point from noise too seldom
MOVING = 0.05  # share of the points that may still change hands if it is done
EMPTY = 0.25  # share of the points that may belong to no side if it is done: on an open board a network may expect none
PRIOR_VISITS = 8.0  # visits that the prior counts for in a move's share
FEWEST = 4  # candidates
FIRST, MORE = 0.1, 0.4  # candidates, as a share of all actions: at target 0, and more for a target of WORTH
LEAST_SHARE = 1e-6
HALVINGS = 24  # of the interval of temperatures
COLDEST = 1e-2
CHUNK = 1024  # positions that are evaluated together


class LevelTerms(NamedTuple):
    """How to play at a level.

    target: what to lose a move, by the search's estimate.  unit: of losses, "points", which needs forecasts of the
    score, or "win rate" (0 .. 1).  readouts: simulations of a move.
    """

    target: float
    unit: str
    readouts: int


def level_shares(search: AnalysisSearch, games: np.ndarray, terms: LevelTerms) -> np.ndarray:
    """Return the probability of each move at a level, float64 [n, A], in `games` (int64 [n]) that were searched."""
    return weights(sure_losses(search, games, terms), terms)


class MoveLosses(NamedTuple):
    """What the moves of n positions lose for their movers, by the search's estimate.

    lost: float32 [n, A], at least 0, the difference from the best move; NaN for moves that are no candidates.
    shares: float32 [n, A], visits mixed with priors; 0 there.
    passes: bool [n], whether to pass at once, since the board is done or no candidate is left.
    analysis: of the search.
    """

    lost: np.ndarray
    shares: np.ndarray
    passes: np.ndarray
    analysis: Analysis


def sure_losses(search: AnalysisSearch, games: np.ndarray, terms: LevelTerms) -> MoveLosses:
    """Return what `move_losses` does, after PASS_READOUTS simulations where it would pass in an undecided game."""
    losses, slots = move_losses(search, games, terms), np.arange(len(games))
    doubtful = slots[losses.passes & (np.abs(losses.analysis.value) < abs(NO_HOPE))]
    if len(doubtful):
        more = np.zeros(search.games, np.int32)
        more[games[doubtful]] = np.maximum(0, PASS_READOUTS - search.tree.visits[games[doubtful], ROOT])
        search.run(more)
        longer = move_losses(search, games[doubtful], terms)
        for found, better in zip(losses[:3], longer[:3], strict=True):
            found[doubtful] = better
    return losses


def move_losses(search: AnalysisSearch, games: np.ndarray, terms: LevelTerms) -> MoveLosses:
    """Return what each candidate loses in `games` (int64 [n]), whose roots must be evaluated and not over.

    A move with visits has the mean of its simulations, any other the network's evaluation of the position after it.
    """
    analysis, unit = read_analysis(search, games, plies=1), terms.unit
    env, count = search.env, len(games)
    sensible = search.batch.sensible_mask(games, np.empty((count, env.action_space), np.bool_))
    shares = shares_of(analysis)
    candidates = sensible & (shares >= least_shares(np.where(sensible, shares, 0), terms.target / WORTH[unit]))
    passing, passes = env.pass_action, np.zeros(count, np.bool_)
    if passing is None:
        worth = worth_of(search, games, analysis, candidates, unit)
    else:
        candidates[:, passing] = sensible[:, passing]  # so that its worth is known to `done`, whatever its share
        worth = worth_of(search, games, analysis, candidates, unit)
        candidates[:, passing] = False  # a pass is no candidate beside other moves
        passes = done(search, games, analysis, worth, unit)
        passes |= ~candidates.any(axis=1) & (analysis.prior[:, passing] > 0)
    empty = ~candidates.any(axis=1)
    candidates[empty] = ~np.isnan(worth[empty])  # moves that no person plays, if nothing else is legal
    shares = np.where(candidates, shares, 0).astype(np.float32)
    best = worth[np.arange(count), shares.argmax(axis=1)]
    lost = np.where(candidates, np.maximum(best[:, None] - worth, 0), np.nan)
    return MoveLosses(lost, shares, passes, analysis)


def played_losses(search: AnalysisSearch, games: np.ndarray, actions: np.ndarray, unit: str) -> np.ndarray:
    """Return what one action (int64 [n]) of each game loses, float32 [n], as `move_losses` estimates it."""
    analysis, rows = read_analysis(search, games, plies=1), np.arange(len(games))
    wanted = np.zeros(analysis.visits.shape, np.bool_)
    wanted[rows, actions] = True
    worth = worth_of(search, games, analysis, wanted, unit)
    best = worth[rows, shares_of(analysis).argmax(axis=1)]
    return np.maximum(best - worth[rows, actions], 0)


def shares_of(analysis: Analysis) -> np.ndarray:
    """Return the share of each move, [n, A]: its visits, mixed with its prior."""
    totals = analysis.visits.sum(axis=1, keepdims=True)
    shares: np.ndarray = (analysis.visits + PRIOR_VISITS * analysis.prior) / (totals + PRIOR_VISITS)
    return shares


def worth_of(
    search: AnalysisSearch, games: np.ndarray, analysis: Analysis, wanted: np.ndarray, unit: str
) -> np.ndarray:
    """Return what each move is worth for its mover, [n, A]: a score, or a win rate 0 .. 1; NaN if it is unknown.

    analysis: of the games.  wanted: bool [n, A], moves whose worth is computed although they have no visits.
    """
    worth = (analysis.score if unit == "points" else analysis.win_rate).copy()
    unseen = wanted & (analysis.visits == 0)
    worth[unseen] = worth_after(search, games, unseen, unit)
    return worth


def least_shares(shares: np.ndarray, goal: float) -> np.ndarray:
    """Return the least share of a candidate in each row of `shares`, [n, 1]; goal: the target in units of WORTH."""
    actions = shares.shape[1]
    most = min(max(FEWEST, int((FIRST + MORE * goal) * actions)), actions)
    return -np.sort(-shares, axis=1)[:, most - 1 : most]


def done(search: AnalysisSearch, games: np.ndarray, analysis: Analysis, worth: np.ndarray, unit: str) -> np.ndarray:
    """Return for each game, bool [n], whether its mover passes, as it never does if that would lose a won game.

    It passes if the pass ends the game and wins; or if nothing is left to gain, each point of the board already belongs
    to the side that the search expects, and the mover has won on the board or has no hope.  Without forecasts it passes
    if that is the search's best move.

    worth: float32 [n, A], of the moves, in `unit`.
    """
    env, rows, slots = search.env, np.arange(len(games)), np.arange(len(games))
    outcomes = search.batch.outcome(games, np.empty(len(games), np.float32))
    shares = without_rash_passes(env, shares_of(analysis), analysis.value, outcomes)
    best, may_pass = shares.argmax(axis=1), analysis.prior[:, env.pass_action] > 0
    after = env.new_batch(len(games))
    after.copy(games, slots, of=search.batch)
    after.play(slots[may_pass], np.full(may_pass.sum(), env.pass_action, np.int32))
    wins = after.is_over(slots, np.empty(len(games), np.bool_)) & (outcomes > 0)
    if analysis.ownership is None:
        return may_pass & (wins | (best == env.pass_action))
    owners = search.batch.ownership(games, np.empty((len(games), search.owners.shape[2]), np.int8))
    changing = np.abs(owners - analysis.ownership.reshape(owners.shape)).sum(axis=1) / 2  # points
    gain = worth[rows, best] - worth[:, env.pass_action]
    unsure = np.abs(analysis.value) < abs(NO_HOPE)
    settled = (changing <= MOVING * owners.shape[1]) & (gain <= IDLE[unit] * np.where(unsure, OPEN, 1))
    settled &= (outcomes > 0) | (analysis.value < NO_HOPE)
    settled &= (owners == 0).mean(axis=1) <= EMPTY
    not_rash = shares[:, env.pass_action] > 0
    return may_pass & (wins | (settled & not_rash))


def worth_after(search: AnalysisSearch, games: np.ndarray, wanted: np.ndarray, unit: str) -> np.ndarray:
    """Return what the network alone expects after the moves `wanted` (bool [n, A]), for their movers, float32 [m].

    The m moves are in the order of `wanted`'s True entries; the result is a score in points or a win rate, 0 .. 1.
    """
    rows, actions = np.nonzero(wanted)
    parts = [slice(begin, begin + CHUNK) for begin in range(0, len(rows), CHUNK)]
    found = [_worth_after(search, games[rows[part]], actions[part].astype(np.int32), unit) for part in parts]
    return np.concatenate(found) if found else np.zeros(0, np.float32)


def _worth_after(search: AnalysisSearch, games: np.ndarray, actions: np.ndarray, unit: str) -> np.ndarray:
    """Do as `worth_after` for pairs of a game and an action, int32 [m] both, in one batch."""
    env, count = search.env, len(games)
    batch, slots = env.new_batch(count), np.arange(count)
    batch.copy(games, slots, of=search.batch)
    movers = batch.to_play(slots, np.empty(count, np.int8))
    batch.play(slots, actions)
    # -1 where the other side is to move now: values and scores, which are in its view, are then turned.
    signs = movers * batch.to_play(slots, np.empty(count, np.int8)).astype(np.float32)
    over = batch.is_over(slots, np.empty(count, np.bool_))
    values = batch.outcome(slots, np.empty(count, np.float32))
    scores = batch.score(slots, np.empty(count, np.float32))
    live = slots[~over]
    priors, live_values = np.empty((len(live), env.action_space), np.float32), np.empty(len(live), np.float32)
    if search.forecaster is not None and search.has_forecasts and unit == "points":
        forecasts = np.empty(len(live), np.float32), np.empty((len(live), search.owners.shape[2]), np.float32)
        search.forecaster.evaluate_forecasts(batch, live, priors, live_values, forecasts)
        scores[live] = forecasts[0]
    elif len(live):
        search.evaluator.evaluate(batch, live, priors, live_values)
    values[live] = live_values
    return signs * scores if unit == "points" else (1 + signs * values) / 2


def weights(losses: MoveLosses, terms: LevelTerms) -> np.ndarray:
    """Return the probability of each move, float64 [n, A], with which the expected loss is the target.

    If there is none, it is the nearest one.  The greatest temperature grows with the target, from 0 on: where a search
    that hardly looked at most moves believes that none loses, a player that loses little still plays the likely ones.
    """
    lost = np.nan_to_num(losses.lost.astype(np.float64) / WORTH[terms.unit])
    logits = np.log(np.maximum(losses.shares, LEAST_SHARE, dtype=np.float64)) - lost
    logits[losses.shares <= 0] = -np.inf
    logits -= logits.max(axis=1, keepdims=True)
    goal = terms.target / WORTH[terms.unit]
    hottest = max(COLDEST, min(2 + 8 * goal, 20 * goal))
    low, high = np.full(len(lost), COLDEST), np.full(len(lost), hottest)
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        too_hot = (softmax(logits, middle) * lost).sum(axis=1) > goal
        low, high = np.where(too_hot, low, middle), np.where(too_hot, middle, high)
    chances = softmax(logits, np.sqrt(low * high))
    if losses.passes.any():
        chances[losses.passes] = 0
        chances[losses.passes, -1] = 1  # the pass is the last action
    return chances


def softmax(logits: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
    """Return the softmax of each row, [n, A], whose greatest entry is 0, at its temperature, [n]."""
    shares = np.exp(logits / temperatures[:, None])
    return shares / shares.sum(axis=1, keepdims=True)
