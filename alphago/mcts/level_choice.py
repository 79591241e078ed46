"""Choose moves that lose a given amount on average, from a search's own estimate of what each move loses.

The candidates are the moves that `GameBatch.sensible_mask` leaves, and of these the ones with the greatest shares: the
share of a move mixes the search's visits with the network's prior.  A player that loses more has more candidates.
Their probabilities are the softmax of

    (ln(share) - loss / LOSS_SCALE) / temperature,

so that moves that a person might consider come first, and those that lose most come last.  In each position the
temperature is the one with which the expected loss is the target: 0 plays the search's best move, an infinite one any
candidate.
"""

import math
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from alphago.mcts.analysis_result import Analysis
from alphago.mcts.evaluator import evaluate_all
from alphago.mcts.levels import POINTS, LevelTerms, level_conditions
from alphago.mcts.rule import DECIDED, choose_actions, neutral_moves, winning_passes, without_rash_passes
from alphago.mcts.search import Search
from alphago.mcts.tree import root_priors
from alphago.mcts.tree_reading import read_analysis

# Most of these numbers are also in alphago/ui/onefile/static/losing_moves.js, some of them under other names.
LOSS_SCALE = {"points": 4.0, "win rate": 0.2}  # the loss that makes a move e times less probable at temperature 1
PASS_READOUTS = 400  # simulations before a pass in an undecided game: fewer tell a last point from noise too seldom
# When the board counts as settled, so that its mover passes:
MOST_GAIN = {"points": 0.75, "win rate": 0.01}  # the most that a move gains over a pass
UNSURE_PART = 1 / 3  # while the search is not sure who wins, a move gains at most this part of MOST_GAIN
MOST_CHANGING = 0.05  # the most of all points that may still change hands
MOST_NEUTRAL = 0.25  # the most of all points that belong to no side: on an open board a network may expect no change
PRIOR_VISITS = 8.0  # visits that the prior counts for in a move's share
FEWEST_CANDIDATES = 4  # of a position that has so many actions
BASE_PART = 0.1  # the part of all actions that are candidates for a goal of 0
PART_PER_GOAL = 0.4  # the part that is added for a goal of 1; a goal is a target divided by LOSS_SCALE
LEAST_SHARE = 1e-6  # a smaller share counts as this, so that its logarithm is not too low
HALVINGS = 24  # of the interval of temperatures
COLDEST = 1e-2  # the least temperature, at which the best move is nearly certain
# The greatest temperature for a goal is EARLY_RISE * goal, or if this is smaller, LATE_BASE + LATE_RISE * goal.
EARLY_RISE, LATE_BASE, LATE_RISE = 20.0, 2.0, 8.0
STEP = 32  # simulations between two looks at the clock
CHUNK = 1024  # positions that are evaluated together
ERRORS_HOPED_FOR = 4  # a player of a level resigns only if behind by at least what the level loses in so many moves


def level_shares(search: Search, games: np.ndarray, terms: LevelTerms, deadline: float = math.inf) -> np.ndarray:
    """Return the probability of each move at a level, float64 [n, A], in `games` (int64 [n]) that were searched.

    Args:
        deadline: the value of time.monotonic() after which no simulations are added before doubtful passes.
    """
    return move_probabilities(sure_losses(search, games, terms, deadline), terms)


class LevelMove(NamedTuple):
    """A move of a level.

    Attributes:
        shares: the probabilities of all moves, float64 [A], by which it was drawn.
        least_behind: points that the player must be behind to resign, since its opponent may still lose as many; 0 if
            the network forecasts no scores.
    """

    action: int
    shares: np.ndarray
    least_behind: float


def level_move(search: Search, game: int, level: float, chance: float, deadline: float = math.inf) -> LevelMove:
    """Return a move of a level below full strength, in a game that was searched with the level's readouts.

    Args:
        chance: the random number, 0 .. 1, with which the move is drawn.
        deadline: as in `level_shares`.
    """
    terms = level_conditions(level, search.env, search.has_forecasts)
    shares = level_shares(search, np.array([game]), terms, deadline)
    # A player who is behind by fewer points does not resign: an opponent of the same level loses `target` points with
    # each move, and the player may hope for ERRORS_HOPED_FOR such moves.
    least_behind = ERRORS_HOPED_FOR * terms.target if terms.unit == POINTS else 0.0
    # Drawn in proportion to the shares, which are given in place of visits.
    [action] = choose_actions(shares, by_visits=np.ones(1, np.bool_), chance=np.array([chance])).tolist()
    return LevelMove(action, shares[0], least_behind)


class MoveLosses(NamedTuple):
    """What the moves of n positions lose for their movers, by the search's estimate.

    Attributes:
        lost: float32 [n, A], how much less a candidate is worth than the candidate with the greatest share, at least 0;
            NaN for moves that are no candidates.
        shares: float32 [n, A], visits mixed with priors, see `move_shares`; 0 for moves that are no candidates.
        passes: bool [n], whether to pass at once, since the board is settled or no candidate is left.
        analysis: the search's analysis of the positions, with the prior 0 for forbidden moves.
    """

    lost: np.ndarray
    shares: np.ndarray
    passes: np.ndarray
    analysis: Analysis


def sure_losses(search: Search, games: np.ndarray, terms: LevelTerms, deadline: float = math.inf) -> MoveLosses:
    """Return what each candidate loses in `games` (int64 [n]), see `move_losses`; search more before doubtful passes.

    If the mover would pass although the search is not sure who wins, the search goes on to PASS_READOUTS simulations,
    as far as there is time.  Then the losses in these games are read again, and `take_neutral_points` changes them.
    The result's `analysis` is that of the first search in all games.

    Args:
        deadline: as in `level_shares`.
    """
    losses = move_losses(search, games, terms)
    doubtful = np.flatnonzero(losses.passes & (np.abs(losses.analysis.value) < DECIDED))
    if len(doubtful):
        search_on(search, games[doubtful], deadline)
        better = move_losses(search, games[doubtful], terms)
        take_neutral_points(search, games[doubtful], better)
        for name in ("lost", "shares", "passes"):
            getattr(losses, name)[doubtful] = getattr(better, name)
    return losses


def search_on(search: Search, games: np.ndarray, deadline: float) -> None:
    """Add simulations until `games` (int64 [n]) have PASS_READOUTS of them, or until the deadline of `level_shares`."""
    left = np.zeros(search.games, np.int32)  # simulations
    left[games] = np.maximum(0, PASS_READOUTS - search.tree.at("visits", games))
    while left.any() and time.monotonic() < deadline:
        step = left if math.isinf(deadline) else np.minimum(left, STEP)  # all at once if no clock counts
        search.run(step)  # which does not change its argument
        left = left - step


def take_neutral_points(search: Search, games: np.ndarray, losses: MoveLosses) -> None:
    """Replace passes by moves onto neutral points where neither side is sure to win, since a pass may end the game.

    There `losses` is changed in place: these moves become the only candidates, and lose nothing.  A game without
    neutral points stays as it is.

    Args:
        games: int64 [n], the games of the rows of `losses`.
    """
    doubtful = np.flatnonzero(losses.passes & (np.abs(losses.analysis.value) < DECIDED))
    neutral = neutral_moves(search.batch, games[doubtful]) & (losses.analysis.prior[doubtful] > 0)
    has_neutral = neutral.any(axis=1)
    rows, neutral = doubtful[has_neutral], neutral[has_neutral]
    losses.passes[rows] = False
    losses.lost[rows] = np.where(neutral, 0, np.nan)
    # A candidate has a share of at least LEAST_SHARE, however little the network expects it.
    losses.shares[rows] = np.where(neutral, np.maximum(move_shares(losses.analysis)[rows], LEAST_SHARE), 0)


def move_losses(search: Search, games: np.ndarray, terms: LevelTerms) -> MoveLosses:
    """Return what each candidate loses in `games` (int64 [n]), whose roots must be evaluated and not over.

    A move with visits is worth the mean of its simulations, any other what the network expects after it.  The
    search prefers the candidate with the greatest share.  A candidate loses as much as it is worth less than this one.
    No forbidden move is a candidate.
    """
    analysis = replace(read_analysis(search, games, plies=1), prior=root_priors(search.tree, games))
    env, unit, count = search.env, terms.unit, len(games)
    # The legal moves but those that no person plays, see `GameBatch.sensible_mask`.
    positions = search.batch.extract(games)  # on the CPU, where a batch on a device cannot tell
    sensible = positions.sensible_mask(np.arange(count), np.empty((count, env.action_space), np.bool_))
    is_pass = np.arange(env.action_space) == env.pass_action  # False for all actions in a game without passes
    all_shares = move_shares(analysis)
    sensible &= all_shares > 0  # not the forbidden moves, which have neither visits nor a prior
    least = least_shares(np.where(sensible, all_shares, 0), goal=terms.target / LOSS_SCALE[unit])
    candidates = sensible & ~is_pass & (all_shares >= least)  # a pass is no candidate beside other moves
    # The worth of a pass is needed whatever its share, for `should_pass`.
    worth = move_values(search, games, analysis, candidates | (sensible & is_pass), unit)
    safe_shares = without_rash_passes(search.batch, games, all_shares, analysis.value)  # 0 for a rash pass
    no_candidates = ~candidates.any(axis=1)
    passes = np.zeros(count, np.bool_)
    if env.pass_action is not None:
        passes = should_pass(search, games, analysis, safe_shares, worth, unit)
        passes |= no_candidates & (safe_shares[:, env.pass_action] > 0)
    # Without candidates the search's best move becomes one, though no person would play it.  In the games of `passes`
    # this does not matter, since the player passes; in the others the pass is rash or illegal.
    candidates[no_candidates, safe_shares[no_candidates].argmax(axis=1)] = True
    shares = np.where(candidates, safe_shares, 0).astype(np.float32)
    preferred_worth = worth[np.arange(count), shares.argmax(axis=1)]
    lost = np.where(candidates, np.maximum(preferred_worth[:, None] - worth, 0), np.nan)
    return MoveLosses(lost, shares, passes, analysis)


def move_shares(analysis: Analysis) -> np.ndarray:
    """Return the share of each move, [n, A]: its visits, mixed with its prior."""
    totals = analysis.visits.sum(axis=1, keepdims=True)
    return (analysis.visits + PRIOR_VISITS * analysis.prior) / (totals + PRIOR_VISITS)


def move_values(search: Search, games: np.ndarray, analysis: Analysis, moves: np.ndarray, unit: str) -> np.ndarray:
    """Return what each move is worth for its mover, [n, A]: a score, or a win rate 0 .. 1; NaN if it is unknown.

    Args:
        analysis: the search's analysis of the games, with the worth of the moves that have visits.
        moves: bool [n, A], moves whose worth must be known: if they have no visits, it is what the network alone says.
        unit: "points" for scores, "win rate" for win rates.
    """
    worth = (analysis.score if unit == POINTS else analysis.win_rate).copy()
    rows, actions = np.nonzero(moves & (analysis.visits == 0))
    for part in (slice(begin, begin + CHUNK) for begin in range(0, len(rows), CHUNK)):
        count = len(rows[part])
        batch, slots = search.batch.extract(games[rows[part]]), np.arange(count)
        movers = batch.to_play(slots, np.empty(count, np.int8))
        batch.play(slots, actions[part].astype(np.int32))
        signs = movers * batch.to_play(slots, np.empty(count, np.int8))  # -1 where the view is now the other side's
        # `points`: the board's points whose ownership is forecast, together with the score; 0 for no forecast.
        after = evaluate_all(search.evaluator, batch, points=search.points if unit == POINTS else 0)
        worth[rows[part], actions[part]] = signs * after.scores if unit == POINTS else (1 + signs * after.values) / 2
    return worth


def least_shares(shares: np.ndarray, goal: float) -> np.ndarray:
    """Return the share that a move must have to be a candidate, [n, 1], for each row of `shares` ([n, A]).

    The candidates of a row are the moves with the greatest shares, and the result is the smallest of their shares.
    Their number is a part of the number of all actions, and FEWEST_CANDIDATES at least.  The part grows with the goal.

    Args:
        goal: the loss that the level aims at, divided by LOSS_SCALE, so that points and win rates are alike.
    """
    actions = shares.shape[1]
    count = min(max(FEWEST_CANDIDATES, int((BASE_PART + PART_PER_GOAL * goal) * actions)), actions)  # of candidates
    descending = -np.sort(-shares, axis=1)
    return descending[:, count - 1 : count]


def should_pass(
    search: Search, games: np.ndarray, analysis: Analysis, shares: np.ndarray, worth: np.ndarray, unit: str
) -> np.ndarray:
    """Return whether the mover of each of `games` (int64 [n]) should pass, bool [n]; the game must have passes.

    The mover passes if the pass ends the game and wins.  Without forecasts of ownership it also passes if a pass has
    the greatest share.  With forecasts it also passes if all of this is true:

    - the move with the greatest share, which the search prefers, gains little over a pass;
    - the board is settled: nearly all points already belong to the sides that the search expects, and not too many
      points belong to no side, as on an open board;
    - the mover has won on the board, or has no hope;
    - the pass is not rash (see `without_rash_passes`).

    Args:
        analysis: the search's analysis of the games.
        shares: [n, A], those of `move_shares`, with 0 for a rash pass.
        worth: float32 [n, A], what the moves are worth, in `unit`.
    """
    env, count, slots = search.env, len(games), np.arange(len(games))
    preferred = shares.argmax(axis=1)
    may_pass = analysis.prior[:, env.pass_action] > 0  # illegal actions have the prior 0, legal ones a greater one
    wins = winning_passes(search.batch, games)
    if analysis.ownership is None:
        return may_pass & (wins | (preferred == env.pass_action))
    owners = search.batch.ownership(games, np.empty((count, search.points), np.int8))
    # The difference of a point that changes hands, from 1 to -1, is 2.
    changing = np.abs(owners - analysis.ownership.reshape(owners.shape)).sum(axis=1) / 2
    gain = worth[slots, preferred] - worth[:, env.pass_action]
    is_decided = np.abs(analysis.value) >= DECIDED
    nothing_to_gain = gain <= MOST_GAIN[unit] * np.where(is_decided, 1, UNSURE_PART)
    points_settled = (changing <= MOST_CHANGING * owners.shape[1]) & ((owners == 0).mean(axis=1) <= MOST_NEUTRAL)
    outcomes = search.batch.outcome(games, np.empty(count, np.float32))  # of the boards as they are
    has_won_or_no_hope = (outcomes > 0) | (analysis.value < -DECIDED)
    not_rash = shares[:, env.pass_action] > 0
    return may_pass & (wins | (nothing_to_gain & points_settled & has_won_or_no_hope & not_rash))


def move_probabilities(losses: MoveLosses, terms: LevelTerms) -> np.ndarray:
    """Return the probability of each move, float64 [n, A], with which the expected loss is the target.

    The probability is in proportion to (share * exp(-loss / LOSS_SCALE)) ** (1 / temperature).  So at any temperature a
    move is less probable the more it loses, and the temperature is chosen for the expected loss.
    """
    lost = np.nan_to_num(losses.lost.astype(np.float64) / LOSS_SCALE[terms.unit])
    logits = np.log(np.maximum(losses.shares, LEAST_SHARE, dtype=np.float64)) - lost
    logits[losses.shares <= 0] = -np.inf
    logits -= logits.max(axis=1, keepdims=True)
    probabilities = softmax(logits, temperatures_for(logits, lost, goal=terms.target / LOSS_SCALE[terms.unit]))
    probabilities[losses.passes] = 0
    probabilities[losses.passes, -1] = 1  # the pass is the last action; without passes in the game no row is chosen
    return probabilities


def temperatures_for(logits: np.ndarray, lost: np.ndarray, goal: float) -> np.ndarray:
    """Return the temperature of each row at which the expected loss is nearest to the goal, [n].

    The temperature has an upper bound, which grows with the goal from nearly 0 on.  A search hardly looks at most
    moves, so it may believe that none of them loses.  Then no temperature reaches the goal.  Thanks to the bound, a
    player with a small goal still plays likely moves.

    Args:
        logits: [n, A], as in `softmax`.
        lost: [n, A], what each move loses, in units of LOSS_SCALE.
        goal: the expected loss to reach, in units of LOSS_SCALE.
    """
    hottest = max(COLDEST, min(EARLY_RISE * goal, LATE_BASE + LATE_RISE * goal))  # rises steeply at first, then less
    low, high = np.full(len(lost), COLDEST), np.full(len(lost), hottest)
    for _ in range(HALVINGS):  # by ratio, since temperatures differ by orders of magnitude
        middle = np.sqrt(low * high)
        too_hot = (softmax(logits, middle) * lost).sum(axis=1) > goal
        low, high = np.where(too_hot, low, middle), np.where(too_hot, middle, high)
    return np.sqrt(low * high)


def softmax(logits: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
    """Return the softmax of each row of logits ([n, A], the greatest of a row 0) at its temperature ([n])."""
    weights = np.exp(logits / temperatures[:, None])
    return weights / weights.sum(axis=1, keepdims=True)
